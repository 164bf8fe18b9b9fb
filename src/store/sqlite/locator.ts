/**
 * Finds the positions that a row may have, by its ids and by its owner: through the indexes, or among the rows that are not in them yet.
 *
 * Every visible row is in the indexes, among the recent rows, or has a position after `seen`. A look-up therefore asks for the newest
 * position first and takes in what came after `seen` (rows of other processes on this folder) before it answers. It asks the
 * database the same whether or not the row exists (P17). A hint gives positions; the row's whole id decides. Rows leave memory
 * only after the transaction that finished their entries (see index-merge.ts).
 */
import type { Database } from 'bun:sqlite';
import type { AccountId } from '../../core/account.ts';
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
  /** Of this account's rows, those that may not be in the index yet, newest first; ask it before the index. */
  recentOfOwner(owner: AccountId): Positions;
  /** Takes in a row that this process has just stored. */
  stored(position: number, row: StoredRow): void;
  /** Rows up to here are in the indexes. */
  indexed(upto: number): void;
}

/** By what a row is found. */
export interface StoredRow {
  readonly secretHint: number;
  readonly receiptHint: number;
  readonly owner: AccountId | null;
}

interface NewRow {
  position: number;
  secret_hint: number;
  receipt_hint: number;
  owner: AccountId | null;
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

  /** Takes in what is after `seen`. */
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
    recentOfOwner(owner) {
      if ((newest.get()?.position ?? 0) > seen) catchUp();
      return recent.ofOwner(owner);
    },
    stored(position, row) {
      // A look-up has taken it in already.
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
  readonly owners: Map<AccountId, number[]>;
}

/**
 * Where the newest rows are, in memory: those that may not be in the index yet. Kept as generations of maps, from
 * hints and owners to positions. A generation is dropped whole once all of its rows are in the index, which costs nothing an entry.
 * Two ids may share a hint, so a hint may have several positions.
 */
export interface RecentRows {
  /** Positions come in rising order; the last one may come again. */
  add(position: number, row: StoredRow): void;
  /** Positions of the rows whose id may be the one with this hint, in no order; the caller may add to them. */
  ofSecret(hint: number): number[];
  ofReceipt(hint: number): number[];
  /** Newest first. */
  ofOwner(owner: AccountId): number[];
  /** Forgets generations of which every row is at `upto` or before. */
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
      note(generation.secrets, secretHint, position);
      note(generation.receipts, receiptHint, position);
      if (owner !== null) noteOwned(generation.owners, owner, position);
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

function note(positions: PositionsByHint, hint: number, position: number): void {
  const known = positions.get(hint);
  if (known === undefined) positions.set(hint, position);
  else if (![known].flat().includes(position)) positions.set(hint, [known, position].flat());
}

function noteOwned(positions: Generation['owners'], owner: AccountId, position: number): void {
  const known = positions.get(owner);
  if (known === undefined) positions.set(owner, [position]);
  else if (known.at(-1) !== position) known.push(position);
}
