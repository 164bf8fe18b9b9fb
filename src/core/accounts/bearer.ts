/**
 * Bearer texts: what stands for somebody because nobody else can know it.
 *
 * Owns: the one form that API tokens, session tokens and tickets share: 32 random bytes as 64 lower-case hex digits.
 * Invariant: one spelling; anything else is none, never repaired. What the server keeps of each kind is a hash of its
 * own (`crypto/derive.ts`), so that none works in another's place.
 */
import { hex } from '../../crypto/bytes.ts';
import type { RandomBytes } from '../../crypto/random.ts';

const bearerBytes = 32;
const bearerForm = /^[0-9a-f]{64}$/;

export interface DrawnBearer {
  readonly bytes: Uint8Array;
  readonly text: string;
}

export function drawBearer(random: RandomBytes): DrawnBearer {
  const bytes = random(bearerBytes);
  return { bytes, text: hex(bytes) };
}

export function isBearer(text: string): boolean {
  return bearerForm.test(text);
}

/** The 32 bytes, or `null` when the text is none in its only spelling. */
export function parseBearer(text: string): Uint8Array | null {
  return isBearer(text) ? new Uint8Array(Buffer.from(text, 'hex')) : null;
}
