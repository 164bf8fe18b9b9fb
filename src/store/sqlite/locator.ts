/**
 * Finds the positions that an id's row may have: through the index, or among the rows that are not in it yet.
 *
 * Every visible row is in the index, among the recent rows, or has a position after `seen`. A look-up therefore asks for the newest
 * position first and takes in what came after `seen` (rows of other processes on this folder) before it answers. It asks the
 * database the same whether or not the row exists (P17). A hint gives positions; the row's whole id decides.
 *
 * New rows are added to the index some thousands at a time in index order, a slice with each batch: an entry in order of arrival
 * dirties a random page, 4 KiB of log for 16 bytes, while entries in index order share pages (docs/decisions/006). Every row at or
 * before `index_progress.upto` has its entries, and `upto` rises in the transaction that adds the last of them. Adding twice is
 * harmless, so a crash, a roll-back or a second process costs only work. An entry of a deleted row points to a position that is never
 * used again.
 */
import type { Database } from 'bun:sqlite';
import type { ReceiptId, SecretId } from '../../core/keys.ts';

/**
 * The number by which the index finds an id: its first 47 bits as an integer, which SQLite keeps in 6 bytes. An index of
 * these is less than half the size of one of whole ids. Two ids may share a hint, so a query always compares the id on the
 * row too.
 */
export function hintOf(id: Uint8Array, offset = 0): number {
  const byte = (index: number): number => id[offset + index] ?? 0;
  const high = ((byte(0) & 0x7f) << 8) | byte(1);
  const low = ((byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5)) >>> 0;
  return high * 0x1_0000_0000 + low;
}

/** One position at least: where there is no such row, that of another one, so that as much is read for it (P17). */
export type Positions = readonly number[];

export interface Locator {
  /** Where the row of this secret may be. */
  placesOfSecret(id: SecretId): Positions;
  placesOfReceipt(id: ReceiptId): Positions;
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
  const recent = createRecentRows();
  let seen = 0;

  /** Takes in what is after `seen`. */
  function catchUp(): void {
    seen = Math.max(seen, progress.get()?.upto ?? 0);
    for (;;) {
      const rows = after.all(seen, catchUpRows);
      for (const row of rows) recent.add(row.position, row.secret_hint, row.receipt_hint);
      seen = rows.at(-1)?.position ?? seen;
      if (rows.length < catchUpRows) return;
    }
  }

  function createLookUp(kind: 'secret' | 'receipt', among: (hint: number) => number[]) {
    const indexedAndNewest = db.query<unknown, [number]>(
      `SELECT position FROM ${kind}_index WHERE hint = ?1 UNION ALL SELECT max(position) FROM records`,
    );
    const at = db.query<{ position: number }, [number, Uint8Array]>(
      `SELECT position FROM records WHERE position = ?1 AND ${kind}_id = ?2`,
    );

    function look(hint: number): { indexed: number[]; newest: number } {
      const positions = indexedAndNewest.values(hint).map(([position]) => Number(position));
      // The newest row is never deleted, so no entry leads past it.
      const newest = positions.sort((a, b) => a - b).pop() ?? 0;
      return { indexed: positions, newest };
    }

    function placesOf(id: Uint8Array): Positions {
      const hint = hintOf(id);
      let looked = look(hint);
      if (looked.newest > seen) {
        catchUp();
        // What was taken in may have been entered in the index meanwhile.
        looked = look(hint);
      }
      const places = among(hint);
      for (const place of looked.indexed) if (!places.includes(place)) places.push(place);
      if (places.length === 0) places.push(1 + (hint % Math.max(1, looked.newest)));
      return places;
    }

    return {
      placesOf,
      find: (id: Uint8Array) => rowAmong(placesOf(id), (place) => at.get(place, id))?.position ?? null,
    };
  }

  const secrets = createLookUp('secret', recent.ofSecret);
  const receipts = createLookUp('receipt', recent.ofReceipt);
  catchUp();
  return {
    placesOfSecret: secrets.placesOf,
    placesOfReceipt: receipts.placesOf,
    ofSecret: secrets.find,
    ofReceipt: receipts.find,
    stored(first, rows) {
      // A look-up has taken them in already, all of them: they were committed together.
      if (first <= seen) return;
      // Another process has stored rows in between.
      if (first > seen + 1) catchUp();
      for (const [n, row] of rows.entries()) recent.add(first + n, row.secretHint, row.receiptHint);
      seen = Math.max(seen, first + rows.length - 1);
    },
    indexed: recent.forget,
  };
}

/** The row that one of the places holds. Each of them is asked, so that a hit costs what a miss does. */
export function rowAmong<Row>(places: Positions, read: (place: number) => Row | null): Row | null {
  let found: Row | null = null;
  for (const place of places) found = read(place) ?? found;
  return found;
}

const generationRows = 16_384;

type PositionsByHint = Map<number, number | number[]>;

interface Generation {
  /** The highest position in it. */
  upto: number;
  readonly secrets: PositionsByHint;
  readonly receipts: PositionsByHint;
}

/**
 * Where the newest rows are, in memory: those that may not be in the index yet. Kept as generations of two maps each, from
 * hints to positions. A generation is dropped whole once all of its rows are in the index, which costs nothing an entry.
 * Two ids may share a hint, so a hint may have several positions.
 */
export interface RecentRows {
  add(position: number, secretHint: number, receiptHint: number): void;
  /** Positions of the rows whose id may be the one with this hint, in no order; the caller may add to them. */
  ofSecret(hint: number): number[];
  ofReceipt(hint: number): number[];
  /** Forgets generations of which every row is at `upto` or before. */
  forget(upto: number): void;
}

export function createRecentRows(): RecentRows {
  let generations: Generation[] = [];

  function current(): Generation {
    const last = generations.at(-1);
    if (last !== undefined && last.secrets.size < generationRows) return last;
    const fresh = { upto: 0, secrets: new Map(), receipts: new Map() };
    generations.push(fresh);
    return fresh;
  }

  function find(kind: 'secrets' | 'receipts', hint: number): number[] {
    const found: number[] = [];
    for (const generation of generations) {
      const positions = generation[kind].get(hint);
      if (typeof positions === 'number') found.push(positions);
      else if (positions !== undefined) found.push(...positions);
    }
    return found;
  }

  return {
    add(position, secretHint, receiptHint) {
      const generation = current();
      generation.upto = Math.max(generation.upto, position);
      note(generation.secrets, secretHint, position);
      note(generation.receipts, receiptHint, position);
    },
    ofSecret: (hint) => find('secrets', hint),
    ofReceipt: (hint) => find('receipts', hint),
    forget(upto) {
      if ((generations[0]?.upto ?? Number.POSITIVE_INFINITY) > upto) return;
      generations = generations.filter((generation) => generation.upto > upto);
    },
  };
}

function note(positions: PositionsByHint, hint: number, position: number): void {
  const known = positions.get(hint);
  if (known === undefined) positions.set(hint, position);
  else if (![known].flat().includes(position)) positions.set(hint, [known, position].flat());
}

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
