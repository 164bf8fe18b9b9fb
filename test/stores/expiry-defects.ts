/** Stores with one seeded defect each in changed expiries (see `defects.ts`). */
import type { SecretId } from '../../src/core/keys.ts';
import type { ClaimTarget } from '../../src/core/ports/claims.ts';
import type { NewExpiry } from '../../src/core/ports/secrets.ts';
import type { StoredReceipt } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import type { SeededDefect } from './defects.ts';
import { epochDefects } from './epoch-defects.ts';

type Change = Store['setExpiry'];

/** A store that changes an expiry in its own way. */
const changing = (store: Store, setExpiry: Change): Store => ({ ...store, setExpiry });

/** As the store does it, with something else of the record kept as it was. */
const keeping =
  (store: Store, keep: (receipt: StoredReceipt) => Partial<NewExpiry>): Change =>
  async (id, from, to) => {
    const receipt = await store.findReceipt(id);
    return receipt !== null && store.setExpiry(id, from, { ...to, ...keep(receipt) });
  };

export const expiryDefects: readonly SeededDefect[] = [
  ...epochDefects,
  {
    defect: 'a changed expiry is only said to be changed',
    caughtBy: 'a secret whose expiry was put off lives until the new one',
    seed: (store) => changing(store, async () => true),
  },
  {
    defect: 'an expiry is only put off',
    caughtBy: 'a secret whose expiry was brought forward ends at the new one',
    seed: (store) =>
      changing(store, async (id, from, to) => to.expiresAt < from || store.setExpiry(id, from, to)),
  },
  {
    defect: 'a receipt keeps its first expiry',
    caughtBy: 'a secret whose expiry was put off lives until the new one',
    seed: (store) =>
      changing(
        store,
        keeping(store, ({ receiptExpiresAt }) => ({ receiptExpiresAt })),
      ),
  },
  {
    defect: 'a sealed secret stays wrapped for its first expiry',
    caughtBy: 'a secret whose expiry was put off lives until the new one',
    seed: (store) =>
      changing(
        store,
        keeping(store, ({ sealedSecret }) => (sealedSecret === null ? {} : { sealedSecret })),
      ),
  },
  {
    defect: 'a claim takes only a secret with the expiry that it knew',
    caughtBy: 'who has proven a link before its expiry is changed still takes the secret',
    seed: (store) => ({
      ...store,
      async claim(target: ClaimTarget, isAbandoned) {
        const found = await store.findSecret(target.secretId as SecretId);
        return found?.expiresAt === target.expiresAt ? store.claim(target, isAbandoned) : 'gone';
      },
    }),
  },
  {
    defect: 'an expiry is changed whatever it is now',
    caughtBy: 'of two changes of one expiry, only one that knew it counts',
    seed: (store) =>
      changing(store, async (id, _from, to) => {
        const receipt = await store.findReceipt(id);
        return receipt !== null && store.setExpiry(id, receipt.expiresAt, to);
      }),
  },
  {
    defect: 'a change of expiry is said to work for every receipt',
    caughtBy: 'the expiry of a secret that is gone, or unknown, is not changed',
    seed: (store) =>
      changing(store, async (id, from, to) => {
        await store.setExpiry(id, from, to);
        return true;
      }),
  },
  {
    defect: 'guesses start afresh with a changed expiry',
    caughtBy: 'guesses stay counted until the new expiry',
    seed(store) {
      let changes = 0;
      return {
        ...store,
        async setExpiry(...args) {
          changes += 1;
          return store.setExpiry(...args);
        },
        reserve: (id, client, limits) =>
          store.reserve(id, client, { ...limits, perLife: limits.perLife * (1 + changes) }),
      };
    },
  },
  {
    defect: 'a notice stays due when it was',
    caughtBy: 'a notice is given out when the new expiry wants it, and not when the old one did',
    seed: (store) =>
      changing(store, async (id, from, to) => {
        const before = to.noticeDueAt === null ? null : from - 1;
        return store.setExpiry(id, from, { ...to, noticeDueAt: before });
      }),
  },
  {
    defect: 'a changed expiry is noted as the creator’s first look',
    caughtBy: 'a changed expiry changes one secret alone, and nothing else of it',
    seed: (store) =>
      changing(store, async (id, from, to) => {
        await store.markViewed(id);
        return store.setExpiry(id, from, to);
      }),
  },
];
