/**
 * Random bytes, texts and numbers from the operating system's generator, passed as an argument so that vectors can fix it.
 * Without modulo bias: a draw outside the largest multiple of the range is repeated.
 */
import { randomFillSync } from 'node:crypto';
import { part } from './bytes.ts';

/** `length` fresh random bytes, owned by the caller. */
export type RandomBytes = (length: number) => Uint8Array;

const poolBytes = 4096;
let pool = new Uint8Array(0);
let used = 0;

/** Bytes from the system's generator, drawn in blocks because one call costs more than the bytes. */
export const systemRandom: RandomBytes = (length) => {
  if (length > poolBytes) return randomFillSync(new Uint8Array(length));
  if (used + length > pool.length) {
    // A fresh block each time: bytes handed out belong to their holder, and none are handed out twice.
    pool = randomFillSync(new Uint8Array(poolBytes));
    used = 0;
  }
  const bytes = part(pool, used, used + length);
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
};

/** `length` characters of `alphabet` (2–256 of them, ASCII), each equally likely. */
export function randomText(alphabet: string, length: number, random: RandomBytes): string {
  const ceiling = 256 - (256 % alphabet.length);
  const text = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const bytes = random(length - filled + 8);
    for (let at = 0; at < bytes.length && filled < length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte < ceiling) text[filled++] = alphabet.charCodeAt(byte % alphabet.length);
    }
    bytes.fill(0);
  }
  const drawn = text.toString('latin1');
  text.fill(0);
  return drawn;
}

const range32 = 2 ** 32;

/** A whole number from 0 to `bound` - 1, each equally likely; `bound` is 1 to 2^32. */
export function randomBelow(bound: number, random: RandomBytes): number {
  const ceiling = range32 - (range32 % bound);
  for (;;) {
    const bytes = random(4);
    const drawn = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    bytes.fill(0);
    if (drawn < ceiling) return drawn % bound;
  }
}
