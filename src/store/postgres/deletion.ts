/**
 * Deletes an account: first its row, along with everything that foreign keys tie to it, then its records in batches.
 *
 * Storing a record and undoing a claim take a key-share lock on the owner's row. So the first step waits for any such statement
 * in progress, and none can follow: no record appears at a position already passed. A batch is one statement under a lock on the
 * deletion's row, so each node continues where the previous one stopped. It locks the records in the order of their ids, as a
 * claim does, and decides by the rows as locked, so a claim and the deletion exclude each other (P7).
 */
import type { AccountId } from '../../core/account.ts';
import type { DeletionStep, DeletionStore } from '../../core/ports/deletion.ts';
import { decided, isDone } from './batches.ts';
import { erased } from './claims.ts';
import type { Engine } from './engine.ts';
import { decision, statement } from './statement.ts';

const deleteAccount = decision(`
  WITH ended AS (
    DELETE FROM mayfly_store.accounts WHERE id = $3 RETURNING id, username),
  tickets_ended AS (
    DELETE FROM mayfly_store.tickets USING ended WHERE tickets.kind IN ('sign_up', 'reset') AND tickets.username = ended.username),
  requests_ended AS (DELETE FROM mayfly_store.requests USING ended WHERE requests.owner = ended.id)
  INSERT INTO mayfly_store.deletions (account_id) SELECT id FROM ended RETURNING account_id`);

/** Burns every record that may still be waiting by any clock; `$5` is a time that has passed by every clock. */
const continueDeletion = decision(`
  WITH known AS MATERIALIZED (
    SELECT upto, burned, finished_at FROM mayfly_store.deletions WHERE account_id = $3 FOR UPDATE),
  batch AS MATERIALIZED (
    SELECT secret_id, position FROM mayfly_store.records
    WHERE owner = $3 AND position > (SELECT upto FROM known WHERE finished_at IS NULL)
    ORDER BY position LIMIT $4),
  found AS MATERIALIZED (
    SELECT r.secret_id, r.state = 'w' AND r.expires_at > $5 AS waits FROM batch JOIN mayfly_store.records r USING (secret_id)
    ORDER BY r.secret_id FOR UPDATE OF r),
  ended AS (
    UPDATE mayfly_store.records r SET ${erased}, recent_box = NULL, memo_box = NULL, notice_due_at = NULL,
      state = CASE WHEN found.waits THEN 'b' ELSE r.state END,
      ended_at = CASE WHEN found.waits THEN clock.now ELSE r.ended_at END
    FROM found, clock WHERE r.secret_id = found.secret_id),
  noted AS (
    UPDATE mayfly_store.deletions d SET upto = coalesce((SELECT max(position) FROM batch), d.upto),
      burned = d.burned + (SELECT count(*) FROM found WHERE waits),
      finished_at = CASE WHEN (SELECT count(*) FROM batch) < $4 THEN clock.now END
    FROM clock WHERE d.account_id = $3 AND d.finished_at IS NULL
    RETURNING d.burned, d.finished_at)
  SELECT CASE WHEN noted.burned IS NULL THEN 'was_finished' WHEN noted.finished_at IS NULL THEN 'more' ELSE 'finished' END
    AS outcome, coalesce(noted.burned, known.burned) AS burned
  FROM known LEFT JOIN noted ON true`);

const selectUnfinished = statement(
  'SELECT account_id AS id FROM mayfly_store.deletions WHERE finished_at IS NULL ORDER BY account_id LIMIT $1',
);

export function createDeletionStore(engine: Engine): DeletionStore {
  return {
    deleteAccount: (id) => isDone(engine, deleteAccount, [id]),
    continueDeletion: (id, limit) =>
      decided<DeletionStep>(
        engine,
        continueDeletion,
        [id, limit, engine.time.earliest()],
        (row) => row.outcome !== 'was_finished',
      ),
    async listDeletions(limit) {
      const rows = await engine.read<{ id: AccountId }>(selectUnfinished, [limit]);
      return rows.map((row) => row.id);
    },
  };
}
