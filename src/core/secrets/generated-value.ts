/** Generated values, drawn from the randomness that the core is given. */
import { type RandomBytes, randomText } from '../../crypto/random.ts';
import { allDigits, type CharacterSet, drawValue, drawWords } from '../../protocol/drawing.ts';
import type { Core } from '../ports/core.ts';
import { Sensitive } from '../sensitive.ts';
import type { SuggestInput } from './outcomes.ts';

/** Generates a value; a repeated creation draws the same one again from its seed. @throws RangeError as `drawValue` does */
export function generateValue(length: number, sets: readonly CharacterSet[], random: RandomBytes): string {
  return drawValue(length, sets, (alphabet) => randomText(alphabet, length, random));
}

/** Draws a value to suggest in the form; nothing is stored. */
export async function suggest(
  deps: Pick<Core, 'random' | 'words'>,
  input: SuggestInput,
): Promise<Sensitive<string>> {
  return new Sensitive(await drawFor(deps, input));
}

async function drawFor({ random, words }: Pick<Core, 'random' | 'words'>, input: SuggestInput) {
  switch (input.style) {
    case 'characters':
      return generateValue(input.length, input.charset, random);
    case 'words':
      return drawWords(await words(), input.count, random);
    case 'digits':
      return randomText(allDigits, input.length, random);
  }
}
