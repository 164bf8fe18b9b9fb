/**
 * The write-ahead log: what of it is on the disk, and when it is written out into the database.
 *
 * The event loop commits without a sync, so what its connection shows might not survive a power loss. Nothing is told before a sync that
 * began later has ended (P2). Source: https://www.sqlite.org/wal.html
 */
import type { Database } from 'bun:sqlite';
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isMarked, within } from './database.ts';
import type { Disk } from './disk.ts';

/** How long a reader may keep a checkpoint waiting; commits wait as long. */
const readerWaitMilliseconds = 50;

/** Moves the log into the database, and with TRUNCATE empties it; whether all of it was moved. Source: https://www.sqlite.org/wal.html */
export function writeOut(db: Database, mode: 'PASSIVE' | 'TRUNCATE'): boolean {
  try {
    db.run(`PRAGMA busy_timeout = ${readerWaitMilliseconds}`);
    const row = db.query<{ busy: number; log: number; checkpointed: number }, []>(
      `PRAGMA wal_checkpoint(${mode})`,
    );
    const { busy, log, checkpointed } = row.get() ?? { busy: 1, log: 0, checkpointed: 0 };
    return busy === 0 && log === checkpointed;
  } catch {
    // A checkpoint that fails leaves the log as it was: nothing is lost, and the next one tries again.
    return false;
  }
}

/**
 * Writes the log over itself, because a failed sync may have dropped pages of it that count as written. With such a gap, a power cut while
 * the log is written out would leave older pages of the database among newer ones.
 */
export function writeAnew(db: Database, log: string): void {
  // No commit can come in between.
  within(db, () => {
    const file = openSync(log, 'r+');
    try {
      const bytes = readFileSync(file);
      if (writeSync(file, bytes, 0, bytes.length, 0) !== bytes.length)
        throw new Error('the log was cut short');
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
  });
}

/** A log's first commit syncs its head, also where nothing else is synced: made here, it does not stop the event loop. */
export function beginLog(db: Database): void {
  try {
    // What changes nothing is not committed at all; this is, whatever the number.
    within(db, () => {
      const [[version] = []] = db.query('PRAGMA user_version').values();
      db.run(`PRAGMA user_version = ${version}`);
    });
  } catch {
    // Another process is at it, or the disk is full: then a commit of the event loop begins the log.
  }
}

/** What is on the disk of what can be seen. Both are counted in changes, which have no other name. */
export class LogSync {
  readonly #sync: () => Promise<void>;
  readonly #onFailure: (error: Error) => void;
  #seen = 0;
  #safe = 0;
  #running: { readonly upto: number; readonly ended: Promise<void> } | null = null;
  #next: Promise<void> | null = null;
  #failure: Error | null = null;

  constructor(sync: () => Promise<void>, onFailure: (error: Error) => void) {
    this.#sync = sync;
    this.#onFailure = onFailure;
  }

  /** Something was committed, here or elsewhere. */
  changed(): void {
    this.#seen += 1;
  }

  /**
   * Resolves when all that can be seen now is on the disk; `null`: it is already. Rejects when a sync has failed, until `recovered`: a later
   * sync may succeed without the data.
   */
  settled(): Promise<void> | null {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#safe === this.#seen) return null;
    if (this.#running === null) return this.#begin();
    // One that had begun before may not cover it.
    if (this.#running.upto === this.#seen) return this.#running.ended;
    this.#next ??= this.#running.ended.then(() => {
      this.#next = null;
      return this.settled() ?? undefined;
    });
    return this.#next;
  }

  /** Everything visible at this count has been written again. */
  recovered(seen: number): void {
    this.#failure = null;
    this.#next = null;
    this.#safe = seen;
  }

  get seen(): number {
    return this.#seen;
  }

  #begin(): Promise<void> {
    const upto = this.#seen;
    const ended = this.#sync().then(
      () => {
        this.#running = null;
        this.#safe = upto;
      },
      (error: Error) => {
        this.#running = null;
        this.#failure = error;
        this.#onFailure(error);
        throw error;
      },
    );
    this.#running = { upto, ended };
    return ended;
  }
}

/** Asked within a transaction: whether the file is still this program's store, or was closed by a move (see moving.ts). */
export type IsStore = () => boolean;

/** Notices what other connections have committed, which only a sync of ours makes known to be on the disk. */
export function watchOthers(db: Database, onChange: () => void): IsStore {
  const version = db.query('PRAGMA data_version');
  let seen: unknown = null;
  let isStore = true;
  return () => {
    const now = version.values()[0]?.[0];
    if (now === seen) return isStore;
    onChange();
    isStore = isMarked(db, 'store');
    seen = now;
    return isStore;
  };
}

/** A page in the log, with its header. */
const logFrameBytes = 4_096 + 24;

/**
 * The log's checkpoints: it is written out before it outgrows the ballast, and never in the middle of a commit (P10). No commit is made
 * during one: SQLite counts pages that it has written out as moved, also where it syncs the database only at a later checkpoint because more
 * was committed, and what a failed sync then drops would not be written again.
 */
export function createLogKeeper(
  db: Database,
  disk: Pick<Disk, 'ask'>,
  database: string,
  /** At which it is written out. */
  limitBytes: number,
) {
  const length = db.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)');
  const writeItOut = (mode: 'PASSIVE' | 'TRUNCATE'): Promise<boolean> =>
    // A store that does not open any more has had its batches fail.
    disk.ask('writeOut', database, mode).catch(() => false);
  return {
    /** What the next batch must wait for, or `null`. Asking costs a microsecond. */
    tend() {
      const { log, checkpointed } = length.get() ?? { log: 0, checkpointed: 0 };
      // While a reader keeps the log from starting over, what was written out is not written again with each batch.
      return (log - checkpointed) * logFrameBytes > limitBytes ? writeItOut('PASSIVE') : null;
    },
    /** Moves all of the log into the database and empties it; whether it could. */
    empty: () => writeItOut('TRUNCATE'),
  };
}

export type LogKeeper = ReturnType<typeof createLogKeeper>;
