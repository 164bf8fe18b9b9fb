/** What a store does so that guesses at passphrases stay bounded (P14). `test/stores/conformance/attempts.ts` states the promises as checks. */
import type { SecretId } from './keys.ts';

/** Whether one more guess at a passphrase may be computed. */
export type Reservation =
  | {
      readonly outcome: 'reserved';
      readonly attempt: number;
      /** How many more guesses this client may make now, after this one: the least that any limit leaves. */
      readonly left: number;
      /** Seconds until the oldest attempt that is counted against this client or secret leaves the window; at least 1. */
      readonly moreAfterSeconds: number;
    }
  | { readonly outcome: 'exhausted'; readonly retryAfterSeconds: number };

/** Bounds on guesses, per secret (P14). */
export interface AttemptLimits {
  readonly windowSeconds: number;
  readonly perClient: number;
  readonly perSecret: number;
  readonly perLife: number;
}

export interface AttemptStore {
  /**
   * Counts one attempt before anything is hashed, if every limit allows it; atomic and durable, also across restarts
   * and processes. `client` is an opaque token for the client's prefix (16 bytes, no address). `retryAfterSeconds` is
   * when the oldest counted attempt leaves the window (at least 1), or the rest of the secret's life for `perLife`.
   */
  reserve(id: SecretId, client: Uint8Array, limits: AttemptLimits): Promise<Reservation>;
  /** Gives one reservation back after a right passphrase. Others' attempts stay counted. */
  refund(id: SecretId, attempt: number): Promise<void>;
}
