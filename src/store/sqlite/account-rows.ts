/**
 * Rows of the account tables as the core's types.
 *
 * Owns: the columns that are asked for.
 */
import {
  type Account,
  type AccountId,
  noticeKinds,
  type StoredToken,
  tokenScopes,
} from '../../core/accounts/accounts.ts';
import type { PlanName } from '../../core/plans.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { chosenBy } from './bit-masks.ts';

export interface AccountRow {
  id: AccountId;
  username: string;
  plan: PlanName;
  locale: string | null;
  notify: number;
  account_created_at: UnixSeconds;
}

/** Of `accounts a`. */
export const accountColumns =
  'a.id, a.username, a.plan, a.locale, a.notify, a.created_at AS account_created_at';

export function accountOf(row: AccountRow): Account {
  const { id, username, plan, locale, account_created_at: createdAt } = row;
  return { id, username, plan, locale, notify: chosenBy(noticeKinds, row.notify), createdAt };
}

export interface TokenRow {
  token_id: number;
  account_id: AccountId;
  token_hash: Uint8Array;
  name: string;
  wrapped_data_key: Uint8Array;
  scopes: number;
  created_at: UnixSeconds;
  expires_at: UnixSeconds | null;
  last_used_at: UnixSeconds | null;
}

/** Of `tokens t`. */
export const tokenColumns =
  't.token_id, t.account_id, t.token_hash, t.name, t.wrapped_data_key, t.scopes, t.created_at, t.expires_at, t.last_used_at';

export function tokenOf(row: TokenRow): StoredToken {
  return {
    tokenId: row.token_id,
    accountId: row.account_id,
    tokenHash: row.token_hash,
    name: row.name,
    wrappedDataKey: row.wrapped_data_key,
    scopes: chosenBy(tokenScopes, row.scopes),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
