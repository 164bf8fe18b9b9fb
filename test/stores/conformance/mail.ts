/**
 * Checks of the delivery of a secret's mail, and of the notices about it.
 */

import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { NewRecord, StoredDelivery } from '../../../src/core/secret.ts';
import { type NoticeKind, noticeKinds } from '../../../src/protocol/vocabulary.ts';
import type { Store } from '../../../src/store/store.ts';
import { accountNamed, ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  newReceiptId,
  newRecord,
  putNew,
  recentOf,
  restartCheck,
  ttlSeconds,
} from './check.ts';

const box = () => new Uint8Array(randomBytes(80));

/** A finished delivery, without the recipient's address. */
const ended = (state: Exclude<StoredDelivery['state'], 'queued'>): Omit<StoredDelivery, 'at'> => ({
  state,
  staleAt: null,
  noteBox: box(),
  addressBox: null,
});

const deliveryOf = async (store: Store, { receiptId }: { receiptId: Parameters<Store['findReceipt']>[0] }) =>
  (await store.findReceipt(receiptId))?.delivery ?? null;

/** Twice the usual lifetime, so that the secret's expiry does not end the delivery under test. */
const longLife = (store: Store) => ({
  expiresAt: store.now() + 2 * ttlSeconds,
  receiptExpiresAt: store.now() + 4 * ttlSeconds,
});

const deliveryChecks: readonly ConformanceCheck[] = [
  check(
    'P6',
    'a receipt tells what became of the mail, and only the last of it',
    async ({ store, wallClock }) => {
      const record = await putNew(store, { deliveryStaleAt: store.now() + 60 });
      wallClock.advance(3);
      for (const state of ['accepted', 'refused', 'given_up', 'not_sent'] as const) {
        const delivery = { ...ended(state), addressBox: box() };
        await store.setDelivery(record.receiptId, delivery);
        assert.deepEqual(await deliveryOf(store, record), { ...delivery, at: record.createdAt + 3 });
      }
      const silent = { ...ended('accepted'), noteBox: null };
      await store.setDelivery(record.receiptId, silent);
      assert.deepEqual(await deliveryOf(store, record), { ...silent, at: record.createdAt + 3 });
      await store.setDelivery(newReceiptId(), ended('accepted'));
    },
  ),

  check('P6', 'a mail can be noted for a secret that was made without one', async ({ store }) => {
    const [record, other] = [await putNew(store), await putNew(store)];
    const delivery = {
      state: 'queued',
      staleAt: store.now() + 60,
      noteBox: box(),
      addressBox: box(),
    } as const;
    await store.setDelivery(record.receiptId, delivery);
    assert.deepEqual(await deliveryOf(store, record), { ...delivery, at: store.now() });
    assert.equal(await deliveryOf(store, other), null);
  }),

  check(
    'port',
    'of many that queue a mail of one secret at once one may hand it over, until it is no longer believed',
    async ({ store, wallClock }) => {
      const record = await putNew(store, longLife(store));
      const queue = (staleAt: number, given = { noteBox: box(), addressBox: box() }) =>
        store.queueDelivery(record.receiptId, { staleAt, ...given });
      const staleAt = store.now() + 60;
      const asked = Array.from({ length: 20 }, () => ({ noteBox: box(), addressBox: box() }));
      const answers = await Promise.all(asked.map((boxes) => queue(staleAt, boxes)));
      assert.deepEqual(answers.toSorted(), ['queued', ...asked.slice(1).map(() => 'in_flight')].toSorted());
      const boxes = asked[answers.indexOf('queued')];
      const told = { state: 'queued', at: store.now(), staleAt, ...boxes };
      assert.deepEqual(await deliveryOf(store, record), told);
      wallClock.set(staleAt - 1);
      assert.equal(await queue(staleAt + 60), 'in_flight');
      wallClock.set(staleAt);
      const queueTwice = async () =>
        (await Promise.all([queue(staleAt + 60), queue(staleAt + 60)])).toSorted();
      assert.deepEqual(await queueTwice(), ['in_flight', 'queued']);
      for (const state of ['accepted', 'refused', 'given_up', 'not_sent'] as const) {
        await store.setDelivery(record.receiptId, ended(state));
        assert.deepEqual(await queueTwice(), ['in_flight', 'queued']);
      }
    },
  ),

  check(
    'port',
    'the first mail of a new record is in flight from its creation on',
    async ({ store, wallClock }) => {
      const staleAt = store.now() + 60;
      const record = await putNew(store, { deliveryStaleAt: staleAt, ...longLife(store) });
      const queue = () =>
        store.queueDelivery(record.receiptId, { staleAt: staleAt + 60, noteBox: null, addressBox: null });
      assert.equal(await queue(), 'in_flight');
      wallClock.set(staleAt);
      assert.equal(await queue(), 'queued');
    },
  ),

  check('port', 'no mail is queued for a secret that no longer waits', async ({ store, wallClock }) => {
    const records = [await putNew(store), await putNew(store), await putNew(store)] as const;
    const [read, burned, expiring] = records;
    const queue = (receiptId = newReceiptId()) =>
      store.queueDelivery(receiptId, { staleAt: store.now() + 60, noteBox: box(), addressBox: box() });
    await store.claim(await found(store, read.secretId), clientStays);
    await store.burn(burned.receiptId, clientStays);
    wallClock.set(expiring.expiresAt);
    for (const { receiptId } of records) assert.equal(await queue(receiptId), 'gone');
    assert.equal(await queue(), 'gone');
    for (const record of records) assert.equal(await deliveryOf(store, record), null);
  }),

  check(
    'P6',
    'a mail is queued until the instant at which it is no longer believed, and then told as not sent',
    async ({ store, wallClock }) => {
      const staleAt = store.now() + 60;
      const record = await putNew(store, { deliveryStaleAt: staleAt, ...longLife(store) });
      const nothing = { noteBox: null, addressBox: null };
      wallClock.set(staleAt - 1);
      assert.deepEqual(await deliveryOf(store, record), {
        state: 'queued',
        at: record.createdAt,
        staleAt,
        ...nothing,
      });
      wallClock.set(staleAt);
      const given = { state: 'not_sent', at: staleAt, staleAt: null, ...nothing };
      assert.deepEqual(await deliveryOf(store, record), given);
      wallClock.advance(ttlSeconds);
      assert.deepEqual(await deliveryOf(store, record), given);
    },
  ),

  check(
    'P6',
    'each further try moves on until when a mail is believed, and what the server said stays',
    async ({ store, wallClock }) => {
      const record = await putNew(store, { deliveryStaleAt: store.now() + 60, ...longLife(store) });
      const [noteBox, addressBox] = [box(), box()];
      wallClock.advance(50);
      const staleAt = store.now() + 600;
      await store.setDelivery(record.receiptId, { state: 'queued', staleAt, noteBox, addressBox });
      wallClock.set(staleAt - 1);
      assert.equal((await deliveryOf(store, record))?.state, 'queued');
      wallClock.set(staleAt);
      const told = { state: 'not_sent', at: staleAt, staleAt: null, noteBox, addressBox };
      assert.deepEqual(await deliveryOf(store, record), told);
    },
  ),

  check(
    'P11',
    'the recipient’s address is told only while the secret waits',
    async ({ store, wallClock }) => {
      const delivery = { ...ended('refused'), addressBox: box() };
      const records = [await putNew(store), await putNew(store), await putNew(store)] as const;
      const [read, burned, expiring] = records;
      for (const { receiptId } of records) await store.setDelivery(receiptId, delivery);
      const at = store.now();
      await store.claim(await found(store, read.secretId), clientStays);
      await store.burn(burned.receiptId, clientStays);
      for (const record of [read, burned]) {
        assert.deepEqual(await deliveryOf(store, record), { ...delivery, at, addressBox: null });
        // A delivery attempt that was under way when the secret was read or burned.
        await store.setDelivery(record.receiptId, delivery);
        assert.deepEqual(await deliveryOf(store, record), { ...delivery, at, addressBox: null });
      }
      wallClock.set(expiring.expiresAt - 1);
      assert.deepEqual((await deliveryOf(store, expiring))?.addressBox, delivery.addressBox);
      wallClock.set(expiring.expiresAt);
      for (const sweepFirst of [false, true]) {
        if (sweepFirst) await store.sweep(10);
        assert.deepEqual(await deliveryOf(store, expiring), { ...delivery, at, addressBox: null });
      }
    },
  ),

  check('P6', 'the recent list tells of the mail as the receipt does', async ({ store }) => {
    const owner = await ownerIn(store);
    const [with_, without] = [
      await putNew(store, { owner, deliveryStaleAt: store.now() + 60 }),
      await putNew(store, { owner }),
    ];
    await store.setDelivery(with_.receiptId, ended('given_up'));
    const listed = await recentOf(store, owner);
    assert.deepEqual(
      listed.map((each) => each.delivery),
      [await deliveryOf(store, without), await deliveryOf(store, with_)],
    );
  }),

  check('port', 'a store keeps its own copy of the boxes of a mail', async ({ store }) => {
    const record = await putNew(store);
    const delivery = { ...ended('refused'), addressBox: box() };
    const wanted = structuredClone(delivery);
    const set = store.setDelivery(record.receiptId, delivery);
    delivery.noteBox?.fill(0);
    delivery.addressBox.fill(0);
    await set;
    const first = await deliveryOf(store, record);
    assert.deepEqual(first, { ...wanted, at: store.now() });
    first?.noteBox?.fill(0);
    assert.deepEqual((await deliveryOf(store, record))?.noteBox, wanted.noteBox);
  }),

  restartCheck('P6', 'what became of a mail survives a restart', async ({ store }, reopen) => {
    const record = await putNew(store, { deliveryStaleAt: store.now() + 60 });
    const queued = await putNew(store, { deliveryStaleAt: store.now() + 70 });
    const delivery = { ...ended('refused'), addressBox: box() };
    await store.setDelivery(record.receiptId, delivery);
    const again = await reopen();
    assert.deepEqual(await deliveryOf(again, record), { ...delivery, at: store.now() });
    assert.equal((await deliveryOf(again, queued))?.staleAt, queued.deliveryStaleAt);
  }),
];

/** A secret whose expiry notice is due in `seconds`. */
async function putDue(store: Store, seconds: number, changes: Partial<NewRecord> = {}): Promise<NewRecord> {
  const owner = changes.owner ?? (await ownerIn(store));
  return putNew(store, { notify: ['expiring'], noticeDueAt: store.now() + seconds, ...changes, owner });
}

const noticeChecks: readonly ConformanceCheck[] = [
  check('port', 'a secret and its receipt tell what is to be noticed of it', async ({ store }) => {
    const owner = await ownerIn(store);
    const given: (readonly NoticeKind[])[] = [[], ['read'], ['burned'], ['read', 'expiring'], noticeKinds];
    for (const hasPassphrase of [false, true]) {
      for (const notify of given) {
        const record = await putNew(store, { owner, notify, hasPassphrase });
        const receipt = await store.findReceipt(record.receiptId);
        for (const told of [await found(store, record.secretId), receipt])
          assert.deepEqual([told?.notify, told?.hasPassphrase], [notify, hasPassphrase]);
      }
    }
  }),

  check(
    'port',
    'a notice is given out from the instant at which it is due, once',
    async ({ store, wallClock }) => {
      const owner = await ownerIn(store);
      const { createdAt, expiresAt, shareDomain } = await putDue(store, 100, {
        shareDomain: 'share.example.org',
      });
      wallClock.advance(99);
      assert.deepEqual(await store.takeDueNotices(10), []);
      wallClock.advance(1);
      assert.deepEqual(await store.takeDueNotices(10), [{ owner, createdAt, expiresAt, shareDomain }]);
      wallClock.advance(1);
      assert.deepEqual(await store.takeDueNotices(10), []);
    },
  ),

  check(
    'port',
    'of many who take notices at once each notice is given to exactly one',
    async ({ store, wallClock }) => {
      const expiries = Array.from({ length: 30 }, (_, n) => store.now() + ttlSeconds + n);
      for (const expiresAt of expiries) await putDue(store, 100, { expiresAt });
      wallClock.advance(100);
      const taken = await Promise.all(Array.from({ length: 20 }, () => store.takeDueNotices(7)));
      assert.deepEqual(
        taken
          .flat()
          .map((each) => each.expiresAt)
          .sort(),
        expiries,
      );
      assert.ok(taken.every((each) => each.length <= 7));
    },
  ),

  check(
    'port',
    'the longest due notice comes first, and no more than were asked for',
    async ({ store, wallClock }) => {
      const later = await putDue(store, 50, { expiresAt: store.now() + 1_001 });
      const latest = await putDue(store, 60, { expiresAt: store.now() + 1_002 });
      const first = await putDue(store, 40, { expiresAt: store.now() + 1_003 });
      await putDue(store, 400);
      wallClock.advance(100);
      const take = async () => (await store.takeDueNotices(2)).map((each) => each.expiresAt);
      assert.deepEqual(await take(), [first.expiresAt, later.expiresAt]);
      assert.deepEqual(await take(), [latest.expiresAt]);
      assert.deepEqual(await take(), []);
    },
  ),

  check('P6', 'a notice is given out only while its secret waits', async ({ store, wallClock }) => {
    const read = await putDue(store, 100);
    const burned = await putDue(store, 101);
    const expired = await putDue(store, 102, { expiresAt: store.now() + 200 });
    const waiting = await putDue(store, 103, { expiresAt: store.now() + 201 });
    await store.claim(await found(store, read.secretId), clientStays);
    await store.burn(burned.receiptId, clientStays);
    wallClock.set(expired.expiresAt);
    // Notices of gone secrets do not count towards the limit.
    assert.deepEqual(
      (await store.takeDueNotices(1)).map((each) => each.expiresAt),
      [waiting.expiresAt],
    );
    assert.deepEqual(await store.takeDueNotices(10), []);
  }),

  check('P16', 'the notices of an account end with it', async ({ store, wallClock }) => {
    const [ann, bob] = [
      await accountNamed(store, 'ann@example.org'),
      await accountNamed(store, 'bob@example.org'),
    ];
    for (const { id } of [ann, bob]) await putDue(store, 100, { owner: id });
    await store.deleteAccount(ann.id);
    wallClock.advance(100);
    assert.deepEqual(
      (await store.takeDueNotices(10)).map((each) => each.owner),
      [bob.id],
    );
  }),

  check('port', 'a secret that nobody is told of has no notice', async ({ store, wallClock }) => {
    const owner = await ownerIn(store);
    await putNew(store, { owner, notify: ['read', 'burned'] });
    await putNew(store, { noticeDueAt: store.now() + 100 });
    wallClock.advance(200);
    assert.deepEqual(await store.takeDueNotices(10), []);
  }),

  restartCheck(
    'port',
    'notices wait over a restart, and those given out do not come back',
    async ({ store, wallClock }, reopen) => {
      const owner = await ownerIn(store);
      await putDue(store, 100, { expiresAt: store.now() + 1_000 });
      const later = newRecord(store.now(), { owner, noticeDueAt: store.now() + 200 });
      await store.put(later);
      wallClock.advance(100);
      assert.equal((await store.takeDueNotices(10)).length, 1);
      wallClock.advance(100);
      const again = await reopen();
      assert.deepEqual(
        (await again.takeDueNotices(10)).map((each) => each.expiresAt),
        [later.expiresAt],
      );
      assert.deepEqual(await store.takeDueNotices(10), []);
    },
  ),
];

export const mailChecks: readonly ConformanceCheck[] = [...deliveryChecks, ...noticeChecks];
