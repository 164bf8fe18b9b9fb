/**
 * A secret and its receipt: the record, its states and their transitions.
 *
 * Owns: the transition table. Invariant: a secret and its receipt are one record with one state, so the receipt cannot
 * disagree with what happened to the secret (P6), and burn and reveal exclude each other (P7).
 *
 *   waiting --claim--> received        waiting --burn--> burned        waiting --ttl--> expired
 *
 * `received`, `burned` and `expired` are final. `viewed` is not a state of the record: it is a waiting record whose
 * creator has looked at it.
 */
import type { AccountId } from './accounts.ts';
import type { ReceiptId, SecretId } from './keys.ts';
import type { UnixSeconds } from './time.ts';

/** What the store knows. Expiry is not stored: it follows from the time. */
export type StoredState = 'waiting' | 'received' | 'burned';

/** What a creator is told. */
export type ReceiptState = 'new' | 'viewed' | 'received' | 'burned' | 'expired';

/**
 * What became of the mail to the recipient.
 * `queued` that outlives its process is reported as `not_sent`: the mail is kept in memory only.
 */
export type DeliveryState = 'queued' | 'accepted' | 'refused' | 'not_sent';

export interface Delivery {
  readonly state: DeliveryState;
  readonly at: UnixSeconds;
}

/** What creation hands to the store: ids, times and sealed bytes, nothing that opens without the link (P9). */
export interface NewRecord {
  readonly secretId: SecretId;
  readonly receiptId: ReceiptId;
  /** `null` for a record made anonymously. */
  readonly owner: AccountId | null;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  /** The receipt outlives the secret: created + 2 × ttl. */
  readonly receiptExpiresAt: UnixSeconds;
  readonly hasPassphrase: boolean;
  /** `''` when links use the site's own host. */
  readonly shareDomain: string;
  /** The sealed secret: see `crypto/envelope.ts`. */
  readonly sealedSecret: Uint8Array;
  /** Seals the secret key for whoever holds the metadata key; goes when the secret goes. */
  readonly creatorBox: Uint8Array;
  /** Seals the obfuscated recipient for whoever holds the metadata key; stays with the receipt. */
  readonly detailsBox: Uint8Array | null;
  /** Seals the metadata key (and what a list shows) under the account's data key; `null` for anonymous records. */
  readonly recentBox: Uint8Array | null;
  /** Whether a mail to the recipient is about to be handed over. */
  readonly deliveryQueued: boolean;
}

/** A live secret as the store gives it: sealed, unread, unexpired at store time. */
export interface StoredSecret {
  readonly secretId: SecretId;
  /** The record's own position in the store, for a claim without a second look-up. Opaque, positive, below 2^53. */
  readonly position: number;
  /** Changes whenever the sealed bytes are replaced, so that a claim takes what was checked. Starts at 1. */
  readonly rowVersion: number;
  readonly owner: AccountId | null;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  readonly hasPassphrase: boolean;
  readonly shareDomain: string;
  readonly sealedSecret: Uint8Array;
}

/** A receipt as the store gives it. Once the secret is gone `creatorBox` is `null`, whether or not a sweep has run. */
export interface StoredReceipt {
  readonly receiptId: ReceiptId;
  readonly secretId: SecretId;
  readonly position: number;
  readonly owner: AccountId | null;
  readonly state: StoredState;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  readonly receiptExpiresAt: UnixSeconds;
  readonly viewedAt: UnixSeconds | null;
  /** When it was received or burned; `null` while waiting. */
  readonly endedAt: UnixSeconds | null;
  readonly hasPassphrase: boolean;
  readonly shareDomain: string;
  readonly creatorBox: Uint8Array | null;
  readonly detailsBox: Uint8Array | null;
  readonly recentBox: Uint8Array | null;
  readonly delivery: Delivery | null;
}

/** The state a creator is told, at store time `now`. */
export function receiptStateAt(
  receipt: Pick<StoredReceipt, 'state' | 'expiresAt' | 'viewedAt'>,
  now: UnixSeconds,
): ReceiptState {
  if (receipt.state !== 'waiting') return receipt.state;
  if (now >= receipt.expiresAt) return 'expired';
  return receipt.viewedAt === null ? 'new' : 'viewed';
}

/** Whether the secret can still be read, at store time `now`. */
export function isWaiting(receipt: Pick<StoredReceipt, 'state' | 'expiresAt'>, now: UnixSeconds): boolean {
  return receipt.state === 'waiting' && now < receipt.expiresAt;
}

/** When the record last changed, for the receipt's `updated`. */
export function updatedAtOf(receipt: StoredReceipt, now: UnixSeconds): UnixSeconds {
  if (receipt.endedAt !== null) return receipt.endedAt;
  if (now >= receipt.expiresAt) return receipt.expiresAt;
  return Math.max(receipt.createdAt, receipt.viewedAt ?? 0);
}
