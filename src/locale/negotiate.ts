/**
 * Which language a person gets.
 *
 * Owns: the reading of `Accept-Language` (RFC 9110 §12.5.4) and its matching with what is spoken (RFC 4647 §3.4,
 * look-up: `de-CH` finds `de-CH`, then `de`). Invariant: any input yields a supported locale; work is bounded.
 */
import { defaultLocale, type Locale, supportedLocales } from './catalogues.ts';

const longestHeaderLength = 500;

/** The first supported locale the header asks for, by weight; the default when there is none. */
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

/** The locale with this tag, or its language's, or `null`. */
export function lookUp<L extends string>(tag: string, offered: readonly L[]): L | null {
  for (let rest = tag.toLowerCase(); rest !== ''; rest = rest.slice(0, Math.max(rest.lastIndexOf('-'), 0))) {
    const found = offered.find((locale) => locale.toLowerCase() === rest);
    if (found !== undefined) return found;
  }
  return null;
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
