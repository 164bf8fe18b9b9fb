/**
 * From a link to proven keys: every step before a claim, none of which consumes. A `proven` secret will open; anything wrong
 * with a record is found here, so it never costs the secret (P3).
 *
 * Passphrase guesses are counted before they are computed: no guess is hashed without a durable reservation, so the limit
 * holds under any concurrency and across restarts (P14). A right passphrase returns its own reservation and no other; no
 * number of guesses destroys a secret.
 *
 * Of an end-to-end secret the server compares proofs (`end-to-end.ts`) in place of a passphrase.
 */

import { concat, hex, part, utf8 } from '../../crypto/bytes.ts';
import { deriveClientToken, derivePassphraseSalt } from '../../crypto/derive.ts';
import { openProofs, type ProvenKeys, proveKeys, unwrapSecret } from '../../crypto/envelope.ts';
import type { UnwrapOutcome, UnwrappedSecret } from '../../crypto/row.ts';
import { maxPassphraseBytes } from '../../protocol/limits.ts';
import type { Caller } from '../account.ts';
import { ServiceError } from '../errors.ts';
import type { Events } from '../events.ts';
import { parseSecretKey, type SecretId, type SecretKey, secretIdOf } from '../keys.ts';
import { type AttemptLimits, type AttemptStore, type Lock, networkBytes } from '../ports/attempts.ts';
import type { Core } from '../ports/core.ts';
import { type EpochStore, epochKeyOf } from '../ports/epochs.ts';
import type { SecretStore } from '../ports/secrets.ts';
import { isWaiting, type ReceiptRecord, type StoredSecret } from '../secret.ts';
import type { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { isProofOf } from './end-to-end.ts';
import type { InspectInput, SecretRefusal, SecretView, WrongPassphrase } from './outcomes.ts';

/** 100 over a secret's life is the limit of NIST SP 800-63B for throttled authenticators. */
export const attemptLimits: AttemptLimits = {
  windowSeconds: 600,
  perClient: 5,
  perNetwork: 10,
  perSecret: 20,
  keptForNewcomers: 5,
  perLife: 100,
};

/** What proving access takes: nothing that makes or changes a secret beyond counting guesses. */
export type AccessCore = Pick<Core, 'hasher' | 'ring' | 'events'> & {
  readonly store: SecretStore & AttemptStore & EpochStore;
};

/** A live secret whose keys are proven right. */
export interface ProvenSecret {
  readonly outcome: 'proven';
  readonly secretKey: SecretKey;
  readonly stored: StoredSecret;
  readonly unwrapped: UnwrappedSecret;
  readonly keys: ProvenKeys;
}

/** Identifies a record in logs: the first 8 hex digits of its id. */
export function tagOf(id: Uint8Array): string {
  return hex(part(id, 0, 4));
}

/** A live secret by its link, before anything is proven. */
export type LiveSecret = Pick<ProvenSecret, 'secretKey' | 'stored' | 'unwrapped'>;

/** `null` when it is unknown, read, burned or expired. */
export async function findLive(deps: AccessCore, keyAsGiven: string): Promise<LiveSecret | null> {
  const secretKey = parseSecretKey(keyAsGiven);
  if (secretKey === null) return null;
  const stored = await deps.store.findSecret(secretIdOf(secretKey));
  if (stored === null) return null;
  const epochKey = await epochKeyOf(deps.store, stored.sealedSecret);
  const unwrapping = unwrapSecret(stored.sealedSecret, stored, deps.ring, epochKey);
  return { secretKey, stored, unwrapped: unwrappedIn(deps, stored, unwrapping) };
}

export async function proveAccess(
  deps: AccessCore,
  input: InspectInput,
): Promise<ProvenSecret | SecretRefusal> {
  const live = await findLive(deps, input.secretKey);
  return live === null ? { outcome: 'unknown' } : proveLive(deps, live, input);
}

export async function proveLive(
  deps: AccessCore,
  live: LiveSecret,
  input: InspectInput,
): Promise<ProvenSecret | SecretRefusal> {
  const proof = await prove(deps, live, input);
  if (proof.outcome === 'proven') return { ...live, outcome: 'proven', keys: proof.keys };
  reportRefusal(deps.events, live.stored, proof);
  return proof;
}

/** What is under the outer layer; throws where that does not open. */
export function unwrappedIn(deps: AccessCore, stored: StoredSecret, outcome: UnwrapOutcome): UnwrappedSecret {
  if (outcome.outcome === 'unwrapped') return outcome.secret;
  if (outcome.outcome === 'damaged') throw damaged(deps.events, stored, 'its seal does not match');
  // A server with a key file of its own may not have it yet (P12).
  deps.events({ event: 'root_missing', kid: outcome.kid });
  throw new ServiceError('unavailable', `root ${outcome.kid} is not in the key ring`);
}

export function damaged(events: Events, stored: Pick<StoredSecret, 'secretId'>, why: string): ServiceError {
  events({ event: 'record_damaged', tag: tagOf(stored.secretId) });
  return new ServiceError('damaged', `a stored secret does not open: ${why}`);
}

/** Synchronous for most secrets, which have neither passphrase nor proofs. */
function prove(
  deps: AccessCore,
  live: LiveSecret,
  input: InspectInput,
): GuessOutcome | Promise<GuessOutcome> {
  const { stored, unwrapped, secretKey } = live;
  if (stored.sealed) return proveSealed(deps, live, input);
  if (input.proofs !== null) return { outcome: 'not_sealed' };
  if (!stored.hasPassphrase) {
    const keys = proveKeys(unwrapped, secretKey, null);
    if (keys === null) throw damaged(deps.events, stored, 'its commitment does not match its id');
    return { outcome: 'proven', keys };
  }
  if (input.passphrase === null || input.passphrase.expose() === '') return { outcome: 'passphrase_missing' };
  return tryPassphrase(deps, live, input.passphrase, input.clientPrefix);
}

function reportRefusal(events: Events, stored: StoredSecret, refusal: SecretRefusal): void {
  if (refusal.outcome === 'passphrase_wrong')
    events({ event: 'passphrase_refused', tag: tagOf(stored.secretId) });
  if (refusal.outcome === 'attempts_exhausted')
    events({ event: 'attempts_exhausted', tag: tagOf(stored.secretId) });
}

type GuessOutcome = { readonly outcome: 'proven'; readonly keys: ProvenKeys } | SecretRefusal;

/** A text that cannot have been stored is wrong without a guess: it costs nothing and reveals nothing. */
const impossibleGuess: WrongPassphrase = {
  outcome: 'passphrase_wrong',
  attemptsLeft: null,
  moreAfterSeconds: 0,
  needsCreator: false,
};

/** One guess at a secret's passphrase. */
async function tryPassphrase(
  deps: AccessCore,
  live: LiveSecret,
  given: Sensitive<string>,
  clientPrefix: string,
): Promise<GuessOutcome> {
  const passphrase = given.expose();
  if (!passphrase.isWellFormed()) return impossibleGuess;
  const bytes = utf8(passphrase);
  if (bytes.length > maxPassphraseBytes) return impossibleGuess;

  return countGuess(deps, live.stored, clientPrefix, () => stretchAndProve(deps, live, bytes, clientPrefix));
}

/** Its network is the /48 of an IPv6 prefix, and an IPv4 prefix itself. */
function clientTokenOf(root: Uint8Array, secretId: SecretId, clientPrefix: string): Uint8Array {
  const network = clientPrefix.split(':', 3).join(':');
  const halfOf = (text: string) => part(deriveClientToken(root, secretId, text), 0, networkBytes);
  return concat(halfOf(`network ${network}`), halfOf(clientPrefix));
}

/** @param compute the keys, or `null` for a wrong guess; called only once the guess is counted */
async function countGuess(
  deps: AccessCore,
  stored: StoredSecret,
  clientPrefix: string,
  compute: () => Promise<ProvenKeys | null>,
): Promise<GuessOutcome> {
  const client = clientTokenOf(deps.ring.current.key, stored.secretId, clientPrefix);
  const reservation = await deps.store.reserve(stored.secretId, client, attemptLimits);
  if (reservation.outcome === 'exhausted') return { ...reservation, outcome: 'attempts_exhausted' };

  const keys = await compute().catch(async (fault: unknown) => {
    // Nothing was computed (the queue was full), so this was no guess.
    await deps.store.refund(stored.secretId, reservation.attempt);
    throw fault;
  });
  if (keys === null) {
    const { left, moreAfterSeconds, needsCreator } = reservation;
    return { outcome: 'passphrase_wrong', attemptsLeft: left, moreAfterSeconds, needsCreator };
  }
  await deps.store.refund(stored.secretId, reservation.attempt);
  return { outcome: 'proven', keys };
}

/**
 * A wrong link proof is no guess: a truncated link, a scanner that has the path alone, or somebody who wants to use up the
 * attempts. Without a passphrase there is nothing to guess either.
 */
async function proveSealed(
  deps: AccessCore,
  { stored, unwrapped, secretKey }: LiveSecret,
  { proofs, clientPrefix }: InspectInput,
): Promise<GuessOutcome> {
  const keys = proveKeys(unwrapped, secretKey, null);
  const hashes = openProofs(unwrapped, secretKey);
  if (keys === null || hashes === null)
    throw damaged(deps.events, stored, 'its commitment or its proofs do not match its id');
  if (proofs === null || !isProofOf(proofs.linkProof, hashes.linkHash)) return { outcome: 'incomplete_link' };
  const compare = async () => (isProofOf(proofs.proof, hashes.proofHash) ? keys : null);
  if (stored.hasPassphrase) return countGuess(deps, stored, clientPrefix, compare);
  return (await compare()) === null ? { outcome: 'incomplete_link' } : { outcome: 'proven', keys };
}

async function stretchAndProve(
  deps: AccessCore,
  { unwrapped, secretKey }: LiveSecret,
  passphrase: Uint8Array,
  clientPrefix: string,
): Promise<ProvenKeys | null> {
  const passphraseKey = await deps.hasher.stretch(
    passphrase,
    derivePassphraseSalt(secretKey, unwrapped.salt),
    { client: clientPrefix, purpose: 'prove' },
  );
  const keys = proveKeys(unwrapped, secretKey, passphraseKey);
  passphraseKey.fill(0);
  passphrase.fill(0);
  return keys;
}

export type Locks = ReadonlyMap<ReceiptRecord, Lock | null>;

/** The locks on unread secrets with a passphrase. */
export async function locksOf(store: AccessCore['store'], records: readonly ReceiptRecord[]): Promise<Locks> {
  const now = store.now();
  const guarded = records.filter((each) => each.hasPassphrase && isWaiting(each, now));
  if (guarded.length === 0) return new Map();
  const ids = guarded.map(({ secretId }) => secretId);
  const locks = await store.findLocks(ids, attemptLimits);
  return new Map(guarded.map((each, n) => [each, locks[n] ?? null]));
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
    ttlSeconds: stored.expiresAt - stored.createdAt,
    secretTtlSeconds: Math.max(0, stored.expiresAt - now),
    shareDomain: stored.shareDomain,
    createdAt: stored.createdAt,
    updatedAt: state === 'received' ? now : stored.createdAt,
    isOwner: caller.kind === 'account' && caller.account.id === stored.owner,
  };
}
