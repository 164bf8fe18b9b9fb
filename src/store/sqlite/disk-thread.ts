/**
 * Syncs the disk, so that the event loop does not wait for it (P24). Slow hashes and DNS look-ups can fill the runtime's own thread pool
 * for seconds (docs/decisions/002-commits-on-the-loop.md).
 */
import type { Database } from 'bun:sqlite';
import { fdatasyncSync } from 'node:fs';
import { openConnection, writerSettings } from './database.ts';
import type { DiskAnswer, DiskAsk, DiskTasks } from './disk.ts';
import { codeOf, giveUpBallast, holdBallast, messageOf } from './files.ts';
import { beginLog, writeAnew, writeOut } from './log.ts';

declare const self: Worker;

let opened: { readonly db: Database; readonly path: string } | null = null;

function connectionTo(path: string): Database {
  if (opened?.path === path) return opened.db;
  opened?.db.close();
  opened = null;
  const db = openConnection(path, writerSettings, 'store');
  opened = { db, path };
  return db;
}

function close(): void {
  opened?.db.close();
  opened = null;
}

const tasks: DiskTasks = {
  writeOut(database, mode) {
    const db = connectionTo(database);
    const isWritten = writeOut(db, mode);
    if (isWritten) beginLog(db);
    return isWritten;
  },
  check(database) {
    close();
    const db = connectionTo(database);
    writeAnew(db, `${database}-wal`);
    return writeOut(db, 'TRUNCATE') && db.query('PRAGMA quick_check(1)').values()[0]?.[0] === 'ok';
  },
  holdBallast,
  giveUpBallast,
  close,
};

function answer(ask: DiskAsk): DiskAnswer {
  if (typeof ask !== 'number') {
    const { name, args } = ask;
    return { answer: (tasks[name] as (...args: readonly unknown[]) => unknown)(...args) };
  }
  fdatasyncSync(ask);
  return null;
}

self.onmessage = ({ data }: MessageEvent<DiskAsk>) => {
  try {
    self.postMessage(answer(data));
  } catch (error) {
    self.postMessage({ message: messageOf(error), code: codeOf(error) } satisfies DiskAnswer);
  }
};
