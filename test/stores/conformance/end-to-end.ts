/**
 * Checks of end-to-end secrets: whether a record is of one is known at its creation and never changes, because both layers of its
 * envelope are bound to it, and what a client encrypted may be a hundred times as large as a value.
 */

import { strict as assert } from 'node:assert';
import type { NewRecord } from '../../../src/core/secret.ts';
import { noticeKinds } from '../../../src/protocol/vocabulary.ts';
import type { Store } from '../../../src/store/store.ts';
import { ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  newRecord,
  putNew,
  recentOf,
  ttlSeconds,
} from './check.ts';

/** What a receipt says of it, alone and in its account's list. */
async function toldOfReceipt(store: Store, { receiptId, owner }: NewRecord): Promise<unknown[]> {
  const receipt = await store.findReceipt(receiptId);
  const listed = owner === null ? [] : await recentOf(store, owner);
  const same = listed.find((each) => Buffer.from(each.receiptId).equals(receiptId));
  return [receipt, ...(same === undefined ? [] : [same])].map((each) => [each?.sealed, each?.hasPassphrase]);
}

async function assertTold(store: Store, record: NewRecord): Promise<void> {
  for (const told of await toldOfReceipt(store, record))
    assert.deepEqual(told, [record.sealed, record.hasPassphrase]);
}

/** One of each: end-to-end or not, with a passphrase or not, with every notice or none. */
async function putEach(store: Store): Promise<NewRecord[]> {
  const owner = await ownerIn(store);
  const records: NewRecord[] = [];
  for (const sealed of [true, false])
    for (const hasPassphrase of [true, false])
      for (const notify of [[], noticeKinds])
        records.push(await putNew(store, { owner, sealed, hasPassphrase, notify }));
  return records;
}

export const endToEndChecks: readonly ConformanceCheck[] = [
  check(
    'P9',
    'a secret and its receipt tell whether it is end-to-end, whatever else it is',
    async ({ store }) => {
      for (const record of await putEach(store)) {
        const { sealed, hasPassphrase, notify } = await found(store, record.secretId);
        assert.deepEqual(
          [sealed, hasPassphrase, notify],
          [record.sealed, record.hasPassphrase, record.notify],
        );
        await assertTold(store, record);
      }
    },
  ),

  check(
    'P6',
    'a receipt still tells whether its secret was end-to-end once that is read, burned or expired',
    async ({ store, wallClock }) => {
      const records = await putEach(store);
      for (const [at, { secretId, receiptId }] of records.entries()) {
        if (at % 3 === 0) await store.claim(await found(store, secretId), clientStays);
        if (at % 3 === 1) await store.burn(receiptId, clientStays);
      }
      wallClock.advance(ttlSeconds);
      for (const record of records) await assertTold(store, record);
      await store.sweep(100);
      for (const record of records) await assertTold(store, record);
    },
  ),

  check('P9', 'another expiry or another root leaves an end-to-end secret one', async ({ store }) => {
    for (const record of await putEach(store)) {
      const { secretId, receiptId, sealedSecret, expiresAt, receiptExpiresAt } = record;
      const to = { expiresAt: expiresAt + 60, receiptExpiresAt: receiptExpiresAt + 120, noticeDueAt: null };
      assert.equal(await store.setExpiry(receiptId, expiresAt, { ...to, sealedSecret }), true);
      const wrapped = sealedSecret.slice().fill(7, 3);
      assert.equal(await store.replaceWrapping(secretId, sealedSecret, wrapped), true);
      assert.equal((await found(store, secretId)).sealed, record.sealed);
      await assertTold(store, record);
    }
  }),

  check('P5', 'what a client encrypted comes back as it was, up to a megabyte', async ({ store }) => {
    for (const size of [100_000, 1_016_400]) {
      const sealedSecret = new Uint8Array(size).map((_, at) => (at * 31) & 255);
      sealedSecret.set([2, 0, 1]);
      const record = newRecord(store.now(), { sealed: true, sealedSecret });
      await store.put(record);
      const back = (await found(store, record.secretId)).sealedSecret;
      assert.ok(Buffer.from(back).equals(sealedSecret), 'other bytes came back');
      assert.equal(await store.claim(await found(store, record.secretId), clientStays), 'won');
      assert.equal((await store.findReceipt(record.receiptId))?.sealedSecret, null);
    }
  }),
];
