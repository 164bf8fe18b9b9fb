/**
 * Checks of re-wrapping: it takes nothing from a reader, loses no change made at the same time, and after a root was closed
 * nothing comes under it again (P12).
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { SecretId } from '../../../src/core/keys.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import { ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  fullRecord,
  newRecord,
  newSecretId,
  putNew,
  refusalOf,
  restartCheck,
} from './check.ts';

/** Other sealed bytes, as long as before, under this root. */
function wrappedUnder(kid: number, { sealedSecret }: Pick<NewRecord, 'sealedSecret'>): Uint8Array {
  return new Uint8Array([2, kid >> 8, kid & 255, ...randomBytes(sealedSecret.length - 3)]);
}

const idsOf = (records: readonly { readonly secretId: SecretId }[]): string[] =>
  records.map(({ secretId }) => Buffer.from(secretId).toString('hex'));

/** All that is listed, in batches of `limit` records, with how many calls that took. */
async function listAll(store: Store, kid: number, limit: number): Promise<{ ids: string[]; calls: number }> {
  const ids: string[] = [];
  let calls = 0;
  for (let after: string | null = null; ; ) {
    const batch = await store.listUnderOlderRoots(kid, after, limit);
    calls += 1;
    ids.push(...idsOf(batch.secretIds.map((secretId) => ({ secretId }))));
    if (batch.next === null) return { ids, calls };
    after = batch.next;
  }
}

async function rewrap(store: Store, record: NewRecord, kid: number): Promise<Uint8Array> {
  const to = wrappedUnder(kid, record);
  assert.equal(await store.replaceWrapping(record.secretId, record.sealedSecret, to), true);
  return to;
}

export const rotationChecks: readonly ConformanceCheck[] = [
  check('P12', 'what waits under older roots is listed, each once and in order', async ({ store }) => {
    const older = [await putNew(store, {}, 1), await putNew(store, {}, 255)];
    await putNew(store, {}, 256);
    older.push(await putNew(store, {}, 2));
    await putNew(store, {}, 300);
    for (const limit of [1, 2, 100]) assert.deepEqual((await listAll(store, 256, limit)).ids, idsOf(older));
    assert.deepEqual((await listAll(store, 1, 100)).ids, []);
    assert.ok((await listAll(store, 256, 2)).calls >= 3);
  }),

  check('P12', 'what no longer waits is not listed', async ({ store, wallClock }) => {
    const [read, burned, expired] = [await putNew(store), await putNew(store), await putNew(store)];
    const later = await putNew(store, {
      expiresAt: expired.expiresAt + 10,
      receiptExpiresAt: expired.expiresAt + 20,
    });
    assert.equal(await store.claim(await found(store, read.secretId), clientStays), 'won');
    await store.burn(burned.receiptId, clientStays);
    wallClock.set(expired.expiresAt);
    assert.deepEqual((await listAll(store, 2, 100)).ids, idsOf([later]));
  }),

  check('P12', 'a re-wrapped secret is found as it was, in its new wrapping', async ({ store }) => {
    const record = fullRecord(store.now(), await ownerIn(store));
    await store.put(record);
    const other = await putNew(store);
    const [before, receiptBefore] = [
      await found(store, record.secretId),
      await store.findReceipt(record.receiptId),
    ];
    const to = await rewrap(store, record, 2);
    assert.deepEqual(await found(store, record.secretId), { ...before, sealedSecret: to });
    assert.deepEqual(await store.findReceipt(record.receiptId), { ...receiptBefore, sealedSecret: to });
    assert.deepEqual((await found(store, other.secretId)).sealedSecret, other.sealedSecret);
  }),

  check('P12', 'the roots in use follow what was re-wrapped', async ({ store }) => {
    const record = await putNew(store, {}, 1);
    await rewrap(store, record, 3);
    assert.ok((await store.rootKidsInUse()).includes(3));
    assert.deepEqual((await listAll(store, 3, 100)).ids, []);
    await store.closeRootsBefore(3);
    assert.deepEqual(await store.rootKidsInUse(), [3]);
  }),

  check('P3', 'who has proven a link before it is re-wrapped still takes the secret', async ({ store }) => {
    const record = await putNew(store);
    const before = await found(store, record.secretId);
    await rewrap(store, record, 2);
    assert.equal(await store.claim(before, clientStays), 'won');
    assert.equal((await store.findReceipt(record.receiptId))?.state, 'received');
  }),

  check('P12', 'a wrapping is replaced only where it is still the one that was found', async ({ store }) => {
    const record = await putNew(store);
    const [one, two] = [wrappedUnder(2, record), wrappedUnder(2, record)];
    const outcomes = await Promise.all(
      [one, two].map((to) => store.replaceWrapping(record.secretId, record.sealedSecret, to)),
    );
    assert.equal(outcomes.filter(Boolean).length, 1);
    assert.equal(
      await store.replaceWrapping(record.secretId, record.sealedSecret, wrappedUnder(3, record)),
      false,
    );
    assert.equal(await store.replaceWrapping(newSecretId(), record.sealedSecret, one), false);
    const won = outcomes[0] ? one : two;
    assert.deepEqual((await found(store, record.secretId)).sealedSecret, won);
    const longer = new Uint8Array(won.length + 1);
    assert.equal(await store.replaceWrapping(record.secretId, won, longer), false);
    assert.deepEqual((await found(store, record.secretId)).sealedSecret, won);
  }),

  check('P10', 'what was read or burned gets no new wrapping', async ({ store }) => {
    const [read, burned] = [await putNew(store), await putNew(store)];
    assert.equal(await store.claim(await found(store, read.secretId), clientStays), 'won');
    await store.burn(burned.receiptId, clientStays);
    for (const record of [read, burned]) {
      const to = wrappedUnder(2, record);
      assert.equal(await store.replaceWrapping(record.secretId, record.sealedSecret, to), false);
      const zeros = new Uint8Array(record.sealedSecret.length);
      assert.equal(await store.replaceWrapping(record.secretId, zeros, to), false);
      assert.equal(await store.findSecret(record.secretId), null);
      assert.equal((await store.findReceipt(record.receiptId))?.sealedSecret, null);
    }
  }),

  check(
    'P12',
    'an expiry that was worked out under an older root loses to the new one',
    async ({ store }) => {
      const record = await putNew(store);
      const expiresAt = record.expiresAt + 60;
      const under = (kid: number) => ({
        expiresAt,
        receiptExpiresAt: record.receiptExpiresAt + 120,
        noticeDueAt: null,
        sealedSecret: wrappedUnder(kid, record),
      });
      const wrapped = await rewrap(store, record, 2);
      assert.equal(await store.setExpiry(record.receiptId, record.expiresAt, under(1)), false);
      const kept = await found(store, record.secretId);
      assert.deepEqual([kept.sealedSecret, kept.expiresAt], [wrapped, record.expiresAt]);
      assert.equal(await store.setExpiry(record.receiptId, record.expiresAt, under(2)), true);
      assert.equal((await found(store, record.secretId)).expiresAt, expiresAt);
    },
  ),

  check(
    'P12',
    'nothing is stored under a closed root, and everything under the others',
    async ({ store }) => {
      const before = await putNew(store, {}, 1);
      await store.closeRootsBefore(3);
      await store.closeRootsBefore(2);
      for (const kid of [1, 2]) {
        const record = newRecord(store.now(), {}, kid);
        await refusalOf(store.put(record), `a record was stored under root ${kid}, which was closed`);
        assert.equal(await store.findSecret(record.secretId), null);
      }
      await putNew(store, {}, 3);
      await putNew(store, {}, 300);
      assert.equal(await store.claim(await found(store, before.secretId), clientStays), 'won');
    },
  ),

  check('P12', 'nothing is re-wrapped under a closed root', async ({ store }) => {
    const record = await putNew(store, {}, 1);
    await store.closeRootsBefore(3);
    const replacing = store.replaceWrapping(record.secretId, record.sealedSecret, wrappedUnder(2, record));
    await refusalOf(replacing, 'a record was re-wrapped under a root that was closed');
    assert.deepEqual((await found(store, record.secretId)).sealedSecret, record.sealedSecret);
    await rewrap(store, record, 3);
  }),

  check('P12', 'the first open root is known', async ({ store }) => {
    assert.equal(await store.findFirstOpenRoot(), 0);
    await store.closeRootsBefore(300);
    await store.closeRootsBefore(2);
    assert.equal(await store.findFirstOpenRoot(), 300);
  }),

  check('P12', 'forgetting roots never hides one that is open', async ({ store }) => {
    await putNew(store, {}, 3);
    const record = await putNew(store, {}, 1);
    await putNew(store, {}, 2);
    await store.forgetRoots([1, 2]);
    assert.deepEqual(await store.rootKidsInUse(), [1, 2, 3]);
    await rewrap(store, record, 2);
    await store.closeRootsBefore(2);
    await store.forgetRoots([1, 2]);
    assert.deepEqual(await store.rootKidsInUse(), [2, 3]);
  }),

  check('P12', 'a store takes its own copy of the wrappings it is given', async ({ store }) => {
    const record = await putNew(store);
    const [id, from, to] = [
      record.secretId.slice() as SecretId,
      record.sealedSecret.slice(),
      wrappedUnder(2, record),
    ];
    const kept = to.slice();
    const replacing = store.replaceWrapping(id, from, to);
    for (const given of [id, from, to]) given.fill(0);
    assert.equal(await replacing, true);
    assert.deepEqual((await found(store, record.secretId)).sealedSecret, kept);
  }),

  restartCheck('P12', 'a closed root stays closed after a restart', async ({ store }, reopen) => {
    const record = await putNew(store, {}, 1);
    const to = await rewrap(store, record, 2);
    await store.closeRootsBefore(2);
    const again = await reopen();
    assert.deepEqual((await found(again, record.secretId)).sealedSecret, to);
    await refusalOf(again.put(newRecord(again.now(), {}, 1)), 'a restart has opened a closed root');
    assert.equal(await again.findFirstOpenRoot(), 2);
    await putNew(again, {}, 2);
  }),
];
