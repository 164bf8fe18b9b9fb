/** The wrapping roots (P12). */
import type { SecretId } from '../keys.ts';
import type { StoredLook } from './looks.ts';

/** How a starting server finds out whether it has the right roots. */
export interface RootStore {
  /** The check value of a wrapping root, 32 bytes, by key id; `null` if none was stored yet. */
  findRootCheck(kid: number): Promise<Uint8Array | null>;
  /** Stores the check of a root that has none. Returns the stored one: two nodes that start together get the same. */
  addRootCheck(kid: number, check: Uint8Array): Promise<Uint8Array>;
  /**
   * Distinct key ids, ascending, of the roots that wrap live records or seeds of creations that may still be repeated. May
   * also name some that no longer do, until they are closed and searched for.
   */
  rootKidsInUse(): Promise<number[]>;
  /** Records are stored under this root and later ones (`RotationStore.closeRootsBefore`); 0 when none was ever closed. */
  findFirstOpenRoot(): Promise<number>;
  /**
   * Whether this node may make the key file of a store that has never served. Always on one machine, where the file itself is
   * made only once; a store that several machines share allows it to the first that asks, and never again.
   */
  mayMakeRoots(): Promise<boolean>;
}

/**
 * Moves secrets from older roots to another while servers run: list, replace, close, and again until none is left.
 * `test/stores/conformance/rotation.ts` has the checks.
 */
export interface RotationStore {
  /**
   * Secrets that wait by any clock, or have a look, under a root before `kid`, oldest first. Visits at most `limit` records
   * after `after`, which is the `next` of the call before, or `null`.
   */
  listUnderOlderRoots(kid: number, after: string | null, limit: number): Promise<OlderRootsBatch>;
  /** A secret's look, whatever its opener; `null` when there is none at store time. */
  findAnyLook(id: SecretId): Promise<StoredLook | null>;
  /**
   * Replaces the sealed bytes of a waiting secret or a look with another wrapping of the same length, if they are still
   * `from`; one atomic step. Nothing else changes, so a claim based on an earlier find still takes the secret. Returns
   * whether they were replaced. Rejects as `unavailable` when the root of `to` is closed.
   */
  replaceWrapping(id: SecretId, from: Uint8Array, to: Uint8Array): Promise<boolean>;
  /** From now on `put` rejects every record under a root before `kid` as `unavailable`. Never opens one again. */
  closeRootsBefore(kid: number): Promise<void>;
  /** Forgets that closed roots were used, once the caller has found no live record under them. Ignores the others. */
  forgetRoots(kids: readonly number[]): Promise<void>;
}

export interface OlderRootsBatch {
  readonly secretIds: readonly SecretId[];
  /** `null`: there were no more records. */
  readonly next: string | null;
}

/**
 * The wrapping root's key id in the header of a sealed secret or a look: a version byte, then the id as u16, big-endian.
 * `null` when the bytes are too short.
 */
export function rootKidOf(sealedSecret: Uint8Array): number | null {
  const [version, high, low] = sealedSecret;
  return version === undefined || high === undefined || low === undefined ? null : high * 256 + low;
}
