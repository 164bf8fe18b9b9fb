/** Bounded guesses at passphrases (P14). `test/stores/conformance/attempts.ts` checks these promises. */
import type { SecretId } from '../keys.ts';
import type { UnixSeconds } from '../time.ts';

/** No more guesses are allowed now. */
export interface Exhausted {
  readonly outcome: 'exhausted';
  readonly retryAfterSeconds: number;
  /** Whether `perLife` is reached, so that only the secret's creator can allow more. */
  readonly needsCreator: boolean;
}

/** Whether one more guess at a passphrase may be computed. */
export type Reservation =
  | {
      readonly outcome: 'reserved';
      readonly attempt: number;
      /** Guesses that this client has left after this one: the smallest number left under any limit. */
      readonly left: number;
      /** Seconds until the oldest attempt counted against this client or secret leaves the window; at least 1. */
      readonly moreAfterSeconds: number;
      /** As in `Exhausted`; can be true only if no guess is left. */
      readonly needsCreator: boolean;
    }
  | Exhausted;

/** Bounds on guesses, per secret (P14). */
export interface AttemptLimits {
  readonly windowSeconds: number;
  readonly perClient: number;
  /** Shared by all clients in one network. */
  readonly perNetwork: number;
  readonly perSecret: number;
  /** How many of `perSecret` are reserved for networks that have made no attempt in the window, one for each network. */
  readonly keptForNewcomers: number;
  readonly perLife: number;
}

/** A client's token is 16 bytes and contains no address; clients of one network share the first 8. */
export const networkBytes = 8;

/** A lock that keeps every client from guessing. */
export interface Lock {
  /** When guessing may resume; `null` until the creator allows it. */
  readonly until: UnixSeconds | null;
}

export interface AttemptStore {
  /**
   * Counts one attempt before anything is hashed, if every limit allows it. Atomic, and durable across restarts and
   * processes. `retryAfterSeconds` (at least 1) is the time until enough attempts have left the window or, for `perLife`,
   * the rest of the secret's life.
   */
  reserve(id: SecretId, client: Uint8Array, limits: AttemptLimits): Promise<Reservation>;
  /** Cancels one reservation, as after a correct passphrase. Other attempts remain counted. */
  refund(id: SecretId, attempt: number): Promise<void>;
  /** Forgets every attempt, including those counted over the secret's life. Earlier reservations can no longer be refunded. */
  allowMore(id: SecretId): Promise<void>;
  /** Returns the lock on each secret, or `null`. A lock also applies to clients that have not guessed yet. Changes nothing. */
  findLocks(ids: readonly SecretId[], limits: AttemptLimits): Promise<readonly (Lock | null)[]>;
}
