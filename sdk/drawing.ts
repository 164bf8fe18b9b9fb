/** What the client draws at random: nonces for second looks, and values that the server must not see. */
import { toBase64Url } from '../src/protocol/base64url.ts';
import {
  allCharacterSets,
  type CharacterSet,
  drawText,
  drawValue,
  generatedLength,
} from '../src/protocol/drawing.ts';
import { invalid } from './error.ts';

export function random(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

const lookBytes = 16;

/** Draws the nonce of a second look, which is good for one secret only: draw a new one for each. */
export function newLook(): string {
  return toBase64Url(random(lookBytes));
}

/** @throws MayflyError `invalid_field` */
export function generateValue(
  length: number = generatedLength.default,
  sets: readonly CharacterSet[] = allCharacterSets,
): string {
  const { min, max } = generatedLength;
  if (!Number.isInteger(length) || length < min || length > max)
    throw invalid('length', `length must be a whole number, ${min} to ${max}.`);
  if (sets.length === 0 || !sets.every((name) => allCharacterSets.includes(name)))
    throw invalid('charset', `charset must name some of ${allCharacterSets.join(', ')}.`);
  return drawValue(length, sets, (alphabet) => drawText(alphabet, length, random));
}
