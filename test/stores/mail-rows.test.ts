/**
 * The embedded store keeps mails and notices in rows beside its records, and no longer than those.
 */
import { describe, expect, it } from 'bun:test';
import { ownerIn } from './conformance/account-fixtures.ts';
import { clientStays, found, newRecord, putNew, ttlSeconds } from './conformance/check.ts';
import { useStoreFolder } from './store-folder.ts';

const { current, open, countOf } = useStoreFolder();

const counts = () => [countOf('deliveries'), countOf('notices'), countOf('records')];

const refused = {
  state: 'refused',
  staleAt: null,
  noteBox: new Uint8Array(70),
  addressBox: new Uint8Array(60),
} as const;

describe('the rows of mails and notices', () => {
  it('are absent without a mail or a due notice', async () => {
    await using store = await open();
    const owner = await ownerIn(store);
    const record = await putNew(store, { owner, notify: ['read', 'burned'] });
    await store.claim(await found(store, record.secretId), clientStays);
    expect(counts()).toEqual([0, 0, 1]);
  });

  it('go with their record', async () => {
    await using store = await open();
    const owner = await ownerIn(store);
    for (let n = 0; n < 300; n += 1) {
      const record = await putNew(store, {
        owner,
        deliveryStaleAt: store.now() + 60,
        noticeDueAt: store.now() + 60,
      });
      if (n % 2 === 0) await store.setDelivery(record.receiptId, refused);
    }
    expect(counts()).toEqual([300, 300, 300]);
    current.wallClock.advance(2 * ttlSeconds);
    // One record stays live, so rows near it are only overwritten for now.
    await putNew(store);
    while ((await store.sweep(100)) === 100);
    expect(counts().slice(0, 2)).toEqual([0, 0]);
    expect(countOf('records')).toBeGreaterThan(100);
  });

  it('P11: hold the address only until the sweep that follows the secret’s expiry', async () => {
    await using store = await open();
    const [read, expiring] = [await putNew(store), await putNew(store)];
    for (const { receiptId } of [read, expiring]) await store.setDelivery(receiptId, refused);
    await store.claim(await found(store, read.secretId), clientStays);
    await store.setDelivery(read.receiptId, refused);
    expect(countOf('deliveries WHERE address_box IS NOT NULL')).toBe(1);
    await store.sweep(10);
    expect(countOf('deliveries WHERE address_box IS NOT NULL')).toBe(1);
    current.wallClock.set(expiring.expiresAt);
    await store.sweep(10);
    expect(countOf('deliveries WHERE address_box IS NOT NULL')).toBe(0);
    expect(countOf('deliveries WHERE note_box IS NOT NULL')).toBe(2);
  });

  it('leave the record itself as it was', async () => {
    await using store = await open();
    const record = await putNew(store, { deliveryStaleAt: store.now() + 60 });
    const bytes = () => countOf("records WHERE delivery = 'q' AND delivery_at = created_at");
    expect(bytes()).toBe(1);
    await store.setDelivery(record.receiptId, refused);
    expect(bytes()).toBe(1);
    expect((await store.findReceipt(record.receiptId))?.delivery?.state).toBe('refused');
  });
});

describe('a record whose mail or notice cannot be kept', () => {
  const nonsense = 0.5;

  it('P5: is refused whole, and its neighbours in the same batch are stored', async () => {
    await using store = await open();
    const owner = await ownerIn(store);
    const records = Array.from({ length: 6 }, (_, n) => {
      const mail =
        n % 2 === 0 ? { deliveryStaleAt: nonsense } : { noticeDueAt: nonsense, deliveryStaleAt: 1 };
      return newRecord(store.now(), { owner, ...(n === 0 || n === 5 ? { deliveryStaleAt: 1 } : mail) });
    });
    const outcomes = await Promise.allSettled(records.map((record) => store.put(record)));
    const kept = [true, false, false, false, false, true];
    expect(outcomes.map((each) => each.status === 'fulfilled')).toEqual(kept);
    const secrets = await Promise.all(records.map(({ secretId }) => store.findSecret(secretId)));
    expect(secrets.map((each) => each !== null)).toEqual(kept);
    expect(counts()).toEqual([2, 0, 2]);
  });

  it('P12: leaves its root to be counted with the next record under it', async () => {
    await using store = await open();
    const bad = newRecord(store.now(), { deliveryStaleAt: nonsense }, 9);
    const [refusal] = await Promise.allSettled([store.put(bad)]);
    expect(refusal).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    expect(await store.rootKidsInUse()).toEqual([]);
    await putNew(store, {}, 9);
    expect(await store.rootKidsInUse()).toEqual([9]);
  });
});

describe('several openings of one folder', () => {
  it('give out each notice once', async () => {
    await using one = await open();
    const owner = await ownerIn(one);
    await using other = await open();
    const expiries = Array.from({ length: 40 }, (_, n) => one.now() + ttlSeconds + n);
    for (const expiresAt of expiries) await putNew(one, { owner, expiresAt, noticeDueAt: one.now() + 10 });
    current.wallClock.advance(10);
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : other).takeDueNotices(3)),
    );
    const rest = await other.takeDueNotices(100);
    const given = [...taken.flat(), ...rest].map((each) => each.expiresAt);
    expect(given.sort()).toEqual(expiries);
    expect(counts().slice(0, 2)).toEqual([0, 0]);
  });

  it('tell what became of a mail that the other has noted', async () => {
    await using one = await open();
    await using other = await open();
    const record = await putNew(one, { deliveryStaleAt: one.now() + 60 });
    await other.setDelivery(record.receiptId, refused);
    expect((await one.findReceipt(record.receiptId))?.delivery).toEqual({ ...refused, at: one.now() });
  });
});
