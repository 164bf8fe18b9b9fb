/**
 * The shortkey: the first six characters of a secret key, which name a secret to its creator when the key is long erased.
 *
 * Owns: how it is kept for whoever holds the metadata key: behind the details' box, or alone where there is none, in six
 * bytes, covered by as many that follow from the metadata key. Invariant: they cover nothing else, ever, so without that key
 * any six characters are as likely as the others. It has no box of its own: sealing one more costs the computation of a
 * creation a sixth more, this a twentieth. A box has 48 bytes and a multiple of 64, so its length says whether a shortkey
 * follows; in records of earlier versions none does.
 */
import { shortkeyMask } from '../../crypto/derive.ts';
import type { MetadataKey, SecretKey } from '../keys.ts';

const shortkeyLength = 6;
const boxBucketBytes = 64;
const lastBucketBytes = 48 + shortkeyLength;

export function shortkeyOf(secretKey: SecretKey): string {
  return secretKey.slice(0, shortkeyLength);
}

/** Puts six bytes, covered or uncovered, at a place. */
function cover(
  byteAt: (at: number) => number,
  metadataKey: MetadataKey,
  into: Uint8Array,
  place: number,
): void {
  const mask = shortkeyMask(metadataKey);
  for (let at = 0; at < shortkeyLength; at += 1) into[place + at] = byteAt(at) ^ (mask[at] ?? 0);
}

/** The details as they are stored. */
export function withShortkey(
  box: Uint8Array | null,
  metadataKey: MetadataKey,
  secretKey: SecretKey,
): Uint8Array {
  const end = box?.length ?? 0;
  const details = new Uint8Array(end + shortkeyLength);
  if (box !== null) details.set(box);
  cover((at) => secretKey.charCodeAt(at), metadataKey, details, end);
  return details;
}

export interface Details {
  readonly box: Uint8Array | null;
  /** `null` where none was kept, or the metadata key is not the one it was covered by. */
  readonly shortkey: string | null;
}

/** What `withShortkey` put together. */
export function splitDetails(details: Uint8Array | null, metadataKey: MetadataKey): Details {
  if (details === null) return { box: null, shortkey: null };
  const end = details.length - shortkeyLength;
  if (end !== 0 && details.length % boxBucketBytes !== lastBucketBytes)
    return { box: details, shortkey: null };
  const bytes = new Uint8Array(shortkeyLength);
  cover((at) => details[end + at] ?? 0, metadataKey, bytes, 0);
  const text = String.fromCharCode(...bytes);
  return {
    box: end === 0 ? null : details.subarray(0, end),
    shortkey: /^[0-9a-z]{6}$/.test(text) ? text : null,
  };
}
