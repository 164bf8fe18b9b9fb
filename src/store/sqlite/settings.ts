/**
 * How a connection to the database is set up, and the proof that it is.
 *
 * Owns: the pragmas. Invariant: every one is set and read back on every connection, and a connection on which one does
 * not hold is refused (P25): some builds of SQLite open a database in WAL mode at `synchronous=NORMAL`, at which a power
 * loss brings a read secret back. Source: https://www.sqlite.org/pragma.html
 */
import { Database } from 'bun:sqlite';
import { StoreRefusal } from '../store.ts';

export interface ConnectionSettings {
  /** `NORMAL` exists for the test that shows why it is not allowed. */
  readonly synchronous: 'FULL' | 'NORMAL';
  readonly cacheKiB: number;
  readonly queryOnly: boolean;
}

export const writerSettings: ConnectionSettings = {
  synchronous: 'FULL',
  cacheKiB: 12 * 1024,
  queryOnly: false,
};
export const readerSettings: ConnectionSettings = {
  synchronous: 'FULL',
  cacheKiB: 4 * 1024,
  queryOnly: true,
};

type Pragma = readonly [name: string, value: string | number, readBack: string | number];

function pragmasOf(settings: ConnectionSettings): readonly Pragma[] {
  const synchronous: Pragma = ['synchronous', settings.synchronous, settings.synchronous === 'FULL' ? 2 : 1];
  return [
    ['busy_timeout', 5_000, 5_000],
    ['journal_mode', 'WAL', 'wal'],
    // A commit returns after the log's fsync, and only then may a secret be released (P2).
    synchronous,
    // Where the system's fsync does not reach the disk (macOS), this one does.
    ['fullfsync', 'ON', 1],
    ['checkpoint_fullfsync', 'ON', 1],
    // What is deleted is overwritten with zeros (P10).
    ['secure_delete', 'ON', 1],
    ['foreign_keys', 'ON', 1],
    ['trusted_schema', 'OFF', 0],
    ['cell_size_check', 'ON', 1],
    // The writer checkpoints when it decides to, never in the middle of a commit.
    ['wal_autocheckpoint', 0, 0],
    // Nothing of a query goes to a temporary file.
    ['temp_store', 'MEMORY', 2],
    ['mmap_size', 0, 0],
    ['cache_size', -settings.cacheKiB, -settings.cacheKiB],
    ['query_only', settings.queryOnly ? 'ON' : 'OFF', settings.queryOnly ? 1 : 0],
  ];
}

/**
 * Every statement is kept in its connection's cache, because closing a connection ends the statements in there and no
 * others, and a statement that lives on keeps the file open. More than there are statements.
 */
Database.MAX_QUERY_CACHE_SIZE = 200;

/** Opens the file, which exists, with the settings in force. Its statements come from `query`, never from `prepare`. */
export function openConnection(path: string, settings: ConnectionSettings): Database {
  const db = new Database(path, { readwrite: true, create: false });
  try {
    applySettings(db, settings);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Sets every pragma and reads it back. */
function applySettings(db: Database, settings: ConnectionSettings): void {
  for (const [name, value] of pragmasOf(settings)) db.run(`PRAGMA ${name} = ${value}`);
  assertSettings(db, settings);
}

/** Refuses a connection on which a setting does not hold, by the setting's name. */
export function assertSettings(db: Database, settings: ConnectionSettings): void {
  for (const [name, , expected] of pragmasOf(settings)) {
    // `values`, because the column's name is not always the pragma's.
    const actual = db.query(`PRAGMA ${name}`).values()[0]?.[0];
    if (actual !== expected) {
      throw new StoreRefusal(
        'unsafe_setting',
        `SQLite does not hold the setting ${name} = ${expected} (it says ${String(actual)}), without which secrets are ` +
          'not safe. Check the file system of MAYFLY_DATA_DIR and the SQLite library in use.',
      );
    }
  }
}
