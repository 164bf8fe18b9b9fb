/**
 * Adds new rows to the indexes of ids and owners by the thousand, in index order, a slice with each batch. In order of
 * arrival, each entry would dirty a random page: 4 KiB of log for 16 bytes (docs/decisions/006).
 *
 * Every row at or before `merge_progress.upto` has its entries; `upto` rises in the transaction that adds the last of
 * them. Adding an entry twice is harmless, so a crash, a rollback or a second process only costs work. A deleted row's
 * entry points to a position that is never reused.
 */
import type { Database } from 'bun:sqlite';
import type { NewRow } from './locator.ts';

export interface MergePace {
  /** Rows per merge: more of them share more pages, but take longer to read at startup. */
  readonly mergeRows: number;
  /** How many rows are read, then entries added, per put: enough to end a merge well before the next is due. */
  readonly perPut: number;
  readonly leastPerBatch: number;
}

const usualPace: MergePace = { mergeRows: 65_536, perPut: 5, leastPerBatch: 64 };

const selectRows = `
  SELECT position, secret_hint, receipt_hint, owner FROM records
  WHERE position > ?1 AND position <= ?2 ORDER BY position LIMIT ?3`;

interface Index {
  readonly insert: string;
  /** `null`: no entry. */
  readonly keyOf: (row: NewRow) => number | null;
  /** Keys of one bucket are close together in the index. */
  readonly bucketOf: (key: number) => number;
}

const bucketCount = 256;
/** A hint has 47 bits. */
const bucketOfHint = (hint: number) => Math.floor((hint / 2 ** 47) * bucketCount);

const indexes: readonly Index[] = [
  {
    insert: 'INSERT OR IGNORE INTO secret_index (hint, position) VALUES (?1, ?2)',
    keyOf: (row) => row.secret_hint,
    bucketOf: bucketOfHint,
  },
  {
    insert: 'INSERT OR IGNORE INTO receipt_index (hint, position) VALUES (?1, ?2)',
    keyOf: (row) => row.receipt_hint,
    bucketOf: bucketOfHint,
  },
  {
    insert: 'INSERT OR IGNORE INTO owner_index (owner, position) VALUES (?1, ?2)',
    keyOf: (row) => row.owner,
    // Keeps each owner's entries together; the order of owners matters little.
    bucketOf: (owner) => owner % bucketCount,
  },
];

interface Entry {
  readonly index: number;
  readonly key: number;
  readonly position: number;
}

/** Rows by bucket. Buckets are sorted one at a time, so that no step takes long. */
type Buckets = readonly (readonly NewRow[][])[];

const emptyBuckets = (): Buckets => indexes.map(() => Array.from({ length: bucketCount }, () => []));

function enterRow(buckets: Buckets, row: NewRow): void {
  for (const [n, { keyOf, bucketOf }] of indexes.entries()) {
    const key = keyOf(row);
    if (key !== null) buckets[n]?.[bucketOf(key)]?.push(row);
  }
}

function* entriesIn(buckets: Buckets): Generator<Entry> {
  for (const [index, { keyOf }] of indexes.entries()) {
    const keyIn = (row: NewRow) => keyOf(row) as number;
    for (const bucket of buckets[index] ?? [])
      for (const row of bucket.sort((one, other) => keyIn(one) - keyIn(other)))
        yield { index, key: keyIn(row), position: row.position };
  }
}

/** First collects rows up to `target`, then adds their entries. */
interface Merge {
  readonly target: number;
  readonly buckets: Buckets;
  collected: number;
  /** `null` until all rows are collected. */
  entries: Iterator<Entry> | null;
}

export class IndexMerge {
  readonly #db: Database;
  readonly #pace: MergePace;
  readonly #inserts;
  #upto: number;
  #merge: Merge | null = null;
  #isComplete = false;

  constructor(db: Database, pace: MergePace = usualPace) {
    this.#db = db;
    this.#pace = pace;
    this.#inserts = indexes.map(({ insert }) => db.query<unknown, [number, number]>(insert));
    this.#upto = this.#persistedUpto();
  }

  /** Returns the position up to which all rows are in the committed indexes. */
  upto(): number {
    return this.#upto;
  }

  /** @param lastPosition the position of the last of the `puts` rows that this transaction stored */
  step(puts: number, lastPosition: number): void {
    this.#merge ??= this.#begin(lastPosition);
    if (this.#merge === null) return;
    const share = Math.max(this.#pace.leastPerBatch, this.#pace.perPut * puts);
    if (this.#merge.entries === null) this.#collect(this.#merge, share);
    else this.#enter(this.#merge, this.#merge.entries, share);
  }

  settled(committed: boolean): void {
    if (committed && !this.#isComplete) return;
    if (committed) this.#upto = this.#merge?.target ?? this.#upto;
    // After a rollback, the added entries are gone, and the collected rows may be too.
    this.#merge = null;
    this.#isComplete = false;
  }

  finish(): void {
    const newest = this.#db
      .query<{ last: number | null }, []>('SELECT max(position) AS last FROM records')
      .get();
    const last = newest?.last ?? 0;
    if (last === this.#upto) return;
    this.#db.run('BEGIN IMMEDIATE');
    this.#merge = this.#mergeUpto(last);
    const entries = this.#collect(this.#merge, Number.MAX_SAFE_INTEGER);
    if (entries !== null) this.#enter(this.#merge, entries, Number.MAX_SAFE_INTEGER);
    this.#db.run('COMMIT');
    this.settled(true);
  }

  #persistedUpto(): number {
    return this.#db.query<{ upto: number }, []>('SELECT upto FROM merge_progress').get()?.upto ?? 0;
  }

  #begin(lastPosition: number): Merge | null {
    const { mergeRows } = this.#pace;
    if (lastPosition - this.#upto < mergeRows) return null;
    // Another process may have merged rows in the meantime.
    this.#upto = Math.max(this.#upto, this.#persistedUpto());
    return lastPosition - this.#upto < mergeRows ? null : this.#mergeUpto(this.#upto + mergeRows);
  }

  #mergeUpto(target: number): Merge {
    return { target, buckets: emptyBuckets(), collected: this.#upto, entries: null };
  }

  #collect(merge: Merge, limit: number): Merge['entries'] {
    const { buckets, collected, target } = merge;
    const rows = this.#db.query<NewRow, [number, number, number]>(selectRows).all(collected, target, limit);
    for (const row of rows) enterRow(buckets, row);
    merge.collected = rows.at(-1)?.position ?? collected;
    if (rows.length < limit || merge.collected === target) merge.entries = entriesIn(buckets);
    return merge.entries;
  }

  #enter(merge: Merge, entries: Iterator<Entry>, limit: number): void {
    for (let n = 0; n < limit; n += 1) {
      const next = entries.next();
      if (next.done === true) {
        this.#complete(merge);
        return;
      }
      const { index, key, position } = next.value;
      this.#inserts[index]?.run(key, position);
    }
  }

  #complete({ target }: Merge): void {
    this.#db.query('UPDATE merge_progress SET upto = max(upto, ?1) WHERE only_row = 1').run(target);
    this.#isComplete = true;
  }
}
