/**
 * The steps from a link to proven keys, before a claim. None consumes the secret. A `proven` secret will open; any flaw
 * in a record is found here, so it never costs the secret (P3).
 *
 * A passphrase guess is counted before it is computed: none is hashed without a durable reservation, so the limits hold
 * under any concurrency and across restarts (P14). A correct passphrase cancels only its own reservation; no number of
 * guesses destroys a secret.
 *
 * For an end-to-end secret, the server compares proofs (`end-to-end.ts`) instead of a passphrase.
 */

import { concat, equalInConstantTime, part, utf8 } from '../../crypto/bytes.ts';
import {
  deriveClientToken,
  deriveCodeTag,
  deriveLookTag,
  derivePassphraseSalt,
} from '../../crypto/derive.ts';
import { openProofs, type ProvenKeys, proveKeys, unwrapSecret } from '../../crypto/envelope.ts';
import type { UnwrapOutcome, UnwrappedSecret } from '../../crypto/row.ts';
import { maxPassphraseBytes } from '../../protocol/limits.ts';
import type { LockCause } from '../../protocol/vocabulary.ts';
import type { Caller } from '../account.ts';
import { ServiceError } from '../errors.ts';
import type { Events } from '../events.ts';
import { parseSecretKey, type SecretId, type SecretKey, secretIdOf, tagOf } from '../keys.ts';
import { type AttemptStore, networkBytes } from '../ports/attempts.ts';
import type { CodeStore } from '../ports/codes.ts';
import type { Core } from '../ports/core.ts';
import { type EpochStore, epochKeyOf } from '../ports/epochs.ts';
import type { SecretStore } from '../ports/secrets.ts';
import type { StoredSecret } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';
import { guesses } from './attempts.ts';
import { isProofOf } from './end-to-end.ts';
import type { AccessRefusal, InspectInput, RevealInput, SecretRefusal, SecretView } from './outcomes.ts';

/** Dependencies of proving access, which creates no secret and changes only the counted guesses. */
export type AccessCore = Pick<Core, 'hasher' | 'ring' | 'events'> & {
  readonly store: SecretStore & AttemptStore & EpochStore & Pick<CodeStore, 'findCode'>;
};

/** A live secret found by its link, before anything is proven. */
export interface LiveSecret {
  readonly secretKey: SecretKey;
  readonly stored: StoredSecret;
  readonly unwrapped: UnwrappedSecret;
  /** Identifies the secret in events. */
  readonly tag: string;
}

export interface ProvenSecret extends LiveSecret {
  readonly outcome: 'proven';
  readonly keys: ProvenKeys;
}

type Access = ProvenSecret | AccessRefusal;

/** Returns `null` if the secret is unknown, read, burned or expired. */
export async function findLive(deps: AccessCore, keyAsGiven: string): Promise<LiveSecret | null> {
  const found = await findStored(deps.store, keyAsGiven);
  return found && liveIn(deps, found);
}

export type FoundSecret = Pick<LiveSecret, 'secretKey' | 'stored'>;

export async function findStored(store: SecretStore, keyAsGiven: string): Promise<FoundSecret | null> {
  const secretKey = parseSecretKey(keyAsGiven);
  const stored = secretKey === null ? null : await store.findSecret(secretIdOf(secretKey));
  return secretKey === null || stored === null ? null : { secretKey, stored };
}

export async function liveIn(deps: AccessCore, { secretKey, stored }: FoundSecret): Promise<LiveSecret> {
  const epochKey = await epochKeyOf(deps.store, stored.sealedSecret);
  const unwrapping = unwrapSecret(stored.sealedSecret, stored, deps.ring, epochKey);
  const tag = tagOf(stored.secretId);
  return { secretKey, stored, unwrapped: unwrappedIn(deps, tag, unwrapping), tag };
}

export async function proveAccess(deps: AccessCore, input: InspectInput): Promise<Access> {
  const live = await findLive(deps, input.secretKey);
  return live === null ? { outcome: 'unknown' } : proveLive(deps, live, input);
}

/** Works like `proveAccess`, and also takes the code, if the secret asks for one. */
export async function proveOpening(
  deps: AccessCore,
  input: RevealInput,
): Promise<ProvenSecret | SecretRefusal> {
  const live = await findLive(deps, input.secretKey);
  if (live === null) return { outcome: 'unknown' };
  const refusal = live.stored.verify
    ? (checkLink(deps, live, input.proofs?.linkProof ?? null) ?? (await checkCode(deps, live, input)))
    : null;
  return refusal ?? proveLive(deps, live, input);
}

/** Returns `null` if the code is right. */
async function checkCode(
  deps: AccessCore,
  live: LiveSecret,
  { look = null, code = null, clientPrefix }: RevealInput,
): Promise<SecretRefusal | null> {
  const { secretKey, stored } = live;
  if (look === null || code === null) return { outcome: 'code_required' };
  const expected = await deps.store.findCode(stored.secretId, deriveLookTag(look, stored.secretId));
  // There is nothing to guess.
  if (expected === null) return { outcome: 'code_required' };
  const tag = deriveCodeTag(secretKey, look, code);
  const compare = async () => (equalInConstantTime(tag, expected) ? 'right' : null);
  const guess = await countGuess(deps, live, 'code', clientPrefix, compare);
  return guess === 'right' ? null : guess;
}

/** Returns the secret under the outer layer; throws if that layer does not open. */
export function unwrappedIn(deps: AccessCore, tag: string, outcome: UnwrapOutcome): UnwrappedSecret {
  if (outcome.outcome === 'unwrapped') return outcome.secret;
  if (outcome.outcome === 'damaged') throw damaged(deps.events, tag, 'its seal does not match');
  // Another node may have a newer key file (P12).
  deps.events({ event: 'root_missing', kid: outcome.kid });
  throw new ServiceError('unavailable', `root ${outcome.kid} is not in the key ring`);
}

export function damaged(events: Events, tag: string, why: string): ServiceError {
  events({ event: 'record_damaged', tag });
  return new ServiceError('damaged', `a stored secret does not open: ${why}`);
}

/** Compares the proof of an end-to-end secret's link; returns `null` if it is right. Counts nothing. */
export function checkLink(
  deps: Pick<AccessCore, 'events'>,
  { stored, unwrapped, secretKey, tag }: LiveSecret,
  linkProof: Uint8Array | null,
): { readonly outcome: 'incomplete_link' } | { readonly outcome: 'not_sealed' } | null {
  if (!stored.sealed) return linkProof === null ? null : { outcome: 'not_sealed' };
  const hashes = openProofs(unwrapped, secretKey);
  if (hashes === null) throw damaged(deps.events, tag, 'its proofs do not match its id');
  return linkProof !== null && isProofOf(linkProof, hashes.linkHash) ? null : { outcome: 'incomplete_link' };
}

/** Runs synchronously for most secrets, which have neither passphrase nor proofs. */
export function proveLive(deps: AccessCore, live: LiveSecret, input: InspectInput): Access | Promise<Access> {
  const { stored, unwrapped, secretKey, tag } = live;
  if (stored.sealed) return proveSealed(deps, live, input);
  if (input.proofs !== null) return { outcome: 'not_sealed' };
  if (stored.hasPassphrase) return tryPassphrase(deps, live, input);
  const keys = proveKeys(unwrapped, secretKey, null);
  if (keys === null) throw damaged(deps.events, tag, 'its commitment does not match its id');
  return { ...live, outcome: 'proven', keys };
}

async function tryPassphrase(
  deps: AccessCore,
  live: LiveSecret,
  { passphrase, clientPrefix }: InspectInput,
): Promise<Access> {
  const given = passphrase?.expose() ?? '';
  if (given === '') return { outcome: 'passphrase_missing' };
  const bytes = given.isWellFormed() ? utf8(given) : null;
  if (bytes === null || bytes.length > maxPassphraseBytes) {
    // Uses up no guess: rejecting it costs nothing and reveals nothing.
    deps.events({ event: 'passphrase_refused', tag: live.tag });
    return { outcome: 'passphrase_wrong', attemptsLeft: null, moreAfterSeconds: 0, needsCreator: false };
  }
  const prove = async () => {
    const salt = derivePassphraseSalt(live.secretKey, live.unwrapped.salt);
    const key = await deps.hasher.stretch(bytes, salt, { client: clientPrefix, purpose: 'prove' });
    const keys = proveKeys(live.unwrapped, live.secretKey, key);
    key.fill(0);
    bytes.fill(0);
    return provenWith(live, keys);
  };
  return countGuess(deps, live, 'passphrase', clientPrefix, prove);
}

const provenWith = (live: LiveSecret, keys: ProvenKeys | null): ProvenSecret | null =>
  keys && { ...live, outcome: 'proven', keys };

/** Derives a client's token. Its network is the /48 of an IPv6 prefix, or the IPv4 prefix itself. */
export function clientTokenOf(root: Uint8Array, secretId: SecretId, clientPrefix: string): Uint8Array {
  const network = clientPrefix.split(':', 3).join(':');
  const halfOf = (text: string) => part(deriveClientToken(root, secretId, text), 0, networkBytes);
  return concat(halfOf(`network ${network}`), halfOf(clientPrefix));
}

/** @param compute returns `null` for a wrong guess; called only after the guess is counted */
async function countGuess<Right, By extends LockCause>(
  { store, ring, events }: AccessCore,
  { stored: { secretId }, tag }: LiveSecret,
  by: By,
  clientPrefix: string,
  compute: () => Promise<Right | null>,
) {
  const { idOf, limits, none } = guesses[by];
  const client = clientTokenOf(ring.current.key, secretId, clientPrefix);
  const reservation = await store.reserve(idOf(secretId), client, limits);
  if (reservation.outcome === 'exhausted') {
    events({ event: 'attempts_exhausted', tag });
    return { ...reservation, outcome: none as (typeof guesses)[By]['none'] };
  }
  const right = await compute().catch(async (fault: unknown) => {
    // Nothing was computed (the queue was full), so this does not count as a guess.
    await store.refund(idOf(secretId), reservation.attempt);
    throw fault;
  });
  if (right === null) {
    events({ event: `${by}_refused`, tag });
    const { left, moreAfterSeconds, needsCreator } = reservation;
    return { outcome: `${by}_wrong` as const, attemptsLeft: left, moreAfterSeconds, needsCreator };
  }
  await store.refund(idOf(secretId), reservation.attempt);
  return right;
}

/**
 * Compares the proofs. A wrong link proof does not count as a guess: it comes from a truncated link, a scanner that has
 * only the path, or somebody trying to use up the attempts. Without a passphrase, there is nothing to guess either.
 */
async function proveSealed(
  deps: AccessCore,
  live: LiveSecret,
  { proofs, clientPrefix }: InspectInput,
): Promise<Access> {
  const { stored, unwrapped, secretKey, tag } = live;
  const keys = proveKeys(unwrapped, secretKey, null);
  const hashes = openProofs(unwrapped, secretKey);
  if (keys === null || hashes === null)
    throw damaged(deps.events, tag, 'its commitment or its proofs do not match its id');
  if (proofs === null || !isProofOf(proofs.linkProof, hashes.linkHash)) return { outcome: 'incomplete_link' };
  const compare = async () => provenWith(live, isProofOf(proofs.proof, hashes.proofHash) ? keys : null);
  if (stored.hasPassphrase) return countGuess(deps, live, 'passphrase', clientPrefix, compare);
  return (await compare()) ?? { outcome: 'incomplete_link' };
}

export function secretViewOf(
  stored: StoredSecret,
  secretKey: SecretKey,
  state: SecretView['state'],
  caller: Caller,
  now: UnixSeconds,
): SecretView {
  return {
    secretKey,
    state,
    hasPassphrase: stored.hasPassphrase,
    sealed: stored.sealed,
    verify: stored.verify,
    ttlSeconds: stored.expiresAt - stored.createdAt,
    secretTtlSeconds: Math.max(0, stored.expiresAt - now),
    shareDomain: stored.shareDomain,
    createdAt: stored.createdAt,
    updatedAt: state === 'received' ? now : stored.createdAt,
    isOwner: caller.kind === 'account' && caller.account.id === stored.owner,
  };
}
