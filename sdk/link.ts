/**
 * Links and keys, as people hand them around.
 *
 * Owns: telling them apart. Invariant: a key has one spelling, 31 characters of `[0-9a-z]`; nothing is repaired.
 */

/**
 * - `secret`: opens a secret once; from a link to give away.
 * - `receipt`: manages it; from the creator's own page.
 * - `unknown`: a bare key, which does not say which of the two it is.
 */
export interface ParsedLink {
  readonly kind: 'secret' | 'receipt' | 'unknown';
  readonly key: string;
  /** Where the link leads, without a trailing slash; `null` for a bare key. */
  readonly server: string | null;
}

const keyForm = /^[0-9a-z]{31}$/;
const pathForm = /^(.*)\/(secret|receipt|private)\/([0-9a-z]{31})\/?$/;

/** The parts of a link or of a bare key; `null` when the text is neither. Blanks around it are ignored. */
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
