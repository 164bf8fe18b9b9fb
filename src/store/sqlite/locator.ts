/**
 * From an id to the position of its row.
 *
 * Owns: the event loop's view of where rows are. Invariant: every row that is visible to this connection is in the index
 * or among the recent rows, or has a position after `seen`; a miss in the first two therefore looks at what came after
 * `seen` (rows of other processes on this folder) before it is one. What is found is compared with the whole id.
 */
import type { Database } from 'bun:sqlite';
import type { ReceiptId, SecretId } from '../../domain/keys.ts';
import { hintOf } from './hint.ts';
import { createRecentRows } from './recent-rows.ts';

export interface Locator {
  ofSecret(id: SecretId): number | null;
  ofReceipt(id: ReceiptId): number | null;
  /** Takes in rows that this process has just stored: consecutive positions from `first` on. */
  stored(first: number, rows: readonly StoredHints[]): void;
  /** Rows up to here are in the index. */
  indexed(upto: number): void;
}

export interface StoredHints {
  readonly secretHint: number;
  readonly receiptHint: number;
}

interface HintRow {
  position: number;
  secret_hint: number;
  receipt_hint: number;
}

const catchUpRows = 1_024;

export function createLocator(db: Database): Locator {
  const progress = db.query<{ upto: number }, []>('SELECT upto FROM index_progress');
  const after = db.query<HintRow, [number, number]>(
    'SELECT position, secret_hint, receipt_hint FROM records WHERE position > ?1 ORDER BY position LIMIT ?2',
  );
  const lookUp = (kind: 'secret' | 'receipt') => ({
    indexed: db.query<{ position: number }, [number, Uint8Array]>(
      `SELECT r.position FROM ${kind}_index i JOIN records r ON r.position = i.position
       WHERE i.hint = ?1 AND r.${kind}_id = ?2`,
    ),
    at: db.query<{ position: number }, [number, Uint8Array]>(
      `SELECT position FROM records WHERE position = ?1 AND ${kind}_id = ?2`,
    ),
  });
  const [secrets, receipts] = [lookUp('secret'), lookUp('receipt')];
  const recent = createRecentRows();
  let seen = 0;

  /** Takes in what is after `seen`; whether there was anything. */
  function catchUp(): boolean {
    const before = seen;
    seen = Math.max(seen, progress.get()?.upto ?? 0);
    for (;;) {
      const rows = after.all(seen, catchUpRows);
      for (const row of rows) recent.add(row.position, row.secret_hint, row.receipt_hint);
      seen = rows.at(-1)?.position ?? seen;
      if (rows.length < catchUpRows) return seen > before;
    }
  }

  function locate(
    kind: typeof secrets,
    id: Uint8Array,
    among: (hint: number) => readonly number[],
  ): number | null {
    const hint = hintOf(id);
    for (const position of among(hint)) if (kind.at.get(position, id) !== null) return position;
    return kind.indexed.get(hint, id)?.position ?? null;
  }

  function find(
    kind: typeof secrets,
    id: Uint8Array,
    among: (hint: number) => readonly number[],
  ): number | null {
    return locate(kind, id, among) ?? (catchUp() ? locate(kind, id, among) : null);
  }

  catchUp();
  return {
    ofSecret: (id) => find(secrets, id, recent.ofSecret),
    ofReceipt: (id) => find(receipts, id, recent.ofReceipt),
    stored(first, rows) {
      // Another process has stored rows in between.
      if (first > seen + 1) catchUp();
      for (const [n, row] of rows.entries()) recent.add(first + n, row.secretHint, row.receiptHint);
      seen = Math.max(seen, first + rows.length - 1);
    },
    indexed: recent.forget,
  };
}
