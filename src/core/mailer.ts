/**
 * The ports of mail: what the core asks of whoever hands mails over, and the bounds on them.
 */
import type { DeliveryState } from '../protocol/vocabulary.ts';
import type { AccountId, TokenFate } from './account.ts';
import type { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

/** The brand that a mail shows, of the site or of a share domain. */
export interface MailBrand {
  /** One line. */
  readonly name: string;
  /** The host that the mail's links lead to. */
  readonly host: string;
  /** `#rrggbb` with a contrast of 4.5 to white, for the button; `null`: our own. */
  readonly colour: string | null;
}

/** The brand of mails whose links are on this share domain, `''` for the site. */
export type MailBrandOf = (shareDomain: string) => Promise<MailBrand>;

/** The language of a mail: what was asked for where it is offered, else the installation's own. Tags of BCP 47. */
export type MailLocaleOf = (asked: string | null) => string;

/** The mail that tells a recipient about a secret: the link, never the value, the passphrase or the metadata key. */
export interface SecretLinkMail {
  readonly to: Sensitive<string>;
  /** The sender's username. */
  readonly from: Sensitive<string>;
  /** The sender's name, if it has one, which comes first. */
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
      /** Proves the address of somebody who signs up, or of an account whose password is forgotten. */
      readonly kind: 'sign_up' | 'reset';
      readonly link: Sensitive<string>;
      readonly expiresAt: UnixSeconds;
    }
  /** Somebody signs up with the address of an account. */
  | { readonly kind: 'already_signed_up'; readonly logInUrl: string; readonly forgottenUrl: string }
  /** `password_set`: there was none before. */
  | {
      readonly kind: 'password_changed' | 'password_set';
      readonly forgottenUrl: string;
      readonly tokens: TokenFate;
    }
  | { readonly kind: 'token_created'; readonly name: string; readonly forgottenUrl: string }
  | { readonly kind: 'account_deleted' }
  /** What the account asked to be told about one of its secrets. Names neither key nor recipient. */
  | {
      readonly kind: 'secret_read' | 'secret_burned' | 'secret_expiring';
      readonly createdAt: UnixSeconds;
      /** When it was read or burned, or will expire. */
      readonly at: UnixSeconds;
      /** Where the account's secrets are listed. */
      readonly recentUrl: string;
      readonly brand: MailBrand;
    }
);

/** How handing a mail over ended. */
export interface Handover {
  readonly state: Exclude<DeliveryState, 'queued'>;
  /**
   * What the mail server said last, one line of at most 300 characters, without the link; where it said nothing, one of
   * `mailTroubles`; `null` when it is neither.
   */
  readonly reply: string | null;
}

/** Told before each further try: it begins in so many seconds at the latest. */
export type OnRetry = (withinSeconds: number, reply: string | null) => void;

export interface Mailer {
  /** Hands the mail over, with bounded retries. Never rejects; the result is what the receipt will say. */
  sendSecretLink(mail: SecretLinkMail, onRetry?: OnRetry): Promise<Handover>;
  /** As `sendSecretLink`. */
  sendAccountMail(mail: AccountMail): Promise<Handover>;
}

/** A mailer that can also do all the computing of a mail, its signature included, and leave sending it to the caller. */
export interface AccountMailer extends Pick<Mailer, 'sendAccountMail'> {
  /** Never rejects. `send` hands the mail over as `sendAccountMail` does. */
  writeAccountMail(mail: AccountMail): Promise<{ send(): Promise<Handover> }>;
}

/** How long a mail just queued is believed to be at its first try, in seconds: as long as one try may take, and some. */
export const firstTrySeconds = 60;

/** Bounds on mails to recipients: of an account in an hour, and to one address in a day, from any sender. */
export interface MailQuota {
  /** Counts one mail if both bounds allow it. `address` as given; it is not kept. */
  take(
    account: AccountId,
    address: Sensitive<string>,
  ): Promise<
    { readonly outcome: 'allowed' } | { readonly outcome: 'too_many'; readonly retryAfterSeconds: number }
  >;
  /** Gives one counted mail back: it was not handed over. */
  refund(account: AccountId, address: Sensitive<string>): Promise<void>;
}
