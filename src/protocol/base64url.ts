/**
 * Strict base64url without padding (RFC 4648 §5): one spelling for the same bytes. A page waits while a megabyte is coded, so this uses the
 * runtime's own coder if it has one, and loops rather than iterators.
 */

/** 16 bytes in 22 characters, the last one carrying only two bits. Used for the end of a link and the nonce of a second look. */
export const sixteenBytesForm = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/** 32 bytes in 43 characters, the last one carrying only four bits. Used for the end of an ask link. */
export const thirtyTwoBytesForm = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** A number of arguments that every engine accepts in one call. */
const chunkBytes = 8_192;

const alphabet = 'base64url';
/** Not available in every runtime yet (Node 20). */
const decoder: Partial<Pick<Uint8ArrayConstructor, 'fromBase64'>> = Uint8Array;

export function toBase64Url(bytes: Uint8Array): string {
  const encoder: Partial<Pick<Uint8Array, 'toBase64'>> = bytes;
  if (encoder.toBase64 !== undefined) return encoder.toBase64({ alphabet, omitPadding: true });
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkBytes)
    binary += String.fromCharCode.apply(null, bytes.subarray(at, at + chunkBytes) as unknown as number[]);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  if (decoder.fromBase64 !== undefined) return decoder.fromBase64(text, { alphabet });
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Returns `null` for any text that `toBase64Url` does not write. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  const spare = text.length % 4;
  if (!/^[\w-]*$/.test(text) || spare === 1) return null;
  const bytes = decode(text);
  // The last character may carry bits that belong to no byte.
  const last = spare === 0 ? '' : toBase64Url(bytes.subarray(bytes.length - spare + 1));
  return text.endsWith(last) ? bytes : null;
}
