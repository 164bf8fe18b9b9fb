/**
 * Accounts.
 *
 * Every statement that adds something to an account first finds the account's row in a state that allows it, and locks that row.
 * A statement that would end that state waits for the lock, and then sees what was added (see 002-accounts.sql). A unique index
 * ensures that a name is taken only once. When the row is deleted, foreign keys delete all that belongs to the account.
 */

import type { Account, AccountId, ListedAccount } from '../../core/account.ts';
import type { AccountRegister, OwnedCounts } from '../../core/ports/accounts.ts';
import { noticeKinds } from '../../protocol/vocabulary.ts';
import { type AccountRow, accountColumns, accountOf, freshAccount } from '../account-rows.ts';
import { maskOf } from '../flags.ts';
import { decided, isDone } from './batches.ts';
import type { Engine } from './engine.ts';
import { decision, nameOf, type Statement, statement } from './statement.ts';
import { newTokenColumns, tokenValues } from './tokens.ts';

const selectByName = statement(`SELECT ${accountColumns} FROM mayfly_store.accounts a WHERE a.username = $1`);
const selectById = statement(`SELECT ${accountColumns} FROM mayfly_store.accounts a WHERE a.id = $1`);
const selectAny = statement('SELECT 1 AS any FROM mayfly_store.accounts LIMIT 1');

type ListedRow = AccountRow & Pick<ListedAccount, 'hasPassword' | 'tokens' | 'lastUsedAt'>;

const selectListed = statement(`
  SELECT ${accountColumns}, a.last_used_at AS "lastUsedAt", a.verifier IS NOT NULL AS "hasPassword",
    (SELECT count(*) FROM mayfly_store.tokens t
     WHERE t.account_id = a.id AND (t.expires_at IS NULL OR t.expires_at > $1)) AS tokens
  FROM mayfly_store.accounts a ORDER BY a.id`);

const countRecords = statement(`
  SELECT count(*) AS receipts, count(*) FILTER (WHERE state = 'w' AND expires_at > $2) AS waiting
  FROM mayfly_store.records WHERE owner = $1`);

const setPlan = decision('UPDATE mayfly_store.accounts SET plan = $4 WHERE id = $3');
const setLocale = decision('UPDATE mayfly_store.accounts SET locale = $4 WHERE id = $3');
const setNotify = decision('UPDATE mayfly_store.accounts SET notify = $4 WHERE id = $3');
const setSenderName = decision('UPDATE mayfly_store.accounts SET sender_name = $4 WHERE id = $3');
const lock = decision('SELECT mayfly_store.lock_account($3::bigint, (SELECT now FROM clock)) AS done');
const unlock = decision(
  'UPDATE mayfly_store.accounts SET locked_at = NULL WHERE id = $3 AND locked_at IS NOT NULL RETURNING id',
);

const insertAccount = decision(`
  WITH made AS (
    INSERT INTO mayfly_store.accounts (username, plan, created_at) VALUES ($3, $4, $5)
    ON CONFLICT (username) DO NOTHING RETURNING id),
  token AS (
    INSERT INTO mayfly_store.tokens (${newTokenColumns}) SELECT id, $6, $7, $8, $9, $10, $11 FROM made)
  SELECT id FROM made`);

export function createAccountStore(engine: Engine): AccountRegister {
  const accountBy = async (by: Statement, value: string | AccountId | null): Promise<Account | null> => {
    const [row] = await engine.read<AccountRow>(by, [value]);
    return row === undefined ? null : accountOf(row);
  };
  const set = async (column: Statement, id: AccountId, value: string | number | null): Promise<void> => {
    await engine.decide(column, [id, value]);
  };
  return {
    async createAccount({ username, plan, createdAt }, token) {
      const values = [username, plan, createdAt, ...tokenValues(token)];
      const row = await decided<{ id: AccountId }>(engine, insertAccount, values);
      return row && freshAccount({ id: row.id, username, plan, createdAt });
    },
    findAccount: (username) => accountBy(selectByName, nameOf(username)),
    findAccountById: (id) => accountBy(selectById, id),
    async listAccounts() {
      const rows = await engine.read<ListedRow>(selectListed, [engine.time.now()]);
      return rows.map((row) => {
        const { hasPassword, tokens, lastUsedAt } = row;
        return { ...accountOf(row), hasPassword, tokens, lastUsedAt };
      });
    },
    hasAccounts: async () => (await engine.read(selectAny, [])).length > 0,
    async countOwned(id) {
      const [counts] = await engine.read<OwnedCounts>(countRecords, [id, engine.time.now()]);
      return counts ?? { waiting: 0, receipts: 0 };
    },
    lockAccount: (id) => isDone(engine, lock, [id]),
    unlockAccount: (id) => isDone(engine, unlock, [id]),
    setPlan: (id, plan) => set(setPlan, id, plan),
    setLocale: (id, locale) => set(setLocale, id, locale),
    setNotify: (id, kinds) => set(setNotify, id, maskOf(noticeKinds, kinds)),
    setSenderName: (id, name) => set(setSenderName, id, name),
  };
}
