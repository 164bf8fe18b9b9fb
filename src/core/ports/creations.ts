/**
 * Repeatable creations: a stored row makes identical requests create only one secret.
 * `test/stores/conformance/creations.ts` checks these promises.
 *
 * A row is reserved before its record is stored, and marked done in the step that stores the record (`NewRecord.hold`), so
 * each row has at most one record. A row's keys are derived from its seed, so no two records share an id, and the ids need
 * no unique index.
 */
import type { CreationHold, CreationId } from '../secret.ts';
import type { UnixSeconds } from '../time.ts';

/** How long a row is kept after its reservation. */
export const creationSeconds = 86_400;
/** How long a reservation counts as in progress, before another request may take it over. */
export const takeOverSeconds = 30;
/** After this many requests with different bodies, the row refuses every request. */
export const maxMismatches = 10;

export interface NewIdempotentCreation extends CreationHold {
  /** 32 bytes. */
  readonly bodyMac: Uint8Array;
  /** The row is deleted with this token. */
  readonly tokenId: number;
}

export interface IdempotentCreation extends Pick<NewIdempotentCreation, 'wrappedSeed' | 'bodyMac'> {
  readonly isDone: boolean;
  /** In store time. */
  readonly reservedAt: UnixSeconds;
  /** How many requests with different bodies had the same idempotency key. */
  readonly mismatches: number;
}

export interface CreationStore {
  /** Returns the row, or `null` if it does not exist or was reserved at least 24 hours ago. Changes nothing. */
  findCreation(id: CreationId): Promise<IdempotentCreation | null>;
  /**
   * Reserves the row, unless `findCreation` would find one: of many concurrent calls, one gets `reserved`, durably, and the
   * others get its row. Rejects as `unavailable` if the token does not exist, and with `storage_full` whenever
   * `SecretStore.put` would.
   */
  reserveCreation(creation: NewIdempotentCreation): Promise<'reserved' | IdempotentCreation>;
  /**
   * Replaces the seed of a reservation that is not done and is at least 30 seconds old, if its seed is still the one in
   * `from`. Its 24 hours start again, and the earlier holder can store nothing. Returns whether it was replaced: of many
   * concurrent calls, one succeeds.
   */
  takeOverCreation(
    from: CreationHold,
    to: Pick<NewIdempotentCreation, 'wrappedSeed' | 'bodyMac'>,
  ): Promise<boolean>;
  /** Forgets a reservation that is not done: nothing was stored for it. Ignores one that is done or was taken over. */
  releaseCreation(hold: CreationHold): Promise<void>;
  /** Counts a request with a different body, durably before the call resolves. Ignores an unknown row. */
  countMismatch(id: CreationId): Promise<void>;
}
