import type { BackupFacts } from '../../core/store-copies.ts';
import { isFenced, nameIn, takeDownFence } from './fence.ts';
import type { MoveSession } from './move-session.ts';
import { forgetTriggers } from './moving.ts';
import { findPlace, keepPlace } from './restores.ts';

export async function previewRestored({ ask }: MoveSession): Promise<BackupFacts | null> {
  if (!(await isFenced(ask))) return null;
  const [facts] = await ask<BackupFacts>(`
    SELECT t.seconds AS "takenAt", (SELECT count(*) FROM mayfly_store.accounts) AS accounts,
      (SELECT count(*) FROM ${nameIn('records', true)} WHERE state = 'w' AND expires_at > t.seconds) AS waiting
    FROM ${nameIn('store_time', true)} t JOIN mayfly_store.move ON move.phase = 'restored'`);
  return facts ?? null;
}

/**
 * Burns what waited and destroys its keys, ends every look, log-in and mailed ticket, which may have ended since (see
 * restores.ts). As for a restored file (`sqlite/backup.ts`), even what has expired by the server's clock, which may be
 * wrong.
 */
export async function acceptRestore(session: MoveSession): Promise<void> {
  const { ask } = session;
  const place = await findPlace(ask);
  const [records, time] = [nameIn('records', true), nameIn('store_time', true)];
  await session.write(async () => {
    await ask(`
      UPDATE ${records} SET state = 'b', ended_at = greatest(t.seconds, extract(epoch FROM clock_timestamp())::bigint)
      FROM ${time} t WHERE state = 'w' AND expires_at > t.seconds`);
    await ask(`
      UPDATE ${records} SET sealed_secret = NULL, look_until = NULL, look_tag = NULL, delivery_address_box = NULL,
        notice_due_at = NULL, sweep_at = receipt_expires_at`);
    await ask('TRUNCATE mayfly_store.epochs');
    // Makes nodes read their cached keys again.
    await ask(`UPDATE ${time} SET times_set = times_set + 1`);
    for (const table of ['attempts', 'sessions', 'tickets']) await ask(`DELETE FROM mayfly_store.${table}`);
    await forgetTriggers(session, true);
    await ask('DELETE FROM mayfly_store.move_changes');
    await ask('DELETE FROM mayfly_store.move');
    await ask(keepPlace(place));
    await takeDownFence(ask);
  });
}
