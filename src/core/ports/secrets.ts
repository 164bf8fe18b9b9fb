/**
 * Secrets, and the rules for every port that a store implements.
 *
 * Each method is one atomic decision (claim, reserve, burn), never a get that needs a set after it, so callers cannot
 * introduce a race. Every method may reject with `ServiceError('unavailable')`; the outcome of a rejected write is unknown unless
 * its comment says otherwise. `test/stores/conformance.ts` checks each promise below against every store.
 */
import type { ReceiptId, SecretId } from '../keys.ts';
import type { NewRecord, StoredSecret } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';
import type { ClaimStore } from './claims.ts';
import type { StoreNow } from './clock.ts';
import type { LookStore } from './looks.ts';
import type { MailStore } from './mail.ts';
import type { ReceiptStore } from './receipts.ts';

/** The fields that change with a record's expiry. */
export type NewExpiry = Pick<NewRecord, 'expiresAt' | 'receiptExpiresAt' | 'noticeDueAt' | 'sealedSecret'>;

export interface RoomStore {
  /** Stores nothing. Rejects with `storage_full` while `SecretStore.put` would. */
  assertRoom(): Promise<void>;
}

export interface SecretStore extends StoreNow, ClaimStore, LookStore, ReceiptStore, MailStore {
  /**
   * Stores a record and, in the same atomic step, marks its reservation, if any, as done. Resolves only when this is
   * durable at the store's class (fsync done). Rejects with `storage_full` if there is no room, and with `unavailable` if
   * the owner does not exist, the root is closed (`RotationStore`), or the reservation is missing, done or taken over.
   * After a rejection, the secret either was not stored or will expire unannounced (P5).
   */
  put(record: NewRecord): Promise<void>;

  /** Returns the live secret, or `null` if it is unknown, read, burned or expired. Changes nothing. */
  findSecret(id: SecretId): Promise<StoredSecret | null>;

  /**
   * Changes a waiting secret's expiry if it is still `from`. In the same atomic step, changes the receipt's expiry, the
   * sealed secret (re-wrapped to the same length), its notice, and how long its guesses count. Does nothing if the secret
   * has been re-wrapped for another root. A claim based on an earlier find still succeeds, because what it proves has not
   * changed. Returns whether the expiry was changed.
   */
  setExpiry(id: ReceiptId, from: UnixSeconds, to: NewExpiry): Promise<boolean>;

  /**
   * Erases what has expired: sealed secrets at their expiry, looks at their end, whole records at their receipt's expiry,
   * and stale attempts. Touches at most `limit` records per call and returns how many; fewer than `limit` means done for now.
   * Erases nothing while the wall clock is in doubt.
   */
  sweep(limit: number): Promise<number>;

  /**
   * Removes every copy of erased bytes from the store's own files (P10: within 60 s of the erasure). Returns `false` if a
   * reader was in the way: try again soon. Returns `true` if no copy remains, or if the files belong to an engine, whose
   * operator limits how long it keeps erased bytes.
   */
  scrub(): Promise<boolean>;
}
