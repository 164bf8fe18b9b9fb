/**
 * Brings new rows into the index, some thousands at a time in the order of the index, a slice with each batch.
 *
 * Owns: the two index tables and `index_progress`. Because: an entry in the order of arrival dirties a page of its own
 * at random, 4 KiB of log for 16 bytes; entries in the order of the index share pages. Invariants: every row at or before
 * `index_progress.upto` has its entries; `upto` rises in the transaction that enters the last of them; entering twice is
 * harmless, so that a crash, a roll-back or a second process costs work and nothing else. An entry whose row was deleted
 * meanwhile points at a position that is never used again.
 */
import type { Database } from 'bun:sqlite';

export interface MergePace {
  /** How many rows wait before a merge begins. More of them share more pages, and take longer to take in at a start. */
  readonly mergeRows: number;
  /** Rows that are read, and then entries that are made, with each put: a merge ends well before the next is due. */
  readonly perPut: number;
  readonly leastPerBatch: number;
}

const usualPace: MergePace = { mergeRows: 32_768, perPut: 8, leastPerBatch: 256 };

interface HintRow {
  position: number;
  secret_hint: number;
  receipt_hint: number;
}

/** A merge under way: first it collects rows up to `target`, then it enters them. */
interface Merge {
  readonly target: number;
  collected: HintRow[];
  /** Set when all are collected: entries in the order of each index. */
  secrets: HintRow[];
  receipts: HintRow[];
  entered: number;
}

const selectHints = `
  SELECT position, secret_hint, receipt_hint FROM records
  WHERE position > ?1 AND position <= ?2 ORDER BY position LIMIT ?3`;

const insertEntry = (kind: 'secret' | 'receipt') =>
  `INSERT OR IGNORE INTO ${kind}_index (hint, position) VALUES (?1, ?2)`;

const mergeUpto = (target: number): Merge => ({
  target,
  collected: [],
  secrets: [],
  receipts: [],
  entered: 0,
});

export class IndexMerge {
  readonly #db: Database;
  readonly #pace: MergePace;
  #upto: number;
  #merge: Merge | null = null;
  /** What becomes true when the transaction is committed. */
  #onCommit: (() => void) | null = null;

  constructor(db: Database, pace: MergePace = usualPace) {
    this.#db = db;
    this.#pace = pace;
    this.#upto = this.#persistedUpto();
  }

  /** Rows up to here are in the index, by what is committed. */
  upto(): number {
    return this.#upto;
  }

  /** Does its share in this batch's transaction, which stored `puts` rows, the last at `lastPosition`. */
  step(puts: number, lastPosition: number): void {
    this.#merge ??= this.#begin(lastPosition);
    if (this.#merge === null) return;
    const share = Math.max(this.#pace.leastPerBatch, this.#pace.perPut * puts);
    if (this.#merge.secrets.length === 0) this.#collect(this.#merge, share);
    else this.#enter(this.#merge, share);
  }

  /** The transaction was committed, or rolled back. */
  settled(committed: boolean): void {
    if (committed) this.#onCommit?.();
    // What was collected may be rows that the roll-back has taken away.
    else this.#merge = null;
    this.#onCommit = null;
  }

  /** Merges all that is left, in one transaction of its own. */
  finish(): void {
    const newest = this.#db
      .query<{ last: number | null }, []>('SELECT max(position) AS last FROM records')
      .get();
    const last = newest?.last ?? 0;
    if (last === this.#upto) return;
    this.#db.run('BEGIN IMMEDIATE');
    this.#merge = mergeUpto(last);
    this.#collect(this.#merge, Number.MAX_SAFE_INTEGER);
    this.#enter(this.#merge, Number.MAX_SAFE_INTEGER);
    this.#db.run('COMMIT');
    this.settled(true);
  }

  #persistedUpto(): number {
    return this.#db.query<{ upto: number }, []>('SELECT upto FROM index_progress').get()?.upto ?? 0;
  }

  #begin(lastPosition: number): Merge | null {
    const { mergeRows } = this.#pace;
    if (lastPosition - this.#upto < mergeRows) return null;
    // Another process may have merged meanwhile.
    this.#upto = Math.max(this.#upto, this.#persistedUpto());
    return lastPosition - this.#upto < mergeRows ? null : mergeUpto(this.#upto + mergeRows);
  }

  #collect(merge: Merge, limit: number): void {
    const last = merge.collected.at(-1)?.position ?? this.#upto;
    const rows = this.#db
      .query<HintRow, [number, number, number]>(selectHints)
      .all(last, merge.target, limit);
    merge.collected = merge.collected.concat(rows);
    if (rows.length === limit) return;
    merge.secrets = merge.collected.toSorted((a, b) => a.secret_hint - b.secret_hint);
    merge.receipts = merge.collected.toSorted((a, b) => a.receipt_hint - b.receipt_hint);
    if (merge.collected.length === 0) this.#complete(merge);
  }

  /** Enters the next `limit` entries: of the one index first, then of the other. */
  #enter(merge: Merge, limit: number): void {
    const count = merge.secrets.length;
    const end = Math.min(merge.entered + limit, 2 * count);
    const [secret, receipt] = [this.#db.query(insertEntry('secret')), this.#db.query(insertEntry('receipt'))];
    for (const row of merge.secrets.slice(merge.entered, end)) secret.run(row.secret_hint, row.position);
    for (const row of merge.receipts.slice(Math.max(0, merge.entered - count), Math.max(0, end - count))) {
      receipt.run(row.receipt_hint, row.position);
    }
    if (end === 2 * count) this.#complete(merge);
    else {
      this.#onCommit = () => {
        merge.entered = end;
      };
    }
  }

  #complete(merge: Merge): void {
    this.#db.query('UPDATE index_progress SET upto = max(upto, ?1) WHERE only_row = 1').run(merge.target);
    this.#onCommit = () => {
      this.#upto = merge.target;
      this.#merge = null;
    };
  }
}
