/**
 * Generated values: short random texts for temporary passwords and salts, and passphrases of words.
 *
 * The character sets leave out the look-alikes `0 O o 1 l I i`. A text is uniform over all texts of its length that contain
 * each chosen set at least once; every word is uniform over the list, independent of the others.
 */

import { type RandomBytes, randomBelow, randomText } from '../../crypto/random.ts';
import type { Core } from '../ports/core.ts';
import { Sensitive } from '../sensitive.ts';
import type { CharacterSet, SuggestInput } from './outcomes.ts';

export const characterSets: Readonly<Record<CharacterSet, string>> = {
  lower: 'abcdefghjkmnpqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digits: '23456789',
  symbols: '*$!?()#%&+-=@_',
};

export const allCharacterSets = Object.keys(characterSets) as readonly CharacterSet[];
export const generatedLength = { min: 4, default: 12, max: 128 } as const;

/**
 * Redraws until every chosen set occurs: rejection keeps the result uniform over all texts that qualify. In the least
 * favourable case (four characters of four sets) about one draw in 15 qualifies.
 * @param length 4–128
 * @throws RangeError when no set is chosen, or more sets than characters
 */
export function generateValue(length: number, sets: readonly CharacterSet[], random: RandomBytes): string {
  const chosen = [...new Set(sets)].map((name) => characterSets[name]);
  // No text would ever qualify: fail instead of looping forever.
  if (chosen.length === 0 || length < chosen.length) throw new RangeError('no such value can be generated');
  const alphabet = chosen.join('');
  for (;;) {
    const text = randomText(alphabet, length, random);
    if (chosen.every((set) => [...text].some((character) => set.includes(character)))) return text;
  }
}

/** A value for the form; nothing is stored. */
export async function suggest(
  deps: Pick<Core, 'random' | 'words'>,
  input: SuggestInput,
): Promise<Sensitive<string>> {
  if (input.style === 'characters') {
    return new Sensitive(generateValue(input.length, input.charset, deps.random));
  }
  return new Sensitive(drawWords(await deps.words(), input.count, deps.random).join('-'));
}

function drawWords(list: readonly string[], count: number, random: RandomBytes): string[] {
  // Fail rather than return an empty passphrase.
  if (list.length === 0) throw new RangeError('there are no words to draw from');
  return Array.from({ length: count }, () => list[randomBelow(list.length, random)] ?? '');
}
