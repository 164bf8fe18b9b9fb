/**
 * The creator's own label of a secret, on its receipt.
 *
 * Owns: where it is shown and the form that changes it. Invariant: a label that was refused stands in the form as it was
 * typed, while the one that is kept is shown as it is.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';

/** A label that was asked for and is not kept. */
export interface RefusedMemo {
  readonly typed: string;
  readonly message: string;
}

interface MemoSectionProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  readonly refused: RefusedMemo | null;
}

export const MemoSection: FC<MemoSectionProps> = ({ frame, receipt, refused }) => {
  const { words, href } = frame;
  const { memo, metadataKey } = receipt;
  return (
    <section class="label" id="label">
      {memo === '' ? null : (
        <dl>
          <dt>{words.say('memo.label')}</dt>
          <dd>
            <bdi>{memo}</bdi>
          </dd>
        </dl>
      )}
      <details open={refused !== null}>
        <summary>{words.say(memo === '' ? 'memo.add' : 'memo.change')}</summary>
        <PostForm frame={frame} action={href('memo', metadataKey)} autocomplete="off">
          <MemoField frame={frame} typed={refused?.typed ?? memo} wrong={refused?.message ?? null} />
          <button class="quiet" type="submit">
            <Icon name="check" />
            {words.say('memo.save')}
          </button>
        </PostForm>
      </details>
    </section>
  );
};

interface MemoFieldProps {
  readonly frame: Frame;
  readonly typed: string;
  /** What is wrong with it; `null` when nothing is. */
  readonly wrong: string | null;
}

export const MemoField: FC<MemoFieldProps> = ({ frame, typed, wrong }) => {
  const { say } = frame.words;
  const texts: FieldTexts = {
    name: 'memo',
    label: say('memo.label'),
    note: say('share.optional'),
    hint: say('memo.hint'),
    wrong,
  };
  return (
    <Field texts={texts}>
      <input {...controlAttributes(texts)} type="text" autocomplete="off" dir="auto" value={typed} />
    </Field>
  );
};
