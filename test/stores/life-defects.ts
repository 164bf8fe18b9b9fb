/** Stores with one seeded defect each in how several secrets are found at once (see `defects.ts`). */
import type { SeededDefect } from './defects.ts';

const severalLives =
  'what became of several secrets is found at once, in the order asked, without their values';

export const lifeDefects: readonly SeededDefect[] = [
  {
    defect: 'of several secrets only those are found that are there',
    caughtBy: severalLives,
    seed: (store) => ({
      ...store,
      findLives: async (ids) => (await store.findLives(ids)).filter((life) => life !== null),
    }),
  },
  {
    defect: 'several secrets are found in another order',
    caughtBy: severalLives,
    seed: (store) => ({
      ...store,
      async findLives(ids) {
        const order = ids.toSorted(Buffer.compare);
        return store.findLives(order);
      },
    }),
  },
  {
    defect: 'several secrets are found with their values',
    caughtBy: severalLives,
    seed: (store) => ({ ...store, findLives: (ids) => Promise.all(ids.map((id) => store.findReceipt(id))) }),
  },
];
