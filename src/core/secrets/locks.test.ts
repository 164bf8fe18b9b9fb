/** What a creator sees of a lock by wrong passphrases, and how it is lifted (P14). */
import { describe, expect, it } from 'bun:test';
import { lockLife, lockWindow } from '../../../test/support/lockout.ts';
import { asHolder, asOwner, found } from '../../../test/support/receipts.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { anonymous, type Caller } from '../account.ts';
import { Sensitive } from '../sensitive.ts';
import type { ReceiptInput } from './outcomes.ts';

async function createDesk() {
  const bench = createBench();
  const [caller, other] = [await bench.signUp('jo@example.org'), await bench.signUp('al@example.org')];
  const made = await bench.share('the value', { caller, passphrase: 'right', ttlSeconds: 604_800 });
  const parts = { service: bench.service, clock: { advance: bench.advance } };
  const input = asOwner(made.metadataKey);
  const tell = async () => found(await bench.service.findReceipt(input, caller)).locked;
  const lift = (by: Caller = caller, of: ReceiptInput = input) =>
    bench.service.change({ ...of, memo: undefined, ttlSeconds: null, allowsMore: true }, by);
  const open = (prefix = '203.0.113.0/24') =>
    bench.service.reveal(guess(made.secretKey, 'right', prefix), anonymous);
  return { ...made, bench, caller, other, parts, tell, lift, open };
}

describe('a lock', () => {
  it('P14: is told with its end in the receipt and in the list, and ends then by itself', async () => {
    const { bench, caller, parts, secretKey, tell } = await createDesk();
    expect(await tell()).toBeNull();
    await lockWindow(parts, secretKey);
    const until = bench.deps.store.now() + 600;
    expect(await tell()).toEqual({ by: 'passphrase', until });
    for (const states of [null, ['new'] as const]) {
      const listed = await bench.service.recent({ limit: 10, cursor: null, states }, caller);
      expect(listed).toMatchObject({
        outcome: 'listed',
        receipts: [{ locked: { by: 'passphrase', until } }],
      });
    }
    bench.advance(599);
    expect(await tell()).toEqual({ by: 'passphrase', until });
    bench.advance(1);
    expect(await tell()).toBeNull();
  });

  it('P14: after 100 has no end, and the one who is refused is told so', async () => {
    const { bench, parts, secretKey, tell, open } = await createDesk();
    await lockLife(parts, secretKey);
    expect(await tell()).toEqual({ by: 'passphrase', until: null });
    expect(await open()).toMatchObject({ outcome: 'attempts_exhausted', needsCreator: true });
    bench.advance(86_400);
    expect(await tell()).toEqual({ by: 'passphrase', until: null });
  });

  it('is not told of one client, while others may still guess', async () => {
    const { bench, secretKey, tell } = await createDesk();
    for (let n = 0; n < 9; n += 1) await bench.service.inspect(guess(secretKey, 'wrong'), anonymous);
    expect(await tell()).toBeNull();
  });

  it.each([lockWindow, lockLife])(
    'P14: is lifted by the creator, and the right passphrase opens (%p)',
    async (lock) => {
      const { bench, parts, secretKey, tell, lift, open } = await createDesk();
      await lock(parts, secretKey);
      expect(await lift()).toMatchObject({ outcome: 'found', receipt: { locked: null } });
      expect(await tell()).toBeNull();
      expect(bench.events.filter(({ event }) => event === 'attempts_allowed')).toHaveLength(1);
      expect(await open('100.64.1.0/24')).toMatchObject({ outcome: 'revealed' });
    },
  );

  it('P14: leaves at most 100 guesses, however often it was lifted before', async () => {
    const { bench, parts, secretKey, lift, tell } = await createDesk();
    for (let n = 0; n < 5; n += 1) await lift();
    const before = bench.hasher.stretched;
    await lockLife(parts, secretKey);
    await lockLife(parts, secretKey);
    expect([bench.hasher.stretched - before, await tell()]).toEqual([100, { by: 'passphrase', until: null }]);
  });

  it('P16: is lifted by whoever may change the memo, and by nobody else', async () => {
    const { parts, secretKey, metadataKey, other, tell, lift } = await createDesk();
    await lockLife(parts, secretKey);
    const strangers: readonly (readonly [Caller, ReceiptInput])[] = [
      [other, asOwner(metadataKey)],
      [anonymous, asOwner(metadataKey)],
      [other, { metadataKey, authority: 'creator' }],
      [anonymous, { metadataKey, authority: 'creator' }],
      [anonymous, asHolder('0'.repeat(31))],
    ];
    for (const [by, input] of strangers) expect(await lift(by, input)).toEqual({ outcome: 'unknown' });
    expect(await tell()).toEqual({ by: 'passphrase', until: null });
    expect(await lift(anonymous, asHolder(metadataKey))).toMatchObject({ outcome: 'found' });
  });

  it('P14: is not there any more once the secret is gone, and nothing can be allowed then', async () => {
    const { bench, caller, metadataKey, lift, open } = await createDesk();
    await open();
    const input = {
      ...asOwner(metadataKey),
      memo: new Sensitive('kept'),
      ttlSeconds: null,
      allowsMore: true,
    };
    expect(await bench.service.change(input, caller)).toMatchObject({
      outcome: 'already_gone',
      receipt: { locked: null, memo: '' },
    });
    expect(await lift()).toMatchObject({ outcome: 'already_gone' });
    expect(bench.events.map(({ event }) => event)).not.toContain('attempts_allowed');
  });

  it('is not looked for where there is no passphrase to guess, or no secret', async () => {
    let asked = 0;
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        findLocks(...given) {
          asked += 1;
          return store.findLocks(...given);
        },
      }),
    });
    const caller = await bench.signUp('jo@example.org');
    const plain = await bench.share('v', { caller });
    const guarded = await bench.share('v', { caller, passphrase: 'right' });
    const look = (key: string) => bench.service.findReceipt(asOwner(key), caller);
    await look(plain.metadataKey);
    expect(asked).toBe(0);
    await look(guarded.metadataKey);
    expect(asked).toBe(1);
    await bench.service.reveal(guess(guarded.secretKey, 'right'), anonymous);
    await look(guarded.metadataKey);
    await look('0'.repeat(31));
    expect(asked).toBe(1);
  });
});
