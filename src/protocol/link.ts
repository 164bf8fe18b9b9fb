/** Links and keys. */
import { sixteenBytesForm, thirtyTwoBytesForm } from './base64url.ts';

export const keyAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
export const keyLength = 31;
export const keyForm = /^[0-9a-z]{31}$/;

/**
 * - `secret`: the key opens a secret once and comes from a link to share.
 * - `receipt`: the key manages the secret and comes from the creator's own page.
 * - `ask`: given away with a request for a secret. Anyone who has it may answer.
 * - `answers`: opens the answers to a request, and comes from the asker's own page.
 * - `unknown`: a bare key, which could be either.
 */
export interface ParsedLink {
  readonly kind: 'secret' | 'receipt' | 'ask' | 'answers' | 'unknown';
  readonly key: string;
  /** The link's server, without a trailing slash; `null` for a bare key. */
  readonly server: string | null;
  /** The part after `#`, which opens what is encrypted end to end and is never sent; `null` if absent. */
  readonly fragment: string | null;
}

/** A key or fragment that continues with a letter or digit is part of a different word. */
const wordEnd = '(?![_-]*[0-9A-Za-z])';
const wholeWord = ({ source }: RegExp) => `${source.slice(1, -1)}${wordEnd}`;
const [shortFragment, longFragment] = [wholeWord(sixteenBytesForm), wholeWord(thirtyTwoBytesForm)];
const bareForm = new RegExp(`^([0-9a-z]{31})${wordEnd}`);
const shortForm = new RegExp(`^${shortFragment}`);
const longForm = new RegExp(`^${longFragment}`);
/** Splits at `#`, which filters that rewrite links may have escaped once or several times. */
const splitForm = new RegExp(`^(.*?)(?:#|%(?:25)*23(?=${shortFragment}|${longFragment}))(.*)$`, 's');
/** Slashes may be doubled. Any text after the key is ignored, unless it is another path. */
const pathForm =
  /^((?:\/[^/]+)*?)\/+(secret|receipt|private|ask|answers)\/+([0-9a-z]{31})\/*[_-]*(?:[^\w/-].*)?$/s;
const severalLinks = /(\/(?:secret|receipt|private|ask|answers)\/+[0-9a-z]{31}.*){2}/s;
/** Punctuation after a link, and the browsers' own directive (WICG, Scroll To Text Fragment). */
const noise = /^[\p{P}\p{S}\p{Z}\p{C}]*(?::~:.*)?$/su;

/** Checks whether a text is the whole fragment of an end-to-end secret's link, or of an answers link. */
export function isFragment(text: string): boolean {
  return sixteenBytesForm.test(text);
}

function formOf(kind: ParsedLink['kind']): RegExp {
  return kind === 'ask' ? longForm : shortForm;
}

/**
 * Returns a link's fragment without what programs append. Returns an incomplete one unchanged, and `null` if it is absent.
 * @param text the text after `#`
 */
export function fragmentIn(text: string, kind: ParsedLink['kind'] = 'secret'): string | null {
  return formOf(kind).exec(text)?.[0] ?? (noise.test(text) ? null : text);
}

function kindOf(page: string | undefined): ParsedLink['kind'] {
  return page === 'secret' || page === 'ask' || page === 'answers' ? page : 'receipt';
}

function parseOnce(text: string): ParsedLink | null {
  const [, place = text, rest = ''] = splitForm.exec(text) ?? [];
  const [, bare] = bareForm.exec(place) ?? [];
  if (bare !== undefined) return { kind: 'unknown', key: bare, server: null, fragment: fragmentIn(rest) };
  const url = URL.canParse(place) ? new URL(place) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const [, base = '', page, key] = pathForm.exec(url.pathname) ?? [];
  if (key === undefined) return wrappedIn(url, rest);
  const kind = kindOf(page);
  return { kind, key, server: url.origin + base, fragment: fragmentIn(rest, kind) };
}

/** Finds a link that a mail filter wrapped in a parameter of its URL. */
function wrappedIn({ searchParams }: URL, rest: string): ParsedLink | null {
  for (const value of searchParams.values()) {
    const link = /^https?:/.test(value) ? parseOnce(value) : null;
    if (link !== null) return { ...link, fragment: link.fragment ?? fragmentIn(rest, link.kind) };
  }
  return null;
}

/**
 * Returns the parts of a link or a bare key, with or without a fragment; `null` if the text is neither. Undoes what mail filters, other
 * programs and line breaks do to a link, if only one link can be meant. Never guesses a key.
 */
export function parseLink(text: string): ParsedLink | null {
  if (severalLinks.test(text)) return null;
  const link = text.replace(/^[^0-9A-Za-z]+/, '');
  const parsed = parseOnce(link);
  const isWhole = parsed !== null && (parsed.fragment === null || formOf(parsed.kind).test(parsed.fragment));
  return isWhole ? parsed : (parseOnce(link.replace(/=?\r?\n[\s>]*/g, '')) ?? parsed);
}

/** A share domain serves under the same path. */
const baseOf = (shareDomain: string, server: string) =>
  shareDomain === '' ? server : server.replace(/^[a-z]+:\/\/[^/]+/, `https://${shareDomain}`);

/**
 * @param shareDomain `''` for the site's own host
 * @param server origin and path, without a trailing slash
 */
export function secretLink(secretKey: string, shareDomain: string, server: string): string {
  return `${baseOf(shareDomain, server)}/secret/${secretKey}`;
}

/** Returns the link to give away, without its fragment. The parameters are those of `secretLink`. */
export function askLink(requestKey: string, shareDomain: string, server: string): string {
  return `${baseOf(shareDomain, server)}/ask/${requestKey}`;
}

/** Returns the asker's link, without its fragment, always on the site itself. */
export function answersLink(requestKey: string, server: string): string {
  return `${server}/answers/${requestKey}`;
}

/** Returns a receipt's link, always on the site itself. */
export function receiptLink(metadataKey: string, server: string): string {
  return `${server}/receipt/${metadataKey}`;
}
