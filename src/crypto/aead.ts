/**
 * AES-256-GCM (NIST SP 800-38D) with a 16-byte tag behind the ciphertext.
 *
 * Owns: the one place that calls the cipher. Invariant: every key and nonce come from a derivation over a fresh salt
 * and serve one encryption, so nonces never repeat under a key; a tag shorter than 16 bytes is never accepted.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { SealKeys } from './derive.ts';

const algorithm = 'aes-256-gcm';
export const tagBytes = 16;
const options = { authTagLength: tagBytes };

/** Ciphertext ‖ tag. */
export function seal(keys: SealKeys, plaintext: Uint8Array, aad: Uint8Array): Uint8Array {
  const cipher = createCipheriv(algorithm, keys.key, keys.nonce, options);
  cipher.setAAD(aad);
  const sealed = new Uint8Array(plaintext.length + tagBytes);
  sealed.set(cipher.update(plaintext), 0);
  cipher.final();
  sealed.set(cipher.getAuthTag(), plaintext.length);
  return sealed;
}

/** The plaintext, or `null` when keys, bytes or additional data are not those of the sealing. */
export function unseal(keys: SealKeys, sealed: Uint8Array, aad: Uint8Array): Uint8Array | null {
  if (sealed.length < tagBytes) return null;
  const end = sealed.length - tagBytes;
  const decipher = createDecipheriv(algorithm, keys.key, keys.nonce, options);
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(end));
  const plaintext = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
  } catch {
    plaintext.fill(0);
    return null;
  }
  return plaintext;
}
