/**
 * Codes, which are mailed to the address of a secret's `verify` and prove whoever opens it. `test/stores/conformance/codes.ts` checks these
 * promises. The store has no code and no address: a code's tag opens nothing without the link and the opener's nonce.
 */
import type { DeliveryState } from '../../protocol/vocabulary.ts';
import type { SecretId } from '../keys.ts';
import type { UnixSeconds } from '../time.ts';

/** How long a code is good. */
export const codeSeconds = 600;

/** Derived from the opener's nonce, and from link, nonce and code: 16 bytes each. */
export interface NewCode {
  readonly lookTag: Uint8Array;
  readonly codeTag: Uint8Array;
}

/** A code as the creator sees it. */
export interface StoredCode {
  readonly at: UnixSeconds;
  /** What became of its mail. */
  readonly state: DeliveryState;
}

export interface CodeStore {
  /**
   * Stores a code whose mail is `queued`, if its secret is waiting at store time. It takes the place of an earlier code with the same look
   * tag; other openers' codes stay good. Resolves once that is durable, with the time; `null`: no such secret is waiting.
   */
  putCode(id: SecretId, code: NewCode): Promise<UnixSeconds | null>;
  /** Returns the tag of the last code with this look tag; `null` if there is none, or it is no longer good at store time. Changes nothing. */
  findCode(id: SecretId, lookTag: Uint8Array): Promise<Uint8Array | null>;
  /** Records what became of a code's mail. Ignores an unknown code. */
  setCodeState(id: SecretId, codeTag: Uint8Array, state: DeliveryState): Promise<void>;
  /**
   * Lists a secret's codes, oldest first, as long as its receipt is kept: of one opener's codes within the same second, only the last. A mail
   * that is still `queued` when its code ends is `not_sent`. Changes nothing.
   */
  listCodes(id: SecretId): Promise<StoredCode[]>;
}
