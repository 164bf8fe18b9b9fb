/**
 * Whether another server runs on this data folder.
 *
 * Owns: `serving.lock`, which every server holds a shared lock of while it runs. Invariant: the kernel ends the lock with the
 * process, however that ends, and sees it across containers on one machine, as it does the locks of the database itself; so
 * a server that crashed is never taken for one that runs. What only opens the store takes no lock.
 */
import { Database } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

export interface ServingMark {
  /** Whether another server ran here when this one came. */
  readonly hasOthers: boolean;
  leave(): void;
}

/** Longer than another server, which starts at the same time, holds the lock alone. */
const shareTimeoutMs = 500;

/** A lock of its own on a file without content: a server writes the page that SQLite locks need, once. */
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

/** @param directory of a store that is open */
export function markServing(directory: string): ServingMark {
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
    // A full or read-only disk: whether others serve is not known, and nothing else depends on it.
    return { hasOthers: false, leave: () => {} };
  }
}
