import type { AccountId } from '../account.ts';
import type { ReceiptId } from '../keys.ts';
import type { ListedReceipt, ReceiptLife, StoredReceipt } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';

export interface ReceiptPage {
  readonly limit: number;
  readonly after: string | null;
}

export interface ReceiptStore {
  /**
   * Returns the receipt, or `null` if it is unknown or its own lifetime has passed. Changes nothing.
   * @param manager an account finds its own receipts and those of anonymous records; `noAccountId` finds only the latter.
   *   Another account's receipt is not read at all, so it takes as long as an unknown one (P16, P17). If absent, finds all.
   */
  findReceipt(id: ReceiptId, manager?: AccountId): Promise<StoredReceipt | null>;

  /** Returns the lives of these receipts' secrets, in order, in one read without sealed bytes; `null` as in `findReceipt`. Changes nothing. */
  findLives(ids: readonly ReceiptId[]): Promise<(ReceiptLife | null)[]>;

  /** Records when the creator first looked at a waiting receipt. Returns that time, or `null` if none is waiting. */
  markViewed(id: ReceiptId): Promise<UnixSeconds | null>;

  /**
   * Replaces the sealed memo; `null` removes it. The memo is erased with its receipt, and with the account. Returns whether
   * there was a live receipt, regardless of its secret; otherwise nothing changed. Rejects with `storage_full` if there is
   * no room for a box; `null` needs no room.
   */
  setMemo(id: ReceiptId, memoBox: Uint8Array | null): Promise<boolean>;

  /**
   * Lists at most `limit` of an account's live receipts that have a recent box, newest first, starting after the one with the cursor
   * `after`.
   * Stable under inserts: a later page never repeats or skips a receipt that existed at the first page. Returns `null` if
   * `after` is not a cursor of this store.
   */
  listReceipts(owner: AccountId, page: ReceiptPage): Promise<ListedReceipt[] | null>;
}
