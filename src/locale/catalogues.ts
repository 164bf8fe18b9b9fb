/**
 * The languages of this installation, and which one a reader gets.
 *
 * Every catalogue has the keys and placeholders of the English one and its own language's plural forms (`locale.test.ts`). A new language
 * needs one JSON file and one line here (`docs/languages.md`).
 *
 * English loads at startup, other languages at first use. Loading all 14 catalogues, of 350 texts each, at startup takes 5 ms in a
 * checkout, over 20 ms in the executable, and 7 MB; loading one takes a few milliseconds, once. The bundler embeds a `require` with a
 * literal path, and `require` is synchronous.
 *
 * `Accept-Language` (RFC 9110 §12.5.4) selects a language by lookup (RFC 4647 §3.4): `de-CH` tries `de-CH`, then `de`. A language's only
 * variant serves all readers: `pt` and `pt-PT` find `pt-BR`, `zh-TW` finds `zh-CN`. Any input yields a supported locale in bounded time.
 */
import en from './en.json' with { type: 'json' };

export type MessageKey = keyof typeof en;

/** A text, or one for each of the language's plural categories (CLDR: zero, one, two, few, many, other). */
export type Message = string | Readonly<Record<string, string>>;

export type Catalogue = Readonly<Record<MessageKey, Message>>;

/** Keyed by BCP 47 tag, in menu order. */
const loaders = {
  en: () => en,
  de: () => require('./de.json'),
  fr: () => require('./fr.json'),
  es: () => require('./es.json'),
  it: () => require('./it.json'),
  'pt-BR': () => require('./pt-BR.json'),
  nl: () => require('./nl.json'),
  pl: () => require('./pl.json'),
  sv: () => require('./sv.json'),
  uk: () => require('./uk.json'),
  ja: () => require('./ja.json'),
  'zh-CN': () => require('./zh-CN.json'),
  ar: () => require('./ar.json'),
  he: () => require('./he.json'),
} as const satisfies Readonly<Record<string, () => Catalogue>>;

export type Locale = keyof typeof loaders;

export const supportedLocales = Object.keys(loaders) as readonly Locale[];

export const defaultLocale: Locale = 'en';

const loaded = new Map<Locale, Catalogue>();

export function catalogueOf(locale: Locale): Catalogue {
  const known = loaded.get(locale);
  if (known !== undefined) return known;
  const catalogue = loaders[locale]();
  loaded.set(locale, catalogue);
  return catalogue;
}

/** CLDR's characterOrder. */
const rightToLeft: ReadonlySet<string> = new Set(['ar', 'he']);

/** @param locale a BCP 47 tag */
export function directionOf(locale: string): 'ltr' | 'rtl' {
  return rightToLeft.has(locale.split('-')[0] ?? '') ? 'rtl' : 'ltr';
}

const longestHeaderLength = 500;

/** Language, script, region and one more: no further subtag tells our locales apart. */
const mostSubtags = 4;

/** Returns the supported locale with the most weight in the header, or the default. */
export function negotiateLocale(acceptLanguage: string | null): Locale {
  return pickLocale(acceptLanguage, supportedLocales, defaultLocale);
}

/** Like `negotiateLocale`, but chooses from any list. */
export function pickLocale<L extends string>(
  acceptLanguage: string | null,
  offered: readonly L[],
  fallback: L,
): L {
  for (const range of parseRanges(acceptLanguage ?? '')) {
    if (range === '*') return fallback;
    const found = findLocale(range, offered);
    if (found !== null) return found;
  }
  return fallback;
}

/** Old tags that browsers and systems still send (RFC 5646 §3.1.7). */
const formerTags: Readonly<Record<string, string>> = { iw: 'he' };

/** Returns the locale matching the tag or its longest prefix, otherwise the first in the same language; `null` if none match. */
export function findLocale<L extends string>(tag: string, offered: readonly L[]): L | null {
  const [language = '', ...subtags] = tag.toLowerCase().split('-', mostSubtags);
  const wanted = [Object.hasOwn(formerTags, language) ? formerTags[language] : language, ...subtags];
  for (let length = wanted.length; length > 0; length -= 1) {
    const range = wanted.slice(0, length).join('-');
    const found = offered.find((locale) => locale.toLowerCase() === range);
    if (found !== undefined) return found;
  }
  return offered.find((locale) => locale.toLowerCase().split('-')[0] === wanted[0]) ?? null;
}

export function toLocale(tag: string): Locale {
  return findLocale(tag, supportedLocales) ?? defaultLocale;
}

function parseRanges(header: string): string[] {
  const ranges = header
    .slice(0, longestHeaderLength)
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    });
  return ranges
    .filter(({ range, weight }) => range !== '' && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ range }) => range);
}
