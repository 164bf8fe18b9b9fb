/** The nonce of a second look: with it, the caller of a reveal may ask for the same answer again, should it be lost. */
import { toBase64Url } from './base64url.ts';

const lookBytes = 16;

/** For one `reveal`: draw another for every secret. */
export function newLook(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(lookBytes)));
}
