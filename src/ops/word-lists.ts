/** Common passwords, and words to draw passphrases from; loaded at first use (about 40 ms), so that a start does not pay for it. */
import type { IsCommonPassword, WordList } from '../core/ports/passphrases.ts';

async function load() {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return { common: new Set(dictionary['passwords-common']), diceware: dictionary['diceware-common'] };
}

let loading: ReturnType<typeof load> | null = null;

function lists(): ReturnType<typeof load> {
  loading ??= load();
  return loading;
}

/** Whether a text is in the list, is so without the digits and signs around its letters, or repeats what is or is tiny. */
export const isCommonPassword: IsCommonPassword = async (password) => {
  const { common } = await lists();
  const lower = password.toLowerCase();
  const unit = repeatedUnit(lower);
  return [lower, unit, lettersOf(lower), lettersOf(unit)].some((text) => common.has(text)) || isTiny(unit);
};

/** From the first letter to the last: `password` of `!!password123`. A loop, because a pattern would look back again and again. */
function lettersOf(text: string): string {
  const characters = [...text];
  const isLetter = (character: string) => /\p{L}/u.test(character);
  const first = characters.findIndex(isLetter);
  return first === -1 ? '' : characters.slice(first, characters.findLastIndex(isLetter) + 1).join('');
}

/** What a text is the repetition of: `abc` of `abcabcabc`; the text itself when it repeats nothing. */
function repeatedUnit(text: string): string {
  return text.slice(0, `${text}${text}`.indexOf(text, 1));
}

/** Repeated or not, so few characters are soon tried. */
function isTiny(unit: string): boolean {
  return [...unit].length <= 4;
}

/** The EFF's large list: 12.9 bits a word. */
export const dicewareWords: WordList = async () => (await lists()).diceware;
