/**
 * The languages this installation speaks.
 *
 * Owns: the list of catalogues. Invariant: every catalogue has the keys, the placeholders and the plural forms of the
 * English one, or fewer words would be shown to some people than to others; `locale.test.ts` checks it. A language is
 * added as one JSON file and one line here (`docs/languages.md`).
 *
 * English is loaded at the start, every other language at its first word. Measured with 14 catalogues of 350 texts: all
 * of them at the start cost 5 ms in a checkout, more than 20 ms in the single executable, and 7 MB; one by one each costs
 * a few milliseconds, once. `require` of a literal path is what the bundler embeds and what answers at once.
 */
import en from './en.json' with { type: 'json' };

/** What can be said. English is the catalogue that defines it. */
export type MessageKey = keyof typeof en;

/** A text, or one text for each plural category of the language (CLDR: zero, one, two, few, many, other). */
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
