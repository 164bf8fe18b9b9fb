/**
 * This store as the source or target of a move. Triggers record the key of each row that changes, in the same
 * transaction. Closing changes the file's kind in a transaction: every process checks the kind in the transaction of
 * each batch and in the snapshot of its reads, so from then on no process reads or decides here. A target has its
 * own kind until it is opened.
 */
import type { Database } from 'bun:sqlite';
import { join } from 'node:path';
import type { MachineClock } from '../../core/time.ts';
import {
  type Changes,
  type MoveId,
  MoveProblem,
  type MoveRow,
  type MoveSource,
  type MoveTarget,
  type NextPage,
  type SourcePhase,
  type StoreFacts,
  type TargetState,
} from '../move/move.ts';
import { isReferredTo, keyOf, movedTables, tableNamed } from '../move/tables.ts';
import { StoreRefusal } from '../store.ts';
import { createStoreTime } from '../store-time.ts';
import {
  isFileKind,
  isOutdated,
  migrate,
  openConnection,
  setFileKind,
  within,
  writerSettings,
} from './database.ts';
import { hasStore, isServed, prepareFolder } from './files.ts';
import { IndexMerge } from './index-merge.ts';
import {
  addRow,
  deleteRow,
  keptIn,
  keyInTrigger,
  putRow,
  readPage,
  readRow,
  type Values,
} from './move-rows.ts';
import { createTimeReader } from './time.ts';

const moveOf = (db: Database): MoveRow | null =>
  db.query<MoveRow, []>('SELECT id, phase, run, next_table, next_after FROM move').get();

const bytesEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** One run of the command. It may make changes only until another run begins. */
function createRun(db: Database) {
  let run = 0;
  return {
    begin(): void {
      run = (moveOf(db)?.run ?? 0) + 1;
      db.query('UPDATE move SET run = ?1').run(run);
    },
    write<Result>(work: () => Result): Result {
      return within(db, () => {
        if (moveOf(db)?.run !== run) throw new MoveProblem('Another run of the command has begun.');
        return work();
      });
    },
  };
}

const writes = [
  ['INSERT', 'NEW'],
  ['UPDATE', 'NEW'],
  ['DELETE', 'OLD'],
] as const;

const triggers = movedTables.flatMap((table) =>
  keptIn(table).flatMap((kept) =>
    writes.map(([write, row]) => ({
      name: `move_${kept.name}_${write}`,
      sql: `CREATE TRIGGER move_${kept.name}_${write} AFTER ${write} ON ${kept.name} BEGIN
        INSERT INTO move_changes (table_name, row_key) VALUES ('${table.name}', ${keyInTrigger(table, kept, row)}); END`,
    })),
  ),
);

export function forgetMove(db: Database): void {
  for (const { name } of triggers) db.run(`DROP TRIGGER IF EXISTS ${name}`);
  db.run('DELETE FROM move_changes');
  db.run('DELETE FROM move');
}

function openSource(directory: string): Database {
  if (!hasStore(directory)) throw new StoreRefusal('not_a_store', `There is no store in ${directory}.`);
  const db = openConnection(join(directory, 'mayfly.db'), writerSettings);
  try {
    const kind = isFileKind(db, 'closed') ? 'closed' : 'store';
    if (kind === 'store' && isOutdated(db) && isServed(directory)) throw olderServer(directory);
    migrate(db, kind);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const olderServer = (directory: string) =>
  new StoreRefusal(
    'older_server',
    `A server of an earlier version runs on ${directory}. Restart it with this version, and try again.`,
  );

export function openSqliteSource(directory: string, clock: MachineClock): MoveSource {
  const db = openSource(directory);
  const run = createRun(db);
  return {
    async begin(fresh) {
      return within(db, () => {
        const known = moveOf(db);
        if (known === null || known.phase === 'open' || known.phase === 'filling') beginCopying(db, fresh);
        run.begin();
        const { id, phase } = moveOf(db) ?? {};
        if (id === undefined) throw new Error('the move was not recorded');
        return { id, phase: phase as SourcePhase };
      });
    },
    countRows: async () => countRows(db),
    readPage: async (table, after, limit) => readPage(db, table, after, limit),
    readChanges: async (limit) => readChanges(db, limit),
    forget: async (changeIds) =>
      run.write(() => {
        for (const id of changeIds) db.query('DELETE FROM move_changes WHERE note = ?1').run(id);
      }),
    close: async () =>
      run.write(() => {
        for (const { name } of triggers) db.run(`DROP TRIGGER IF EXISTS ${name}`);
        setFileKind(db, 'closed');
        db.run("UPDATE move SET phase = 'closed'");
      }),
    readFacts: async () => readFacts(db, clock),
    handOver: async () =>
      run.write(() => {
        const left = db.query('SELECT 1 FROM move_changes LIMIT 1').get();
        const { changes } = db.run("UPDATE move SET phase = 'handed_over' WHERE phase = 'closed'");
        if (left !== null || changes !== 1) throw new MoveProblem('The source is not closed and copied.');
      }),
    erase: async () => erase(db),
    async cancel() {
      return within(db, () => {
        const phase = moveOf(db)?.phase;
        if (phase === 'handed_over')
          throw new MoveProblem('It was handed over: another store has taken its place.');
        if (phase !== 'copying' && phase !== 'closed') return false;
        forgetMove(db);
        setFileKind(db, 'store');
        return true;
      });
    },
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

function beginCopying(db: Database, id: MoveId): void {
  forgetMove(db);
  db.query("INSERT INTO move (only_row, id, phase, run) VALUES (1, ?1, 'copying', 0)").run(id);
  for (const { sql } of triggers) db.run(sql);
}

function countRows(db: Database): number {
  const counts = movedTables.map(({ name }) => {
    const from = name === 'attempts' ? 'attempt_lives' : name;
    return db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${from}`).get()?.n ?? 0;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Reads one snapshot, so that a row never comes without those that it refers to. */
function readChanges(db: Database, limit: number): Changes {
  db.run('BEGIN');
  try {
    const changed = db
      .query<{ note: number; table_name: string; row_key: string }, [number]>(
        'SELECT note, table_name, row_key FROM move_changes ORDER BY note LIMIT ?1',
      )
      .all(limit);
    const tables = movedTables.map((table) => {
      const ofTable = changed.filter((each) => each.table_name === table.name);
      const keys = [...new Set(ofTable.map((each) => each.row_key))];
      const rows = keys.map((key) => readRow(db, table, key)).filter((row) => row !== null);
      return { table, keys, rows };
    });
    return {
      changeIds: changed.map(({ note }) => note),
      tables: tables.filter(({ keys }) => keys.length > 0),
    };
  } finally {
    if (db.inTransaction) db.run('COMMIT');
  }
}

function readFacts(db: Database, clock: MachineClock): StoreFacts {
  const time = createStoreTime(clock, createTimeReader(db)().anchor).now();
  const floor = db.query<{ kid: number }, []>('SELECT kid FROM root_floor').get();
  const ids = db.query<{ name: string; seq: number }, []>('SELECT name, seq FROM sqlite_sequence').all();
  const lastIds = Object.fromEntries(ids.map(({ name, seq }) => [name, seq]));
  return { time, firstOpenRoot: floor?.kid ?? 0, lastIds };
}

const erasedAtOnce = 5_000;

/** Erases in place, like the sweep (see 001-records.sql). */
function erase(db: Database): void {
  db.run('DELETE FROM epochs');
  const step = db.query<unknown, [number, number]>(
    `UPDATE records SET sealed_secret = zeroblob(length(sealed_secret)), creator_box = zeroblob(length(creator_box))
     WHERE position > ?1 AND position <= ?2`,
  );
  const last = db.query<{ last: number | null }, []>('SELECT max(position) AS last FROM records').get();
  for (let from = 0; from < (last?.last ?? 0); from += erasedAtOnce) step.run(from, from + erasedAtOnce);
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Opens an empty folder, or one that an earlier run of the same move began to fill. */
function openTarget(directory: string): Database {
  const { database } = prepareFolder(directory);
  const db = openConnection(database, writerSettings);
  try {
    if (!isFileKind(db, 'store')) migrate(db, 'filling');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function openSqliteTarget(directory: string): MoveTarget {
  const db = openTarget(directory);
  const run = createRun(db);
  return {
    async begin(id) {
      return within(db, () => {
        const known = moveOf(db);
        if (known !== null && !bytesEqual(known.id, id)) throw taken(directory);
        if (isFileKind(db, 'store') && known?.phase !== 'open') throw taken(directory);
        if (known === null) beginFilling(db, id);
        run.begin();
        return stateOf(moveOf(db));
      });
    },
    addRows: async (table, rows, next) =>
      run.write(() => {
        for (const row of rows) addRow(db, table, row);
        db.query('UPDATE move SET next_table = ?1, next_after = ?2').run(
          next?.table ?? null,
          next?.after ?? null,
        );
      }),
    applyChanges: async (changes) => run.write(() => applyChanges(db, changes)),
    setFacts: async (facts) => run.write(() => setFacts(db, facts)),
    async open() {
      // Completing the index does no harm, even if the store is not opened after all.
      new IndexMerge(db).finish();
      run.write(() => open(db));
    },
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

const taken = (directory: string) =>
  new StoreRefusal('not_a_store', `There is a store in ${directory}: move it away, or name another folder.`);

function beginFilling(db: Database, id: MoveId): void {
  const first = movedTables[0]?.name ?? null;
  db.query<unknown, Values>(
    "INSERT INTO move (only_row, id, phase, run, next_table) VALUES (1, ?1, 'filling', 0, ?2)",
  ).run(id, first);
}

function stateOf(move: MoveRow | null): TargetState {
  if (move === null || move.phase === 'open') return { state: 'open' };
  const { next_table: table, next_after: after } = move;
  const next: NextPage | null = table === null ? null : { table: tableNamed(table).name, after };
  return { state: 'copying', next };
}

/** Deletes first, starting with the rows that refer to others, so that no unique value is in the way. */
function applyChanges(db: Database, { tables }: Changes): void {
  for (const { table, keys, rows } of tables.toReversed()) {
    const kept = new Set(isReferredTo(table) ? rows.map((row) => keyOf(table, row)) : []);
    for (const key of keys) if (!kept.has(key)) deleteRow(db, table, key);
  }
  for (const { table, rows } of tables) for (const row of rows) putRow(db, table, row);
}

function setFacts(db: Database, { time, firstOpenRoot, lastIds }: StoreFacts): void {
  db.query('UPDATE store_time SET seconds = max(seconds, ?1)').run(time);
  db.query('UPDATE root_floor SET kid = max(kid, ?1)').run(firstOpenRoot);
  for (const name of ['accounts', 'tokens', 'sessions']) {
    const last = lastIds[name] ?? 0;
    const known = db.query('UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1').run(name, last);
    if (known.changes === 0)
      db.query('INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)').run(name, last);
  }
}

const dayLater = 'max(expires_at) + 86400';

function open(db: Database): void {
  db.run(
    `INSERT OR REPLACE INTO root_uses (kid, until)
     SELECT root_kid, ${dayLater} FROM records WHERE root_kid > 0 AND sweep_at < receipt_expires_at GROUP BY root_kid`,
  );
  db.run("UPDATE move SET phase = 'open'");
  setFileKind(db, 'store');
}
