/** The secret service, for API, pages and commands. Work that outlives a call (emails, notices, a token's last use) never makes it fail. */

import type { AccountCaller, Caller } from '../account.ts';
import { senderNameOf } from '../accounts/sender-name.ts';
import { authenticate } from '../accounts/tokens.ts';
import { createBackground } from '../background.ts';
import { sendDueNotices } from '../mail/notices.ts';
import { obfuscate } from '../mail/recipients.ts';
import type { Core } from '../ports/core.ts';
import { type FoundSecret, findStored, liveIn, secretViewOf } from './access.ts';
import { burn, burnByRecipient } from './burn.ts';
import { change } from './change.ts';
import { conceal, generate } from './conceal.ts';
import { suggest } from './generated-value.ts';
import { concealOnce, generateOnce, type TokenCaller } from './idempotency.ts';
import { deliver } from './link-mail.ts';
import { finishLook } from './look.ts';
import { noteOf, readNote } from './note.ts';
import type {
  ArrivalOutcome,
  BurnInput,
  BurnUnreadInput,
  ChangeInput,
  ConcealInput,
  DeliverInput,
  FinishLookInput,
  GenerateInput,
  Idempotency,
  InspectInput,
  NoteInput,
  ReceiptInput,
  RecentInput,
  RevealInput,
  StatusOutcome,
  SuggestInput,
} from './outcomes.ts';
import { findReceipt, viewReceipt } from './receipts.ts';
import { recent } from './recent.ts';
import { inspect, reveal } from './reveal.ts';

export type ServiceParts = Omit<Core, 'inBackground'>;

export type SecretService = ReturnType<typeof createService>;

/** Binds the use cases to their ports. Methods reject only with `ServiceError`. */
export function createService(parts: ServiceParts) {
  const background = createBackground();
  const core: Core = { ...parts, inBackground: background.begin };
  return {
    conceal: (input: ConcealInput, caller: Caller) => conceal(core, input, caller),
    generate: (input: GenerateInput, caller: Caller) => generate(core, input, caller),
    /** Works like `conceal`; identical requests with one token and one key within 24 hours create one secret. */
    concealOnce: (input: ConcealInput, idempotency: Idempotency, caller: TokenCaller) =>
      concealOnce(core, input, idempotency, caller),
    generateOnce: (input: GenerateInput, idempotency: Idempotency, caller: TokenCaller) =>
      generateOnce(core, input, idempotency, caller),
    reveal: (input: RevealInput, caller: Caller) => reveal(core, input, caller),
    /** Ends the second look. Does not reveal whether one existed. */
    finishLook: (input: FinishLookInput) => finishLook(core, input),
    /** Serves `GET /secret/:key` and a reveal with `continue: false`. Guesses are counted as in a reveal. */
    inspect: (input: InspectInput, caller: Caller) => inspect(core, input, caller),
    secretStatus: (input: { readonly secretKey: string }, caller: Caller) =>
      secretStatus(core.store, input.secretKey, caller),
    /** Returns what the recipient's page shows before opening, from one read of the secret. */
    arrival: (input: { readonly secretKey: string }, caller: Caller) =>
      arrival(core, input.secretKey, caller),
    /** Returns the sender's note. Changes and counts nothing. */
    readNote: (input: NoteInput) => readNote(core, input),
    findReceipt: (input: ReceiptInput, caller: Caller) => findReceipt(core, input, caller),
    /** Works like `findReceipt` and records that the creator has looked: the response already shows `viewed`. */
    viewReceipt: (input: ReceiptInput, caller: Caller) => viewReceipt(core, input, caller),
    burn: (input: BurnInput, caller: Caller) => burn(core, input, caller),
    burnByRecipient: (input: BurnUnreadInput) => burnByRecipient(core, input),
    change: (input: ChangeInput, caller: Caller) => change(core, input, caller),
    /** Sends the recipient's email again, or to another address. */
    deliver: (input: DeliverInput, caller: Caller) => deliver(core, input, caller),
    sendDueNotices: () => sendDueNotices(core),
    /** Draws a value for the form; nothing is stored. The caller has checked the ranges. */
    suggest: (input: SuggestInput) => suggest(core, input),
    /** For a browser that draws a passphrase itself. */
    words: () => core.words(),
    /** Lists an account's receipts, newest first. */
    recent: (input: RecentInput, caller: AccountCaller) => recent(core, input, caller),
    /** Returns the caller, or `null` for an unknown username or a wrong, expired or revoked token: indistinguishable (P17). */
    authenticate: (username: string, token: string) => authenticate(core, username, token),
    /** Resolves when no background work is left. */
    settled: background.settled,
  };
}

async function secretStatus(store: Core['store'], text: string, caller: Caller): Promise<StatusOutcome> {
  const found = await findStored(store, text);
  return found === null ? { outcome: 'unknown' } : statusOf(store, found, caller);
}

async function arrival(core: Core, text: string, caller: Caller): Promise<ArrivalOutcome> {
  const found = await findStored(core.store, text);
  if (found === null) return { outcome: 'unknown' };
  // A note that cannot be read is not worth an error.
  const note = liveIn(core, found).then((live) => noteOf(core, live, null));
  return { ...(await statusOf(core.store, found, caller)), note: await note.catch(() => null) };
}

async function statusOf(store: Core['store'], { secretKey, stored }: FoundSecret, caller: Caller) {
  const account = stored.owner === null ? null : await store.findAccountById(stored.owner);
  return {
    outcome: 'waiting' as const,
    secret: secretViewOf(stored, secretKey, 'new', caller, store.now()),
    sender: account && {
      name: await senderNameOf(store, account, stored.shareDomain),
      address: obfuscate(account.username),
    },
  };
}
