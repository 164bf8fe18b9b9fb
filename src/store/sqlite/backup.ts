/**
 * A backup captures the store at one moment, without erased bytes, while others keep reading and writing. No server
 * opens a file marked as a backup: its waiting secrets may have been opened since, and would open again (P1). The
 * transaction that turns it into a store burns all of them, even those expired by this machine's clock, which may be
 * wrong. A copy made by another program lacks that mark: only a restore makes it safe.
 */
import { constants, Database } from 'bun:sqlite';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BackupFacts, BackupOutcome, OnProgress } from '../../core/store-copies.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { StoreRefusal } from '../store.ts';
import { endRecord } from './claims.ts';
import {
  assertFileKind,
  type FileKind,
  isFileKind,
  migrate,
  openConnection,
  setFileKind,
  writerSettings,
} from './database.ts';
import { codeOf, hasStore, messageOf, syncPath } from './files.ts';
import { eraseLook, holdsLook } from './looks.ts';
import { forgetMove } from './moving.ts';

export type Task =
  | { readonly kind: 'back_up'; readonly database: string; readonly backup: string }
  | { readonly kind: 'preview'; readonly backup: string }
  | {
      readonly kind: 'restore';
      readonly backup: string;
      readonly database: string;
      readonly at: UnixSeconds;
    };

/** A file gets its final name only when it is complete. */
const unfinished = (path: string): string => `${path}.part`;

function backUp(database: string, backup: string): BackupFacts {
  return writeWhole(backup, (part) => {
    using store = closing(openConnection(database, writerSettings, 'store'));
    store.db.query('VACUUM INTO ?1').run(part);
    using copy = closing(new Database(part, { readwrite: true }));
    // Leaves a single file, without a log.
    copy.db.run('PRAGMA journal_mode = DELETE');
    setFileKind(copy.db, 'backup');
    assertIntact(copy.db);
    return factsOf(copy.db);
  });
}

/** Neither reads nor creates a log. */
function openAsIs(path: string): Database {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
  return new Database(`${pathToFileURL(path)}?immutable=1`, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

/**
 * Accepts a backup, or a store's database file on its own, as Litestream restores it, which is also safe once all its
 * waiting secrets are burned.
 * @throws StoreRefusal if the file is neither, or its log contains later changes
 */
function assertRestorable(db: Database, backup: string): FileKind {
  const kind = isFileKind(db, 'store') ? 'store' : 'backup';
  assertFileKind(db, kind);
  if (kind === 'store' && sizeOf(`${realpathSync(backup)}-wal`) > 0)
    throw new StoreRefusal(
      'not_a_store',
      `Its latest changes are in ${backup}-wal: make a file of both with mayfly backup.`,
    );
  return kind;
}

function reading<Result>(backup: string, work: (db: Database) => Result): Result {
  using file = closing(openAsIs(backup));
  return work(file.db);
}

function preview(backup: string): BackupFacts {
  return reading(backup, (db) => {
    assertRestorable(db, backup);
    return factsOf(db);
  });
}

function restore(backup: string, database: string, at: UnixSeconds): BackupFacts {
  const kind = reading(backup, (db) => assertRestorable(db, backup));
  return writeWhole(database, (part) => {
    copyFileSync(backup, part);
    // The copy inherited the original's mode.
    chmodSync(part, 0o600);
    // A server may have opened the original in the meantime, and changed it during the copy.
    reading(backup, (db) => assertRestorable(db, backup));
    using file = closing(openConnection(part, writerSettings, kind));
    migrate(file.db, kind);
    assertIntact(file.db);
    const facts = factsOf(file.db);
    file.db.run('BEGIN IMMEDIATE');
    burnAll(file.db, facts.takenAt, Math.max(at, facts.takenAt));
    setFileKind(file.db, 'store');
    file.db.run('COMMIT');
    // Moves everything from the log into the file that gets the final name.
    if (file.db.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy !== 0)
      throw new Error('the log was not written out');
    return facts;
  });
}

/** Burns every waiting secret, and ends all log-ins, mailed links and requests: the original store may have ended them since. */
function burnAll(db: Database, takenAt: UnixSeconds, at: UnixSeconds): void {
  db.query(`${endRecord('b')} WHERE state = 'w' AND expires_at > ?2`).run(at, takenAt);
  db.run(`${eraseLook} WHERE ${holdsLook}`);
  db.run('UPDATE deliveries SET address_box = NULL');
  db.run('DELETE FROM notices');
  db.run('DELETE FROM attempts');
  db.run('DELETE FROM attempt_lives');
  db.run('DELETE FROM sessions');
  db.run('DELETE FROM tickets');
  db.query('UPDATE requests SET is_ended = 1, updated_at = ?1 WHERE is_ended = 0 AND until > ?2').run(
    at,
    takenAt,
  );
  // An interrupted move may have copied older values, so it cannot continue.
  forgetMove(db);
}

const selectFacts = `
  SELECT t.seconds AS takenAt,
    (SELECT count(*) FROM records WHERE state = 'w' AND expires_at > t.seconds) AS waiting,
    (SELECT count(*) FROM accounts) AS accounts
  FROM store_time t`;

function factsOf(db: Database): BackupFacts {
  const facts = db.query<BackupFacts, []>(selectFacts).get();
  if (facts === null) throw new Error('the store has lost its time');
  return facts;
}

function assertIntact(db: Database): void {
  const verdict = db.query('PRAGMA integrity_check(1)').values()[0]?.[0];
  if (verdict !== 'ok') throw new StoreRefusal('damaged', `The copy is damaged: ${String(verdict)}.`);
}

function closing(db: Database) {
  return { db, [Symbol.dispose]: () => db.close() };
}

/** Never overwrites an existing file. */
function writeWhole<Result>(path: string, work: (part: string) => Result): Result {
  if (existsSync(path)) throw nameTaken();
  const part = unfinished(path);
  reserve(part);
  try {
    const result = work(part);
    syncPath(part);
    giveName(part, path);
    removePart(part);
    syncPath(dirname(path));
    return result;
  } catch (error) {
    removePart(part);
    throw error;
  }
}

const nameTaken = () =>
  new StoreRefusal(
    'not_writable',
    'A file of that name is there. It is not overwritten: choose another name.',
  );

function reserve(part: string): void {
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    const words = `${part} is there: another run is writing it, or one was cut short. In that case remove it.`;
    throw new StoreRefusal('not_writable', words);
  }
}

const withoutLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function giveName(part: string, path: string): void {
  try {
    linkSync(part, path);
  } catch (error) {
    // A shared folder or a USB stick may not support hard links.
    if (withoutLinks.has(codeOf(error)) && !existsSync(path)) renameSync(part, path);
    else throw codeOf(error) === 'EEXIST' ? nameTaken() : error;
  }
}

function removePart(part: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(part + suffix, { force: true });
}

function factsAfter(task: Task): BackupFacts {
  if (task.kind === 'back_up') return backUp(task.database, task.backup);
  if (task.kind === 'preview') return preview(task.backup);
  return restore(task.backup, task.database, task.at);
}

export function runTask(task: Task): BackupOutcome {
  try {
    return { outcome: 'done', facts: factsAfter(task) };
  } catch (error) {
    return { outcome: 'refused', problem: wordsOf(error) };
  }
}

const lookMilliseconds = 500;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Never throws: if the file cannot be created, the thread reports the reason. */
const sizeSoFar = (path: string): number => (existsSync(path) ? sizeOf(path) : 0);

async function inThread(task: Task, onProgress: () => void): Promise<BackupOutcome> {
  const worker = new Worker(new URL('./copier.ts', import.meta.url).href);
  const timer = setInterval(onProgress, lookMilliseconds);
  try {
    const { promise, resolve } = Promise.withResolvers<BackupOutcome>();
    worker.onmessage = ({ data }: MessageEvent<BackupOutcome>) => resolve(data);
    worker.onerror = ({ message }) => resolve({ outcome: 'refused', problem: message });
    worker.postMessage(task);
    return await promise;
  } finally {
    clearInterval(timer);
    worker.terminate();
  }
}

export function backUpStore(
  directory: string,
  backup: string,
  onProgress: OnProgress,
): Promise<BackupOutcome> {
  const [database, path] = [join(resolve(directory), 'mayfly.db'), resolve(backup)];
  const source = sizeOf(database) + sizeOf(`${database}-wal`);
  return inThread({ kind: 'back_up', database, backup: path }, () =>
    onProgress(sizeSoFar(unfinished(path)), source),
  );
}

function refusalAt(directory: string): BackupOutcome | null {
  if (!hasStore(directory)) return null;
  const problem = `There is a store in ${directory}: move it away, or set MAYFLY_DATA_DIR.`;
  return { outcome: 'refused', problem };
}

/** Returns what a restore would bring back, or why it would fail. Changes nothing. */
export function previewRestore(backup: string, directory: string): BackupOutcome {
  return refusalAt(resolve(directory)) ?? runTask({ kind: 'preview', backup: resolve(backup) });
}

/** Makes a store from a backup, in a folder without one. @param at when waiting secrets count as burned, in Unix seconds */
export async function restoreStore(
  backup: string,
  directory: string,
  at: UnixSeconds,
  onProgress: OnProgress,
): Promise<BackupOutcome> {
  const [folder, path] = [resolve(directory), resolve(backup)];
  const refusal = refusalAt(folder);
  if (refusal !== null) return refusal;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = join(folder, 'mayfly.db');
  const source = sizeOf(path);
  return inThread({ kind: 'restore', backup: path, database, at }, () =>
    onProgress(sizeSoFar(unfinished(database)), source),
  );
}

const pathOf = (error: unknown): string =>
  error instanceof Error && 'path' in error ? String(error.path) : 'The file';

export function wordsOf(error: unknown): string {
  const code = codeOf(error);
  switch (code) {
    case 'ENOENT':
    case 'SQLITE_CANTOPEN':
      return 'There is no such file or folder, or it may not be read.';
    case 'SQLITE_NOTADB':
      return 'This is not a backup.';
    case 'EACCES':
    case 'EPERM':
      return `${pathOf(error)} may not be written by this user (${code}): choose a folder that it may write to.`;
    case 'EROFS':
      return `${pathOf(error)} is on a read-only file system (${code}): choose another folder.`;
    case 'ENOTDIR':
      return `${pathOf(error)} would be in a file, not in a folder (${code}): choose another name.`;
    case 'ENOSPC':
    case 'EDQUOT':
    case 'SQLITE_FULL':
      return `The disk is full (${code}): make room, or choose another one.`;
    default:
      return messageOf(error);
  }
}
