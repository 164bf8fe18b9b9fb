/**
 * The part of the share form that draws a value. It belongs to the same form, so that drawing clears no other field. The browser validates
 * none of its fields, because creating a secret must work while this part is collapsed.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { allCharacterSets, type CharacterSet } from '../../protocol/drawing.ts';
import { shareFields } from '../client/share-fields.ts';
import { LineField } from '../kit/field.tsx';
import { TickBoxes } from '../kit/form-page.tsx';
import type { Frame } from '../kit/layout.tsx';
import { Button, type ButtonProps } from '../kit/parts.tsx';
import { generateFields, type ShareProps, type SuggestStyle, suggestionBounds, textsOf } from './typed.ts';

/** Below 40 bits, a stolen hash falls in seconds. NIST SP 800-63B requires 64 bits if only cost limits guessing. 100 are out of reach. */
export function strengthText(bits: number, { say }: Frame['messages']): string {
  if (bits < 40) return say('suggest.weak', { count: bits });
  if (bits < 64) return say('suggest.fair', { count: bits });
  return say(bits < 100 ? 'suggest.strong' : 'suggest.veryStrong', { count: bits });
}

type FillButtonProps = ButtonProps & { readonly frame: Frame };

/** Fills a field: the form comes back, and nothing is stored. */
export const FillButton: FC<FillButtonProps> = (props) => (
  <Button {...props} formaction={props.frame.href('suggest')} formnovalidate />
);

export const DrawButton: FC<FillButtonProps & { readonly draw: string }> = ({ draw, ...rest }) => (
  <FillButton {...rest} id={`draw-${draw}`} name={shareFields.draw} value={draw} />
);

const styleTexts: readonly (readonly [SuggestStyle, MessageKey])[] = [
  ['characters', 'suggest.characters'],
  ['words', 'suggest.words'],
];

const setTexts: Readonly<Record<CharacterSet, MessageKey>> = {
  lower: 'suggest.lower',
  upper: 'suggest.upper',
  digits: 'suggest.digits',
  symbols: 'suggest.symbols',
};

export const GenerateOptions: FC<ShareProps> = (props) => {
  const { frame, typed, refusal } = props;
  const { say } = frame;
  const { style, length, wordCount, sets } = typed.suggestion;
  const { suggestLength, suggestWords, suggestStyle } = shareFields;
  const { length: lengths, words } = suggestionBounds;
  const boxes = allCharacterSets.map((set) => ({
    name: `suggest-${set}`,
    label: say(setTexts[set]),
    isTicked: sets.includes(set),
  }));
  return (
    <details class="generate" id="generator" open={generateFields.some((field) => field === refusal?.field)}>
      <summary class="tool">
        <span class="visually-hidden">{say('suggest.options')}</span>
      </summary>
      <div class="options">
        <fieldset class="style">
          <legend>{say('suggest.style')}</legend>
          {styleTexts.map(([value, text]) => (
            <label class="check">
              <input type="radio" name={suggestStyle} value={value} checked={value === style} />
              <span>{say(text)}</span>
            </label>
          ))}
        </fieldset>
        <div class="of-characters">
          <LineField
            kind="number"
            texts={textsOf(props, suggestLength, say('suggest.length'), say('suggest.lengthHint', lengths))}
            typed={length}
          />
          <TickBoxes
            texts={textsOf(props, 'suggest-sets', say('suggest.sets'), say('suggest.setsHint'))}
            boxes={boxes}
            class="style"
          />
        </div>
        <div class="of-words">
          <LineField
            kind="number"
            texts={textsOf(
              props,
              suggestWords,
              say('suggest.wordCount'),
              say('suggest.wordCountHint', words),
            )}
            typed={wordCount}
          />
        </div>
      </div>
    </details>
  );
};
