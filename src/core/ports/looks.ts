/**
 * The second look: for a minute, a secret's opener gets the same answer again by sending the same nonce.
 * `test/stores/conformance/looks.ts` checks these promises.
 */
import { lookRow } from '../../crypto/look.ts';
import type { SecretId } from '../keys.ts';
import type { StoredSecret } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';

export { lookRow };

/** The look that a claim stores in place of the secret that it takes. */
export interface NewLook {
  /** The same length as the secret's row; contains the look's tag and the number of answers left (see `crypto/look.ts`). */
  readonly sealedLook: Uint8Array;
  /** At most `lookSeconds` after the claim, and not after the secret's expiry. */
  readonly until: UnixSeconds;
}

/** A look that has not ended; its sealed bytes have replaced the secret's row. */
export interface StoredLook extends StoredSecret {
  readonly until: UnixSeconds;
}

/**
 * - `answered`: the answer may be released; the decision is durable.
 * - `gone`: the look has ended, belongs to another opener, or never existed. Nothing changed.
 * - `abandoned`: the client has left. Nothing changed.
 */
export type AnswerOutcome = 'answered' | 'gone' | 'abandoned';

/** A look is found only by the secret's id together with the tag of its opener's nonce. */
export interface LookStore {
  /** Returns the look, or `null` if none has this tag at store time. Changes nothing. */
  findLook(id: SecretId, tag: Uint8Array): Promise<StoredLook | null>;

  /**
   * Counts one more answer of a look, in one atomic step, if one is left and the look has not ended at store time; the last
   * answer erases the look. Resolves only when that is durable. After a rejection nothing may be released (P2); as with a
   * claim, calls also reject while a decision can still be undone. `isAbandoned` works as in `claim`.
   */
  takeAnswer(id: SecretId, tag: Uint8Array, isAbandoned: () => boolean): Promise<AnswerOutcome>;

  /** Ends a look early by erasing it, durably. Does nothing if no look has this tag. */
  endLook(id: SecretId, tag: Uint8Array): Promise<void>;
}
