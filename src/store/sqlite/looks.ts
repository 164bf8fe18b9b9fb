/**
 * The second look, in the record's own row. It replaces the sealed secret, has the same length, and contains its tag
 * and the number of remaining answers in the clear. It ends at `sweep_at`, so the sweep erases it. No column is added,
 * and the row keeps its size (see 001-records.sql). Each decision is one UPDATE that contains the whole condition, as in claims.ts.
 * An ended look is all zeros (P10).
 *
 * SQLite reads all of a value to get a part of it, which is slow for a megabyte. So that a different nonce is refused
 * after the same work as for a secret that is gone (P17), `delivery_at` contains 24 bits of the tag, and the sealed
 * value is read only if these match. Nothing else reads that column of a received record: a record of this version that
 * has an email has a row in `deliveries`.
 */

import type { Database } from 'bun:sqlite';
import type { SecretId } from '../../core/keys.ts';
import { type LookStore, lookRow, type NewLook, type StoredLook } from '../../core/ports/looks.ts';
import type { RotationStore } from '../../core/ports/roots.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { lookSeconds } from '../../protocol/limits.ts';
import { type SecretRow, secretColumns, toSecret } from '../record-rows.ts';
import type { Deciding, LocatedClaim } from './decisions.ts';
import { type Locator, rowAmong } from './locator.ts';
import { locateSecret, type Parts } from './parts.ts';

const { version, answersAt, tagAt, tagBytes } = lookRow;

const bytesAt = (at: number, length = 1): string => `substr(sealed_secret, ${at + 1}, ${length})`;
const blobOf = (value: number): string => `x'${value.toString(16).padStart(2, '0')}'`;

/**
 * Decided without reading sealed bytes: a claim without a look leaves `sweep_at` at the expiry. In a secret's last
 * minute, the two cases look the same.
 */
export const mayHoldLook = `state = 'r' AND sweep_at <= ended_at + ${lookSeconds}`;
/** Once the bytes are erased, the version is zero. */
export const holdsLook = `${mayHoldLook} AND ${bytesAt(0)} = ${blobOf(version)}`;

/** Ends a look early; the caller adds the condition, with `holdsLook`. */
export const eraseLook = 'UPDATE records SET sealed_secret = zeroblob(length(sealed_secret))';

/** The hint replaces the low 24 bits of a time, so the number keeps its width. */
export const hintSpan = 2 ** 24;
export const hintIn = (bytes: Uint8Array, at = 0): number =>
  (bytes[at] ?? 0) * 2 ** 16 + (bytes[at + 1] ?? 0) * 2 ** 8 + (bytes[at + 2] ?? 0);

const lookOf = (position: string, id: string, tag: string, hint: string): string =>
  `position = ${position} AND secret_id = ${id} AND ${mayHoldLook} AND delivery_at % ${hintSpan} = ${hint}
    AND ${holdsLook} AND ${bytesAt(tagAt, tagBytes)} = ${tag}`;

/** A look fits only if its end is valid by store time, and no later root has re-wrapped the secret. */
const claimWithLook = `
  UPDATE records SET state = 'r', ended_at = ?1, sweep_at = ?5,
    delivery_at = ?5 / ${hintSpan} * ${hintSpan} + ?7, creator_box = zeroblob(length(creator_box)), sealed_secret = ?6
  WHERE position = ?2 AND secret_id = ?3 AND row_version = ?4 AND state = 'w' AND expires_at > ?1
    AND ?5 <= min(expires_at, ?1 + ${lookSeconds}) AND length(?6) = length(sealed_secret)
    AND substr(?6, 1, 1) = ${blobOf(version)} AND substr(?6, 2, 2) >= ${bytesAt(1, 2)}`;

const stillWaits = `
  SELECT 1 FROM records
  WHERE position = ?2 AND secret_id = ?3 AND row_version = ?4 AND state = 'w' AND expires_at > ?1`;

const takeOne = `
  UPDATE records SET sealed_secret = iif(${bytesAt(answersAt)} = ${blobOf(1)}, zeroblob(length(sealed_secret)),
    CAST(substr(sealed_secret, 1, ${answersAt}) || ${blobOf(1)} || substr(sealed_secret, ${answersAt + 2}) AS BLOB))
  WHERE sweep_at > ?1 AND ${lookOf('?2', '?3', '?4', '?5')} AND ${bytesAt(answersAt)} IN (${blobOf(1)}, ${blobOf(2)})`;

const endOne = `${eraseLook} WHERE ${lookOf('?1', '?2', '?3', '?4')}`;

const columns = `SELECT ${secretColumns}, sealed_secret AS sealedSecret, sweep_at AS until FROM records`;

interface LookRow extends SecretRow {
  readonly until: UnixSeconds;
}

export function createLookReads(db: Database, locator: Pick<Locator, 'placesOfSecret'>) {
  const own = db.query<LookRow, [number, Uint8Array, Uint8Array, number, number]>(
    `${columns} WHERE sweep_at > ?5 AND ${lookOf('?1', '?2', '?3', '?4')}`,
  );
  const any = db.query<LookRow, [number, Uint8Array, number]>(
    `${columns} WHERE position = ?1 AND secret_id = ?2 AND sweep_at > ?3 AND ${holdsLook}`,
  );
  return {
    /** @param tag `null` finds any opener's look */
    findLook(id: SecretId, tag: Uint8Array | null, now: UnixSeconds): StoredLook | null {
      const row = rowAmong(locator.placesOfSecret(id), (place) =>
        tag === null ? any.get(place, id, now) : own.get(place, id, tag, hintIn(tag), now),
      );
      return row && { ...toSecret(id, row), until: row.until };
    },
  };
}

/** `refused`: the secret is waiting, but the look does not fit it; nothing changed. */
type ClaimWithLook = (now: UnixSeconds, target: LocatedClaim, look: NewLook) => 'won' | 'gone' | 'refused';

export function createLookClaim(db: Database): ClaimWithLook {
  const claim = db.query(claimWithLook);
  const waits = db.query(stillWaits);
  return (now, { position, secretId, rowVersion }, { until, sealedLook }) => {
    const hint = hintIn(sealedLook, tagAt);
    if (claim.run(now, position, secretId, rowVersion, until, sealedLook, hint).changes === 1) return 'won';
    return waits.get(now, position, secretId, rowVersion) === null ? 'gone' : 'refused';
  };
}

export function createLookWrites(db: Database): Deciding<'takeAnswer' | 'endLook'> {
  const take = db.query(takeOne);
  const end = db.query(endOne);
  return {
    takeAnswer: (now, { position, id }, tag) => take.run(now, position, id, tag, hintIn(tag)).changes === 1,
    endLook: (_now, { position, id }, tag) => void end.run(position, id, tag, hintIn(tag)),
  };
}

export function lookStore(parts: Parts): LookStore & Pick<RotationStore, 'findAnyLook'> {
  const { db, queue, locator, time, reader } = parts;
  const reads = createLookReads(db, locator);
  const locate = locateSecret(parts);
  const find = (asked: SecretId, tag: Uint8Array | null) =>
    reader.lookUp(asked, (id) => reads.findLook(id, tag, time.now()));
  return {
    findLook: (id, tag) => find(id, tag.slice()),
    findAnyLook: (id) => find(id, null),
    async takeAnswer(id, tag, isAbandoned) {
      const kept = tag.slice();
      const at = await locate(id);
      const taken = at !== null && (await queue.decideFor(isAbandoned, 'takeAnswer', at, kept));
      return taken === 'abandoned' ? taken : taken ? 'answered' : 'gone';
    },
    async endLook(id, tag) {
      const kept = tag.slice();
      const at = await locate(id);
      if (at !== null) await queue.decide('endLook', at, kept);
    },
  };
}
