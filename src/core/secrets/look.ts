/**
 * The second look: a lost response, a double click or a reload does not cost the secret. The claim leaves the value for the
 * holder of the opener's nonce, still sealed under link and passphrase, for a minute and two more answers
 * (`core/ports/looks.ts`). Nothing is opened here.
 *
 * A request with a different nonce, or none, gets the same answer as for any secret that is gone (P17).
 */

import { deriveLookTag } from '../../crypto/derive.ts';
import { sealLook, unwrapLook } from '../../crypto/look.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { lookAnswers, lookSeconds } from '../../protocol/limits.ts';
import { parseSecretKey, secretIdOf, tagOf } from '../keys.ts';
import type { NewLook } from '../ports/looks.ts';
import { type AccessCore, type ProvenSecret, proveLive, unwrappedIn } from './access.ts';
import type { AccessRefusal, CodeInput, InspectInput } from './outcomes.ts';

type LookCore = AccessCore & { readonly random: RandomBytes };

/** @param text in `sixteenBytesForm`, which has one spelling for each nonce */
export const nonceIn = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));

/** Seals what a claim leaves for its opener. Returns `null` for version 1 of the envelope, which opens strictly once. */
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

type ProvenLook = ProvenSecret & { readonly lookTag: Uint8Array };

/** Works like `proveAccess`, for a secret that this opener has already opened. */
export async function proveLook(
  deps: AccessCore,
  input: InspectInput,
  nonce: Uint8Array,
): Promise<ProvenLook | AccessRefusal> {
  const secretKey = parseSecretKey(input.secretKey);
  if (secretKey === null) return { outcome: 'unknown' };
  const id = secretIdOf(secretKey);
  const lookTag = deriveLookTag(nonce, id);
  const stored = await deps.store.findLook(id, lookTag);
  if (stored === null) return { outcome: 'unknown' };
  const unwrapping = unwrapLook(stored.sealedSecret, stored, { secretKey, nonce }, deps.ring);
  const tag = tagOf(stored.secretId);
  const unwrapped = unwrappedIn(deps, tag, unwrapping);
  const access = await proveLive(deps, { secretKey, stored, unwrapped, tag }, input);
  return access.outcome === 'proven' ? { ...access, lookTag } : access;
}

/** Ends a look early. Writes only if there is one; neither response nor timing shows whether the key ever existed (P17). */
export async function finishLook(
  deps: Pick<AccessCore, 'store'>,
  { secretKey: text, look }: Pick<CodeInput, 'secretKey' | 'look'>,
): Promise<void> {
  const secretKey = parseSecretKey(text);
  if (secretKey === null) return;
  const id = secretIdOf(secretKey);
  const tag = deriveLookTag(look, id);
  if ((await deps.store.findLook(id, tag)) !== null) await deps.store.endLook(id, tag);
}
