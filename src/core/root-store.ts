/** What a store knows of the wrapping roots (P12). */
import type { SecretId } from './keys.ts';
import type { StoredLook } from './look-store.ts';

/** What tells a server at its start whether it has the right ones. */
export interface RootStore {
  /** The check value kept for a wrapping root, 32 bytes, by key id; `null` when none is kept yet. */
  findRootCheck(kid: number): Promise<Uint8Array | null>;
  /** Keeps the check of a root that has none. The one that is kept now: of two nodes that start at once, both get the same. */
  addRootCheck(kid: number, check: Uint8Array): Promise<Uint8Array>;
  /**
   * Distinct key ids of all roots that live records are wrapped under, and the seeds of creations that may still be repeated,
   * ascending; it may also name some that no longer are, until they were closed and looked for.
   */
  rootKidsInUse(): Promise<number[]>;
  /** Records are stored under this root and later ones (`RotationStore.closeRootsBefore`); 0 when none was ever closed. */
  findFirstOpenRoot(): Promise<number>;
  /**
   * Whether this node may make the key file of a store that has never served. On one machine the file itself is made once,
   * so always; a store that several machines share says so to the first that asks, and never again.
   */
  mayMakeRoots(): Promise<boolean>;
}

/**
 * What moves secrets from older roots to another while servers run: list, replace, close, and again until none is left.
 * `test/stores/conformance/rotation.ts` states the promises as checks.
 */
export interface RotationStore {
  /**
   * Secrets that wait by any clock, or are still to be looked at again, under a root before `kid`, in the order in which they were stored. Looks at `limit` records at most,
   * those after `after`, which is `next` of the call before, or `null` to begin.
   */
  listUnderOlderRoots(kid: number, after: string | null, limit: number): Promise<OlderRootsBatch>;
  /** A secret's look, whoever may look; `null` when there is none at store time. */
  findAnyLook(id: SecretId): Promise<StoredLook | null>;
  /**
   * Puts another wrapping, as long as before, in place of the sealed bytes of a waiting secret or of a look, if they are still `from`; one atomic step.
   * Nothing else changes, so a claim that was decided by what was found before still takes the secret. Whether it was replaced.
   * Rejects as `unavailable` when the root of `to` is closed.
   */
  replaceWrapping(id: SecretId, from: Uint8Array, to: Uint8Array): Promise<boolean>;
  /**
   * From now on `put` rejects records under a root before `kid` as `unavailable`, whoever stores them: what is under such a root
   * can only become less. Never opens one again.
   */
  closeRootsBefore(kid: number): Promise<void>;
  /** Forgets that closed roots were ever used, once the caller has found that no live record is under them. Ignores the others. */
  forgetRoots(kids: readonly number[]): Promise<void>;
}

export interface OlderRootsBatch {
  readonly secretIds: readonly SecretId[];
  /** `null`: there were no more records. */
  readonly next: string | null;
}

/**
 * The wrapping root's key id that a sealed secret or a look names in its header: a version byte, then the id as u16, big-endian.
 * `null` when the bytes are too short to be one.
 */
export function rootKidOf(sealedSecret: Uint8Array): number | null {
  const [version, high, low] = sealedSecret;
  return version === undefined || high === undefined || low === undefined ? null : high * 256 + low;
}
