/**
 * Creations that may be repeated: the row that makes two equal requests one secret.
 * `test/stores/conformance/creations.ts` has the checks.
 *
 * A row is reserved before its record is stored, and done in the step that stores the record (`NewRecord.hold`), so each row
 * has one record at most. A row's keys are derived from its own seed, so no two records share an id, and the ids need no
 * unique index.
 */
import type { CreationHold, CreationId } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';

/** How long a row is known, from its reservation on. */
export const creationSeconds = 86_400;
/** How long a reservation counts as in progress. */
export const takeOverSeconds = 30;
/** After this many other bodies the row answers no more requests. */
export const maxMismatches = 10;

export interface NewIdempotentCreation extends CreationHold {
  /** 32 bytes. */
  readonly bodyMac: Uint8Array;
  /** The row goes with this token. */
  readonly tokenId: number;
}

export interface IdempotentCreation extends Pick<NewIdempotentCreation, 'wrappedSeed' | 'bodyMac'> {
  readonly isDone: boolean;
  /** In store time. */
  readonly reservedAt: UnixSeconds;
  /** How many other bodies came with the same idempotency key. */
  readonly mismatches: number;
}

export interface CreationStore {
  /** The row, or `null` when it does not exist or was reserved 24 hours ago. Changes nothing. */
  findCreation(id: CreationId): Promise<IdempotentCreation | null>;
  /**
   * Reserves the row, unless `findCreation` would find one: of many concurrent calls, one gets `reserved`, durably, and the
   * others get its row. Rejects as `unavailable` when the token does not exist (any more), and with `storage_full` while
   * `SecretStore.put` would.
   */
  reserveCreation(creation: NewIdempotentCreation): Promise<'reserved' | IdempotentCreation>;
  /**
   * Replaces the seed of a reservation that is not done and is at least 30 seconds old, if its seed is still that in `from`;
   * its 24 hours begin again, and the earlier holder can store nothing. Returns whether it was replaced: of many concurrent
   * calls, one.
   */
  takeOverCreation(
    from: CreationHold,
    to: Pick<NewIdempotentCreation, 'wrappedSeed' | 'bodyMac'>,
  ): Promise<boolean>;
  /** Forgets a reservation that is not done: nothing was stored for it. Ignores one that is done or was taken over. */
  releaseCreation(hold: CreationHold): Promise<void>;
  /** Counts another body; durable before it resolves. Ignores an unknown row. */
  countMismatch(id: CreationId): Promise<void>;
}
