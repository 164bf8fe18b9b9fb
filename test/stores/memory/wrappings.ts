/** The wrapping roots of records in memory: which are in use, and one wrapping in place of another. */
import type { SecretId } from '../../../src/core/keys.ts';
import { type OlderRootsBatch, rootKidOf } from '../../../src/core/root-store.ts';
import { isWaiting, type StoredState } from '../../../src/core/secret.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';

interface WrappedRecord {
  readonly position: number;
  readonly secretId: SecretId;
  readonly state: StoredState;
  readonly expiresAt: UnixSeconds;
  sealedSecret: Uint8Array | null;
}

export function rootKidsInUse(records: readonly WrappedRecord[], now: UnixSeconds): number[] {
  const live = records.filter((record) => isWaiting(record, now));
  const kids = live.map((record) => (record.sealedSecret === null ? null : rootKidOf(record.sealedSecret)));
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
  const isOlder = (record: WrappedRecord) =>
    isWaiting(record, now) && record.sealedSecret !== null && (rootKidOf(record.sealedSecret) ?? 0) < kid;
  const last = batch.at(-1);
  return {
    secretIds: batch.filter(isOlder).map(({ secretId }) => secretId.slice() as SecretId),
    next: last === undefined || batch.length < limit ? null : String(last.position),
  };
}

export function replaceWrapping(record: WrappedRecord | null, from: Uint8Array, to: Uint8Array): boolean {
  if (record?.state !== 'waiting' || record.sealedSecret === null) return false;
  if (!Buffer.from(record.sealedSecret).equals(from) || from.length !== to.length) return false;
  record.sealedSecret = to.slice();
  return true;
}
