/** The secret service, for API, pages and commands. Work that outlives a call (emails, notices, a token's last use) never makes it fail. */

import type { Caller } from '../account.ts';
import { senderNameOf } from '../accounts/sender-name.ts';
import { authenticate } from '../accounts/tokens.ts';
import { bindUseCases } from '../background.ts';
import { sendDueNotices } from '../mail/notices.ts';
import { obfuscate } from '../mail/recipients.ts';
import type { Core } from '../ports/core.ts';
import { type FoundSecret, findStored, liveIn, secretViewOf } from './access.ts';
import { burn, burnByRecipient } from './burn.ts';
import { change } from './change.ts';
import { mailCode } from './codes.ts';
import { conceal, generate } from './conceal.ts';
import { suggest } from './generated-value.ts';
import { concealOnce, generateOnce } from './idempotency.ts';
import { deliver } from './link-mail.ts';
import { finishLook } from './look.ts';
import { noteOf, readNote } from './note.ts';
import type { ArrivalOutcome, InspectInput, StatusOutcome } from './outcomes.ts';
import { findReceipt, viewReceipt } from './receipts.ts';
import { recent } from './recent.ts';
import { inspect, reveal } from './reveal.ts';

export type ServiceParts = Omit<Core, 'inBackground'>;

export type SecretService = ReturnType<typeof createService>;

/** Methods reject only with `ServiceError`. */
export const createService = (parts: ServiceParts) =>
  bindUseCases(parts, {
    conceal,
    generate,
    concealOnce,
    generateOnce,
    mailCode,
    reveal,
    finishLook,
    inspect,
    secretStatus,
    arrival,
    readNote,
    findReceipt,
    viewReceipt,
    burn,
    burnByRecipient,
    change,
    deliver,
    sendDueNotices,
    suggest,
    words: ({ words }: Core) => words(),
    recent,
    authenticate,
  });

type OfSecret = Pick<InspectInput, 'secretKey'>;

async function secretStatus(
  { store }: Core,
  { secretKey }: OfSecret,
  caller: Caller,
): Promise<StatusOutcome> {
  const found = await findStored(store, secretKey);
  return found === null ? { outcome: 'unknown' } : statusOf(store, found, caller);
}

/** Returns what the recipient's page shows before opening, from one read of the secret. */
async function arrival(core: Core, { secretKey }: OfSecret, caller: Caller): Promise<ArrivalOutcome> {
  const found = await findStored(core.store, secretKey);
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
