/**
 * The service that the account pages call. No outcome reveals whether an address has an account, except to someone with its mailbox or
 * password (P17). Work after a response (an email, a last use) never makes the call fail.
 */

import type { NoticeKind } from '../../protocol/vocabulary.ts';
import type { SignedIn } from '../account.ts';
import { bindUseCases } from '../background.ts';
import type { AccountCore } from '../ports/core.ts';
import { finishDeletions } from './deletion.ts';
import { changePassword, deleteAccount } from './passwords.ts';
import { parseSenderName } from './sender-name.ts';
import { logIn, openSession } from './sessions.ts';
import { checkReset, checkSignUp, requestReset, requestSignUp, resetPassword, signUp } from './sign-up.ts';
import { createOwnToken } from './tokens.ts';

export type AccountService = ReturnType<typeof createAccountService>;

/**
 * Methods reject only with `ServiceError`. Callers limit the rate; emails go out in the background. `clientPrefix` is as in `InspectInput`.
 */
export const createAccountService = (parts: Omit<AccountCore, 'inBackground'>) =>
  bindUseCases(parts, {
    requestSignUp,
    checkSignUp,
    signUp,
    logIn,
    openSession,
    logOut: async ({ store }: AccountCore, { caller, sessionId }: SignedIn) => {
      await store.endSession(caller.account.id, sessionId);
    },
    requestReset,
    checkReset,
    resetPassword,
    changePassword,
    deleteAccount,
    finishDeletions,
    listSessions: ({ store }: AccountCore, { caller }: SignedIn) => store.listSessions(caller.account.id),
    endSession: ({ store }: AccountCore, { caller }: SignedIn, sessionId: number) =>
      store.endSession(caller.account.id, sessionId),
    listTokens: ({ store }: AccountCore, { caller }: SignedIn) => store.listTokens(caller.account.id),
    createToken: createOwnToken,
    revokeToken: ({ store }: AccountCore, { caller }: SignedIn, tokenId: number) =>
      store.revokeToken(caller.account.id, tokenId),
    /** Lists verified domains; links use no others. */
    listShareDomains: async ({ store }: AccountCore, { caller }: SignedIn): Promise<readonly string[]> => {
      const domains = await store.listDomains(caller.account.id);
      return domains.filter(({ state }) => state === 'verified').map(({ name }) => name);
    },
    /** Sets the default notices for secrets that set none. */
    setNotify: ({ store }: AccountCore, { caller }: SignedIn, kinds: readonly NoticeKind[]) =>
      store.setNotify(caller.account.id, kinds),
    /** Sets the sender's name; `''` removes it. Returns whether the name was accepted. */
    setSenderName: async ({ store }: AccountCore, { caller }: SignedIn, text: string): Promise<boolean> => {
      const name = parseSenderName(text);
      if (name === null && text.trim() !== '') return false;
      await store.setSenderName(caller.account.id, name);
      return true;
    },
    /** Sets the language; `null` follows the browser. */
    setLocale: ({ store }: AccountCore, { caller }: SignedIn, locale: string | null) =>
      store.setLocale(caller.account.id, locale),
  });
