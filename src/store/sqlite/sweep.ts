/**
 * The sweep: erasing what has expired, inside the writer's transaction.
 *
 * Owns: two steps. At a secret's expiry its bytes are overwritten in place. At its receipt's expiry what is known of its
 * mail, and its memo, are deleted, and the row as well, but only once no row near it still holds sealed bytes. Because: a delete lets SQLite merge the leaf page with its
 * siblings, and a rebuilt page keeps, in its unused part, copies of the rows that moved: of secrets that are then read,
 * and whose copies `secure_delete` does not know (seen: 111 remains of 3,000 secrets). Until then the row is overwritten
 * in place (P10).
 */
import type { Database } from 'bun:sqlite';
import type { UnixSeconds } from '../../core/time.ts';

/**
 * A merge touches a page and its siblings, three pages at most; a row takes 100 bytes or more of a page of 4,096, so all
 * rows that can move are among these many on either side.
 */
const neighbourRows = 128;
/** The newest row may be deleted once there is a newer one. */
const retrySeconds = 21_600;
/** A little after the neighbour's expiry, so that its own sweep comes first. */
const settleSeconds = 60;

export type Sweep = (now: UnixSeconds, limit: number) => number;

const expired = `
  SELECT position FROM records
  WHERE sweep_at <= ?1 AND sweep_at < receipt_expires_at AND receipt_expires_at > ?1 ORDER BY sweep_at LIMIT ?2`;

/** The recipient's address goes with the secret (P11); whoever reads one does not wait for this. */
const eraseAddresses = `
  UPDATE deliveries SET address_box = NULL WHERE address_box IS NOT NULL AND position IN (${expired})`;

const eraseSecrets = `
  UPDATE records SET sweep_at = receipt_expires_at,
    creator_box = zeroblob(length(creator_box)), sealed_secret = zeroblob(length(sealed_secret))
  WHERE position IN (${expired})`;

const deadReceipts = `
  SELECT position FROM records WHERE sweep_at <= ?1 AND receipt_expires_at <= ?1 ORDER BY sweep_at LIMIT ?2`;

/**
 * Until when a row near this one holds sealed bytes; null when none does. A row holds them while its secret waits and no
 * sweep has erased it, and then its `sweep_at` is its expiry.
 */
const nearbySecrets = `
  SELECT max(sweep_at) AS until FROM (
    SELECT * FROM (SELECT state, sweep_at, receipt_expires_at FROM records WHERE position < ?1 ORDER BY position DESC LIMIT ?2)
    UNION ALL
    SELECT * FROM (SELECT state, sweep_at, receipt_expires_at FROM records WHERE position > ?1 ORDER BY position LIMIT ?2))
  WHERE state = 'w' AND sweep_at < receipt_expires_at`;

const overwriteRow = `
  UPDATE records SET sweep_at = ?2,
    creator_box = zeroblob(length(creator_box)), sealed_secret = zeroblob(length(sealed_secret)),
    details_box = iif(details_box IS NULL, NULL, zeroblob(length(details_box))),
    recent_box = iif(recent_box IS NULL, NULL, zeroblob(length(recent_box)))
  WHERE position = ?1`;

/** @param neighbours rows on either side that a delete keeps its distance by; other than the usual only in its test. */
export function createSweep(db: Database, neighbours = neighbourRows): Sweep {
  const forgetAddresses = db.query(eraseAddresses);
  const erase = db.query(eraseSecrets);
  const dead = db.query<{ position: number }, [number, number]>(deadReceipts);
  const nearby = db.query<{ until: UnixSeconds | null }, [number, number]>(nearbySecrets);
  const newest = db.query<{ position: number | null }, []>('SELECT max(position) AS position FROM records');
  const overwrite = db.query(overwriteRow);
  const hints = db.query<{ secret_hint: number; receipt_hint: number }, [number]>(
    'DELETE FROM records WHERE position = ?1 RETURNING secret_hint, receipt_hint',
  );
  const removeBeside = ['deliveries', 'notices', 'memos'].map((table) =>
    db.query(`DELETE FROM ${table} WHERE position = ?1`),
  );
  const removeSecret = db.query('DELETE FROM secret_index WHERE hint = ?1 AND position = ?2');
  const removeReceipt = db.query('DELETE FROM receipt_index WHERE hint = ?1 AND position = ?2');
  const forgetAttempts = db.query(
    'DELETE FROM attempts WHERE attempt IN (SELECT attempt FROM attempts WHERE stale_at <= ?1 LIMIT ?2)',
  );
  const forgetLives = db.query(
    'DELETE FROM attempt_lives WHERE secret_id IN (SELECT secret_id FROM attempt_lives WHERE ends_at <= ?1 LIMIT ?2)',
  );
  const forgetSessions = db.query(
    'DELETE FROM sessions WHERE session_id IN (SELECT session_id FROM sessions WHERE expires_at <= ?1 LIMIT ?2)',
  );
  const forgetTickets = db.query(
    'DELETE FROM tickets WHERE ticket_hash IN (SELECT ticket_hash FROM tickets WHERE counts_until <= ?1 LIMIT ?2)',
  );
  const forgetStale = [forgetAttempts, forgetLives, forgetSessions, forgetTickets];

  function remove(position: number): void {
    const removed = hints.get(position);
    if (removed === null) return;
    removeSecret.run(removed.secret_hint, position);
    removeReceipt.run(removed.receipt_hint, position);
  }

  function removeDead(now: UnixSeconds, limit: number): number {
    const positions = dead.all(now, limit).map((row) => row.position);
    // The newest row stays, so that its position is not given to another record.
    const keep = newest.get()?.position ?? null;
    for (const position of positions.sort((a, b) => a - b)) {
      for (const each of removeBeside) each.run(position);
      const waitUntil =
        position === keep ? now + retrySeconds : (nearby.get(position, neighbours)?.until ?? null);
      if (waitUntil === null) remove(position);
      else overwrite.run(position, Math.max(waitUntil, now) + settleSeconds);
    }
    return positions.length;
  }

  return (now, limit) => {
    forgetAddresses.run(now, limit);
    let touched = Number(erase.run(now, limit).changes);
    touched += removeDead(now, limit - touched);
    for (const forget of forgetStale) touched += Number(forget.run(now, limit - touched).changes);
    return touched;
  };
}
