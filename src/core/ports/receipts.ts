import type { AccountId } from '../account.ts';
import type { ReceiptId } from '../keys.ts';
import type { ListedReceipt, StoredReceipt } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';

export interface ReceiptPage {
  readonly limit: number;
  readonly after: string | null;
}

export interface ReceiptStore {
  /**
   * The receipt, or `null` when it is unknown or its own lifetime has passed. Changes nothing.
   * @param manager an account finds its own receipts and those of anonymous records; `noAccountId` finds only the latter.
   *   Another account's receipt is not read at all, so it takes as long as an unknown one (P16, P17). Absent: every receipt.
   */
  findReceipt(id: ReceiptId, manager?: AccountId): Promise<StoredReceipt | null>;

  /** Records that the creator has looked at a waiting receipt; the first time counts. Returns that first time, or `null`. */
  markViewed(id: ReceiptId): Promise<UnixSeconds | null>;

  /**
   * Replaces the sealed memo; `null` removes it. Goes with the receipt, and with its account. Returns whether there was a
   * live receipt, whatever happened to its secret; otherwise nothing changed. Rejects with `storage_full` when there is no
   * room for a box; `null` always has room.
   */
  setMemo(id: ReceiptId, memoBox: Uint8Array | null): Promise<boolean>;

  /**
   * An account's live receipts, newest created first, starting after the one with the cursor `after`; at most `limit`.
   * Stable under inserts: a later page never repeats or skips what existed at the first page. `null` when `after` is not
   * a cursor of this store.
   */
  listReceipts(owner: AccountId, page: ReceiptPage): Promise<ListedReceipt[] | null>;
}
