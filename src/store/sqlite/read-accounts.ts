/**
 * Reads of accounts, tokens, share domains and root checks, on the event loop's own connection.
 *
 * Owns: the look-ups. A token is found through the index of its hash, in one query whether or not it exists (P17).
 */
import type { Database } from 'bun:sqlite';
import type { Account, AccountId, StoredToken } from '../../domain/accounts.ts';
import type { PlanName } from '../../domain/plans.ts';
import type { UnixSeconds } from '../../domain/time.ts';

interface AccountRow {
  id: AccountId;
  username: string;
  plan: PlanName;
  created_at: UnixSeconds;
}

interface TokenRow {
  token_id: number;
  account_id: AccountId;
  token_hash: Uint8Array;
  name: string;
  wrapped_data_key: Uint8Array;
  token_created_at: UnixSeconds;
  expires_at: UnixSeconds | null;
  last_used_at: UnixSeconds | null;
}

const tokenColumns =
  'token_id, account_id, token_hash, name, wrapped_data_key, t.created_at AS token_created_at, expires_at, last_used_at';

export interface AccountReads {
  findAccount(username: string): Account | null;
  findAccountById(id: AccountId): Account | null;
  listAccounts(): Account[];
  findToken(tokenHash: Uint8Array): { account: Account; token: StoredToken } | null;
  listTokens(id: AccountId): StoredToken[];
  findShareDomainOwner(domain: string): AccountId | null;
  listShareDomains(id: AccountId): string[];
  findRootCheck(kid: number): Uint8Array | null;
}

export function createAccountReads(db: Database): AccountReads {
  const byName = db.query<AccountRow, [string]>('SELECT * FROM accounts WHERE username = ?1');
  const byId = db.query<AccountRow, [number]>('SELECT * FROM accounts WHERE id = ?1');
  const all = db.query<AccountRow, []>('SELECT * FROM accounts ORDER BY id');
  const token = db.query<TokenRow & AccountRow, [Uint8Array]>(
    `SELECT a.*, ${tokenColumns} FROM tokens t JOIN accounts a ON a.id = t.account_id WHERE token_hash = ?1`,
  );
  const tokens = db.query<TokenRow, [number]>(
    `SELECT ${tokenColumns} FROM tokens t WHERE account_id = ?1 ORDER BY token_id`,
  );
  const domainOwner = db.query<{ account_id: AccountId }, [string]>(
    'SELECT account_id FROM share_domains WHERE domain = ?1',
  );
  const domains = db.query<{ domain: string }, [number]>(
    'SELECT domain FROM share_domains WHERE account_id = ?1 ORDER BY domain',
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
    findShareDomainOwner: (domain) => domainOwner.get(domain)?.account_id ?? null,
    listShareDomains: (id) => domains.all(id).map((row) => row.domain),
    findRootCheck: (kid) => rootCheck.get(kid)?.check_value ?? null,
  };
}

const toAccount = (row: AccountRow | null): Account | null => (row === null ? null : accountOf(row));

function accountOf(row: AccountRow): Account {
  return { id: row.id, username: row.username, plan: row.plan, createdAt: row.created_at };
}

function tokenOf(row: TokenRow): StoredToken {
  return {
    tokenId: row.token_id,
    accountId: row.account_id,
    tokenHash: row.token_hash,
    name: row.name,
    wrappedDataKey: row.wrapped_data_key,
    createdAt: row.token_created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
