/** Proves that a changed lifetime keeps every promise of the secret: who may change it, how far, and what follows from it. */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { createOldRecords } from '../../../test/support/old-records.ts';
import { asHolder, asOwner, found } from '../../../test/support/receipts.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { type AccountCaller, anonymous, type Caller } from '../account.ts';
import { Sensitive } from '../sensitive.ts';
import type { ReceiptInput } from './outcomes.ts';
import { textOf } from './reveal.ts';

const day = 86_400;

/** A bench with an account of the basic plan (14 days at most), a secret of a week, and a way to change its lifetime. */
async function createDesk(options: Parameters<typeof createBench>[0] = {}) {
  const bench = createBench(options);
  const caller: AccountCaller = await bench.signUp('jo@example.org');
  const made = await bench.share('the value', { caller, recipient: 'alan@example.com', ttlSeconds: 7 * day });
  await bench.service.settled();
  const set = (
    ttlSeconds: number | null,
    by: Caller = caller,
    input: ReceiptInput = asOwner(made.metadataKey),
  ) => bench.service.change({ ...input, memo: undefined, ttlSeconds }, by);
  const receipt = async () => found(await bench.service.findReceipt(asOwner(made.metadataKey), caller));
  const open = () => bench.service.reveal(guess(made.secretKey), anonymous);
  return { bench, caller, set, receipt, open, ...made };
}

describe('a changed lifetime', () => {
  it.each([60, day, 10 * day])('P8: of %d seconds counts from now on, to the second', async (seconds) => {
    for (const late of [0, 1]) {
      const { bench, set, open } = await createDesk();
      bench.advance(3 * day);
      expect(await set(seconds)).toMatchObject({
        outcome: 'found',
        grantedTtlSeconds: seconds,
        receipt: { secretTtlSeconds: seconds, ttlSeconds: 3 * day + seconds },
      });
      bench.advance(seconds - 1 + late);
      expect((await open()).outcome).toBe(late === 0 ? 'revealed' : 'unknown');
    }
  });

  it('P8: ends at the plan’s longest lifetime since the creation at the latest, also in several steps', async () => {
    const { bench, set, open } = await createDesk();
    bench.advance(3 * day);
    expect(await set(12 * day)).toMatchObject({ grantedTtlSeconds: 11 * day });
    expect(await set(60)).toMatchObject({ grantedTtlSeconds: 60 });
    expect(await set(365 * day)).toMatchObject({ grantedTtlSeconds: 11 * day });
    bench.advance(11 * day);
    expect(await set(60)).toMatchObject({ outcome: 'already_gone' });
    expect((await open()).outcome).toBe('unknown');
  });

  it('is at least the plan’s shortest, unless the latest expiry comes first', async () => {
    const { bench, set } = await createDesk();
    expect(await set(1)).toMatchObject({ grantedTtlSeconds: 60 });
    expect(await set(14 * day)).toMatchObject({ grantedTtlSeconds: 14 * day });
    bench.advance(14 * day - 20);
    expect(await set(60)).toMatchObject({ grantedTtlSeconds: 20 });
  });

  it('leaves link, recipient, label and passphrase as they were', async () => {
    const { bench, caller, set, receipt, metadataKey, secretKey } = await createDesk();
    const before = await receipt();
    await set(2 * day);
    const times = { ttlSeconds: 2 * day, secretTtlSeconds: 2 * day, metadataTtlSeconds: 4 * day };
    expect(await receipt()).toEqual({ ...before, ...times });
    const again = { ...asOwner(metadataKey), locale: 'en', recipient: null };
    expect((await bench.service.deliver(again, caller)).outcome).toBe('queued');
    await bench.service.settled();
    expect(bench.mails.map(({ to, link }) => [to.expose(), link.expose()])).toEqual(
      Array.from({ length: 2 }, () => ['alan@example.com', `https://mayfly.example/secret/${secretKey}`]),
    );
    const guarded = await bench.share('guarded', { caller, passphrase: 'right' });
    const change = { ...asOwner(guarded.metadataKey), memo: undefined, ttlSeconds: day };
    expect((await bench.service.change(change, caller)).outcome).toBe('found');
    const wrong = await bench.service.reveal(guess(guarded.secretKey, 'wrong'), anonymous);
    expect(wrong.outcome).toBe('passphrase_wrong');
    const right = await bench.service.reveal(guess(guarded.secretKey, 'right'), anonymous);
    expect(right.outcome === 'revealed' && textOf(right.content)).toBe('guarded');
  });

  it('P3: takes nothing from who has proven the link meanwhile', async () => {
    const hooks = { beforeClaim: async () => {} };
    const desk = await createDesk({
      wrap: (store) => ({
        ...store,
        async claim(...args) {
          await hooks.beforeClaim();
          return store.claim(...args);
        },
      }),
    });
    hooks.beforeClaim = async () => {
      expect((await desk.set(day)).outcome).toBe('found');
    };
    expect((await desk.open()).outcome).toBe('revealed');
    expect((await desk.receipt()).state).toBe('received');
  });

  it('P16: is the owner’s; with the key alone, the holder’s', async () => {
    const { bench, set, receipt, metadataKey } = await createDesk();
    const stranger = await bench.signUp('al@example.org');
    for (const other of [stranger, anonymous]) expect(await set(day, other)).toEqual({ outcome: 'unknown' });
    expect((await receipt()).secretTtlSeconds).toBe(7 * day);
    expect((await set(day, anonymous, asHolder(metadataKey))).outcome).toBe('found');
    expect((await receipt()).secretTtlSeconds).toBe(day);
  });

  it('P7: is refused with what became of the secret once it is gone', async () => {
    const { set, open, receipt } = await createDesk();
    await open();
    expect(await set(day)).toMatchObject({ outcome: 'already_gone', receipt: { state: 'received' } });
    expect((await receipt()).secretTtlSeconds).toBeNull();
    const other = await createDesk();
    const burn = { ...asOwner(other.metadataKey), proof: null, isAbandoned: clientStays };
    await other.bench.service.burn(burn, other.caller);
    expect(await other.set(day)).toMatchObject({ outcome: 'already_gone', receipt: { state: 'burned' } });
  });

  it('changes nothing with a refused memo, and keeps the memo when the lifetime is refused', async () => {
    const { bench, caller, receipt, open, metadataKey } = await createDesk();
    const change = (memo: string) =>
      bench.service.change({ ...asOwner(metadataKey), memo: new Sensitive(memo), ttlSeconds: day }, caller);
    expect((await change('x'.repeat(501))).outcome).toBe('memo_too_long');
    expect((await receipt()).secretTtlSeconds).toBe(7 * day);
    expect(await change('for Al')).toMatchObject({ receipt: { memo: 'for Al', secretTtlSeconds: day } });
    await open();
    expect((await change('too late')).outcome).toBe('already_gone');
    expect((await receipt()).memo).toBe('for Al');
  });

  it('is refused for a secret of version 1, which stays as it was', async () => {
    const { wrap, turnOld } = createOldRecords();
    const { bench, set, receipt, open, secretKey, metadataKey } = await createDesk({ wrap });
    turnOld(bench, { secretKey, metadataKey, value: 'of before', address: '' });
    expect(await set(day)).toEqual({ outcome: 'lifetime_fixed' });
    expect(await receipt()).toMatchObject({ secretTtlSeconds: 7 * day, longestTtlSeconds: null });
    expect((await open()).outcome).toBe('revealed');
  });

  it('is as long as the receipt says it can be', async () => {
    const { bench, caller, set, receipt, open } = await createDesk();
    expect(await bench.share('v', { ttlSeconds: day })).toMatchObject({ longestTtlSeconds: 7 * day });
    bench.advance(3 * day);
    for (const seconds of [60, 11 * day]) {
      expect((await receipt()).longestTtlSeconds).toBe(11 * day);
      expect(await set(seconds)).toMatchObject({ receipt: { longestTtlSeconds: 11 * day } });
    }
    const list = await bench.service.recent({ limit: 1, cursor: null, states: null }, caller);
    expect(list).toMatchObject({ receipts: [{ secretTtlSeconds: 11 * day, longestTtlSeconds: null }] });
    await open();
    expect((await receipt()).longestTtlSeconds).toBeNull();
  });

  it('tries again when another change came first, and does not try for ever', async () => {
    const rival = { changes: 0 };
    const desk = await createDesk({
      wrap: (store) => ({
        ...store,
        async setExpiry(id, from, to) {
          if (rival.changes === 0) return store.setExpiry(id, from, to);
          rival.changes -= 1;
          return false;
        },
      }),
    });
    rival.changes = 2;
    expect(await desk.set(day)).toMatchObject({ outcome: 'found', grantedTtlSeconds: day });
    rival.changes = 3;
    await expect(desk.set(2 * day)).rejects.toMatchObject({ name: 'ServiceError', code: 'unavailable' });
    expect((await desk.receipt()).secretTtlSeconds).toBe(day);
  });

  it('P18: is told by the tag alone', async () => {
    const { bench, set } = await createDesk();
    await set(day);
    expect(bench.events.at(-1)).toEqual({
      event: 'lifetime_changed',
      tag: expect.stringMatching(/^[0-9a-f]{8}$/),
    });
  });
});
