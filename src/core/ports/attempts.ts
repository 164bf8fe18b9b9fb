/** Bounded guesses (P14), and whatever else is counted per secret. `test/stores/conformance/attempts.ts` checks these promises. */
import { concat, part } from '../../crypto/bytes.ts';
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

declare const brand: unique symbol;

/** What is counted: a secret's id alone for guesses at its passphrase, and with one more byte for the others. */
export type CountedId = SecretId | (Uint8Array & { readonly [brand]: 'CountedId' });

const counted = { wrongCodes: 1, mailedCodes: 2 } as const;

export const countedId = (id: SecretId, what: keyof typeof counted): CountedId =>
  concat(id, Uint8Array.of(counted[what])) as CountedId;

/** The secret whose end is also the end of the count. */
export const secretIn = (id: CountedId): SecretId => part(id, 0, 16) as SecretId;

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
  reserve(id: CountedId, client: Uint8Array, limits: AttemptLimits): Promise<Reservation>;
  /** Cancels one reservation, as after a correct passphrase. Other attempts remain counted. */
  refund(id: CountedId, attempt: number): Promise<void>;
  /** Forgets every attempt, including those counted over the secret's life. Earlier reservations can no longer be refunded. */
  allowMore(id: CountedId): Promise<void>;
  /** Returns the lock on each secret, or `null`. A lock also applies to clients that have not guessed yet. Changes nothing. */
  findLocks(ids: readonly CountedId[], limits: AttemptLimits): Promise<readonly (Lock | null)[]>;
}
