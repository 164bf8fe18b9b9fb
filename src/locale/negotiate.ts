/**
 * Chooses a reader's language from `Accept-Language` (RFC 9110 §12.5.4) by look-up (RFC 4647 §3.4): `de-CH` finds `de-CH`, then `de`.
 *
 * When only one form of a language is offered, it serves all its readers: `pt` and `pt-PT` find `pt-BR`, `zh-TW` finds `zh-CN`. Any
 * input yields a supported locale, with bounded work.
 */
import { defaultLocale, type Locale, supportedLocales } from './catalogues.ts';

const longestHeaderLength = 500;

/** Language, script, region and one more: further subtags do not distinguish our languages. */
const mostSubtags = 4;

/** The first supported locale that the header asks for, by weight, or the default. */
export function negotiateLocale(acceptLanguage: string | null): Locale {
  return pickLocale(acceptLanguage, supportedLocales, defaultLocale);
}

/** As `negotiateLocale`, on any list. */
export function pickLocale<L extends string>(
  acceptLanguage: string | null,
  offered: readonly L[],
  fallback: L,
): L {
  for (const range of parseRanges(acceptLanguage ?? '')) {
    if (range === '*') return fallback;
    const found = lookUp(range, offered);
    if (found !== null) return found;
  }
  return fallback;
}

/** Old tags that browsers and systems still send (RFC 5646 §3.1.7). */
const formerTags: Readonly<Record<string, string>> = { iw: 'he' };

/** The locale with this tag, or its language's, or the first of another region or script, or `null`. */
export function lookUp<L extends string>(tag: string, offered: readonly L[]): L | null {
  const [language = '', ...subtags] = tag.toLowerCase().split('-', mostSubtags);
  const wanted = [Object.hasOwn(formerTags, language) ? formerTags[language] : language, ...subtags];
  for (let length = wanted.length; length > 0; length -= 1) {
    const range = wanted.slice(0, length).join('-');
    const found = offered.find((locale) => locale.toLowerCase() === range);
    if (found !== undefined) return found;
  }
  return offered.find((locale) => locale.toLowerCase().split('-')[0] === wanted[0]) ?? null;
}

/** A supported locale for a stored or requested tag; the default when it is unknown. */
export function toLocale(tag: string): Locale {
  return lookUp(tag, supportedLocales) ?? defaultLocale;
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
