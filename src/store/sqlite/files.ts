/**
 * The data folder (P23, P25). File systems with unreliable locks and fsync are refused. Sources: statfs(2) and
 * linux/magic.h for the magic numbers, https://www.sqlite.org/howtocorrupt.html §2 for the refusal.
 */
import { Database } from 'bun:sqlite';
import { randomFillSync } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StoreRefusal } from '../store.ts';

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

/** A file that cannot be examined may exist: opening it will show the reason. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOTDIR');
  }
}

export function hasStore(path: string): boolean {
  const { database, wal } = folderAt(path);
  return mayExist(database) || mayExist(wal);
}

/** Creates what is missing, accessible only to this user. */
export function prepareFolder(path: string, typeOf: FileSystemTypeOf = systemTypeOf): StoreFolder {
  const folder = folderAt(path);
  const { directory } = folder;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    assertLocal(directory, typeOf);
    // Checked first, because another process on its first start creates the database before the log.
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

/**
 * Next to an empty database, SQLite would delete the log, and with it the latest changes to the missing one, which may be put back.
 */
function databaseGone({ directory, wal }: StoreFolder): StoreRefusal {
  return new StoreRefusal(
    'damaged',
    `The database in ${directory} is gone, and the log of its latest changes is still there. Put mayfly.db back, or ` +
      `move ${wal} away to start empty.`,
  );
}

/** An empty file is an empty database. Also syncs the directories: otherwise a power loss could lose the file's name. */
function createDatabaseFile(folder: StoreFolder): void {
  closeSync(openSync(folder.database, 'a', 0o600));
  for (const directory of [folder.directory, dirname(folder.directory)]) syncPath(directory);
}

export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function assertLocal(directory: string, typeOf: FileSystemTypeOf): void {
  // The numbers are Linux's; on other systems, statfs returns different ones.
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

/** Thrown before anything is decided. */
export class FilesMoved extends Error {
  override readonly name = 'FilesMoved';
}

export interface OpenFiles {
  areInPlace(): boolean;
  /**
   * Always checks if `mustCheck`, otherwise only every `checkEveryMs`: a check costs more than a small decision.
   * @throws FilesMoved
   */
  assertInPlace(mustCheck: boolean): void;
}

export const checkEveryMs = 1_000;

/** While a connection that has read is open, SQLite's `-wal` and `-shm` files exist next to the database. */
export function rememberOpenFiles({ database, wal }: StoreFolder, monotonicMs: () => number): OpenFiles {
  const paths = [database, wal, `${database}-shm`];
  const opened = paths.map(identityOf);
  let checkedAtMs = monotonicMs();
  const areInPlace = () => paths.every((path, n) => identityOf(path) === opened[n]);
  return {
    areInPlace,
    assertInPlace(mustCheck) {
      const nowMs = monotonicMs();
      if (!mustCheck && nowMs - checkedAtMs < checkEveryMs) return;
      checkedAtMs = nowMs;
      if (!areInPlace()) throw new FilesMoved('the files in the data folder are not those that are open');
    },
  };
}

function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

export interface Serving {
  readonly hasOthers: boolean;
  leave(): void;
}

/** Longer than a server starting at the same time will hold the exclusive lock. */
const shareTimeoutMs = 500;

/** Tests a separate lock, on a file without content: a server writes only the one page that SQLite needs for locking. */
function isAlone(db: Database): boolean {
  try {
    db.run('BEGIN EXCLUSIVE');
    db.run('PRAGMA user_version = 1');
    db.run('COMMIT');
    return true;
  } catch {
    return false;
  }
}

export function registerServing(directory: string): Serving {
  const path = join(directory, 'serving.lock');
  try {
    closeSync(openSync(path, 'a', 0o600));
    const db = new Database(path);
    db.run('PRAGMA synchronous = OFF');
    db.run('PRAGMA busy_timeout = 0');
    const hasOthers = !isAlone(db);
    db.run(`PRAGMA busy_timeout = ${shareTimeoutMs}`);
    // A transaction that has read holds the shared lock until it ends.
    db.run('BEGIN');
    db.query('PRAGMA user_version').get();
    return { hasOthers, leave: () => db.close() };
  } catch {
    // On a full or read-only disk we cannot know, and nothing else depends on the answer.
    return { hasOthers: false, leave: () => {} };
  }
}

export function isServed(directory: string): boolean {
  const path = join(directory, 'serving.lock');
  if (!existsSync(path)) return false;
  const db = new Database(path);
  try {
    db.run('PRAGMA busy_timeout = 0');
    return !isAlone(db);
  } finally {
    db.close();
  }
}

const chunkBytes = 64 * 1024;

/**
 * Space reserved so that reads and burns still commit on a full disk (P23). New secrets are accepted only while it is
 * held. Once it is given up, they are refused until there is room for twice as much, which leaves the freed space to
 * reads and burns.
 */
export const isBallastHeld = (path: string, sizeBytes: number): boolean => sizeOf(path) === sizeBytes;

export function holdBallast(path: string, sizeBytes: number): boolean {
  if (isBallastHeld(path, sizeBytes)) return true;
  if (freeBytesAt(path) < 2 * sizeBytes) return false;
  try {
    writeBallast(path, sizeBytes);
    return true;
  } catch {
    giveUpBallast(path);
    return false;
  }
}

export function giveUpBallast(path: string): void {
  rmSync(path, { force: true });
}

function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return Number(bavail) * Number(bsize);
}

export const isDiskFull = (path: string): boolean => freeBytesAt(path) < chunkBytes;

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}

export const isEmptyFile = (path: string): boolean => sizeOf(path) <= 0;

/** Writes random bytes: zeros take no space on file systems that compress or leave holes. */
function writeBallast(path: string, sizeBytes: number): void {
  const file = openSync(path, 'w', 0o600);
  try {
    const chunk = randomFillSync(new Uint8Array(Math.min(chunkBytes, sizeBytes)));
    for (let written = 0; written < sizeBytes; ) {
      written += writeSync(file, chunk, 0, Math.min(chunk.length, sizeBytes - written));
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const isConstraint = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CONSTRAINT');

export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** Some file systems report a full disk as a failed write. */
export function isFull(error: unknown, diskIsFull: () => boolean): boolean {
  return codeOf(error) === 'SQLITE_FULL' || (codeOf(error).startsWith('SQLITE_IOERR') && diskIsFull());
}
