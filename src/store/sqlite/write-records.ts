/**
 * Writes to secrets and receipts, inside the writer's transaction.
 *
 * Owns: the exact statements of put, claim, burn and view. Their form is the safety argument: claim and
 * burn are one UPDATE each that holds the whole condition, so exactly one can match (P1, P7), and state and erasure are
 * set by the same statement (P6). Invariant: no statement but a delete changes a row's size (see 001-records.sql).
 */
import type { Database } from 'bun:sqlite';
import type { UnixSeconds } from '../../core/time.ts';
import { rootKidOf } from '../store.ts';
import { bitsOf } from './bit-masks.ts';
import type { LocatedClaim, PutFrame } from './frames.ts';
import { hintOf } from './locator.ts';
import { createMailWrites, letterAtCreation } from './mail-rows.ts';
import { createMemoWrites } from './memo-rows.ts';
import type { Deciding } from './protocol.ts';
import { createRootUses } from './root-uses.ts';

export type RecordWrites = Deciding<
  'burn' | 'markViewed' | 'setMemo' | 'queueDelivery' | 'setDelivery' | 'takeDueNotices'
> & {
  /** The position of the new row; `null`, and nothing stored, when its account is not there. */
  put(record: PutFrame): number | null;
  /** Whether this claim took the secret. */
  claim(now: UnixSeconds, target: LocatedClaim): boolean;
  /** What was kept in memory about a transaction is void: it was rolled back. */
  forget(): void;
};

const insertRecord = `
  INSERT INTO records (state, row_version, owner, created_at, expires_at, receipt_expires_at, ended_at, viewed_at,
    sweep_at, delivery, delivery_at, marks, root_kid, secret_hint, receipt_hint, secret_id, receipt_id,
    share_domain, details_box, recent_box, creator_box, sealed_secret)
  VALUES ('w', 1, ?1, ?2, ?3, ?4, ?3, ?4, ?3, ?5, ?2, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)`;

/** The one way a waiting secret ends before its time, at `?1`; the condition is the caller's. */
export const endRecord = (state: 'r' | 'b') => `
  UPDATE records SET state = '${state}', ended_at = ?1,
    creator_box = zeroblob(length(creator_box)), sealed_secret = zeroblob(length(sealed_secret))`;

const claimRecord = `${endRecord('r')}
  WHERE position = ?2 AND secret_id = ?3 AND row_version = ?4 AND state = 'w' AND expires_at > ?1`;

const burnRecord = `${endRecord('b')}
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1`;

const viewRecord = `
  UPDATE records SET viewed_at = min(viewed_at, ?1)
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1
  RETURNING viewed_at`;

export function createRecordWrites(db: Database): RecordWrites {
  const insert = db.query(insertRecord);
  const owner = db.query('SELECT 1 FROM accounts WHERE id = ?1');
  const claim = db.query(claimRecord);
  const burn = db.query(burnRecord);
  const view = db.query<{ viewed_at: UnixSeconds }, [number, number, Uint8Array]>(viewRecord);
  const { queue, keepNotice, queueDelivery, setDelivery, takeDueNotices } = createMailWrites(db);
  const { keepMemo, setMemo } = createMemoWrites(db);
  const rootUses = createRootUses(db);

  return {
    put(record) {
      if (record.owner !== null && owner.get(record.owner) === null) return null;
      const kid = rootKidOf(record.sealedSecret) ?? 0;
      rootUses.note(kid, record.expiresAt);
      const { lastInsertRowid } = insert.run(
        record.owner,
        record.createdAt,
        record.expiresAt,
        record.receiptExpiresAt,
        letterAtCreation(record.deliveryStaleAt),
        bitsOf(record),
        kid,
        hintOf(record.secretId),
        hintOf(record.receiptId),
        record.secretId,
        record.receiptId,
        record.shareDomain,
        record.detailsBox,
        record.recentBox,
        record.creatorBox,
        record.sealedSecret,
      );
      const position = Number(lastInsertRowid);
      if (record.deliveryStaleAt !== null) queue(position, record.createdAt, record.deliveryStaleAt);
      if (record.noticeDueAt !== null) keepNotice(position, record.noticeDueAt);
      if (record.memoBox !== null) keepMemo(position, record.memoBox);
      return position;
    },
    claim: (now, { position, secretId, rowVersion }) =>
      claim.run(now, position, secretId, rowVersion).changes === 1,
    burn: (now, { position, id }) => (burn.run(now, position, id).changes === 1 ? now : null),
    markViewed: (now, { position, id }) => view.get(now, position, id)?.viewed_at ?? null,
    setMemo,
    queueDelivery,
    setDelivery,
    takeDueNotices,
    forget: rootUses.forget,
  };
}
