/** API tokens are found through the index on their hash, in one query whether or not they exist (P17). */
import type { Database } from 'bun:sqlite';
import { type AccountId, type StoredToken, tokenScopes } from '../../core/account.ts';
import type { NewToken, TokenStore } from '../../core/ports/tokens.ts';
import {
  type AccountRow,
  accountColumns,
  accountOf,
  type TokenRow,
  tokenColumns,
  tokenOf,
} from '../account-rows.ts';
import { maskOf } from '../flags.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';

export function tokenReads({ db, reader }: Parts): Read<TokenStore> {
  const token = db.query<TokenRow & AccountRow, [Uint8Array]>(
    `SELECT ${accountColumns}, ${tokenColumns} FROM tokens t JOIN accounts a ON a.id = t.account_id
     WHERE t.token_hash = ?1`,
  );
  const tokens = db.query<TokenRow, [number]>(
    `SELECT ${tokenColumns} FROM tokens t WHERE account_id = ?1 ORDER BY token_id`,
  );
  return readBy(reader, {
    findToken(tokenHash: Uint8Array) {
      const row = token.get(tokenHash);
      return row === null ? null : { account: accountOf(row), token: tokenOf(row) };
    },
    listTokens: (id: AccountId) => tokens.all(id).map(tokenOf),
  });
}

const insertTokenSql = `
  INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`;

/** Requires that the request's password is still current, so a request overtaken by a password change adds nothing. */
const insertOwnTokenSql = `
  INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at)
  SELECT account_id, ?2, ?3, ?4, ?5, ?6, ?7 FROM passwords
  WHERE account_id = ?1 AND verifier = ?8 AND account_id IN (SELECT id FROM accounts WHERE locked_at IS NULL)`;

const valuesOf = ({ tokenHash, name, wrappedDataKey, scopes, createdAt, expiresAt }: NewToken) =>
  [tokenHash, name, wrappedDataKey, maskOf(tokenScopes, scopes), createdAt, expiresAt] as const;

export function createTokenInsert(db: Database): (accountId: AccountId, token: NewToken) => StoredToken {
  const insert = db.query(insertTokenSql);
  return (accountId, token) => {
    const { lastInsertRowid } = insert.run(accountId, ...valuesOf(token));
    return { ...token, tokenId: Number(lastInsertRowid), accountId, lastUsedAt: null };
  };
}

export function createTokenWrites(db: Database): WritesOf<TokenStore> {
  const insert = createTokenInsert(db);
  const insertOwnToken = db.query(insertOwnTokenSql);
  const revoke = db.query('DELETE FROM tokens WHERE account_id = ?1 AND token_id = ?2');
  const noteUse = db.query(
    'UPDATE tokens SET last_used_at = max(?2, ifnull(last_used_at, 0)) WHERE token_id = ?1',
  );
  const noteOwnerUse = db.query(
    `UPDATE accounts SET last_used_at = max(?2, ifnull(last_used_at, 0))
     WHERE id = (SELECT account_id FROM tokens WHERE token_id = ?1)`,
  );
  return {
    addToken: (_now, id, token) => insert(id, token),
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
  };
}
