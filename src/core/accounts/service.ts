/**
 * The accounts of people: ports bound to use cases. What the account pages call.
 *
 * Owns: the binding, and the work behind the answers (mails, last uses). Invariant: a failure of that work never fails
 * the call it followed.
 */

import type { RandomBytes } from '../../crypto/random.ts';
import { createBackground } from '../background.ts';
import type { Events } from '../events.ts';
import type { Links } from '../links.ts';
import type { AccountStore, DomainStore, IsCommonPassword, PassphraseHasher } from '../ports.ts';
import type { UnixSeconds } from '../time.ts';
import type { AccountMailer } from './account-mail.ts';
import type { AccountService } from './outcomes.ts';
import { changePassword, deleteAccount } from './passwords.ts';
import { logIn, openSession } from './sessions.ts';
import { checkReset, checkSignUp, requestReset, requestSignUp, resetPassword, signUp } from './sign-up.ts';
import { createOwnToken } from './tokens.ts';

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
