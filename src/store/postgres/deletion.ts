/**
 * The end of an account: first the account's row, with all that belongs to it by foreign keys, then its records in batches.
 *
 * A record is stored under a key-share lock of its owner's row (see records.ts). So the first step waits for all that are being
 * stored, and none is stored after it: every later batch sees them all, and none at a position that was passed. A batch is one
 * statement under the lock of the deletion's row, so of several nodes each goes on after the others. It locks the records in the order
 * of their ids, as a claim does, and decides by the locked rows, so that a claim and the deletion exclude each other (P7). A claim
 * that is not confirmed stays one: its token goes, so that it cannot be undone into a secret that waits for ever.
 */
import type { AccountId } from '../../core/account.ts';
import type { AccountStore, DeletionStep } from '../../core/ports.ts';
import { decided } from './accounts.ts';
import type { Engine } from './engine.ts';
import { decision, statement } from './statement.ts';

const deleteAccount = decision(`
  WITH ended AS (
    DELETE FROM accounts WHERE id = $3 RETURNING id, username),
  tickets_ended AS (
    DELETE FROM tickets USING ended WHERE tickets.kind IN ('sign_up', 'reset') AND tickets.username = ended.username)
  INSERT INTO deletions (account_id) SELECT id FROM ended RETURNING account_id`);

const continueDeletion = decision(`
  WITH known AS MATERIALIZED (
    SELECT upto, burned, finished_at FROM deletions WHERE account_id = $3 FOR UPDATE),
  batch AS MATERIALIZED (
    SELECT secret_id, position FROM records
    WHERE owner = $3 AND position > (SELECT upto FROM known WHERE finished_at IS NULL)
    ORDER BY position LIMIT $4),
  locked AS MATERIALIZED (
    SELECT secret_id, state = 'w' AND expires_at > (SELECT now FROM clock) AS is_waiting
    FROM records WHERE secret_id IN (SELECT secret_id FROM batch) ORDER BY secret_id FOR UPDATE),
  ended AS (
    UPDATE records SET
      recent_box = NULL, memo_box = NULL, claim_token = NULL,
      state = CASE WHEN is_waiting THEN 'b' ELSE state END,
      ended_at = CASE WHEN is_waiting THEN (SELECT now FROM clock) ELSE ended_at END,
      sealed_secret = CASE WHEN is_waiting OR state <> 'w' THEN NULL ELSE sealed_secret END,
      look_until = NULL,
      delivery_address_box = CASE WHEN is_waiting THEN NULL ELSE delivery_address_box END,
      notice_due_at = NULL
    FROM locked WHERE records.secret_id = locked.secret_id),
  counts AS (
    SELECT (SELECT count(*) FROM locked WHERE is_waiting) AS burned, count(*) AS found, max(position) AS upto FROM batch),
  noted AS (
    UPDATE deletions SET upto = coalesce(counts.upto, deletions.upto), burned = deletions.burned + counts.burned,
      finished_at = CASE WHEN counts.found < $4 THEN (SELECT now FROM clock) END
    FROM counts WHERE account_id = $3 AND finished_at IS NULL
    RETURNING deletions.burned, finished_at IS NOT NULL AS is_finished)
  SELECT CASE WHEN noted.is_finished IS NULL THEN 'was_finished' WHEN noted.is_finished THEN 'finished' ELSE 'more' END
    AS outcome, coalesce(noted.burned, known.burned) AS burned
  FROM known LEFT JOIN noted ON true`);

const selectUnfinished = statement(
  'SELECT account_id AS id FROM deletions WHERE finished_at IS NULL ORDER BY account_id LIMIT $1',
);

type DeletionMethods = 'deleteAccount' | 'continueDeletion' | 'listDeletions';

export function createDeletionStore(engine: Engine): Pick<AccountStore, DeletionMethods> {
  return {
    deleteAccount: async (id) => (await decided(engine, deleteAccount, [id])) !== null,
    continueDeletion: (id, limit) =>
      decided<DeletionStep>(engine, continueDeletion, [id, limit], (row) => row.outcome !== 'was_finished'),
    async listDeletions(limit) {
      const rows = await engine.read<{ id: AccountId }>(selectUnfinished, [limit]);
      return rows.map((row) => row.id);
    },
  };
}
