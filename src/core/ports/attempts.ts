/** Bounded guesses at passphrases (P14). `test/stores/conformance/attempts.ts` has the checks. */
import type { SecretId } from '../keys.ts';
import type { UnixSeconds } from '../time.ts';

/** No more guesses are allowed now. */
export interface Exhausted {
  readonly outcome: 'exhausted';
  readonly retryAfterSeconds: number;
  /** `perLife` is reached: only the secret's creator can allow more. */
  readonly needsCreator: boolean;
}

/** Whether one more guess at a passphrase may be computed. */
export type Reservation =
  | {
      readonly outcome: 'reserved';
      readonly attempt: number;
      /** Guesses this client has left after this one: the smallest remainder of any limit. */
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
  /** The last places of `perSecret`, one each for networks without an attempt in the window. */
  readonly keptForNewcomers: number;
  readonly perLife: number;
}

/** A client's token is 16 bytes that hold no address: the first 8 are those of its network. */
export const networkBytes = 8;

/** No client may guess now. */
export interface Lock {
  /** `null`: until the creator allows more. */
  readonly until: UnixSeconds | null;
}

export interface AttemptStore {
  /**
   * Counts one attempt before anything is hashed, if every limit allows it; atomic, and durable across restarts and
   * processes. `retryAfterSeconds` (at least 1) is when enough attempts will have left the window, or the rest of the
   * secret's life for `perLife`.
   */
  reserve(id: SecretId, client: Uint8Array, limits: AttemptLimits): Promise<Reservation>;
  /** Gives back one reservation after a right passphrase. Other attempts stay counted. */
  refund(id: SecretId, attempt: number): Promise<void>;
  /** Forgets every attempt, including those of its life. Earlier reservations are not refunded later. */
  allowMore(id: SecretId): Promise<void>;
  /** The lock on each secret, which also holds for a client that has not guessed yet. Changes nothing. */
  findLocks(ids: readonly SecretId[], limits: AttemptLimits): Promise<readonly (Lock | null)[]>;
}
