/** Links and bare keys. */
import { MayflyError } from './error.ts';

/**
 * - `secret`: opens a secret once; from a link to share.
 * - `receipt`: manages it; from the creator's own page.
 * - `unknown`: a bare key, which could be either.
 */
export interface ParsedLink {
  readonly kind: 'secret' | 'receipt' | 'unknown';
  readonly key: string;
  /** The link's server, without a trailing slash; `null` for a bare key. */
  readonly server: string | null;
  /** What follows the `#`: it opens an end-to-end secret, and is never sent. `null` if there is nothing. */
  readonly fragment: string | null;
}

const keyForm = /^[0-9a-z]{31}$/;
const pathForm = /^(.*)\/(secret|receipt|private)\/([0-9a-z]{31})\/?$/;

/** The parts of a link or a bare key, each with or without a fragment; `null` if the text is neither. Surrounding whitespace is ignored. */
export function parseLink(text: string): ParsedLink | null {
  const [, place = '', rest = ''] = /^([^#]*)#?(.*)$/s.exec(text.trim()) ?? [];
  const fragment = rest === '' ? null : rest;
  if (keyForm.test(place)) return { kind: 'unknown', key: place, server: null, fragment };
  if (!URL.canParse(place)) return null;
  const url = new URL(place);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  const [, base, page, key] = pathForm.exec(url.pathname) ?? [];
  if (base === undefined || page === undefined || key === undefined) return null;
  return { kind: page === 'secret' ? 'secret' : 'receipt', key, server: url.origin + base, fragment };
}

/** @throws MayflyError `invalid_key` if the text is neither a key nor a link to the right kind */
export function keyOf(text: string, not: Exclude<ParsedLink['kind'], 'unknown'>): string {
  return partsOf(text, not).key;
}

/** @throws MayflyError as `keyOf` */
export function partsOf(text: string, not: Exclude<ParsedLink['kind'], 'unknown'>): ParsedLink {
  const parsed = parseLink(text);
  if (parsed !== null && parsed.kind !== not) return parsed;
  const wanted = not === 'receipt' ? "a secret's link or key" : "a receipt's link or a metadata key";
  throw new MayflyError('invalid_key', `This is not ${wanted}.`);
}

/** The link of a secret whose record has none. */
export function linkOf(secretKey: string, shareDomain: string, server: string): string {
  return `${shareDomain === '' ? server : `https://${shareDomain}`}/secret/${secretKey}`;
}
