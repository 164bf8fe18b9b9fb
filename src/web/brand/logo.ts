/**
 * A logo, checked by its content.
 *
 * Owns: which files may be one. Invariant: the name of a file says nothing about its type; only a picture that is whole
 * and a drawing that only draws are served from our own origin.
 */

import { createHash } from 'node:crypto';
import type { LogoProblem } from '../../core/share-domains/brand.ts';
import type { SiteFile } from '../assets.ts';
import { gzip } from '../gzip.ts';
import { flawOfSvg, svgText } from './drawing.ts';
import { type Kind, parsePicture, pictureKinds } from './picture.ts';

export const maxLogoBytes = 256 * 1024;

export interface Logo {
  /** Below `/logo/`; holds a hash of the content. */
  readonly name: string;
  readonly file: SiteFile;
}

export interface LogoRefusal {
  readonly problem: LogoProblem;
  /** What is wrong with it, as the end of a sentence that names the field. */
  readonly error: string;
}

const svg: Kind = { extension: 'svg', type: 'image/svg+xml' };

/** Every kind of file that may be a logo. */
export const logoKinds: readonly Kind[] = [svg, ...pictureKinds];

/** The type of a logo that was taken, by the extension of its name. */
export function logoTypeOf(name: string): string {
  const extension = name.split('.').at(-1);
  return logoKinds.find((kind) => kind.extension === extension)?.type ?? 'application/octet-stream';
}

export function parseLogo(bytes: Uint8Array<ArrayBuffer>): Logo | LogoRefusal {
  if (bytes.length > maxLogoBytes) return { problem: 'too_large', error: 'must be a file of at most 256 kB' };
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
  // 128 bits, because it is strangers who choose the content.
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  return { name: `logo-${hash}.${kind.extension}`, file: { bytes, gzipped, type: kind.type } };
}
