/**
 * Builds a sentence from a key: fills placeholders, chooses plurals (CLDR rules via `Intl.PluralRules`), and formats values in the
 * language's form (`Intl`, CLDR) and default digits. Times are in UTC and say so, because only `web/client/time.ts` knows the reader's time
 * zone. Durations are rounded down, so that they never promise too much.
 *
 * The result is plain text and must be escaped in HTML. Parameters are never searched for placeholders.
 */
import { type Catalogue, catalogueOf, type Locale, type MessageKey } from './catalogues.ts';
import { roughly, type Unit, unitSeconds } from './roughly.ts';

/** Values for `{name}` in a text. `count` also chooses the plural form. */
export type MessageParams = Readonly<Record<string, string | number>>;

export function translate(locale: Locale, key: MessageKey, params: MessageParams = {}): string {
  return renderMessage(catalogueOf(locale), locale, key, params);
}

/** Like `translate`, but for any catalogue. A placeholder without a value stays visible. */
export function renderMessage(
  catalogue: Catalogue,
  locale: string,
  key: MessageKey,
  params: MessageParams,
): string {
  const message = catalogue[key];
  const text = typeof message === 'string' ? message : pluralOf(message, locale, Number(params.count));
  return text.replace(/\{([a-zA-Z]+)\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) return placeholder;
    return typeof value === 'number' ? formatNumber(locale, value) : value;
  });
}

const pluralRules = oncePerLocale((locale) => new Intl.PluralRules(locale));

function pluralOf(forms: Readonly<Record<string, string>>, locale: string, count: number): string {
  return forms[pluralRules(locale).select(count)] ?? forms.other ?? '';
}

/**
 * Calls `create` once per locale. Creating an `Intl` object takes up to 50 µs (0.4 ms the first time in a language); using one takes 1 to
 * 4 µs. A page formats dozens of values in less than a millisecond.
 */
function oncePerLocale<T>(create: (locale: string) => T): (locale: string) => T {
  const made = new Map<string, T>();
  return (locale) => {
    const known = made.get(locale);
    if (known !== undefined) return known;
    const value = create(locale);
    made.set(locale, value);
    return value;
  };
}

const numberFormats = oncePerLocale((locale) => new Intl.NumberFormat(locale));

export function formatNumber(locale: string, value: number): string {
  return numberFormats(locale).format(value);
}

const listFormats = oncePerLocale((locale) => new Intl.ListFormat(locale, { type: 'conjunction' }));

export function formatList(locale: string, items: readonly string[]): string {
  return listFormats(locale).format(items);
}

const languageNames = oncePerLocale((locale) => {
  // Named by its script, as in menus: "Simplified Chinese" rather than "Chinese (China)".
  const tag = locale === 'zh-CN' ? 'zh-Hans' : locale;
  const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? locale;
  const [first = '', ...rest] = name;
  return first.toLocaleUpperCase(locale) + rest.join('');
});

/** Returns a language's name in that language, capitalised for a menu: `Français`. */
export function languageName(locale: string): string {
  return languageNames(locale);
}

// "Until {date}" needs a different grammatical case of the weekday in these languages, and CLDR has only one.
const withoutWeekday: ReadonlySet<string> = new Set(['pl', 'uk']);

export function hasWeekday(locale: string): boolean {
  return !withoutWeekday.has(locale);
}

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
  // Plain `en` would use the American order of day and month.
  return new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, { ...inUtc, ...more });
}

const momentFormats = oncePerLocale((locale) =>
  momentFormat(locale, { month: 'long', ...(hasWeekday(locale) ? { weekday: 'long' } : {}) }),
);

const shortMomentFormats = oncePerLocale((locale) => momentFormat(locale, { month: 'short' }));

/** Returns `Friday, 27 November 2026 at 21:13 UTC`, in the locale's order. */
export function formatMoment(locale: string, unixSeconds: number): string {
  return momentFormats(locale).format(unixSeconds * 1000);
}

/** Returns `27 Nov 2026, 21:13 UTC`, for lists. */
export function formatShortMoment(locale: string, unixSeconds: number): string {
  return shortMomentFormats(locale).format(unixSeconds * 1000);
}

const units = Object.keys(unitSeconds) as Unit[];

const durationFormats = oncePerLocale((locale) => {
  const inUnit = (unit: Unit) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return {
    counts: { day: inUnit('day'), hour: inUnit('hour'), minute: inUnit('minute'), second: inUnit('second') },
    list: new Intl.ListFormat(locale, { type: 'unit', style: 'long' }),
  };
});

/** Returns the largest unit and, unless it is zero, the next one: `6 days, 23 hours`. */
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

/** Returns the time left in one unit, rounded down: `about 7 days`, `6 days`, `44 hours`. */
export function formatRoughly(locale: Locale, seconds: number): string {
  const { count, unit, isAbout } = roughly(seconds);
  const { counts } = durationFormats(locale);
  const time = counts[unit].format(count);
  return isAbout ? translate(locale, 'time.about', { time }) : time;
}

/** Returns a waiting time in one unit, rounded up so that people do not come back too early: `10 minutes`. */
export function formatWait(locale: string, seconds: number): string {
  const wait = Math.max(1, Math.ceil(seconds));
  const { counts } = durationFormats(locale);
  const fits = (unit: Unit) => Math.ceil(wait / unitSeconds[unit]) * unitSeconds[unit] <= (wait * 4) / 3;
  const unit = units.find(fits) ?? 'second';
  return counts[unit].format(Math.ceil(wait / unitSeconds[unit]));
}
