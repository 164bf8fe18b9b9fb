/** API tokens, found by their hash, in the same steps whether or not they exist (P17). */
import { type Account, type AccountId, type StoredToken, tokenScopes } from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
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
import { createLookUp, decided, isDone } from './batches.ts';
import type { Engine, Values } from './engine.ts';
import { recordsColumn } from './server-watch.ts';
import { copyOf, decision, statement } from './statement.ts';

/** `tokenId` is `null` for an unknown token; an account is looked up all the same (P17). */
const selectTokens = statement(`
  SELECT asked.place, ${tokenColumns}, ${accountColumns}, ${recordsColumn}
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (token_hash, place)
  LEFT JOIN mayfly_store.tokens t ON t.token_hash = asked.token_hash
  LEFT JOIN mayfly_store.accounts a ON a.id = coalesce(t.account_id, 0)`);

interface FoundRow extends AccountRow, Omit<TokenRow, 'tokenId'> {
  readonly place: number;
  readonly tokenId: number | null;
}

const selectOwned = statement(
  `SELECT ${tokenColumns} FROM mayfly_store.tokens t WHERE t.account_id = $1 ORDER BY t.token_id`,
);

export const newTokenColumns =
  'account_id, token_hash, name, wrapped_data_key, scopes, created_at, expires_at';

const insertToken = decision(`
  INSERT INTO mayfly_store.tokens (${newTokenColumns})
  SELECT id, $4, $5, $6, $7, $8, $9 FROM mayfly_store.accounts WHERE id = $3 FOR KEY SHARE
  RETURNING token_id AS "tokenId"`);

/** Checks that the account still has the password used for the request, so a request overtaken by a password change adds nothing. */
const insertOwnToken = decision(`
  WITH opened AS MATERIALIZED (
    SELECT id FROM mayfly_store.accounts WHERE id = $3 AND verifier = $10 AND locked_at IS NULL FOR SHARE)
  INSERT INTO mayfly_store.tokens (${newTokenColumns})
  SELECT id, $4, $5, $6, $7, $8, $9 FROM opened
  RETURNING token_id AS "tokenId"`);

const deleteToken = decision(
  'DELETE FROM mayfly_store.tokens WHERE account_id = $3 AND token_id = $4 RETURNING token_id',
);

/** Locks the account's row first, as all statements do. */
const noteUse = decision(`
  WITH used AS (
    UPDATE mayfly_store.accounts SET last_used_at = greatest($4::bigint, last_used_at)
    WHERE id = (SELECT account_id FROM mayfly_store.tokens WHERE token_id = $3) RETURNING id)
  UPDATE mayfly_store.tokens SET last_used_at = greatest($4::bigint, last_used_at) FROM used
  WHERE token_id = $3 AND account_id = used.id`);

export const tokenValues = ({
  tokenHash,
  name,
  wrappedDataKey,
  scopes,
  createdAt,
  expiresAt,
}: NewToken): Values => [
  copyOf(tokenHash),
  name,
  copyOf(wrappedDataKey),
  maskOf(tokenScopes, scopes),
  createdAt,
  expiresAt,
];

export function createTokenStore(engine: Engine): TokenStore {
  const find = createLookUp<Uint8Array, FoundRow, { account: Account; token: StoredToken }>(
    engine,
    selectTokens,
    ({ tokenId, ...row }) =>
      tokenId === null ? null : { account: accountOf(row), token: tokenOf({ ...row, tokenId }) },
  );

  function added(accountId: AccountId, token: NewToken, { tokenId }: Pick<TokenRow, 'tokenId'>): StoredToken {
    return { ...token, tokenId, accountId, lastUsedAt: null };
  }

  return {
    findToken: (tokenHash) => find(copyOf(tokenHash)),
    async addToken(id, token) {
      const row = await decided<TokenRow>(engine, insertToken, [id, ...tokenValues(token)]);
      if (row === null) throw new ServiceError('unavailable', 'There is no such account.');
      return added(id, token, row);
    },
    async addOwnToken(id, verifier, token) {
      const values = [id, ...tokenValues(token), copyOf(verifier)];
      const row = await decided<TokenRow>(engine, insertOwnToken, values);
      return row && added(id, token, row);
    },
    listTokens: async (id) => (await engine.read<TokenRow>(selectOwned, [id])).map(tokenOf),
    revokeToken: (id, tokenId) => isDone(engine, deleteToken, [id, tokenId]),
    async noteTokenUse(tokenId, at) {
      await engine.decide(noteUse, [tokenId, at]);
    },
  };
}
