/**
 * What the memory store knows of accounts, in one map per kind. Bytes are copied on the way in and out, because
 * callers wipe theirs.
 */

import type {
  Account,
  AccountId,
  NewAccount,
  StoredPassword,
  StoredSession,
  StoredTicket,
  StoredToken,
} from '../../../src/core/account.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { DomainLogo, StoredDomain } from '../../../src/core/share-domain.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';

export interface AccountTables {
  readonly accounts: Map<AccountId, Account>;
  /** When an account was last used. */
  readonly lastUses: Map<AccountId, UnixSeconds>;
  readonly passwords: Map<AccountId, StoredPassword>;
  readonly tokens: Map<number, StoredToken>;
  readonly sessions: Map<number, StoredSession>;
  /** By their hash in hex; used and voided ones have `expiresAt` 0. */
  readonly tickets: Map<string, CountedTicket>;
  /** By `domainPlace`. */
  readonly domains: Map<string, OwnedDomain>;
  /** Progress of erasing the records of deleted accounts. */
  readonly deletions: Map<AccountId, { upto: number; burned: number; finishedAt: UnixSeconds | null }>;
  /** 1, 2, 3 …, never reused within a kind. */
  nextNumber(kind: 'account' | 'token' | 'session'): number;
}

/** A ticket, and until when it counts towards the limits. */
export interface CountedTicket extends StoredTicket {
  readonly countsUntil: UnixSeconds;
}

/** A share domain without its logo's name, which is in `logo`. */
export interface OwnedDomain extends Omit<StoredDomain, 'logoName'> {
  /** Until then, its check belongs to the process that took it. */
  readonly leasedUntil: UnixSeconds;
  readonly logo: DomainLogo | null;
}

export function createAccountTables(): AccountTables {
  const last = { account: 0, token: 0, session: 0 };
  return {
    accounts: new Map(),
    lastUses: new Map(),
    passwords: new Map(),
    tokens: new Map(),
    sessions: new Map(),
    tickets: new Map(),
    domains: new Map(),
    deletions: new Map(),
    nextNumber(kind) {
      last[kind] += 1;
      return last[kind];
    },
  };
}

export const domainPlace = (accountId: AccountId, name: string): string => `${accountId} ${name}`;

export const sameBytes = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

export function accountNamed(tables: AccountTables, username: string): Account | null {
  return tables.accounts.values().find((account) => account.username === username) ?? null;
}

/** Throws when the account does not exist (any more), as a foreign key would. */
export function assertAccount(tables: AccountTables, id: AccountId): void {
  if (!tables.accounts.has(id)) throw new ServiceError('unavailable', 'There is no such account.');
}

/** The new account, or `null` when the username is taken. */
export function insertAccount(tables: AccountTables, account: NewAccount): Account | null {
  if (accountNamed(tables, account.username) !== null) return null;
  const { username, plan, createdAt } = account;
  const id = tables.nextNumber('account') as AccountId;
  const inserted = {
    id,
    username,
    plan,
    locale: null,
    notify: [],
    senderName: null,
    createdAt,
    lockedAt: null,
  };
  tables.accounts.set(id, inserted);
  return inserted;
}

/** Of an account that exists; never moves back. */
export function noteAccountUse({ accounts, lastUses }: AccountTables, id: AccountId, at: UnixSeconds): void {
  if (accounts.has(id)) lastUses.set(id, Math.max(at, lastUses.get(id) ?? 0));
}

export const copyOfToken = (token: StoredToken): StoredToken => ({
  ...token,
  tokenHash: token.tokenHash.slice(),
  wrappedDataKey: token.wrappedDataKey.slice(),
});

export const copyOfPassword = (password: StoredPassword): StoredPassword => ({
  ...password,
  salt: password.salt.slice(),
  verifier: password.verifier.slice(),
  wrappedDataKey: password.wrappedDataKey.slice(),
});

export const copyOfSession = (session: StoredSession): StoredSession => ({
  ...session,
  sessionHash: session.sessionHash.slice(),
  wrappedDataKey: session.wrappedDataKey.slice(),
});

export function copyOfTicket(ticket: StoredTicket): StoredTicket {
  const { kind, username, createdAt, expiresAt } = ticket;
  return { kind, ticketHash: ticket.ticketHash.slice(), username, createdAt, expiresAt };
}
