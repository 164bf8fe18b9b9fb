/** The ports for handing over emails, and the limits on emails. */
import type { DeliveryState } from '../protocol/vocabulary.ts';
import type { AccountId, TokenFate } from './account.ts';
import type { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

/** The brand in an email: the site's or a share domain's. */
export interface MailBrand {
  /** A single line. */
  readonly name: string;
  /** The host in the email's links. */
  readonly host: string;
  /** The button's colour as `#rrggbb`, with a contrast of 4.5 against white; `null` for our own. */
  readonly colour: string | null;
}

/** @param shareDomain `''` for the site */
export type MailBrandOf = (shareDomain: string) => Promise<MailBrand>;

/** Returns the requested language if it is offered, otherwise the installation's; both are BCP 47 tags. Without one, `Accept-Language` counts. */
export type MailLocaleOf = (asked: string | null, accepted?: string | null) => string;

/** The email to a recipient. It contains the link, never the value, the passphrase or the metadata key. */
export interface SecretLinkMail {
  readonly to: Sensitive<string>;
  /** The sender's username. */
  readonly from: Sensitive<string>;
  /** Shown before the sender's address. */
  readonly senderName: string | null;
  readonly link: Sensitive<string>;
  readonly hasPassphrase: boolean;
  readonly expiresAt: UnixSeconds;
  /** A BCP 47 tag that `locale/` supports. */
  readonly locale: string;
  readonly brand: MailBrand;
}

/** An email about an account, to that account's address; `code` goes to the address that a secret's creator named. */
export type AccountMail = {
  readonly to: Sensitive<string>;
  /** A BCP 47 tag that `locale/` supports. */
  readonly locale: string;
} & (
  | {
      /** Following the link proves the address. */
      readonly kind: 'sign_up' | 'reset';
      readonly link: Sensitive<string>;
      readonly expiresAt: UnixSeconds;
    }
  /** Sent when somebody signs up with an existing account's address. */
  | { readonly kind: 'already_signed_up'; readonly logInUrl: string; readonly forgottenUrl: string }
  /** `password_set`: the account had no password before. */
  | {
      readonly kind: 'password_changed' | 'password_set';
      readonly forgottenUrl: string;
      readonly tokens: TokenFate;
    }
  | { readonly kind: 'token_created'; readonly name: string; readonly forgottenUrl: string }
  | { readonly kind: 'account_deleted' }
  /** It opens a secret together with its link, which it does not contain. */
  | ({
      readonly kind: 'code';
      /** Six digits. */
      readonly code: Sensitive<string>;
      readonly isInSubject: boolean;
    } & Pick<SecretLinkMail, 'from' | 'senderName' | 'brand'>)
  /** Notices about a secret or a request. They name neither key nor recipient. */
  | {
      readonly kind: 'secret_read' | 'secret_burned' | 'secret_expiring' | 'request_answered';
      readonly createdAt: UnixSeconds;
      /** When the secret was read or burned, or will expire; when the answer came. */
      readonly at: UnixSeconds;
      readonly recentUrl: string;
      readonly brand: MailBrand;
    }
);

export interface Handover {
  readonly state: Exclude<DeliveryState, 'queued'>;
  /** The mail server's last reply with the link removed, one line of at most 300 characters; or one of `mailTroubles`; or `null`. */
  readonly reply: string | null;
}

/** Called before each retry, which starts within `withinSeconds`. */
export type OnRetry = (withinSeconds: number, reply: string | null) => void;

export interface Mailer {
  /** Sends with bounded retries. Never rejects; the receipt shows the result. */
  sendSecretLink(mail: SecretLinkMail, onRetry?: OnRetry): Promise<Handover>;
  /** Sends as `sendSecretLink` does. */
  sendAccountMail(mail: AccountMail): Promise<Handover>;
}

/** Can also prepare an email completely, including its signature, and leave the sending to the caller. */
export interface AccountMailer extends Pick<Mailer, 'sendAccountMail'> {
  /** Never rejects. `send` hands the email over as `sendAccountMail` does. */
  writeAccountMail(mail: AccountMail): Promise<{ send(): Promise<Handover> }>;
}

/** How long a queued email counts as being on its first try: slightly longer than one try may take. */
export const firstTrySeconds = 60;

/** Limits emails to recipients: per account per hour, and per address per day across all senders. */
export interface MailQuota {
  /** Counts one email if both limits allow it. Does not store the address. */
  take(
    account: AccountId,
    address: Sensitive<string>,
  ): Promise<
    { readonly outcome: 'allowed' } | { readonly outcome: 'too_many'; readonly retryAfterSeconds: number }
  >;
  /** Subtracts one email from both counts. */
  refund(account: AccountId, address: Sensitive<string>): Promise<void>;
}
