/**
 * Stores with one seeded defect each in accounts, passwords, sessions, tokens or account deletion (see `defects.ts`).
 */
import type { NewRecord } from '../../src/core/secret.ts';
import type { Store } from '../../src/store/store.ts';
import { slowClock } from '../support/clocks.ts';
import { accountAccessDefects } from './account-access-defects.ts';
import { clientStays, recentOf } from './conformance/check.ts';
import type { SeededDefect } from './defects.ts';
import { createMemoryStore } from './memory.ts';
import { ticketDefects } from './ticket-defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A store that keeps recent boxes as given to `put`, which deletion should erase. */
function keepingRecentBoxes(store: Store): Store {
  const given = new Map<string, NewRecord['recentBox']>();
  return {
    ...store,
    async put(record) {
      given.set(record.receiptId.toHex(), record.recentBox);
      await store.put(record);
    },
    async findReceipt(...args) {
      const receipt = await store.findReceipt(...args);
      return receipt && { ...receipt, recentBox: given.get(args[0].toHex()) ?? null };
    },
  };
}

const sessionDefects: readonly SeededDefect[] = [
  {
    defect: 'a change of password keeps the other sessions',
    caughtBy: 'a change of password ends every session but the one that it keeps',
    seed: (store) => ({
      ...store,
      async changePassword(id, from, to, keepSessionId, tokens) {
        const others = (await store.listSessions(id)).filter((each) => each.sessionId !== keepSessionId);
        const changed = await store.changePassword(id, from, to, keepSessionId, tokens);
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
      async redeemReset(ticketHash, password, tokens) {
        const ticket = await store.findTicket('reset', ticketHash);
        const account = await store.findAccount(ticket?.username ?? '');
        const sessions = account === null ? [] : await store.listSessions(account.id);
        const reset = await store.redeemReset(ticketHash, password, tokens);
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
    defect: 'a session is found for one second after its expiry',
    caughtBy:
      'a session lives until the instant of its expiry, and neither a use nor the wall clock revives it',
    seed: (_store, subject) => createMemoryStore({ clock: slowClock(subject.wallClock) }),
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

const revoking =
  'a reset and a change of password revoke the tokens of their account and no other’s if asked, and keep them if not';

const tokenDefects: readonly SeededDefect[] = [
  {
    defect: 'a reset keeps the tokens that were to be revoked',
    caughtBy: revoking,
    seed: (store) => ({
      ...store,
      redeemReset: (ticketHash, password) => store.redeemReset(ticketHash, password, 'keep'),
    }),
  },
  {
    defect: 'a reset revokes the tokens whatever was asked',
    caughtBy: revoking,
    seed: (store) => ({
      ...store,
      redeemReset: (ticketHash, password) => store.redeemReset(ticketHash, password, 'revoke'),
    }),
  },
  {
    defect: 'the tokens are revoked, then the password is compared',
    caughtBy: revoking,
    seed: (store) => ({
      ...store,
      async changePassword(id, from, to, keepSessionId, tokens) {
        const revoked = tokens === 'revoke' ? await store.listTokens(id) : [];
        for (const { tokenId } of revoked) await store.revokeToken(id, tokenId);
        return store.changePassword(id, from, to, keepSessionId, 'keep');
      },
    }),
  },
  {
    defect: 'a token that was asked for with a password is added whatever the password is by then',
    caughtBy: 'a token that was asked for with a password is added while that is the password, and not later',
    seed: (store) => ({ ...store, addOwnToken: (id, _verifier, token) => store.addToken(id, token) }),
  },
];

const deletionDefects: readonly SeededDefect[] = [
  {
    defect: 'a deleted account’s secrets can still be read',
    caughtBy: 'a deletion burns every waiting secret of its account, at store time, and counts those',
    seed: (store) => ({ ...store, continueDeletion: async () => ({ outcome: 'finished', burned: 3 }) }),
  },
  {
    defect: 'a deletion burns the secrets of everybody',
    caughtBy: 'the deletion of an account leaves every other as it is',
    seed: (store) => ({
      ...store,
      async continueDeletion(id, limit) {
        const step = await store.continueDeletion(id, limit);
        for (const account of await store.listAccounts()) {
          for (const each of await recentOf(store, account.id)) await store.burn(each.receiptId, clientStays);
        }
        return step;
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
      async continueDeletion(id, limit) {
        const receipts = await recentOf(store, id, 100);
        await turn();
        const step = await store.continueDeletion(id, limit);
        return step && { ...step, burned: receipts.filter((each) => each.state === 'waiting').length };
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
    defect: 'a deletion burns everything at once',
    caughtBy:
      'a deletion goes on in batches, is listed until it is finished, and counts what all of them have burned',
    seed: (store) => ({ ...store, continueDeletion: (id) => store.continueDeletion(id, 1_000) }),
  },
  {
    defect: 'each call of a deletion counts its own',
    caughtBy:
      'a deletion goes on in batches, is listed until it is finished, and counts what all of them have burned',
    seed(store) {
      let before = 0;
      return {
        ...store,
        async continueDeletion(id, limit) {
          const step = await store.continueDeletion(id, limit);
          const burned = (step?.burned ?? 0) - before;
          before = step?.burned ?? 0;
          return step && { ...step, burned };
        },
      };
    },
  },
  {
    defect: 'a deletion is forgotten by the call that finishes it',
    caughtBy: 'a finished deletion is told to all who share it, and forgotten by a sweep an hour later',
    seed: (store) => ({
      ...store,
      async continueDeletion(id, limit) {
        const step = await store.continueDeletion(id, limit);
        return step?.outcome === 'was_finished' ? null : step;
      },
    }),
  },
  {
    defect: 'a finished deletion is never forgotten',
    caughtBy: 'a finished deletion is told to all who share it, and forgotten by a sweep an hour later',
    seed(store) {
      const told = new Map<number, Awaited<ReturnType<Store['continueDeletion']>>>();
      return {
        ...store,
        async continueDeletion(id, limit) {
          const step = await store.continueDeletion(id, limit);
          if (step !== null) told.set(id, { outcome: 'was_finished', burned: step.burned });
          return step ?? told.get(id) ?? null;
        },
      };
    },
  },
  {
    defect: 'every caller that finds a deletion finished is told that it did it',
    caughtBy: 'a finished deletion is told to all who share it, and forgotten by a sweep an hour later',
    seed: (store) => ({
      ...store,
      async continueDeletion(id, limit) {
        const step = await store.continueDeletion(id, limit);
        return step?.outcome === 'was_finished' ? { ...step, outcome: 'finished' } : step;
      },
    }),
  },
  {
    defect: 'a deletion is not listed for others to finish',
    caughtBy:
      'a deletion goes on in batches, is listed until it is finished, and counts what all of them have burned',
    seed: (store) => ({ ...store, listDeletions: async () => [] }),
  },
  {
    defect: 'the account of a record is looked for, then the record is stored',
    caughtBy: 'whatever is stored while its account is being deleted is burned with it',
    seed: (store) => ({
      ...store,
      async put(record) {
        const { owner } = record;
        const isThere = owner === null || (await store.findAccountById(owner)) !== null;
        await turn();
        await store.put(isThere ? { ...record, owner: null } : record);
      },
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

const rootDefects: readonly SeededDefect[] = [
  {
    defect: 'the check of a root is told as it was given, not as it is kept',
    caughtBy: 'of many that keep a check of one root at once, all are told the same',
    seed: (store) => ({
      ...store,
      async addRootCheck(kid, check) {
        await store.addRootCheck(kid, check);
        return check;
      },
    }),
  },
  {
    defect: 'the check of a root is looked for, then kept',
    caughtBy: 'of many that keep a check of one root at once, all are told the same',
    seed(store) {
      const checks = new Map<number, Uint8Array>();
      return {
        ...store,
        findRootCheck: async (kid) => checks.get(kid) ?? null,
        async addRootCheck(kid, check) {
          const known = checks.get(kid);
          await turn();
          checks.set(kid, known ?? check);
          return known ?? check;
        },
      };
    },
  },
  {
    defect: 'the oldest root in use is forgotten',
    caughtBy:
      'the roots in use hold every root that live records are wrapped under, each once, and none that never was',
    seed: (store) => ({ ...store, rootKidsInUse: async () => (await store.rootKidsInUse()).slice(1) }),
  },
];

export const accountDefects: readonly SeededDefect[] = [
  ...rootDefects,
  ...ticketDefects,
  ...sessionDefects,
  ...tokenDefects,
  ...accountAccessDefects,
  ...deletionDefects,
];
