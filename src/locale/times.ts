/**
 * Times and durations in words.
 *
 * Owns: how a moment and a length of time are said. Invariant: a moment is always in UTC and says so, because the
 * reader's time zone is not known here (on a page, `web/client/time.ts` says it in the same form in that zone); a duration is rounded down, so nobody is promised more time than there is.
 */
import { oncePerLocale } from './per-locale.ts';

// "Until {date}" asks for another case of the weekday in these languages, and CLDR knows only the one.
const withoutWeekday: ReadonlySet<string> = new Set(['pl', 'uk']);

/** Whether a long moment names the day of the week in this language. */
export function hasWeekday(locale: string): boolean {
  return !withoutWeekday.has(locale);
}

/** A clock's time of a day, for everybody the same. */
const inUtc = {
  day: 'numeric',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
  timeZoneName: 'short',
} as const;

function momentFormat(locale: string, more: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  // Plain `en` would be the American order of day and month.
  return new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { ...inUtc, ...more });
}

const momentFormats = oncePerLocale((locale) =>
  momentFormat(locale, { month: 'long', ...(hasWeekday(locale) ? { weekday: 'long' } : {}) }),
);

const shortMomentFormats = oncePerLocale((locale) => momentFormat(locale, { month: 'short' }));

/** `Friday, 27 November 2026 at 21:13 UTC`, in the locale's own order. */
export function formatMoment(locale: string, unixSeconds: number): string {
  return momentFormats(locale).format(new Date(unixSeconds * 1000));
}

/** `27 Nov 2026, 21:13 UTC`, for lists. */
export function formatShortMoment(locale: string, unixSeconds: number): string {
  return shortMomentFormats(locale).format(new Date(unixSeconds * 1000));
}

const unitSeconds = { day: 86_400, hour: 3_600, minute: 60, second: 1 } as const;

type Unit = keyof typeof unitSeconds;

const units = Object.keys(unitSeconds) as Unit[];

const durationFormats = oncePerLocale((locale) => {
  const inUnit = (unit: Unit) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return {
    counts: { day: inUnit('day'), hour: inUnit('hour'), minute: inUnit('minute'), second: inUnit('second') },
    list: new Intl.ListFormat(locale, { type: 'unit', style: 'long' }),
  };
});

/** The largest unit and the next one, if it is not zero: `6 days, 23 hours`. */
export function formatDuration(locale: string, seconds: number): string {
  const { counts, list } = durationFormats(locale);
  let rest = Math.max(0, Math.floor(seconds));
  const at = units.findIndex((unit) => rest >= unitSeconds[unit]);
  const parts: string[] = [];
  for (const unit of units.slice(at === -1 ? -1 : at).slice(0, 2)) {
    const count = Math.floor(rest / unitSeconds[unit]);
    rest -= count * unitSeconds[unit];
    if (count > 0 || parts.length === 0) parts.push(counts[unit].format(count));
  }
  return list.format(parts);
}
