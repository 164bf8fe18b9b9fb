/**
 * A secret and its receipt are one record with one state, so they cannot contradict each other (P6), and burn and reveal
 * exclude each other (P7).
 *
 *   waiting --claim--> received        waiting --burn--> burned        waiting --ttl--> expired
 *
 * `received`, `burned` and `expired` are final. `viewed` is a waiting record whose creator has looked at it.
 */

import { shortkeyMask } from '../crypto/derive.ts';
import type { Burner, DeliveryState, NoticeKind, ReceiptState } from '../protocol/vocabulary.ts';
import type { AccountId } from './account.ts';
import type { MetadataKey, ReceiptId, SecretId, SecretKey } from './keys.ts';
import type { UnixSeconds } from './time.ts';

/** Expiry is not a stored state: it follows from the time. */
export type StoredState = 'waiting' | 'received' | 'burned';

export interface StoredDelivery {
  readonly state: DeliveryState;
  /** When the delivery entered this state, in store time. */
  readonly at: UnixSeconds;
  /** When `queued` starts to be reported as `not_sent`; `null` in the other states. */
  readonly staleAt: UnixSeconds | null;
  /** The server's reply and the obfuscated recipient, sealed under the metadata key; `null` if both are missing. */
  readonly noteBox: Uint8Array | null;
  /** An address other than the one given at creation, sealed under both keys, and the secret key is erased with the secret. */
  readonly addressBox: Uint8Array | null;
}

/** A delivery as the creator sees it. */
export interface Delivery {
  readonly state: DeliveryState;
  readonly at: UnixSeconds;
  /** The mail server's last reply, as one line, or one of `mailTroubles`; `null` if there is neither. */
  readonly reply: string | null;
}

declare const brand: unique symbol;

/** 16 bytes, derived one-way from a token, an idempotency key and a place in a batch. */
export type CreationId = Uint8Array & { readonly [brand]: 'CreationId' };

/** A reservation, identified by its unique seed. */
export interface CreationHold {
  readonly id: CreationId;
  /** 83 bytes: see `crypto/creation.ts`. */
  readonly wrappedSeed: Uint8Array;
}

/** The facts that a new record, a secret and a receipt share. */
interface RecordFacts {
  readonly secretId: SecretId;
  /** `null` for a record made anonymously. */
  readonly owner: AccountId | null;
  readonly createdAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
  readonly hasPassphrase: boolean;
  /** Whether the secret is end-to-end: encrypted by a client. */
  readonly sealed: boolean;
  /** Whether opening it takes a code mailed to an address (`ports/codes.ts`). */
  readonly verify: boolean;
  /** `''` when links use the site's own host. */
  readonly shareDomain: string;
  /** The notices that the owner gets, in the order of `noticeKinds`; none for an anonymous record. */
  readonly notify: readonly NoticeKind[];
}

/** What a record keeps for its creator, as long as its receipt lives. */
interface KeptForCreator {
  readonly receiptId: ReceiptId;
  /** Created + 2 × ttl: the receipt outlives the secret. */
  readonly receiptExpiresAt: UnixSeconds;
  /** For the metadata key's holder: the sealed, obfuscated recipient and the shortkey (`withShortkey`). */
  readonly detailsBox: Uint8Array | null;
  /** The metadata key and what lists show, sealed under the account's data key; `null` for anonymous records. */
  readonly recentBox: Uint8Array | null;
  /** The creator's memo, sealed under the metadata key. */
  readonly memoBox: Uint8Array | null;
}

/** A record as the store receives it: ids, times and sealed bytes. None of it opens without the link (P9). */
export interface NewRecord extends RecordFacts, KeptForCreator {
  /** The sealed secret, including the part that its creator can read: see `crypto/envelope.ts`. */
  readonly sealedSecret: Uint8Array;
  /** `staleAt` of the first delivery; `null` without a recipient. */
  readonly deliveryStaleAt: UnixSeconds | null;
  /** When the expiry notice is due, before `expiresAt`; `null` if none is wanted. */
  readonly noticeDueAt: UnixSeconds | null;
  /** The reservation of an idempotent creation; otherwise `null`. */
  readonly hold: CreationHold | null;
}

/** A live secret as the store returns it: sealed, unread, unexpired at store time. */
export interface StoredSecret extends RecordFacts {
  /** Changes when the content under the link does, not when the outer layer does, so a claim takes what was checked. Starts at 1. */
  readonly rowVersion: number;
  readonly sealedSecret: Uint8Array;
}

/** Facts shown to the creator unchanged. Add a new field of this kind here first (ARCHITECTURE.md, "Where new code goes"). */
export interface ReceiptFacts
  extends Pick<RecordFacts, 'createdAt' | 'hasPassphrase' | 'sealed' | 'verify' | 'shareDomain' | 'notify'> {
  readonly viewedAt: UnixSeconds | null;
  /** `null` if the secret was not burned, or was burned by an operator or by an earlier version, which did not record the burner. */
  readonly burnedBy: Burner | null;
}

/** Picks the fields by name, because a record also has sealed ones. */
export function receiptFactsOf(record: ReceiptRecord): ReceiptFacts {
  const { createdAt, hasPassphrase, sealed, verify, shareDomain, notify, viewedAt, burnedBy } = record;
  return { createdAt, hasPassphrase, sealed, verify, shareDomain, notify, viewedAt, burnedBy };
}

/** A receipt as lists get it: without the sealed bytes that contain the secret's link. */
export interface ReceiptRecord extends RecordFacts, ReceiptFacts, KeptForCreator {
  readonly state: StoredState;
  /** When the secret was received or burned; `null` while its state is `waiting`. */
  readonly endedAt: UnixSeconds | null;
  readonly delivery: StoredDelivery | null;
}

/** What a secret's state at a time follows from. */
export type SecretLife = Pick<ReceiptRecord, 'state' | 'expiresAt'>;
export type ReceiptLife = SecretLife & Pick<ReceiptRecord, 'createdAt' | 'receiptExpiresAt'>;

/** A receipt found by its id. Both fields are `null` once the secret is gone, even before a sweep. */
export interface StoredReceipt extends ReceiptRecord {
  readonly sealedSecret: Uint8Array | null;
  /** Version 1 of the envelope kept the creator's part outside the sealed secret. */
  readonly creatorBox: Uint8Array | null;
}

export interface ListedReceipt extends ReceiptRecord {
  /** Marks where the next page starts: opaque, at most 60 ASCII characters. */
  readonly cursor: string;
}

/** Returns the record as the store would right after `put`. */
export function freshReceipt(record: NewRecord): ReceiptRecord {
  const { createdAt: at, deliveryStaleAt: staleAt } = record;
  return {
    ...record,
    state: 'waiting',
    viewedAt: null,
    endedAt: null,
    burnedBy: null,
    delivery: staleAt === null ? null : { state: 'queued', at, staleAt, noteBox: null, addressBox: null },
  };
}

/** Returns the secret's state at store time `now`, whether or not its creator has looked. */
export function stateAt({ state, expiresAt }: SecretLife, now: UnixSeconds): Exclude<ReceiptState, 'viewed'> {
  if (state !== 'waiting') return state;
  return now < expiresAt ? 'new' : 'expired';
}

/** Returns the state that the creator sees at store time `now`. */
export function receiptStateAt(
  receipt: SecretLife & Pick<ReceiptRecord, 'viewedAt'>,
  now: UnixSeconds,
): ReceiptState {
  const state = stateAt(receipt, now);
  return state === 'new' && receipt.viewedAt !== null ? 'viewed' : state;
}

/** Checks whether the secret can still be read at store time `now`. */
export function isWaiting(life: SecretLife, now: UnixSeconds): boolean {
  return stateAt(life, now) === 'new';
}

export function updatedAtOf(receipt: ReceiptRecord, now: UnixSeconds): UnixSeconds {
  if (receipt.endedAt !== null) return receipt.endedAt;
  if (now >= receipt.expiresAt) return receipt.expiresAt;
  return Math.max(receipt.createdAt, receipt.viewedAt ?? 0);
}

/*
 * The shortkey, the first six characters of a secret key, identifies a secret to its creator after the key is erased. It is
 * stored after the details box, or alone, XORed with six bytes derived from the metadata key. That mask covers nothing
 * else, so without the key every shortkey is equally likely. A box would add a sixth to the cost of a creation; this adds a
 * twentieth. A box is 48 bytes plus a multiple of 64, so the length shows whether a shortkey follows. Early records have none.
 */
const shortkeyLength = 6;
const boxBucketBytes = 64;
const lastBucketBytes = 48 + shortkeyLength;

export function shortkeyOf(secretKey: SecretKey): string {
  return secretKey.slice(0, shortkeyLength);
}

/** Masks or unmasks six bytes. */
function maskInto(
  byteAt: (at: number) => number,
  metadataKey: MetadataKey,
  into: Uint8Array,
  place: number,
): void {
  const mask = shortkeyMask(metadataKey);
  for (let at = 0; at < shortkeyLength; at += 1) into[place + at] = byteAt(at) ^ (mask[at] ?? 0);
}

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
  /** `null` if none was stored, or if the metadata key belongs to a different record. */
  readonly shortkey: string | null;
}

/** Reverses `withShortkey`. */
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
