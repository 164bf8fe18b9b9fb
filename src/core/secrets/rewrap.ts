/**
 * Rotation: re-wraps waiting secrets under the current root while servers run (P12).
 *
 * Nothing under the outer layer is opened (P9), and only the sealed bytes change, so a reader never notices (P3). A new
 * wrapping replaces only the bytes that were read, so no concurrent change is lost.
 */
import { rewrapSecret, unwrapSecret } from '../../crypto/envelope.ts';
import type { KeyRing } from '../../crypto/keyring.ts';
import { rewrapLook } from '../../crypto/look.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { SecretId } from '../keys.ts';
import { type EpochStore, epochKeyOf } from '../ports/epochs.ts';
import { type RotationStore, rootKidOf } from '../ports/roots.ts';
import type { SecretStore } from '../ports/secrets.ts';
import type { UnixSeconds } from '../time.ts';

export interface RewrapDeps {
  readonly store: Pick<SecretStore, 'findSecret'> &
    Pick<RotationStore, 'listUnderOlderRoots' | 'findAnyLook' | 'replaceWrapping'> &
    Pick<EpochStore, 'findEpochKey'>;
  readonly ring: KeyRing;
  readonly random: RandomBytes;
}

export interface RewrapReport {
  readonly rewrapped: number;
  /** Secrets in version 1 of the envelope, which keep their root: they wait under it until they are read or expire. */
  readonly fixed: number;
  /** When the last of those expires; `null` if `fixed` is 0. */
  readonly fixedUntil: UnixSeconds | null;
  /** No root of the ring opens these. */
  readonly damaged: number;
}

/** Records per call to the store. */
const batchRecords = 500;
/** Records held in memory together; their writes share a transaction. */
const atOnce = 64;

type Rewrapped =
  | { readonly outcome: 'rewrapped' | 'settled' | 'changed' | 'damaged' }
  | { readonly outcome: 'fixed'; readonly expiresAt: UnixSeconds };

const isUnder = (ring: KeyRing, sealed: Uint8Array): boolean => (rootKidOf(sealed) ?? 0) >= ring.current.kid;

async function rewrapOne(deps: RewrapDeps, id: SecretId): Promise<Rewrapped> {
  const { store, ring, random } = deps;
  const stored = await store.findSecret(id);
  if (stored === null) return rewrapLookAt(deps, id);
  const { sealedSecret, expiresAt } = stored;
  // Another rotation may already have re-wrapped it.
  if (isUnder(ring, sealedSecret)) return { outcome: 'settled' };
  const epochKey = await epochKeyOf(store, sealedSecret);
  const rewrapped = rewrapSecret(sealedSecret, stored, { ring, epochKey, random }, { root: ring.current });
  if (rewrapped === null) {
    const isWhole = unwrapSecret(sealedSecret, stored, ring, epochKey).outcome === 'unwrapped';
    return isWhole ? { outcome: 'fixed', expiresAt } : { outcome: 'damaged' };
  }
  const isReplaced = await store.replaceWrapping(id, sealedSecret, rewrapped);
  return { outcome: isReplaced ? 'rewrapped' : 'changed' };
}

/** Re-wraps the opener's second look at a secret that was read. */
async function rewrapLookAt({ store, ring, random }: RewrapDeps, id: SecretId): Promise<Rewrapped> {
  const look = await store.findAnyLook(id);
  if (look === null || isUnder(ring, look.sealedSecret)) return { outcome: 'settled' };
  const rewrapped = rewrapLook(look.sealedSecret, look, ring, random, ring.current);
  if (rewrapped === null) return { outcome: 'damaged' };
  const isReplaced = await store.replaceWrapping(id, look.sealedSecret, rewrapped);
  return { outcome: isReplaced ? 'rewrapped' : 'changed' };
}

interface Pass {
  readonly counts: Record<Rewrapped['outcome'], number>;
  readonly fixedUntil: UnixSeconds | null;
}

/** Goes through the store once. */
async function pass(deps: RewrapDeps, onProgress: (rewrapped: number) => void): Promise<Pass> {
  const counts: Pass['counts'] = { rewrapped: 0, settled: 0, changed: 0, damaged: 0, fixed: 0 };
  let fixedUntil: UnixSeconds | null = null;
  for (let after: string | null = null; ; ) {
    const { secretIds, next } = await deps.store.listUnderOlderRoots(
      deps.ring.current.kid,
      after,
      batchRecords,
    );
    for (let at = 0; at < secretIds.length; at += atOnce) {
      const some = secretIds.slice(at, at + atOnce);
      for (const each of await Promise.all(some.map((id) => rewrapOne(deps, id)))) {
        counts[each.outcome] += 1;
        if (each.outcome === 'fixed') fixedUntil = Math.max(fixedUntil ?? 0, each.expiresAt);
      }
    }
    onProgress(counts.rewrapped);
    if (next === null) return { counts, fixedUntil };
    after = next;
  }
}

/**
 * Re-wraps until a pass through the store encounters no concurrent change. Close the older roots first: otherwise a server
 * could store another secret under them after the last pass.
 * @param onProgress called periodically with how many were re-wrapped so far
 */
export async function rewrapOlder(
  deps: RewrapDeps,
  onProgress: (rewrapped: number) => void,
): Promise<RewrapReport> {
  let before = 0;
  for (;;) {
    const { counts, fixedUntil } = await pass(deps, (rewrapped) => onProgress(before + rewrapped));
    before += counts.rewrapped;
    const { fixed, damaged } = counts;
    if (counts.changed === 0) return { rewrapped: before, fixed, fixedUntil, damaged };
  }
}
