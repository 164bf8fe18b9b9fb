/** How both stores read the rows of accounts and of what belongs to them. Columns have the names of the fields that they become. */
import {
  type Account,
  type StoredPassword,
  type StoredSession,
  type StoredToken,
  tokenScopes,
} from '../core/account.ts';
import type { UnixSeconds } from '../core/time.ts';
import { noticeKinds } from '../protocol/vocabulary.ts';
import { chosenBy } from './flags.ts';

export interface AccountRow extends Omit<Account, 'notify' | 'createdAt'> {
  readonly notify: number;
  readonly accountCreatedAt: UnixSeconds;
}

/** Columns of `accounts a`. */
export const accountColumns = `
  a.id, a.username, a.plan, a.locale, a.notify, a.sender_name AS "senderName", a.created_at AS "accountCreatedAt",
  a.locked_at AS "lockedAt"`;

export function accountOf(row: AccountRow): Account {
  const { id, username, plan, locale, senderName, accountCreatedAt: createdAt, lockedAt } = row;
  return {
    id,
    username,
    plan,
    locale,
    notify: chosenBy(noticeKinds, row.notify),
    senderName,
    createdAt,
    lockedAt,
  };
}

export function freshAccount(made: Pick<Account, 'id' | 'username' | 'plan' | 'createdAt'>): Account {
  return { ...made, locale: null, notify: [], senderName: null, lockedAt: null };
}

/** All `null` if the account has no password. */
type PasswordColumns = { readonly [Field in keyof StoredPassword]: StoredPassword[Field] | null };
export interface PasswordRow extends AccountRow, PasswordColumns {}

/** Columns of the table that has passwords. */
export const passwordColumns = (table: string, setAt: string): string =>
  `${table}.salt, ${table}.verifier, ${table}.wrapped_data_key AS "wrappedDataKey", ${table}.${setAt} AS "setAt"`;

export function passwordOf({ salt, verifier, wrappedDataKey, setAt }: PasswordRow): StoredPassword | null {
  if (salt === null || verifier === null || wrappedDataKey === null || setAt === null) return null;
  return { salt, verifier, wrappedDataKey, setAt };
}

/** Of a `StoredTicket`. */
export const ticketColumns =
  'kind, ticket_hash AS "ticketHash", username, created_at AS "createdAt", expires_at AS "expiresAt"';

export interface TokenRow extends Omit<StoredToken, 'scopes'> {
  readonly scopes: number;
}

/** Columns of `tokens t`. */
export const tokenColumns = `
  t.token_id AS "tokenId", t.account_id AS "accountId", t.token_hash AS "tokenHash", t.name, t.wrapped_data_key AS "wrappedDataKey",
  t.scopes, t.created_at AS "createdAt", t.expires_at AS "expiresAt", t.last_used_at AS "lastUsedAt"`;

export function tokenOf(row: TokenRow): StoredToken {
  const { tokenId, accountId, tokenHash, name, wrappedDataKey, createdAt, expiresAt, lastUsedAt } = row;
  const scopes = chosenBy(tokenScopes, row.scopes);
  return { tokenId, accountId, tokenHash, name, wrappedDataKey, scopes, createdAt, expiresAt, lastUsedAt };
}

/** Columns of `sessions s`. */
export const sessionColumns = `
  s.session_id AS "sessionId", s.account_id AS "accountId", s.session_hash AS "sessionHash", s.wrapped_data_key AS "wrappedDataKey",
  s.label, s.created_at AS "createdAt", s.last_used_at AS "lastUsedAt", s.expires_at AS "expiresAt"`;

/** Picks the session's fields from a row that may have others. */
export function sessionOf(row: StoredSession): StoredSession {
  const { sessionId, accountId, sessionHash, wrappedDataKey, label, createdAt, lastUsedAt, expiresAt } = row;
  return { sessionId, accountId, sessionHash, wrappedDataKey, label, createdAt, lastUsedAt, expiresAt };
}
