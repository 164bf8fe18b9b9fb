/**
 * The second look: an answer that was lost, a double press or a reload does not cost the secret, and nobody else gains by it. The
 * claim leaves the value for whoever has the opener's nonce, still sealed under link and passphrase, for a minute and two more
 * answers (`core/ports/looks.ts`). Nothing is opened here.
 *
 * Another nonce, or none, meets what everybody meets at a secret that is gone (P17).
 */

import { deriveLookTag } from '../../crypto/derive.ts';
import { sealLook, unwrapLook } from '../../crypto/look.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { lookAnswers, lookSeconds } from '../../protocol/limits.ts';
import { parseSecretKey, secretIdOf } from '../keys.ts';
import type { NewLook } from '../ports/looks.ts';
import { type AccessCore, type ProvenSecret, proveLive, unwrappedIn } from './access.ts';
import type { FinishLookInput, InspectInput, SecretRefusal } from './outcomes.ts';

type LookCore = AccessCore & { readonly random: RandomBytes };

/** The nonce in a text of `sixteenBytesForm`; each nonce has one. */
export const nonceIn = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));

/** What the claim of a proven secret leaves for its opener; `null` for a secret of version 1, which opens strictly once. */
export function lookFor(deps: LookCore, access: ProvenSecret, nonce: Uint8Array): NewLook | null {
  const { stored, unwrapped, secretKey } = access;
  const until = Math.min(deps.store.now() + lookSeconds, stored.expiresAt);
  const sealedLook = sealLook({
    row: stored.sealedSecret,
    unwrapped,
    secretKey,
    nonce,
    context: { ...stored, until },
    answersLeft: lookAnswers - 1,
    root: deps.ring.current,
    random: deps.random,
  });
  return sealedLook === null ? null : { sealedLook, until };
}

type ProvenLook = ProvenSecret & { readonly tag: Uint8Array };

/** As `proveAccess`, at a secret that this opener has opened already. */
export async function proveLook(
  deps: AccessCore,
  input: InspectInput,
  nonce: Uint8Array,
): Promise<ProvenLook | SecretRefusal> {
  const secretKey = parseSecretKey(input.secretKey);
  if (secretKey === null) return { outcome: 'unknown' };
  const id = secretIdOf(secretKey);
  const tag = deriveLookTag(nonce, id);
  const stored = await deps.store.findLook(id, tag);
  if (stored === null) return { outcome: 'unknown' };
  const unwrapping = unwrapLook(stored.sealedSecret, stored, { secretKey, nonce }, deps.ring);
  const unwrapped = unwrappedIn(deps, stored, unwrapping);
  const access = await proveLive(deps, { secretKey, stored, unwrapped }, input);
  return access.outcome === 'proven' ? { ...access, tag } : access;
}

/** Ends the look early. Writes only if there is one: neither answer nor timing shows whether the key ever existed (P17). */
export async function finishLook(
  deps: Pick<AccessCore, 'store'>,
  { secretKey: text, look }: FinishLookInput,
): Promise<void> {
  const secretKey = parseSecretKey(text);
  if (secretKey === null) return;
  const id = secretIdOf(secretKey);
  const tag = deriveLookTag(look, id);
  if ((await deps.store.findLook(id, tag)) !== null) await deps.store.endLook(id, tag);
}
