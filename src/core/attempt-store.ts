/** What a store does so that guesses at passphrases stay bounded (P14). `test/stores/conformance/attempts.ts` states the promises as checks. */
import type { SecretId } from './keys.ts';
import type { UnixSeconds } from './time.ts';

/** No more guesses are allowed now. */
export interface Exhausted {
  readonly outcome: 'exhausted';
  readonly retryAfterSeconds: number;
  /** Waiting does not help: `perLife` is reached, and only the secret's creator can allow more. */
  readonly needsCreator: boolean;
}

/** Whether one more guess at a passphrase may be computed. */
export type Reservation =
  | {
      readonly outcome: 'reserved';
      readonly attempt: number;
      /** How many guesses this client has left after this one: the smallest remainder of any limit. */
      readonly left: number;
      /** Seconds until the oldest attempt that is counted against this client or secret leaves the window; at least 1. */
      readonly moreAfterSeconds: number;
      /** As in `Exhausted`, if no guess is left. */
      readonly needsCreator: boolean;
    }
  | Exhausted;

/** Bounds on guesses, per secret (P14). */
export interface AttemptLimits {
  readonly windowSeconds: number;
  readonly perClient: number;
  /** Of all clients in one network. */
  readonly perNetwork: number;
  readonly perSecret: number;
  /** The last places of `perSecret`: one each, for networks without an attempt in the window. */
  readonly keptForNewcomers: number;
  readonly perLife: number;
}

/** A client's token is 16 bytes that hold no address: the first 8 are those of its network. */
export const networkBytes = 8;

/** No client may guess now. */
export interface Lock {
  /** `null`: until its creator allows more. */
  readonly until: UnixSeconds | null;
}

export interface AttemptStore {
  /**
   * Counts one attempt before anything is hashed, if every limit allows it; atomic and durable, also across restarts
   * and processes. `retryAfterSeconds` is when enough attempts have left the window (at least 1), or the rest of the secret's
   * life for `perLife`.
   */
  reserve(id: SecretId, client: Uint8Array, limits: AttemptLimits): Promise<Reservation>;
  /** Gives one reservation back after a right passphrase. Others' attempts stay counted. */
  refund(id: SecretId, attempt: number): Promise<void>;
  /** Forgets every attempt, including those of its life. Earlier reservations are not refunded later. */
  allowMore(id: SecretId): Promise<void>;
  /** For each secret the lock on it, also for a client that has not guessed yet. Changes nothing. */
  findLocks(ids: readonly SecretId[], limits: AttemptLimits): Promise<readonly (Lock | null)[]>;
}
