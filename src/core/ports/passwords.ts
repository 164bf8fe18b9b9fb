import type { Account, AccountId, StoredPassword, TokenFate } from '../account.ts';

export interface PasswordStore {
  /** The account of this name and its password, `null` if it has none; `null` when there is no account. */
  findPassword(
    username: string,
  ): Promise<{ readonly account: Account; readonly password: StoredPassword | null } | null>;
  /**
   * Sets the password, ends every other session, voids every pending reset ticket and, if asked, revokes the tokens, in one
   * step, if `from` is still the password's verifier and the account is not locked. Returns whether it was set.
   */
  changePassword(
    id: AccountId,
    from: Uint8Array,
    to: StoredPassword,
    keepSessionId: number,
    tokens: TokenFate,
  ): Promise<boolean>;
}
