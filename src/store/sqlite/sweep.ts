/**
 * Erases what has expired, and refuses new secrets at the storage limit.
 *
 * At a secret's expiry, or the end of its look, its bytes are overwritten in place. At its receipt's expiry, its
 * delivery, notice and memo are deleted, and the row too, once no row near it contains sealed bytes. Deleting lets
 * SQLite merge the leaf page with its siblings, and the unused part of a rebuilt page keeps copies of rows that moved,
 * which `secure_delete` misses (seen: 111 remnants of 3,000 secrets). Until it can be deleted, the row is
 * overwritten in place (P10).
 */
import type { Database } from 'bun:sqlite';
import type { UnixSeconds } from '../../core/time.ts';
import { finishedDeletionSeconds } from '../store.ts';
import { deleteCodesAt } from './codes.ts';
import type { Batch } from './decisions.ts';
import type { NewRow } from './locator.ts';
import { mayHoldLook } from './looks.ts';

/**
 * A merge touches at most three pages, and a row takes at least 100 bytes of a 4,096-byte page, so all rows that can
 * move are among this many on either side.
 */
const neighbourRows = 128;
/** How soon to try the newest row again: it may be deleted only once there is a newer one. */
const retrySeconds = 21_600;
/** Leaves time for the neighbouring row to be swept. */
const settleSeconds = 60;

export type Sweep = (now: UnixSeconds, limit: number) => number;

interface DueRow {
  readonly position: number;
  readonly is_dead: 0 | 1;
}

/** Sorted by due time: a query for one kind would scan past every waiting row of the other. */
const dueRows = `
  SELECT position, receipt_expires_at <= ?1 AS is_dead FROM records WHERE sweep_at <= ?1 ORDER BY sweep_at LIMIT ?2`;

/** The recipient's address is erased with the secret (P11). */
const eraseAddress =
  'UPDATE deliveries SET address_box = NULL WHERE position = ?1 AND address_box IS NOT NULL';

const eraseSecret = `
  UPDATE records SET sweep_at = receipt_expires_at,
    creator_box = zeroblob(length(creator_box)), sealed_secret = zeroblob(length(sealed_secret))
  WHERE position = ?1`;

interface NearbyRow {
  readonly position: number;
  /** 0 if the row contains no sealed bytes. */
  until: UnixSeconds;
}

/**
 * Rows from `?1` to `?2`, and `?3` more on either side. A row whose secret is waiting or has a look contains sealed bytes
 * until it is swept; its `sweep_at` is the expiry, or the look's end.
 */
const nearbyRows = `
  WITH near AS (
    SELECT * FROM (SELECT position FROM records WHERE position < ?1 ORDER BY position DESC LIMIT ?3)
    UNION ALL SELECT position FROM records WHERE position BETWEEN ?1 AND ?2
    UNION ALL SELECT * FROM (SELECT position FROM records WHERE position > ?2 ORDER BY position LIMIT ?3))
  SELECT position, iif((state = 'w' OR (${mayHoldLook})) AND sweep_at < receipt_expires_at, sweep_at, 0) AS until
  FROM records WHERE position IN near ORDER BY position`;
const nearbySpan = 1_024;

const overwriteRow = `
  UPDATE records SET sweep_at = ?2,
    creator_box = zeroblob(length(creator_box)), sealed_secret = zeroblob(length(sealed_secret)),
    details_box = iif(details_box IS NULL, NULL, zeroblob(length(details_box))),
    recent_box = iif(recent_box IS NULL, NULL, zeroblob(length(recent_box)))
  WHERE position = ?1`;

type RemovedRow = Omit<NewRow, 'position'>;

/** Other tables whose rows expire, with their keys and conditions. */
const staleRows = [
  ['attempts', 'attempt', 'stale_at <= ?1'],
  ['attempt_lives', 'secret_id', 'ends_at <= ?1'],
  ['sessions', 'session_id', 'expires_at <= ?1'],
  ['tickets', 'ticket_hash', 'counts_until <= ?1'],
  ['deletions', 'account_id', `finished_at <= ?1 - ${finishedDeletionSeconds}`],
  ['creations', 'creation_id', 'ends_at <= ?1'],
  ['requests', 'request_id', 'max(until, answers_until) <= ?1'],
] as const;

function sealedNear(rows: readonly NearbyRow[], at: number, neighbours: number): UnixSeconds {
  let until = 0;
  for (let n = Math.max(0, at - neighbours); n <= at + neighbours && n < rows.length; n += 1)
    if (n !== at) until = Math.max(until, rows[n]?.until ?? 0);
  return until;
}

/** @param neighbours changed only by tests */
export function createSweep(db: Database, neighbours = neighbourRows): Sweep {
  const due = db.query<DueRow, [number, number]>(dueRows);
  const forgetAddress = db.query(eraseAddress);
  const erase = db.query(eraseSecret);
  const nearby = db.query<NearbyRow, [number, number, number]>(nearbyRows);
  const newest = db.query<{ position: number | null }, []>('SELECT max(position) AS position FROM records');
  const overwrite = db.query(overwriteRow);
  const removeRow = db.query<RemovedRow, [number]>(
    'DELETE FROM records WHERE position = ?1 RETURNING secret_hint, receipt_hint, owner',
  );
  const besides = ['deliveries', 'notices', 'memos'].map(
    (table) => `DELETE FROM ${table} WHERE position = ?1`,
  );
  const removeBeside = [...besides, deleteCodesAt].map((sql) => db.query(sql));
  const removeSecret = db.query('DELETE FROM secret_index WHERE hint = ?1 AND position = ?2');
  const removeReceipt = db.query('DELETE FROM receipt_index WHERE hint = ?1 AND position = ?2');
  const removeOwned = db.query('DELETE FROM owner_index WHERE owner = ?1 AND position = ?2');
  const forgetStale = staleRows.map(([table, key, isStale]) =>
    db.query(`DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${isStale} LIMIT ?2)`),
  );

  function remove(position: number): void {
    const removed = removeRow.get(position);
    if (removed === null) return;
    removeSecret.run(removed.secret_hint, position);
    removeReceipt.run(removed.receipt_hint, position);
    if (removed.owner !== null) removeOwned.run(removed.owner, position);
  }

  function removeDead(now: UnixSeconds, positions: number[]): void {
    // The newest row is kept: otherwise the next record would get its position.
    const keep = newest.get()?.position ?? null;
    positions.sort((a, b) => a - b);
    let [rows, at, end]: [NearbyRow[], number, number] = [[], 0, 0];
    for (const position of positions) {
      if (position >= end) {
        end = position + nearbySpan;
        const last = positions.findLast((each) => each < end) ?? position;
        [rows, at] = [nearby.all(position, last, neighbours), 0];
      }
      for (const each of removeBeside) each.run(position);
      while ((rows[at]?.position ?? position) < position) at += 1;
      const waitUntil = position === keep ? now + retrySeconds : sealedNear(rows, at, neighbours);
      if (waitUntil === 0) {
        remove(position);
        rows.splice(at, 1);
      } else {
        overwrite.run(position, Math.max(waitUntil, now) + settleSeconds);
        rows.splice(at, 1, { position, until: 0 });
      }
    }
  }

  return (now, limit) => {
    const rows = due.all(now, limit);
    let touched = rows.length;
    for (const { position, is_dead } of rows) {
      if (is_dead === 1) continue;
      forgetAddress.run(position);
      erase.run(position);
    }
    removeDead(
      now,
      rows.filter(({ is_dead }) => is_dead === 1).map(({ position }) => position),
    );
    for (const forget of forgetStale) touched += Number(forget.run(now, limit - touched).changes);
    return touched;
  };
}

const usedBytesQuery = `
  SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`;

/** A row and its index entries may each take a new page. */
const bytesPerDecision = 8 * 4_096;
/** How many times, at least, we measure the store while it fills: another process may be writing to it as well. */
const measuresPerLimit = 16;

export function usedBytes(db: Database): number {
  return db.query<{ bytes: number }, []>(usedBytesQuery).get()?.bytes ?? 0;
}

/** Adds up the bytes that batches may take, so that most of them need no measurement, which costs microseconds. */
export type HasRoom = (db: Database, batch: Pick<Batch, 'bytes' | 'asks'>) => boolean;

/** @param limitBytes `null`: only the disk sets a limit */
export function createStorageLimit(limitBytes: number | null): HasRoom {
  let unmeasuredBytes = 0;
  return (db, { bytes, asks }) => {
    if (limitBytes === null) return true;
    if (unmeasuredBytes <= 0)
      unmeasuredBytes = Math.min(limitBytes - usedBytes(db), limitBytes / measuresPerLimit);
    if (unmeasuredBytes <= 0) return false;
    unmeasuredBytes -= bytes + asks.length * bytesPerDecision;
    return true;
  };
}
