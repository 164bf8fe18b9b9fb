/**
 * A box to tick, with its hint and what is wrong with it.
 *
 * Owns: the wiring of both to the box.
 */
import type { FC } from 'hono/jsx';
import { controlAttributes } from '../kit/field.tsx';

export interface TickBoxProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isTicked: boolean;
  readonly wrong: string | null;
}

/** Sent as `yes` when it is ticked. */
export const TickBox: FC<TickBoxProps> = ({ isTicked, ...texts }) => (
  <>
    <label class="check">
      <input {...controlAttributes(texts)} type="checkbox" value="yes" checked={isTicked} />
      <span>{texts.label}</span>
    </label>
    {texts.wrong === null ? null : (
      <p class="wrong" id={`${texts.name}-wrong`}>
        {texts.wrong}
      </p>
    )}
    {texts.hint === undefined ? null : (
      <p class="hint of-box" id={`${texts.name}-hint`}>
        {texts.hint}
      </p>
    )}
  </>
);
