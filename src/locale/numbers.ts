/**
 * Numbers, sizes, lists and the names of languages, as a language writes them (`Intl`, CLDR).
 *
 * Owns: how these are said. Invariant: all of them, and the moments and durations of `times.ts`, use the digits that are
 * the language's default, so that one page shows one kind.
 */
import { oncePerLocale } from './per-locale.ts';

const numberFormats = oncePerLocale((locale) => new Intl.NumberFormat(locale));

/** `5,000`. */
export function formatNumber(locale: string, value: number): string {
  return numberFormats(locale).format(value);
}

const byteFormats = oncePerLocale(
  (locale) => new Intl.NumberFormat(locale, { style: 'unit', unit: 'byte', unitDisplay: 'long' }),
);

/** `5,000 bytes`. */
export function formatBytes(locale: string, bytes: number): string {
  return byteFormats(locale).format(bytes);
}

const listFormats = oncePerLocale((locale) => new Intl.ListFormat(locale, { type: 'conjunction' }));

/** `one, two and three`. */
export function formatList(locale: string, items: readonly string[]): string {
  return listFormats(locale).format(items);
}

const languageNames = oncePerLocale((locale) => {
  // By its script, as a menu does: "Simplified Chinese" rather than "Chinese (China)".
  const tag = locale === 'zh-CN' ? 'zh-Hans' : locale;
  const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? locale;
  const [first = '', ...rest] = name;
  return first.toLocaleUpperCase(locale) + rest.join('');
});

/** The language's name in the language itself, with the capital letter of a line in a menu: `Français`. */
export function languageName(locale: string): string {
  return languageNames(locale);
}
