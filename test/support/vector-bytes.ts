/** What tests of vectors read them with. */
import type { RandomBytes } from '../../src/crypto/random.ts';

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'hex');

/** Returns the vector's random inputs in the order in which they are drawn. */
export function fixedRandom(...draws: string[]): RandomBytes {
  return (length) => {
    const next = bytesOf(draws.shift() ?? '');
    if (next.length !== length) throw new Error(`${length} bytes drawn, the vector has ${next.length}`);
    return next;
  };
}
