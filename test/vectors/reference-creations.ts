/**
 * A second implementation of what an idempotent creation derives, written only from its description (docs/envelope.md). It shares
 * nothing with the product.
 */
import { createHash, createHmac } from 'node:crypto';
import { gcmOpen, hkdfSha256, outerOf } from './reference.ts';

const text = (value: string): Buffer => Buffer.from(value, 'utf8');
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const lp = (bytes: Buffer): Buffer => Buffer.concat([u32(bytes.length), bytes]);

export const materialOf = (token: Buffer, key: string, index: number): Buffer =>
  Buffer.concat([token, lp(text(key)), u32(index)]);

export const creationIdOf = (material: Buffer): Buffer =>
  hkdfSha256(material, Buffer.alloc(0), text('mayfly/1/idem-id'), 16);

export type Drawn = 'secret' | 'receipt' | 'value';

/**
 * Texts drawn one after the other: a text takes its length and 8 bytes, and more of the same where too many of these are rejected.
 * A byte beyond the largest multiple of the alphabet is rejected.
 * @param isRight a text that is not is drawn anew
 */
export function drawnText(
  what: Drawn,
  material: Buffer,
  seed: Buffer,
  { alphabet, length, isRight }: { alphabet: string; length: number; isRight: (drawn: string) => boolean },
): string {
  const stream = hkdfSha256(material, seed, text(`mayfly/1/idem-${what}`), 8_160);
  const ceiling = Math.floor(256 / alphabet.length) * alphabet.length;
  for (let at = 0; ; ) {
    let drawn = '';
    while (drawn.length < length) {
      const wanted = length - drawn.length + 8;
      if (at + wanted > stream.length) throw new RangeError('the stream ends');
      for (const byte of stream.subarray(at, at + wanted)) {
        if (byte < ceiling && drawn.length < length) drawn += alphabet[byte % alphabet.length];
      }
      at += wanted;
    }
    if (isRight(drawn)) return drawn;
  }
}

export function bodyMacOf(material: Buffer, seed: Buffer, target: string, body: Buffer): Buffer {
  const key = hkdfSha256(material, seed, text('mayfly/1/idem-body'), 32);
  const bodyHash = createHash('sha256').update(body).digest();
  return createHmac('sha256', key)
    .update(Buffer.concat([lp(text(target)), lp(bodyHash)]))
    .digest();
}

/** Throws when it does not open. */
export function openSeed(row: Buffer, root: Buffer, id: Buffer): Buffer {
  if (row.length !== 83 || row[0] !== 1) throw new RangeError('not a seed');
  const aad = Buffer.concat([lp(text('mayfly/1/idem-seed')), lp(id), row.subarray(1, 3)]);
  return gcmOpen(outerOf(root, row.subarray(3, 35)), row.subarray(35), aad);
}
