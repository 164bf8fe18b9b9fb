/**
 * Pictures of pixels: which kind a file is, by its first bytes, and whether it is whole.
 *
 * Owns: the signatures and the outer structure of PNG (W3C PNG §5), JPEG (ITU-T T.81, Annex B), WebP (RFC 9649 §2.5) and
 * GIF (GIF89a §18, §27). Invariant: nothing is decoded: what a file says of itself is only walked through once.
 */
export interface Kind {
  readonly extension: string;
  readonly type: string;
}

interface Format extends Kind {
  readonly signature: RegExp;
  readonly isWhole: (bytes: Buffer) => boolean;
}

const formats: readonly Format[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a signature is made of them
  { extension: 'png', type: 'image/png', signature: /^\x89PNG\r\n\x1a\n/, isWhole: isWholePng },
  { extension: 'jpg', type: 'image/jpeg', signature: /^\xff\xd8\xff/, isWhole: isWholeJpeg },
  { extension: 'webp', type: 'image/webp', signature: /^RIFF[\s\S]{4}WEBP/, isWhole: isWholeWebp },
  { extension: 'gif', type: 'image/gif', signature: /^GIF8[79]a/, isWhole: isWholeGif },
];

/** Those that are known, without what they are known by. */
export const pictureKinds: readonly Kind[] = formats.map(({ extension, type }) => ({ extension, type }));

/** `null`: no picture of these kinds. */
export function parsePicture(given: Uint8Array): Kind | 'damaged' | null {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const head = bytes.toString('latin1', 0, 12);
  const format = formats.find(({ signature }) => signature.test(head));
  if (format === undefined) return null;
  return format.isWhole(bytes) ? { extension: format.extension, type: format.type } : 'damaged';
}

/** Chunks up to the last one, the first with a width and a height. */
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

/** A frame whose width and height are known, a scan, and the end of the image behind it. */
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

/** As long as it says, beginning with a chunk that holds an image. */
function isWholeWebp(bytes: Buffer): boolean {
  if (bytes.length < 20 || bytes.readUInt32LE(4) + 8 > bytes.length) return false;
  return ['VP8 ', 'VP8L', 'VP8X'].includes(bytes.toString('latin1', 12, 16));
}

/** A width, a height and the trailer. */
function isWholeGif(bytes: Buffer): boolean {
  if (bytes.length < 14) return false;
  return bytes.readUInt16LE(6) > 0 && bytes.readUInt16LE(8) > 0 && bytes.lastIndexOf(0x3b) >= 13;
}
