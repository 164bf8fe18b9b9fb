/** The ports for handing over mails, and the limits on mails. */
import type { DeliveryState } from '../protocol/vocabulary.ts';
import type { AccountId, TokenFate } from './account.ts';
import type { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

/** Of the site or of a share domain. */
export interface MailBrand {
  /** One line. */
  readonly name: string;
  /** The host of the mail's links. */
  readonly host: string;
  /** `#rrggbb` with a contrast of 4.5 to white, for the button; `null`: our own. */
  readonly colour: string | null;
}

/** @param shareDomain `''` for the site */
export type MailBrandOf = (shareDomain: string) => Promise<MailBrand>;

/** The requested language if it is offered, else the installation's. BCP 47 tags. */
export type MailLocaleOf = (asked: string | null) => string;

/** To a recipient: the link, never the value, the passphrase or the metadata key. */
export interface SecretLinkMail {
  readonly to: Sensitive<string>;
  /** The sender's username. */
  readonly from: Sensitive<string>;
  /** Shown first. */
  readonly senderName: string | null;
  readonly link: Sensitive<string>;
  readonly hasPassphrase: boolean;
  readonly expiresAt: UnixSeconds;
  /** A BCP 47 tag that `locale/` knows. */
  readonly locale: string;
  readonly brand: MailBrand;
}

/** A mail about the account itself, to its own address. */
export type AccountMail = {
  readonly to: Sensitive<string>;
  /** A BCP 47 tag that `locale/` knows. */
  readonly locale: string;
} & (
  | {
      /** Proves the address. */
      readonly kind: 'sign_up' | 'reset';
      readonly link: Sensitive<string>;
      readonly expiresAt: UnixSeconds;
    }
  /** For a sign-up with an account's address. */
  | { readonly kind: 'already_signed_up'; readonly logInUrl: string; readonly forgottenUrl: string }
  /** `password_set`: there was none before. */
  | {
      readonly kind: 'password_changed' | 'password_set';
      readonly forgottenUrl: string;
      readonly tokens: TokenFate;
    }
  | { readonly kind: 'token_created'; readonly name: string; readonly forgottenUrl: string }
  | { readonly kind: 'account_deleted' }
  /** Notices about a secret. They name neither key nor recipient. */
  | {
      readonly kind: 'secret_read' | 'secret_burned' | 'secret_expiring';
      readonly createdAt: UnixSeconds;
      /** When it was read or burned, or will expire. */
      readonly at: UnixSeconds;
      readonly recentUrl: string;
      readonly brand: MailBrand;
    }
);

export interface Handover {
  readonly state: Exclude<DeliveryState, 'queued'>;
  /** The mail server's last reply without the link, one line of at most 300 characters; or one of `mailTroubles`; or `null`. */
  readonly reply: string | null;
}

/** Called before each retry, which begins within this time. */
export type OnRetry = (withinSeconds: number, reply: string | null) => void;

export interface Mailer {
  /** With bounded retries. Never rejects; the receipt shows the result. */
  sendSecretLink(mail: SecretLinkMail, onRetry?: OnRetry): Promise<Handover>;
  /** As `sendSecretLink`. */
  sendAccountMail(mail: AccountMail): Promise<Handover>;
}

/** Can also do all the computing of a mail, even its signature, and leave sending it to the caller. */
export interface AccountMailer extends Pick<Mailer, 'sendAccountMail'> {
  /** Never rejects. `send` hands the mail over as `sendAccountMail` does. */
  writeAccountMail(mail: AccountMail): Promise<{ send(): Promise<Handover> }>;
}

/** A queued mail is believed to be at its first try for this long: a little more than one try may take. */
export const firstTrySeconds = 60;

/** Limits mails to recipients: an account's in an hour, and those to one address in a day, from any sender. */
export interface MailQuota {
  /** Counts one mail if both limits allow it. The address is not kept. */
  take(
    account: AccountId,
    address: Sensitive<string>,
  ): Promise<
    { readonly outcome: 'allowed' } | { readonly outcome: 'too_many'; readonly retryAfterSeconds: number }
  >;
  /** Gives one counted mail back. */
  refund(account: AccountId, address: Sensitive<string>): Promise<void>;
}
