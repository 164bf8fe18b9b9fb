/** Taking a secret: of all its claims and burns, exactly one wins (P1, P7). */
import type { ReceiptId } from '../keys.ts';
import type { StoredSecret } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';
import type { NewLook } from './looks.ts';

/** Returns whether the client that made the call has left. It is called again after each wait, so it must be cheap. */
export type IsAbandoned = () => boolean;

/**
 * - `won`: this call alone took the secret, and no other ever will; the decision is durable.
 * - `gone`: the secret was taken by another call, was burned, has expired, or never existed. Nothing changed.
 * - `abandoned`: the client has left. Nothing changed.
 */
export type ClaimOutcome = 'won' | 'gone' | 'abandoned';

/** When the secret was burned; `null` if no secret was waiting. */
export type BurnDecision = UnixSeconds | null | 'abandoned';

/** The fields of a found secret that its claim depends on. */
export type ClaimTarget = Pick<StoredSecret, 'secretId' | 'rowVersion' | 'createdAt' | 'expiresAt'>;

export interface BurnedBatch {
  readonly burned: number;
  /** `null` if there were no more records. */
  readonly next: string | null;
}

export interface ClaimStore {
  /**
   * Takes the secret with this id: one atomic step erases the sealed secret and sets the state to `received` at store time, if
   * and only if it is still waiting, unexpired at store time, and has this row version. Resolves only when that is durable.
   * After a rejection nothing may be released (P2). While a claim can still be undone, other calls for the same secret (`claim`,
   * `burn`, `burnFound`, `findSecret`, `findReceipt`) reject as `unavailable` and never return `gone`. `isAbandoned` is called
   * after the claim has waited for earlier writes: a client that has left takes nothing (P3).
   * @param look replaces the erased bytes, for the opener's second look. The claim rejects as `unavailable` and takes nothing
   *   if the secret's expiry or root has changed so that the look no longer fits.
   */
  claim(target: ClaimTarget, isAbandoned: IsAbandoned, look?: NewLook | null): Promise<ClaimOutcome>;

  /**
   * Destroys a waiting secret for its creator in one atomic step, as in `claim`: sets the state to `burned` and records who
   * burned it. `isAbandoned` works as in `claim`. If the secret was read, ends the opener's look.
   */
  burn(id: ReceiptId, isAbandoned: IsAbandoned): Promise<BurnDecision>;

  /** Works like `burn`, but for the holder of the link: like a claim, it takes only the record that was found. Does not end a look. */
  burnFound(target: ClaimTarget, isAbandoned: IsAbandoned): Promise<BurnDecision>;

  /**
   * Burns all creators' secrets that are still waiting by any clock, and ends every look, oldest first. The receipts name
   * no burner. Visits at most `limit` records after `after`, which is the previous call's `next`, or `null`.
   */
  burnAll(after: string | null, limit: number): Promise<BurnedBatch>;
}
