/**
 * Accounts and their tokens.
 *
 * An account's row decides about it. Whatever adds something to an account finds that row in the state that allows it and locks it
 * in the same statement, so that what takes that away waits for it, and then meets what it added (see 002-accounts.sql). A name is
 * taken once by its unique index. A token is found by its hash, in the same steps whether or not it exists (P17), and what belongs to
 * an account goes with its row, by foreign keys.
 */
import {
  type Account,
  type AccountId,
  type ListedAccount,
  noticeKinds,
  type StoredToken,
  tokenScopes,
} from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
import type { AccountStore, NewToken, OwnedCounts } from '../../core/ports.ts';
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
import { createBatch } from './batches.ts';
import type { Engine, Values } from './engine.ts';
import { recordsColumn } from './server-watch.ts';
import { copyOf, decision, nameOf, type Statement, statement } from './statement.ts';

/**
 * The row that a decision made or changed. Without one, the answer rests on what others have written, so that is proven first: what
 * a caller is told to be gone stays gone.
 */
export async function decided<Row>(
  engine: Engine,
  decide: Statement,
  values: Values,
  isChange: (row: Row) => boolean = () => true,
): Promise<Row | null> {
  const rows = await engine.decide<Row>(decide, values);
  const [row = null] = rows;
  if (row === null || !isChange(row)) await engine.prove(rows);
  return row;
}

/**
 * Many look-ups in one statement.
 * @param find gives a row for each that is asked for, also where there is none: with its place, from 1, and `recordsColumn`, which saves
 * asking where it ran
 * @param found `null` for a row that says there is none
 */
export function createLookUp<
  Key extends Uint8Array | string | null,
  Row extends { readonly place: number },
  Found,
>(engine: Engine, find: Statement, found: (row: Row) => Found | null): (key: Key) => Promise<Found | null> {
  const lookUp = createBatch<Key, Found | null, Row>(engine, {
    statement: find,
    kind: 'read',
    idOf: (key) => Buffer.from(key ?? ''),
    valuesOf: (keys) => [keys],
    answersOf(rows, keys) {
      const answers = keys.map((): Found | null => null);
      for (const row of rows) answers[row.place - 1] = found(row);
      return answers;
    },
  });
  return async (key) => {
    const answer = await lookUp(key);
    return answer === 'abandoned' ? null : answer;
  };
}

const selectByName = statement(`SELECT ${accountColumns} FROM mayfly_store.accounts a WHERE a.username = $1`);
const selectById = statement(`SELECT ${accountColumns} FROM mayfly_store.accounts a WHERE a.id = $1`);
const selectAny = statement('SELECT 1 AS any FROM mayfly_store.accounts LIMIT 1');

interface ListedRow extends AccountRow {
  has_password: boolean;
  tokens: number;
  last_used_at: UnixSeconds | null;
}

const selectListed = statement(`
  SELECT ${accountColumns}, a.last_used_at, a.verifier IS NOT NULL AS has_password,
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

type OwnMethods =
  | 'findAccount'
  | 'findAccountById'
  | 'listAccounts'
  | 'hasAccounts'
  | 'countOwned'
  | 'lockAccount'
  | 'unlockAccount'
  | 'setPlan'
  | 'setLocale'
  | 'setNotify'
  | 'setSenderName';

export interface Done {
  done: boolean;
}

export function createAccountStore(engine: Engine): Pick<AccountStore, OwnMethods> {
  const accountBy = async (by: Statement, value: string | AccountId | null): Promise<Account | null> => {
    const [row] = await engine.read<AccountRow>(by, [value]);
    return row === undefined ? null : accountOf(row);
  };
  return {
    findAccount: (username) => accountBy(selectByName, nameOf(username)),
    findAccountById: (id) => accountBy(selectById, id),
    async listAccounts() {
      const rows = await engine.read<ListedRow>(selectListed, [engine.time.now()]);
      return rows.map((row): ListedAccount => {
        const { has_password: hasPassword, tokens, last_used_at: lastUsedAt } = row;
        return { ...accountOf(row), hasPassword, tokens, lastUsedAt };
      });
    },
    hasAccounts: async () => (await engine.read(selectAny, [])).length > 0,
    async countOwned(id) {
      const [counts] = await engine.read<OwnedCounts>(countRecords, [id, engine.time.now()]);
      return counts ?? { waiting: 0, receipts: 0 };
    },
    async lockAccount(id) {
      return (await decided<Done>(engine, lock, [id], (row) => row.done))?.done ?? false;
    },
    unlockAccount: async (id) => (await decided(engine, unlock, [id])) !== null,
    async setPlan(id, plan) {
      await engine.decide(setPlan, [id, plan]);
    },
    async setLocale(id, locale) {
      await engine.decide(setLocale, [id, locale]);
    },
    async setNotify(id, kinds) {
      await engine.decide(setNotify, [id, maskOf(noticeKinds, kinds)]);
    },
    async setSenderName(id, name) {
      await engine.decide(setSenderName, [id, name]);
    },
  };
}

/** `token_id` is `null` where there is no such token; an account is looked up all the same (P17). */
const selectTokens = statement(`
  SELECT asked.place, ${tokenColumns}, ${accountColumns}, ${recordsColumn}
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (token_hash, place)
  LEFT JOIN mayfly_store.tokens t ON t.token_hash = asked.token_hash
  LEFT JOIN mayfly_store.accounts a ON a.id = coalesce(t.account_id, 0)`);

interface FoundRow extends AccountRow, Omit<TokenRow, 'token_id'> {
  place: number;
  token_id: number | null;
}

const selectOwned = statement(
  `SELECT ${tokenColumns} FROM mayfly_store.tokens t WHERE t.account_id = $1 ORDER BY t.token_id`,
);

const newTokenColumns = 'account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at';

const insertAccount = decision(`
  WITH made AS (
    INSERT INTO mayfly_store.accounts (username, plan, created_at) VALUES ($3, $4, $5)
    ON CONFLICT (username) DO NOTHING RETURNING id),
  token AS (
    INSERT INTO mayfly_store.tokens (${newTokenColumns}) SELECT id, $6, $7, $8, $9, $10, $11 FROM made)
  SELECT id FROM made`);

const insertToken = decision(`
  INSERT INTO mayfly_store.tokens (${newTokenColumns})
  SELECT id, $4, $5, $6, $7, $8, $9 FROM mayfly_store.accounts WHERE id = $3 FOR KEY SHARE
  RETURNING token_id`);

/** Finds the password that it was asked for with, so a request that began before a change of it adds nothing. */
const insertOwnToken = decision(`
  WITH opened AS MATERIALIZED (
    SELECT id FROM mayfly_store.accounts WHERE id = $3 AND verifier = $10 AND locked_at IS NULL FOR SHARE)
  INSERT INTO mayfly_store.tokens (${newTokenColumns})
  SELECT id, $4, $5, $6, $7, $8, $9 FROM opened
  RETURNING token_id`);

const deleteToken = decision(
  'DELETE FROM mayfly_store.tokens WHERE account_id = $3 AND token_id = $4 RETURNING token_id',
);

/** The account's row first, as everywhere. */
const noteUse = decision(`
  WITH used AS (
    UPDATE mayfly_store.accounts SET last_used_at = greatest($4::bigint, last_used_at)
    WHERE id = (SELECT account_id FROM mayfly_store.tokens WHERE token_id = $3) RETURNING id)
  UPDATE mayfly_store.tokens SET last_used_at = greatest($4::bigint, last_used_at) FROM used
  WHERE token_id = $3 AND account_id = used.id`);

const valuesOf = ({ tokenHash, name, wrappedDataKey, scopes, createdAt, expiresAt }: NewToken): Values => [
  copyOf(tokenHash),
  name,
  copyOf(wrappedDataKey),
  maskOf(tokenScopes, scopes),
  createdAt,
  expiresAt,
];

type TokenMethods =
  | 'createAccount'
  | 'findToken'
  | 'addToken'
  | 'addOwnToken'
  | 'listTokens'
  | 'revokeToken'
  | 'noteTokenUse';

export function createTokenStore(engine: Engine): Pick<AccountStore, TokenMethods> {
  const find = createLookUp<Uint8Array, FoundRow, { account: Account; token: StoredToken }>(
    engine,
    selectTokens,
    ({ token_id, ...row }) =>
      token_id === null ? null : { account: accountOf(row), token: tokenOf({ ...row, token_id }) },
  );

  function added(accountId: AccountId, token: NewToken, row: Pick<TokenRow, 'token_id'>): StoredToken {
    return { ...token, tokenId: row.token_id, accountId, lastUsedAt: null };
  }

  return {
    async createAccount({ username, plan, createdAt }, token) {
      const values = [username, plan, createdAt, ...valuesOf(token)];
      const row = await decided<{ id: AccountId }>(engine, insertAccount, values);
      return row && freshAccount({ id: row.id, username, plan, createdAt });
    },
    findToken: (tokenHash) => find(copyOf(tokenHash)),
    async addToken(id, token) {
      const row = await decided<TokenRow>(engine, insertToken, [id, ...valuesOf(token)]);
      if (row === null) throw new ServiceError('unavailable', 'There is no such account.');
      return added(id, token, row);
    },
    async addOwnToken(id, verifier, token) {
      const values = [id, ...valuesOf(token), copyOf(verifier)];
      const row = await decided<TokenRow>(engine, insertOwnToken, values);
      return row && added(id, token, row);
    },
    listTokens: async (id) => (await engine.read<TokenRow>(selectOwned, [id])).map(tokenOf),
    revokeToken: async (id, tokenId) => (await decided(engine, deleteToken, [id, tokenId])) !== null,
    async noteTokenUse(tokenId, at) {
      await engine.decide(noteUse, [tokenId, at]);
    },
  };
}
