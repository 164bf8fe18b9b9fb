/**
 * What the account pages call. No outcome reveals whether an address has an account, except to someone with its mailbox or password (P17).
 * Work after an answer (a mail, a last use) never fails the call.
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
 * A method rejects only with `ServiceError`. Callers limit the rate; mails go out in the background. `clientPrefix`: as in `InspectInput`.
 */
export function createAccountService(parts: Omit<AccountCore, 'inBackground'>) {
  const background = createBackground();
  const core: AccountCore = { ...parts, inBackground: background.begin };
  const { store } = core;
  return {
    /** Mails a link that completes the sign-up. If the address has an account, the mail says so instead. Same answer, same time. */
    requestSignUp: (input: TicketRequest) => requestSignUp(core, input),
    checkSignUp: (ticket: string) => checkSignUp(core, ticket),
    signUp: (input: SignUpInput) => signUp(core, input),
    logIn: (input: LogInInput) => logIn(core, input),
    /** `null`: malformed, unknown, ended or expired. */
    openSession: (token: string) => openSession(core, token),
    logOut: async ({ caller, sessionId }: SignedIn) => {
      await store.endSession(caller.account.id, sessionId);
    },
    /** Mails a link that sets a new password, if the account exists. Same answer, same time. */
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
    /** Needs the password. Mails the owner. */
    createToken: (signedIn: SignedIn, input: OwnTokenInput) => createOwnToken(core, signedIn, input),
    revokeToken: ({ caller }: SignedIn, tokenId: number) => store.revokeToken(caller.account.id, tokenId),
    /** The verified ones: only these make links. */
    listShareDomains: async ({ caller }: SignedIn): Promise<readonly string[]> => {
      const domains = await store.listDomains(caller.account.id);
      return domains.filter(({ state }) => state === 'verified').map(({ name }) => name);
    },
    /** The default notices for secrets that set none. */
    setNotify: ({ caller }: SignedIn, kinds: readonly NoticeKind[]) =>
      store.setNotify(caller.account.id, kinds),
    /** `''`: none. Returns whether it was accepted. */
    setSenderName: async ({ caller }: SignedIn, text: string): Promise<boolean> => {
      const name = parseSenderName(text);
      if (name === null && text.trim() !== '') return false;
      await store.setSenderName(caller.account.id, name);
      return true;
    },
    /** `null` follows the browser. */
    setLocale: ({ caller }: SignedIn, locale: string | null) => store.setLocale(caller.account.id, locale),
    /** Resolves when no mail is in progress. */
    settled: background.settled,
  };
}
