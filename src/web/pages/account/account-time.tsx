/**
 * A moment in a list: short, in UTC, and exact for machines.
 *
 * Owns: its form. Invariant: it says that it is UTC, because the reader's time zone is not known.
 */
import type { FC } from 'hono/jsx';
import { oncePerLocale } from '../../../locale/per-locale.ts';
import type { Words } from '../../words.ts';

const formats = oncePerLocale(
  (locale) =>
    // Plain `en` would be the American order of day and month.
    new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: 'UTC',
      timeZoneName: 'short',
    }),
);

/** `8 May 2025, 10:26 UTC`, in the locale's own order. */
export function shortMoment({ locale }: Words, unixSeconds: number): string {
  return formats(locale).format(new Date(unixSeconds * 1000));
}

export const ShortTime: FC<{ words: Words; at: number; id?: string }> = ({ words, at, id }) => (
  <time datetime={new Date(at * 1000).toISOString()} id={id}>
    {shortMoment(words, at)}
  </time>
);
