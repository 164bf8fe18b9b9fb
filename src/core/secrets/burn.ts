/**
 * Burn: destroying an unread secret with its metadata key (find → view → prove if required → burn) or its link (prove →
 * burn). A burn that loses to a reveal never reports `burned` for a read secret (P7), and nothing is burned for a client
 * that has left (P3).
 */

import { lookSeconds } from '../../protocol/limits.ts';
import type { Caller } from '../account.ts';
import { ServiceError } from '../errors.ts';
import { tagOf } from '../keys.ts';
import { type NoticeCore, sendNotice } from '../mail/notices.ts';
import type { BurnedBatch } from '../ports/claims.ts';
import type { Core } from '../ports/core.ts';
import type { RequestStore } from '../ports/requests.ts';
import type { SecretStore } from '../ports/secrets.ts';
import { type AccessCore, proveAccess, proveOpening } from './access.ts';
import type { BurnInput, BurnOutcome, BurnUnreadOutcome, ReceiptView, RevealInput } from './outcomes.ts';
import { findManaged, findReceipt, type ManagedReceipt, viewOf } from './receipts.ts';

export async function burn(deps: Core, input: BurnInput, caller: Caller): Promise<BurnOutcome> {
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const before = await viewOf(deps, managed, caller);
  if (before.secretTtlSeconds === null) {
    await endLook(deps, managed.stored, input);
    return { outcome: 'already_gone', receipt: before };
  }
  const refusal = isSpared(input, managed, caller) ? null : await checkProof(deps, input, before);
  if (refusal !== null) return refusal;

  if (input.isAbandoned()) return { outcome: 'abandoned' };
  const burnedAt = await deps.store.burn(managed.stored.receiptId, input.isAbandoned);
  if (burnedAt === 'abandoned') return { outcome: 'abandoned' };
  if (burnedAt === null) return wasQuicker(deps, input, caller, before);
  deps.events({ event: 'burned', tag: tagOf(managed.stored.secretId), by: 'creator' });
  sendNotice(deps, 'burned', managed.stored, burnedAt);
  const stored: ManagedReceipt['stored'] = {
    ...managed.stored,
    state: 'burned',
    burnedBy: 'creator',
    endedAt: burnedAt,
    sealedSecret: null,
    creatorBox: null,
  };
  const after = await viewOf(deps, { ...managed, stored }, caller);
  return { outcome: 'burned', receipt: { ...after, secretShortkey: before.secretShortkey } };
}

/** Burns the secret that a reveal of the same input would open, with the same refusals, work and counting of guesses (P14, P17). */
export async function burnByRecipient(
  deps: AccessCore & NoticeCore,
  input: RevealInput,
): Promise<BurnUnreadOutcome> {
  const access = await proveOpening(deps, input);
  if (access.outcome !== 'proven') return access;
  // The client may have left during hashing and look-ups.
  if (input.isAbandoned()) return { outcome: 'abandoned' };
  const burnedAt = await deps.store.burnFound(access.stored, input.isAbandoned);
  if (burnedAt === 'abandoned') return { outcome: 'abandoned' };
  if (burnedAt === null) return { outcome: 'unknown' };
  deps.events({ event: 'burned', tag: access.tag, by: 'recipient' });
  sendNotice(deps, 'burned', access.stored, burnedAt);
  return { outcome: 'burned' };
}

const batchRecords = 2_000;

/**
 * Burns all secrets waiting now, and some stored while it runs, in batches small enough to let other calls through. First ends all
 * requests for secrets, so that no answer comes after it.
 * @returns how many were burned
 */
export async function burnAll(
  store: Pick<SecretStore, 'burnAll' | 'scrub'> & Pick<RequestStore, 'endRequests'>,
  onProgress: (burned: number) => void,
): Promise<number> {
  while ((await store.endRequests(batchRecords)) === batchRecords);
  let burned = 0;
  for (let after: string | null = null; ; ) {
    const batch: BurnedBatch = await store.burnAll(after, batchRecords);
    burned += batch.burned;
    if (batch.next === null) break;
    after = batch.next;
    onProgress(burned);
  }
  // If a reader blocks this scrub, the server repeats it later.
  await store.scrub();
  return burned;
}

/** Keeps the opener from getting the answer again. */
async function endLook(
  deps: Core,
  { receiptId, state, endedAt }: ManagedReceipt['stored'],
  { isAbandoned }: BurnInput,
): Promise<void> {
  if (state !== 'received' || deps.store.now() >= (endedAt ?? 0) + lookSeconds) return;
  await deps.store.burn(receiptId, isAbandoned);
}

/** Returns the record's current state, because another call came first. */
async function wasQuicker(
  deps: Core,
  input: BurnInput,
  caller: Caller,
  before: ReceiptView,
): Promise<BurnOutcome> {
  const found = await findReceipt(deps, input, caller);
  if (found.outcome === 'unknown') return found;
  const receipt = { ...found.receipt, secretShortkey: before.secretShortkey };
  return { outcome: 'already_gone', receipt };
}

function isSpared({ proof }: BurnInput, { stored }: ManagedReceipt, caller: Caller): boolean {
  const isOwn = caller.kind === 'account' && stored.owner === caller.account.id;
  return isOwn && proof?.sparesOwner === true && proof.passphrase === null;
}

/** Checks the passphrase if burning requires it; returns `null` if the burn may go ahead. */
async function checkProof(deps: Core, input: BurnInput, before: ReceiptView): Promise<BurnOutcome | null> {
  // The server does not have an end-to-end secret's passphrase.
  if (input.proof === null || !before.hasPassphrase || before.sealed) return null;
  // The secret is waiting, so only damage can hide its key. Nothing is burned without proof.
  if (before.secretKey === null)
    throw new ServiceError('damaged', 'the box that names a waiting secret does not open');
  const access = await proveAccess(deps, { secretKey: before.secretKey, proofs: null, ...input.proof });
  if (access.outcome === 'incomplete_link' || access.outcome === 'not_sealed')
    throw new ServiceError('damaged', 'a secret is end-to-end and not, at the same time');
  return access.outcome === 'proven' ? null : access;
}
