/**
 * The account's data key, which opens the recent boxes of its receipts. It is stored only wrapped under keys that open the account (an API
 * token, a session token, a stretched password), so the database and all server keys together reveal no account's list (P9).
 */
import { openBox, sealBox } from '../../crypto/box.ts';
import type { RandomBytes } from '../../crypto/random.ts';

const dataKeyBytes = 32;
/** The wrapping key already binds the box to its account. */
const noBinding = new Uint8Array(0);
const label = 'accountDataKey';

export function drawDataKey(random: RandomBytes): Uint8Array {
  return random(dataKeyBytes);
}

/** @param keyMaterial 32 bytes that the server does not keep */
export function wrapDataKey(dataKey: Uint8Array, keyMaterial: Uint8Array, random: RandomBytes): Uint8Array {
  return sealBox({ label, keyMaterial, binding: noBinding, content: dataKey, random });
}

/** Returns the data key, or `null` if it was wrapped under a different key or is damaged. */
export function openDataKey(wrapped: Uint8Array, keyMaterial: Uint8Array): Uint8Array | null {
  return openBox(wrapped, { label, keyMaterial, binding: noBinding });
}
