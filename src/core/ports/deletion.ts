import type { AccountId } from '../account.ts';

/**
 * - `more`: call again.
 * - `finished`: by this call; only one call gets this.
 * - `was_finished`: by an earlier call.
 */
export interface DeletionStep {
  readonly outcome: 'more' | 'finished' | 'was_finished';
  /** Secrets that all calls so far have burned. */
  readonly burned: number;
}

export interface DeletionStore {
  /**
   * Deletes the account with its password, tokens, sessions, tickets and share domains, in one step: from then on nothing
   * is added to it, and no record is stored for it. Its secrets wait until `continueDeletion` has burned them; its receipts
   * stay, by their metadata keys, until they expire. The id is never given again. Returns whether there was such an account.
   */
  deleteAccount(id: AccountId): Promise<boolean>;
  /**
   * Burns the deleted account's waiting secrets, ends looks at the others and erases the recent boxes and memos of its
   * receipts, at most `limit` records a call. Safe to repeat after any fault and to run concurrently: each secret is burned
   * once or was claimed. `null` when no such account was deleted, or its deletion finished more than an hour ago.
   */
  continueDeletion(id: AccountId, limit: number): Promise<DeletionStep | null>;
  /** At most `limit` deleted accounts whose deletion is unfinished. */
  listDeletions(limit: number): Promise<AccountId[]>;
}
