/**
 * From a key to a sentence: placeholders and plurals (CLDR rules by `Intl.PluralRules`).
 *
 * The result is plain text, to be escaped where it goes into HTML. A parameter is inserted as it is, never searched for placeholders.
 */
import { type Catalogue, catalogueOf, type Locale, type MessageKey } from './catalogues.ts';
import { formatNumber, oncePerLocale } from './formats.ts';

/** Values for `{name}` in a text. `count` also chooses the plural form. */
export type MessageParams = Readonly<Record<string, string | number>>;

export function translate(locale: Locale, key: MessageKey, params: MessageParams = {}): string {
  return renderMessage(catalogueOf(locale), locale, key, params);
}

/** As `translate`, on any catalogue. A placeholder without a value stays visible. */
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
