/** Repeatable random bytes: SHA-256 over a seed and a counter. Only for tests that must be the same in every run. */
import { createHash } from 'node:crypto';
import type { RandomBytes } from '../../src/crypto/random.ts';

/** The same seed gives the same bytes, however they are split into draws. */
export function seededRandom(seed: string): RandomBytes {
  let pool = Buffer.alloc(0);
  let counter = 0;
  return (length) => {
    const blocks = [pool];
    for (let have = pool.length; have < length; have += 32) {
      blocks.push(createHash('sha256').update(`${seed}:${counter}`).digest());
      counter += 1;
    }
    pool = Buffer.concat(blocks);
    const bytes = new Uint8Array(pool.subarray(0, length));
    pool = pool.subarray(length);
    return bytes;
  };
}

/** Pearson's chi-squared statistic for counts that should be equal. */
export function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

/** The statistic that a uniform source exceeds once in a million (Wilson and Hilferty's approximation, z = 4.75). */
export function chiSquareBound(categories: number): number {
  const freedom = categories - 1;
  const spread = 2 / (9 * freedom);
  return freedom * (1 - spread + 4.75 * Math.sqrt(spread)) ** 3;
}
