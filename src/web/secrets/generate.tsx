/**
 * The part of the share form that draws a value: characters or words.
 *
 * Owns: its fields, which all begin with `suggest-`. Invariant: it is part of the one form, so drawing loses nothing
 * that was typed beside it; the browser checks nothing in it, because creating must work while it is folded away.
 */
import type { FC } from 'hono/jsx';
import { allCharacterSets } from '../../core/secrets/generated-value.ts';
import type { CharacterSet, SuggestInput } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';
import { type ShareField, suggestionBounds, type TypedSuggestion } from './share-form.ts';

interface GenerateProps {
  readonly frame: Frame;
  readonly typed: TypedSuggestion;
  readonly isOpen: boolean;
  readonly hasDrawn: boolean;
  readonly wrongIn: (field: ShareField) => string | null;
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

const fields = ['suggest-length', 'suggest-sets', 'suggest-words'] as const;

export const Generate: FC<GenerateProps> = (props) => {
  const { frame, isOpen, hasDrawn, wrongIn } = props;
  const { say } = frame.words;
  const isWrong = fields.some((field) => wrongIn(field) !== null);
  return (
    <details class="generate" open={isOpen || isWrong}>
      <summary>{say('suggest.title')}</summary>
      <p class="hint">{say('suggest.lead')}</p>
      <Style {...props} />
      <div class="of-characters">
        <Length {...props} />
        <Sets {...props} />
      </div>
      <div class="of-words">
        <WordCount {...props} />
      </div>
      <button class="quiet" type="submit" id="generate" formaction={frame.href('suggest')} formnovalidate>
        <Icon name="refresh" />
        {say(hasDrawn ? 'suggest.again' : 'suggest.submit')}
      </button>
    </details>
  );
};

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

const NumberField: FC<{ texts: FieldTexts; value: string }> = ({ texts, value }) => (
  <Field texts={texts}>
    <input {...controlAttributes(texts)} type="text" inputmode="numeric" autocomplete="off" value={value} />
  </Field>
);

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
      {wrong === null ? null : (
        <p class="wrong" id="suggest-sets-wrong">
          {wrong}
        </p>
      )}
      <p class="hint" id="suggest-sets-hint">
        {say('suggest.setsHint')}
      </p>
    </fieldset>
  );
};
