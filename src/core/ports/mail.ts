/** What a store records of mails: their delivery to recipients, and the notices that creators asked for. */
import type { AccountId } from '../account.ts';
import type { ReceiptId } from '../keys.ts';
import type { NewRecord, StoredDelivery } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';

/** A secret that is about to expire unread, and whose account wanted to know. */
export interface DueNotice extends Pick<NewRecord, 'createdAt' | 'expiresAt' | 'shareDomain'> {
  readonly owner: AccountId;
}

export interface MailStore {
  /**
   * Records that a waiting secret's mail is about to be handed over, unless one is queued and not stale: of many concurrent
   * calls, one gets `queued`. `gone`: no secret waits there. Nothing changed in the other cases.
   */
  queueDelivery(
    id: ReceiptId,
    queued: Omit<StoredDelivery, 'state' | 'at'> & { readonly staleAt: UnixSeconds },
  ): Promise<'queued' | 'in_flight' | 'gone'>;

  /** Replaces the recorded delivery, at store time. Ignores unknown receipts. */
  setDelivery(id: ReceiptId, delivery: Omit<StoredDelivery, 'at'>): Promise<void>;

  /**
   * Takes notices that are due at store time, roughly the longest due first, at most `limit`. Each is given out once, ever,
   * and only while its secret waits and its account exists; the others are forgotten.
   */
  takeDueNotices(limit: number): Promise<DueNotice[]>;
}
