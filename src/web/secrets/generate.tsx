/**
 * The part of the share form that draws a value. It belongs to the same form, so that drawing clears no other field. The browser validates
 * none of its fields, because creating a secret must work while this part is collapsed.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { allCharacterSets, type CharacterSet } from '../../protocol/drawing.ts';
import { shareFields } from '../client/share-fields.ts';
import { type FieldTexts, NumberField, Wrong } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import { Icon, type IconName } from '../kit/parts.tsx';
import {
  type GenerateField,
  generateFields,
  type SuggestStyle,
  suggestionBounds,
  type TypedSuggestion,
} from './typed.ts';

type Strength = 'weak' | 'fair' | 'strong' | 'veryStrong';

/** Below 40 bits, a stolen hash falls in seconds. NIST SP 800-63B requires 64 bits if only cost limits guessing. 100 are out of reach. */
function strengthOf(bits: number): Strength {
  if (bits < 40) return 'weak';
  if (bits < 64) return 'fair';
  return bits < 100 ? 'strong' : 'veryStrong';
}

const strengthTexts: Readonly<Record<Strength, MessageKey>> = {
  weak: 'suggest.weak',
  fair: 'suggest.fair',
  strong: 'suggest.strong',
  veryStrong: 'suggest.veryStrong',
};

export function strengthText(bits: number, { say }: Frame['messages']): string {
  return say(strengthTexts[strengthOf(bits)], { count: bits });
}

interface GenerateProps {
  readonly frame: Frame;
  readonly typed: TypedSuggestion;
  readonly wrongIn: (field: GenerateField) => string | null;
}

const styleTexts: Readonly<Record<SuggestStyle, MessageKey>> = {
  characters: 'suggest.characters',
  words: 'suggest.words',
};

const setTexts: Readonly<Record<CharacterSet, MessageKey>> = {
  lower: 'suggest.lower',
  upper: 'suggest.upper',
  digits: 'suggest.digits',
  symbols: 'suggest.symbols',
};

interface FillButtonProps {
  readonly frame: Frame;
  readonly id: string;
  readonly name?: string;
  readonly value?: string;
  readonly class: string;
  readonly icon: IconName;
  readonly say: MessageKey;
  readonly 'data-words'?: string;
}

/** Fills a field: the form comes back, and nothing is stored. */
export const FillButton: FC<FillButtonProps> = ({ frame, icon, say, ...attributes }) => (
  <button type="submit" formaction={frame.href('suggest')} formnovalidate {...attributes}>
    <Icon name={icon} />
    {frame.messages.say(say)}
  </button>
);

type DrawButtonProps = Pick<FillButtonProps, 'frame' | 'class' | 'icon' | 'say'> & { readonly draw: string };

export const DrawButton: FC<DrawButtonProps> = ({ draw, ...rest }) => (
  <FillButton id={`draw-${draw}`} name={shareFields.draw} value={draw} {...rest} />
);

export const GenerateOptions: FC<GenerateProps> = (props) => (
  <details
    class="generate"
    id="generator"
    open={generateFields.some((field) => props.wrongIn(field) !== null)}
  >
    <summary class="tool">
      <span class="visually-hidden">{props.frame.messages.say('suggest.options')}</span>
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
    <legend>{frame.messages.say('suggest.style')}</legend>
    {(['characters', 'words'] as const).map((style) => (
      <label class="check">
        <input type="radio" name={shareFields.suggestStyle} value={style} checked={style === typed.style} />
        <span>{frame.messages.say(styleTexts[style])}</span>
      </label>
    ))}
  </fieldset>
);

const Length: FC<GenerateProps> = ({ frame, typed, wrongIn }) => {
  const { say } = frame.messages;
  const { min, max } = suggestionBounds.length;
  const texts: FieldTexts = {
    name: shareFields.suggestLength,
    label: say('suggest.length'),
    hint: say('suggest.lengthHint', { min, max }),
    wrong: wrongIn(shareFields.suggestLength),
  };
  return <NumberField texts={texts} value={typed.length} />;
};

const WordCount: FC<GenerateProps> = ({ frame, typed, wrongIn }) => {
  const { say } = frame.messages;
  const { min, max } = suggestionBounds.words;
  const texts: FieldTexts = {
    name: shareFields.suggestWords,
    label: say('suggest.wordCount'),
    hint: say('suggest.wordCountHint', { min, max }),
    wrong: wrongIn(shareFields.suggestWords),
  };
  return <NumberField texts={texts} value={typed.wordCount} />;
};

const Sets: FC<GenerateProps> = ({ frame, typed, wrongIn }) => {
  const { say } = frame.messages;
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
            <span>{say(setTexts[set])}</span>
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
