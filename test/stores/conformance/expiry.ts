/**
 * Checks of a changed expiry: it counts at once and for everything that follows from it, and it takes nothing from a reader.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { NewExpiry } from '../../../src/core/ports/secrets.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import { ownerIn } from './account-fixtures.ts';
import { limits as attemptLimits } from './attempt-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  fullRecord,
  newReceiptId,
  putNew,
  restartCheck,
  ttlSeconds,
} from './check.ts';

/** Another expiry, so many seconds after the old one, with bytes of the same length under the same root. */
function movedBy(record: NewRecord, seconds: number, noticeDueAt: number | null = null): NewExpiry {
  const expiresAt = record.expiresAt + seconds;
  const { length } = record.sealedSecret;
  return {
    expiresAt,
    receiptExpiresAt: 2 * expiresAt - record.createdAt,
    noticeDueAt,
    sealedSecret: new Uint8Array([...record.sealedSecret.subarray(0, 3), ...randomBytes(length - 3)]),
  };
}

const move = async (store: Store, record: NewRecord, to: NewExpiry): Promise<void> =>
  assert.equal(await store.setExpiry(record.receiptId, record.expiresAt, to), true);

const limits = { ...attemptLimits, perLife: 2 };
const client = new Uint8Array(16);

export const expiryChecks: readonly ConformanceCheck[] = [
  check('P8', 'a secret whose expiry was put off lives until the new one', async ({ store, wallClock }) => {
    const record = await putNew(store);
    const to = movedBy(record, 600);
    await move(store, record, to);
    const receipt = await store.findReceipt(record.receiptId);
    assert.deepEqual(
      [receipt?.expiresAt, receipt?.receiptExpiresAt, receipt?.state, receipt?.viewedAt, receipt?.endedAt],
      [to.expiresAt, to.receiptExpiresAt, 'waiting', null, null],
    );
    assert.deepEqual(receipt?.sealedSecret, to.sealedSecret);
    wallClock.set(to.expiresAt - 1);
    await store.sweep(10);
    const secret = await found(store, record.secretId);
    assert.deepEqual([secret.expiresAt, secret.sealedSecret], [to.expiresAt, to.sealedSecret]);
    wallClock.set(to.expiresAt);
    assert.equal(await store.findSecret(record.secretId), null);
    assert.equal(await store.claim(secret, clientStays), 'gone');
  }),

  check(
    'P8',
    'a secret whose expiry was brought forward ends at the new one',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      const before = await found(store, record.secretId);
      const to = movedBy(record, 60 - ttlSeconds);
      await move(store, record, to);
      wallClock.set(to.expiresAt);
      assert.equal(await store.findSecret(record.secretId), null);
      assert.equal(await store.claim(before, clientStays), 'gone');
      assert.equal(await store.burn(record.receiptId, clientStays), null);
      assert.equal(await store.sweep(10), 1);
      wallClock.set(to.receiptExpiresAt);
      assert.equal(await store.findReceipt(record.receiptId), null);
    },
  ),

  check(
    'P3',
    'who has proven a link before its expiry is changed still takes the secret',
    async ({ store }) => {
      const record = await putNew(store);
      const before = await found(store, record.secretId);
      await move(store, record, movedBy(record, 600));
      assert.equal(await store.claim(before, clientStays), 'won');
      assert.equal((await store.findReceipt(record.receiptId))?.state, 'received');
    },
  ),

  check('P8', 'of two changes of one expiry, only one that knew it counts', async ({ store }) => {
    const record = await putNew(store);
    const [one, two] = [movedBy(record, 100), movedBy(record, 200)];
    const outcomes = await Promise.all(
      [one, two].map((to) => store.setExpiry(record.receiptId, record.expiresAt, to)),
    );
    assert.equal(outcomes.filter(Boolean).length, 1);
    assert.equal(await store.setExpiry(record.receiptId, record.expiresAt, movedBy(record, 300)), false);
    const receipt = await store.findReceipt(record.receiptId);
    const won = outcomes[0] ? one : two;
    assert.deepEqual([receipt?.expiresAt, receipt?.sealedSecret], [won.expiresAt, won.sealedSecret]);
  }),

  check(
    'P7',
    'the expiry of a secret that is gone, or unknown, is not changed',
    async ({ store, wallClock }) => {
      const [read, burned, expired] = [await putNew(store), await putNew(store), await putNew(store)];
      assert.equal(await store.claim(await found(store, read.secretId), clientStays), 'won');
      await store.burn(burned.receiptId, clientStays);
      wallClock.set(expired.expiresAt);
      for (const record of [read, burned, expired]) {
        const before = await store.findReceipt(record.receiptId);
        assert.equal(await store.setExpiry(record.receiptId, record.expiresAt, movedBy(record, 600)), false);
        assert.equal(await store.findSecret(record.secretId), null);
        assert.deepEqual(await store.findReceipt(record.receiptId), before);
      }
      assert.equal(await store.setExpiry(newReceiptId(), read.expiresAt, movedBy(read, 600)), false);
    },
  ),

  check('P6', 'the creator’s first look stays noted when the expiry changes', async ({ store }) => {
    const record = await putNew(store);
    const viewedAt = await store.markViewed(record.receiptId);
    await move(store, record, movedBy(record, 60 - ttlSeconds));
    assert.equal((await store.findReceipt(record.receiptId))?.viewedAt, viewedAt);
  }),

  check('P14', 'guesses stay counted until the new expiry', async ({ store, wallClock }) => {
    const record = await putNew(store, { hasPassphrase: true });
    const guess = () => store.reserve(record.secretId, client, limits);
    assert.equal((await guess()).outcome, 'reserved');
    assert.equal((await guess()).outcome, 'reserved');
    await move(store, record, movedBy(record, 3 * ttlSeconds));
    wallClock.set(record.expiresAt + ttlSeconds);
    await store.sweep(100);
    const refused = await guess();
    assert.deepEqual(refused, {
      outcome: 'exhausted',
      retryAfterSeconds: 2 * ttlSeconds,
      needsCreator: true,
    });
  }),

  check(
    'port',
    'a notice is given out when the new expiry wants it, and not when the old one did',
    async ({ store, wallClock }) => {
      const owner = await ownerIn(store);
      const [later, never] = [fullRecord(store.now(), owner), fullRecord(store.now(), owner)];
      for (const record of [later, never]) await store.put(record);
      const to = movedBy(later, 600, later.expiresAt);
      await move(store, later, to);
      await move(store, never, movedBy(never, 600));
      wallClock.set(later.expiresAt - 1);
      assert.deepEqual(await store.takeDueNotices(10), []);
      wallClock.set(later.expiresAt);
      const { createdAt, shareDomain } = later;
      const due = { owner, createdAt, expiresAt: to.expiresAt, shareDomain };
      assert.deepEqual(await store.takeDueNotices(10), [due]);
    },
  ),

  check('port', 'a changed expiry changes one secret alone, and nothing else of it', async ({ store }) => {
    const owner = await ownerIn(store);
    const [record, other] = [fullRecord(store.now(), owner), fullRecord(store.now(), owner)];
    for (const each of [record, other]) await store.put(each);
    const before = [await store.findReceipt(record.receiptId), await store.findReceipt(other.receiptId)];
    const { noticeDueAt: _due, ...to } = movedBy(record, 600);
    await move(store, record, { ...to, noticeDueAt: null });
    assert.deepEqual(await store.findReceipt(record.receiptId), before[0] && { ...before[0], ...to });
    assert.deepEqual(await store.findReceipt(other.receiptId), before[1]);
  }),

  restartCheck('P5', 'a changed expiry is still there after a restart', async ({ store }, reopen) => {
    const record = await putNew(store);
    const to = movedBy(record, 600);
    await move(store, record, to);
    const receipt = await (await reopen()).findReceipt(record.receiptId);
    assert.deepEqual([receipt?.expiresAt, receipt?.sealedSecret], [to.expiresAt, to.sealedSecret]);
  }),
];
