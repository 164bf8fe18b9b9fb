/**
 * Reads of accounts, tokens and root checks, on the event loop's own connection.
 *
 * Owns: the look-ups. A token is found through the index of its hash, in one query whether or not it exists (P17).
 */
import type { Database } from 'bun:sqlite';
import type { Account, AccountId, StoredToken } from '../../core/accounts/accounts.ts';
import {
  type AccountRow,
  accountColumns,
  accountOf,
  type TokenRow,
  tokenColumns,
  tokenOf,
} from './account-rows.ts';

export interface AccountReads {
  findAccount(username: string): Account | null;
  findAccountById(id: AccountId): Account | null;
  listAccounts(): Account[];
  findToken(tokenHash: Uint8Array): { account: Account; token: StoredToken } | null;
  listTokens(id: AccountId): StoredToken[];
  findRootCheck(kid: number): Uint8Array | null;
}

export function createAccountReads(db: Database): AccountReads {
  const byName = db.query<AccountRow, [string]>(
    `SELECT ${accountColumns} FROM accounts a WHERE username = ?1`,
  );
  const byId = db.query<AccountRow, [number]>(`SELECT ${accountColumns} FROM accounts a WHERE id = ?1`);
  const all = db.query<AccountRow, []>(`SELECT ${accountColumns} FROM accounts a ORDER BY id`);
  const token = db.query<TokenRow & AccountRow, [Uint8Array]>(
    `SELECT ${accountColumns}, ${tokenColumns} FROM tokens t JOIN accounts a ON a.id = t.account_id
     WHERE t.token_hash = ?1`,
  );
  const tokens = db.query<TokenRow, [number]>(
    `SELECT ${tokenColumns} FROM tokens t WHERE account_id = ?1 ORDER BY token_id`,
  );
  const rootCheck = db.query<{ check_value: Uint8Array }, [number]>(
    'SELECT check_value FROM root_checks WHERE kid = ?1',
  );
  return {
    findAccount: (username) => toAccount(byName.get(username)),
    findAccountById: (id) => toAccount(byId.get(id)),
    listAccounts: () => all.all().map(accountOf),
    findToken(tokenHash) {
      const row = token.get(tokenHash);
      return row === null ? null : { account: accountOf(row), token: tokenOf(row) };
    },
    listTokens: (id) => tokens.all(id).map(tokenOf),
    findRootCheck: (kid) => rootCheck.get(kid)?.check_value ?? null,
  };
}

const toAccount = (row: AccountRow | null): Account | null => (row === null ? null : accountOf(row));
