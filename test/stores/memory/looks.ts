/** Second looks in memory: in the record itself, in place of its sealed secret. */

import { ServiceError } from '../../../src/core/errors.ts';
import type { SecretId } from '../../../src/core/keys.ts';
import { type LookStore, lookRow, type NewLook, type StoredLook } from '../../../src/core/ports/looks.ts';
import { rootKidOf } from '../../../src/core/ports/roots.ts';
import type { StoredSecret, StoredState } from '../../../src/core/secret.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import { lookSeconds } from '../../../src/protocol/limits.ts';

/** What a record holds of a look; its row names the tag and the answers left. */
export interface MemoryLook {
  sealed: Uint8Array;
  readonly until: UnixSeconds;
}

interface LookedAt {
  readonly state: StoredState;
  readonly expiresAt: UnixSeconds;
  readonly sealedSecret: Uint8Array | null;
  look: MemoryLook | null;
}

const { answersAt, tagAt, tagBytes } = lookRow;

/** The look of a record that has not ended; of this opener, unless `tag` is `null`. */
export function lookAt(
  record: Pick<LookedAt, 'state' | 'look'> | null,
  tag: Uint8Array | null,
  now: UnixSeconds,
): MemoryLook | null {
  const look = record?.look ?? null;
  if (look === null || now >= look.until) return null;
  return tag === null || Buffer.from(look.sealed.subarray(tagAt, tagAt + tagBytes)).equals(tag) ? look : null;
}

/** Refuses a look that does not fit the waiting secret that it is of. */
export function assertFits(record: LookedAt, { sealedLook, until }: NewLook, now: UnixSeconds): void {
  const { sealedSecret } = record;
  const fits =
    sealedSecret !== null &&
    sealedSecret.length === sealedLook.length &&
    until <= Math.min(record.expiresAt, now + lookSeconds) &&
    (rootKidOf(sealedLook) ?? 0) >= (rootKidOf(sealedSecret) ?? 0);
  if (!fits) throw new ServiceError('unavailable', 'The look does not fit the secret any more.');
}

interface LookTable<Record> {
  ofSecret(id: SecretId): Record | null;
  toSecret(record: Record, sealed: Uint8Array): StoredSecret;
  now(): UnixSeconds;
}

export function lookMethods<Record extends LookedAt>({
  ofSecret,
  toSecret,
  now,
}: LookTable<Record>): LookStore & { findAnyLook(id: SecretId): Promise<StoredLook | null> } {
  function find(id: SecretId, tag: Uint8Array | null): StoredLook | null {
    const record = ofSecret(id);
    const look = lookAt(record, tag, now());
    return record === null || look === null ? null : { ...toSecret(record, look.sealed), until: look.until };
  }
  return {
    findLook: async (id, tag) => find(id, tag),
    findAnyLook: async (id) => find(id, null),
    async takeAnswer(id, tag, isAbandoned) {
      if (isAbandoned()) return 'abandoned';
      const record = ofSecret(id);
      const look = lookAt(record, tag, now());
      const left = look?.sealed[answersAt] ?? 0;
      if (record === null || look === null || left === 0) return 'gone';
      look.sealed[answersAt] = left - 1;
      // With the last answer it has ended.
      if (left === 1) record.look = null;
      return 'answered';
    },
    async endLook(id, tag) {
      const record = ofSecret(id);
      if (record !== null && lookAt(record, tag, now()) !== null) record.look = null;
    },
  };
}
