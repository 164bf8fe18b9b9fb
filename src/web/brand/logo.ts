/**
 * The operator's logo, checked by its content.
 *
 * Owns: which files are pictures. Invariants: the name of a file says nothing about its type; an SVG that could run, load or
 * restyle anything is refused and not cleaned, because only what is understood completely is served from our own origin.
 */
import { createHash } from 'node:crypto';
import { gzip } from '../gzip.ts';
import type { SiteFile } from '../page-route.ts';

export const maxLogoBytes = 256 * 1024;

export interface Logo {
  /** Below `/logo/`; holds a hash of the content. */
  readonly name: string;
  readonly file: SiteFile;
}

type Kind = { readonly extension: string; readonly type: string };

const png: Kind = { extension: 'png', type: 'image/png' };
const jpeg: Kind = { extension: 'jpg', type: 'image/jpeg' };
const webp: Kind = { extension: 'webp', type: 'image/webp' };
const svg: Kind = { extension: 'svg', type: 'image/svg+xml' };

/** @returns the logo, or what is wrong with it as the end of a sentence that names the field. */
export function parseLogo(bytes: Uint8Array<ArrayBuffer>): Logo | { readonly error: string } {
  if (bytes.length > maxLogoBytes) return { error: 'must be a file of at most 256 kB' };
  const kind = pictureKind(bytes);
  if (kind !== null) return logoOf(bytes, kind, null);
  const text = svgText(bytes);
  if (text === null) return { error: 'must be a picture: SVG, PNG, WebP or JPEG' };
  const flaw = flawOfSvg(text);
  if (flaw !== null) return { error: `must be a plain drawing, and this SVG has ${flaw}` };
  return logoOf(bytes, svg, gzip(bytes, 12));
}

function logoOf(bytes: Uint8Array<ArrayBuffer>, kind: Kind, gzipped: SiteFile['gzipped']): Logo {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: `logo-${hash}.${kind.extension}`, file: { bytes, gzipped, type: kind.type } };
}

/** By the signature each format begins with. */
function pictureKind(bytes: Uint8Array): Kind | null {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return png;
  if (head.startsWith('\xff\xd8\xff')) return jpeg;
  return head.startsWith('RIFF') && head.slice(8) === 'WEBP' ? webp : null;
}

function svgText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return /^\s*(?:<\?xml [^>]*\?>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** What draws and does nothing else (SVG 2, without links, animation, filters, embedded pictures and documents). */
const drawingElements: ReadonlySet<string> = new Set(
  (
    'svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan ' +
    'linearGradient radialGradient stop clipPath mask pattern'
  ).split(' '),
);

/** One comment, declaration or tag, attributes with quotation marks; anything else that begins with `<` is a flaw. */
const piece =
  /<!--[\s\S]*?-->|<\?xml [^>?]*\?>|<(\/?)([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>/y;

function flawOfSvg(text: string): string | null {
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', piece.lastIndex)) {
    piece.lastIndex = at;
    const found = piece.exec(text);
    if (found === null) return `something unusual: "${text.slice(at, at + 12).replace(/\s+/g, ' ')}"`;
    const [, , name, attributes = ''] = found;
    if (name === undefined) continue;
    if (!drawingElements.has(name)) return `the element <${name}>`;
    const flaw = flawOfAttributes(attributes);
    if (flaw !== null) return flaw;
  }
  return null;
}

function flawOfAttributes(attributes: string): string | null {
  for (const [, name = '', quoted = ''] of attributes.matchAll(/([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')/g)) {
    const value = quoted.slice(1, -1);
    const lower = name.toLowerCase();
    if (lower.startsWith('on')) return `the event handler ${name}`;
    if (lower === 'style') return 'a style attribute: write fill="…" and the like instead';
    if (/^(?:.*:)?href$/.test(lower) && !value.startsWith('#'))
      return 'a reference to something outside of it';
    if (lower === 'xml:base') return 'a reference to something outside of it';
    // References of characters and escapes could hide the word that is looked for.
    if (/[\\]|&#/.test(value)) return `an escape in the attribute ${name}`;
    if (/url\s*\((?!\s*["']?#)|@import|javascript:/i.test(value))
      return 'a reference to something outside of it';
  }
  return null;
}
