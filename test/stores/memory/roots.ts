/** The wrapping roots of records in memory: which are in use, and one wrapping in place of another. */
import type { SecretId } from '../../../src/core/keys.ts';
import { type OlderRootsBatch, rootKidOf } from '../../../src/core/ports/roots.ts';
import { isWaiting, type StoredState } from '../../../src/core/secret.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import { lookAt, type MemoryLook } from './looks.ts';

interface WrappedRecord {
  readonly position: number;
  readonly secretId: SecretId;
  readonly state: StoredState;
  readonly expiresAt: UnixSeconds;
  sealedSecret: Uint8Array | null;
  look: MemoryLook | null;
}

/** What is under a root at `now`: a waiting secret, or what may be looked at again. */
function sealedAt(record: WrappedRecord, now: UnixSeconds): Uint8Array | null {
  return isWaiting(record, now) ? record.sealedSecret : (lookAt(record, null, now)?.sealed ?? null);
}

export function rootKidsInUse(records: readonly WrappedRecord[], now: UnixSeconds): number[] {
  const sealed = records.map((record) => sealedAt(record, now));
  const kids = sealed.map((bytes) => (bytes === null ? null : rootKidOf(bytes)));
  return [...new Set(kids.filter((kid) => kid !== null))].sort((a, b) => a - b);
}

export function listUnderOlderRoots(
  records: readonly WrappedRecord[],
  kid: number,
  { after, limit }: { readonly after: number; readonly limit: number },
  now: UnixSeconds,
): OlderRootsBatch {
  const later = records.filter(({ position }) => position > after);
  const batch = later.sort((a, b) => a.position - b.position).slice(0, limit);
  const isOlder = (record: WrappedRecord) => {
    const sealed = sealedAt(record, now);
    return sealed !== null && (rootKidOf(sealed) ?? 0) < kid;
  };
  const last = batch.at(-1);
  return {
    secretIds: batch.filter(isOlder).map(({ secretId }) => secretId.slice() as SecretId),
    next: last === undefined || batch.length < limit ? null : String(last.position),
  };
}

export function replaceWrapping(record: WrappedRecord | null, from: Uint8Array, to: Uint8Array): boolean {
  if (record === null || from.length !== to.length) return false;
  const isFrom = (bytes: Uint8Array | undefined | null) => bytes && Buffer.from(bytes).equals(from);
  if (record.state === 'waiting' && isFrom(record.sealedSecret)) record.sealedSecret = to.slice();
  else if (record.look !== null && isFrom(record.look.sealed)) record.look.sealed = to.slice();
  else return false;
  return true;
}
