/**
 * AES-256-GCM (NIST SP 800-38D) with a 16-byte tag after the ciphertext, never shorter. Only this file calls the cipher. Each key and
 * nonce is derived with a fresh salt and used once, so no nonce repeats under a key.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { SealKeys } from './derive.ts';

const algorithm = 'aes-256-gcm';
export const tagBytes = 16;
const options = { authTagLength: tagBytes };

/** Returns ciphertext ‖ tag. */
export function seal(keys: SealKeys, plaintext: Uint8Array, aad: Uint8Array): Uint8Array {
  const cipher = createCipheriv(algorithm, keys.key, keys.nonce, options);
  cipher.setAAD(aad);
  const sealed = new Uint8Array(plaintext.length + tagBytes);
  sealed.set(cipher.update(plaintext), 0);
  cipher.final();
  sealed.set(cipher.getAuthTag(), plaintext.length);
  return sealed;
}

/** Returns `null` if keys, bytes or additional data differ from those used to seal. */
export function unseal(keys: SealKeys, sealed: Uint8Array, aad: Uint8Array): Uint8Array | null {
  if (sealed.length < tagBytes) return null;
  const end = sealed.length - tagBytes;
  const decipher = createDecipheriv(algorithm, keys.key, keys.nonce, options);
  decipher.setAAD(aad);
  // Copies cost less than views, which make the runtime allocate the array's buffer.
  decipher.setAuthTag(sealed.slice(end));
  const opened = decipher.update(sealed.slice(0, end));
  // A plain array: reading from a `Buffer` costs several times as much.
  const plaintext = new Uint8Array(opened);
  opened.fill(0);
  try {
    decipher.final();
  } catch {
    plaintext.fill(0);
    return null;
  }
  return plaintext;
}
