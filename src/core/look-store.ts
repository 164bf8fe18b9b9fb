/**
 * What a store does for the second look: whoever opened a secret with a nonce may have the same answer again, with the same nonce, for
 * a minute. `test/stores/conformance/looks.ts` states the promises as checks.
 */
import { lookRow } from '../crypto/look.ts';
import type { SecretId } from './keys.ts';
import type { StoredSecret } from './secret.ts';
import type { UnixSeconds } from './time.ts';

export { lookRow };

/** How long a look lasts at most, from its claim. */
export const lookSeconds = 60;
/** With the claim's own. */
export const lookAnswers = 3;

/** What a claim puts in the place of the secret that it takes. */
export interface NewLook {
  /** As long as the secret's own row; names its tag and the answers left (see `crypto/look.ts`). */
  readonly sealedLook: Uint8Array;
  /** At most `lookSeconds` after the claim, and not after the secret's expiry. */
  readonly until: UnixSeconds;
}

/** A look that has not ended, sealed; in place of the secret's row. */
export interface StoredLook extends StoredSecret {
  readonly until: UnixSeconds;
}

/**
 * - `answered`: the answer may be released; the decision is durable.
 * - `gone`: the look has ended, by whatever, or is another's, or there never was one. Nothing changed.
 * - `abandoned`: its client has left. Nothing changed.
 */
export type AnswerOutcome = 'answered' | 'gone' | 'abandoned';

/** A look is found by the secret's id and the tag of its opener's nonce, and by nobody who has another or none. */
export interface LookStore {
  /** The look, or `null` when there is none with this tag at store time. Changes nothing. */
  findLook(id: SecretId, tag: Uint8Array): Promise<StoredLook | null>;

  /**
   * Counts one more answer of a look, in one atomic step, if one is left and it has not ended at store time; with the last one the
   * look is erased. Resolves only when that is durable, and after a rejection nothing may be released (P2): as for a claim, also
   * where a decision may be undone until it is confirmed. `isAbandoned` as in `claim`.
   */
  takeAnswer(id: SecretId, tag: Uint8Array, isAbandoned: () => boolean): Promise<AnswerOutcome>;

  /** Ends a look before its time: erased, durably. Where there is none with this tag, nothing changes. */
  endLook(id: SecretId, tag: Uint8Array): Promise<void>;
}
