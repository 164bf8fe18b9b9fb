/**
 * A colour of a share domain's face: a text, a picker, and the nearest that can be read when the one given cannot.
 *
 * Owns: the field. Invariant: no colour stands in a style of its own, which the policy refuses; a swatch is a drawing.
 */
import type { FC } from 'hono/jsx';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import { isColour } from './brand-form.ts';

export interface ColourFieldProps {
  readonly frame: Frame;
  /** Its name in the form. */
  readonly field: string;
  readonly label: string;
  readonly hint: string;
  readonly typed: string;
  /** What the picker shows where there is no colour: the site's own. */
  readonly fallback: string;
  readonly wrong: string | null;
  /** The nearest that can be read, when what was typed cannot. */
  readonly nearest: string | null;
}

export const ColourField: FC<ColourFieldProps> = (props) => {
  const { frame, field, label, typed, fallback, wrong, nearest } = props;
  const texts: FieldTexts = { name: field, label, hint: props.hint, wrong };
  const shown = isColour(typed) ? typed : fallback;
  return (
    <div>
      <Field texts={texts}>
        <div class="colour">
          <input
            {...controlAttributes(texts)}
            class="code"
            type="text"
            dir="ltr"
            value={typed}
            placeholder="#rrggbb"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
          <input
            type="color"
            name={`${field}-picker`}
            value={shown}
            aria-label={frame.words.say('domainBrand.pick', { colour: label })}
            autocomplete="off"
            data-colour={`#${field}`}
          />
        </div>
        {/* What both showed, so that it can be told which of them was changed. */}
        <input type="hidden" name={`${field}-before`} value={typed} />
        <input type="hidden" name={`${field}-shown`} value={shown} />
      </Field>
      {nearest === null ? null : <Nearest frame={frame} field={field} nearest={nearest} />}
    </div>
  );
};

const Nearest: FC<{ frame: Frame; field: string; nearest: string }> = ({ frame, field, nearest }) => (
  <p class="nearest">
    <Swatch colour={nearest} />
    <button class="quiet small" type="submit" name={`take-${field}`} value={nearest} id={`take-${field}`}>
      {frame.words.say('domainBrand.take', { colour: frame.words.code(nearest) })}
    </button>
  </p>
);

export const Swatch: FC<{ colour: string }> = ({ colour }) => (
  <svg class="swatch" viewBox="0 0 24 24" aria-hidden="true">
    <rect x="1" y="1" width="22" height="22" rx="5" fill={colour} stroke="currentColor" />
  </svg>
);
