/**
 * Stores with one seeded defect each in how guesses at passphrases are counted (see `defects.ts`).
 */

import type { AttemptStore } from '../../src/core/attempt-store.ts';
import type { SecretId } from '../../src/core/keys.ts';
import type { Store } from '../../src/store/store.ts';
import { newSecretId } from './conformance/check.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Checks the count now and records a turn later, like a get followed by a set. */
function attemptsThatCheckThenRecord(): AttemptStore {
  const counts = new Map<string, number>();
  return {
    async reserve(id: SecretId, client, limits) {
      const key = `${id.toHex()} ${client.toHex()}`;
      const count = counts.get(key) ?? 0;
      await turn();
      if (count >= limits.perClient) return { outcome: 'exhausted', retryAfterSeconds: limits.windowSeconds };
      counts.set(key, count + 1);
      return {
        outcome: 'reserved',
        attempt: count + 1,
        left: limits.perClient - count - 1,
        moreAfterSeconds: limits.windowSeconds,
      };
    },
    refund: async () => {},
  };
}

interface LifeRule {
  readonly lifeOf?: (id: SecretId) => string;
  readonly refundLeaves?: (inLife: number) => number;
  readonly sweepForgets?: boolean;
}

/** Counts attempts per lifetime outside the store, by another rule. */
function countingLives(store: Store, rule: LifeRule): Store {
  const { lifeOf = (id) => id.toHex(), refundLeaves = (inLife) => inLife - 1 } = rule;
  const lives = new Map<string, number>();
  const inLife = (id: SecretId) => lives.get(lifeOf(id)) ?? 0;
  return {
    ...store,
    async reserve(id, client, limits) {
      if (inLife(id) >= limits.perLife) return { outcome: 'exhausted', retryAfterSeconds: 1 };
      lives.set(lifeOf(id), inLife(id) + 1);
      return store.reserve(id, client, { ...limits, perLife: 1_000 });
    },
    async refund(id, attempt) {
      lives.set(lifeOf(id), refundLeaves(inLife(id)));
      await store.refund(id, attempt);
    },
    async sweep(limit) {
      if (rule.sweepForgets === true) lives.clear();
      return store.sweep(limit);
    },
  };
}

export const attemptDefects: readonly SeededDefect[] = [
  {
    defect: 'attempts are checked, then recorded',
    caughtBy: 'of 200 guesses at once from one client no more are allowed than its limit',
    seed: (store) => ({ ...store, ...attemptsThatCheckThenRecord() }),
  },
  {
    defect: 'a reservation tells what one client has left, whatever others have guessed',
    caughtBy:
      'what others have guessed at the secret leaves a client less, as soon as it is the tighter limit',
    seed: (store) => ({
      ...store,
      async reserve(id, client, limits) {
        const { perClient } = limits;
        const told = await store.reserve(id, client, limits);
        const alone = await store.reserve(newSecretId(), client, limits);
        return told.outcome === 'reserved' && alone.outcome === 'reserved'
          ? { ...told, left: Math.min(perClient - 1, alone.left) }
          : told;
      },
    }),
  },
  {
    defect: 'what is left is read after the reservation',
    caughtBy: 'of guesses at once from one client each is told another number of guesses left',
    seed(store) {
      const lefts: number[] = [];
      return {
        ...store,
        async reserve(id, client, limits) {
          const told = await store.reserve(id, client, limits);
          if (told.outcome === 'exhausted') return told;
          lefts.push(told.left);
          await turn();
          return { ...told, left: Math.min(...lefts) };
        },
      };
    },
  },
  {
    defect: 'a refund gives back more than one attempt',
    caughtBy: 'a refund gives back one attempt, once, and no other’s',
    seed: (store) => ({
      ...store,
      async refund(id, attempt) {
        await store.refund(id, attempt);
        await store.refund(id, attempt + 1);
      },
    }),
  },
  {
    defect: 'a refund clears the count of the secret’s life',
    caughtBy: 'a refund gives a life one guess back, and another secret’s life none',
    seed: (store) => countingLives(store, { refundLeaves: () => 0 }),
  },
  {
    defect: 'the guesses at all secrets are counted as one life',
    caughtBy: 'a refund gives a life one guess back, and another secret’s life none',
    seed: (store) => countingLives(store, { lifeOf: () => 'all' }),
  },
  {
    defect: 'guesses given back make the count of a life negative',
    caughtBy: 'guesses given back after the end of a life leave no more of them than the limit of a life',
    seed: (store) => countingLives(store, { sweepForgets: true }),
  },
];
