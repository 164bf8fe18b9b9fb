import type { Account, AccountId, StoredPassword, TokenFate } from '../account.ts';

export interface PasswordStore {
  /** Returns the account and its password (`null` if it has none), or `null` if there is no such account. */
  findPassword(
    username: string,
  ): Promise<{ readonly account: Account; readonly password: StoredPassword | null } | null>;
  /**
   * Sets the password, ends every other session, voids every pending reset ticket and, if requested, revokes the tokens, in
   * one step, if `from` is still the password's verifier and the account is not locked. Returns whether the password was
   * set.
   */
  changePassword(
    id: AccountId,
    from: Uint8Array,
    to: StoredPassword,
    keepSessionId: number,
    tokens: TokenFate,
  ): Promise<boolean>;
}
