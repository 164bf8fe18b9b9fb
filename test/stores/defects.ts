/** Stores with one seeded defect each, and the check that must catch it: a check that passes on its defect is broken. */
import type { NewRecord } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import { slowClock } from '../support/clocks.ts';
import { accountDefects } from './account-defects.ts';
import { attemptDefects } from './attempt-defects.ts';
import { burnDefects } from './burn-defects.ts';
import { clockDefects } from './clock-defects.ts';
import { clientStays, type StoreUnderTest } from './conformance/check.ts';
import { creationDefects } from './creation-defects.ts';
import { domainDefects } from './domain-defects.ts';
import { endToEndDefects } from './end-to-end-defects.ts';
import { expiryDefects } from './expiry-defects.ts';
import { lifeDefects } from './life-defects.ts';
import { lookDefects } from './look-defects.ts';
import { mailDefects } from './mail-defects.ts';
import { memoDefects } from './memo-defects.ts';
import { createAccountTables } from './memory/account-tables.ts';
import { createMemoryAccounts } from './memory/accounts.ts';
import { createMemoryAttempts } from './memory/attempts.ts';
import { createMemorySecrets } from './memory/secrets.ts';
import { createMemoryStore } from './memory.ts';
import { processDefects } from './process-defects.ts';
import { rotationDefects } from './rotation-defects.ts';
import { openMemorySubject } from './subjects.ts';
import { sweepDefects } from './sweep-defects.ts';

export interface SeededDefect {
  readonly defect: string;
  /** The name of a check that must fail. */
  readonly caughtBy: string;
  /** `released` resolves once writes are no longer held. */
  readonly seed: (store: Store, subject: StoreUnderTest, released: () => Promise<void>) => Store;
}

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Opens a memory store with the defect. */
export async function openDefective(defect: SeededDefect): Promise<StoreUnderTest> {
  const { store, wallClock, holdClaims } = await openMemorySubject();
  let held = Promise.resolve();
  const holdWrites = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  const subject = { store, wallClock, holdWrites, holdClaims, close: async () => {} };
  const open = () => defect.seed({ ...store }, subject, () => held);
  return { ...subject, store: open(), openSecond: async () => open() };
}

/** A whole memory store whose time follows the wall clock, backwards too. */
function storeOnWallClock(store: Store, subject: StoreUnderTest): Store {
  const time = { now: subject.wallClock.read, earliest: subject.wallClock.read };
  const tables = createAccountTables();
  const records = createMemorySecrets(time, (id) => tables.accounts.has(id));
  const attempts = createMemoryAttempts(time, records.lifeOf);
  return {
    ...store,
    ...records.store,
    ...attempts.store,
    ...createMemoryAccounts(time, records, tables).store,
  };
}

const recordDefects: readonly SeededDefect[] = [
  {
    defect: 'a claim reads, then deletes',
    caughtBy: 'of fifty claims at once exactly one wins',
    seed: (store) => ({
      ...store,
      async claim(secret) {
        if ((await store.findSecret(secret.secretId)) === null) return 'gone';
        await turn();
        await store.claim(secret, clientStays);
        return 'won';
      },
    }),
  },
  {
    defect: 'burning all ends at its first batch',
    caughtBy: 'burning all ends everything that waits, whoever made it, and nothing else',
    seed: (store) => ({
      ...store,
      burnAll: async (after, limit) => ({ ...(await store.burnAll(after, limit)), next: null }),
    }),
  },
  {
    defect: 'burning all counts what a claim was quicker to take',
    caughtBy: 'of burning all and many claims at once each secret is ended by exactly one',
    seed: (store) => ({
      ...store,
      async burnAll(after, limit) {
        await turn();
        return { ...(await store.burnAll(after, limit)), burned: limit };
      },
    }),
  },
  {
    defect: 'burning all burns what has expired',
    caughtBy: 'burning all leaves what has expired as it was',
    seed: (store) => ({
      ...store,
      async burnAll(after, limit) {
        const batch = await store.burnAll(after, limit);
        return { ...batch, burned: batch.burned + 1 };
      },
    }),
  },
  {
    defect: 'a look-up keeps no copy of the id',
    caughtBy: 'an id may be wiped as soon as it was asked for',
    seed: (store) => ({
      ...store,
      async findSecret(id) {
        await turn();
        return store.findSecret(id);
      },
    }),
  },
  {
    defect: 'a look-up keeps no copy of the hash',
    caughtBy: 'a hash may be wiped as soon as it was asked for',
    seed: (store) => ({
      ...store,
      async findToken(hash) {
        await turn();
        return store.findToken(hash);
      },
    }),
  },
  {
    defect: 'a receipt is found for every account',
    caughtBy: 'an account finds its own receipts and anonymous ones, not another’s',
    seed: (store) => ({ ...store, findReceipt: (id) => store.findReceipt(id) }),
  },
  {
    defect: 'a caller without an account finds every receipt',
    caughtBy: 'an account finds its own receipts and anonymous ones, not another’s',
    seed: (store) => ({
      ...store,
      findReceipt: (id, manager) => store.findReceipt(id, manager || undefined),
    }),
  },
  {
    defect: 'a receipt is found for its own account alone',
    caughtBy: 'an account finds its own receipts and anonymous ones, not another’s',
    seed: (store) => ({
      ...store,
      async findReceipt(id, manager) {
        const receipt = await store.findReceipt(id);
        return manager === undefined || receipt?.owner === manager ? receipt : null;
      },
    }),
  },
  {
    defect: 'a claim ignores the version that was found',
    caughtBy: 'a claim takes only the version that was found',
    seed: (store) => ({
      ...store,
      claim: (secret) => store.claim({ ...secret, rowVersion: 1 }, clientStays),
    }),
  },
  {
    defect: 'a claim takes only the very object that was found',
    caughtBy: 'a claim is decided by the id and version that were found, whoever carries them',
    seed(store) {
      const given = new WeakSet<object>();
      return {
        ...store,
        async findSecret(id) {
          const secret = await store.findSecret(id);
          if (secret !== null) given.add(secret);
          return secret;
        },
        claim: async (target, isAbandoned) => (given.has(target) ? store.claim(target, isAbandoned) : 'gone'),
      };
    },
  },
  {
    defect: 'a claim does not ask whether its client has left',
    caughtBy: 'a claim whose client has left takes nothing',
    seed: (store) => ({ ...store, claim: (secret) => store.claim(secret, clientStays) }),
  },
  {
    defect: 'a burn does not ask whether its client has left',
    caughtBy: 'a burn whose client has left burns nothing',
    seed: (store) => ({ ...store, burn: (id) => store.burn(id, clientStays) }),
  },
  {
    defect: 'one client that has left takes all claims beside its own with it',
    caughtBy: 'of claims and burns at once only those go undone whose clients have left',
    seed(store) {
      let hasOneLeft = false;
      return {
        ...store,
        claim(secret, isAbandoned) {
          hasOneLeft ||= isAbandoned();
          return store.claim(secret, () => hasOneLeft);
        },
      };
    },
  },
  {
    defect: 'a claim asks when it is handed in, and not again after it has waited',
    caughtBy:
      'a claim or burn that had to wait for other writes takes nothing for a client that left meanwhile',
    seed: (store, _subject, released) => ({
      ...store,
      async claim(secret, isAbandoned) {
        const hasLeft = isAbandoned();
        await released();
        return store.claim(secret, () => hasLeft);
      },
    }),
  },
  {
    defect: 'a burn asks when it is handed in, and not again after it has waited',
    caughtBy:
      'a claim or burn that had to wait for other writes takes nothing for a client that left meanwhile',
    seed: (store, _subject, released) => ({
      ...store,
      async burn(id, isAbandoned) {
        const hasLeft = isAbandoned();
        await released();
        return store.burn(id, () => hasLeft);
      },
    }),
  },
  {
    defect: 'a secret that an unconfirmed claim holds is gone for the next',
    caughtBy: 'a secret that an unconfirmed claim holds is neither released nor gone',
    seed(store) {
      const tried = new Set<string>();
      return {
        ...store,
        claim(secret, isAbandoned) {
          const id = secret.secretId.toHex();
          const isFirst = !tried.has(id);
          tried.add(id);
          const claim = store.claim(secret, isAbandoned);
          return isFirst ? claim : claim.catch(() => 'gone');
        },
      };
    },
  },
  {
    defect: 'an unconfirmed claim releases its secret',
    caughtBy: 'a secret that an unconfirmed claim holds is neither released nor gone',
    seed: (store) => ({
      ...store,
      claim: (secret, isAbandoned) => store.claim(secret, isAbandoned).catch(() => 'won'),
    }),
  },
  {
    defect: 'a burn of what an unconfirmed claim holds is told that there is nothing to burn',
    caughtBy: 'a secret that an unconfirmed claim holds is neither released nor gone',
    seed: (store) => ({ ...store, burn: (id, isAbandoned) => store.burn(id, isAbandoned).catch(() => null) }),
  },
  {
    defect: 'expiry is judged by the wall clock',
    caughtBy: 'a wall clock that is set back neither moves store time back nor revives a secret',
    seed: storeOnWallClock,
  },
  {
    defect: 'a secret can be found for one second too long',
    caughtBy: 'a secret lives until the instant of its expiry and not a second longer',
    seed: (_store, subject) => createMemoryStore({ clock: slowClock(subject.wallClock) }),
  },
  {
    defect: 'a burn reports success after a read',
    caughtBy: 'a burn after a read is told that there is nothing to burn',
    seed: (store) => ({
      ...store,
      async burn(id) {
        const receipt = await store.findReceipt(id);
        return (await store.burn(id, clientStays)) ?? (receipt?.state === 'received' ? store.now() : null);
      },
    }),
  },
  {
    defect: 'put resolves before the record is stored',
    caughtBy: 'a secret can be found, byte for byte, as soon as put has resolved',
    seed: (store) => ({
      ...store,
      async put(record) {
        void turn().then(() => store.put(record));
      },
    }),
  },
  {
    defect: 'a secret is stored for whatever account it names',
    caughtBy: 'no secret is stored for an account that is not there',
    seed: (store) => ({
      ...store,
      put: (record) => store.put(record).catch(() => store.put({ ...record, owner: null })),
    }),
  },
  {
    defect: 'the store keeps the caller’s own bytes',
    caughtBy: 'a store keeps its own copy of the bytes it is given and gives',
    seed(store) {
      const given = new Map<string, NewRecord>();
      return {
        ...store,
        async put(record) {
          given.set(record.secretId.toHex(), record);
          await store.put(record);
        },
        async findSecret(id) {
          const secret = await store.findSecret(id);
          return (
            secret && { ...secret, sealedSecret: given.get(id.toHex())?.sealedSecret ?? secret.sealedSecret }
          );
        },
      };
    },
  },
  {
    defect: 'a look at a receipt marks it viewed',
    caughtBy: 'looking at a secret or its receipt any number of times changes nothing',
    seed: (store) => ({
      ...store,
      async findReceipt(id) {
        const receipt = await store.findReceipt(id);
        await store.markViewed(id);
        return receipt;
      },
    }),
  },
  {
    defect: 'a receipt is told from what was known before the claim',
    caughtBy: 'a receipt says received, at the time of the claim, as soon as the claim is won',
    seed: (store) => ({
      ...store,
      async findReceipt(id) {
        const receipt = await store.findReceipt(id);
        return receipt && { ...receipt, state: 'waiting', endedAt: null };
      },
    }),
  },
  {
    defect: 'a sweep takes secrets that still live',
    caughtBy: 'a sweep that never ran keeps nothing alive, and one that runs takes nothing that lives',
    seed(store) {
      const ids: NewRecord['receiptId'][] = [];
      return {
        ...store,
        async put(record) {
          ids.push(record.receiptId);
          await store.put(record);
        },
        async sweep(limit) {
          for (const id of ids) await store.burn(id, clientStays);
          return store.sweep(limit);
        },
      };
    },
  },
  {
    defect: 'the recent list pages by offset',
    caughtBy: 'pages of the recent list neither repeat nor skip while records are added',
    seed(store) {
      let offset = 0;
      return {
        ...store,
        async listReceipts(owner, { limit }) {
          const all = await store.listReceipts(owner, { limit: 1_000, after: null });
          offset += limit;
          return all === null ? null : all.slice(offset - limit, offset);
        },
      };
    },
  },
  {
    defect: 'a cursor of a receipt that is gone starts from the top',
    caughtBy: 'a cursor leads to nothing that was created after its receipt, also once that was swept',
    seed: (store) => ({
      ...store,
      async listReceipts(owner, { limit, after }) {
        const all = await store.listReceipts(owner, { limit: 1_000, after: null });
        const isKnown = all?.some(({ cursor }) => cursor === after);
        return store.listReceipts(owner, { limit, after: isKnown ? after : null });
      },
    }),
  },
  {
    defect: 'a cursor that it does not know is no cursor',
    caughtBy: 'a cursor that the store never gave is refused',
    seed: (store) => ({
      ...store,
      listReceipts: async (owner, page) =>
        (await store.listReceipts(owner, page)) ?? store.listReceipts(owner, { ...page, after: null }),
    }),
  },
  {
    defect: 'a refused account leaves its token behind',
    caughtBy: 'a username is given once, also to many who ask at once, and a refusal leaves no token',
    seed: (store) => ({
      ...store,
      async createAccount(account, token) {
        const created = await store.createAccount(account, token);
        const owner = await store.findAccount(account.username);
        if (created === null && owner !== null) await store.addToken(owner.id, token);
        return created;
      },
    }),
  },
];

export const seededDefects: readonly SeededDefect[] = [
  ...recordDefects,
  ...lifeDefects,
  ...lookDefects,
  ...burnDefects,
  ...attemptDefects,
  ...mailDefects,
  ...memoDefects,
  ...expiryDefects,
  ...endToEndDefects,
  ...accountDefects,
  ...clockDefects,
  ...domainDefects,
  ...rotationDefects,
  ...creationDefects,
  ...sweepDefects,
  ...processDefects,
];
