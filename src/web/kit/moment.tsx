/**
 * A moment on a page: in words in UTC, exact for machines, and for the script that says it in the reader's own zone.
 *
 * Owns: its element. Invariant: no page says a moment otherwise, so that none is left in UTC where scripts run.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { hasWeekday } from '../../locale/times.ts';
import type { MessageParams } from '../../locale/translate.ts';
import type { Words } from './words.ts';

interface MomentProps {
  readonly words: Words;
  readonly at: number;
}

export const Moment: FC<MomentProps> = ({ words, at }) => (
  <time datetime={exact(at)} data-moment={hasWeekday(words.locale) ? 'weekday' : 'long'}>
    {words.moment(at)}
  </time>
);

/** For lists. */
export const ShortTime: FC<MomentProps & { id?: string }> = ({ words, at, id }) => (
  <time datetime={exact(at)} data-moment="short" id={id}>
    {words.shortMoment(at)}
  </time>
);

export interface DatedProps extends MomentProps {
  /** A text with `{date}`. */
  readonly say: MessageKey;
  /** For its other placeholders. */
  readonly params?: MessageParams;
  readonly isShort?: true;
}

/** A sentence with a moment in it. */
export const Dated: FC<DatedProps> = ({ words, say, at, params = {}, isShort }) => {
  const [before, ...rest] = words.say(say, params).split('{date}');
  const time = isShort === true ? <ShortTime words={words} at={at} /> : <Moment words={words} at={at} />;
  return (
    <>
      {before}
      {rest.map((after) => (
        <>
          {time}
          {after}
        </>
      ))}
    </>
  );
};

function exact(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}
