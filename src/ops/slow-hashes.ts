/**
 * The slow hash of passphrases (argon2id), the queue in front of it (P21, P24), and the bcrypt hash that is stored.
 *
 * argon2id runs off the main thread, at OWASP's first recommendation: 19 MiB, t = 2, p = 1, and so few run at a time that a core remains
 * free. bcrypt hashes the output of argon2id and decides nothing, so it runs at minimum cost and outside the queue
 * (`docs/decisions/003-commitment-decides.md`).
 *
 * Creations and proofs wait in separate lines, so neither takes the other's places; a client gets only its share of a line, and clients
 * take turns within it. Proofs go first, but after `maxProofsInARow` of them a waiting creation gets its turn. Without a free place the
 * caller is refused as `busy` before anything is computed.
 */

import { availableParallelism } from 'node:os';
import type { HashPlace } from '../core/account.ts';
import { ServiceError } from '../core/errors.ts';
import type { PassphraseHasher } from '../core/ports/passphrases.ts';

export interface QueueLimits {
  readonly maxInFlight: number;
  /** Limit for each of the two lines. */
  readonly maxWaiting: number;
  readonly maxWaitingPerClient: number;
  /** Limit for all clients of one IPv6 /48, because anyone can get a whole /48. */
  readonly maxWaitingPerNetwork: number;
  readonly maxProofsInARow: number;
}

export interface HashQueue {
  /** Rejects with `busy` if there is no place. */
  run<T>(place: HashPlace, work: () => Promise<T>): Promise<T>;
}

type Enter = () => void;

/** Returns the /48 of an IPv6 prefix; any other client is a network by itself. */
const networkOf = (client: string): string => client.split(':', 3).join(':');

/** A line whose clients take turns, in the map's order. */
class Line {
  readonly #waiting = new Map<string, Enter[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  lengthOf(client: string): number {
    return this.#waiting.get(client)?.length ?? 0;
  }

  lengthOfNetwork(client: string): number {
    const network = networkOf(client);
    let length = 0;
    for (const [other, own] of this.#waiting) if (networkOf(other) === network) length += own.length;
    return length;
  }

  join(client: string, enter: Enter): void {
    const own = this.#waiting.get(client);
    if (own === undefined) this.#waiting.set(client, [enter]);
    else own.push(enter);
    this.#length += 1;
  }

  next(): Enter | undefined {
    for (const [client, own] of this.#waiting) {
      const enter = own.shift();
      this.#waiting.delete(client);
      if (own.length > 0) this.#waiting.set(client, own);
      this.#length -= 1;
      return enter;
    }
    return undefined;
  }
}

export function createHashQueue(limits: QueueLimits): HashQueue {
  const lines = { prove: new Line(), create: new Line() };
  let inFlight = 0;
  let proofsInARow = 0;

  function next(): Enter | undefined {
    const isCreationsTurn = lines.prove.length === 0 || proofsInARow >= limits.maxProofsInARow;
    if (lines.create.length === 0 || !isCreationsTurn) {
      proofsInARow = lines.create.length === 0 ? 0 : proofsInARow + 1;
      return lines.prove.next();
    }
    proofsInARow = 0;
    return lines.create.next();
  }

  /** Passes the place on instead of freeing it, so that a latecomer cannot slip in between. */
  function leave(): void {
    const enter = next();
    if (enter === undefined) inFlight -= 1;
    else enter();
  }

  function joinLine({ client, purpose }: HashPlace, enter: Enter): void {
    const line = lines[purpose];
    if (
      line.length >= limits.maxWaiting ||
      line.lengthOf(client) >= limits.maxWaitingPerClient ||
      line.lengthOfNetwork(client) >= limits.maxWaitingPerNetwork
    )
      throw new ServiceError('busy', 'too many passphrases');
    line.join(client, enter);
  }

  return {
    async run(place, work) {
      if (inFlight < limits.maxInFlight) inFlight += 1;
      else await new Promise<void>((enter) => joinLine(place, enter));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

const argon2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };
/** `Algorithm.Argon2id`; the library's enum exists only at compile time. */
const argon2id = 2;
/** bcrypt's minimum: under a millisecond. */
const bcryptCost = 4;
const bcryptMaxBytes = 72;

/** A full line clears in at most three seconds on two cores. */
export function hashLimitsFor(cores: number): QueueLimits {
  return {
    maxInFlight: Math.max(2, cores - 1),
    maxWaiting: 64,
    maxWaitingPerClient: 8,
    maxWaitingPerNetwork: 16,
    maxProofsInARow: 4,
  };
}

function assertFitsBcrypt(input: string): void {
  // bcrypt would truncate a longer input, or one with a NUL, so not every byte would count (P15).
  if (!/^[\x21-\x7e]+$/.test(input) || input.length > bcryptMaxBytes)
    throw new RangeError('not an input for bcrypt');
}

export interface SlowHashes extends Pick<PassphraseHasher, 'hashVerifier'> {
  stretch(passphrase: Uint8Array, salt: Uint8Array): Promise<Uint8Array>;
}

export const slowHashes: SlowHashes = {
  async stretch(passphrase, salt) {
    const { hashRaw } = await import('@node-rs/argon2');
    return new Uint8Array(await hashRaw(passphrase, { ...argon2, algorithm: argon2id, salt }));
  },
  hashVerifier: (input) => Bun.password.hash(input, { algorithm: 'bcrypt', cost: bcryptCost }),
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
      return hashes.hashVerifier(input);
    },
  };
}
