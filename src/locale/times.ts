/**
 * Times and durations in words.
 *
 * Owns: how a moment and a length of time are said. Invariant: a moment is always in UTC and says so, because the
 * reader's time zone is not known; a duration is rounded down, so nobody is promised more time than there is.
 */
import type { Locale, MessageKey } from './catalogues.ts';
import { translate } from './translate.ts';

/** `Friday, 27 November 2026 at 21:13 UTC`, in the locale's own order. */
export function formatMoment(locale: Locale, unixSeconds: number): string {
  const format = new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
  return format.format(new Date(unixSeconds * 1000));
}

const units: readonly { readonly key: MessageKey; readonly seconds: number }[] = [
  { key: 'time.days', seconds: 86_400 },
  { key: 'time.hours', seconds: 3_600 },
  { key: 'time.minutes', seconds: 60 },
  { key: 'time.seconds', seconds: 1 },
];

/** The largest unit and the next one, if it is not zero: `6 days 23 hours`. */
export function formatDuration(locale: Locale, seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const at = units.findIndex((unit) => whole >= unit.seconds);
  const parts: string[] = [];
  let rest = whole;
  for (const unit of units.slice(at === -1 ? -1 : at).slice(0, 2)) {
    const count = Math.floor(rest / unit.seconds);
    rest -= count * unit.seconds;
    if (count > 0 || parts.length === 0) parts.push(translate(locale, unit.key, { count }));
  }
  return parts.join(' ');
}
