/**
 * Deletes the account first, in one transaction, then its records by position, a batch per transaction. After the first
 * step nothing can be stored for it, so no record appears at a position already passed. Waiting secrets are ended by
 * the statement that burns one, so a claim and the deletion exclude each other (P7); records keep their size (P10, see
 * 001-records.sql).
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/account.ts';
import type { DeletionStore } from '../../core/ports/deletion.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { endRecord } from './claims.ts';
import type { WritesOf } from './decisions.ts';
import { eraseLook, holdsLook } from './looks.ts';
import { type Parts, type Read, readBy } from './parts.ts';
import { eraseMemoAt } from './receipts.ts';

/** A domain's logo is deleted with the domain's row. */
const ownTables = ['passwords', 'tokens', 'sessions', 'domains'] as const;

/** Finds the account's rows up to where the index is complete. */
const selectIndexed = `
  SELECT position FROM owner_index
  WHERE owner = ?1 AND position > ?2 AND position <= (SELECT upto FROM merge_progress) ORDER BY position LIMIT ?3`;

const selectNotIndexed = `
  SELECT position FROM records WHERE owner = ?1 AND position > ?2 AND position <= ?3 ORDER BY position LIMIT ?4`;

/** How many rows outside the index, of all accounts, one step examines, which takes a few milliseconds. */
const rowsAStep = 8_192;

const burnOwned = `${endRecord('b')}
  WHERE position = ?2 AND owner = ?3 AND state = 'w' AND expires_at > ?1`;

const endLookOwned = `${eraseLook} WHERE position = ?1 AND owner = ?2 AND ${holdsLook}`;

/** Includes expired and ended records, whose receipts would otherwise still be listed. */
const eraseRecent = `
  UPDATE records SET recent_box = zeroblob(length(recent_box))
  WHERE position = ?1 AND owner = ?2 AND recent_box IS NOT NULL`;

const advanceDeletion = `
  UPDATE deletions SET upto = ?2, burned = burned + ?3, finished_at = ?4 WHERE account_id = ?1`;

interface DeletionRow {
  upto: number;
  burned: number;
  finished_at: UnixSeconds | null;
}

export function createAccountDeletion(db: Database, rowsAtOnce = rowsAStep): WritesOf<DeletionStore> {
  const account = db.query<{ username: string }, [number]>('SELECT username FROM accounts WHERE id = ?1');
  const removeOwn = ownTables.map((table) => db.query(`DELETE FROM ${table} WHERE account_id = ?1`));
  const removeTickets = db.query("DELETE FROM tickets WHERE kind IN ('sign_up', 'reset') AND username = ?1");
  const removeRequests = db.query('DELETE FROM requests WHERE owner = ?1');
  const removeAccount = db.query('DELETE FROM accounts WHERE id = ?1');
  const begin = db.query('INSERT INTO deletions (account_id) VALUES (?1)');
  const progress = db.query<DeletionRow, [number]>(
    'SELECT upto, burned, finished_at FROM deletions WHERE account_id = ?1',
  );
  const indexed = db.query<{ position: number }, [number, number, number]>(selectIndexed);
  const notIndexed = db.query<{ position: number }, [number, number, number, number]>(selectNotIndexed);
  const ends = db.query<{ indexed: number; newest: number }, []>(
    'SELECT upto AS indexed, (SELECT ifnull(max(position), 0) FROM records) AS newest FROM merge_progress',
  );
  const burn = db.query(burnOwned);
  const endLook = db.query(endLookOwned);
  const erase = db.query(eraseRecent);
  const eraseMemo = db.query(eraseMemoAt);
  const advance = db.query(advanceDeletion);

  function nextOf(id: AccountId, after: number, limit: number) {
    const found = indexed.all(id, after, limit);
    const { indexed: indexedUpto, newest } = ends.get() ?? { indexed: 0, newest: 0 };
    const from = Math.max(after, indexedUpto);
    const to = from + rowsAtOnce;
    if (found.length < limit) found.push(...notIndexed.all(id, from, to, limit - found.length));
    const positions = found.map((row) => row.position);
    if (positions.length === limit) return { positions, upto: positions.at(-1) ?? after, isEnd: false };
    return { positions, upto: to, isEnd: to >= newest };
  }

  function end(position: number, id: AccountId, now: UnixSeconds): boolean {
    erase.run(position, id);
    eraseMemo.run(position);
    endLook.run(position, id);
    return burn.run(now, position, id).changes === 1;
  }

  return {
    deleteAccount(_now, id) {
      const found = account.get(id);
      if (found === null) return false;
      for (const remove of removeOwn) remove.run(id);
      removeTickets.run(found.username);
      removeRequests.run(id);
      removeAccount.run(id);
      begin.run(id);
      return true;
    },
    continueDeletion(now, id, limit) {
      const known = progress.get(id);
      if (known === null) return null;
      if (known.finished_at !== null) return { outcome: 'was_finished', burned: known.burned };
      const { positions, upto, isEnd } = nextOf(id, known.upto, limit);
      const burned = positions.filter((position) => end(position, id, now)).length;
      advance.run(id, upto, burned, isEnd ? now : null);
      return { outcome: isEnd ? 'finished' : 'more', burned: known.burned + burned };
    },
  };
}

export function deletionReads({ db, reader }: Parts): Read<DeletionStore> {
  const unfinished = db.query<{ id: AccountId }, [number]>(
    'SELECT account_id AS id FROM deletions WHERE finished_at IS NULL LIMIT ?1',
  );
  return readBy(reader, { listDeletions: (limit: number) => unfinished.all(limit).map(({ id }) => id) });
}
