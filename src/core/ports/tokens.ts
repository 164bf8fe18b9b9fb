import type { Account, AccountId, StoredToken } from '../account.ts';
import type { UnixSeconds } from '../time.ts';

export type NewToken = Omit<StoredToken, 'tokenId' | 'accountId' | 'lastUsedAt'>;

export interface TokenStore {
  /** Returns the token with this hash and its account. One look-up, with the same work whether or not the token exists (P17). */
  findToken(tokenHash: Uint8Array): Promise<{ account: Account; token: StoredToken } | null>;
  addToken(id: AccountId, token: NewToken): Promise<StoredToken>;
  /** Works like `addToken` if `verifier` still belongs to the account's password; `null` if not, or if the account is locked. */
  addOwnToken(id: AccountId, verifier: Uint8Array, token: NewToken): Promise<StoredToken | null>;
  listTokens(id: AccountId): Promise<StoredToken[]>;
  /** Returns whether the account had such a token. */
  revokeToken(id: AccountId, tokenId: number): Promise<boolean>;
  noteTokenUse(tokenId: number, at: UnixSeconds): Promise<void>;
}
