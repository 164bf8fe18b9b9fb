/**
 * Accounts and their tokens as rows: the columns that are asked for, the reads, then
 * the writes, which run inside a batch's transaction. A function of one never calls one of the other.
 *
 * Invariants: a token is found through the index of its hash, in one query whether or not it exists (P17). Uniqueness is
 * the database's own: a conflict is an expected answer, not a failure.
 */
import type { Database } from 'bun:sqlite';
import {
  type Account,
  type AccountId,
  type ListedAccount,
  noticeKinds,
  type StoredToken,
  tokenScopes,
} from '../../core/account.ts';
import type { NewAccount, NewToken, OwnedCounts } from '../../core/ports.ts';
import type { UnixSeconds } from '../../core/time.ts';
import {
  type AccountRow,
  accountColumns,
  accountOf,
  freshAccount,
  type TokenRow,
  tokenColumns,
  tokenOf,
} from '../account-rows.ts';
import { maskOf } from '../marks.ts';
import type { Deciding } from './decisions.ts';
import { eraseLook, holdsLook } from './looks.ts';
import { eraseMemoAt } from './mail.ts';
import { endRecord } from './records.ts';

interface ListedRow extends AccountRow {
  has_password: number;
  tokens: number;
  last_used_at: UnixSeconds | null;
}

const selectListed = `
  SELECT ${accountColumns}, a.last_used_at,
    EXISTS (SELECT 1 FROM passwords p WHERE p.account_id = a.id) AS has_password,
    (SELECT count(*) FROM tokens t
     WHERE t.account_id = a.id AND (t.expires_at IS NULL OR t.expires_at > ?1)) AS tokens
  FROM accounts a ORDER BY a.id`;

/** Those in the owners' index, and those that follow it. */
const countOwnedSql = `
  SELECT count(*) AS receipts, ifnull(sum(state = 'w' AND expires_at > ?2), 0) AS waiting FROM records
  WHERE owner = ?1 AND (position > (SELECT upto FROM merge_progress)
    OR position IN (SELECT position FROM owner_index WHERE owner = ?1))`;

export interface AccountReads {
  findAccount(username: string): Account | null;
  findAccountById(id: AccountId): Account | null;
  listAccounts(now: UnixSeconds): ListedAccount[];
  hasAccounts(): boolean;
  countOwned(id: AccountId, now: UnixSeconds): OwnedCounts;
  findToken(tokenHash: Uint8Array): { account: Account; token: StoredToken } | null;
  listTokens(id: AccountId): StoredToken[];
  listDeletions(limit: number): AccountId[];
}

export function createAccountReads(db: Database): AccountReads {
  const byName = db.query<AccountRow, [string]>(
    `SELECT ${accountColumns} FROM accounts a WHERE username = ?1`,
  );
  const byId = db.query<AccountRow, [number]>(`SELECT ${accountColumns} FROM accounts a WHERE id = ?1`);
  const all = db.query<ListedRow, [number]>(selectListed);
  const any = db.query('SELECT 1 FROM accounts LIMIT 1');
  const owned = db.query<OwnedCounts, [number, number]>(countOwnedSql);
  const token = db.query<TokenRow & AccountRow, [Uint8Array]>(
    `SELECT ${accountColumns}, ${tokenColumns} FROM tokens t JOIN accounts a ON a.id = t.account_id
     WHERE t.token_hash = ?1`,
  );
  const tokens = db.query<TokenRow, [number]>(
    `SELECT ${tokenColumns} FROM tokens t WHERE account_id = ?1 ORDER BY token_id`,
  );
  const deletions = db.query<{ id: AccountId }, [number]>(
    'SELECT account_id AS id FROM deletions WHERE finished_at IS NULL LIMIT ?1',
  );
  return {
    findAccount: (username) => toAccount(byName.get(username)),
    findAccountById: (id) => toAccount(byId.get(id)),
    listAccounts: (now) =>
      all.all(now).map((row) => {
        const { tokens, last_used_at: lastUsedAt } = row;
        return { ...accountOf(row), hasPassword: row.has_password === 1, tokens, lastUsedAt };
      }),
    hasAccounts: () => any.get() !== null,
    countOwned: (id, now) => owned.get(id, now) ?? { waiting: 0, receipts: 0 },
    findToken(tokenHash) {
      const row = token.get(tokenHash);
      return row === null ? null : { account: accountOf(row), token: tokenOf(row) };
    },
    listTokens: (id) => tokens.all(id).map(tokenOf),
    listDeletions: (limit) => deletions.all(limit).map((row) => row.id),
  };
}

const toAccount = (row: AccountRow | null): Account | null => (row === null ? null : accountOf(row));

export type AccountWrites = Deciding<
  | 'createAccount'
  | 'setPlan'
  | 'setLocale'
  | 'setNotify'
  | 'setSenderName'
  | 'addToken'
  | 'addOwnToken'
  | 'revokeToken'
  | 'noteTokenUse'
  | 'lockAccount'
  | 'unlockAccount'
>;

const insertTokenSql = `
  INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`;

/** Finds the password that it was asked for with, so a request that began before a change of it adds nothing. */
const insertOwnTokenSql = `
  INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at)
  SELECT account_id, ?2, ?3, ?4, ?5, ?6, ?7 FROM passwords
  WHERE account_id = ?1 AND verifier = ?8 AND account_id IN (SELECT id FROM accounts WHERE locked_at IS NULL)`;

/** Inserts an account without a chosen language; `null` when the username is taken. */
export function createAccountInsert(db: Database): (account: NewAccount) => Account | null {
  const insert = db.query(
    'INSERT INTO accounts (username, plan, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (username) DO NOTHING',
  );
  return ({ username, plan, createdAt }) => {
    const { changes, lastInsertRowid } = insert.run(username, plan, createdAt);
    if (changes === 0) return null;
    const id = Number(lastInsertRowid) as AccountId;
    return freshAccount({ id, username, plan, createdAt });
  };
}

/** Of whichever account that is; a token or a session may have a later use of its own. */
export const noteAccountUse = (accountId: string, at: string): string =>
  `UPDATE accounts SET last_used_at = max(${at}, ifnull(last_used_at, 0)) WHERE id = ${accountId}`;

export function createAccountWrites(db: Database): AccountWrites {
  const insertAccount = createAccountInsert(db);
  const insertToken = db.query(insertTokenSql);
  const insertOwnToken = db.query(insertOwnTokenSql);
  const setPlan = db.query('UPDATE accounts SET plan = ?2 WHERE id = ?1');
  const setLocale = db.query('UPDATE accounts SET locale = ?2 WHERE id = ?1');
  const setNotify = db.query('UPDATE accounts SET notify = ?2 WHERE id = ?1');
  const setSenderName = db.query('UPDATE accounts SET sender_name = ?2 WHERE id = ?1');
  const revoke = db.query('DELETE FROM tokens WHERE account_id = ?1 AND token_id = ?2');
  const noteUse = db.query(
    'UPDATE tokens SET last_used_at = max(?2, ifnull(last_used_at, 0)) WHERE token_id = ?1',
  );
  const noteOwnerUse = db.query(noteAccountUse('(SELECT account_id FROM tokens WHERE token_id = ?1)', '?2'));
  const lock = db.query<{ username: string }, [number, number]>(
    'UPDATE accounts SET locked_at = ?2 WHERE id = ?1 AND locked_at IS NULL RETURNING username',
  );
  const unlock = db.query('UPDATE accounts SET locked_at = NULL WHERE id = ?1 AND locked_at IS NOT NULL');
  const endSessions = db.query('DELETE FROM sessions WHERE account_id = ?1');
  const voidResets = db.query("UPDATE tickets SET expires_at = 0 WHERE kind = 'reset' AND username = ?1");

  const valuesOf = ({ tokenHash, name, wrappedDataKey, scopes, createdAt, expiresAt }: NewToken) =>
    [tokenHash, name, wrappedDataKey, maskOf(tokenScopes, scopes), createdAt, expiresAt] as const;

  function addToken(accountId: AccountId, token: NewToken): StoredToken {
    const { lastInsertRowid } = insertToken.run(accountId, ...valuesOf(token));
    return { ...token, tokenId: Number(lastInsertRowid), accountId, lastUsedAt: null };
  }

  return {
    createAccount(_now, account, token) {
      const inserted = insertAccount(account);
      if (inserted !== null) addToken(inserted.id, token);
      return inserted;
    },
    setPlan(_now, id, plan) {
      setPlan.run(id, plan);
    },
    setLocale(_now, id, locale) {
      setLocale.run(id, locale);
    },
    setNotify(_now, id, kinds) {
      setNotify.run(id, maskOf(noticeKinds, kinds));
    },
    setSenderName(_now, id, name) {
      setSenderName.run(id, name);
    },
    addToken: (_now, id, token) => addToken(id, token),
    addOwnToken(_now, id, verifier, token) {
      const { changes, lastInsertRowid } = insertOwnToken.run(id, ...valuesOf(token), verifier);
      if (changes === 0) return null;
      return { ...token, tokenId: Number(lastInsertRowid), accountId: id, lastUsedAt: null };
    },
    revokeToken: (_now, id, tokenId) => revoke.run(id, tokenId).changes === 1,
    noteTokenUse(_now, tokenId, at) {
      noteUse.run(tokenId, at);
      noteOwnerUse.run(tokenId, at);
    },
    lockAccount(now, id) {
      const locked = lock.get(id, now);
      if (locked === null) return false;
      endSessions.run(id);
      voidResets.run(locked.username);
      return true;
    },
    unlockAccount: (_now, id) => unlock.run(id).changes === 1,
  };
}

/** A domain's logo goes with its row. */
const ownTables = ['passwords', 'tokens', 'sessions', 'domains'] as const;

/** Of the account's records after `?2`, the first `?3` of those that are in the index, where it is complete. */
const selectIndexed = `
  SELECT position FROM owner_index
  WHERE owner = ?1 AND position > ?2 AND position <= (SELECT upto FROM merge_progress) ORDER BY position LIMIT ?3`;

/** The others, which come after those. */
const selectNotIndexed = `
  SELECT position FROM records WHERE owner = ?1 AND position > ?2 AND position <= ?3 ORDER BY position LIMIT ?4`;

/** So many of all accounts' rows are looked at in one step, for those that are not in the index: a few milliseconds. */
const rowsAStep = 8_192;

const burnOwned = `${endRecord('b')}
  WHERE position = ?2 AND owner = ?3 AND state = 'w' AND expires_at > ?1`;

const endLookOwned = `${eraseLook} WHERE position = ?1 AND owner = ?2 AND ${holdsLook}`;

/** Expired and ended ones too: their receipts would list them as well. */
const eraseRecent = `
  UPDATE records SET recent_box = zeroblob(length(recent_box))
  WHERE position = ?1 AND owner = ?2 AND recent_box IS NOT NULL`;

const noteProgress = `
  UPDATE deletions SET upto = ?2, burned = burned + ?3, finished_at = ?4 WHERE account_id = ?1`;

interface DeletionRow {
  upto: number;
  burned: number;
  finished_at: UnixSeconds | null;
}

/**
 * The end of an account: first the account, in one transaction, then its records in the order of their positions, a batch
 * a transaction. No record of it is stored after the first step, so none has a position that was passed already. Its
 * waiting secrets end by the statement that burns one, so a claim and the deletion exclude each other (P7); records are
 * overwritten in place and keep their size (P10, see 001-records.sql).
 */
export function createAccountDeletion(
  db: Database,
  rowsAtOnce = rowsAStep,
): Deciding<'deleteAccount' | 'continueDeletion'> {
  const account = db.query<{ username: string }, [number]>('SELECT username FROM accounts WHERE id = ?1');
  const removeOwn = ownTables.map((table) => db.query(`DELETE FROM ${table} WHERE account_id = ?1`));
  const removeTickets = db.query("DELETE FROM tickets WHERE kind IN ('sign_up', 'reset') AND username = ?1");
  const removeAccount = db.query('DELETE FROM accounts WHERE id = ?1');
  const begin = db.query('INSERT INTO deletions (account_id) VALUES (?1)');
  const progress = db.query<DeletionRow, [number]>(
    'SELECT upto, burned, finished_at FROM deletions WHERE account_id = ?1',
  );
  const indexed = db.query<{ position: number }, [number, number, number]>(selectIndexed);
  const notIndexed = db.query<{ position: number }, [number, number, number, number]>(selectNotIndexed);
  const ends = db.query<{ indexed: number; newest: number }, []>(
    'SELECT upto AS indexed, (SELECT ifnull(max(position), 0) FROM records) AS newest FROM merge_progress',
  );
  const burn = db.query(burnOwned);
  const endLook = db.query(endLookOwned);
  const erase = db.query(eraseRecent);
  const eraseMemo = db.query(eraseMemoAt);
  const note = db.query(noteProgress);

  /** Some of the account's next records after a position, up to where there are no others, and whether that is the end. */
  function nextOf(id: AccountId, after: number, limit: number) {
    const found = indexed.all(id, after, limit);
    const { indexed: indexedUpto, newest } = ends.get() ?? { indexed: 0, newest: 0 };
    const from = Math.max(after, indexedUpto);
    const to = from + rowsAtOnce;
    if (found.length < limit) found.push(...notIndexed.all(id, from, to, limit - found.length));
    const positions = found.map((row) => row.position);
    if (positions.length === limit) return { positions, upto: positions.at(-1) ?? after, isEnd: false };
    return { positions, upto: to, isEnd: to >= newest };
  }

  /** Whether its secret was still waiting. */
  function end(position: number, id: AccountId, now: UnixSeconds): boolean {
    erase.run(position, id);
    eraseMemo.run(position);
    endLook.run(position, id);
    return burn.run(now, position, id).changes === 1;
  }

  return {
    deleteAccount(_now, id) {
      const found = account.get(id);
      if (found === null) return false;
      for (const remove of removeOwn) remove.run(id);
      removeTickets.run(found.username);
      removeAccount.run(id);
      begin.run(id);
      return true;
    },
    continueDeletion(now, id, limit) {
      const known = progress.get(id);
      if (known === null) return null;
      if (known.finished_at !== null) return { outcome: 'was_finished', burned: known.burned };
      const { positions, upto, isEnd } = nextOf(id, known.upto, limit);
      const burned = positions.filter((position) => end(position, id, now)).length;
      note.run(id, upto, burned, isEnd ? now : null);
      return { outcome: isEnd ? 'finished' : 'more', burned: known.burned + burned };
    },
  };
}
