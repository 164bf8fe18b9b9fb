/**
 * Generated values: short random texts for temporary passwords and salts.
 *
 * Owns: the character sets, without the look-alikes `0 O o 1 l I i`. Invariant: every character is uniform over its
 * set, the arrangement over all arrangements, and each chosen set is there at least once.
 */
import { type RandomBytes, randomText } from '../crypto/random.ts';
import type { CharacterSet } from './outcomes.ts';

export const characterSets: Readonly<Record<CharacterSet, string>> = {
  lower: 'abcdefghjkmnpqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digits: '23456789',
  symbols: '*$!?()#%&+-=@_',
};

export const allCharacterSets = Object.keys(characterSets) as readonly CharacterSet[];
export const generatedLength = { min: 4, default: 12, max: 128 } as const;

/**
 * Draws until every chosen set is there: rejection keeps the accepted texts uniform over all that qualify. With the
 * least favourable choice (four characters of four sets) about one draw in 15 qualifies.
 * @param length 4–128
 * @throws RangeError when no set is chosen, or more sets than characters
 */
export function generateValue(length: number, sets: readonly CharacterSet[], random: RandomBytes): string {
  const chosen = [...new Set(sets)].map((name) => characterSets[name]);
  // No text would ever qualify: better an error than a loop without end.
  if (chosen.length === 0 || length < chosen.length) throw new RangeError('no such value can be generated');
  const alphabet = chosen.join('');
  for (;;) {
    const text = randomText(alphabet, length, random);
    if (chosen.every((set) => [...text].some((character) => set.includes(character)))) return text;
  }
}
