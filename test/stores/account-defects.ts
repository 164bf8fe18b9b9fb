/**
 * Stores with one seeded defect each in accounts, passwords, tickets, sessions or their end.
 *
 * Owns: the tooth checks of those promises (see `defects.ts`).
 */
import type { StoredTicket } from '../../src/domain/accounts.ts';
import type { NewRecord } from '../../src/domain/secret.ts';
import { noTicketLimits } from '../../src/store/conformance/account-fixtures.ts';
import { createMemoryAccounts } from '../../src/store/memory/accounts.ts';
import { createMemoryRecords, type MemoryRecords } from '../../src/store/memory/records.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { createStoreTime } from '../../src/store/store-time.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A memory store whose records answer an account's end in another way. */
function storeWithEndOwned(
  endOwned: (records: MemoryRecords) => MemoryRecords['endOwned'],
): SeededDefect['seed'] {
  return (store, subject) => {
    const time = createStoreTime(subject.wallClock.read);
    const records = createMemoryRecords(time);
    const accounts = createMemoryAccounts(time, { ...records, endOwned: endOwned(records) });
    return { ...store, ...records.store, ...accounts.store };
  };
}

/** What deletion has to erase, as it was given to `put`. */
function keepingRecentBoxes(store: Store): Store {
  const given = new Map<string, NewRecord['recentBox']>();
  return {
    ...store,
    async put(record) {
      given.set(record.receiptId.toHex(), record.recentBox);
      await store.put(record);
    },
    async findReceipt(id) {
      const receipt = await store.findReceipt(id);
      return receipt && { ...receipt, recentBox: given.get(id.toHex()) ?? null };
    },
  };
}

const ticketDefects: readonly SeededDefect[] = [
  {
    defect: 'a sign-up ticket is looked for, then used',
    caughtBy: 'of fifty uses of a sign-up ticket at once exactly one makes the account',
    seed: (store) => ({
      ...store,
      async redeemSignUp(ticketHash, account, password) {
        const ticket = await store.findTicket('sign_up', ticketHash);
        if (ticket === null) return 'gone';
        await turn();
        const made = await store.redeemSignUp(ticketHash, account, password);
        return made === 'gone' ? ((await store.findAccount(ticket.username)) ?? 'gone') : made;
      },
    }),
  },
  {
    defect: 'a reset ticket is looked for, then used',
    caughtBy: 'of fifty uses of a reset ticket at once exactly one sets the password',
    seed: (store) => ({
      ...store,
      async redeemReset(ticketHash, password) {
        const ticket = await store.findTicket('reset', ticketHash);
        if (ticket === null) return null;
        await turn();
        return (await store.redeemReset(ticketHash, password)) ?? store.findAccount(ticket.username);
      },
    }),
  },
  {
    defect: 'a later ticket replaces the earlier one',
    caughtBy: 'tickets of one kind and username live side by side',
    seed(store) {
      const newest = new Map<string, Uint8Array>();
      const isNewest = (place: string, hash: Uint8Array) => newest.get(place)?.toHex() === hash.toHex();
      return {
        ...store,
        async addTicket(ticket, limits) {
          const kept = await store.addTicket(ticket, limits);
          if (kept) newest.set(`${ticket.kind} ${ticket.username}`, ticket.ticketHash.slice());
          return kept;
        },
        async findTicket(kind, hash) {
          const found = await store.findTicket(kind, hash);
          return found !== null && isNewest(`${kind} ${found.username}`, hash) ? found : null;
        },
      };
    },
  },
  {
    defect: 'a ticket beyond the limit takes the place of the oldest',
    caughtBy:
      'a username gets no more live tickets of a kind than the limit, also of many at once, and keeps each until it ends',
    seed(store) {
      const kept: StoredTicket[] = [];
      const isOut = (ticket: StoredTicket) => {
        const same = kept.filter(
          ({ kind, username }) => kind === ticket.kind && username === ticket.username,
        );
        return !same.slice(-3).includes(ticket);
      };
      return {
        ...store,
        async addTicket(ticket, limits) {
          kept.push(ticket);
          return store.addTicket(ticket, { ...limits, maxLive: 1_000 });
        },
        async findTicket(kind, hash) {
          const ticket = kept.find((each) => each.ticketHash.toHex() === hash.toHex());
          return ticket !== undefined && isOut(ticket) ? null : store.findTicket(kind, hash);
        },
      };
    },
  },
  {
    defect: 'the quiet time of tickets is looked at, then begun',
    caughtBy: 'within the quiet time a username gets no second ticket of a kind, also of many at once',
    seed(store) {
      const made = new Map<string, number>();
      return {
        ...store,
        async addTicket(ticket, limits) {
          const place = `${ticket.kind} ${ticket.username}`;
          const last = made.get(place) ?? Number.NEGATIVE_INFINITY;
          await turn();
          if (ticket.createdAt - last < (limits.quietSeconds[0] ?? 0)) return false;
          made.set(place, ticket.createdAt);
          return store.addTicket(ticket, { ...limits, quietSeconds: [0] });
        },
      };
    },
  },
  {
    defect: 'the quiet time of tickets stays as short as the first',
    caughtBy: 'the quiet time grows with every ticket of the window, and what was refused does not count',
    seed: (store) => ({
      ...store,
      addTicket: (ticket, limits) =>
        store.addTicket(ticket, { ...limits, quietSeconds: limits.quietSeconds.slice(0, 1) }),
    }),
  },
  {
    defect: 'only live tickets count against the next one',
    caughtBy:
      'tickets that were used, voided, expired or swept past their end count until the window has passed',
    seed: (store) => ({
      ...store,
      addTicket: (ticket, limits) =>
        store.addTicket(ticket, { ...limits, windowSeconds: ticket.expiresAt - ticket.createdAt }),
    }),
  },
  {
    defect: 'the use of a ticket leaves the others as they are',
    caughtBy: 'the use of a ticket voids every other of its kind and username, and no other',
    seed(store) {
      const kept: StoredTicket[] = [];
      return {
        ...store,
        async addTicket(ticket, limits) {
          kept.push(ticket);
          return store.addTicket(ticket, limits);
        },
        async redeemReset(ticketHash, password) {
          const account = await store.redeemReset(ticketHash, password);
          for (const each of kept)
            if (account !== null && each.ticketHash.toHex() !== ticketHash.toHex())
              await store.addTicket(each, noTicketLimits).catch(() => false);
          return account;
        },
      };
    },
  },
  {
    defect: 'a ticket of one kind works for the other',
    caughtBy: 'a ticket works for its own kind only',
    seed: (store) => ({
      ...store,
      async redeemReset(ticketHash, password) {
        const signUp = await store.findTicket('sign_up', ticketHash);
        const account = { plan: 'basic', createdAt: store.now() } as const;
        if (signUp === null) return store.redeemReset(ticketHash, password);
        const made = await store.redeemSignUp(ticketHash, account, password);
        return typeof made === 'object' ? made : null;
      },
    }),
  },
];

const sessionDefects: readonly SeededDefect[] = [
  {
    defect: 'a change of password keeps the other sessions',
    caughtBy: 'a change of password ends every session but the one that it keeps',
    seed: (store) => ({
      ...store,
      async changePassword(id, from, to, keepSessionId) {
        const others = (await store.listSessions(id)).filter((each) => each.sessionId !== keepSessionId);
        const changed = await store.changePassword(id, from, to, keepSessionId);
        for (const session of others) await store.addSession(id, to.verifier, session);
        return changed;
      },
    }),
  },
  {
    defect: 'a reset keeps the sessions',
    caughtBy: 'a reset ends every session of its account and no other',
    seed: (store) => ({
      ...store,
      async redeemReset(ticketHash, password) {
        const ticket = await store.findTicket('reset', ticketHash);
        const account = await store.findAccount(ticket?.username ?? '');
        const sessions = account === null ? [] : await store.listSessions(account.id);
        const reset = await store.redeemReset(ticketHash, password);
        for (const session of sessions) await store.addSession(session.accountId, password.verifier, session);
        return reset;
      },
    }),
  },
  {
    defect: 'a log-in outlives a change of password',
    caughtBy: 'a log-in that began before a change of password does not outlive it',
    seed: (store) => ({
      ...store,
      async addSession(id, verifier, session) {
        const username = (await store.findAccountById(id))?.username ?? '';
        const current = (await store.findPassword(username))?.password?.verifier;
        return store.addSession(id, current ?? verifier, session);
      },
    }),
  },
  {
    defect: 'the password of a log-in is checked, then its session begun',
    caughtBy: 'a log-in that began before a change of password does not outlive it',
    seed: (store) => ({
      ...store,
      async addSession(id, verifier, session) {
        const username = (await store.findAccountById(id))?.username ?? '';
        const seen = (await store.findPassword(username))?.password?.verifier;
        if (seen === undefined || Buffer.compare(seen, verifier) !== 0) return null;
        await turn();
        const current = (await store.findPassword(username))?.password?.verifier ?? verifier;
        return store.addSession(id, current, session);
      },
    }),
  },
  {
    defect: 'a token that was asked for with a password is added whatever the password is by then',
    caughtBy: 'a token that was asked for with a password is added while that is the password, and not later',
    seed: (store) => ({ ...store, addOwnToken: (id, _verifier, token) => store.addToken(id, token) }),
  },
  {
    defect: 'a session is found for one second after its expiry',
    caughtBy:
      'a session lives until the instant of its expiry, and neither a use nor the wall clock revives it',
    seed: (_store, subject) => createMemoryStore({ clock: () => subject.wallClock.read() - 1 }),
  },
  {
    defect: 'a use revives a session that has expired',
    caughtBy:
      'a session lives until the instant of its expiry, and neither a use nor the wall clock revives it',
    seed(store) {
      const revived = new Set<number>();
      const known = new Map<string, NonNullable<Awaited<ReturnType<Store['findSession']>>>>();
      return {
        ...store,
        async noteSessionUse(sessionId, at, expiresAt) {
          revived.add(sessionId);
          await store.noteSessionUse(sessionId, at, expiresAt);
        },
        async findSession(sessionHash) {
          const found = await store.findSession(sessionHash);
          if (found !== null) known.set(sessionHash.toHex(), found);
          const last = known.get(sessionHash.toHex());
          return found ?? (last !== undefined && revived.has(last.session.sessionId) ? last : null);
        },
      };
    },
  },
  {
    defect: 'anybody may end a session',
    caughtBy: 'a session is ended once, and only by its own account',
    seed: (store) => ({
      ...store,
      async endSession(id, sessionId) {
        const owners = (await store.listAccounts()).map((account) => account.id);
        for (const owner of [id, ...owners]) if (await store.endSession(owner, sessionId)) return true;
        return false;
      },
    }),
  },
];

const deletionDefects: readonly SeededDefect[] = [
  {
    defect: 'a deleted account’s secrets can still be read',
    caughtBy: 'a deletion burns every waiting secret of its account, at store time, and counts those',
    seed: storeWithEndOwned(() => () => 3),
  },
  {
    defect: 'a deletion burns the secrets of everybody',
    caughtBy: 'the deletion of an account leaves every other as it is',
    seed: (store) => ({
      ...store,
      async deleteAccount(id) {
        const burned = await store.deleteAccount(id);
        for (const account of await store.listAccounts()) {
          for (const each of await store.listReceipts(account.id, { limit: 10 }))
            await store.burn(each.receiptId);
        }
        return burned;
      },
    }),
  },
  {
    defect: 'a deletion keeps the recent boxes',
    caughtBy: 'a deletion erases the recent box of every receipt of its account, and the receipts stay',
    seed: keepingRecentBoxes,
  },
  {
    defect: 'a deletion counts the waiting secrets, then burns them',
    caughtBy: 'of claims and a deletion at once exactly one wins each secret',
    seed: (store) => ({
      ...store,
      async deleteAccount(id) {
        const receipts = await store.listReceipts(id, { limit: 100 });
        await turn();
        const deleted = await store.deleteAccount(id);
        return deleted === null ? null : receipts.filter((each) => each.state === 'waiting').length;
      },
    }),
  },
  {
    defect: 'a secret is stored for an account that was deleted',
    caughtBy: 'nothing is added to an account that was deleted',
    seed: (store) => ({
      ...store,
      put: (record) => store.put(record).catch(() => store.put({ ...record, owner: null })),
    }),
  },
  {
    defect: 'a deletion forgets the sessions',
    caughtBy:
      'a deleted account is gone with its password, tokens, sessions, tickets, share domains and logos',
    seed(store) {
      const begun = new Map<string, Awaited<ReturnType<Store['findSession']>>>();
      return {
        ...store,
        async addSession(id, verifier, session) {
          const stored = await store.addSession(id, verifier, session);
          begun.set(session.sessionHash.toHex(), await store.findSession(session.sessionHash));
          return stored;
        },
        findSession: async (hash) => (await store.findSession(hash)) ?? begun.get(hash.toHex()) ?? null,
      };
    },
  },
];

export const accountDefects: readonly SeededDefect[] = [
  ...ticketDefects,
  ...sessionDefects,
  ...deletionDefects,
];
