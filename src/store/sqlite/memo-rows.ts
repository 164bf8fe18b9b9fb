/**
 * The creators' sealed memos as rows.
 *
 * Owns: the table `memos`. Invariants: a record's row never changes for its memo, so it keeps its size (see
 * 001-records.sql); a memo that is removed is overwritten with zeros of the same length, and its row goes with the record.
 */
import type { Database } from 'bun:sqlite';
import type { Deciding } from './protocol.ts';

/** Of `records r LEFT JOIN memos m`. */
export const memoColumns = 'm.memo_box';

export const joinMemos = 'LEFT JOIN memos m ON m.position = r.position';

/** `null` also where it was removed: no sealed box is all zeros. */
export const memoBoxOf = (box: Uint8Array | null): Uint8Array | null =>
  box?.some((byte) => byte !== 0) ? box : null;

const insertMemo = 'INSERT OR REPLACE INTO memos (position, memo_box) VALUES (?1, ?2)';

/** Those of a length are overwritten in place. */
const replaceMemo = `
  INSERT INTO memos (position, memo_box) VALUES (?1, ?2)
  ON CONFLICT (position) DO UPDATE SET memo_box = excluded.memo_box`;

const eraseMemos = 'UPDATE memos SET memo_box = zeroblob(length(memo_box))';

export const eraseMemosOfAccount = `${eraseMemos}
  WHERE position IN (SELECT position FROM records WHERE owner = ?1 AND position > ?2 AND position <= ?3)`;

const selectLive =
  'SELECT 1 FROM records WHERE position = ?2 AND receipt_id = ?3 AND receipt_expires_at > ?1';

export interface MemoWrites extends Deciding<'setMemo'> {
  /** Beside a new record. */
  keepMemo(position: number, memoBox: Uint8Array): void;
}

export function createMemoWrites(db: Database): MemoWrites {
  const insert = db.query(insertMemo);
  const replace = db.query(replaceMemo);
  const erase = db.query(`${eraseMemos} WHERE position = ?1`);
  const live = db.query(selectLive);

  return {
    keepMemo: (position, memoBox) => void insert.run(position, memoBox),
    setMemo(now, { position, id }, memoBox) {
      if (live.get(now, position, id) === null) return false;
      if (memoBox === null) erase.run(position);
      else replace.run(position, memoBox);
      return true;
    },
  };
}
