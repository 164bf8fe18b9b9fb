/**
 * What an owner may change in a share domain's brand. An accepted brand is legible on our backgrounds, and its texts cannot
 * rewrite what surrounds them.
 */
import type { DomainBrand, DomainLogo } from './share-domains.ts';

/** Implemented by the pages, because legibility depends on their backgrounds. */
export interface BrandRules {
  /** The colour itself if legible in that scheme, else the nearest that is. Both `#rrggbb`. */
  nearestReadable(colour: string, scheme: 'light' | 'dark'): string;
  parseLogo(bytes: Uint8Array): DomainLogo | { readonly problem: LogoProblem };
  readonly maxLogoBytes: number;
}

/** A missing field stays as it is; `null` goes back to the site's own. */
export type BrandChanges = { readonly [F in keyof DomainBrand]?: DomainBrand[F] };

export interface BrandProblem {
  readonly field: keyof DomainBrand;
  readonly problem: 'malformed' | 'too_long' | 'unreadable_colour' | 'unknown_locale';
  /** Of an unreadable colour: the nearest legible one. */
  readonly nearest?: string;
  /** Of a text that is too long. */
  readonly maxLength?: number;
}

export type LogoProblem = 'too_large' | 'unknown_type' | 'unsafe_svg' | 'damaged';

export interface BrandCore {
  readonly rules: BrandRules;
  /** The languages offered. */
  readonly locales: readonly string[];
}

type Problem = Omit<BrandProblem, 'field'>;
type Checked<T> = { readonly value: T | null } | Problem;

const maxNameLength = 60;
const maxInstructionsLength = 500;

const malformed: Problem = { problem: 'malformed' };
/** Control characters, and those that change the direction of the text after them (UAX #9). */
const unruly = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function checkText(text: string, maxLength: number, allowsLines: boolean): Checked<string> {
  const trimmed = text.replace(/\r\n?/g, '\n').trim();
  const readable = allowsLines ? trimmed.replaceAll('\n', ' ') : trimmed;
  if (!trimmed.isWellFormed() || unruly.test(readable)) return malformed;
  if ([...trimmed].length > maxLength) return { problem: 'too_long', maxLength };
  return { value: trimmed === '' ? null : trimmed };
}

/** `#rrggbb`, lower case, of that or `#rgb`; `null` for anything else. */
function parseColour(text: string): string | null {
  const [, digits = ''] = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text) ?? [];
  if (digits === '') return null;
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`.toLowerCase();
}

function checkColour(text: string, scheme: 'light' | 'dark', rules: BrandRules): Checked<string> {
  const colour = parseColour(text);
  if (colour === null) return malformed;
  const nearest = rules.nearestReadable(colour, scheme);
  return nearest === colour ? { value: colour } : { problem: 'unreadable_colour', nearest };
}

function checkLocale(tag: string, locales: readonly string[]): Checked<string> {
  const known = locales.find((locale) => locale.toLowerCase() === tag.toLowerCase());
  return known === undefined ? { problem: 'unknown_locale' } : { value: known };
}

type TextField = Exclude<keyof DomainBrand, 'isPublic'>;
type Check = (text: string, deps: BrandCore) => Checked<string>;

const checks: readonly (readonly [TextField, Check])[] = [
  ['name', (text) => checkText(text, maxNameLength, false)],
  ['colour', (text, { rules }) => checkColour(text, 'light', rules)],
  ['colourDark', (text, { rules }) => checkColour(text, 'dark', rules)],
  ['instructionsBefore', (text) => checkText(text, maxInstructionsLength, true)],
  ['instructionsAfter', (text) => checkText(text, maxInstructionsLength, true)],
  ['locale', (tag, { locales }) => checkLocale(tag, locales)],
];

/** The changed brand, or every problem with the changes. */
export function changeBrand(
  deps: BrandCore,
  brand: DomainBrand,
  changes: BrandChanges,
): { readonly brand: DomainBrand } | { readonly problems: readonly BrandProblem[] } {
  const problems: BrandProblem[] = [];
  const changed: Partial<Record<TextField, string | null>> = {};
  for (const [field, check] of checks) {
    const given = changes[field];
    if (given === undefined) continue;
    const checked = given === null ? { value: null } : check(given, deps);
    if ('problem' in checked) problems.push({ field, ...checked });
    else changed[field] = checked.value;
  }
  if (problems.length > 0) return { problems };
  return { brand: { ...brand, ...changed, isPublic: changes.isPublic ?? brand.isPublic } };
}
