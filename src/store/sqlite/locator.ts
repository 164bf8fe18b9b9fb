/**
 * Finds a row's possible positions by its ids and its owner: in the indexes, or among the rows that are not in them
 * yet.
 *
 * Every visible row is in the indexes, among the recent rows, or after `seen`. A look-up therefore reads the newest
 * position first and adds what came after `seen` (rows from other processes). It runs the same queries whether or not
 * the row exists (P17). A hint yields positions; the row's whole id decides. Rows leave memory only after the
 * transaction that completed their entries (see index-merge.ts).
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/account.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';

/**
 * Returns 47 bits of an id as an integer, which SQLite stores in 6 bytes: an index of whole ids would be more than
 * twice the size. Ids may share a hint, so a query always compares the row's id too.
 */
export function hintOf(id: Uint8Array, offset = 0): number {
  const byte = (index: number): number => id[offset + index] ?? 0;
  const high = ((byte(0) & 0x7f) << 8) | byte(1);
  const low = ((byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5)) >>> 0;
  return high * 0x1_0000_0000 + low;
}

/** Never empty: for a missing row, it contains another row's position, so that the same amount is read (P17). */
export type Positions = readonly number[];

export interface Locator {
  placesOfSecret(id: SecretId): Positions;
  placesOfReceipt(id: ReceiptId): Positions;
  ofSecret(id: SecretId): number | null;
  ofReceipt(id: ReceiptId): number | null;
  /** Returns rows that may not be in the index yet, newest first. Call it before reading the index. */
  recentOfOwner(owner: AccountId): Positions;
  stored(position: number, row: StoredRow): void;
  /** Notes that all rows up to this position are in the indexes. */
  indexed(upto: number): void;
}

export interface StoredRow {
  readonly secretHint: number;
  readonly receiptHint: number;
  readonly owner: AccountId | null;
}

export interface NewRow {
  readonly position: number;
  readonly secret_hint: number;
  readonly receipt_hint: number;
  readonly owner: AccountId | null;
}

const catchUpRows = 1_024;

export function createLocator(db: Database): Locator {
  const progress = db.query<{ upto: number }, []>('SELECT upto FROM merge_progress');
  const newest = db.query<{ position: number | null }, []>('SELECT max(position) AS position FROM records');
  const after = db.query<NewRow, [number, number]>(
    'SELECT position, secret_hint, receipt_hint, owner FROM records WHERE position > ?1 ORDER BY position LIMIT ?2',
  );
  const recent = createRecentRows();
  let seen = 0;

  function catchUp(): void {
    seen = Math.max(seen, progress.get()?.upto ?? 0);
    for (;;) {
      const rows = after.all(seen, catchUpRows);
      for (const row of rows) recent.add(row.position, rowOf(row));
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

    function positionsOf(hint: number): { indexed: number[]; newest: number } {
      const positions = indexedAndNewest.values(hint).map(([position]) => Number(position));
      // The newest row is never deleted, so no entry points past it.
      const newest = positions.sort((a, b) => a - b).pop() ?? 0;
      return { indexed: positions, newest };
    }

    function placesOf(id: Uint8Array): Positions {
      const hint = hintOf(id);
      let found = positionsOf(hint);
      if (found.newest > seen) {
        catchUp();
        // Rows just added may have reached the index in the meantime.
        found = positionsOf(hint);
      }
      const places = among(hint);
      for (const place of found.indexed) if (!places.includes(place)) places.push(place);
      if (places.length === 0) places.push(1 + (hint % Math.max(1, found.newest)));
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
    recentOfOwner(owner) {
      if ((newest.get()?.position ?? 0) > seen) catchUp();
      return recent.ofOwner(owner);
    },
    stored(position, row) {
      // A look-up has already added it.
      if (position <= seen) return;
      // Another process has stored rows in between.
      if (position > seen + 1) return catchUp();
      recent.add(position, row);
      seen = position;
    },
    indexed: recent.forget,
  };
}

const rowOf = ({ secret_hint: secretHint, receipt_hint: receiptHint, owner }: NewRow): StoredRow => ({
  secretHint,
  receiptHint,
  owner,
});

/** Reads every place, so that a hit costs as much as a miss. */
export function rowAmong<Row>(places: Positions, read: (place: number) => Row | null): Row | null {
  let found: Row | null = null;
  for (const place of places) found = read(place) ?? found;
  return found;
}

const generationRows = 16_384;

type PositionsByHint = Map<number, number | number[]>;

interface Generation {
  upto: number;
  readonly secrets: PositionsByHint;
  readonly receipts: PositionsByHint;
  readonly owners: Map<AccountId, number[]>;
}

/**
 * Rows that may not be in the index yet, in generations: maps from hints and owners to positions. A generation is
 * dropped as a whole once all of its rows are in the index, at no cost per entry.
 */
export interface RecentRows {
  /** Positions arrive in ascending order; the last one may be repeated. */
  add(position: number, row: StoredRow): void;
  /** In no particular order; the caller may add to the array. */
  ofSecret(hint: number): number[];
  ofReceipt(hint: number): number[];
  /** Newest first. */
  ofOwner(owner: AccountId): number[];
  forget(upto: number): void;
}

export function createRecentRows(): RecentRows {
  let generations: Generation[] = [];

  function current(): Generation {
    const last = generations.at(-1);
    if (last !== undefined && last.secrets.size < generationRows) return last;
    const fresh = { upto: 0, secrets: new Map(), receipts: new Map(), owners: new Map() };
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
    add(position, { secretHint, receiptHint, owner }) {
      const generation = current();
      generation.upto = Math.max(generation.upto, position);
      addPosition(generation.secrets, secretHint, position);
      addPosition(generation.receipts, receiptHint, position);
      if (owner !== null) addOwned(generation.owners, owner, position);
    },
    ofSecret: (hint) => find('secrets', hint),
    ofReceipt: (hint) => find('receipts', hint),
    ofOwner: (owner) => generations.flatMap(({ owners }) => owners.get(owner) ?? []).reverse(),
    forget(upto) {
      if ((generations[0]?.upto ?? Number.POSITIVE_INFINITY) > upto) return;
      generations = generations.filter((generation) => generation.upto > upto);
    },
  };
}

function addPosition(positions: PositionsByHint, hint: number, position: number): void {
  const known = positions.get(hint);
  if (known === undefined) positions.set(hint, position);
  else if (![known].flat().includes(position)) positions.set(hint, [known, position].flat());
}

function addOwned(positions: Generation['owners'], owner: AccountId, position: number): void {
  const known = positions.get(owner);
  if (known === undefined) positions.set(owner, [position]);
  else if (known.at(-1) !== position) known.push(position);
}
