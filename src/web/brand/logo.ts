/**
 * Checks logos by their content, never by their name. Our origin serves only whole pictures (PNG: W3C PNG §5, JPEG: ITU-T T.81 Annex B,
 * WebP: RFC 9649 §2.5, GIF: GIF89a §18, §27) and SVGs that only draw. The check walks the outer structure once and decodes nothing.
 */
import { createHash } from 'node:crypto';
import type { LogoProblem } from '../../core/share-domain.ts';
import { gzip } from '../../http/compression.ts';
import { sizeText } from '../../locale/size.ts';
import type { SiteFile } from '../assets/assets.ts';
import { flawOfSvg, svgText } from './svg.ts';

export const maxLogoBytes = 256 * 1024;

export interface Logo {
  /** The file name under `/logo/`; contains a hash of the content. */
  readonly name: string;
  readonly file: SiteFile;
}

interface LogoRefusal {
  readonly problem: LogoProblem;
  /** Continues a sentence that begins with the field's name. */
  readonly error: string;
}

interface Kind {
  readonly extension: string;
  readonly type: string;
}

interface Format extends Kind {
  readonly signature: RegExp;
  readonly isWhole: (bytes: Buffer) => boolean;
}

const formats: readonly Format[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: signatures contain them
  { extension: 'png', type: 'image/png', signature: /^\x89PNG\r\n\x1a\n/, isWhole: isWholePng },
  { extension: 'jpg', type: 'image/jpeg', signature: /^\xff\xd8\xff/, isWhole: isWholeJpeg },
  { extension: 'webp', type: 'image/webp', signature: /^RIFF[\s\S]{4}WEBP/, isWhole: isWholeWebp },
  { extension: 'gif', type: 'image/gif', signature: /^GIF8[79]a/, isWhole: isWholeGif },
];

const svg: Kind = { extension: 'svg', type: 'image/svg+xml' };

export const logoKinds: readonly Kind[] = [svg, ...formats];

/** @param name from `parseLogo` */
export function logoTypeOf(name: string): string {
  const extension = name.split('.').at(-1);
  return logoKinds.find((kind) => kind.extension === extension)?.type ?? 'application/octet-stream';
}

export function parseLogo(bytes: Uint8Array<ArrayBuffer>): Logo | LogoRefusal {
  if (bytes.length > maxLogoBytes)
    return { problem: 'too_large', error: `must be a file of at most ${sizeText('en', maxLogoBytes)}` };
  const kind = parsePicture(bytes);
  if (kind === 'damaged')
    return { problem: 'damaged', error: 'must be a whole picture, and this file is damaged' };
  if (kind !== null) return logoOf(bytes, kind, null);
  const text = svgText(bytes);
  if (text === null)
    return { problem: 'unknown_type', error: 'must be a picture: SVG, PNG, WebP, JPEG or GIF' };
  const flaw = flawOfSvg(text);
  if (flaw !== null)
    return { problem: flaw.problem, error: `must be a plain drawing, and this SVG has ${flaw.has}` };
  return logoOf(bytes, svg, gzip(bytes, 12));
}

function logoOf(bytes: Uint8Array<ArrayBuffer>, kind: Kind, gzipped: SiteFile['gzipped']): Logo {
  // 128 bits, to resist collisions: strangers choose the content.
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  return { name: `logo-${hash}.${kind.extension}`, file: { bytes, gzipped, type: kind.type } };
}

/** Returns `null` for other formats. */
function parsePicture(given: Uint8Array): Kind | 'damaged' | null {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const head = bytes.toString('latin1', 0, 12);
  const format = formats.find(({ signature }) => signature.test(head));
  if (format === undefined) return null;
  return format.isWhole(bytes) ? { extension: format.extension, type: format.type } : 'damaged';
}

/** Walks the chunks up to the last one; the first must state a width and a height. */
function isWholePng(bytes: Buffer): boolean {
  const isNamed = (at: number, name: string) => bytes.toString('latin1', at + 4, at + 8) === name;
  const first = 8;
  if (bytes.length < first + 25 || !isNamed(first, 'IHDR')) return false;
  if (bytes.readUInt32BE(first + 8) === 0 || bytes.readUInt32BE(first + 12) === 0) return false;
  for (let at = first; at + 12 <= bytes.length; at += bytes.readUInt32BE(at) + 12) {
    if (isNamed(at, 'IEND')) return true;
  }
  return false;
}

/** Checks for a frame with a width and height, a scan, and an end-of-image marker after it. */
function isWholeJpeg(bytes: Buffer): boolean {
  let hasFrame = false;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xda) return hasFrame && bytes.indexOf(Buffer.of(0xff, 0xd9), at) !== -1;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) hasFrame = bytes.readUInt16BE(at + 5) > 0 && bytes.readUInt16BE(at + 7) > 0;
  }
  return false;
}

/** Checks that the file is at least as long as its header says and begins with an image chunk. */
function isWholeWebp(bytes: Buffer): boolean {
  if (bytes.length < 20 || bytes.readUInt32LE(4) + 8 > bytes.length) return false;
  return ['VP8 ', 'VP8L', 'VP8X'].includes(bytes.toString('latin1', 12, 16));
}

/** Checks for a width, a height and the trailer. */
function isWholeGif(bytes: Buffer): boolean {
  if (bytes.length < 14) return false;
  return bytes.readUInt16LE(6) > 0 && bytes.readUInt16LE(8) > 0 && bytes.lastIndexOf(0x3b) >= 13;
}
