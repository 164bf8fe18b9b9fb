/** The ring of wrapping roots: never empty, each key id only once. */
import { rootCheck as checkOf } from './derive.ts';

/** A wrapping root: 32 random bytes and their key id. */
export interface RootKey {
  /** 1–65,535. */
  readonly kid: number;
  readonly key: Uint8Array;
}

/** A UTC day, counted from 1970, and the key of all secrets that expire on it: 32 random bytes, destroyed after the day. */
export interface Epoch {
  /** 0–65,535. */
  readonly epoch: number;
  readonly key: Uint8Array;
}

export interface KeyRing {
  /** The root with the highest key id, which wraps new records. */
  readonly current: RootKey;
  find(kid: number): RootKey | null;
  readonly all: readonly RootKey[];
}

/** @throws RangeError if there is no root, a key id is out of range or duplicated, or a key is not 32 bytes */
export function createKeyRing(roots: readonly RootKey[]): KeyRing {
  const byKid = new Map<number, RootKey>();
  for (const root of roots) {
    if (!Number.isInteger(root.kid) || root.kid < 1 || root.kid > 0xffff)
      throw new RangeError(`key id ${root.kid} is not 1–65535`);
    if (root.key.length !== 32) throw new RangeError(`root ${root.kid} is not 32 bytes`);
    if (byKid.has(root.kid)) throw new RangeError(`key id ${root.kid} is there twice`);
    byKid.set(root.kid, root);
  }
  const all = [...byKid.values()].sort((a, b) => a.kid - b.kid);
  const current = all.at(-1);
  if (current === undefined) throw new RangeError('there is no root key');
  return { current, find: (kid) => byKid.get(kid) ?? null, all };
}

/** Returns the value stored to recognise the root at the next start: HMAC-SHA-256(root, "mayfly/1/check"). */
export function rootCheck(root: RootKey): Uint8Array {
  return checkOf(root.key);
}
