/**
 * Codes, mailed to the address of a secret's `verify`: they prove that an opener reads that mailbox. The store has neither code nor address,
 * only tags. `test/stores/conformance/codes.ts` checks these promises.
 */
import type { DeliveryState } from '../../protocol/vocabulary.ts';
import type { SecretId } from '../keys.ts';
import type { UnixSeconds } from '../time.ts';

/** How long a code is valid. */
export const codeSeconds = 600;

/** Derived from the opener's nonce, and from link, nonce and code: 16 bytes each. */
export interface NewCode {
  readonly lookTag: Uint8Array;
  readonly codeTag: Uint8Array;
}

/** A code as the creator sees it. */
export interface StoredCode {
  readonly at: UnixSeconds;
  /** Of its mail. */
  readonly state: DeliveryState;
}

export interface CodeStore {
  /**
   * Stores a code whose mail is `queued`, if its secret is waiting at store time. It takes the place of an earlier code with the same look
   * tag; other openers' codes stay valid. Resolves with the time once that is durable; with `null` if no such secret is waiting.
   */
  putCode(id: SecretId, code: NewCode): Promise<UnixSeconds | null>;
  /** Returns the tag of the last code with this look tag; `null` without one, or once it has ended at store time. Changes nothing. */
  findCode(id: SecretId, lookTag: Uint8Array): Promise<Uint8Array | null>;
  /** Records the state of a code's mail. Ignores an unknown code. */
  setCodeState(id: SecretId, codeTag: Uint8Array, state: DeliveryState): Promise<void>;
  /**
   * Lists a secret's codes, oldest first, as long as its receipt is kept. Of one opener's codes within a second, only the last is listed. A
   * mail that is still `queued` when its code ends is `not_sent`. Changes nothing.
   */
  listCodes(id: SecretId): Promise<StoredCode[]>;
}
