/**
 * RFC 4648 §5 without padding: each text stands for other bytes. Loops rather than iterators: a megabyte is encoded while a page is to
 * answer.
 */

/** As many arguments as every engine takes in one call. */
const chunkBytes = 8_192;

export function toBase64Url(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkBytes)
    binary += String.fromCharCode.apply(null, bytes.subarray(at, at + chunkBytes) as unknown as number[]);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** `null` for anything but what `toBase64Url` writes. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  const spare = text.length % 4;
  if (!/^[\w-]*$/.test(text) || spare === 1) return null;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  // The last character may have bits that stand for nothing.
  const last = spare === 0 ? '' : toBase64Url(bytes.subarray(bytes.length - spare + 1));
  return text.endsWith(last) ? bytes : null;
}
