/**
 * Creations that may be repeated. The form of the statements is what makes them safe. A reservation is one INSERT that
 * yields to a live row, so only one of two concurrent ones succeeds. A take-over is one UPDATE that names the seed it
 * replaces and its time. The transaction that stores a record also checks that its reservation is unfinished and holds
 * the seed of its keys, and marks it done. So each seed has at most one record, as does each `secret_id` and
 * `receipt_id`. No unique index could ensure that: the ids are in deferred indexes (docs/decisions/006-deferred-index.md).
 */
import type { Database } from 'bun:sqlite';
import {
  type CreationStore,
  creationSeconds,
  type IdempotentCreation,
  takeOverSeconds,
} from '../../core/ports/creations.ts';
import type { CreationHold, CreationId } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { WritesOf } from './decisions.ts';
import { type Parts, type Read, readBy } from './parts.ts';

interface CreationRow extends Omit<IdempotentCreation, 'isDone'> {
  readonly isDone: number;
}

const selectCreation = `
  SELECT seed AS wrappedSeed, body_mac AS bodyMac, is_done AS isDone, mismatches, reserved_at AS reservedAt
  FROM creations WHERE creation_id = ?1 AND ends_at > ?2`;

function createCreationRead(db: Database) {
  const select = db.query<CreationRow, [Uint8Array, UnixSeconds]>(selectCreation);
  return (id: CreationId, now: UnixSeconds): IdempotentCreation | null => {
    const row = select.get(id, now);
    return row && { ...row, isDone: row.isDone === 1 };
  };
}

const reserve = `
  INSERT INTO creations (creation_id, token_id, seed, body_mac, reserved_at, ends_at)
  VALUES (?1, ?2, ?3, ?4, ?5, ?5 + ${creationSeconds})
  ON CONFLICT (creation_id) DO UPDATE SET token_id = ?2, seed = ?3, body_mac = ?4, is_done = 0, mismatches = 0,
    reserved_at = ?5, ends_at = ?5 + ${creationSeconds}
  WHERE creations.ends_at <= ?5`;

const takeOver = `
  UPDATE creations SET seed = ?3, body_mac = ?4, reserved_at = ?5, ends_at = ?5 + ${creationSeconds}
  WHERE creation_id = ?1 AND seed = ?2 AND is_done = 0 AND reserved_at <= ?5 - ${takeOverSeconds}`;

export function createCreationWrites(db: Database): WritesOf<CreationStore> {
  const find = createCreationRead(db);
  const insert = db.query(reserve);
  const replace = db.query(takeOver);
  const release = db.query('DELETE FROM creations WHERE creation_id = ?1 AND seed = ?2 AND is_done = 0');
  const count = db.query('UPDATE creations SET mismatches = mismatches + 1 WHERE creation_id = ?1');
  return {
    reserveCreation(now, { id, tokenId, wrappedSeed, bodyMac }) {
      const { changes } = insert.run(id, tokenId, wrappedSeed, bodyMac, now);
      return changes === 1 ? 'reserved' : (find(id, now) ?? 'reserved');
    },
    takeOverCreation: (now, { id, wrappedSeed: from }, { wrappedSeed, bodyMac }) =>
      replace.run(id, from, wrappedSeed, bodyMac, now).changes === 1,
    releaseCreation: (_now, { id, wrappedSeed }) => void release.run(id, wrappedSeed),
    countMismatch: (_now, id) => void count.run(id),
  };
}

/** Returns `null`, and changes nothing, if the reservation is no longer held. */
export type PutHeld = (hold: CreationHold, put: () => number | null) => number | null;

export function createHeldPut(db: Database): PutHeld {
  const held = db.query('SELECT 1 FROM creations WHERE creation_id = ?1 AND seed = ?2 AND is_done = 0');
  const finish = db.query('UPDATE creations SET is_done = 1 WHERE creation_id = ?1');
  return ({ id, wrappedSeed }, put) => {
    if (held.get(id, wrappedSeed) === null) return null;
    const position = put();
    if (position !== null) finish.run(id);
    return position;
  };
}

export function creationReads({ db, time, reader }: Parts): Read<CreationStore> {
  const find = createCreationRead(db);
  return readBy(reader, { findCreation: (id: CreationId) => find(id, time.now()) });
}
