/**
 * Writes to accounts, tokens and root checks, inside the writer's transaction.
 *
 * Owns: their statements. Uniqueness is the database's own: a conflict is an expected answer, not a failure.
 */
import type { Database } from 'bun:sqlite';
import {
  type Account,
  type AccountId,
  noticeKinds,
  type StoredToken,
  tokenScopes,
} from '../../core/accounts/accounts.ts';
import type { NewAccount, NewToken } from '../../core/ports.ts';
import { maskOf } from './bit-masks.ts';
import type { Deciding } from './protocol.ts';

export type AccountWrites = Deciding<
  | 'createAccount'
  | 'setPlan'
  | 'setLocale'
  | 'setNotify'
  | 'addToken'
  | 'addOwnToken'
  | 'revokeToken'
  | 'noteTokenUse'
  | 'addRootCheck'
>;

const insertTokenSql = `
  INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`;

/** Finds the password that it was asked for with, so a request that began before a change of it adds nothing. */
const insertOwnTokenSql = `
  INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at)
  SELECT account_id, ?2, ?3, ?4, ?5, ?6, ?7 FROM passwords WHERE account_id = ?1 AND verifier = ?8`;

/** Inserts an account without a chosen language; `null` when the username is taken. */
export function createAccountInsert(db: Database): (account: NewAccount) => Account | null {
  const insert = db.query(
    'INSERT INTO accounts (username, plan, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (username) DO NOTHING',
  );
  return ({ username, plan, createdAt }) => {
    const { changes, lastInsertRowid } = insert.run(username, plan, createdAt);
    if (changes === 0) return null;
    return { id: Number(lastInsertRowid) as AccountId, username, plan, locale: null, notify: [], createdAt };
  };
}

export function createAccountWrites(db: Database): AccountWrites {
  const insertAccount = createAccountInsert(db);
  const insertToken = db.query(insertTokenSql);
  const insertOwnToken = db.query(insertOwnTokenSql);
  const setPlan = db.query('UPDATE accounts SET plan = ?2 WHERE id = ?1');
  const setLocale = db.query('UPDATE accounts SET locale = ?2 WHERE id = ?1');
  const setNotify = db.query('UPDATE accounts SET notify = ?2 WHERE id = ?1');
  const revoke = db.query('DELETE FROM tokens WHERE account_id = ?1 AND token_id = ?2');
  const noteUse = db.query(
    'UPDATE tokens SET last_used_at = max(?2, ifnull(last_used_at, 0)) WHERE token_id = ?1',
  );
  const insertCheck = db.query(
    'INSERT INTO root_checks (kid, check_value) VALUES (?1, ?2) ON CONFLICT (kid) DO NOTHING',
  );

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
    addToken: (_now, id, token) => addToken(id, token),
    addOwnToken(_now, id, verifier, token) {
      const { changes, lastInsertRowid } = insertOwnToken.run(id, ...valuesOf(token), verifier);
      if (changes === 0) return null;
      return { ...token, tokenId: Number(lastInsertRowid), accountId: id, lastUsedAt: null };
    },
    revokeToken: (_now, id, tokenId) => revoke.run(id, tokenId).changes === 1,
    noteTokenUse(_now, tokenId, at) {
      noteUse.run(tokenId, at);
    },
    addRootCheck(_now, kid, check) {
      // The first value stays: a root that does not fit it must be noticed, not written over it (P12).
      insertCheck.run(kid, check);
    },
  };
}
