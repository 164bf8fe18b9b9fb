/** Stores with one seeded defect each in creations that may be repeated (see `defects.ts`). */
import { type NewIdempotentCreation, takeOverSeconds } from '../../src/core/ports/creations.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const onePerReservation = 'of many records for one reservation at once one is stored';
const takenOver =
  'a reservation is taken over after 30 seconds and not before, by one of many, and only by the seed it has';
const known24Hours = 'a creation is known for 24 hours, swept or not, and may then be made anew';
const goesWithToken = 'a creation goes with its token, however that goes, and none is reserved without one';

/** Remembers what was reserved, to do what a store must not. */
function remembering(store: Store) {
  const reserved = new Map<string, NewIdempotentCreation>();
  const reserveCreation: Store['reserveCreation'] = async (creation) => {
    const kept = structuredClone(creation);
    const answer = await store.reserveCreation(creation);
    if (answer === 'reserved') reserved.set(kept.id.toHex(), kept);
    return answer;
  };
  return { reserved, reserveCreation };
}

/** Finds what was reserved once, whatever became of its row. */
function neverForgetting(store: Store, as: { readonly isDone: boolean }): Store {
  const { reserved, reserveCreation } = remembering(store);
  return {
    ...store,
    reserveCreation,
    async findCreation(id) {
      const known = reserved.get(id.toHex());
      const row = await store.findCreation(id);
      if (row !== null || known === undefined) return row;
      const { wrappedSeed, bodyMac } = known;
      return { wrappedSeed, bodyMac, ...as, reservedAt: store.now(), mismatches: 0 };
    },
  };
}

export const creationDefects: readonly SeededDefect[] = [
  {
    defect: 'a creation is looked for, then reserved',
    caughtBy: 'of fifty that reserve a creation at once one is told so, and the others get its row',
    seed: (store) => ({
      ...store,
      async reserveCreation(creation) {
        const known = await store.findCreation(creation.id);
        if (known !== null) return known;
        await turn();
        await store.reserveCreation(creation);
        return 'reserved';
      },
    }),
  },
  {
    defect: 'a reservation is looked at, then its record is stored, then it is done',
    caughtBy: onePerReservation,
    seed: (store) => ({
      ...store,
      async put(record) {
        const { hold } = record;
        const row = hold ? await store.findCreation(hold.id) : null;
        if (row?.isDone === true) return store.put(record);
        await turn();
        await store.put(record).catch(() => store.put({ ...record, hold: null }));
      },
    }),
  },
  {
    defect: 'a record is stored whatever became of its reservation',
    caughtBy: 'whoever lost a reservation stores nothing: taken over, released or never made',
    seed: (store) => ({
      ...store,
      put: (record) => store.put(record).catch(() => store.put({ ...record, hold: null })),
    }),
  },
  {
    defect: 'a creation that is done creates again',
    caughtBy: 'a creation that is done stores no second record',
    seed: (store) => ({
      ...store,
      async put(record) {
        const { hold } = record;
        const isDone = hold && (await store.findCreation(hold.id))?.isDone;
        await store.put(isDone ? { ...record, hold: null } : record);
      },
    }),
  },
  {
    defect: 'a creation is done before its record is stored',
    caughtBy: 'a record that is refused leaves its reservation as it was',
    seed(store) {
      const done = new Set<string>();
      return {
        ...store,
        async put(record) {
          if (record.hold) done.add(record.hold.id.toHex());
          await store.put(record);
        },
        async findCreation(id) {
          const row = await store.findCreation(id);
          return row && { ...row, isDone: row.isDone || done.has(id.toHex()) };
        },
      };
    },
  },
  {
    defect: 'a creation is not done when its record is stored',
    caughtBy: 'a creation is done as soon as its record is stored, and not before',
    seed: (store) => ({ ...store, put: (record) => store.put({ ...record, hold: null }) }),
  },
  {
    defect: 'a reservation is taken over too early',
    caughtBy: takenOver,
    seed(store, { wallClock }) {
      return {
        ...store,
        async takeOverCreation(from, to) {
          const row = await store.findCreation(from.id);
          const isNear = row !== null && wallClock.wall() >= row.reservedAt + takeOverSeconds - 1;
          return (await store.takeOverCreation(from, to)) || isNear;
        },
      };
    },
  },
  {
    defect: 'a reservation is looked at, then taken over',
    caughtBy: takenOver,
    seed: (store) => ({
      ...store,
      async takeOverCreation(from, to) {
        const row = await store.findCreation(from.id);
        const isSame = row?.wrappedSeed.toHex() === from.wrappedSeed.toHex();
        if (row === null || !isSame || store.now() < row.reservedAt + takeOverSeconds) return false;
        await turn();
        const now = (await store.findCreation(from.id))?.wrappedSeed ?? from.wrappedSeed;
        await store.takeOverCreation({ id: from.id, wrappedSeed: now }, to);
        return true;
      },
    }),
  },
  {
    defect: 'a take-over ends a creation that is done',
    caughtBy: 'a creation that is done stores no second record',
    seed: (store) => ({
      ...store,
      takeOverCreation: async (from, to) =>
        (await store.takeOverCreation(from, to)) || (await store.findCreation(from.id))?.isDone === true,
    }),
  },
  {
    defect: 'other bodies are read, then counted',
    caughtBy: 'other bodies are counted, also many at once',
    seed(store) {
      const counts = new Map<string, number>();
      return {
        ...store,
        async countMismatch(id) {
          const [key, count] = [id.toHex(), counts.get(id.toHex()) ?? 0];
          await turn();
          counts.set(key, count + 1);
        },
        async findCreation(id) {
          const row = await store.findCreation(id);
          return row && { ...row, mismatches: counts.get(id.toHex()) ?? 0 };
        },
      };
    },
  },
  {
    defect: 'a creation is known for longer than 24 hours',
    caughtBy: known24Hours,
    seed: (store) => neverForgetting(store, { isDone: true }),
  },
  {
    defect: 'a sweep forgets creations that are still known',
    caughtBy: known24Hours,
    seed(store) {
      let isSwept = false;
      return {
        ...store,
        sweep(limit) {
          isSwept = true;
          return store.sweep(limit);
        },
        findCreation: async (id) => (isSwept ? null : store.findCreation(id)),
      };
    },
  },
  {
    defect: 'the root of a creation’s seed is forgotten when it is closed',
    caughtBy: 'the root of a creation’s seed is in use as long as the creation is known',
    seed(store) {
      let open = 0;
      return {
        ...store,
        async closeRootsBefore(kid) {
          open = kid;
          await store.closeRootsBefore(kid);
        },
        rootKidsInUse: async () => (await store.rootKidsInUse()).filter((kid) => kid >= open),
      };
    },
  },
  {
    defect: 'a creation outlives its token',
    caughtBy: goesWithToken,
    seed: (store) => neverForgetting(store, { isDone: false }),
  },
  {
    defect: 'a creation is reserved for whatever token it names',
    caughtBy: goesWithToken,
    seed: (store) => ({
      ...store,
      reserveCreation: (creation) => store.reserveCreation(creation).catch(() => 'reserved'),
    }),
  },
];
