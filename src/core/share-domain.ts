/**
 * Share domains: customers' host names for links, and their brands. Only verified domains are used in links (P20).
 *
 *   unverified --TXT seen--> pending --points here--> verified <--re-check--> lost
 *
 * A domain added by the operator is verified without a challenge and never checked. An accepted brand is legible on our
 * backgrounds, and its texts cannot alter the page around them.
 */
import type { DomainState } from '../protocol/vocabulary.ts';
import type { AccountId } from './account.ts';
import type { UnixSeconds } from './time.ts';

/** Why the last check did not verify the domain. `dns_failed`: no usable answer, so no conclusion. */
export const domainFindings = ['txt_missing', 'txt_differs', 'not_pointing', 'dns_failed'] as const;
export type DomainFinding = (typeof domainFindings)[number];

/** The owner's brand for the domain; a `null` field inherits the site's. Texts are plain, one paragraph per line. */
export interface DomainBrand {
  /** 1–60 characters. */
  readonly name: string | null;
  /** `#rrggbb`, legible on a light background. */
  readonly colour: string | null;
  /** `#rrggbb`, legible on a dark background; `null` uses the legible colour nearest to `colour`. */
  readonly colourDark: string | null;
  /** Shown above the button that opens a secret; 1–500 characters. */
  readonly instructionsBefore: string | null;
  /** Shown below an opened secret; 1–500 characters. */
  readonly instructionsAfter: string | null;
  /** The BCP 47 tag of an offered language, used for the pages unless the reader has chosen one. */
  readonly locale: string | null;
  /** Whether anyone may share on this domain, or only its owner. */
  readonly isPublic: boolean;
}

export const plainBrand: DomainBrand = {
  name: null,
  colour: null,
  colourDark: null,
  instructionsBefore: null,
  instructionsAfter: null,
  locale: null,
  isPublic: true,
};

/** An image without active content, at most 262 kB. */
export interface DomainLogo {
  /** File name: a hash of the bytes and an extension. */
  readonly name: string;
  /** `image/png`, `image/jpeg`, `image/webp`, `image/gif` or `image/svg+xml`. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** A name split according to the public suffix list. */
export interface DomainName {
  /** Lower case, in ASCII form, as in links. */
  readonly name: string;
  /** The form that people read. */
  readonly unicodeName: string;
  /** The part registered with a registry: `example.co.uk` in `secrets.example.co.uk`. */
  readonly baseDomain: string;
  /** The part before the base domain; may be `''`. */
  readonly subdomain: string;
  /** The part that anyone can register names under: `co.uk`. */
  readonly publicSuffix: string;
}

/** Why a text cannot be a share domain. */
export type DomainNameProblem =
  /** Empty. */
  | 'missing'
  /** Contains a scheme, path, port, user or space; too long; or not a name at all. */
  | 'malformed'
  | 'ip_address'
  /** A name without a public suffix, such as `localhost`, `intranet` or `secrets.local`. */
  | 'not_public'
  /** Anyone can register names under it: `co.uk`, `github.io`. */
  | 'public_suffix'
  /** The site's own host. */
  | 'own_host';

export type ParseDomainName = (text: string) => Promise<DomainName | { readonly problem: DomainNameProblem }>;

export interface NewDomain {
  readonly accountId: AccountId;
  /** Lower case, in ASCII form (RFC 5890 A-labels). */
  readonly name: string;
  readonly state: DomainState;
  /** 32 lower-case hex digits that the TXT record must contain; `null` for a domain that the operator added. */
  readonly challenge: string | null;
  readonly createdAt: UnixSeconds;
}

export interface StoredDomain extends NewDomain {
  /** When its state, brand or logo last changed. */
  readonly updatedAt: UnixSeconds;
  /** When the last check ended; `null` before the first. */
  readonly checkedAt: UnixSeconds | null;
  readonly finding: DomainFinding | null;
  readonly brand: DomainBrand;
  readonly logoName: string | null;
}

export interface DomainCheck {
  readonly state: DomainState;
  readonly finding: DomainFinding | null;
}

/** ASCII, two labels or more, not ending in a number as IP addresses do. */
const domainForm =
  /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!(?:\d+|0x[0-9a-f]*)$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Checks only the form, because an operator may add names without a public suffix. */
export function canBeShareDomain(name: string): boolean {
  return domainForm.test(name);
}

/** Returns a `Host` header in lower case, without its port or a trailing dot. */
export function hostNameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** Implemented by the pages, because legibility depends on their backgrounds. */
export interface BrandRules {
  /** Returns the nearest legible colour, which may be the colour itself. Both are `#rrggbb`. */
  nearestReadable(colour: string, scheme: 'light' | 'dark'): string;
  parseLogo(bytes: Uint8Array): DomainLogo | { readonly problem: LogoProblem };
  readonly maxLogoBytes: number;
}

/** A missing field keeps its value; `null` restores the site's. */
export type BrandChanges = { readonly [F in keyof DomainBrand]?: DomainBrand[F] };

export interface BrandProblem {
  readonly field: keyof DomainBrand;
  readonly problem: 'malformed' | 'too_long' | 'unreadable_colour' | 'unknown_locale';
  /** The nearest legible colour. */
  readonly nearest?: string;
  readonly maxLength?: number;
}

export type LogoProblem = 'too_large' | 'unknown_type' | 'unsafe_svg' | 'damaged';

export interface BrandCore {
  readonly rules: BrandRules;
  /** The BCP 47 tags offered. */
  readonly locales: readonly string[];
}

type Problem = Omit<BrandProblem, 'field'>;
type Checked<T> = { readonly value: T | null } | Problem;

const maxNameLength = 60;
const maxInstructionsLength = 500;

const malformed: Problem = { problem: 'malformed' };
/** Control characters, and characters that change the direction of the text after them (UAX #9). */
const unruly = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function checkText(text: string, maxLength: number, allowsLines: boolean): Checked<string> {
  const trimmed = text.replace(/\r\n?/g, '\n').trim();
  const readable = allowsLines ? trimmed.replaceAll('\n', ' ') : trimmed;
  if (!trimmed.isWellFormed() || unruly.test(readable)) return malformed;
  if ([...trimmed].length > maxLength) return { problem: 'too_long', maxLength };
  return { value: trimmed === '' ? null : trimmed };
}

/** Parses `#rgb` or `#rrggbb` into lower-case `#rrggbb`. */
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
