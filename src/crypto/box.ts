/**
 * Boxes: small sealed values stored with a secret or a request.
 *
 * A box is salt(32) ‖ AES-256-GCM(key from the holder's key and the salt, text padded to a multiple of 64). A memo is padded to one of two
 * lengths, so its box reveals only whether it is short or long (P11). A box is bound to its record (receipt id) and purpose (label).
 */
import { seal, unseal } from './aead.ts';
import { FieldReader, FieldWriter, utf8 } from './bytes.ts';
import { type BoxLabel, deriveBoxKeys } from './derive.ts';
import type { RandomBytes } from './random.ts';

const saltBytes = 32;
const bucketBytes = 64;
/** Enough for a few words, or for the longest memo: 500 characters of four bytes, and their length. */
const memoBytes = { short: 256, long: 2048 } as const;

const aadLabels: Readonly<Record<BoxLabel, Uint8Array>> = {
  creator: utf8('mayfly/1/creator'),
  details: utf8('mayfly/1/details'),
  recent: utf8('mayfly/1/recent'),
  note: utf8('mayfly/1/note'),
  address: utf8('mayfly/1/address'),
  cursor: utf8('mayfly/1/cursor'),
  memo: utf8('mayfly/1/memo'),
  answer: utf8('mayfly/1/answer'),
  accountDataKey: utf8('mayfly/1/adk'),
};

/** Returns lp(label) lp(binding). */
export function boxAad(label: BoxLabel, binding: Uint8Array): Uint8Array {
  const text = aadLabels[label];
  return new FieldWriter(8 + text.length + binding.length).field(text).field(binding).bytes;
}

export interface BoxInput {
  readonly label: BoxLabel;
  /** The ASCII bytes of the metadata key (for the address, followed by the secret key's) or the request key, or a 32-byte key. */
  readonly keyMaterial: Uint8Array;
  /** The receipt id; an answer's id; the account's id in digits for a cursor; empty for the account's data key. */
  readonly binding: Uint8Array;
}

/** Returns the padded length, including the length prefix. */
function paddedBytes(label: BoxLabel, contentBytes: number): number {
  const bytes = contentBytes + 4;
  if (label === 'memo' && bytes <= memoBytes.short) return memoBytes.short;
  const bucket = label === 'memo' ? memoBytes.long : bucketBytes;
  return Math.ceil(bytes / bucket) * bucket;
}

export function sealBox(
  input: BoxInput & { readonly content: Uint8Array; readonly random: RandomBytes },
): Uint8Array {
  const salt = input.random(saltBytes);
  const size = paddedBytes(input.label, input.content.length);
  const padded = new FieldWriter(size).field(input.content).bytes;
  const sealed = seal(
    deriveBoxKeys(input.label, input.keyMaterial, salt),
    padded,
    boxAad(input.label, input.binding),
  );
  padded.fill(0);
  return new FieldWriter(saltBytes + sealed.length).raw(salt).raw(sealed).bytes;
}

/** Returns `null` if key, binding or bytes differ from those used to seal. */
export function openBox(box: Uint8Array, input: BoxInput): Uint8Array | null {
  if (box.length < saltBytes) return null;
  const keys = deriveBoxKeys(input.label, input.keyMaterial, box.slice(0, saltBytes));
  const padded = unseal(keys, box.slice(saltBytes), boxAad(input.label, input.binding));
  if (padded === null) return null;
  const content = new FieldReader(padded).field();
  padded.fill(0);
  return content;
}
