/** Stores with one seeded defect each in what they keep of end-to-end secrets (see `defects.ts`). */
import type { NewRecord } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import { codeDefects } from './code-defects.ts';
import type { SeededDefect } from './defects.ts';
import { requestDefects } from './request-defects.ts';

const told = 'a secret and its receipt tell whether it is end-to-end, whatever else it is';

/** A store that keeps something else than it was given. */
const keeping = (store: Store, change: (record: NewRecord) => Partial<NewRecord>): Store => ({
  ...store,
  put: (record) => store.put({ ...record, ...change(record) }),
});

/** An answer to a request is an end-to-end secret; the mark of one that needs a code is bound as that of an end-to-end secret is. */
export const endToEndDefects: readonly SeededDefect[] = [
  ...requestDefects,
  ...codeDefects,
  {
    defect: 'the flag of an end-to-end secret is lost',
    caughtBy: told,
    seed: (store) => keeping(store, () => ({ sealed: false })),
  },
  {
    defect: 'a passphrase hides that a secret is end-to-end',
    caughtBy: told,
    seed: (store) => keeping(store, ({ sealed, hasPassphrase }) => ({ sealed: sealed && !hasPassphrase })),
  },
  {
    defect: 'the flag of an end-to-end secret is one of its notices',
    caughtBy: told,
    seed: (store) =>
      keeping(store, ({ sealed, notify }) => ({ sealed: sealed || notify.includes('expiring') })),
  },
  {
    defect: 'a list takes every secret for a plain one',
    caughtBy: told,
    seed: (store) => ({
      ...store,
      listReceipts: async (owner, page) =>
        (await store.listReceipts(owner, page))?.map((each) => ({ ...each, sealed: false })) ?? null,
    }),
  },
  {
    defect: 'with the sealed bytes goes what they were',
    caughtBy: 'a receipt still tells whether its secret was end-to-end once that is read, burned or expired',
    seed: (store) => ({
      ...store,
      async findReceipt(id, manager) {
        const receipt = await store.findReceipt(id, manager);
        return receipt?.sealedSecret === null ? { ...receipt, sealed: false } : receipt;
      },
    }),
  },
  {
    defect: 'another expiry makes an end-to-end secret a plain one',
    caughtBy: 'another expiry or another root leaves an end-to-end secret one',
    seed(store) {
      const changed = new Set<number>();
      return {
        ...store,
        async setExpiry(id, from, to) {
          changed.add(to.expiresAt);
          return store.setExpiry(id, from, to);
        },
        async findSecret(id) {
          const secret = await store.findSecret(id);
          return secret !== null && changed.has(secret.expiresAt) ? { ...secret, sealed: false } : secret;
        },
      };
    },
  },
  {
    defect: 'what a client encrypted is cut at a million bytes',
    caughtBy: 'what a client encrypted comes back as it was, up to a megabyte',
    seed: (store) =>
      keeping(store, ({ sealedSecret }) => ({ sealedSecret: sealedSecret.subarray(0, 1_000_000) })),
  },
];
