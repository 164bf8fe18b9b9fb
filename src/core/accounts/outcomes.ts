/**
 * What a person may do with an account, and how each of it can end.
 *
 * Owns: the inputs and outcomes of the account pages. Invariant: nothing here tells whether an address has an account
 * to somebody who does not hold its mailbox or its password (P17).
 */

import type { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type {
  Account,
  AccountCaller,
  ApiToken,
  NoticeKind,
  SessionToken,
  StoredSession,
  StoredToken,
  TokenFate,
  TokenScope,
} from './accounts.ts';

/** Why a password is not taken. Lengths are in characters (code points). */
export type PasswordRefusal =
  | { readonly outcome: 'password_too_short'; readonly minLength: number }
  | { readonly outcome: 'password_too_long'; readonly maxLength: number }
  /** Among those that everybody tries first, or made of the address. */
  | { readonly outcome: 'password_common' }
  | { readonly outcome: 'password_ill_formed' };

/** A browser that is logged in. */
export interface SignedIn {
  readonly caller: AccountCaller;
  readonly sessionId: number;
  /** 32 hex digits that forms of this session carry (see `http/cross-site.ts` and `web/own-form.ts`). */
  readonly formToken: string;
}

/** What a log-in hands to the browser. */
export interface BegunSession {
  readonly token: Sensitive<SessionToken>;
  /** When it ends however much it is used; the server ends it earlier when it lies idle. */
  readonly expiresAt: UnixSeconds;
  readonly account: Account;
}

export type RequestOutcome = { readonly outcome: 'requested' } | { readonly outcome: 'invalid_email' };

export type TicketOutcome =
  | { readonly outcome: 'valid'; readonly username: string }
  /** Unknown, used, replaced or expired. */
  | { readonly outcome: 'gone' };

export type SignUpOutcome =
  | { readonly outcome: 'signed_up'; readonly session: BegunSession }
  | { readonly outcome: 'gone' }
  /** The account was made meanwhile, by a command or another mail. */
  | { readonly outcome: 'exists' }
  | PasswordRefusal;

export type LogInOutcome =
  | { readonly outcome: 'logged_in'; readonly session: BegunSession }
  /** Unknown address, wrong password, or an account without a password: one answer (P17). */
  | { readonly outcome: 'refused' };

export type ResetOutcome =
  | {
      readonly outcome: 'reset';
      readonly session: BegunSession;
      /** Whether what was shared before is still listed: an API token opened the data key. */
      readonly keepsList: boolean;
    }
  | { readonly outcome: 'gone' }
  /** The text given as an API token is not a live one of this account. Nothing was used up. */
  | { readonly outcome: 'invalid_token' }
  | PasswordRefusal;

export type ChangePasswordOutcome =
  | { readonly outcome: 'changed' }
  | { readonly outcome: 'wrong_password' }
  | PasswordRefusal;

export type DeleteOutcome =
  | { readonly outcome: 'deleted'; readonly burned: number }
  | { readonly outcome: 'wrong_password' };

export type NewTokenOutcome =
  | { readonly outcome: 'created'; readonly token: Sensitive<ApiToken>; readonly stored: StoredToken }
  /** A name has 1–60 characters, no control characters. */
  | { readonly outcome: 'invalid_name' }
  | { readonly outcome: 'no_scope' }
  | { readonly outcome: 'wrong_password' }
  | { readonly outcome: 'too_many'; readonly max: number };

/**
 * Accounts, ports bound: what the account pages call. A method rejects only with `ServiceError`. Limits on how often
 * belong to the caller; mails go out in the background. `clientPrefix`: as in `CreationOptions`.
 */
export interface AccountService {
  /** Mails a link that completes the sign-up; to an address with an account, a mail that says so. Same answer, same time. */
  requestSignUp(input: { readonly email: string; readonly locale: string }): Promise<RequestOutcome>;
  checkSignUp(ticket: string): Promise<TicketOutcome>;
  signUp(input: {
    readonly ticket: string;
    readonly password: Sensitive<string>;
    readonly label: string;
    readonly locale: string;
    readonly clientPrefix?: string;
  }): Promise<SignUpOutcome>;
  logIn(input: {
    readonly email: string;
    readonly password: Sensitive<string>;
    readonly label: string;
    readonly clientPrefix?: string;
  }): Promise<LogInOutcome>;
  /** Who a session's token belongs to; `null` when it is none, ended or expired. */
  openSession(token: string): Promise<SignedIn | null>;
  logOut(signedIn: SignedIn): Promise<void>;
  /** Mails a link that sets a new password, if there is such an account. Same answer, same time. */
  requestReset(input: { readonly email: string; readonly locale: string }): Promise<RequestOutcome>;
  checkReset(ticket: string): Promise<TicketOutcome>;
  /** `existingToken`: a live API token of the account, or `''`; without it the list of what was shared before is lost. */
  resetPassword(input: {
    readonly ticket: string;
    readonly password: Sensitive<string>;
    readonly existingToken: Sensitive<string>;
    readonly tokens: TokenFate;
    readonly label: string;
    readonly locale: string;
    readonly clientPrefix?: string;
  }): Promise<ResetOutcome>;
  /** Ends every other session. */
  changePassword(
    signedIn: SignedIn,
    input: {
      readonly current: Sensitive<string>;
      readonly next: Sensitive<string>;
      readonly tokens: TokenFate;
      readonly locale: string;
    },
  ): Promise<ChangePasswordOutcome>;
  deleteAccount(
    signedIn: SignedIn,
    input: { readonly password: Sensitive<string>; readonly locale: string },
  ): Promise<DeleteOutcome>;
  listSessions(signedIn: SignedIn): Promise<readonly StoredSession[]>;
  /** Whether there was such a session of this account. */
  endSession(signedIn: SignedIn, sessionId: number): Promise<boolean>;
  listTokens(signedIn: SignedIn): Promise<readonly StoredToken[]>;
  /** Takes the password, and mails the owner that it was done. */
  createToken(
    signedIn: SignedIn,
    input: {
      readonly name: string;
      readonly scopes: readonly TokenScope[];
      readonly expiresAt: UnixSeconds | null;
      readonly password: Sensitive<string>;
      readonly locale: string;
    },
  ): Promise<NewTokenOutcome>;
  revokeToken(signedIn: SignedIn, tokenId: number): Promise<boolean>;
  /** Of those that make links. */
  listShareDomains(signedIn: SignedIn): Promise<readonly string[]>;
  /** Which mails the account wants about its secrets unless a secret says otherwise. */
  setNotify(signedIn: SignedIn, kinds: readonly NoticeKind[]): Promise<void>;
  /** `null`: whatever the browser asks for. */
  setLocale(signedIn: SignedIn, locale: string | null): Promise<void>;
  /** Resolves when no mail is being handed over. */
  settled(): Promise<void>;
}
