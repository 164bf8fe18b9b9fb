/**
 * Accounts. Reads run in the reader's snapshot, writes in a batch's transaction; neither calls the other. The database enforces uniqueness:
 * a conflict is an expected answer, not a failure.
 */

import type { Database } from 'bun:sqlite';
import type { Account, AccountId, ListedAccount, NewAccount } from '../../core/account.ts';
import type { AccountRegister, OwnedCounts } from '../../core/ports/accounts.ts';
import { noticeKinds } from '../../protocol/vocabulary.ts';
import { type AccountRow, accountColumns, accountOf, freshAccount } from '../account-rows.ts';
import { maskOf } from '../flags.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';
import { createTokenInsert } from './tokens.ts';

interface ListedRow extends AccountRow, Pick<ListedAccount, 'tokens' | 'lastUsedAt'> {
  readonly hasPassword: number;
}

const selectListed = `
  SELECT ${accountColumns}, a.last_used_at AS lastUsedAt,
    EXISTS (SELECT 1 FROM passwords p WHERE p.account_id = a.id) AS hasPassword,
    (SELECT count(*) FROM tokens t
     WHERE t.account_id = a.id AND (t.expires_at IS NULL OR t.expires_at > ?1)) AS tokens
  FROM accounts a ORDER BY a.id`;

/** Counts the account's rows, both those in the owners' index and those too new to be in it. */
const countOwnedSql = `
  SELECT count(*) AS receipts, ifnull(sum(state = 'w' AND expires_at > ?2), 0) AS waiting FROM records
  WHERE owner = ?1 AND (position > (SELECT upto FROM merge_progress)
    OR position IN (SELECT position FROM owner_index WHERE owner = ?1))`;

export function accountReads({ db, time: { now }, reader }: Parts): Read<AccountRegister> {
  const byName = db.query<AccountRow, [string]>(
    `SELECT ${accountColumns} FROM accounts a WHERE username = ?1`,
  );
  const byId = db.query<AccountRow, [number]>(`SELECT ${accountColumns} FROM accounts a WHERE id = ?1`);
  const all = db.query<ListedRow, [number]>(selectListed);
  const any = db.query('SELECT 1 FROM accounts LIMIT 1');
  const owned = db.query<OwnedCounts, [number, number]>(countOwnedSql);
  return readBy(reader, {
    findAccount: (username: string) => toAccount(byName.get(username)),
    findAccountById: (id: AccountId) => toAccount(byId.get(id)),
    listAccounts: () =>
      all.all(now()).map((row): ListedAccount => {
        const { tokens, lastUsedAt } = row;
        return { ...accountOf(row), hasPassword: row.hasPassword === 1, tokens, lastUsedAt };
      }),
    hasAccounts: () => any.get() !== null,
    countOwned: (id: AccountId): OwnedCounts => owned.get(id, now()) ?? { waiting: 0, receipts: 0 },
  });
}

const toAccount = (row: AccountRow | null): Account | null => (row === null ? null : accountOf(row));

/** Inserts an account without a chosen language; returns `null` if the username is taken. */
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

export function createAccountWrites(db: Database): WritesOf<AccountRegister> {
  const insertAccount = createAccountInsert(db);
  const insertToken = createTokenInsert(db);
  const setPlan = db.query('UPDATE accounts SET plan = ?2 WHERE id = ?1');
  const setLocale = db.query('UPDATE accounts SET locale = ?2 WHERE id = ?1');
  const setNotify = db.query('UPDATE accounts SET notify = ?2 WHERE id = ?1');
  const setSenderName = db.query('UPDATE accounts SET sender_name = ?2 WHERE id = ?1');
  const lock = db.query<{ username: string }, [number, number]>(
    'UPDATE accounts SET locked_at = ?2 WHERE id = ?1 AND locked_at IS NULL RETURNING username',
  );
  const unlock = db.query('UPDATE accounts SET locked_at = NULL WHERE id = ?1 AND locked_at IS NOT NULL');
  const endSessions = db.query('DELETE FROM sessions WHERE account_id = ?1');
  const voidResets = db.query("UPDATE tickets SET expires_at = 0 WHERE kind = 'reset' AND username = ?1");

  return {
    createAccount(_now, account, token) {
      const inserted = insertAccount(account);
      if (inserted !== null) insertToken(inserted.id, token);
      return inserted;
    },
    setPlan: (_now, id, plan) => void setPlan.run(id, plan),
    setLocale: (_now, id, locale) => void setLocale.run(id, locale),
    setNotify: (_now, id, kinds) => void setNotify.run(id, maskOf(noticeKinds, kinds)),
    setSenderName: (_now, id, name) => void setSenderName.run(id, name),
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
