/**
 * Stores whose sweep takes more than it should, and the check that must catch each.
 */
import type { CountedId } from '../../src/core/ports/attempts.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';

/** A store that also runs `deed` after every sweep. */
const afterSweep = (store: Store, deed: () => Promise<unknown>): Store => ({
  ...store,
  async sweep(limit) {
    const touched = await store.sweep(limit);
    await deed();
    return touched;
  },
});

export const sweepDefects: readonly SeededDefect[] = [
  {
    defect: 'a sweep forgets the mails of every record',
    caughtBy: 'a sweep leaves the mails and notices of what lives on as they are',
    seed(store) {
      const ids: NewRecord['receiptId'][] = [];
      const nothing = { state: 'not_sent', staleAt: null, noteBox: null, addressBox: null } as const;
      const swept = afterSweep(store, () => Promise.all(ids.map((id) => store.setDelivery(id, nothing))));
      return {
        ...swept,
        async put(record) {
          ids.push(record.receiptId);
          await store.put(record);
        },
      };
    },
  },
  {
    defect: 'a sweep takes notices that are not due',
    caughtBy: 'a sweep leaves the mails and notices of what lives on as they are',
    seed(store) {
      let swept = false;
      const watching = afterSweep(store, async () => {
        swept = true;
      });
      return { ...watching, takeDueNotices: async (limit) => (swept ? [] : store.takeDueNotices(limit)) };
    },
  },
  {
    defect: 'a sweep forgets every guess',
    caughtBy: 'a sweep gives no guess back that still counts, in the window or in the life',
    seed(store) {
      const guesses: { readonly id: CountedId; readonly attempt: number }[] = [];
      const swept = afterSweep(store, () =>
        Promise.all(guesses.splice(0).map(({ id, attempt }) => store.refund(id, attempt))),
      );
      return {
        ...swept,
        async reserve(id, client, limits) {
          const told = await store.reserve(id, client, limits);
          if (told.outcome === 'reserved') guesses.push({ id, attempt: told.attempt });
          return told;
        },
      };
    },
  },
];
