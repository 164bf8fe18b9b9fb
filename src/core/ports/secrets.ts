/**
 * Secrets, and the rules of every port that a store implements.
 *
 * A method is one atomic decision (claim, reserve, burn), never a get that needs a set after it, so a race cannot be
 * written. Every method may reject with `ServiceError('unavailable')`; the outcome of a rejected write is unknown unless
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

/** What changes with a record's expiry. */
export type NewExpiry = Pick<NewRecord, 'expiresAt' | 'receiptExpiresAt' | 'noticeDueAt' | 'sealedSecret'>;

export interface RoomStore {
  /** Stores nothing. Rejects with `storage_full` while `SecretStore.put` would. */
  assertRoom(): Promise<void>;
}

export interface SecretStore extends StoreNow, ClaimStore, LookStore, ReceiptStore, MailStore {
  /**
   * Stores a record, and marks the reservation that it is stored for as done in the same atomic step. Resolves only when
   * that is durable at the store's class (fsync done). Rejects with `storage_full` when there is no room, and with
   * `unavailable` when the owner does not exist, the root is closed (`RotationStore`), or the reservation is missing,
   * done or taken over. After a rejection the secret either was not stored or will expire unannounced (P5).
   */
  put(record: NewRecord): Promise<void>;

  /** The live secret, or `null` when it is unknown, read, burned or expired. Changes nothing. */
  findSecret(id: SecretId): Promise<StoredSecret | null>;

  /**
   * Gives a waiting secret another expiry, if its expiry is still `from`: in one atomic step with the receipt's own expiry,
   * the sealed secret re-wrapped to the same length, its notice, and how long its guesses count. Does nothing if the secret
   * has been re-wrapped for another root. A claim based on an earlier find still succeeds: what a claim proves
   * has not changed. Returns whether it was changed.
   */
  setExpiry(id: ReceiptId, from: UnixSeconds, to: NewExpiry): Promise<boolean>;

  /**
   * Erases what has expired: sealed secrets at their expiry, looks at their end, whole records at their receipt's expiry,
   * and stale attempts. Touches at most `limit` records a call and returns how many; fewer than `limit` means done for now.
   * Erases nothing while the wall clock is in doubt.
   */
  sweep(limit: number): Promise<number>;

  /**
   * Leaves no copy of erased bytes in the store's own files (P10: within 60 s of the erasure). `false` means a reader was in
   * the way: try again soon. `true` means done, or that the files belong to an engine, whose operator bounds how long it
   * keeps erased bytes.
   */
  scrub(): Promise<boolean>;
}
