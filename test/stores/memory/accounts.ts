/**
 * Accounts, their tokens and the check values of the wrapping roots, in memory. Deleting an account deletes all that
 * belongs to it.
 */

import type { Account, AccountId, ListedAccount, StoredToken } from '../../../src/core/account.ts';
import type { AccountRegister, AccountStore } from '../../../src/core/ports/accounts.ts';
import type { DeletionStore } from '../../../src/core/ports/deletion.ts';
import type { DomainStore } from '../../../src/core/ports/domains.ts';
import type { RootStore, RotationStore } from '../../../src/core/ports/roots.ts';
import type { NewToken, TokenStore } from '../../../src/core/ports/tokens.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import { noticeKinds } from '../../../src/protocol/vocabulary.ts';
import { finishedDeletionSeconds } from '../../../src/store/store.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';
import {
  type AccountTables,
  accountNamed,
  assertAccount,
  copyOfToken,
  insertAccount,
  noteAccountUse,
  sameBytes,
} from './account-tables.ts';
import { createMemoryDomains } from './domains.ts';
import { createMemoryPasswords, voidTickets } from './passwords.ts';
import type { MemorySecrets } from './secrets.ts';
import { createMemorySessions, endSessionsOf } from './sessions.ts';

export interface MemoryAccounts {
  readonly store: AccountStore & DomainStore & RootStore & RotationStore;
  /** Forgets up to `limit` expired sessions, tickets that no longer count and finished deletions; returns how many. */
  forgetStale(limit: number): number;
}

/** @param isShared acts as a store shared by several machines */
export function createMemoryAccounts(
  time: Pick<StoreTime, 'now'>,
  records: MemorySecrets,
  tables: AccountTables,
  isShared = false,
): MemoryAccounts {
  const store: AccountStore & DomainStore & RootStore & RotationStore = {
    ...accountMethods(tables, records, time),
    ...tokenMethods(tables),
    ...createMemoryPasswords(tables, time),
    ...createMemorySessions(tables, time),
    ...createMemoryDomains(tables, time),
    ...rootMethods(records, isShared),
  };
  return { store, forgetStale: (limit) => forgetStale(tables, time, limit) };
}

type TokenMethods = TokenStore & Pick<AccountRegister, 'createAccount'>;
type AccountMethods = Omit<AccountRegister, 'createAccount'> & DeletionStore;

function accountMethods(
  tables: AccountTables,
  records: MemorySecrets,
  time: Pick<StoreTime, 'now'>,
): AccountMethods {
  const { accounts } = tables;

  function change(id: AccountId, changes: Partial<Account>): void {
    const account = accounts.get(id);
    if (account !== undefined) accounts.set(id, { ...account, ...changes });
  }

  return {
    findAccount: async (username) => accountNamed(tables, username),
    findAccountById: async (id) => accounts.get(id) ?? null,
    listAccounts: async () => [...accounts.values()].map((account) => listed(tables, account, time.now())),
    hasAccounts: async () => accounts.size > 0,
    countOwned: async (id) => records.countOwned(id),
    async lockAccount(id) {
      const account = accounts.get(id);
      if (account === undefined || account.lockedAt !== null) return false;
      change(id, { lockedAt: time.now() });
      endSessionsOf(tables, id);
      voidTickets(tables, 'reset', account.username);
      return true;
    },
    async unlockAccount(id) {
      if ((accounts.get(id)?.lockedAt ?? null) === null) return false;
      change(id, { lockedAt: null });
      return true;
    },
    setPlan: async (id, plan) => change(id, { plan }),
    setLocale: async (id, locale) => change(id, { locale }),
    async setNotify(id, kinds) {
      change(id, { notify: noticeKinds.filter((kind) => kinds.includes(kind)) });
    },
    setSenderName: async (id, senderName) => change(id, { senderName }),
    async deleteAccount(id) {
      const account = accounts.get(id);
      if (account === undefined) return false;
      deleteWhere(tables.tokens, (token) => token.accountId === id);
      deleteWhere(tables.sessions, (session) => session.accountId === id);
      deleteWhere(tables.tickets, (ticket) => ticket.username === account.username);
      deleteWhere(tables.domains, (domain) => domain.accountId === id);
      tables.passwords.delete(id);
      accounts.delete(id);
      tables.deletions.set(id, { upto: 0, burned: 0, finishedAt: null });
      return true;
    },
    async continueDeletion(id, limit) {
      const known = tables.deletions.get(id);
      if (known === undefined) return null;
      if (known.finishedAt !== null) return { outcome: 'was_finished', burned: known.burned };
      const { burned: more, upto, isLast } = records.endOwned(id, { after: known.upto, limit });
      const burned = known.burned + more;
      tables.deletions.set(id, { upto, burned, finishedAt: isLast ? time.now() : null });
      return { outcome: isLast ? 'finished' : 'more', burned };
    },
    listDeletions: async (limit) =>
      [...tables.deletions]
        .filter(([, { finishedAt }]) => finishedAt === null)
        .map(([id]) => id)
        .slice(0, limit),
  };
}

function listed(tables: AccountTables, account: Account, now: UnixSeconds): ListedAccount {
  const live = [...tables.tokens.values()].filter(
    ({ accountId, expiresAt }) => accountId === account.id && (expiresAt === null || now < expiresAt),
  );
  return {
    ...account,
    hasPassword: tables.passwords.has(account.id),
    tokens: live.length,
    lastUsedAt: tables.lastUses.get(account.id) ?? null,
  };
}

/** Deletes at most `limit` matching entries; returns how many. */
function deleteWhere<Key, Value>(
  map: Map<Key, Value>,
  isOut: (value: Value) => boolean,
  limit = Number.POSITIVE_INFINITY,
): number {
  let deleted = 0;
  for (const [key, value] of map) {
    if (deleted >= limit) break;
    if (isOut(value) && map.delete(key)) deleted += 1;
  }
  return deleted;
}

function forgetStale(tables: AccountTables, time: Pick<StoreTime, 'now'>, limit: number): number {
  const now = time.now();
  let forgotten = deleteWhere(tables.sessions, ({ expiresAt }) => now >= expiresAt, limit);
  forgotten += deleteWhere(tables.tickets, ({ countsUntil }) => now >= countsUntil, limit - forgotten);
  const isForgotten = ({ finishedAt }: { readonly finishedAt: UnixSeconds | null }): boolean =>
    finishedAt !== null && now >= finishedAt + finishedDeletionSeconds;
  return forgotten + deleteWhere(tables.deletions, isForgotten, limit - forgotten);
}

function tokenMethods(tables: AccountTables): TokenMethods {
  const { accounts, tokens } = tables;

  function insert(accountId: AccountId, token: NewToken): StoredToken {
    const tokenId = tables.nextNumber('token');
    tokens.set(tokenId, copyOfToken({ ...token, tokenId, accountId, lastUsedAt: null }));
    return copyOfToken({ ...token, tokenId, accountId, lastUsedAt: null });
  }

  return {
    async createAccount(newAccount, token) {
      const account = insertAccount(tables, newAccount);
      if (account !== null) insert(account.id, token);
      return account;
    },
    async findToken(tokenHash) {
      const token = tokens.values().find((each) => sameBytes(each.tokenHash, tokenHash));
      const account = token === undefined ? undefined : accounts.get(token.accountId);
      return token === undefined || account === undefined ? null : { account, token: copyOfToken(token) };
    },
    async addToken(id, token) {
      assertAccount(tables, id);
      return insert(id, token);
    },
    async addOwnToken(id, verifier, token) {
      const password = tables.passwords.get(id);
      const isOpen = tables.accounts.get(id)?.lockedAt === null;
      return isOpen && password !== undefined && sameBytes(password.verifier, verifier)
        ? insert(id, token)
        : null;
    },
    listTokens: async (id) => [...tokens.values()].filter((each) => each.accountId === id).map(copyOfToken),
    async revokeToken(id, tokenId) {
      return tokens.get(tokenId)?.accountId === id && tokens.delete(tokenId);
    },
    async noteTokenUse(tokenId, at) {
      const token = tokens.get(tokenId);
      if (token === undefined) return;
      tokens.set(tokenId, { ...token, lastUsedAt: Math.max(at, token.lastUsedAt ?? 0) });
      noteAccountUse(tables, token.accountId, at);
    },
  };
}

function rootMethods(records: MemorySecrets, isShared: boolean): RootStore & RotationStore {
  let wasAsked = false;
  const checks = new Map<number, Uint8Array>();
  return {
    findRootCheck: async (kid) => checks.get(kid)?.slice() ?? null,
    async addRootCheck(kid, check) {
      // The first value stays: a root that does not match it must be noticed, not overwrite it (P12).
      const kept = checks.get(kid) ?? check.slice();
      checks.set(kid, kept);
      return kept.slice();
    },
    rootKidsInUse: async () => records.rootKidsInUse(),
    findFirstOpenRoot: async () => records.firstOpenRoot(),
    listUnderOlderRoots: async (...asked) => records.listUnderOlderRoots(...asked),
    findAnyLook: (id) => records.findAnyLook(id),
    replaceWrapping: async (...given) => records.replaceWrapping(...given),
    closeRootsBefore: async (kid) => records.closeRootsBefore(kid),
    // Nothing is kept but the records themselves.
    forgetRoots: async () => {},
    async mayMakeRoots() {
      const isFirst = !wasAsked;
      wasAsked = true;
      return isFirst || !isShared;
    },
  };
}
