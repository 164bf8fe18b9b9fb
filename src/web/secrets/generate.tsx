/**
 * The part of the share form that draws a value. It belongs to the one form, so generating loses nothing typed
 * beside it; the browser validates none of its fields, because creating must work while it is folded away.
 */

import type { FC } from 'hono/jsx';
import type { SuggestInput } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import {
  allCharacterSets,
  type CharacterSet,
  characterSets,
  generatedLength,
} from '../../protocol/drawing.ts';
import { type FieldTexts, NumberField, Wrong } from '../kit/field.tsx';
import { type Form, wholeNumber } from '../kit/form.ts';
import type { Frame } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';

const fields = ['suggest-length', 'suggest-sets', 'suggest-words'] as const;
export type GenerateField = (typeof fields)[number];

export interface TypedSuggestion {
  readonly style: SuggestInput['style'];
  readonly length: string;
  readonly sets: readonly CharacterSet[];
  readonly wordCount: string;
}

/** What a passphrase is drawn as: 64 bits, which is enough where every guess costs an attempt, and easy to read out. */
export const drawnPassphrase = { style: 'words', count: 5 } as const satisfies SuggestInput;

/** `first` is what the form starts with: enough for a lasting password. */
export const suggestionBounds = {
  length: { min: generatedLength.min, first: 16, max: generatedLength.max },
  words: { min: 3, first: 5, max: 12 },
} as const;

export const emptySuggestion: TypedSuggestion = {
  style: 'characters',
  length: String(suggestionBounds.length.first),
  sets: allCharacterSets,
  wordCount: String(suggestionBounds.words.first),
};

export function readSuggestion(form: Form): TypedSuggestion {
  // Browsers do not send unticked boxes, so only a form with the generator can say that none is ticked.
  if (form.text('suggest-style') === '') return emptySuggestion;
  return {
    style: form.text('suggest-style') === 'words' ? 'words' : 'characters',
    length: form.text('suggest-length'),
    sets: allCharacterSets.filter((set) => form.text(`suggest-${set}`) !== ''),
    wordCount: form.text('suggest-words'),
  };
}

export function toSuggestInput({
  style,
  length,
  sets,
  wordCount,
}: TypedSuggestion): SuggestInput | { readonly wrong: GenerateField } {
  if (style === 'words') {
    const count = numberWithin(wordCount, suggestionBounds.words);
    return count === null ? { wrong: 'suggest-words' } : { style, count };
  }
  const count = numberWithin(length, suggestionBounds.length);
  if (count === null) return { wrong: 'suggest-length' };
  return sets.length === 0 ? { wrong: 'suggest-sets' } : { style, length: count, charset: sets };
}

function numberWithin(text: string, { min, max }: { min: number; max: number }): number | null {
  const number = wholeNumber(text.trim());
  return number === null || number < min || number > max ? null : number;
}

/** 6^5, as many as five dice show (`WordList` in `core/ports/passphrases.ts`). */
const wordListSize = 7_776;

/** Entropy of the drawing itself, never a guess from how the value looks, so it is exact. Rounded down. */
export function strengthBits(input: SuggestInput): number {
  const bits =
    input.style === 'words'
      ? input.count * Math.log2(wordListSize)
      : Math.log2(textsWithEverySet(input.length, input.charset));
  return Math.floor(bits);
}

/** Texts with a character of every set, by inclusion and exclusion. Below 2^1024 up to 128 characters. */
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

type Strength = 'weak' | 'fair' | 'strong' | 'veryStrong';

/**
 * Below 40 bits a stolen hash is searched in seconds; NIST SP 800-63B asks for 64 bits where only cost limits guesses;
 * 100 are out of reach.
 */
function strengthOf(bits: number): Strength {
  if (bits < 40) return 'weak';
  if (bits < 64) return 'fair';
  return bits < 100 ? 'strong' : 'veryStrong';
}

const strengthWords: Readonly<Record<Strength, MessageKey>> = {
  weak: 'suggest.weak',
  fair: 'suggest.fair',
  strong: 'suggest.strong',
  veryStrong: 'suggest.veryStrong',
};

export function strengthText(bits: number, { say }: Frame['words']): string {
  return say(strengthWords[strengthOf(bits)], { count: bits });
}

interface GenerateProps {
  readonly frame: Frame;
  readonly typed: TypedSuggestion;
  readonly wrongIn: (field: GenerateField) => string | null;
}

const styleWords: Readonly<Record<SuggestInput['style'], MessageKey>> = {
  characters: 'suggest.characters',
  words: 'suggest.words',
};

const setWords: Readonly<Record<CharacterSet, MessageKey>> = {
  lower: 'suggest.lower',
  upper: 'suggest.upper',
  digits: 'suggest.digits',
  symbols: 'suggest.symbols',
};

/** Draws a value in place, in whatever way is chosen in the options beside it. */
export const Generate: FC<{ frame: Frame; hasDrawn: boolean }> = ({ frame, hasDrawn }) => (
  <button
    class="tool"
    type="submit"
    id="generate"
    formaction={frame.href('suggest')}
    formnovalidate
    data-words={frame.href('words')}
  >
    <Icon name="dice" />
    {frame.words.say(hasDrawn ? 'suggest.again' : 'suggest.submit')}
  </button>
);

export const GenerateOptions: FC<GenerateProps> = (props) => (
  <details class="generate" id="generator" open={fields.some((field) => props.wrongIn(field) !== null)}>
    <summary class="tool">
      <span class="visually-hidden">{props.frame.words.say('suggest.options')}</span>
    </summary>
    <div class="options">
      <Style {...props} />
      <div class="of-characters">
        <Length {...props} />
        <Sets {...props} />
      </div>
      <div class="of-words">
        <WordCount {...props} />
      </div>
    </div>
  </details>
);

const Style: FC<GenerateProps> = ({ frame, typed }) => (
  <fieldset class="style">
    <legend>{frame.words.say('suggest.style')}</legend>
    {(['characters', 'words'] as const).map((style) => (
      <label class="check">
        <input type="radio" name="suggest-style" value={style} checked={style === typed.style} />
        <span>{frame.words.say(styleWords[style])}</span>
      </label>
    ))}
  </fieldset>
);

const Length: FC<GenerateProps> = ({ frame, typed, wrongIn }) => {
  const { say } = frame.words;
  const { min, max } = suggestionBounds.length;
  const texts: FieldTexts = {
    name: 'suggest-length',
    label: say('suggest.length'),
    hint: say('suggest.lengthHint', { min, max }),
    wrong: wrongIn('suggest-length'),
  };
  return <NumberField texts={texts} value={typed.length} />;
};

const WordCount: FC<GenerateProps> = ({ frame, typed, wrongIn }) => {
  const { say } = frame.words;
  const { min, max } = suggestionBounds.words;
  const texts: FieldTexts = {
    name: 'suggest-words',
    label: say('suggest.wordCount'),
    hint: say('suggest.wordCountHint', { min, max }),
    wrong: wrongIn('suggest-words'),
  };
  return <NumberField texts={texts} value={typed.wordCount} />;
};

const Sets: FC<GenerateProps> = ({ frame, typed, wrongIn }) => {
  const { say } = frame.words;
  const wrong = wrongIn('suggest-sets');
  const invalid = wrong === null ? {} : { 'aria-invalid': 'true' as const };
  return (
    <fieldset
      id="suggest-sets"
      tabindex={-1}
      aria-describedby={wrong === null ? 'suggest-sets-hint' : 'suggest-sets-wrong suggest-sets-hint'}
    >
      <legend>{say('suggest.sets')}</legend>
      <div class="sets">
        {allCharacterSets.map((set, at) => (
          <label class="check">
            <input
              type="checkbox"
              name={`suggest-${set}`}
              value="on"
              checked={typed.sets.includes(set)}
              {...invalid}
              autofocus={wrong !== null && at === 0}
            />
            <span>{say(setWords[set])}</span>
          </label>
        ))}
      </div>
      <Wrong name="suggest-sets" text={wrong} />
      <p class="hint" id="suggest-sets-hint">
        {say('suggest.setsHint')}
      </p>
    </fieldset>
  );
};
