/**
 * Stores with one seeded defect each in how guesses at passphrases are counted (see `defects.ts`).
 */

import type { AttemptStore, CountedId } from '../../src/core/ports/attempts.ts';
import type { Store } from '../../src/store/store.ts';
import { newSecretId } from './conformance/check.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Checks the count now and records a turn later, like a get followed by a set. */
export function attemptsThatCheckThenRecord(): Pick<AttemptStore, 'reserve' | 'refund'> {
  const counts = new Map<string, number>();
  return {
    async reserve(id: CountedId, client, limits) {
      const key = `${id.toHex()} ${client.toHex()}`;
      const count = counts.get(key) ?? 0;
      await turn();
      if (count >= limits.perClient)
        return { outcome: 'exhausted', retryAfterSeconds: limits.windowSeconds, needsCreator: false };
      counts.set(key, count + 1);
      return {
        outcome: 'reserved',
        attempt: count + 1,
        left: limits.perClient - count - 1,
        moreAfterSeconds: limits.windowSeconds,
        needsCreator: false,
      };
    },
    refund: async () => {},
  };
}

interface LifeRule {
  readonly lifeOf?: (id: CountedId) => string;
  readonly refundLeaves?: (inLife: number) => number;
  readonly sweepForgets?: boolean;
  /** Both if absent. */
  readonly allows?: 'now' | 'in life';
}

/** Counts attempts per lifetime outside the store, by another rule. */
function countingLives(store: Store, rule: LifeRule): Store {
  const { lifeOf = (id) => id.toHex(), refundLeaves = (inLife) => inLife - 1 } = rule;
  const lives = new Map<string, number>();
  const inLife = (id: CountedId) => lives.get(lifeOf(id)) ?? 0;
  return {
    ...store,
    async allowMore(id) {
      if (rule.allows !== 'now') lives.delete(lifeOf(id));
      if (rule.allows !== 'in life') await store.allowMore(id);
    },
    async reserve(id, client, limits) {
      if (inLife(id) >= limits.perLife)
        return { outcome: 'exhausted', retryAfterSeconds: 1, needsCreator: true };
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

const keptPlaces = 'the last places of a secret are one each for networks that have not guessed yet';
const allowing =
  'its creator allows more: as many guesses as for a new secret, now and in its life, and of no other';
const telling =
  'a lock is told of each secret while nobody may guess at it, until when, and not after more is allowed';

export const attemptDefects: readonly SeededDefect[] = [
  {
    defect: 'no places are kept for newcomers',
    caughtBy: keptPlaces,
    seed: (store) => ({
      ...store,
      reserve: (id, client, limits) => store.reserve(id, client, { ...limits, keptForNewcomers: 0 }),
    }),
  },
  {
    defect: 'all places are kept for newcomers',
    caughtBy: 'one who has guessed waits until fewer are counted than the places that are not kept',
    seed: (store) => ({
      ...store,
      reserve: (id, client, limits) =>
        store.reserve(id, client, { ...limits, keptForNewcomers: limits.perSecret }),
    }),
  },
  {
    defect: 'each client is a network of its own',
    caughtBy: 'a network is allowed its limit and no more, whichever of its clients ask at once',
    seed: (store) => ({
      ...store,
      reserve: (id, client, limits) => store.reserve(id, client.toReversed(), limits),
    }),
  },
  {
    defect: 'a place that was kept is lost with a right guess',
    caughtBy: 'a right guess takes no place, not even the last',
    seed: (store) => ({ ...store, refund: async () => {} }),
  },
  {
    defect: 'more is allowed now, and not in the secret’s life',
    caughtBy: allowing,
    seed: (store) => countingLives(store, { allows: 'now' }),
  },
  {
    defect: 'more is allowed in the secret’s life, and not now',
    caughtBy: allowing,
    seed: (store) => countingLives(store, { allows: 'in life' }),
  },
  {
    defect: 'more is allowed for every secret',
    caughtBy: allowing,
    seed(store) {
      const ids = new Set<CountedId>();
      return {
        ...store,
        reserve(id, client, limits) {
          ids.add(id);
          return store.reserve(id, client, limits);
        },
        async allowMore() {
          for (const id of ids) await store.allowMore(id);
        },
      };
    },
  },
  {
    defect: 'what was reserved before more was allowed is given back',
    caughtBy: 'what was reserved before its creator allowed more is not given back',
    seed: (store) => countingLives(store, {}),
  },
  {
    defect: 'locks are told in another order',
    caughtBy: telling,
    seed: (store) => ({
      ...store,
      findLocks: async (ids, limits) => (await store.findLocks(ids, limits)).toReversed(),
    }),
  },
  {
    defect: 'a lock is told as soon as places are kept for newcomers',
    caughtBy: telling,
    seed: (store) => ({
      ...store,
      findLocks: (ids, limits) =>
        store.findLocks(ids, { ...limits, perSecret: limits.perSecret - limits.keptForNewcomers }),
    }),
  },
  {
    defect: 'the end of a life is told as the end of a window',
    caughtBy: 'only the end of a life needs the creator',
    seed: (store) => ({
      ...store,
      reserve: async (id, client, limits) => ({
        ...(await store.reserve(id, client, limits)),
        needsCreator: false,
      }),
    }),
  },
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
