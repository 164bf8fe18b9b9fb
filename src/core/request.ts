/**
 * A request for a secret: a mailbox of answers. An answer is an ordinary end-to-end secret; its row here only lets the asker find
 * and open it, and opens nothing once that secret is gone. Neither table says anything without a link's end or the request key.
 */
import { FieldReader, FieldWriter, utf8 } from '../crypto/bytes.ts';
import { deriveAnswerId } from '../crypto/derive.ts';
import type { RequestState } from '../protocol/vocabulary.ts';
import type { AccountId } from './account.ts';
import { parseSecretKey, type ReceiptId, type RequestId, type RequestKey, type SecretKey } from './keys.ts';
import type { NewRecord } from './secret.ts';
import type { UnixSeconds } from './time.ts';

declare const brand: unique symbol;

/** 16 bytes, derived one-way from a request key and the hash of an answer's link proof. */
export type AnswerId = Uint8Array & { readonly [brand]: 'AnswerId' };

/** How many answers a request takes in its life, discarded ones included. */
export const maxAnswers = 100;
/** How many answers a request may want. */
export const mostPlaces = 20;
/** Lengths of a sealed prompt: at most 200 characters, padded. */
export const termsBytes: ReadonlySet<number> = new Set([272, 528, 784, 1_040]);
/** Length of an answer's wrapped link end. */
export const wrappedBytes = 64;

export interface NewRequest {
  readonly id: RequestId;
  /** `null` for a request made anonymously. */
  readonly owner: AccountId | null;
  /** SHA-256 of the asker's proof, 32 bytes. */
  readonly ownerHash: Uint8Array;
  /** SHA-256 of the proof of the whole ask link, 32 bytes. */
  readonly askHash: Uint8Array;
  /** The prompt, encrypted by the asker's client; its length is one of `termsBytes`. */
  readonly terms: Uint8Array;
  /** How many answers are wanted: from 1 to `mostPlaces`. */
  readonly places: number;
  readonly createdAt: UnixSeconds;
  /** When the request ends by itself. */
  readonly until: UnixSeconds;
  readonly answerTtlSeconds: number;
  /** Whether the asker gets a notice of answers by mail. */
  readonly notify: boolean;
  /** `''` when links use the site's own host. */
  readonly shareDomain: string;
}

export interface StoredRequest extends NewRequest {
  /** Whether it was ended early, or has ended by itself at store time. */
  readonly isEnded: boolean;
  /** Answers that were not discarded. */
  readonly taken: number;
  /** All answers so far. */
  readonly answered: number;
  /** When it was made, changed or ended, or an answer came or was discarded. */
  readonly updatedAt: UnixSeconds;
  /** How often somebody who has the ask link reported it. */
  readonly reports: number;
}

export interface StoredAnswer {
  readonly id: AnswerId;
  /** See `answerContent`. */
  readonly box: Uint8Array;
  readonly isDiscarded: boolean;
}

export interface NewAnswer extends Omit<StoredAnswer, 'isDiscarded'> {
  readonly requestId: RequestId;
  /** Of the request's owner, with no box for lists, no notice and no reservation. */
  readonly record: NewRecord;
}

export function answerIdOf(key: RequestKey, linkHash: Uint8Array): AnswerId {
  return deriveAnswerId(key, linkHash) as AnswerId;
}

/** Returns how many more answers the request takes. */
export function freePlaces({
  isEnded,
  places,
  taken,
  answered,
}: Pick<StoredRequest, 'isEnded' | 'places' | 'taken' | 'answered'>): number {
  return isEnded ? 0 : Math.max(0, Math.min(places - taken, maxAnswers - answered));
}

export function requestStateOf(request: StoredRequest): RequestState {
  if (request.isEnded) return 'ended';
  return freePlaces(request) > 0 ? 'open' : 'full';
}

/** What the box of an answer says. */
export interface AnswerFacts {
  readonly secretKey: SecretKey;
  /** Finds its state. The metadata key was dropped, so only this list can. */
  readonly receiptId: ReceiptId;
  /** The end of the answer's link, encrypted for the asker: 64 bytes. */
  readonly wrapped: Uint8Array;
  /** SHA-256 of the answer's link proof, 32 bytes. */
  readonly linkHash: Uint8Array;
  readonly createdAt: UnixSeconds;
  /** Of the answer's ciphertext. */
  readonly sizeBytes: number;
}

const [keyBytes, idBytes, hashBytes] = [31, 16, 32];
const contentBytes = keyBytes + idBytes + wrappedBytes + hashBytes + 12;

/** Returns the content of an answer's box: key(31) ‖ receipt id(16) ‖ wrapped(64) ‖ link hash(32) ‖ u64 time ‖ u32 size. */
export function answerContent({
  secretKey,
  receiptId,
  wrapped,
  linkHash,
  createdAt,
  sizeBytes,
}: AnswerFacts): Uint8Array {
  const writer = new FieldWriter(contentBytes).raw(utf8(secretKey)).raw(receiptId);
  return writer.raw(wrapped).raw(linkHash).u64(createdAt).u32(sizeBytes).bytes;
}

/** Reverses `answerContent`; `null` for other bytes. */
export function parseAnswerContent(content: Uint8Array): AnswerFacts | null {
  if (content.length !== contentBytes) return null;
  const reader = new FieldReader(content);
  const secretKey = parseSecretKey(Buffer.from(reader.raw(keyBytes)).toString('latin1'));
  if (secretKey === null) return null;
  return {
    secretKey,
    receiptId: reader.raw(idBytes) as ReceiptId,
    wrapped: reader.raw(wrappedBytes),
    linkHash: reader.raw(hashBytes),
    createdAt: reader.u64(),
    sizeBytes: reader.u32(),
  };
}
