/**
 * Checks of the creator's memo: what it belongs to, how long it is kept, and that it changes nothing else.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { NewRecord } from '../../../src/core/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import { accountNamed, deleteWhole, ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  fullRecord,
  newReceiptId,
  putNew,
  recentOf,
  restartCheck,
} from './check.ts';

/** Sealed memos have one of two lengths. */
const shortBox = () => new Uint8Array(randomBytes(304));
const longBox = () => new Uint8Array(randomBytes(2_096));

const memoOf = async (store: Store, { receiptId }: Pick<NewRecord, 'receiptId'>) =>
  (await store.findReceipt(receiptId))?.memoBox;

/** A read, a burned and an expired secret, each with this memo. */
async function putGone(store: Store, memoBox: Uint8Array | null, expire: (at: number) => void) {
  const records = [
    await putNew(store, { memoBox }),
    await putNew(store, { memoBox }),
    await putNew(store, { memoBox, expiresAt: store.now() + 10 }),
  ] as const;
  const [read, burned, expired] = records;
  assert.equal(await store.claim(await found(store, read.secretId), clientStays), 'won');
  assert.notEqual(await store.burn(burned.receiptId, clientStays), null);
  expire(expired.expiresAt);
  return records;
}

export const memoChecks: readonly ConformanceCheck[] = [
  check(
    'port',
    'a memo is set, changed and removed, and the rest of its receipt stays',
    async ({ store }) => {
      const owner = await ownerIn(store);
      const record = { ...fullRecord(store.now(), owner), memoBox: null };
      await store.put(record);
      const before = await store.findReceipt(record.receiptId);
      assert.equal(before?.memoBox, null);
      for (const memoBox of [shortBox(), shortBox(), longBox(), shortBox(), null, null, longBox()]) {
        assert.equal(await store.setMemo(record.receiptId, memoBox), true);
        assert.deepEqual(await store.findReceipt(record.receiptId), { ...before, memoBox });
      }
      assert.deepEqual((await found(store, record.secretId)).sealedSecret, record.sealedSecret);
    },
  ),

  check('port', 'the memo of one receipt is no other’s', async ({ store }) => {
    const boxes = [shortBox(), null, longBox()];
    const [first, second, third] = [
      await putNew(store, { memoBox: boxes[0] ?? null }),
      await putNew(store),
      await putNew(store, { memoBox: boxes[2] ?? null }),
    ];
    const memos = () => Promise.all([first, second, third].map((each) => memoOf(store, each)));
    assert.deepEqual(await memos(), boxes);
    const next = shortBox();
    await store.setMemo(second.receiptId, next);
    assert.deepEqual(await memos(), [boxes[0], next, boxes[2]]);
    await store.setMemo(first.receiptId, null);
    assert.deepEqual(await memos(), [null, next, boxes[2]]);
  }),

  check(
    'P6',
    'a memo outlives the read, the burn and the expiry of its secret',
    async ({ store, wallClock }) => {
      const memoBox = shortBox();
      const records = await putGone(store, memoBox, wallClock.set);
      for (const sweepFirst of [false, true]) {
        if (sweepFirst) await store.sweep(10);
        for (const record of records) assert.deepEqual(await memoOf(store, record), memoBox);
      }
    },
  ),

  check(
    'P6',
    'a memo can be set and removed when its secret is read, burned or expired, and revives nothing',
    async ({ store, wallClock }) => {
      const records = await putGone(store, null, wallClock.set);
      for (const { receiptId, secretId } of records) {
        const before = await store.findReceipt(receiptId);
        for (const memoBox of [shortBox(), null]) {
          assert.equal(await store.setMemo(receiptId, memoBox), true);
          assert.deepEqual(await store.findReceipt(receiptId), { ...before, memoBox });
        }
        assert.equal(await store.findSecret(secretId), null);
      }
    },
  ),

  check('P8', 'a memo is set until the instant at which its receipt ends', async ({ store, wallClock }) => {
    const record = await putNew(store);
    assert.equal(await store.setMemo(newReceiptId(), shortBox()), false);
    wallClock.set(record.receiptExpiresAt - 1);
    assert.equal(await store.setMemo(record.receiptId, shortBox()), true);
    wallClock.set(record.receiptExpiresAt);
    assert.equal(await store.setMemo(record.receiptId, shortBox()), false);
    assert.equal(await store.setMemo(record.receiptId, null), false);
    await store.sweep(10);
    assert.equal(await store.setMemo(record.receiptId, shortBox()), false);
  }),

  check('P7', 'of a read and a memo at once both happen', async ({ store }) => {
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    const memoBox = shortBox();
    const both = [store.claim(secret, clientStays), store.setMemo(record.receiptId, memoBox)];
    assert.deepEqual(await Promise.all(both), ['won', true]);
    const receipt = await store.findReceipt(record.receiptId);
    assert.deepEqual([receipt?.state, receipt?.memoBox], ['received', memoBox]);
  }),

  check('P16', 'the recent list tells memos as the receipts do', async ({ store }) => {
    const owner = await ownerIn(store);
    const first = await putNew(store, { owner, memoBox: shortBox() });
    const second = await putNew(store, { owner });
    const third = await putNew(store, { owner });
    await store.setMemo(second.receiptId, longBox());
    const listed = await recentOf(store, owner);
    const told = await Promise.all([third, second, first].map((each) => memoOf(store, each)));
    assert.deepEqual(
      listed.map((each) => each.memoBox),
      told,
    );
  }),

  check('P10', 'a sweep leaves the memos of what lives on', async ({ store, wallClock }) => {
    const ending = await putNew(store, { memoBox: shortBox(), receiptExpiresAt: store.now() + 3_601 });
    const [memoBox, later] = [shortBox(), longBox()];
    const living = await putNew(store, { memoBox, receiptExpiresAt: store.now() + 10_000 });
    const other = await putNew(store, { receiptExpiresAt: store.now() + 10_000 });
    await store.setMemo(other.receiptId, later);
    wallClock.set(ending.receiptExpiresAt);
    await store.sweep(10);
    assert.equal(await memoOf(store, ending), undefined);
    assert.deepEqual([await memoOf(store, living), await memoOf(store, other)], [memoBox, later]);
  }),

  check('P16', 'the memos of an account end with it, and no other’s do', async ({ store }) => {
    const [ann, bob] = [
      await accountNamed(store, 'ann@example.org'),
      await accountNamed(store, 'bob@example.org'),
    ];
    const memoBox = shortBox();
    const [own, read, foreign, unowned] = [
      await putNew(store, { owner: ann.id, memoBox }),
      await putNew(store, { owner: ann.id, memoBox }),
      await putNew(store, { owner: bob.id, memoBox }),
      await putNew(store, { memoBox }),
    ];
    await store.claim(await found(store, read.secretId), clientStays);
    await deleteWhole(store, ann.id);
    const memos = await Promise.all([own, read, foreign, unowned].map((each) => memoOf(store, each)));
    assert.deepEqual(memos, [null, null, memoBox, memoBox]);
  }),

  check('port', 'a store keeps its own copy of a memo', async ({ store }) => {
    const [given, changed] = [shortBox(), shortBox()];
    const wanted = [given.slice(), changed.slice()];
    const { receiptId } = await putNew(store, { memoBox: given });
    given.fill(0);
    assert.deepEqual(await memoOf(store, { receiptId }), wanted[0]);
    const set = store.setMemo(receiptId, changed);
    changed.fill(0);
    await set;
    const first = await memoOf(store, { receiptId });
    assert.deepEqual(first, wanted[1]);
    first?.fill(0);
    assert.deepEqual(await memoOf(store, { receiptId }), wanted[1]);
  }),

  restartCheck('P6', 'memos survive a restart', async ({ store }, reopen) => {
    const [kept, changed, removed] = [
      await putNew(store, { memoBox: shortBox() }),
      await putNew(store, { memoBox: longBox() }),
      await putNew(store, { memoBox: shortBox() }),
    ];
    const memoBox = shortBox();
    await store.setMemo(changed.receiptId, memoBox);
    await store.setMemo(removed.receiptId, null);
    const again = await reopen();
    const memos = await Promise.all([kept, changed, removed].map((each) => memoOf(again, each)));
    assert.deepEqual(memos, [kept.memoBox, memoBox, null]);
  }),
];
