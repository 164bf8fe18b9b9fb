/**
 * The boxes that choose which mails somebody gets about a secret: markup and reading. A browser does not send a box that is
 * not ticked, so only a form that carries the hidden field can say that none is.
 */

import type { FC } from 'hono/jsx';
import { type NoticeKind, noticeKinds } from '../../core/accounts/accounts.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { Form } from './form.ts';
import type { Frame } from './layout.tsx';

export const noticeTexts: Readonly<Record<NoticeKind, MessageKey>> = {
  read: 'notices.read',
  burned: 'notices.burned',
  expiring: 'notices.expiring',
};

/** The hidden field that says that the form has the boxes. */
const boxesField = { name: 'notify', value: 'chosen' } as const;

function noticeField(kind: NoticeKind): string {
  return `${boxesField.name}-${kind}`;
}

/** `null`: the form has no such boxes. */
export function readNoticeKinds(form: Form): readonly NoticeKind[] | null {
  if (form.text(boxesField.name) !== boxesField.value) return null;
  return noticeKinds.filter((kind) => form.text(noticeField(kind)) !== '');
}

export interface NoticeBoxesProps {
  readonly frame: Frame;
  readonly ticked: readonly NoticeKind[];
  /** What is wrong with ticking any; `null`: nothing. */
  readonly wrong: string | null;
  /** Whether what stands right above says what they are, so that only screen readers need it said again. */
  readonly isTitled?: boolean;
}

export const NoticeBoxes: FC<NoticeBoxesProps> = ({ frame, ticked, wrong, isTitled }) => {
  const { name, value } = boxesField;
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
            id={noticeField(kind)}
            name={noticeField(kind)}
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
      {wrong === null ? null : (
        <p class="wrong" id={`${name}-wrong`}>
          {wrong}
        </p>
      )}
      <NoticeHint frame={frame} />
    </fieldset>
  );
};

const NoticeHint: FC<{ frame: Frame }> = ({ frame: { words, visitor } }) => (
  <p class="hint" id={`${boxesField.name}-hint`}>
    {visitor === null
      ? words.say('notices.hint')
      : words.say('notices.hintTo', { address: visitor.username })}
  </p>
);
