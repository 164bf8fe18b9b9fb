/**
 * The field of the secret, and what is said about what is in it.
 *
 * Owns: its markup, with the places that the script fills. Invariants: nothing is ever cut off, so the field has no
 * `maxlength`, which would cut what is pasted; what was typed before a value was drawn stays in the form, one press
 * away.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import { asideField, drawnField, takeBackField } from './share-aside.ts';
import type { TypedShare } from './share-form.ts';
import { type Strength, strengthOf } from './strength.ts';

export interface ValueProps {
  readonly frame: Frame;
  readonly plan: Plan;
  readonly typed: TypedShare;
  /** Of the value that was just drawn into the form; `null`: none was. */
  readonly drawnBits: number | null;
  /** Whether a text that was typed before has just come back into it. */
  readonly isTakenBack?: true;
  /** What is wrong with it; `null`: nothing. */
  readonly wrong: string | null;
}

const strengthWords: Readonly<Record<Strength, MessageKey>> = {
  weak: 'suggest.weak',
  fair: 'suggest.fair',
  strong: 'suggest.strong',
  veryStrong: 'suggest.veryStrong',
};

export const Value: FC<ValueProps> = (props) => {
  const { frame, plan, typed, wrong, drawnBits, isTakenBack } = props;
  const { say } = frame.words;
  const texts: FieldTexts = {
    name: 'secret',
    label: say('share.value'),
    hint: say('share.limit', { count: plan.maxValueBytes }),
    wrong,
  };
  const attributes = controlAttributes(texts);
  const hasNews = drawnBits !== null || isTakenBack === true;
  const described = `${attributes['aria-describedby'] ?? ''} stopped`;
  return (
    <Field texts={texts}>
      {/* A line break right after the tag belongs to the tag (HTML §13.1.2.5), so one stands before the value. */}
      <textarea
        {...attributes}
        aria-describedby={hasNews ? `news ${described}` : described}
        autofocus={hasNews || wrong !== null}
        rows={6}
        required
        autocomplete="off"
        spellcheck={false}
        autocapitalize="off"
        dir="auto"
        data-limit={plan.maxValueBytes}
      >
        {`\n${typed.secret}`}
      </textarea>
      <News {...props} />
      <Aside {...props} />
      {/* Filled by the script when it stops a form that would only come back. */}
      <p
        class="wrong"
        id="stopped"
        role="alert"
        data-too-large={say('share.tooLarge', { count: plan.maxValueBytes })}
      />
      {/* Filled by the script; spoken only when the limit is passed, never at every key. */}
      <p
        class="counter"
        id="counter"
        hidden
        data-within={say('share.counter')}
        data-over={say('share.counterOver')}
      />
      <p class="visually-hidden" id="counter-spoken" role="status" />
    </Field>
  );
};

/** What has just come into the field. */
const News: FC<ValueProps> = ({ frame: { words }, drawnBits, isTakenBack }) => {
  const { say } = words;
  if (drawnBits === null && isTakenBack !== true) return null;
  return (
    <p class="news" id="news" role="status">
      {drawnBits === null
        ? say('suggest.takenBack')
        : `${say('suggest.drawn')} ${say(strengthWords[strengthOf(drawnBits)], { count: drawnBits })}`}
    </p>
  );
};

const Aside: FC<{ frame: Frame; typed: ValueProps['typed'] }> = ({ frame, typed: { drawn, aside } }) => (
  <>
    {drawn === '' ? null : <input type="hidden" name={drawnField} value={drawn} />}
    {aside.map((text, at) => (
      <input type="hidden" name={asideField(at)} value={text} />
    ))}
    {aside.length === 0 ? null : (
      <p class="aside">
        {frame.words.say('suggest.aside')}
        <button
          class="quiet small"
          type="submit"
          id="take-back"
          name={takeBackField}
          value="1"
          formaction={frame.href('suggest')}
          formnovalidate
        >
          {frame.words.say('suggest.takeBack')}
        </button>
      </p>
    )}
  </>
);
