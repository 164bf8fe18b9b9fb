/** Stores with one seeded defect each in re-wrapping and closed roots (see `defects.ts`). */
import { ServiceError } from '../../src/core/errors.ts';
import type { SecretId } from '../../src/core/keys.ts';
import { rootKidOf } from '../../src/core/ports/roots.ts';
import type { SeededDefect } from './defects.ts';

const hexOf = (id: SecretId): string => Buffer.from(id).toString('hex');

export const rotationDefects: readonly SeededDefect[] = [
  {
    defect: 'a list of older roots ends at its first batch',
    caughtBy: 'what waits under older roots is listed, each once and in order',
    seed: (store) => ({
      ...store,
      listUnderOlderRoots: async (...asked) => ({
        ...(await store.listUnderOlderRoots(...asked)),
        next: null,
      }),
    }),
  },
  {
    defect: 'the list names what is under the root itself',
    caughtBy: 'what waits under older roots is listed, each once and in order',
    seed: (store) => ({
      ...store,
      listUnderOlderRoots: (kid, after, limit) => store.listUnderOlderRoots(kid + 1, after, limit),
    }),
  },
  {
    defect: 'what was listed once is listed for ever',
    caughtBy: 'what no longer waits is not listed',
    seed(store) {
      const stored = new Map<string, SecretId>();
      return {
        ...store,
        async put(record) {
          await store.put(record);
          stored.set(hexOf(record.secretId), record.secretId);
        },
        listUnderOlderRoots: async () => ({ secretIds: [...stored.values()], next: null }),
      };
    },
  },
  {
    defect: 're-wrapping counts as a look at the receipt',
    caughtBy: 'a re-wrapped secret is found as it was, in its new wrapping',
    seed(store) {
      const receipts = new Map<string, Parameters<typeof store.markViewed>[0]>();
      return {
        ...store,
        async put(record) {
          await store.put(record);
          receipts.set(hexOf(record.secretId), record.receiptId);
        },
        async replaceWrapping(id, from, to) {
          const receiptId = receipts.get(hexOf(id));
          if (receiptId !== undefined) await store.markViewed(receiptId);
          return store.replaceWrapping(id, from, to);
        },
      };
    },
  },
  {
    defect: 'the roots in use are those at creation',
    caughtBy: 'the roots in use follow what was re-wrapped',
    seed(store) {
      const kids = new Set<number>();
      return {
        ...store,
        async put(record) {
          await store.put(record);
          kids.add(rootKidOf(record.sealedSecret) ?? 0);
        },
        rootKidsInUse: async () => [...kids],
      };
    },
  },
  {
    defect: 'a re-wrapped row has another version',
    caughtBy: 'who has proven a link before it is re-wrapped still takes the secret',
    seed(store) {
      const rewrapped = new Set<string>();
      return {
        ...store,
        async replaceWrapping(id, from, to) {
          rewrapped.add(hexOf(id));
          return store.replaceWrapping(id, from, to);
        },
        claim: async (target, isAbandoned) =>
          rewrapped.has(hexOf(target.secretId)) ? 'gone' : store.claim(target, isAbandoned),
      };
    },
  },
  {
    defect: 'a wrapping is replaced whatever it is now',
    caughtBy: 'a wrapping is replaced only where it is still the one that was found',
    seed: (store) => ({
      ...store,
      async replaceWrapping(id, _from, to) {
        const found = await store.findSecret(id);
        return found !== null && store.replaceWrapping(id, found.sealedSecret, to);
      },
    }),
  },
  {
    defect: 'what is gone is said to be re-wrapped',
    caughtBy: 'what was read or burned gets no new wrapping',
    seed: (store) => ({
      ...store,
      replaceWrapping: async (...given) =>
        (await store.replaceWrapping(...given)) || (await store.findSecret(given[0])) === null,
    }),
  },
  {
    defect: 'a changed expiry brings an older root back',
    caughtBy: 'an expiry that was worked out under an older root loses to the new one',
    seed: (store) => ({
      ...store,
      async setExpiry(id, from, to) {
        const { secretId, sealedSecret } = (await store.findReceipt(id)) ?? {};
        if (secretId && sealedSecret) await store.replaceWrapping(secretId, sealedSecret, to.sealedSecret);
        return store.setExpiry(id, from, to);
      },
    }),
  },
  {
    defect: 'a closed root still takes records',
    caughtBy: 'nothing is stored under a closed root, and everything under the others',
    seed: (store) => ({ ...store, closeRootsBefore: async () => {} }),
  },
  {
    defect: 'a re-wrapping does not mind closed roots',
    caughtBy: 'nothing is re-wrapped under a closed root',
    seed(store) {
      let floor = 0;
      return {
        ...store,
        async closeRootsBefore(kid) {
          floor = kid;
        },
        async put(record) {
          if ((rootKidOf(record.sealedSecret) ?? 0) < floor)
            throw new ServiceError('unavailable', 'The root of the record was closed.');
          return store.put(record);
        },
        findFirstOpenRoot: async () => floor,
      };
    },
  },
  {
    defect: 'the first open root is that of the last closing',
    caughtBy: 'the first open root is known',
    seed(store) {
      let floor = 0;
      return {
        ...store,
        async closeRootsBefore(kid) {
          floor = kid;
          return store.closeRootsBefore(kid);
        },
        findFirstOpenRoot: async () => floor,
      };
    },
  },
  {
    defect: 'closing an older root opens the later ones again',
    caughtBy: 'nothing is stored under a closed root, and everything under the others',
    seed(store) {
      let floor = 0;
      return {
        ...store,
        async closeRootsBefore(kid) {
          floor = kid;
        },
        async put(record) {
          if ((rootKidOf(record.sealedSecret) ?? 0) < floor)
            throw new ServiceError('unavailable', 'The root of the record was closed.');
          return store.put(record);
        },
      };
    },
  },
  {
    defect: 'forgetting hides an open root',
    caughtBy: 'forgetting roots never hides one that is open',
    seed(store) {
      const forgotten = new Set<number>();
      return {
        ...store,
        async forgetRoots(kids) {
          for (const kid of kids) forgotten.add(kid);
        },
        rootKidsInUse: async () => (await store.rootKidsInUse()).filter((kid) => !forgotten.has(kid)),
      };
    },
  },
  {
    defect: 'the bytes of a wrapping are looked at later',
    caughtBy: 'a store takes its own copy of the wrappings it is given',
    seed: (store) => ({
      ...store,
      async replaceWrapping(...given) {
        await Promise.resolve();
        return store.replaceWrapping(...given);
      },
    }),
  },
];
