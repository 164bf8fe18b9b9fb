/** Values as the server's `generate` draws them, for secrets whose value the server must not see. */
import { MayflyError } from './error.ts';

/** Without the look-alikes `0 O o 1 l I i`. */
export const characterSets = {
  lower: 'abcdefghjkmnpqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digits: '23456789',
  symbols: '*$!?()#%&+-=@_',
} as const;

export type CharacterSet = keyof typeof characterSets;

const allSets = Object.keys(characterSets) as readonly CharacterSet[];
const usualLength = 12;
const minLength = 4;
const maxLength = 128;

/** Each character equally likely: a byte outside the largest multiple of the alphabet's length is drawn again. */
function drawText(alphabet: string, length: number): string {
  const ceiling = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length - text.length)))
      if (byte < ceiling) text += alphabet.charAt(byte % alphabet.length);
  }
  return text;
}

/**
 * Uniform over all texts of the length that have a character of each set: a text without one is drawn again.
 *
 * @throws MayflyError `invalid_field`
 */
export function drawValue(length: number = usualLength, sets: readonly CharacterSet[] = allSets): string {
  if (!Number.isInteger(length) || length < minLength || length > maxLength)
    throw new MayflyError('invalid_field', 'length must be a whole number, 4 to 128.', { field: 'length' });
  const chosen = allSets.filter((name) => sets.includes(name)).map((name) => characterSets[name]);
  if (chosen.length === 0 || !sets.every((name) => allSets.includes(name)))
    throw new MayflyError('invalid_field', `charset must name some of ${allSets.join(', ')}.`, {
      field: 'charset',
    });
  for (;;) {
    const text = drawText(chosen.join(''), length);
    if (chosen.every((set) => [...text].some((character) => set.includes(character)))) return text;
  }
}
