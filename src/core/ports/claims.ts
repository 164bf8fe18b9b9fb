/** Taking a secret: of all claims and burns exactly one wins (P1, P7). */
import type { ReceiptId } from '../keys.ts';
import type { StoredSecret } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';
import type { NewLook } from './looks.ts';

/** Whether the client that made the call has left. Asked again whenever time has passed, so it must be cheap. */
export type IsAbandoned = () => boolean;

/**
 * - `won`: this call, and no other ever, took the secret; the decision is durable.
 * - `gone`: another call took it, it was burned, it expired, or it never existed. Nothing changed.
 * - `abandoned`: the client has left. Nothing changed.
 */
export type ClaimOutcome = 'won' | 'gone' | 'abandoned';

/** When it was burned; `null` when nothing was waiting. */
export type BurnDecision = UnixSeconds | null | 'abandoned';

/** The part of a found secret that decides its claim. */
export type ClaimTarget = Pick<StoredSecret, 'secretId' | 'rowVersion' | 'createdAt' | 'expiresAt'>;

export interface BurnedBatch {
  readonly burned: number;
  /** `null`: there were no more records. */
  readonly next: string | null;
}

export interface ClaimStore {
  /**
   * Takes the secret with this id: one atomic step erases the sealed secret and sets the state to `received` at store time,
   * if and only if it is still waiting, unexpired at store time and at this row version. Resolves only when that is durable.
   * After a rejection nothing may be released (P2).
   * While a claim can still be undone, calls that meet it reject as `unavailable` and never answer `gone`: `claim`, `burn`,
   * `burnFound`, `findSecret` and `findReceipt`.
   * `isAbandoned` is asked after the claim has waited for earlier writes: a client that left by then takes nothing (P3).
   * @param look replaces the erased bytes, for the opener's second look. Rejects as `unavailable`, and takes nothing, when
   *   the secret's expiry or root has changed so that the look no longer fits.
   */
  claim(target: ClaimTarget, isAbandoned: IsAbandoned, look?: NewLook | null): Promise<ClaimOutcome>;

  /**
   * Destroys a waiting secret for its creator: one atomic step as in `claim`, with the state `burned` and who burned it.
   * `isAbandoned` as in `claim`. Also ends a look at what was read.
   */
  burn(id: ReceiptId, isAbandoned: IsAbandoned): Promise<BurnDecision>;

  /** As `burn`, for the holder of the link, and decided by what was found, like a claim. Does not end a look. */
  burnFound(target: ClaimTarget, isAbandoned: IsAbandoned): Promise<BurnDecision>;

  /**
   * Burns every secret that waits by any clock, of every creator, and ends every look, oldest first; receipts name no
   * burner. Visits at most `limit` records after `after`, which is the `next` of the call before, or `null`.
   */
  burnAll(after: string | null, limit: number): Promise<BurnedBatch>;
}
