/**
 * The write-ahead log: how long it gets, and that it can be emptied (P10).
 *
 * Owns: the checkpoints. Invariant: the log is written out before it is longer than the ballast has room for, and never
 * in the middle of a commit. Source: https://www.sqlite.org/wal.html
 */
import type { Database } from 'bun:sqlite';

/** How long a reader may keep a checkpoint waiting; commits wait as long. */
const readerWaitMilliseconds = 50;
const usualWaitMilliseconds = 5_000;
/** A page in the log, with its header. */
const logFrameBytes = 4_096 + 24;
/** A decision writes its row, the indexes it is in, and store time. */
const framesPerDecision = 8;

export interface LogKeeper {
  /** Moves the log into the database, and with TRUNCATE empties it; whether all of it was moved. */
  writeOut(mode: 'PASSIVE' | 'TRUNCATE'): boolean;
  /** After each batch: writes the log out when it is too long. Looks as often as it can have become so. */
  tend(decided: number): void;
}

export function createLogKeeper(db: Database, limitBytes: number): LogKeeper {
  const length = db.query<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)');
  let decidedSinceLook = 0;

  function writeOut(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    db.run(`PRAGMA busy_timeout = ${readerWaitMilliseconds}`);
    try {
      return db.query<{ busy: number }, []>(`PRAGMA wal_checkpoint(${mode})`).get()?.busy === 0;
    } catch {
      // A checkpoint that fails leaves the log as it was: nothing is lost, and the next one tries again.
      return false;
    } finally {
      db.run(`PRAGMA busy_timeout = ${usualWaitMilliseconds}`);
    }
  }

  function tend(decided: number): void {
    decidedSinceLook += decided;
    if (decidedSinceLook * framesPerDecision * logFrameBytes < limitBytes) return;
    decidedSinceLook = 0;
    if ((length.get()?.log ?? 0) * logFrameBytes > limitBytes) writeOut('PASSIVE');
  }

  return { writeOut, tend };
}
