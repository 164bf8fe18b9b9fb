/**
 * The languages that this installation offers.
 *
 * Every catalogue has the keys, placeholders and plural forms of the English one (`locale.test.ts`). Adding a language takes one JSON
 * file and one line here (`docs/languages.md`).
 *
 * English is loaded at the start, every other language when first used. Measured with 14 catalogues of 350 texts: loading all at
 * the start costs 5 ms in a checkout, over 20 ms in the single executable, and 7 MB; one by one each costs a few milliseconds,
 * once. The bundler embeds a `require` of a literal path, and it answers synchronously.
 */
import en from './en.json' with { type: 'json' };

/** The English catalogue defines the keys. */
export type MessageKey = keyof typeof en;

/** A text, or one for each plural category of the language (CLDR: zero, one, two, few, many, other). */
export type Message = string | Readonly<Record<string, string>>;

export type Catalogue = Readonly<Record<MessageKey, Message>>;

/**
 * How each is loaded, by BCP 47 tag, in the order in which they are offered:
 * en de fr es it pt-BR nl pl sv uk ja zh-CN ar he.
 */
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

/** The words of a language. */
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
