import {
  type Account,
  type AccountId,
  type StoredPassword,
  type StoredSession,
  type StoredTicket,
  type StoredToken,
  type TicketKind,
  tokenScopes,
} from '../core/account.ts';
import type { PlanName } from '../core/plans.ts';
import type { UnixSeconds } from '../core/time.ts';
import { noticeKinds } from '../protocol/vocabulary.ts';
import { chosenBy } from './flags.ts';

export interface AccountRow {
  id: AccountId;
  username: string;
  plan: PlanName;
  locale: string | null;
  notify: number;
  sender_name: string | null;
  account_created_at: UnixSeconds;
  locked_at: UnixSeconds | null;
}

/** Columns of `accounts a`. */
export const accountColumns =
  'a.id, a.username, a.plan, a.locale, a.notify, a.sender_name, a.created_at AS account_created_at, a.locked_at';

export function accountOf(row: AccountRow): Account {
  const { id, username, plan, locale, sender_name: senderName, locked_at: lockedAt } = row;
  const notify = chosenBy(noticeKinds, row.notify);
  return { id, username, plan, locale, notify, senderName, createdAt: row.account_created_at, lockedAt };
}

export function freshAccount(made: Pick<Account, 'id' | 'username' | 'plan' | 'createdAt'>): Account {
  return { ...made, locale: null, notify: [], senderName: null, lockedAt: null };
}

/** The password's columns are all `null` if the account has none. */
export interface PasswordRow extends AccountRow {
  salt: Uint8Array | null;
  verifier: Uint8Array | null;
  wrapped_data_key: Uint8Array | null;
  password_set_at: UnixSeconds | null;
}

export function passwordOf(row: PasswordRow): StoredPassword | null {
  const { salt, verifier, wrapped_data_key: wrappedDataKey, password_set_at: setAt } = row;
  if (salt === null || verifier === null || wrappedDataKey === null || setAt === null) return null;
  return { salt, verifier, wrappedDataKey, setAt };
}

export interface TicketRow {
  kind: TicketKind;
  ticket_hash: Uint8Array;
  username: string;
  created_at: UnixSeconds;
  expires_at: UnixSeconds;
}

export function ticketOf(row: TicketRow): StoredTicket {
  const { kind, ticket_hash: ticketHash, username, created_at: createdAt, expires_at: expiresAt } = row;
  return { kind, ticketHash, username, createdAt, expiresAt };
}

export interface TokenRow {
  token_id: number;
  account_id: AccountId;
  token_hash: Uint8Array;
  name: string;
  wrapped_data_key: Uint8Array;
  scopes: number;
  created_at: UnixSeconds;
  expires_at: UnixSeconds | null;
  last_used_at: UnixSeconds | null;
}

/** Columns of `tokens t`. */
export const tokenColumns =
  't.token_id, t.account_id, t.token_hash, t.name, t.wrapped_data_key, t.scopes, t.created_at, t.expires_at, t.last_used_at';

export function tokenOf(row: TokenRow): StoredToken {
  return {
    tokenId: row.token_id,
    accountId: row.account_id,
    tokenHash: row.token_hash,
    name: row.name,
    wrappedDataKey: row.wrapped_data_key,
    scopes: chosenBy(tokenScopes, row.scopes),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}

export interface SessionRow {
  session_id: number;
  account_id: AccountId;
  session_hash: Uint8Array;
  wrapped_data_key: Uint8Array;
  label: string;
  created_at: UnixSeconds;
  last_used_at: UnixSeconds;
  expires_at: UnixSeconds;
}

/** Columns of `sessions s`. */
export const sessionColumns =
  's.session_id, s.account_id, s.session_hash, s.wrapped_data_key, s.label, s.created_at, s.last_used_at, s.expires_at';

export function sessionOf(row: SessionRow): StoredSession {
  return {
    sessionId: row.session_id,
    accountId: row.account_id,
    sessionHash: row.session_hash,
    wrappedDataKey: row.wrapped_data_key,
    label: row.label,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
