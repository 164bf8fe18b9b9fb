/**
 * Accounts, tokens, passwords, sessions and tickets for the checks, each with its own random secret bytes.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import {
  type Account,
  type AccountId,
  type NewAccount,
  type StoredPassword,
  type StoredSession,
  type StoredTicket,
  type TicketKind,
  type TicketLimits,
  tokenScopes,
} from '../../../src/core/account.ts';
import type { NewSession } from '../../../src/core/ports/sessions.ts';
import type { NewToken } from '../../../src/core/ports/tokens.ts';
import type { Store } from '../../../src/store/store.ts';
import { startOfTest } from './check.ts';

export const sessionSeconds = 86_400;
export const ticketSeconds = 1_800;

/** For checks that need several live tickets at once. */
export const noTicketLimits: TicketLimits = { maxLive: 1_000, quietSeconds: [0], windowSeconds: 0 };

const bytes = (length: number): Uint8Array => new Uint8Array(randomBytes(length));

export const newAccount = (username: string): NewAccount => ({
  username,
  plan: 'basic',
  createdAt: startOfTest,
});

export const newToken = (name = 'default'): NewToken => ({
  tokenHash: bytes(32),
  name,
  wrappedDataKey: bytes(76),
  scopes: tokenScopes,
  createdAt: startOfTest,
  expiresAt: null,
});

export const newPassword = (setAt = startOfTest): StoredPassword => ({
  salt: bytes(16),
  verifier: bytes(32),
  wrappedDataKey: bytes(76),
  setAt,
});

export const newSession = (createdAt = startOfTest, label = 'Firefox on Linux'): NewSession => ({
  sessionHash: bytes(32),
  wrappedDataKey: bytes(76),
  label,
  createdAt,
  expiresAt: createdAt + sessionSeconds,
});

export const newTicket = (kind: TicketKind, username: string, createdAt = startOfTest): StoredTicket => ({
  kind,
  ticketHash: bytes(32),
  username,
  createdAt,
  expiresAt: createdAt + ticketSeconds,
});

/** An account with a token and no password. */
export async function accountNamed(store: Store, username: string, token = newToken()): Promise<Account> {
  const account = await store.createAccount(newAccount(username), token);
  assert.ok(account !== null);
  return account;
}

/** The account that owns a check's records, created on first use. */
export async function ownerIn(store: Store, username = 'owner@example.org'): Promise<AccountId> {
  const known = await store.findAccount(username);
  return known?.id ?? (await accountNamed(store, username)).id;
}

/** Deletes an account completely. Returns the number of secrets burned, or `null` without such an account. */
export async function deleteWhole(store: Store, id: AccountId, limit = 100): Promise<number | null> {
  if (!(await store.deleteAccount(id))) return null;
  for (;;) {
    const step = await store.continueDeletion(id, limit);
    assert.ok(step !== null, 'a deletion that was begun is not known');
    if (step.outcome !== 'more') return step.burned;
  }
}

/** Stores a fresh ticket. */
export async function ticketFor(store: Store, kind: TicketKind, username: string): Promise<StoredTicket> {
  const ticket = newTicket(kind, username, store.now());
  assert.equal(await store.addTicket(ticket, noTicketLimits), true);
  return ticket;
}

/** Someone who has signed up with a password. */
export interface Person {
  readonly account: Account;
  readonly password: StoredPassword;
}

export async function personNamed(store: Store, username: string): Promise<Person> {
  const password = newPassword(store.now());
  const { ticketHash } = await ticketFor(store, 'sign_up', username);
  const account = await store.redeemSignUp(ticketHash, { plan: 'basic', createdAt: store.now() }, password);
  assert.ok(typeof account === 'object', 'a live sign-up ticket made no account');
  return { account, password };
}

/** Begins a session with the account's current password. */
export async function logIn(
  store: Store,
  { account, password }: Person,
  session = newSession(store.now()),
): Promise<StoredSession> {
  const begun = await store.addSession(account.id, password.verifier, session);
  assert.ok(begun !== null, 'the right password began no session');
  return begun;
}

export async function areFound(store: Store, sessions: readonly NewSession[]): Promise<boolean[]> {
  const found = await Promise.all(sessions.map(({ sessionHash }) => store.findSession(sessionHash)));
  return found.map((each) => each !== null);
}
