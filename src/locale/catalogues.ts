/**
 * The languages this installation speaks.
 *
 * Owns: the list of catalogues. Invariant: every catalogue has the keys, the placeholders and the plural forms of the
 * English one, or fewer words would be shown to some people than to others; `catalogues.test.ts` checks it. A language
 * is added as one JSON file and one line here.
 */
import en from './en.json' with { type: 'json' };

/** What can be said. English is the catalogue that defines it. */
export type MessageKey = keyof typeof en;

/** A text, or one text for each plural category of the language (CLDR: zero, one, two, few, many, other). */
export type Message = string | Readonly<Record<string, string>>;

export type Catalogue = Readonly<Record<MessageKey, Message>>;

/** By BCP 47 tag, in the order in which they are offered. */
export const catalogues = { en } as const satisfies Readonly<Record<string, Catalogue>>;

export type Locale = keyof typeof catalogues;

export const supportedLocales = Object.keys(catalogues) as readonly Locale[];

export const defaultLocale: Locale = 'en';
