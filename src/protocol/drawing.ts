/** Random values without modulo bias: a draw outside the largest multiple of the range is repeated. */

/** Returns `length` fresh random bytes, owned by the caller. */
type RandomBytes = (length: number) => Uint8Array;

/** Without the look-alikes `0 O o 1 l I i`. */
export const characterSets = {
  lower: 'abcdefghjkmnpqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digits: '23456789',
  symbols: '*$!?()#%&+-=@_',
} as const;

export type CharacterSet = keyof typeof characterSets;

/** Look-alikes do no harm among digits. */
export const allDigits = '0123456789';

export const allCharacterSets = /* @__PURE__ */ Object.keys(characterSets) as readonly CharacterSet[];
export const generatedLength = { min: 4, default: 12, max: 128 } as const;

const range32 = 0x1_0000_0000;

/** Returns a whole number from 0 to `bound` - 1, each equally likely; `bound` is 1 to 2^32. */
export function randomBelow(bound: number, random: RandomBytes): number {
  const ceiling = range32 - (range32 % bound);
  for (;;) {
    const bytes = random(4);
    const drawn = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    bytes.fill(0);
    if (drawn < ceiling) return drawn % bound;
  }
}

/** Returns `length` characters of `alphabet`, each equally likely. */
export function drawText(alphabet: string, length: number, random: RandomBytes): string {
  return Array.from({ length }, () => alphabet.charAt(randomBelow(alphabet.length, random))).join('');
}

/**
 * Draws uniformly from all texts that contain each chosen set: a text that lacks one is drawn again. In the worst case (four characters of
 * four sets) one draw in 15 qualifies.
 * @param length 4–128
 * @param draw returns a text of that length, each character of the alphabet equally likely
 * @throws RangeError when no set is chosen, or more sets than characters
 */
export function drawValue(
  length: number,
  sets: readonly CharacterSet[],
  draw: (alphabet: string) => string,
): string {
  const chosen = [...new Set(sets)].map((name) => characterSets[name]);
  // No text would ever qualify: fail instead of looping forever.
  if (chosen.length === 0 || length < chosen.length) throw new RangeError('no such value can be generated');
  const alphabet = chosen.join('');
  for (;;) {
    const text = draw(alphabet);
    if (chosen.every((set) => [...text].some((character) => set.includes(character)))) return text;
  }
}

/** Draws words, each equally likely. @throws RangeError if the list is empty */
export function drawWords(list: readonly string[], count: number, random: RandomBytes): string {
  // Fail rather than return an empty passphrase.
  if (list.length === 0) throw new RangeError('there are no words to draw from');
  return Array.from({ length: count }, () => list[randomBelow(list.length, random)] ?? '').join('-');
}
