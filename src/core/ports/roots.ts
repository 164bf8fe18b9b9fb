/** The wrapping roots (P12). */
import type { SecretId } from '../keys.ts';
import type { StoredLook } from './looks.ts';

/** Lets a starting server check whether it has the right roots. */
export interface RootStore {
  /** Returns a wrapping root's check value, 32 bytes, by key id; `null` if none is stored yet. */
  findRootCheck(kid: number): Promise<Uint8Array | null>;
  /** Stores the check value of a root that has none. Returns the one now stored, so two nodes that start together get the same. */
  addRootCheck(kid: number, check: Uint8Array): Promise<Uint8Array>;
  /**
   * Lists the distinct key ids, ascending, of the roots that wrap live records or seeds of creations that may still be
   * repeated. May include roots no longer in use, until they are closed and `forgetRoots` removes them.
   */
  rootKidsInUse(): Promise<number[]>;
  /** Returns the first root that records may be stored under (`RotationStore.closeRootsBefore`); 0 if none was ever closed. */
  findFirstOpenRoot(): Promise<number>;
  /**
   * Returns whether this node may make the key file for a store that has never served. Always true on one machine, where the
   * file itself is made only once; a store that several machines share allows only the first that asks.
   */
  mayMakeRoots(): Promise<boolean>;
}

/**
 * Moves secrets from older roots to a newer one while servers run: list, replace, close, and repeat until none is left.
 * `test/stores/conformance/rotation.ts` checks these promises.
 */
export interface RotationStore {
  /**
   * Lists secrets under a root before `kid` that are waiting by any clock or have a look, oldest first. Visits at most
   * `limit` records after `after`, which is the previous call's `next`, or `null`.
   */
  listUnderOlderRoots(kid: number, after: string | null, limit: number): Promise<OlderRootsBatch>;
  /** Returns a secret's look, for any opener; `null` if it has none at store time. */
  findAnyLook(id: SecretId): Promise<StoredLook | null>;
  /**
   * Replaces the sealed bytes of a waiting secret or a look with another wrapping of the same length, if they are still
   * `from`, in one atomic step. Nothing else changes, so a claim based on an earlier find still takes the secret. Returns
   * whether they were replaced. Rejects as `unavailable` if the root of `to` is closed.
   */
  replaceWrapping(id: SecretId, from: Uint8Array, to: Uint8Array): Promise<boolean>;
  /** Makes `put` reject every record under a root before `kid` as `unavailable` from now on. A closed root is never reopened. */
  closeRootsBefore(kid: number): Promise<void>;
  /** Forgets that closed roots were used, once the caller has found no live record under them. Ignores open roots. */
  forgetRoots(kids: readonly number[]): Promise<void>;
}

export interface OlderRootsBatch {
  readonly secretIds: readonly SecretId[];
  /** `null` if there were no more records. */
  readonly next: string | null;
}

/**
 * Reads the wrapping root's key id from the header of a sealed secret or a look: a version byte, then the id as u16,
 * big-endian. Returns `null` if the bytes are too short.
 */
export function rootKidOf(sealedSecret: Uint8Array): number | null {
  const [version, high, low] = sealedSecret;
  return version === undefined || high === undefined || low === undefined ? null : high * 256 + low;
}
