/**
 * The boxes that choose the notices about a secret. None is ticked unless chosen, and the hint says where the mails go.
 */
import type { FC } from 'hono/jsx';
import { type NoticeKind, noticeKinds } from '../../core/account.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { Form } from './form.ts';
import type { Frame } from './layout.tsx';

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
  <p class="hint" id={`${sentinel.name}-hint`}>
    {visitor === null
      ? words.say('notices.hint')
      : words.say('notices.hintTo', { address: visitor.username })}
  </p>
);
