/**
 * The delivery of a record's email, and its notices, each in a separate table so that the record's row keeps its size
 * (see 001-records.sql). The decision that hands out a notice also deletes it, so only one process gets it, once.
 */

import type { Database } from 'bun:sqlite';
import type { DueNotice, MailStore } from '../../core/ports/mail.ts';
import type { StoredDelivery } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { DeliveryState } from '../../protocol/vocabulary.ts';
import type { Deciding } from './decisions.ts';
import { decideAtReceipt, type Parts } from './parts.ts';

export const letters: Readonly<Record<DeliveryState, string>> = {
  queued: 'q',
  accepted: 'a',
  refused: 'r',
  given_up: 'g',
  not_sent: 'n',
};

const states = new Map(Object.entries(letters).map(([state, letter]) => [letter, state as DeliveryState]));

/** Columns of `records r LEFT JOIN deliveries d`. */
export interface DeliveryColumns {
  /** `-` for none. */
  delivery: string;
  delivery_at: UnixSeconds;
  ended_at: UnixSeconds;
  /** `null`, like all fields below, if no delivery was ever recorded. */
  noted_state: string | null;
  noted_at: UnixSeconds | null;
  stale_at: UnixSeconds | null;
  note_box: Uint8Array | null;
  address_box: Uint8Array | null;
}

export const deliveryColumns = `
  r.delivery, r.delivery_at, r.ended_at, d.state AS noted_state, d.at AS noted_at, d.stale_at, d.note_box, d.address_box`;

export const joinDeliveries = 'LEFT JOIN deliveries d ON d.position = r.position';

/** Returns `null` if there is no email to the recipient. */
export function deliveryOf(row: DeliveryColumns): StoredDelivery | null {
  const state = states.get(row.noted_state ?? row.delivery);
  if (state === undefined) return null;
  const { stale_at: staleAt, note_box: noteBox, address_box: addressBox } = row;
  // The fallback is only for records of the first versions; ending one may have put a later time in `delivery_at` (see claims.ts).
  return { state, at: row.noted_at ?? Math.min(row.delivery_at, row.ended_at), staleAt, noteBox, addressBox };
}

export const letterAtCreation = (staleAt: UnixSeconds | null): string =>
  staleAt === null ? '-' : letters.queued;

const queueDelivery = `
  INSERT OR REPLACE INTO deliveries (position, state, at, stale_at) VALUES (?1, '${letters.queued}', ?2, ?3)`;

/** Judges as `deliveryAt` does: a delivery queued at creation and never updated is stale. */
const queueAgain = `
  INSERT OR REPLACE INTO deliveries (position, state, at, stale_at, note_box, address_box)
  SELECT r.position, '${letters.queued}', ?1, ?4, ?5, ?6 FROM records r ${joinDeliveries}
  WHERE r.position = ?2 AND r.receipt_id = ?3 AND r.state = 'w' AND r.expires_at > ?1
    AND NOT (ifnull(d.state, r.delivery) = '${letters.queued}' AND coalesce(d.stale_at, d.at, r.delivery_at) > ?1)`;

const selectWaiting = `
  SELECT 1 FROM records WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1`;

/** The address is kept only while the secret is waiting (P11). */
const noteDelivery = `
  INSERT OR REPLACE INTO deliveries (position, state, at, stale_at, note_box, address_box)
  SELECT position, ?4, ?1, ?5, ?6, iif(state = 'w' AND expires_at > ?1, ?7, NULL) FROM records
  WHERE position = ?2 AND receipt_id = ?3 AND receipt_expires_at > ?1`;

const isWanted = `EXISTS (
  SELECT 1 FROM records r
  WHERE r.position = notices.position AND r.state = 'w' AND r.expires_at > ?1
    AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = r.owner))`;

const forgetUnwanted = `DELETE FROM notices WHERE due_at <= ?1 AND NOT ${isWanted}`;

const selectDue = `
  SELECT r.position, r.owner, r.created_at AS createdAt, r.expires_at AS expiresAt, r.share_domain AS shareDomain
  FROM notices n JOIN records r ON r.position = n.position
  WHERE n.due_at <= ?1 ORDER BY n.due_at, n.position LIMIT ?2`;

interface DueRow extends DueNotice {
  readonly position: number;
}

export interface MailWrites extends Deciding<'queueDelivery' | 'setDelivery' | 'takeDueNotices'> {
  queue(position: number, at: UnixSeconds, staleAt: UnixSeconds): void;
  keepNotice(position: number, dueAt: UnixSeconds): void;
  forgetNotice(position: number): void;
}

export function createMailWrites(db: Database): MailWrites {
  const queue = db.query(queueDelivery);
  const queueOnce = db.query(queueAgain);
  const waiting = db.query(selectWaiting);
  const note = db.query(noteDelivery);
  const keepNotice = db.query('INSERT OR REPLACE INTO notices (position, due_at) VALUES (?1, ?2)');
  const forget = db.query(forgetUnwanted);
  const due = db.query<DueRow, [UnixSeconds, number]>(selectDue);
  const remove = db.query('DELETE FROM notices WHERE position = ?1');

  function take({ position, ...notice }: DueRow): DueNotice {
    remove.run(position);
    return notice;
  }

  return {
    queue: (position, at, staleAt) => void queue.run(position, at, staleAt),
    keepNotice: (position, dueAt) => void keepNotice.run(position, dueAt),
    forgetNotice: (position) => void remove.run(position),
    queueDelivery(now, { position, id }, { staleAt, noteBox, addressBox }) {
      if (queueOnce.run(now, position, id, staleAt, noteBox, addressBox).changes === 1) return 'queued';
      return waiting.get(now, position, id) === null ? 'gone' : 'in_flight';
    },
    setDelivery(now, { position, id }, { state, staleAt, noteBox, addressBox }) {
      note.run(now, position, id, letters[state], staleAt, noteBox, addressBox);
    },
    takeDueNotices(now, limit) {
      forget.run(now);
      return due.all(now, limit).map(take);
    },
  };
}

export function mailStore(parts: Parts): MailStore {
  const decide = decideAtReceipt(parts);
  return {
    queueDelivery: decide('queueDelivery', 'gone'),
    setDelivery: decide('setDelivery', undefined),
    takeDueNotices: (limit) => parts.queue.decide('takeDueNotices', limit),
  };
}
