/** Looks as a claim makes them, for the checks of every store: their bytes are random but for what a store reads of them. */

import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { type LookStore, lookRow, type NewLook, type StoredLook } from '../../../src/core/ports/looks.ts';
import type { NewRecord, StoredSecret } from '../../../src/core/secret.ts';
import { lookAnswers, lookSeconds } from '../../../src/protocol/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { clientStays, found, putNew } from './check.ts';

export const newTag = (): Uint8Array => new Uint8Array(randomBytes(lookRow.tagBytes));

/** A look's row of this length, under root `kid`. */
export function lookBytes(length: number, tag: Uint8Array, kid = 1): Uint8Array {
  const bytes = new Uint8Array(randomBytes(length));
  bytes.set([lookRow.version, kid >> 8, kid & 255]);
  bytes[lookRow.answersAt] = lookAnswers - 1;
  bytes.set(tag, lookRow.tagAt);
  return bytes;
}

export function newLook(
  { sealedSecret, expiresAt }: Pick<StoredSecret, 'sealedSecret' | 'expiresAt'>,
  now: number,
  tag: Uint8Array,
  kid = 1,
): NewLook {
  const until = Math.min(now + lookSeconds, expiresAt);
  return { sealedLook: lookBytes(sealedSecret.length, tag, kid), until };
}

/** A record that was claimed with a look just now. */
export interface Opened {
  readonly record: NewRecord;
  readonly tag: Uint8Array;
  readonly look: NewLook;
}

export async function claimWithLook(store: Store, record: NewRecord, kid = 1): Promise<Opened> {
  const secret = await found(store, record.secretId);
  const tag = newTag();
  const look = newLook(secret, store.now(), tag, kid);
  assert.equal(await store.claim(secret, clientStays, look), 'won');
  return { record, tag, look };
}

export async function opened(store: Store, changes: Partial<NewRecord> = {}): Promise<Opened> {
  return claimWithLook(store, await putNew(store, changes));
}

export const lookOf = (store: Pick<LookStore, 'findLook'>, { record, tag }: Opened) =>
  store.findLook(record.secretId, tag);
export const askAgain = (store: Pick<LookStore, 'takeAnswer'>, { record, tag }: Opened) =>
  store.takeAnswer(record.secretId, tag, clientStays);

/** What is found of a look just claimed. */
export const foundAs = ({ record, look }: Opened): StoredLook => ({
  secretId: record.secretId,
  rowVersion: 1,
  owner: record.owner,
  createdAt: record.createdAt,
  expiresAt: record.expiresAt,
  hasPassphrase: record.hasPassphrase,
  sealed: record.sealed,
  verify: record.verify,
  shareDomain: record.shareDomain,
  notify: record.notify,
  sealedSecret: look.sealedLook,
  until: look.until,
});

export async function assertEnded(store: Store, opener: Opened, why: string): Promise<void> {
  const { record } = opener;
  assert.equal(await lookOf(store, opener), null, why);
  assert.equal(await store.findAnyLook(record.secretId), null, why);
  assert.equal(await askAgain(store, opener), 'gone', why);
  assert.equal(await store.findSecret(record.secretId), null, why);
  const receipt = await store.findReceipt(record.receiptId);
  if (receipt !== null) assert.deepEqual([receipt.state, receipt.sealedSecret], ['received', null]);
}

export async function assertReceived(store: Store, { receiptId, createdAt }: NewRecord): Promise<void> {
  const receipt = await store.findReceipt(receiptId);
  assert.equal(receipt?.state, 'received');
  assert.equal(receipt.endedAt, createdAt);
  assert.deepEqual([receipt.sealedSecret, receipt.creatorBox], [null, null], 'a receipt shows a look');
}
