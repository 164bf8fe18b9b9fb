/**
 * Passphrase guesses: counted before they are computed.
 *
 * Owns: the limits, and the only way from a passphrase to proven keys. Invariant: no guess is hashed without a durable
 * reservation, so the bound holds under any concurrency and across restarts (P14); a right passphrase gives its own
 * reservation back and nobody else's; no number of guesses destroys a secret.
 */

import { utf8 } from '../../crypto/bytes.ts';
import { deriveClientToken, derivePassphraseSalt } from '../../crypto/derive.ts';
import { type ProvenKeys, proveKeys, type UnwrappedSecret } from '../../crypto/envelope.ts';
import type { KeyRing } from '../../crypto/keyring.ts';
import type { SecretKey } from '../keys.ts';
import type { AttemptLimits, AttemptStore, PassphraseHasher } from '../ports.ts';
import type { Sensitive } from '../sensitive.ts';
import type { SecretRefusal, WrongPassphrase } from './outcomes.ts';
import type { StoredSecret } from './secret.ts';

/** 100 in a secret's life is the bound of NIST SP 800-63B for throttled authenticators. */
export const attemptLimits: AttemptLimits = { windowSeconds: 600, perClient: 5, perSecret: 20, perLife: 100 };

/** Bytes of UTF-8; every one counts (P15). */
export const maxPassphraseBytes = 1024;

export interface AttemptDeps {
  readonly store: AttemptStore;
  readonly hasher: PassphraseHasher;
  readonly ring: KeyRing;
}

export interface Guess {
  readonly secretKey: SecretKey;
  readonly passphrase: Sensitive<string>;
  readonly clientPrefix: string;
}

export type GuessOutcome = { readonly outcome: 'proven'; readonly keys: ProvenKeys } | SecretRefusal;

/** A text that cannot have been stored is wrong without a guess: it costs nothing and tells nothing. */
const impossibleGuess: WrongPassphrase = {
  outcome: 'passphrase_wrong',
  attemptsLeft: null,
  moreAfterSeconds: 0,
};

/** One guess at a secret's passphrase. */
export async function tryPassphrase(
  deps: AttemptDeps,
  stored: StoredSecret,
  unwrapped: UnwrappedSecret,
  guess: Guess,
): Promise<GuessOutcome> {
  const passphrase = guess.passphrase.expose();
  if (!passphrase.isWellFormed()) return impossibleGuess;
  const bytes = utf8(passphrase);
  if (bytes.length > maxPassphraseBytes) return impossibleGuess;

  const client = deriveClientToken(deps.ring.current.key, stored.secretId, guess.clientPrefix);
  const reservation = await deps.store.reserve(stored.secretId, client, attemptLimits);
  if (reservation.outcome === 'exhausted')
    return { outcome: 'attempts_exhausted', retryAfterSeconds: reservation.retryAfterSeconds };

  const keys = await stretchAndProve(deps, unwrapped, guess, bytes).catch(async (fault: unknown) => {
    // Nothing was computed (the queue was full): the guess did not happen.
    await deps.store.refund(stored.secretId, reservation.attempt);
    throw fault;
  });
  if (keys === null) {
    const { left, moreAfterSeconds } = reservation;
    return { outcome: 'passphrase_wrong', attemptsLeft: left, moreAfterSeconds };
  }
  await deps.store.refund(stored.secretId, reservation.attempt);
  return { outcome: 'proven', keys };
}

async function stretchAndProve(
  deps: AttemptDeps,
  unwrapped: UnwrappedSecret,
  { secretKey, clientPrefix }: Guess,
  passphrase: Uint8Array,
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
