/**
 * Checks of receipts: what they say, for how long, and the recent list.
 */
import { strict as assert } from 'node:assert';
import { type AccountId, noAccountId } from '../../../src/core/account.ts';
import type { ListedReceipt } from '../../../src/core/secret.ts';
import { ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  fullRecord,
  newReceiptId,
  putNew,
  recentOf,
  ttlSeconds,
} from './check.ts';

export const receiptChecks: readonly ConformanceCheck[] = [
  check('P6', 'a receipt tells all that was stored for the creator', async ({ store }) => {
    const owner = await ownerIn(store);
    const record = fullRecord(store.now(), owner);
    await store.put(record);
    const receipt = await store.findReceipt(record.receiptId);
    assert.ok(receipt !== null);
    const { deliveryStaleAt: staleAt, noticeDueAt: _dueAt, hold: _hold, ...stored } = record;
    const untouched = { state: 'waiting', viewedAt: null, endedAt: null, burnedBy: null, creatorBox: null };
    const delivery = { state: 'queued', at: record.createdAt, staleAt, noteBox: null, addressBox: null };
    assert.deepEqual(receipt, { ...stored, ...untouched, delivery });
  }),

  check(
    'P6',
    'an anonymous receipt has no owner, no list entry, no delivery and no notices',
    async ({ store }) => {
      const record = await putNew(store);
      const receipt = await store.findReceipt(record.receiptId);
      assert.equal(receipt?.owner, null);
      assert.equal(receipt?.delivery, null);
      assert.deepEqual(receipt?.notify, []);
      assert.deepEqual([receipt?.detailsBox, receipt?.recentBox], [null, null]);
    },
  ),

  check(
    'P10',
    'what the creator reads of a secret is gone at its expiry, whether or not a sweep has run',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      wallClock.set(record.expiresAt - 1);
      assert.deepEqual((await store.findReceipt(record.receiptId))?.sealedSecret, record.sealedSecret);
      wallClock.set(record.expiresAt);
      for (const sweepFirst of [false, true]) {
        if (sweepFirst) await store.sweep(10);
        const receipt = await store.findReceipt(record.receiptId);
        assert.deepEqual([receipt?.state, receipt?.sealedSecret, receipt?.endedAt], ['waiting', null, null]);
      }
    },
  ),

  check('P8', 'a receipt lives until the instant of its own expiry', async ({ store, wallClock }) => {
    const owner = await ownerIn(store);
    const record = await putNew(store, { owner });
    wallClock.set(record.receiptExpiresAt - 1);
    assert.notEqual(await store.findReceipt(record.receiptId), null);
    assert.equal((await recentOf(store, owner)).length, 1);
    wallClock.set(record.receiptExpiresAt);
    assert.equal(await store.findReceipt(record.receiptId), null);
    assert.deepEqual(await recentOf(store, owner), []);
  }),

  check(
    'P6',
    'the first look of the creator is noted once, and only while the secret waits',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      wallClock.advance(1);
      assert.equal(await store.markViewed(record.receiptId), record.createdAt + 1);
      wallClock.advance(1);
      assert.equal(await store.markViewed(record.receiptId), record.createdAt + 1);
      assert.equal((await store.findReceipt(record.receiptId))?.viewedAt, record.createdAt + 1);
      assert.notEqual(await store.findSecret(record.secretId), null);
      assert.notEqual(await store.burn(record.receiptId, clientStays), null);
      assert.equal(await store.markViewed(record.receiptId), null);
      assert.equal(await store.markViewed(newReceiptId()), null);
      assert.equal((await store.findReceipt(record.receiptId))?.viewedAt, record.createdAt + 1);
    },
  ),

  check(
    'P6',
    'what became of several secrets is found at once, in the order asked, without their values',
    async ({ store, wallClock }) => {
      const [gone, over] = [await putNew(store), await putNew(store)];
      wallClock.set(over.expiresAt);
      const [read, burned, waits] = [await putNew(store), await putNew(store), await putNew(store)];
      await store.claim(await found(store, read.secretId), clientStays);
      await store.burn(burned.receiptId, clientStays);
      const ids = [burned, over, waits, read, waits].map(({ receiptId }) => receiptId);
      const states = ['burned', 'waiting', 'waiting', 'received', 'waiting'] as const;
      const lives = [burned, over, waits, read, waits].map((record, n) => {
        const { createdAt, expiresAt, receiptExpiresAt } = record;
        return { state: states[n], createdAt, expiresAt, receiptExpiresAt };
      });
      assert.deepEqual(await store.findLives(ids), lives);
      wallClock.set(gone.receiptExpiresAt);
      const asked = [newReceiptId(), waits.receiptId, gone.receiptId];
      assert.deepEqual(await store.findLives(asked), [null, lives[2], null]);
      assert.deepEqual(await store.findLives([]), []);
    },
  ),

  check('P16', 'an account finds its own receipts and anonymous ones, not another’s', async ({ store }) => {
    const [owner, stranger] = [await ownerIn(store), await ownerIn(store, 'stranger@example.org')];
    const [owned, anonymous] = [await putNew(store, { owner }), await putNew(store)];
    for (const { receiptId } of [owned, anonymous]) {
      const receipt = await store.findReceipt(receiptId);
      assert.ok(receipt !== null);
      assert.deepEqual(await store.findReceipt(receiptId, owner), receipt);
    }
    assert.equal(await store.findReceipt(owned.receiptId, stranger), null);
    assert.equal(await store.findReceipt(owned.receiptId, noAccountId), null);
    for (const other of [stranger, noAccountId])
      assert.notEqual(await store.findReceipt(anonymous.receiptId, other), null);
    assert.equal(await store.findReceipt(newReceiptId(), owner), null);
  }),

  check('P16', 'the recent list holds one account’s own receipts, newest first', async ({ store }) => {
    const owner = await ownerIn(store);
    const first = await putNew(store, { owner });
    await putNew(store, { owner: await ownerIn(store, 'stranger@example.org') });
    await putNew(store);
    const second = await putNew(store, { owner });
    const listed = await recentOf(store, owner);
    assert.deepEqual(
      listed.map((each) => each.receiptId),
      [second.receiptId, first.receiptId],
    );
    const found = await store.findReceipt(second.receiptId);
    assert.ok(found !== null);
    const { sealedSecret, creatorBox, ...unsealed } = found;
    assert.deepEqual([sealedSecret, creatorBox], [second.sealedSecret, null]);
    assert.deepEqual(listed[0], unsealed);
    assert.deepEqual(await recentOf(store, 9 as AccountId), []);
  }),

  check(
    'P16',
    'pages of the recent list neither repeat nor skip while records are added',
    async ({ store }) => {
      const owner = await ownerIn(store);
      const ids: Uint8Array[] = [];
      for (let n = 0; n < 9; n += 1) ids.unshift((await putNew(store, { owner })).receiptId);
      const seen: Uint8Array[] = [];
      let after: string | null = null;
      for (;;) {
        const page: readonly ListedReceipt[] = (await store.listReceipts(owner, { limit: 4, after })) ?? [];
        seen.push(...page.map((each) => each.receiptId));
        after = page.at(-1)?.cursor ?? null;
        assert.match(after ?? '', /^[ -~]{0,60}$/);
        if (page.length < 4) break;
        await putNew(store, { owner });
      }
      assert.deepEqual(seen, ids);
    },
  ),

  check(
    'port',
    'a cursor leads to nothing that was created after its receipt, also once that was swept',
    async ({ store, wallClock }) => {
      const owner = await ownerIn(store);
      await putNew(store, { owner });
      const after = (await store.listReceipts(owner, { limit: 1, after: null }))?.[0]?.cursor ?? null;
      wallClock.advance(2 * ttlSeconds);
      assert.equal(await store.sweep(10), 1);
      await putNew(store, { owner });
      await putNew(store, { owner });
      assert.equal((await recentOf(store, owner)).length, 2);
      assert.deepEqual(await store.listReceipts(owner, { limit: 10, after }), []);
    },
  ),

  check('port', 'a cursor that the store never gave is refused', async ({ store }) => {
    const owner = await ownerIn(store);
    await putNew(store, { owner });
    for (const after of ['', ' ', 'x', '-1', '1.5', '1 OR 1=1', 'z'.repeat(60)]) {
      assert.equal(await store.listReceipts(owner, { limit: 10, after }), null);
    }
  }),
];
