import type { AccountId } from '../account.ts';

/**
 * - `more`: call again.
 * - `finished`: this call finished the deletion; only one call returns this.
 * - `was_finished`: an earlier call finished it.
 */
export interface DeletionStep {
  readonly outcome: 'more' | 'finished' | 'was_finished';
  /** Secrets burned by all calls so far. */
  readonly burned: number;
}

export interface DeletionStore {
  /**
   * Deletes the account with its password, tokens, sessions, tickets, share domains and requests, in one step. From then on, nothing
   * is added to it, and no record is stored for it. Its secrets wait until `continueDeletion` has burned them; its receipts
   * can be found by their metadata keys until they expire. The id is never reused. Returns whether the account existed.
   */
  deleteAccount(id: AccountId): Promise<boolean>;
  /**
   * Burns the deleted account's waiting secrets, ends the looks at those that were read, and erases the recent boxes and
   * memos of its receipts, at most `limit` records per call. Safe to repeat after any fault and to run concurrently: each
   * secret is burned once, unless it was claimed. Returns `null` if no such account was deleted, or if its deletion finished
   * more than an hour ago.
   */
  continueDeletion(id: AccountId, limit: number): Promise<DeletionStep | null>;
  /** Lists at most `limit` deleted accounts whose deletion is unfinished. */
  listDeletions(limit: number): Promise<AccountId[]>;
}
