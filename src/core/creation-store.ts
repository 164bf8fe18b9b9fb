/**
 * What a store keeps of creations that may be repeated: the row that makes two equal requests one secret. A method is one atomic
 * decision, as in `ports.ts`; `test/stores/conformance/creations.ts` states the promises as checks.
 *
 * A row is reserved before its record is stored, and it is done in the very step that stores the record (`NewRecord.hold`). So
 * there is one record at most for each row, and because a row's keys are derived from a seed of its own, no two records have the same
 * ids: that each id is unique needs no index of its own.
 */
import type { UnixSeconds } from './time.ts';

declare const brand: unique symbol;

/** 16 bytes, one-way from a token, an idempotency key and a place in a batch. */
export type CreationId = Uint8Array & { readonly [brand]: 'CreationId' };

/** How long a row is known, from its reservation on. */
export const creationSeconds = 86_400;
/** How long a reservation is believed to be at work. */
export const takeOverSeconds = 30;
/** So many other bodies, and the row answers nothing any more. */
export const maxMismatches = 10;

/** A reservation by the seed that it was made with, which no other reservation has. */
export interface CreationHold {
  readonly id: CreationId;
  /** 83 bytes: see `crypto/creation.ts`. */
  readonly wrappedSeed: Uint8Array;
}

export interface NewCreation extends CreationHold {
  /** 32 bytes. */
  readonly bodyMac: Uint8Array;
  /** The row goes with this token. */
  readonly tokenId: number;
}

export interface StoredCreation extends Pick<NewCreation, 'wrappedSeed' | 'bodyMac'> {
  readonly isDone: boolean;
  /** In store time. */
  readonly reservedAt: UnixSeconds;
  /** Other bodies that came with it. */
  readonly mismatches: number;
}

export interface CreationStore {
  /** The row, or `null` when there is none, or it was reserved 24 hours ago. Changes nothing. */
  findCreation(id: CreationId): Promise<StoredCreation | null>;
  /**
   * Reserves the row, if there is none that `findCreation` would find: of many at once, one is told `reserved`, durably, and the others
   * get its row. Rejects as `unavailable` when the token is not there (any more), and with `storage_full` while `SecretStore.put` would.
   */
  reserveCreation(creation: NewCreation): Promise<'reserved' | StoredCreation>;
  /**
   * Puts another seed in place of a reservation that is not done and was made 30 seconds ago or more, if its seed is still the one of
   * `from`; its 24 hours begin again. From then on the earlier holder stores nothing. Whether it was; of many at once, one.
   */
  takeOverCreation(from: CreationHold, to: Pick<NewCreation, 'wrappedSeed' | 'bodyMac'>): Promise<boolean>;
  /** Forgets a reservation that is not done: nothing was stored for it. Ignores one that is done, or was taken over. */
  releaseCreation(hold: CreationHold): Promise<void>;
  /** Counts another body; durable before it resolves. Ignores a row that is not there. */
  countMismatch(id: CreationId): Promise<void>;
}
