/**
 * The accounts of people: ports bound to use cases. What the account pages call.
 *
 * No outcome tells whether an address has an account to somebody who does not hold its mailbox or its password (P17). A
 * failure of the work behind an answer (a mail, a last use) never fails the call that it followed.
 */
import type { RandomBytes } from '../../crypto/random.ts';
import { createBackground } from '../background.ts';
import type { Events } from '../events.ts';
import type { Links } from '../links.ts';
import type { AccountStore, DomainStore, IsCommonPassword, PassphraseHasher } from '../ports.ts';
import type { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type { AccountMailer } from './account-mail.ts';
import type { NoticeKind, SignedIn, StoredSession, StoredToken, TokenFate, TokenScope } from './accounts.ts';
import {
  type ChangePasswordOutcome,
  changePassword,
  type DeleteOutcome,
  deleteAccount,
} from './passwords.ts';
import { type LogInInput, type LogInOutcome, logIn, openSession } from './sessions.ts';
import {
  checkReset,
  checkSignUp,
  type RequestOutcome,
  type ResetInput,
  type ResetOutcome,
  requestReset,
  requestSignUp,
  resetPassword,
  type SignUpInput,
  type SignUpOutcome,
  signUp,
  type TicketOutcome,
} from './sign-up.ts';
import { createOwnToken, type NewTokenOutcome } from './tokens.ts';

/**
 * Accounts, ports bound: what the account pages call. A method rejects only with `ServiceError`. Limits on how often
 * belong to the caller; mails go out in the background. `clientPrefix`: as in `CreationOptions`.
 */
export interface AccountService {
  /** Mails a link that completes the sign-up; to an address with an account, a mail that says so. Same answer, same time. */
  requestSignUp(input: { readonly email: string; readonly locale: string }): Promise<RequestOutcome>;
  checkSignUp(ticket: string): Promise<TicketOutcome>;
  signUp(input: SignUpInput): Promise<SignUpOutcome>;
  logIn(input: LogInInput): Promise<LogInOutcome>;
  /** Who a session's token belongs to; `null` when it is none, ended or expired. */
  openSession(token: string): Promise<SignedIn | null>;
  logOut(signedIn: SignedIn): Promise<void>;
  /** Mails a link that sets a new password, if there is such an account. Same answer, same time. */
  requestReset(input: { readonly email: string; readonly locale: string }): Promise<RequestOutcome>;
  checkReset(ticket: string): Promise<TicketOutcome>;
  resetPassword(input: ResetInput): Promise<ResetOutcome>;
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

export interface AccountServiceDeps {
  readonly store: AccountStore & DomainStore & { now(): UnixSeconds };
  readonly mailer: AccountMailer;
  /** See `AccountMailDeps`. */
  readonly pauseBeforeSending: () => Promise<void>;
  readonly hasher: PassphraseHasher;
  readonly random: RandomBytes;
  readonly links: Links;
  readonly events: Events;
  readonly isCommonPassword: IsCommonPassword;
}

export function createAccountService(ports: AccountServiceDeps): AccountService {
  const background = createBackground();
  const deps = { ...ports, inBackground: background.begin };
  const { store } = ports;
  return {
    requestSignUp: (input) => requestSignUp(deps, input),
    checkSignUp: (ticket) => checkSignUp(deps, ticket),
    signUp: (input) => signUp(deps, input),
    logIn: (input) => logIn(deps, input),
    openSession: (token) => openSession(deps, token),
    logOut: async ({ caller, sessionId }) => {
      await store.endSession(caller.account.id, sessionId);
    },
    requestReset: (input) => requestReset(deps, input),
    checkReset: (ticket) => checkReset(deps, ticket),
    resetPassword: (input) => resetPassword(deps, input),
    changePassword: (signedIn, input) => changePassword(deps, signedIn, input),
    deleteAccount: (signedIn, input) => deleteAccount(deps, signedIn, input),
    listSessions: ({ caller }) => store.listSessions(caller.account.id),
    endSession: ({ caller }, sessionId) => store.endSession(caller.account.id, sessionId),
    listTokens: ({ caller }) => store.listTokens(caller.account.id),
    createToken: (signedIn, input) => createOwnToken(deps, signedIn, input),
    revokeToken: ({ caller }, tokenId) => store.revokeToken(caller.account.id, tokenId),
    listShareDomains: async ({ caller }) => {
      const domains = await store.listDomains(caller.account.id);
      return domains.filter(({ state }) => state === 'verified').map(({ name }) => name);
    },
    setNotify: ({ caller }, kinds) => store.setNotify(caller.account.id, kinds),
    setLocale: ({ caller }, locale) => store.setLocale(caller.account.id, locale),
    settled: background.settled,
  };
}
