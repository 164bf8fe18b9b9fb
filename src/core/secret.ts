/**
 * A secret and its receipt are one record with one state, so the receipt cannot disagree with what happened to the secret
 * (P6), and burn and reveal exclude each other (P7).
 *
 *   waiting --claim--> received        waiting --burn--> burned        waiting --ttl--> expired
 *
 * `received`, `burned` and `expired` are final. `viewed` is not a state of the record: it is a waiting record whose
 * creator has looked at it.
 */

import { shortkeyMask } from '../crypto/derive.ts';
import type { Burner, DeliveryState, NoticeKind, ReceiptState } from '../protocol/vocabulary.ts';
import type { AccountId } from './account.ts';
import type { MetadataKey, ReceiptId, SecretId, SecretKey } from './keys.ts';
import type { UnixSeconds } from './time.ts';

/** As stored. Expiry is not stored, because it follows from the time. */
export type StoredState = 'waiting' | 'received' | 'burned';

export interface StoredDelivery {
  readonly state: DeliveryState;
  /** When it entered this state, in store time. */
  readonly at: UnixSeconds;
  /** From when on `queued` is reported as `not_sent`; `null` for the other states. */
  readonly staleAt: UnixSeconds | null;
  /** Seals the server's reply and the obfuscated recipient under the metadata key; `null` without either. */
  readonly noteBox: Uint8Array | null;
  /**
   * Seals the recipient's address, if it differs from the one given at creation, under the metadata key and the secret key,
   * which goes with the secret.
   */
  readonly addressBox: Uint8Array | null;
}

/** As the creator sees it. */
export interface Delivery {
  readonly state: DeliveryState;
  readonly at: UnixSeconds;
  /** The mail server's last reply, one line, or one of `mailTroubles`; `null` for neither. */
  readonly reply: string | null;
}

declare const brand: unique symbol;

/** 16 bytes, one-way from a token, an idempotency key and a place in a batch. */
export type CreationId = Uint8Array & { readonly [brand]: 'CreationId' };

/** A reservation, identified by its seed, which no other reservation has. */
export interface CreationHold {
  readonly id: CreationId;
  /** 83 bytes: see `crypto/creation.ts`. */
  readonly wrappedSeed: Uint8Array;
}

/** What a record, its secret and its receipt all say. */
interface RecordFacts {
  readonly secretId: SecretId;
  /** `null` for a record made anonymously. */
  readonly owner: AccountId | null;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  readonly hasPassphrase: boolean;
  /** End-to-end: a client has encrypted the value. */
  readonly sealed: boolean;
  /** `''` when links use the site's own host. */
  readonly shareDomain: string;
  /** The notices its account gets, in the order of `noticeKinds`; none for an anonymous record. */
  readonly notify: readonly NoticeKind[];
}

/** What creation hands to the store: ids, times and sealed bytes; nothing that opens without the link (P9). */
export interface NewRecord extends RecordFacts {
  readonly receiptId: ReceiptId;
  /** Created + 2 × ttl: the receipt outlives the secret. */
  readonly receiptExpiresAt: UnixSeconds;
  /** The sealed secret, with what its creator can read of it: see `crypto/envelope.ts`. */
  readonly sealedSecret: Uint8Array;
  /**
   * For the holder of the metadata key: the obfuscated recipient, sealed, and the shortkey (see `withShortkey`). Stays with
   * the receipt.
   */
  readonly detailsBox: Uint8Array | null;
  /** Seals the metadata key, and what a list shows, under the account's data key; `null` for anonymous records. */
  readonly recentBox: Uint8Array | null;
  /** Seals the creator's memo under the metadata key; stays with the receipt. */
  readonly memoBox: Uint8Array | null;
  /** `staleAt` of the first delivery; `null` without a recipient. */
  readonly deliveryStaleAt: UnixSeconds | null;
  /** When the notice that it is about to expire is due, before `expiresAt`; `null` for never. */
  readonly noticeDueAt: UnixSeconds | null;
  /** The reservation that it is stored for (`ports/creations.ts`); `null` for none. */
  readonly hold: CreationHold | null;
}

/** A live secret as the store gives it: sealed, unread, unexpired at store time. */
export interface StoredSecret extends RecordFacts {
  /**
   * Changes whenever what the link opens is replaced, so that a claim takes what was checked. Another outer layer is no such
   * change. Starts at 1.
   */
  readonly rowVersion: number;
  readonly sealedSecret: Uint8Array;
}

/** A receipt as a list gives it: without what opens to the secret's link. */
export interface ReceiptRecord extends RecordFacts {
  readonly receiptId: ReceiptId;
  readonly state: StoredState;
  readonly receiptExpiresAt: UnixSeconds;
  readonly viewedAt: UnixSeconds | null;
  /** When it was received or burned; `null` while waiting. */
  readonly endedAt: UnixSeconds | null;
  /** `null` unless it was burned by one of the two: the operator burns, too, and earlier versions did not keep it. */
  readonly burnedBy: Burner | null;
  readonly detailsBox: Uint8Array | null;
  readonly recentBox: Uint8Array | null;
  readonly memoBox: Uint8Array | null;
  readonly delivery: StoredDelivery | null;
}

/** A receipt as the store gives it by its id. Once the secret is gone both are `null`, whether or not a sweep has run. */
export interface StoredReceipt extends ReceiptRecord {
  readonly sealedSecret: Uint8Array | null;
  /** What version 1 of the envelope kept for the creator beside the sealed secret. */
  readonly creatorBox: Uint8Array | null;
}

export interface ListedReceipt extends ReceiptRecord {
  /** Where the page after this receipt starts: opaque, at most 60 characters of ASCII. */
  readonly cursor: string;
}

/** The state that the creator sees at store time `now`. */
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
export function updatedAtOf(receipt: ReceiptRecord, now: UnixSeconds): UnixSeconds {
  if (receipt.endedAt !== null) return receipt.endedAt;
  if (now >= receipt.expiresAt) return receipt.expiresAt;
  return Math.max(receipt.createdAt, receipt.viewedAt ?? 0);
}

/*
 * The shortkey, the first six characters of a secret key, identifies a secret to its creator after the key is erased. It is
 * kept for the holder of the metadata key: appended to the details' box, or alone where there is no such box, in six bytes
 * masked with six derived from the metadata key. That mask covers nothing else, ever, so without the key any six characters
 * are equally likely. A box for it would make a creation a sixth more expensive; this adds a twentieth. A box is 48 bytes
 * plus a multiple of 64, so its length shows whether a shortkey follows; records of earlier versions have none.
 */
const shortkeyLength = 6;
const boxBucketBytes = 64;
const lastBucketBytes = 48 + shortkeyLength;

export function shortkeyOf(secretKey: SecretKey): string {
  return secretKey.slice(0, shortkeyLength);
}

/** Writes six bytes, masked or unmasked, at an offset. */
function maskInto(
  byteAt: (at: number) => number,
  metadataKey: MetadataKey,
  into: Uint8Array,
  place: number,
): void {
  const mask = shortkeyMask(metadataKey);
  for (let at = 0; at < shortkeyLength; at += 1) into[place + at] = byteAt(at) ^ (mask[at] ?? 0);
}

/** The details as stored. */
export function withShortkey(
  box: Uint8Array | null,
  metadataKey: MetadataKey,
  secretKey: SecretKey,
): Uint8Array {
  const end = box?.length ?? 0;
  const details = new Uint8Array(end + shortkeyLength);
  if (box !== null) details.set(box);
  maskInto((at) => secretKey.charCodeAt(at), metadataKey, details, end);
  return details;
}

interface Details {
  readonly box: Uint8Array | null;
  /** `null` if none was kept, or it was masked under another metadata key. */
  readonly shortkey: string | null;
}

/** The reverse of `withShortkey`. */
export function splitDetails(details: Uint8Array | null, metadataKey: MetadataKey): Details {
  if (details === null) return { box: null, shortkey: null };
  const end = details.length - shortkeyLength;
  if (end !== 0 && details.length % boxBucketBytes !== lastBucketBytes)
    return { box: details, shortkey: null };
  const bytes = new Uint8Array(shortkeyLength);
  maskInto((at) => details[end + at] ?? 0, metadataKey, bytes, 0);
  const text = String.fromCharCode(...bytes);
  return {
    box: end === 0 ? null : details.subarray(0, end),
    shortkey: /^[0-9a-z]{6}$/.test(text) ? text : null,
  };
}
