/** Stores with one seeded defect each in burns by the link, or in who is said to have burned (see `defects.ts`). */

import { lookRow } from '../../src/core/ports/looks.ts';
import type { StoredReceipt, StoredSecret } from '../../src/core/secret.ts';
import type { Burner } from '../../src/protocol/vocabulary.ts';
import type { Store } from '../../src/store/store.ts';
import { clientStays } from './conformance/check.ts';
import type { SeededDefect } from './defects.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const tagIn = ({ sealedSecret }: StoredSecret): Uint8Array =>
  sealedSecret.slice(lookRow.tagAt, lookRow.tagAt + lookRow.tagBytes);

const takenOnce = 'a burn by the link takes a waiting secret once and says when';
const toldWho =
  'a receipt, in a list too, says which of the two burned it, whatever is noted later, and tells all else as before';
const oneWins =
  'of burns of both kinds and claims at once exactly one wins, and the receipt names the winner';

type Told = Pick<StoredReceipt, 'state' | 'burnedBy' | 'receiptId'>;

/** A store whose receipts say something else of who burned. */
const telling = (store: Store, burnerOf: (receipt: Told) => Burner | null): Store => ({
  ...store,
  async findReceipt(...given) {
    const receipt = await store.findReceipt(...given);
    return receipt && { ...receipt, burnedBy: burnerOf(receipt) };
  },
});

export const burnDefects: readonly SeededDefect[] = [
  {
    defect: 'nobody keeps who burned',
    caughtBy: takenOnce,
    seed: (store) => telling(store, () => null),
  },
  {
    defect: 'whatever was burned was burned by its creator',
    caughtBy: takenOnce,
    seed: (store) => telling(store, ({ state }) => (state === 'burned' ? 'creator' : null)),
  },
  {
    defect: 'whatever was burned was burned by the recipient',
    caughtBy: toldWho,
    seed: (store) => telling(store, ({ state }) => (state === 'burned' ? 'recipient' : null)),
  },
  {
    defect: 'who burned is named for what was read, too',
    caughtBy: 'a burn by the link leaves what was read, and the second look at it',
    seed: (store) => telling(store, ({ state }) => (state === 'waiting' ? null : 'recipient')),
  },
  {
    defect: 'a list does not say who burned',
    caughtBy: toldWho,
    seed: (store) => ({
      ...store,
      listReceipts: async (owner, page) =>
        (await store.listReceipts(owner, page))?.map((each) => ({ ...each, burnedBy: null })) ?? null,
    }),
  },
  {
    defect: 'who burned is overwritten by a later burn',
    caughtBy: takenOnce,
    seed(store) {
      const last = new Map<string, Burner>();
      const noting = telling(store, ({ receiptId, burnedBy }) => last.get(receiptId.toHex()) ?? burnedBy);
      return {
        ...noting,
        burn(id, isAbandoned) {
          last.set(id.toHex(), 'creator');
          return store.burn(id, isAbandoned);
        },
      };
    },
  },
  {
    defect: 'who burned is kept in a step after the burn',
    caughtBy: oneWins,
    seed(store) {
      const named = new Map<string, Burner>();
      return {
        ...telling(store, ({ receiptId, burnedBy }) =>
          burnedBy === null ? null : (named.get(receiptId.toHex()) ?? null),
        ),
        async burn(id, isAbandoned) {
          const burnedAt = await store.burn(id, isAbandoned);
          void turn().then(() => named.set(id.toHex(), 'creator'));
          return burnedAt;
        },
      };
    },
  },
  {
    defect: 'burning everything names the creator',
    caughtBy: 'a receipt names nobody for what was burned with everything, or with its account',
    seed: (store) =>
      telling(store, ({ state, burnedBy }) => (state === 'burned' ? (burnedBy ?? 'creator') : null)),
  },
  {
    defect: 'who burned is told by a lifetime that was changed',
    caughtBy: 'a receipt says who burned it after another lifetime was set, and of many the right ones',
    seed(store) {
      const changed = new Set<string>();
      return {
        ...telling(store, ({ receiptId, burnedBy }) => (changed.has(receiptId.toHex()) ? null : burnedBy)),
        async setExpiry(id, from, to) {
          changed.add(id.toHex());
          return store.setExpiry(id, from, to);
        },
      };
    },
  },
  {
    defect: 'a burn by the link reports what was read as burned',
    caughtBy: 'a burn by the link leaves what was read, and the second look at it',
    seed: (store) => ({
      ...store,
      async burnFound(target, isAbandoned) {
        const gone = (await store.findSecret(target.secretId)) === null;
        return gone ? store.now() : store.burnFound(target, isAbandoned);
      },
    }),
  },
  {
    defect: 'a burn by the link ends the second look at what was read',
    caughtBy: 'a burn by the link leaves what was read, and the second look at it',
    seed: (store) => ({
      ...store,
      async burnFound(target, isAbandoned) {
        const look = await store.findAnyLook(target.secretId);
        if (look !== null) await store.endLook(target.secretId, tagIn(look));
        return store.burnFound(target, isAbandoned);
      },
    }),
  },
  {
    defect: 'a burn by the link looks, then burns',
    caughtBy: oneWins,
    seed: (store) => ({
      ...store,
      async burnFound(target) {
        if ((await store.findSecret(target.secretId)) === null) return null;
        await turn();
        await store.burnFound(target, clientStays);
        return store.now();
      },
    }),
  },
  {
    defect: 'a burn by the link ignores the version that was found',
    caughtBy: 'a burn by the link is decided by the id and version that were found, even in a copy',
    seed: (store) => ({
      ...store,
      burnFound: (target) => store.burnFound({ ...target, rowVersion: 1 }, clientStays),
    }),
  },
  {
    defect: 'a burn by the link keeps no copy of the id',
    caughtBy: 'a burn by the link is decided by the id and version that were found, even in a copy',
    seed: (store) => ({
      ...store,
      async burnFound(target, isAbandoned) {
        await turn();
        return store.burnFound(target, isAbandoned);
      },
    }),
  },
  {
    defect: 'a burn by the link burns what has expired',
    caughtBy: 'a burn by the link decides by store time, not by what was true when the secret was found',
    seed: (store) => ({
      ...store,
      burnFound: async (target, isAbandoned) =>
        (await store.burnFound(target, isAbandoned)) ??
        (store.now() >= target.expiresAt ? store.now() : null),
    }),
  },
  {
    defect: 'a burn by the link takes what has expired by one clock for gone',
    caughtBy:
      'what has expired by one clock only is neither released nor called gone, and its creator can burn it',
    seed: (store) => ({
      ...store,
      burnFound: (target, isAbandoned) => store.burnFound(target, isAbandoned).catch(() => null),
    }),
  },
  {
    defect: 'a burn by the link does not ask whether its client has left',
    caughtBy: 'a burn by the link whose client has left burns nothing',
    seed: (store) => ({ ...store, burnFound: (target) => store.burnFound(target, clientStays) }),
  },
  {
    defect: 'a burn by the link asks when it is handed in, and not again after it has waited',
    caughtBy:
      'a burn by the link that had to wait for other writes burns nothing for a client that left meanwhile',
    seed: (store, _subject, released) => ({
      ...store,
      async burnFound(target, isAbandoned) {
        const hasLeft = isAbandoned();
        await released();
        return store.burnFound(target, () => hasLeft);
      },
    }),
  },
  {
    defect: 'a burn by the link of what an unconfirmed claim holds is told that there is nothing to burn',
    caughtBy:
      'a burn by the link of what an unconfirmed claim holds is not told that there is nothing to burn',
    seed: (store) => ({
      ...store,
      burnFound: (target, isAbandoned) => store.burnFound(target, isAbandoned).catch(() => null),
    }),
  },
];
