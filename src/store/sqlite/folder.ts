/**
 * The data folder of the embedded store.
 *
 * Owns: its files, their modes, and the refusal of file systems on which SQLite's locks and fsync cannot be relied on.
 * Source of the magic numbers: statfs(2) and linux/magic.h; of the refusal: https://www.sqlite.org/howtocorrupt.html §2.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StoreRefusal } from '../refusal.ts';

export interface StoreFolder {
  readonly directory: string;
  readonly database: string;
  readonly wal: string;
  readonly ballast: string;
}

const networkFileSystems: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB 2',
  1702057286: 'FUSE',
  16914839: '9P',
  12805120: 'Ceph',
  1397113167: 'AFS',
  1937076805: 'Coda',
  22092: 'NCP',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  1952539503: 'OCFS2',
  18225520: 'GFS2',
};

/** The `f_type` of the file system that a folder is on. */
export type FileSystemTypeOf = (directory: string) => number;

const systemTypeOf: FileSystemTypeOf = (directory) => Number(statfsSync(directory).type);

function folderAt(path: string): StoreFolder {
  const directory = resolve(path);
  return {
    directory,
    database: join(directory, 'mayfly.db'),
    wal: join(directory, 'mayfly.db-wal'),
    ballast: join(directory, 'ballast'),
  };
}

/** What cannot be looked at may be there: opening it says why not. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOTDIR');
  }
}

/** Whether a store was ever made here. Changes nothing. */
export function hasStore(path: string): boolean {
  const { database, wal } = folderAt(path);
  return mayExist(database) || mayExist(wal);
}

/** Creates the folder and the database file if they are missing, for this user alone. */
export function prepareFolder(path: string, typeOf: FileSystemTypeOf = systemTypeOf): StoreFolder {
  const folder = folderAt(path);
  const { directory } = folder;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    assertLocal(directory, typeOf);
    // Asked for first: whoever else is at its first start makes the database before the log.
    const hasLog = existsSync(folder.wal);
    if (!existsSync(folder.database)) {
      if (hasLog) throw databaseGone(folder);
      createDatabaseFile(folder);
    }
    // SQLite gives its -wal and -shm files the mode of the database.
    chmodSync(folder.database, 0o600);
    return folder;
  } catch (error) {
    if (error instanceof StoreRefusal) throw error;
    throw new StoreRefusal(
      'not_writable',
      `The data folder ${directory} cannot be written: ${error instanceof Error ? error.message : String(error)}. ` +
        'Give this user the folder, or set MAYFLY_DATA_DIR.',
      { cause: error },
    );
  }
}

/** Beside an empty database SQLite deletes the log, and with it the latest changes of the one that may be put back. */
function databaseGone({ directory, wal }: StoreFolder): StoreRefusal {
  return new StoreRefusal(
    'damaged',
    `The database in ${directory} is gone, and the log of its latest changes is still there. Put mayfly.db back, or ` +
      `move ${wal} away to start empty.`,
  );
}

/** An empty file is an empty database. The names are made durable too: a file without a name is lost with power. */
function createDatabaseFile(folder: StoreFolder): void {
  closeSync(openSync(folder.database, 'a', 0o600));
  for (const directory of [folder.directory, dirname(folder.directory)]) {
    const handle = openSync(directory, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  }
}

function assertLocal(directory: string, typeOf: FileSystemTypeOf): void {
  // The numbers are Linux's; elsewhere statfs has others.
  if (process.platform !== 'linux') return;
  // The kernel's field is signed on some machines.
  const name = networkFileSystems[typeOf(directory) >>> 0];
  if (name === undefined) return;
  throw new StoreRefusal(
    'network_filesystem',
    `The data folder ${directory} is on a network file system (${name}), where locks and fsync cannot be relied on. ` +
      'Put MAYFLY_DATA_DIR on a local disk, or use MAYFLY_STORE=postgres://….',
  );
}
