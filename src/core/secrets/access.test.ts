/**
 * No guess is hashed without a reservation, the bounds hold, and a correct passphrase refunds only its own reservation
 * (P14). Also the remaining time of a secret, up to the instant it expires.
 */

import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { maxPassphraseBytes } from '../../protocol/limits.ts';
import { anonymous } from '../account.ts';
import { ServiceError } from '../errors.ts';
import { attemptLimits } from './attempts.ts';
import type { ServiceParts } from './service.ts';

const client = (number: number): string => `198.51.${number}.0/24`;

async function protectedBench(wrap?: (store: ServiceParts['store']) => ServiceParts['store']) {
  const bench = createBench(wrap === undefined ? {} : { wrap });
  const made = await bench.share('v', { passphrase: 'right', ttlSeconds: 604_800 });
  const before = bench.hasher.stretched;
  return {
    bench,
    secretKey: made.secretKey,
    /** Guesses computed since the secret was made. */
    hashed: () => bench.hasher.stretched - before,
    tryOnce: (passphrase: string, prefix?: string) =>
      bench.service.reveal(guess(made.secretKey, passphrase, prefix), anonymous),
  };
}

describe('guesses at a passphrase', () => {
  it('are bounded as NIST SP 800-63B and the contract say', () => {
    expect(attemptLimits).toEqual({
      windowSeconds: 600,
      perClient: 5,
      perNetwork: 10,
      perSecret: 20,
      keptForNewcomers: 5,
      perLife: 100,
    });
    expect(maxPassphraseBytes).toBe(1_024);
  });

  it('P14: of one client are 5 in ten minutes; the sixth is not computed, even if it is right', async () => {
    const { bench, hashed, tryOnce } = await protectedBench();
    for (let count = 0; count < 5; count += 1)
      expect(await tryOnce('wrong')).toMatchObject({ outcome: 'passphrase_wrong' });
    bench.advance(100);
    expect(await tryOnce('right')).toEqual({
      outcome: 'attempts_exhausted',
      retryAfterSeconds: 500,
      needsCreator: false,
    });
    expect(hashed()).toBe(5);
    bench.advance(499);
    expect(await tryOnce('right')).toMatchObject({ outcome: 'attempts_exhausted', retryAfterSeconds: 1 });
    bench.advance(1);
    expect(await tryOnce('right')).toMatchObject({ outcome: 'revealed' });
  });

  it('P14: of one client do not lock another out', async () => {
    const { tryOnce } = await protectedBench();
    for (let count = 0; count < 9; count += 1) await tryOnce('wrong', client(1));
    expect(await tryOnce('right', client(2))).toMatchObject({ outcome: 'revealed' });
  });

  it('P14: of all clients are 20 in ten minutes', async () => {
    const { hashed, tryOnce } = await protectedBench();
    for (let count = 0; count < 40; count += 1) await tryOnce('wrong', client(count));
    expect(hashed()).toBe(20);
    expect(await tryOnce('right', client(99))).toMatchObject({ outcome: 'attempts_exhausted' });
  });

  it('P14: are 100 in a secret’s life, and never destroy it', async () => {
    const { bench, secretKey, hashed, tryOnce } = await protectedBench();
    for (let window = 0; window < 8; window += 1) {
      for (let count = 0; count < 20; count += 1) await tryOnce('wrong', client(count));
      bench.advance(600);
    }
    expect(hashed()).toBe(100);
    const exhausted = await tryOnce('right', client(99));
    expect(exhausted).toEqual({
      outcome: 'attempts_exhausted',
      retryAfterSeconds: 604_800 - 8 * 600,
      needsCreator: true,
    });
    expect(await bench.service.secretStatus({ secretKey }, anonymous)).toMatchObject({ outcome: 'waiting' });
  });

  it('P14: 200 at once from one client compute 5', async () => {
    const { hashed, tryOnce } = await protectedBench();
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => tryOnce('wrong')));
    expect(hashed()).toBe(5);
    expect(outcomes.filter(({ outcome }) => outcome === 'passphrase_wrong')).toHaveLength(5);
    expect(outcomes.filter(({ outcome }) => outcome === 'attempts_exhausted')).toHaveLength(195);
  });

  it('P14: 200 at once from 50 clients compute 20', async () => {
    const { hashed, tryOnce } = await protectedBench();
    await Promise.all(Array.from({ length: 200 }, (_, at) => tryOnce('wrong', client(at % 50))));
    expect(hashed()).toBe(20);
  });

  it('P14: count alike in reveal, in inspect and in a burn that asks for the passphrase', async () => {
    const bench = createBench();
    const { secretKey, metadataKey } = await bench.share('v', { passphrase: 'right' });
    const before = bench.hasher.stretched;
    const asked = guess(secretKey, 'wrong');
    await bench.service.reveal(asked, anonymous);
    await bench.service.inspect(asked, anonymous);
    const { passphrase, clientPrefix } = asked;
    if (passphrase === undefined) throw new Error('no passphrase');
    const proof = { passphrase, clientPrefix };
    for (let count = 0; count < 3; count += 1) {
      const burned = await bench.service.burn(
        { metadataKey, authority: 'holder', isAbandoned: clientStays, proof },
        anonymous,
      );
      expect(burned).toMatchObject({ outcome: 'passphrase_wrong', attemptsLeft: 2 - count });
    }
    expect(await bench.service.inspect(asked, anonymous)).toMatchObject({ outcome: 'attempts_exhausted' });
    expect(bench.hasher.stretched - before).toBe(5);
    expect(bench.events.map(({ event }) => event)).toEqual([
      'concealed',
      ...Array<'passphrase_refused'>(5).fill('passphrase_refused'),
      'attempts_exhausted',
    ]);
  });

  it('P14: check-then-record lets more through: the same 200 at once show it (self-test)', async () => {
    const { hashed, tryOnce } = await protectedBench((store) => {
      let used = 0;
      return {
        ...store,
        async reserve() {
          const room = used < 5;
          await Promise.resolve();
          used += 1;
          return room
            ? {
                outcome: 'reserved',
                attempt: used,
                left: 5 - used,
                moreAfterSeconds: 600,
                needsCreator: false,
              }
            : { outcome: 'exhausted', retryAfterSeconds: 1, needsCreator: false };
        },
      };
    });
    await Promise.all(Array.from({ length: 200 }, () => tryOnce('wrong')));
    expect(hashed()).toBeGreaterThan(5);
  });
});

describe('a wrong passphrase', () => {
  const wrong = (attemptsLeft: number, moreAfterSeconds: number) => ({
    outcome: 'passphrase_wrong',
    attemptsLeft,
    moreAfterSeconds,
    needsCreator: false,
  });

  it('P14: says how many guesses the client has left, and when there is one more', async () => {
    const { bench, tryOnce } = await protectedBench();
    for (const [left, more] of [
      [4, 600],
      [3, 500],
      [2, 400],
      [1, 300],
      [0, 200],
    ] as const) {
      expect(await tryOnce('wrong')).toEqual(wrong(left, more) as never);
      bench.advance(100);
    }
    expect(await tryOnce('wrong')).toEqual({
      outcome: 'attempts_exhausted',
      retryAfterSeconds: 100,
      needsCreator: false,
    });
    bench.advance(100);
    expect(await tryOnce('wrong')).toEqual(wrong(0, 100) as never);
  });

  it('P14: counts what others have tried too, where that leaves less', async () => {
    const { tryOnce } = await protectedBench();
    for (let count = 0; count < 12; count += 1) await tryOnce('wrong', client(count));
    expect(await tryOnce('wrong', client(99))).toMatchObject({ attemptsLeft: 2 });
    expect(await tryOnce('wrong', client(98))).toMatchObject({ attemptsLeft: 1 });
  });
});

describe('what does not count as a guess', () => {
  const uncounted = {
    outcome: 'passphrase_wrong',
    attemptsLeft: null,
    moreAfterSeconds: 0,
    needsCreator: false,
  } as const;
  it.each([
    ['a missing passphrase', undefined, { outcome: 'passphrase_missing' }],
    ['an empty one', '', { outcome: 'passphrase_missing' }],
    ['one that cannot have been stored: a lone surrogate', '\ud800', uncounted],
    ['one that cannot have been stored: too long', 'p'.repeat(1_025), uncounted],
  ] as const)('%s is neither counted nor computed', async (_name, passphrase, told) => {
    const { bench, secretKey, hashed } = await protectedBench();
    for (let count = 0; count < 30; count += 1) {
      expect(await bench.service.reveal(guess(secretKey, passphrase), anonymous)).toEqual(told);
    }
    expect(hashed()).toBe(0);
    expect(await bench.service.reveal(guess(secretKey, 'right'), anonymous)).toMatchObject({
      outcome: 'revealed',
    });
  });
});

describe('the longest passphrase there can be', () => {
  it('P15: is a guess like any other', async () => {
    const bench = createBench();
    const passphrase = 'p'.repeat(maxPassphraseBytes);
    const { secretKey } = await bench.share('v', { passphrase });
    expect(await bench.service.inspect(guess(secretKey, passphrase), anonymous)).toMatchObject({
      outcome: 'waiting',
    });
  });
});

describe('a reservation', () => {
  it('P14: is given back by a right passphrase, and only its own', async () => {
    const { bench, secretKey, tryOnce } = await protectedBench();
    for (let count = 0; count < 4; count += 1) await tryOnce('wrong');
    for (let count = 0; count < 10; count += 1) {
      const looked = await bench.service.inspect(guess(secretKey, 'right'), anonymous);
      expect(looked).toMatchObject({ outcome: 'waiting' });
    }
    expect(await tryOnce('wrong')).toMatchObject({ outcome: 'passphrase_wrong', attemptsLeft: 0 });
    expect(await tryOnce('right')).toMatchObject({ outcome: 'attempts_exhausted' });
  });

  it('P24: is given back when the queue of hashes is full, since nothing was computed', async () => {
    const { bench, hashed, tryOnce } = await protectedBench();
    bench.hasher.busy = true;
    for (let count = 0; count < 30; count += 1) {
      await expect(tryOnce('right')).rejects.toMatchObject({ name: 'ServiceError', code: 'busy' });
    }
    expect(hashed()).toBe(0);
    bench.hasher.busy = false;
    expect(await tryOnce('right')).toMatchObject({ outcome: 'revealed' });
  });

  it('P24: that cannot be given back when the queue is full fails with the store’s fault', async () => {
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const { bench, tryOnce } = await protectedBench((store) => ({
      ...store,
      refund: () => Promise.reject(outage),
    }));
    bench.hasher.busy = true;
    await expect(tryOnce('right')).rejects.toBe(outage);
  });

  it('P2: that the store does not confirm computes nothing', async () => {
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const { hashed, tryOnce } = await protectedBench((store) => ({
      ...store,
      reserve: () => Promise.reject(outage),
    }));
    await expect(tryOnce('right')).rejects.toBe(outage);
    expect(hashed()).toBe(0);
  });

  it('P3: that the store cannot give back costs no secret', async () => {
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const state = { down: true };
    const { tryOnce } = await protectedBench((store) => ({
      ...store,
      refund: (id, attempt) => (state.down ? Promise.reject(outage) : store.refund(id, attempt)),
    }));
    await expect(tryOnce('right')).rejects.toBe(outage);
    state.down = false;
    expect(await tryOnce('right')).toMatchObject({ outcome: 'revealed' });
  });

  it('names the client by a token that is no address, and differs from secret to secret', async () => {
    const tokens: string[] = [];
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        reserve(id, token, limits) {
          tokens.push(Buffer.from(token).toString('latin1'));
          return store.reserve(id, token, limits);
        },
      }),
    });
    for (const value of ['one', 'two']) {
      const { secretKey } = await bench.share(value, { passphrase: 'p' });
      await bench.service.reveal(guess(secretKey, 'wrong'), anonymous);
      await bench.service.reveal(guess(secretKey, 'wrong'), anonymous);
    }
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) expect(token).toHaveLength(16);
    expect(tokens.join()).not.toContain('192.0.2');
  });
});

describe('the time that is left to a secret', () => {
  /** The time left when `lateSeconds` pass between finding the secret, in its last second, and answering. */
  async function leftWhenTold(lateSeconds: number): Promise<number | null> {
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async findSecret(id) {
          const found = await store.findSecret(id);
          bench.advance(lateSeconds);
          return found;
        },
      }),
    });
    const { secretKey } = await bench.share('v', { ttlSeconds: 600 });
    bench.advance(599);
    const told = await bench.service.inspect(guess(secretKey), anonymous);
    return told.outcome === 'waiting' ? told.secret.secretTtlSeconds : null;
  }

  it('is counted to the second, is 0 at its expiry, and never less', async () => {
    expect([await leftWhenTold(0), await leftWhenTold(1), await leftWhenTold(60)]).toEqual([1, 0, 0]);
  });
});
