/** Common passwords, and words for passphrases; loaded at first use (about 40 ms), not at startup. */
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

/** Whether a password, with or without the digits and signs around its letters, is listed or repeats a listed text, or is tiny. */
export const isCommonPassword: IsCommonPassword = async (password) => {
  const { common } = await lists();
  const lower = password.toLowerCase();
  const unit = repeatedUnit(lower);
  return [lower, unit, lettersOf(lower), lettersOf(unit)].some((text) => common.has(text)) || isTiny(unit);
};

/** Returns the text from its first letter to its last: `password` of `!!password123`. A regular expression would backtrack. */
function lettersOf(text: string): string {
  const characters = [...text];
  const isLetter = (character: string) => /\p{L}/u.test(character);
  const first = characters.findIndex(isLetter);
  return first === -1 ? '' : characters.slice(first, characters.findLastIndex(isLetter) + 1).join('');
}

/** Returns the repeated part, such as `abc` of `abcabcabc`; without repetition, the whole text. */
function repeatedUnit(text: string): string {
  return text.slice(0, `${text}${text}`.indexOf(text, 1));
}

/** Even repeated, so few characters are soon guessed. */
function isTiny(unit: string): boolean {
  return [...unit].length <= 4;
}

/** The EFF's large list: 12.9 bits per word. */
export const dicewareWords: WordList = async () => (await lists()).diceware;
