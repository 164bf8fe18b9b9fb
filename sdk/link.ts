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
}

const keyForm = /^[0-9a-z]{31}$/;
const pathForm = /^(.*)\/(secret|receipt|private)\/([0-9a-z]{31})\/?$/;

/** The parts of a link or a bare key; `null` if the text is neither. Surrounding whitespace is ignored. */
export function parseLink(text: string): ParsedLink | null {
  const trimmed = text.trim();
  if (keyForm.test(trimmed)) return { kind: 'unknown', key: trimmed, server: null };
  if (!URL.canParse(trimmed)) return null;
  const url = new URL(trimmed);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  const [, base, page, key] = pathForm.exec(url.pathname) ?? [];
  if (base === undefined || page === undefined || key === undefined) return null;
  return { kind: page === 'secret' ? 'secret' : 'receipt', key, server: url.origin + base };
}

/** @throws MayflyError `invalid_key` if the text is neither a key nor a link to the right kind */
export function keyOf(text: string, not: Exclude<ParsedLink['kind'], 'unknown'>): string {
  const parsed = parseLink(text);
  if (parsed !== null && parsed.kind !== not) return parsed.key;
  const wanted = not === 'receipt' ? "a secret's link or key" : "a receipt's link or a metadata key";
  throw new MayflyError('invalid_key', `This is not ${wanted}.`);
}

/** The link of a secret whose record has none. */
export function linkOf(secretKey: string, shareDomain: string, server: string): string {
  return `${shareDomain === '' ? server : `https://${shareDomain}`}/secret/${secretKey}`;
}
