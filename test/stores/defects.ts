/**
 * Stores with one seeded defect each, and the check that must notice it.
 *
 * Owns: the self-test of the conformance record: a check that stays green on its defect is itself a defect.
 */
import type { SecretId } from '../../src/core/keys.ts';
import type { AttemptStore } from '../../src/core/ports.ts';
import type { NewRecord } from '../../src/core/secrets/secret.ts';
import type { Store } from '../../src/store/store.ts';
import { slowClock } from '../support/clocks.ts';
import { accountDefects } from './account-defects.ts';
import { clockDefects } from './clock-defects.ts';
import { clientStays, createSettableClock, newSecretId, type StoreUnderTest } from './conformance/check.ts';
import { domainDefects } from './domain-defects.ts';
import { mailDefects } from './mail-defects.ts';
import { memoDefects } from './memo-defects.ts';
import { createMemoryAccounts } from './memory/accounts.ts';
import { createMemoryAttempts } from './memory/attempts.ts';
import { createMemoryRecords } from './memory/records.ts';
import { createMemoryStore } from './memory.ts';
import { sweepDefects } from './sweep-defects.ts';

export interface SeededDefect {
  readonly defect: string;
  /** The name of a check that must fail. */
  readonly caughtBy: string;
  /** `released` resolves when writes are not held. */
  readonly seed: (store: Store, subject: StoreUnderTest, released: () => Promise<void>) => Store;
}

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A memory store with the defect in it. */
export async function openDefective(defect: SeededDefect): Promise<StoreUnderTest> {
  const wallClock = createSettableClock();
  const store = createMemoryStore({ clock: wallClock });
  let held = Promise.resolve();
  const holdWrites = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  const subject = { store, wallClock, holdWrites, close: async () => {} };
  return { ...subject, store: defect.seed(store, subject, () => held) };
}

/** All of a memory store, on a clock that follows the wall backwards too. */
function storeOnWallClock(store: Store, subject: StoreUnderTest): Store {
  const time = { now: subject.wallClock.read, earliest: subject.wallClock.read };
  const records = createMemoryRecords(time);
  const attempts = createMemoryAttempts(time, records.expiryOf);
  return { ...store, ...records.store, ...attempts.store, ...createMemoryAccounts(time, records).store };
}

/** Counts first and records a turn later, as a get followed by a set does. */
function attemptsThatCheckThenRecord(): AttemptStore {
  const counts = new Map<string, number>();
  return {
    async reserve(id: SecretId, client, limits) {
      const key = `${id.toHex()} ${client.toHex()}`;
      const count = counts.get(key) ?? 0;
      await turn();
      if (count >= limits.perClient) return { outcome: 'exhausted', retryAfterSeconds: limits.windowSeconds };
      counts.set(key, count + 1);
      return {
        outcome: 'reserved',
        attempt: count + 1,
        left: limits.perClient - count - 1,
        moreAfterSeconds: limits.windowSeconds,
      };
    },
    refund: async () => {},
  };
}

interface LifeRule {
  readonly lifeOf?: (id: SecretId) => string;
  readonly refundLeaves?: (inLife: number) => number;
  readonly sweepForgets?: boolean;
}

/** Counts lives apart from the store, by another rule. */
function countingLives(store: Store, rule: LifeRule): Store {
  const { lifeOf = (id) => id.toHex(), refundLeaves = (inLife) => inLife - 1 } = rule;
  const lives = new Map<string, number>();
  const inLife = (id: SecretId) => lives.get(lifeOf(id)) ?? 0;
  return {
    ...store,
    async reserve(id, client, limits) {
      if (inLife(id) >= limits.perLife) return { outcome: 'exhausted', retryAfterSeconds: 1 };
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
    defect: 'a claim ignores the version that was found',
    caughtBy: 'a claim takes only the version that was found',
    seed: (store) => ({
      ...store,
      claim: (secret) => store.claim({ ...secret, rowVersion: 1 }, clientStays),
    }),
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
          const all = await store.listReceipts(owner, { limit: 1_000 });
          offset += limit;
          return all.slice(offset - limit, offset);
        },
      };
    },
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
  ...mailDefects,
  ...memoDefects,
  ...accountDefects,
  ...clockDefects,
  ...domainDefects,
  ...sweepDefects,
];
