/**
 * Erases what has expired, in small steps, on any number of nodes concurrently. Locked rows are skipped (SKIP LOCKED),
 * so sweeps neither wait for each other nor delay a reader. `sweep_at` only tells where to look: under the row's lock,
 * a record's own state and times decide what it may still contain.
 */
import type { SecretStore } from '../../core/ports/secrets.ts';
import { finishedDeletionSeconds } from '../store.ts';
import { erased } from './claims.ts';
import type { Engine } from './engine.ts';
import { decision, type Statement } from './statement.ts';

/** As a value, not as a joined table: PostgreSQL looks up the rows that are due in the index only for a value, and otherwise reads all. */
const now = '(SELECT now FROM clock)';

/** A record may contain sealed bytes while its secret waits or has a look. The address is erased with them (P11). */
const sweepRecords = decision(`
  WITH due AS MATERIALIZED (
    SELECT secret_id, receipt_expires_at, GREATEST(
      CASE WHEN state = 'w' THEN expires_at END, CASE WHEN state = 'r' AND sealed_secret IS NOT NULL THEN look_until END, 0
    ) AS sealed_until
    FROM mayfly_store.records WHERE sweep_at <= ${now} ORDER BY sweep_at LIMIT $3 FOR UPDATE OF records SKIP LOCKED),
  moved AS (
    UPDATE mayfly_store.records r SET sweep_at = sealed_until FROM due, clock
    WHERE r.secret_id = due.secret_id AND sealed_until > now RETURNING 1),
  erased AS (
    UPDATE mayfly_store.records r SET ${erased}, sweep_at = due.receipt_expires_at
    FROM due, clock
    WHERE r.secret_id = due.secret_id AND sealed_until <= now AND due.receipt_expires_at > now RETURNING 1),
  removed AS (
    DELETE FROM mayfly_store.records r USING due, clock
    WHERE r.secret_id = due.secret_id AND sealed_until <= now AND due.receipt_expires_at <= now)
  SELECT count(*) AS touched FROM due`);

const sweepLooks = decision(`
  WITH due AS MATERIALIZED (
    SELECT secret_id, until FROM mayfly_store.looks WHERE until <= ${now} ORDER BY until LIMIT $3 FOR UPDATE OF looks SKIP LOCKED),
  found AS MATERIALIZED (
    SELECT r.secret_id FROM due JOIN mayfly_store.records r USING (secret_id)
    WHERE r.state = 'r' AND r.sealed_secret IS NOT NULL ORDER BY r.secret_id FOR UPDATE OF r),
  ended AS (
    UPDATE mayfly_store.records r SET sealed_secret = NULL, look_until = NULL, look_tag = NULL FROM found, clock
    WHERE r.secret_id = found.secret_id AND r.state = 'r' AND r.look_until <= now RETURNING 1),
  removed AS (
    DELETE FROM mayfly_store.looks l USING due WHERE l.until = due.until AND l.secret_id = due.secret_id)
  SELECT count(*) AS touched FROM due`);

/** Guesses at a secret whose expiry was postponed count until the new expiry. */
const sweepAttempts = decision(`
  WITH due AS MATERIALIZED (
    SELECT secret_id FROM mayfly_store.attempts WHERE stale_at <= ${now} ORDER BY stale_at LIMIT $3 FOR UPDATE OF attempts SKIP LOCKED),
  judged AS (
    SELECT due.secret_id, r.expires_at FROM due JOIN clock ON true
      LEFT JOIN mayfly_store.records r ON r.secret_id = substr(due.secret_id, 1, 16) AND r.expires_at > now),
  kept AS (
    UPDATE mayfly_store.attempts a SET stale_at = judged.expires_at FROM judged
    WHERE a.secret_id = judged.secret_id AND judged.expires_at IS NOT NULL),
  removed AS (
    DELETE FROM mayfly_store.attempts a USING judged
    WHERE a.secret_id = judged.secret_id AND judged.expires_at IS NULL)
  SELECT count(*) AS touched FROM due`);

const sweepTable = (table: string, key: string, endsAt: string, keptSeconds = 0) =>
  decision(`
    WITH due AS MATERIALIZED (
      SELECT ${key} FROM mayfly_store.${table} WHERE ${endsAt} <= ${now} - ${keptSeconds}
      ORDER BY ${endsAt} LIMIT $3 FOR UPDATE OF ${table} SKIP LOCKED),
    removed AS (DELETE FROM mayfly_store.${table} t USING due WHERE t.${key} = due.${key})
    SELECT count(*) AS touched FROM due`);

const sweeps = [
  sweepRecords,
  sweepLooks,
  sweepAttempts,
  sweepTable('sessions', 'session_id', 'expires_at'),
  sweepTable('tickets', 'ticket_hash', 'counts_until'),
  sweepTable('deletions', 'account_id', 'finished_at', finishedDeletionSeconds),
  sweepTable('creations', 'creation_id', 'ends_at'),
  sweepTable('requests', 'request_id', 'greatest(until, answers_until)'),
];

/** A statement that exceeds a call's time limit is undone as a whole, so each retry asks for fewer rows. */
const most = 500;
const least = 10;

export type SweepStore = Pick<SecretStore, 'sweep' | 'scrub'>;

export function createSweepStore(engine: Pick<Engine, 'decide'>): SweepStore {
  let atOnce = most;

  async function take(sweep: Statement, limit: number): Promise<number> {
    try {
      const [swept] = await engine.decide<{ touched: number }>(sweep, [limit]);
      atOnce = Math.min(most, atOnce + least);
      return swept?.touched ?? 0;
    } catch (fault) {
      atOnce = Math.max(least, Math.floor(atOnce / 2));
      throw fault;
    }
  }

  async function takeAll(sweep: Statement, limit: number): Promise<number> {
    for (let touched = 0; ; ) {
      const asked = Math.min(limit - touched, atOnce);
      const taken = await take(sweep, asked);
      touched += taken;
      if (taken < asked || touched === limit) return touched;
    }
  }

  return {
    async sweep(limit) {
      let touched = 0;
      for (const each of sweeps) if (touched < limit) touched += await takeAll(each, limit - touched);
      return touched;
    },
    scrub: async () => true,
  };
}
