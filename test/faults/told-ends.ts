/** Every way in which a secret, a token or a guess can end, every way in which that is told, and what is told then. */
import type { AccountId } from '../../src/core/account.ts';
import type { StoredSecret } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import { limits, newClient } from '../stores/conformance/attempt-fixtures.ts';
import { clientStays, found, newRecord } from '../stores/conformance/check.ts';
import { idsOf, lookFor, powerlossTime, sealedOf, tagOf } from './powerloss-ledger.ts';

/** What is ended: both processes make the rest from its number. */
export interface Subject {
  readonly n: number;
  readonly owner: AccountId;
  readonly tokenId: number;
}

/** Each subject is under a root of its own. */
const rootOf = ({ n }: Subject): number => n + 2;
const tokenHashOf = (n: number): Uint8Array => sealedOf(n).slice(0, 32);
const few = { ...limits, perClient: 3, perNetwork: 3, perSecret: 3, keptForNewcomers: 0 };

function recordOf(subject: Subject) {
  const kid = rootOf(subject);
  const sealedSecret = sealedOf(subject.n);
  sealedSecret.set([2, kid >> 8, kid & 255]);
  return newRecord(powerlossTime, { ...idsOf(subject.n), owner: subject.owner, sealedSecret });
}

export async function prepare(store: Store, n: number): Promise<{ subject: Subject; target: StoredSecret }> {
  const account = { username: `owner-${n}@example.org`, plan: 'basic', createdAt: powerlossTime } as const;
  const token = {
    tokenHash: tokenHashOf(n),
    name: 'default',
    wrappedDataKey: new Uint8Array(76),
    scopes: [],
    createdAt: powerlossTime,
    expiresAt: null,
  };
  const owner = (await store.createAccount(account, token))?.id as AccountId;
  const tokenId = (await store.findToken(token.tokenHash))?.token.tokenId ?? 0;
  const subject = { n, owner, tokenId };
  await store.put(recordOf(subject));
  return { subject, target: await found(store, idsOf(n).secretId) };
}

type Door = (store: Store, subject: Subject, target: StoredSecret) => Promise<unknown>;

const doors = {
  'a claim': (store, _subject, target) => store.claim(target, clientStays),
  'the secret': async (store, { n }) => (await store.findSecret(idsOf(n).secretId)) && 'waits',
  'the receipt': async (store, { n }) => (await store.findReceipt(idsOf(n).receiptId))?.state,
  'the list of receipts': async (store, { owner }) =>
    (await store.listReceipts(owner, { limit: 9, after: null }))?.map(({ state }) => state).join(),
  'the look': async (store, { n }) => (await store.findLook(idsOf(n).secretId, tagOf(n))) !== null,
  'any look': async (store, { n }) => (await store.findAnyLook(idsOf(n).secretId)) !== null,
  'one more answer': (store, { n }) => store.takeAnswer(idsOf(n).secretId, tagOf(n), clientStays),
  'a burn by the link': (store, _subject, target) => store.burnFound(target, clientStays),
  'a burn': (store, { n }) => store.burn(idsOf(n).receiptId, clientStays),
  'a view': (store, { n }) => store.markViewed(idsOf(n).receiptId),
  'another expiry': (store, { n }, { expiresAt, sealedSecret }) =>
    store.setExpiry(idsOf(n).receiptId, expiresAt, {
      expiresAt: expiresAt + 1,
      receiptExpiresAt: expiresAt + 2,
      noticeDueAt: null,
      sealedSecret,
    }),
  'another wrapping': (store, { n }, { sealedSecret }) =>
    store.replaceWrapping(idsOf(n).secretId, sealedSecret, sealedSecret),
  'a mail of it': (store, { n }) =>
    store.queueDelivery(idsOf(n).receiptId, { staleAt: powerlossTime + 60, noteBox: null, addressBox: null }),
  'the count of what waits': async (store, { owner }) => (await store.countOwned(owner)).waiting,
  'the roots in use': async (store, subject) => (await store.rootKidsInUse()).includes(rootOf(subject)),
  'the token': async (store, { n }) => (await store.findToken(tokenHashOf(n))) && 'counts',
  'the lock': async (store, { n }) => (await store.findLocks([idsOf(n).secretId], few))[0] !== null,
  'a guess': async (store, { n }) => (await store.reserve(idsOf(n).secretId, newClient(), few)).outcome,
} satisfies Record<string, Door>;

export type DoorName = keyof typeof doors;
export const ask = (door: DoorName, ...args: Parameters<Door>): Promise<unknown> =>
  (doors[door] as Door)(...args);

interface End {
  readonly end: (store: Store, subject: Subject) => Promise<unknown>;
  readonly told: Partial<Record<DoorName, unknown>>;
}

const ended = (state: 'received' | 'burned', hasLook = false): End['told'] => ({
  'a claim': 'gone',
  'the secret': null,
  'the receipt': state,
  'the list of receipts': state,
  'the look': hasLook,
  'any look': hasLook,
  'one more answer': hasLook ? 'answered' : 'gone',
  'a burn by the link': null,
  'a burn': null,
  'a view': null,
  'another expiry': false,
  'another wrapping': false,
  'a mail of it': 'gone',
  'the count of what waits': 0,
  'the roots in use': false,
});

export const ends = {
  'a claim': {
    end: async (store, { n }) => store.claim(await found(store, idsOf(n).secretId), clientStays),
    told: ended('received'),
  },
  'a claim with a look': {
    end: async (store, { n }) => store.claim(await found(store, idsOf(n).secretId), clientStays, lookFor(n)),
    told: ended('received', true),
  },
  'a burn': {
    end: (store, { n }) => store.burn(idsOf(n).receiptId, clientStays),
    told: ended('burned'),
  },
  'a burn by the link': {
    end: async (store, { n }) => store.burnFound(await found(store, idsOf(n).secretId), clientStays),
    told: ended('burned'),
  },
  'the burn of everything': { end: (store) => store.burnAll(null, 1_000), told: ended('burned') },
  'the deletion of its account': {
    async end(store, { owner }) {
      await store.deleteAccount(owner);
      await store.continueDeletion(owner, 100);
    },
    told: { 'the token': null },
  },
  'the end of its token': {
    end: (store, { owner, tokenId }) => store.revokeToken(owner, tokenId),
    told: { 'the token': null },
  },
  'the last guess': {
    end: (store, { n }) =>
      Promise.all([1, 2, 3].map(() => store.reserve(idsOf(n).secretId, newClient(), few))),
    told: { 'the lock': true, 'a guess': 'exhausted' },
  },
} satisfies Record<string, End>;

export type EndName = keyof typeof ends;
export const endNames = Object.keys(ends) as EndName[];
export const toldOf = (end: EndName): End['told'] => ends[end].told;
