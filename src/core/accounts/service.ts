/**
 * The service that the account pages call. No outcome reveals whether an address has an account, except to someone with its mailbox or
 * password (P17). Work after a response (an email, a last use) never makes the call fail.
 */

import type { NoticeKind } from '../../protocol/vocabulary.ts';
import type { SignedIn } from '../account.ts';
import { createBackground } from '../background.ts';
import type { AccountCore } from '../ports/core.ts';
import { finishDeletions } from './deletion.ts';
import {
  type ChangePasswordInput,
  changePassword,
  type DeleteAccountInput,
  deleteAccount,
} from './passwords.ts';
import { parseSenderName } from './sender-name.ts';
import { type LogInInput, logIn, openSession } from './sessions.ts';
import {
  checkReset,
  checkSignUp,
  type ResetInput,
  requestReset,
  requestSignUp,
  resetPassword,
  type SignUpInput,
  signUp,
  type TicketRequest,
} from './sign-up.ts';
import { createOwnToken, type OwnTokenInput } from './tokens.ts';

export type AccountService = ReturnType<typeof createAccountService>;

/**
 * Methods reject only with `ServiceError`. Callers limit the rate; emails go out in the background. `clientPrefix` is as in `InspectInput`.
 */
export function createAccountService(parts: Omit<AccountCore, 'inBackground'>) {
  const background = createBackground();
  const core: AccountCore = { ...parts, inBackground: background.begin };
  const { store } = core;
  return {
    /** Emails a link that completes the sign-up. If the address has an account, the email says so instead. Same response, same time. */
    requestSignUp: (input: TicketRequest) => requestSignUp(core, input),
    checkSignUp: (ticket: string) => checkSignUp(core, ticket),
    signUp: (input: SignUpInput) => signUp(core, input),
    logIn: (input: LogInInput) => logIn(core, input),
    /** Returns `null` if the session is malformed, unknown, ended or expired. */
    openSession: (token: string) => openSession(core, token),
    logOut: async ({ caller, sessionId }: SignedIn) => {
      await store.endSession(caller.account.id, sessionId);
    },
    /** Emails a link that sets a new password, if the account exists. Same response, same time. */
    requestReset: (input: TicketRequest) => requestReset(core, input),
    checkReset: (ticket: string) => checkReset(core, ticket),
    resetPassword: (input: ResetInput) => resetPassword(core, input),
    /** Ends every other session. */
    changePassword: (signedIn: SignedIn, input: ChangePasswordInput) => changePassword(core, signedIn, input),
    deleteAccount: (signedIn: SignedIn, input: DeleteAccountInput) => deleteAccount(core, signedIn, input),
    /** Burns secrets left by deletions that a crash or an outage interrupted. */
    finishDeletions: (mayGoOn: () => boolean) => finishDeletions(core, mayGoOn),
    listSessions: ({ caller }: SignedIn) => store.listSessions(caller.account.id),
    endSession: ({ caller }: SignedIn, sessionId: number) => store.endSession(caller.account.id, sessionId),
    listTokens: ({ caller }: SignedIn) => store.listTokens(caller.account.id),
    /** Requires the password. Notifies the owner by email. */
    createToken: (signedIn: SignedIn, input: OwnTokenInput) => createOwnToken(core, signedIn, input),
    revokeToken: ({ caller }: SignedIn, tokenId: number) => store.revokeToken(caller.account.id, tokenId),
    /** Lists verified domains; links use no others. */
    listShareDomains: async ({ caller }: SignedIn): Promise<readonly string[]> => {
      const domains = await store.listDomains(caller.account.id);
      return domains.filter(({ state }) => state === 'verified').map(({ name }) => name);
    },
    /** Sets the default notices for secrets that set none. */
    setNotify: ({ caller }: SignedIn, kinds: readonly NoticeKind[]) =>
      store.setNotify(caller.account.id, kinds),
    /** Sets the sender's name; `''` removes it. Returns whether the name was accepted. */
    setSenderName: async ({ caller }: SignedIn, text: string): Promise<boolean> => {
      const name = parseSenderName(text);
      if (name === null && text.trim() !== '') return false;
      await store.setSenderName(caller.account.id, name);
      return true;
    },
    /** Sets the language; `null` follows the browser. */
    setLocale: ({ caller }: SignedIn, locale: string | null) => store.setLocale(caller.account.id, locale),
    /** Resolves when no background work is left. */
    settled: background.settled,
  };
}
