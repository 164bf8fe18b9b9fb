/**
 * The account's data key: what opens the recent boxes of its receipts.
 *
 * Owns: drawing it, and wrapping it under whatever may open the account: a token, a session's token, a stretched
 * password. Invariant: it is stored only wrapped, so that a database with every server key lists nobody's receipts (P9).
 */
import { openBox, sealBox } from '../../crypto/box.ts';
import type { RandomBytes } from '../../crypto/random.ts';

const dataKeyBytes = 32;
/** The box belongs to an account, and is bound to it by the key that it is wrapped under. */
const noBinding = new Uint8Array(0);
const label = 'accountDataKey';

export function drawDataKey(random: RandomBytes): Uint8Array {
  return random(dataKeyBytes);
}

/** @param keyMaterial 32 bytes that the server does not keep. */
export function wrapDataKey(dataKey: Uint8Array, keyMaterial: Uint8Array, random: RandomBytes): Uint8Array {
  return sealBox({ label, keyMaterial, binding: noBinding, content: dataKey, random });
}

/** The data key, 32 bytes; `null` when it was not wrapped under this key or is damaged. */
export function openDataKey(wrapped: Uint8Array, keyMaterial: Uint8Array): Uint8Array | null {
  return openBox(wrapped, { label, keyMaterial, binding: noBinding });
}
