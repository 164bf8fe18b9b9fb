/**
 * Stores with one seeded defect each in what the operator decides about an account.
 */
import type { AccountId } from '../../src/core/account.ts';
import { noTicketLimits } from './conformance/account-fixtures.ts';
import type { SeededDefect } from './defects.ts';

/** Lets everything else that is ready run first. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const ended = 'a lock ends every session of its account and no other, and none begins until it is lifted';
const underWay = 'a change of password and a token that were under way when the lock came are refused';
const voided = 'a lock voids the reset links of its account, and none that follows works while it lasts';

/** Does as the method does without a lock, and locks again. */
const withoutLock =
  (method: 'addSession' | 'changePassword' | 'addOwnToken'): SeededDefect['seed'] =>
  (store) => {
    const call = store[method] as (id: AccountId, ...rest: unknown[]) => Promise<unknown>;
    return {
      ...store,
      async [method](id: AccountId, ...rest: unknown[]) {
        const wasLocked = await store.unlockAccount(id);
        const result = await call(id, ...rest);
        if (wasLocked) await store.lockAccount(id);
        return result;
      },
    };
  };

const lockDefects: readonly SeededDefect[] = [
  {
    defect: 'a lock keeps the sessions',
    caughtBy: ended,
    seed: (store) => ({
      ...store,
      async lockAccount(id) {
        const sessions = await store.listSessions(id);
        const username = (await store.findAccountById(id))?.username ?? '';
        const verifier = (await store.findPassword(username))?.password?.verifier;
        const locked = await store.lockAccount(id);
        if (!locked || verifier === undefined) return locked;
        await store.unlockAccount(id);
        for (const session of sessions) await store.addSession(id, verifier, session);
        return true;
      },
    }),
  },
  { defect: 'a session begins in a locked account', caughtBy: ended, seed: withoutLock('addSession') },
  {
    defect: 'a password changes in a locked account',
    caughtBy: underWay,
    seed: withoutLock('changePassword'),
  },
  {
    defect: 'a person makes a token in a locked account',
    caughtBy: underWay,
    seed: withoutLock('addOwnToken'),
  },
  {
    defect: 'a second lock moves its time',
    caughtBy: ended,
    seed: (store) => ({
      ...store,
      async lockAccount(id) {
        const wasLocked = await store.unlockAccount(id);
        return (await store.lockAccount(id)) && !wasLocked;
      },
    }),
  },
  {
    defect: 'a lock is never lifted',
    caughtBy: ended,
    seed: (store) => ({ ...store, unlockAccount: async () => true }),
  },
  {
    defect: 'a lock is looked for, then a session begun',
    caughtBy: 'of log-ins and a lock at once no session is left',
    seed: (store) => ({
      ...store,
      async addSession(id, verifier, session) {
        if ((await store.findAccountById(id))?.lockedAt !== null) return null;
        await turn();
        await store.unlockAccount(id);
        return store.addSession(id, verifier, session);
      },
    }),
  },
  {
    defect: 'a lock leaves the reset links',
    caughtBy: voided,
    seed(store) {
      const kept = new Map<string, Awaited<ReturnType<typeof store.findTicket>>>();
      return {
        ...store,
        async addTicket(ticket, limits) {
          kept.set(ticket.ticketHash.toHex(), ticket);
          return store.addTicket(ticket, limits);
        },
        findTicket: async (kind, hash) =>
          (await store.findTicket(kind, hash)) ?? kept.get(hash.toHex()) ?? null,
      };
    },
  },
  {
    defect: 'a reset link sets the password of a locked account',
    caughtBy: voided,
    seed: (store) => ({
      ...store,
      async redeemReset(ticketHash, password, tokens) {
        const ticket = await store.findTicket('reset', ticketHash);
        const account = await store.findAccount(ticket?.username ?? '');
        if (account !== null) await store.unlockAccount(account.id);
        return store.redeemReset(ticketHash, password, tokens);
      },
    }),
  },
  {
    defect: 'a link is handed over for a locked account',
    caughtBy: voided,
    seed: (store) => ({
      ...store,
      async replaceResetTickets(id, ticket) {
        await store.unlockAccount(id);
        return store.replaceResetTickets(id, ticket);
      },
    }),
  },
  {
    defect: 'a lock revokes the tokens',
    caughtBy: 'a locked account keeps its password and tokens, which say so',
    seed: (store) => ({
      ...store,
      async lockAccount(id) {
        for (const { tokenId } of await store.listTokens(id)) await store.revokeToken(id, tokenId);
        return store.lockAccount(id);
      },
    }),
  },
  {
    defect: 'a token does not say that its account is locked',
    caughtBy: 'a locked account keeps its password and tokens, which say so',
    seed: (store) => ({
      ...store,
      async findToken(hash) {
        const found = await store.findToken(hash);
        return found && { ...found, account: { ...found.account, lockedAt: null } };
      },
    }),
  },
  {
    defect: 'a lock burns what its account has shared',
    caughtBy: 'what a locked account has created stays: links open, and receipts tell',
    seed: (store) => ({ ...store, claim: async () => 'gone' }),
  },
];

const replaced =
  'a link that is handed over replaces every reset link of its account and no other, whatever the limits';

const linkDefects: readonly SeededDefect[] = [
  {
    defect: 'a link that is handed over lives beside earlier ones',
    caughtBy: replaced,
    seed: (store) => ({
      ...store,
      async replaceResetTickets(id, ticket) {
        const username = (await store.findAccountById(id))?.username;
        if (username === undefined) return false;
        return store.addTicket({ ...ticket, kind: 'reset', username }, noTicketLimits);
      },
    }),
  },
  {
    defect: 'a link that is handed over waits its turn among the mailed ones',
    caughtBy: replaced,
    seed: (store) => ({
      ...store,
      async replaceResetTickets(id, ticket) {
        const username = (await store.findAccountById(id))?.username ?? '';
        const limits = { maxLive: 3, quietSeconds: [60], windowSeconds: 86_400 };
        return (
          (await store.addTicket({ ...ticket, kind: 'reset', username }, limits)) &&
          store.replaceResetTickets(id, ticket)
        );
      },
    }),
  },
  {
    defect: 'the link of an invitation that was refused is kept',
    caughtBy: 'of many that invite one username at once one does, and the links of the others set nothing',
    seed: (store) => ({
      ...store,
      async inviteAccount(account, ticket) {
        const made = await store.inviteAccount(account, ticket);
        const { username } = account;
        if (made === null) await store.addTicket({ ...ticket, kind: 'reset', username }, noTicketLimits);
        return made;
      },
    }),
  },
  {
    defect: 'the link of an invitation works again and again',
    caughtBy:
      'an invited account has neither a password nor a token, and its link sets its first password, once',
    seed: (store) => ({
      ...store,
      async redeemReset(ticketHash, password, tokens) {
        const ticket = await store.findTicket('reset', ticketHash);
        const account = await store.redeemReset(ticketHash, password, tokens);
        return account ?? (ticket === null ? store.findAccount('ann@example.org') : null);
      },
    }),
  },
];

const lastUse =
  'the last use of an account is the latest of its tokens and sessions, also once they are gone';

const listDefects: readonly SeededDefect[] = [
  {
    defect: 'tokens that have expired are listed as live',
    caughtBy: 'an account is listed with whether it has a password, and with its live tokens',
    seed: (store) => ({
      ...store,
      listAccounts: async () =>
        Promise.all(
          (await store.listAccounts()).map(async (each) => ({
            ...each,
            tokens: (await store.listTokens(each.id)).length,
          })),
        ),
    }),
  },
  {
    defect: 'the last use of an account is that of its tokens, and ends with them',
    caughtBy: lastUse,
    seed: (store) => ({
      ...store,
      listAccounts: async () =>
        Promise.all(
          (await store.listAccounts()).map(async (each) => ({
            ...each,
            lastUsedAt: (await store.listTokens(each.id))[0]?.lastUsedAt ?? null,
          })),
        ),
    }),
  },
  {
    defect: 'what has ended is counted as waiting',
    caughtBy: 'what an account has created is counted, and what of it waits at store time',
    seed: (store) => ({
      ...store,
      async countOwned(id) {
        const { receipts } = await store.countOwned(id);
        return { waiting: receipts, receipts };
      },
    }),
  },
];

export const accountAccessDefects: readonly SeededDefect[] = [...lockDefects, ...linkDefects, ...listDefects];
