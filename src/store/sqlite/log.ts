/**
 * The write-ahead log. The event loop commits without a sync, so what its connection shows might not survive a power
 * loss. No result is released before the end of a sync that began later (P2). Source: https://www.sqlite.org/wal.html
 */
import type { Database } from 'bun:sqlite';
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isFileKind, within } from './database.ts';
import type { Disk } from './disk.ts';

/** How long a reader may delay a checkpoint, and commits with it. */
const readerWaitMilliseconds = 50;

/** Returns whether the whole log was moved into the database. Source: https://www.sqlite.org/wal.html */
export function writeOut(db: Database, mode: 'PASSIVE' | 'TRUNCATE'): boolean {
  try {
    db.run(`PRAGMA busy_timeout = ${readerWaitMilliseconds}`);
    const row = db.query<{ busy: number; log: number; checkpointed: number }, []>(
      `PRAGMA wal_checkpoint(${mode})`,
    );
    const { busy, log, checkpointed } = row.get() ?? { busy: 1, log: 0, checkpointed: 0 };
    return busy === 0 && log === checkpointed;
  } catch {
    // The log is unchanged: nothing is lost.
    return false;
  }
}

/**
 * Rewrites the log, because a failed sync may have dropped pages that count as written. With such a gap, a power cut during a checkpoint
 * would leave older pages of the database among newer ones.
 */
export function writeAnew(db: Database, log: string): void {
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

/** Makes the log's first commit ahead of time: it syncs the log's header, which would later block the event loop. */
export function beginLog(db: Database): void {
  try {
    // SQLite does not commit a transaction that changes nothing, but it commits this one, even if the number is the same.
    within(db, () => {
      const [[version] = []] = db.query('PRAGMA user_version').values();
      db.run(`PRAGMA user_version = ${version}`);
    });
  } catch {
    // Another process is writing, or the disk is full: a commit on the event loop will begin the log.
  }
}

/** Tracks what is visible and what is on disk, counted in changes. */
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

  changed(): void {
    this.#seen += 1;
  }

  /**
   * Resolves once everything visible now is on disk; returns `null` if it already is. After a failed sync, rejects until `recovered`: a
   * later sync may succeed without the data.
   */
  settled(): Promise<void> | null {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#safe === this.#seen) return null;
    if (this.#running === null) return this.#begin();
    // A sync that began earlier may not cover the latest changes.
    if (this.#running.upto === this.#seen) return this.#running.ended;
    this.#next ??= this.#running.ended.then(() => {
      this.#next = null;
      return this.settled() ?? undefined;
    });
    return this.#next;
  }

  /** Notes that everything visible at this count has been rewritten. */
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

/**
 * Returns whether the file is still a store; `false` if a move has closed it (see moving.ts). Call it within a
 * transaction.
 */
export type IsStore = () => boolean;

/** Watches for commits by other connections: only our own sync proves that these are on disk. */
export function watchOthers(db: Database, onChange: () => void): IsStore {
  const version = db.query('PRAGMA data_version');
  let seen: unknown = null;
  let isStore = true;
  return () => {
    const now = version.values()[0]?.[0];
    if (now === seen) return isStore;
    onChange();
    isStore = isFileKind(db, 'store');
    seen = now;
    return isStore;
  };
}

/** A page in the log, with its header. */
const logFrameBytes = 4_096 + 24;

/**
 * Checkpoints the log before it outgrows the ballast, never in the middle of a commit (P10). No commit happens during a
 * checkpoint: SQLite counts checkpointed pages as moved even if more commits make it sync the database only at a later
 * checkpoint, and it would not rewrite pages that a failed sync then drops.
 */
export function createLogKeeper(db: Database, disk: Pick<Disk, 'ask'>, database: string, limitBytes: number) {
  const length = db.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)');
  const writeItOut = (mode: 'PASSIVE' | 'TRUNCATE'): Promise<boolean> =>
    disk.ask('writeOut', database, mode).catch(() => false);
  return {
    /** A call costs a microsecond. */
    tend() {
      const { log, checkpointed } = length.get() ?? { log: 0, checkpointed: 0 };
      // Avoids a checkpoint with every batch while a reader keeps the log from starting over.
      return (log - checkpointed) * logFrameBytes > limitBytes ? writeItOut('PASSIVE') : null;
    },
    empty: () => writeItOut('TRUNCATE'),
  };
}

export type LogKeeper = ReturnType<typeof createLogKeeper>;
