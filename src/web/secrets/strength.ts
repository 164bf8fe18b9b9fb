/**
 * How hard a drawn value is to guess.
 *
 * Owns: the count of what could have been drawn, in bits. Invariant: it counts only the drawing itself, never how a
 * value looks, so it is exact for what was drawn here and says nothing about what a person typed.
 */
import { characterSets } from '../../core/secrets/generated-value.ts';
import type { CharacterSet, SuggestInput } from '../../core/secrets/outcomes.ts';

/** Words that a passphrase is drawn from: six to the fifth, as many as five dice show (`ports.ts`, `WordList`). */
const wordListSize = 7_776;

/** Rounded down, so that nobody is promised more than there is. */
export function strengthBits(input: SuggestInput): number {
  const bits =
    input.style === 'words'
      ? input.count * Math.log2(wordListSize)
      : Math.log2(textsWithEverySet(input.length, input.charset));
  return Math.floor(bits);
}

/**
 * Texts of this length that hold every set at least once, by inclusion and exclusion. Below 2^1024 up to 128
 * characters.
 */
function textsWithEverySet(length: number, sets: readonly CharacterSet[]): number {
  const sizes = sets.map((set) => characterSets[set].length);
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  let texts = 0;
  for (let left = 0; left < 2 ** sizes.length; left += 1) {
    const without = sizes.filter((_size, at) => (left >> at) % 2 === 1);
    const alphabet = whole - without.reduce((sum, size) => sum + size, 0);
    texts += (without.length % 2 === 0 ? 1 : -1) * alphabet ** length;
  }
  return texts;
}

export type Strength = 'weak' | 'fair' | 'strong' | 'veryStrong';

/**
 * In words. Below 40 bits a stolen hash is searched in seconds; 64 bits are what NIST SP 800-63B calls for where
 * guesses are not limited by anything but cost; 100 are out of anybody's reach.
 */
export function strengthOf(bits: number): Strength {
  if (bits < 40) return 'weak';
  if (bits < 64) return 'fair';
  return bits < 100 ? 'strong' : 'veryStrong';
}
