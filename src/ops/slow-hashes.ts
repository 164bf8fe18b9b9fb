/**
 * The slow hashes of passphrases, bounded.
 *
 * Owns: the queue in front of argon2id and bcrypt. Invariant (P24, P21): both run off the main thread, at most two at
 * once, because more would fill the thread pool that the store's fsync may need; what does not fit the queue is refused
 * as `busy` at once. Costs: OWASP's first choice for argon2id (19 MiB, t = 2, p = 1) and its least for bcrypt (10).
 */
import { ServiceError } from '../domain/errors.ts';
import type { PassphraseHasher } from '../domain/ports.ts';

const argon2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };
/** `Algorithm.Argon2id`; the library's enum exists only at compile time. */
const argon2id = 2;
const bcryptCost = 10;
const bcryptMaxBytes = 72;

export interface QueueLimits {
  readonly maxInFlight: number;
  readonly maxWaiting: number;
}

const hashLimits: QueueLimits = { maxInFlight: 2, maxWaiting: 64 };

/** Runs work first come, first served, so many at once; rejects with `busy` what would wait behind too many. */
export function createBoundedQueue(limits: QueueLimits): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let inFlight = 0;

  function leave(): void {
    const next = waiting.shift();
    // The place is handed on rather than freed, so that nobody who comes later slips in between.
    if (next === undefined) inFlight -= 1;
    else next();
  }

  return async (work) => {
    if (inFlight < limits.maxInFlight) {
      inFlight += 1;
    } else {
      if (waiting.length >= limits.maxWaiting) throw new ServiceError('busy', 'too many passphrases at once');
      await new Promise<void>((enter) => waiting.push(enter));
    }
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

function assertFitsBcrypt(input: string): void {
  // bcrypt would cut it, and end it at a NUL: then not every byte would count (P15).
  if (!/^[\x21-\x7e]+$/.test(input) || input.length > bcryptMaxBytes)
    throw new RangeError('not an input for bcrypt');
}

export function createPassphraseHasher(limits: QueueLimits = hashLimits): PassphraseHasher {
  const queued = createBoundedQueue(limits);
  return {
    stretch: (passphrase, salt) =>
      queued(async () => {
        // Loaded by the first passphrase: a start should not pay for it.
        const { hashRaw } = await import('@node-rs/argon2');
        return new Uint8Array(await hashRaw(passphrase, { ...argon2, algorithm: argon2id, salt }));
      }),
    hashVerifier: async (input) => {
      assertFitsBcrypt(input);
      return queued(() => Bun.password.hash(input, { algorithm: 'bcrypt', cost: bcryptCost }));
    },
    checkVerifier: async (input, hash) => {
      assertFitsBcrypt(input);
      return queued(() => Bun.password.verify(input, hash, 'bcrypt'));
    },
  };
}
