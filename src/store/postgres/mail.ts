/**
 * Email deliveries and notices. Each decision is one UPDATE of the record's own row that checks the whole condition, so only one
 * node hands over an email, and only one gets a notice. The statement that hands out a notice also deletes it; if the outcome is
 * in doubt, the notice is lost rather than given twice. Locked rows are skipped, so nodes do not wait for each other.
 */
import type { DueNotice, MailStore } from '../../core/ports/mail.ts';
import { createEndings, type Ending, endingColumns } from './endings.ts';
import type { Engine } from './engine.ts';
import { copyOf, decision } from './statement.ts';

/** Judges the delivery as `deliveryAt` does. */
const queueDelivery = decision(`
  WITH found AS MATERIALIZED (
    SELECT ${endingColumns}, r.expires_at FROM mayfly_store.records r WHERE r.receipt_id = $3 FOR NO KEY UPDATE),
  queued AS (
    UPDATE mayfly_store.records r SET delivery = 'queued', delivery_at = now, delivery_stale_at = $4,
      delivery_note_box = $5, delivery_address_box = $6
    FROM found, clock
    WHERE r.secret_id = found.secret_id AND r.state = 'w' AND r.expires_at > now
      AND (r.delivery IS DISTINCT FROM 'queued' OR coalesce(r.delivery_stale_at, r.delivery_at) <= now)
    RETURNING 1)
  SELECT found.*, expires_at > now AS lives, EXISTS (SELECT FROM queued) AS is_queued FROM found, clock`);

/** The address is erased along with the secret (P11). */
const noteDelivery = decision(`
  UPDATE mayfly_store.records SET delivery = $4, delivery_at = now, delivery_stale_at = $5, delivery_note_box = $6,
    delivery_address_box = CASE WHEN state = 'w' AND expires_at > now THEN $7::bytea END
  FROM clock WHERE receipt_id = $3 AND receipt_expires_at > now`);

const isDue = 'r.notice_due_at <= now';
const isWanted = `r.state = 'w' AND r.expires_at > now AND EXISTS (SELECT FROM mayfly_store.accounts a WHERE a.id = r.owner)`;

/** Notices for gone secrets and accounts are deleted without being returned. */
const takeNotices = decision(`
  WITH unwanted AS MATERIALIZED (
    SELECT r.secret_id FROM mayfly_store.records r, clock WHERE ${isDue} AND (${isWanted}) IS NOT TRUE
    ORDER BY r.notice_due_at LIMIT 1000 FOR NO KEY UPDATE OF r SKIP LOCKED),
  forgotten AS (
    UPDATE mayfly_store.records r SET notice_due_at = NULL FROM unwanted WHERE r.secret_id = unwanted.secret_id),
  due AS MATERIALIZED (
    SELECT r.secret_id, r.notice_due_at, r.position FROM mayfly_store.records r, clock WHERE ${isDue} AND ${isWanted}
    ORDER BY r.notice_due_at, r.position LIMIT $3 FOR NO KEY UPDATE OF r SKIP LOCKED),
  taken AS (
    UPDATE mayfly_store.records r SET notice_due_at = NULL FROM due WHERE r.secret_id = due.secret_id
    RETURNING due.notice_due_at, r.position, r.owner, r.created_at, r.expires_at, r.share_domain)
  SELECT owner, created_at AS "createdAt", expires_at AS "expiresAt", share_domain AS "shareDomain" FROM taken ORDER BY notice_due_at, position`);

interface FoundRow extends Ending {
  lives: boolean;
  is_queued: boolean;
}

export function createMailStore(engine: Engine): MailStore {
  const endings = createEndings(engine);
  return {
    async queueDelivery(id, { staleAt, noteBox, addressBox }) {
      const values = [copyOf(id), staleAt, noteBox && copyOf(noteBox), addressBox && copyOf(addressBox)];
      const [found] = await engine.decide<FoundRow>(queueDelivery, values);
      if (found?.is_queued) return 'queued';
      if (found !== undefined && found.state !== 'w') await endings.believeLocked(found);
      return found?.state === 'w' && found.lives ? 'in_flight' : 'gone';
    },
    async setDelivery(id, { state, staleAt, noteBox, addressBox }) {
      const boxes = [noteBox && copyOf(noteBox), addressBox && copyOf(addressBox)];
      await engine.decide(noteDelivery, [copyOf(id), state, staleAt, ...boxes]);
    },
    async takeDueNotices(limit) {
      return [...(await engine.decide<DueNotice>(takeNotices, [limit]))];
    },
  };
}
