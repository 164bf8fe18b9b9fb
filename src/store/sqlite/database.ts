/**
 * Every pragma is set and read back on every connection, and a connection on which one did not take effect is refused
 * (P25): some builds of SQLite open a database in WAL mode with `synchronous=NORMAL`, where a power loss brings a read
 * secret back unless the log is synced before any result is released (see log.ts). Each migration is applied once, as a
 * whole, in its own transaction. A database from another program or a later version is refused and left untouched
 * (P25).
 * Source: https://www.sqlite.org/pragma.html
 */
import { Database } from 'bun:sqlite';
import { fencedWords, StoreRefusal } from '../store.ts';
import records from './migrations/001-records.sql' with { type: 'text' };
import attempts from './migrations/002-attempts.sql' with { type: 'text' };
import accounts from './migrations/003-accounts.sql' with { type: 'text' };
import people from './migrations/004-people.sql' with { type: 'text' };
import mailAndDomains from './migrations/005-mail-and-domains.sql' with { type: 'text' };
import storeTime from './migrations/006-store-time.sql' with { type: 'text' };
import tickets from './migrations/007-tickets.sql' with { type: 'text' };
import memos from './migrations/008-memos.sql' with { type: 'text' };
import sharedWork from './migrations/009-shared-work.sql' with { type: 'text' };
import ownerIndex from './migrations/010-owner-index.sql' with { type: 'text' };
import accountAccess from './migrations/011-account-access.sql' with { type: 'text' };
import rootFloor from './migrations/012-root-floor.sql' with { type: 'text' };
import creations from './migrations/013-creations.sql' with { type: 'text' };
import moving from './migrations/014-moving.sql' with { type: 'text' };
import epochs from './migrations/015-epochs.sql' with { type: 'text' };
import senderName from './migrations/016-sender-name.sql' with { type: 'text' };
import requests from './migrations/017-requests.sql' with { type: 'text' };
import codes from './migrations/018-codes.sql' with { type: 'text' };

export interface ConnectionSettings {
  /** With `NORMAL`, a commit returns before it is on disk. */
  readonly synchronous: 'FULL' | 'NORMAL';
  readonly cacheKiB: number;
  readonly busyMilliseconds: number;
}

export const writerSettings: ConnectionSettings = {
  synchronous: 'FULL',
  cacheKiB: 4 * 1024,
  busyMilliseconds: 5_000,
};

/**
 * On Linux, a thread syncs the log before any result is released. On other systems only SQLite's own sync reaches the
 * disk, so SQLite syncs there as well.
 */
export const loopSettings: ConnectionSettings = {
  synchronous: process.platform === 'linux' ? 'NORMAL' : 'FULL',
  cacheKiB: 6 * 1024,
  busyMilliseconds: 5,
};

type Pragma = readonly [name: string, value: string | number, readBack: string | number];

function pragmasOf(settings: ConnectionSettings): readonly Pragma[] {
  const synchronous: Pragma = ['synchronous', settings.synchronous, settings.synchronous === 'FULL' ? 2 : 1];
  return [
    ['busy_timeout', settings.busyMilliseconds, settings.busyMilliseconds],
    ['journal_mode', 'WAL', 'wal'],
    // A secret may be released only after the log is synced (P2).
    synchronous,
    // Reaches the disk where the system's fsync does not (macOS).
    ['fullfsync', 'ON', 1],
    ['checkpoint_fullfsync', 'ON', 1],
    // Overwrites deleted bytes with zeros (P10).
    ['secure_delete', 'ON', 1],
    ['foreign_keys', 'ON', 1],
    ['trusted_schema', 'OFF', 0],
    ['cell_size_check', 'ON', 1],
    // We decide when to checkpoint, never in the middle of a commit.
    ['wal_autocheckpoint', 0, 0],
    ['temp_store', 'MEMORY', 2],
    ['mmap_size', 0, 0],
    ['cache_size', -settings.cacheKiB, -settings.cacheKiB],
  ];
}

/**
 * More than the number of statements: closing a connection finalizes only cached ones, and an uncached one would keep
 * the file open.
 */
Database.MAX_QUERY_CACHE_SIZE = 400;

/**
 * Opens a connection. Get its statements from `query`, never from `prepare`.
 * @param kind the kind that the file must have: otherwise throws `StoreRefusal` before changing a byte
 */
export function openConnection(
  path: string,
  settings: ConnectionSettings,
  kind: FileKind | null = null,
): Database {
  const db = new Database(path, { readwrite: true, create: false });
  try {
    db.run(`PRAGMA busy_timeout = ${settings.busyMilliseconds}`);
    if (kind !== null) assertFileKind(db, kind);
    applySettings(db, settings);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function applySettings(db: Database, settings: ConnectionSettings): void {
  for (const [name, value] of pragmasOf(settings)) db.run(`PRAGMA ${name} = ${value}`);
  assertSettings(db, settings);
}

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

const migrations: readonly string[] = [
  records,
  attempts,
  accounts,
  people,
  mailAndDomains,
  storeTime,
  tickets,
  memos,
  sharedWork,
  ownerIndex,
  accountAccess,
  rootFloor,
  creations,
  moving,
  epochs,
  senderName,
  requests,
  codes,
];

/**
 * SQLite's `application_id`, in ASCII "mayf", "mayb", "mayr", "maym". No server opens a backup, a store that a move is
 * filling, or one that a move has closed (see moving.ts).
 */
const fileKinds = { store: 0x6d617966, backup: 0x6d617962, filling: 0x6d617972, closed: 0x6d61796d } as const;
export type FileKind = keyof typeof fileKinds;

function numberOf(db: Database, pragma: 'user_version' | 'application_id'): number {
  return Number(Object.values(db.query<object, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0);
}

/** Within a transaction, the kind takes effect together with the other changes. */
export function setFileKind(db: Database, kind: FileKind): void {
  db.run(`PRAGMA application_id = ${fileKinds[kind]}`);
}

export function isFileKind(db: Database, kind: FileKind): boolean {
  return numberOf(db, 'application_id') === fileKinds[kind];
}

export const isOutdated = (db: Database): boolean => assertFileKind(db, 'store') < migrations.length;

/** Returns whether there was anything to migrate. @param kind the kind that the file must have; an empty file gets it */
export function migrate(db: Database, kind: FileKind = 'store'): boolean {
  const version = assertFileKind(db, kind);
  for (let next = version; next < migrations.length; next += 1) apply(db, next, kind);
  return version < migrations.length;
}

const aBackup =
  'mayfly.db in the data folder is a backup. What waited in it may have been opened since, so no server opens it as it is: ' +
  'move it out of the folder and run mayfly restore with its new path.';

const refusals = { backup: aBackup, ...fencedWords('in the data folder') };

const inDataFolder =
  'mayfly.db in the data folder is a database of another program. Choose another MAYFLY_DATA_DIR.';

function refusalOf(db: Database, kind: FileKind): StoreRefusal {
  const other = (['backup', 'filling', 'closed'] as const).find((each) => isFileKind(db, each));
  if (kind === 'store' && other !== undefined) return new StoreRefusal('not_a_store', refusals[other]);
  return new StoreRefusal(
    'foreign_database',
    kind === 'backup' ? 'This is a database of another program.' : inDataFolder,
  );
}

/** Returns the schema's version. @throws StoreRefusal if the file is of another kind, or from a later version */
export function assertFileKind(db: Database, kind: FileKind): number {
  const version = numberOf(db, 'user_version');
  const tables = db.query<{ n: number }, []>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
  const isEmpty = version === 0 && tables === 0 && kind !== 'backup';
  if (!isFileKind(db, kind) && !isEmpty) throw refusalOf(db, kind);
  if (version > migrations.length) {
    throw new StoreRefusal(
      'newer_schema',
      `The data was written by a later version of Mayfly (schema ${version}, this one knows ${migrations.length}). ` +
        'Run that version or a later one, or restore a copy from before the upgrade.',
    );
  }
  return version;
}

/** If two processes start together, the second to get the lock finds the work done. */
function apply(db: Database, index: number, kind: FileKind): void {
  within(db, () => {
    if (numberOf(db, 'user_version') !== index) return;
    db.run(migrations[index] ?? '');
    setFileKind(db, kind);
    db.run(`PRAGMA user_version = ${index + 1}`);
  });
}

export function within<Result>(db: Database, work: () => Result): Result {
  db.run('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.run('COMMIT');
    return result;
  } catch (error) {
    if (db.inTransaction) db.run('ROLLBACK');
    throw error;
  }
}
