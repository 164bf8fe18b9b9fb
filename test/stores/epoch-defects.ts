/** Stores with one seeded defect each in the keys of epochs (see `defects.ts`). */
import { randomBytes } from 'node:crypto';
import type { Epoch } from '../../src/core/ports/epochs.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';

const newKey = () => new Uint8Array(randomBytes(32));
const epochAt = (at: number) => Math.floor(at / 86_400);

/** Keys of its own beside the store, which a sweep destroys as `destroys` says. */
function withOwnKeys(store: Store, destroys: (epoch: number) => boolean): Store {
  const keys = new Map<number, Uint8Array>();
  return {
    ...store,
    async epochFor(expiresAt) {
      const epoch = epochAt(expiresAt);
      const key = keys.get(epoch) ?? newKey();
      keys.set(epoch, key);
      return { epoch, key };
    },
    findEpochKey: async (epoch) => keys.get(epoch) ?? null,
    async sweep(limit) {
      for (const epoch of keys.keys()) if (destroys(epoch)) keys.delete(epoch);
      return store.sweep(limit);
    },
  };
}

export const epochDefects: readonly SeededDefect[] = [
  {
    defect: 'who asks for an epoch at once is given a key each',
    caughtBy: 'of many that ask for the key of one epoch at once, all are given the same',
    seed: (store) => ({
      ...store,
      epochFor: async (expiresAt) => ({ ...(await store.epochFor(expiresAt)), key: newKey() }),
    }),
  },
  {
    defect: 'all epochs have one key',
    caughtBy: 'each day has a key of its own, of 32 bytes',
    seed(store) {
      let first: Epoch | null = null;
      return {
        ...store,
        async epochFor(expiresAt) {
          const given = await store.epochFor(expiresAt);
          first ??= given;
          return { ...given, key: first.key };
        },
      };
    },
  },
  {
    defect: 'a key is destroyed a day too early',
    caughtBy: 'a key is there until its day is over, however often is swept, and not after the next sweep',
    seed: (store) => withOwnKeys(store, (epoch) => epoch <= epochAt(store.now())),
  },
  {
    defect: 'a key is never destroyed',
    caughtBy: 'a key is there until its day is over, however often is swept, and not after the next sweep',
    seed: (store) => withOwnKeys(store, () => false),
  },
  {
    defect: 'keys are destroyed by the wall clock',
    caughtBy: 'a wall clock that jumps ahead destroys no key',
    seed: (store, { wallClock }) => withOwnKeys(store, (epoch) => epoch < epochAt(wallClock.wall())),
  },
  {
    defect: 'a destroyed epoch is given a new key',
    caughtBy: 'an epoch whose key was destroyed never has another, also when the time is set back',
    seed: (store) => withOwnKeys(store, (epoch) => epoch < epochAt(store.now())),
  },
];
