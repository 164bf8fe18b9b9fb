/**
 * The slow hashes of passphrases, bounded.
 *
 * Owns: argon2id and bcrypt, behind the queue of `hash-queue.ts`. Invariant (P24, P21): both run off the main thread, so
 * many at once that a core stays free for the rest, because more would fill the thread pool that the store's fsync may
 * need. Costs: OWASP's first choice for argon2id (19 MiB, t = 2, p = 1) and its least for bcrypt (10).
 */
import { availableParallelism } from 'node:os';
import type { PassphraseHasher } from '../core/ports.ts';
import { createHashQueue, type QueueLimits } from './hash-queue.ts';

const argon2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };
/** `Algorithm.Argon2id`; the library's enum exists only at compile time. */
const argon2id = 2;
const bcryptCost = 10;
const bcryptMaxBytes = 72;

/** A full line is worked off within three seconds on two cores. */
export function hashLimitsFor(cores: number): QueueLimits {
  return { maxInFlight: Math.max(2, cores - 1), maxWaiting: 64, maxWaitingPerClient: 8, maxProofsInARow: 4 };
}

function assertFitsBcrypt(input: string): void {
  // bcrypt would cut it, and end it at a NUL: then not every byte would count (P15).
  if (!/^[\x21-\x7e]+$/.test(input) || input.length > bcryptMaxBytes)
    throw new RangeError('not an input for bcrypt');
}

/** The hashes themselves, unbounded. */
export type SlowHashes = {
  readonly stretch: (passphrase: Uint8Array, salt: Uint8Array) => Promise<Uint8Array>;
} & Pick<PassphraseHasher, 'hashVerifier' | 'checkVerifier'>;

const slowHashes: SlowHashes = {
  async stretch(passphrase, salt) {
    // Loaded by the first passphrase: a start should not pay for it.
    const { hashRaw } = await import('@node-rs/argon2');
    return new Uint8Array(await hashRaw(passphrase, { ...argon2, algorithm: argon2id, salt }));
  },
  hashVerifier: (input) => Bun.password.hash(input, { algorithm: 'bcrypt', cost: bcryptCost }),
  checkVerifier: (input, hash) => Bun.password.verify(input, hash, 'bcrypt'),
};

export function createPassphraseHasher(
  limits: QueueLimits = hashLimitsFor(availableParallelism()),
  hashes: SlowHashes = slowHashes,
): PassphraseHasher {
  const queue = createHashQueue(limits);
  return {
    stretch: (passphrase, salt, place) => queue.run(place, () => hashes.stretch(passphrase, salt)),
    hashVerifier: async (input) => {
      assertFitsBcrypt(input);
      return queue.continueWith(() => hashes.hashVerifier(input));
    },
    checkVerifier: async (input, hash) => {
      assertFitsBcrypt(input);
      return queue.continueWith(() => hashes.checkVerifier(input, hash));
    },
  };
}
