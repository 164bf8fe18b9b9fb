/** What stores record about emails: their delivery to recipients, and the notices that creators requested. */
import type { AccountId } from '../account.ts';
import type { ReceiptId } from '../keys.ts';
import type { NewRecord, StoredDelivery } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';

/** A secret that is about to expire unread, and whose account requested a notice. */
export interface DueNotice extends Pick<NewRecord, 'createdAt' | 'expiresAt' | 'shareDomain'> {
  readonly owner: AccountId;
}

export interface MailStore {
  /**
   * Records that a waiting secret's email is about to be handed over, unless an earlier one is queued and not stale: of many
   * concurrent calls, one gets `queued`. `gone`: no such secret is waiting. In the other cases, nothing changes.
   */
  queueDelivery(
    id: ReceiptId,
    queued: Omit<StoredDelivery, 'state' | 'at'> & { readonly staleAt: UnixSeconds },
  ): Promise<'queued' | 'in_flight' | 'gone'>;

  /** Replaces the recorded delivery, dated with store time. Ignores unknown receipts. */
  setDelivery(id: ReceiptId, delivery: Omit<StoredDelivery, 'at'>): Promise<void>;

  /**
   * Takes at most `limit` notices that are due at store time, roughly the longest overdue first. Each is
   * returned only once, and only while its secret is waiting and its account exists; the others are forgotten.
   */
  takeDueNotices(limit: number): Promise<DueNotice[]>;
}
