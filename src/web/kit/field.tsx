/** A form field with its label, hint and error, wired for screen readers; and the boxes that choose notices. */

import { raw } from 'hono/html';
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type NoticeKind, noticeKinds } from '../../protocol/vocabulary.ts';
import type { Form } from './form.ts';
import type { Frame } from './layout.tsx';

export interface FieldTexts {
  readonly name: string;
  readonly label: string;
  readonly note?: string;
  readonly hint?: string;
  readonly wrong: string | null;
}

/** Typed text as markup. The renderer would take ten times as long to escape a whole megabyte (P21). */
export const asMarkup = (typed: string) => raw(Bun.escapeHTML(typed));

/** So that keyboards and browsers leave what is typed as it is. */
export const asTyped = { autocorrect: 'off', autocapitalize: 'off', spellcheck: false } as const;

/** To spread on the control. */
export function controlAttributes({ name, hint, wrong }: FieldTexts): Readonly<Record<string, string>> {
  const described = [
    ...(wrong === null ? [] : [`${name}-wrong`]),
    ...(hint === undefined ? [] : [`${name}-hint`]),
  ];
  return {
    id: name,
    name,
    ...(described.length > 0 ? { 'aria-describedby': described.join(' ') } : {}),
    ...(wrong === null ? {} : { 'aria-invalid': 'true', autofocus: 'autofocus' }),
  };
}

export const Field: FC<PropsWithChildren<{ texts: FieldTexts }>> = ({ texts, children }) => (
  <div class="field">
    <label for={texts.name}>
      {texts.label}
      {texts.note === undefined ? null : <span> {texts.note}</span>}
    </label>
    {children}
    <FieldNotes {...texts} hintClass="hint" />
  </div>
);

export const NumberField: FC<{ texts: FieldTexts; value: string }> = ({ texts, value }) => (
  <Field texts={texts}>
    <input
      {...controlAttributes(texts)}
      type="text"
      inputmode="numeric"
      autocomplete="off"
      value={asMarkup(value)}
    />
  </Field>
);

type FieldNotesProps = Pick<FieldTexts, 'name' | 'wrong' | 'hint'> & { readonly hintClass: string };

/** What is wrong, and the hint: both describe the control (`controlAttributes`). */
export const FieldNotes: FC<FieldNotesProps> = ({ name, wrong, hint, hintClass }) => (
  <>
    <Wrong name={name} text={wrong} />
    {hint === undefined ? null : (
      <p class={hintClass} id={`${name}-hint`}>
        {hint}
      </p>
    )}
  </>
);

export const Wrong: FC<{ name: string; text: string | null }> = ({ name, text }) =>
  text === null ? null : (
    <p class="wrong" id={`${name}-wrong`}>
      {text}
    </p>
  );

/** Browsers do not send unticked boxes: this hidden field says that the form has them. */
const sentinel = { name: 'notify', value: 'chosen' } as const;

function fieldOf(kind: NoticeKind): string {
  return `${sentinel.name}-${kind}`;
}

/** `null` if the form has no notice boxes. */
export function readNoticeKinds(form: Form): readonly NoticeKind[] | null {
  if (form.text(sentinel.name) !== sentinel.value) return null;
  return noticeKinds.filter((kind) => form.text(fieldOf(kind)) !== '');
}

export const noticeTexts: Readonly<Record<NoticeKind, MessageKey>> = {
  read: 'notices.read',
  burned: 'notices.burned',
  expiring: 'notices.expiring',
};

interface NoticeBoxesProps {
  readonly frame: Frame;
  readonly ticked: readonly NoticeKind[];
  readonly wrong: string | null;
  /** Leaves the legend to screen readers, where a heading right above says the same. */
  readonly isTitled?: boolean;
}

export const NoticeBoxes: FC<NoticeBoxesProps> = ({ frame, ticked, wrong, isTitled }) => {
  const { name, value } = sentinel;
  const invalid = wrong === null ? {} : { 'aria-invalid': 'true' as const };
  return (
    <fieldset
      id={name}
      tabindex={-1}
      aria-describedby={wrong === null ? `${name}-hint` : `${name}-wrong ${name}-hint`}
    >
      <legend class={isTitled === true ? 'visually-hidden' : undefined}>
        {frame.words.say('notices.legend')}
      </legend>
      <input type="hidden" name={name} value={value} />
      {noticeKinds.map((kind, at) => (
        <label class="check">
          <input
            id={fieldOf(kind)}
            name={fieldOf(kind)}
            type="checkbox"
            value="yes"
            autocomplete="off"
            checked={ticked.includes(kind)}
            {...invalid}
            autofocus={wrong !== null && at === 0}
          />
          <span>{frame.words.say(noticeTexts[kind])}</span>
        </label>
      ))}
      <Wrong name={name} text={wrong} />
      <NoticeHint frame={frame} />
    </fieldset>
  );
};

const NoticeHint: FC<{ frame: Frame }> = ({ frame: { words, visitor } }) => (
  <p class="hint" id={`${sentinel.name}-hint`}>
    {visitor === null
      ? words.say('notices.hint')
      : words.say('notices.hintTo', { address: visitor.username })}
  </p>
);
