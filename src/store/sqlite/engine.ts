/**
 * The one place that commits, and what it does when a commit fails.
 *
 * Owns: the writing connection and the ballast. Invariants: when a commit fails, its batch is of unknown outcome and
 * nothing of it is answered (P2); the connection is not believed again until it was reopened, the log written out and the
 * file checked, because after a failed fsync a later one can succeed without the data; a full disk, or a store that has
 * reached its limit, refuses new secrets and memos and nothing else (P23, P21); nothing is decided for longer than a second in files
 * that the folder no longer names (P5).
 */

import { openWritingConnection, type WritingConnection } from './connection.ts';
import {
  type Ballast,
  createBallast,
  isBusy,
  isFull,
  type OpenFiles,
  prepareFolder,
  rememberOpenFiles,
  type StoreFolder,
} from './files.ts';
import { type Batch, type BatchAnswers, wantsRoom } from './protocol.ts';
import type { ConnectionSettings } from './settings.ts';
import { createStorageMark, type HasRoom } from './sweep.ts';
import { rollBack, transact } from './transaction.ts';

export interface EngineOptions {
  readonly directory: string;
  readonly settings: ConnectionSettings;
  /** Twice the length at which the log is written out, so that the ballast's room always suffices for that. */
  readonly ballastBytes: number;
  /** What the database may hold before new secrets are refused; `null`: as much as the disk. */
  readonly maxStorageBytes: number | null;
}

/** Holds the connection that writes: one for each process, on the writer's thread. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #folder: StoreFolder;
  readonly #ballast: Ballast;
  readonly #hasRoom: HasRoom;
  readonly #files: OpenFiles;
  #connection: WritingConnection;
  #sound = true;

  constructor(options: EngineOptions, monotonicMs: () => number = () => performance.now()) {
    this.#options = options;
    this.#folder = prepareFolder(options.directory);
    this.#ballast = createBallast(this.#folder.ballast, options.ballastBytes);
    this.#hasRoom = createStorageMark(options.maxStorageBytes);
    this.#connection = this.#connect();
    this.#files = rememberOpenFiles(this.#folder, monotonicMs);
  }

  #connect(): WritingConnection {
    const { settings, ballastBytes } = this.#options;
    return openWritingConnection(this.#folder.database, settings, ballastBytes / 2);
  }

  /** Puts the ballast on the disk, so that the first secret need not wait for it. */
  prepare(): void {
    this.#ballast.held();
  }

  /** Whether the connection may be used; after a throw of `run` it may not, until `recover` returns true. */
  isSound(): boolean {
    return this.#sound;
  }

  /** Commits a batch. Throws when its outcome is unknown. */
  run(batch: Batch): BatchAnswers {
    try {
      this.#files.assertInPlace(batch.asks.some(({ name }) => name === 'sweep' || name === 'scrub'));
      const { log } = this.#connection;
      const scrubs = batch.asks.filter((ask) => ask.name === 'scrub').length;
      const onlyScrubs = batch.frameCount === 0 && scrubs === batch.asks.length;
      const result = onlyScrubs ? this.#nothingDecided(batch) : this.#transactWithRoom(batch);
      log.tend(batch.frameCount + batch.asks.length);
      return scrubs === 0 ? result : withScrub(batch, result, log.writeOut('TRUNCATE'));
    } catch (error) {
      // Another process held the lock for too long: nothing was begun, and nothing is wrong with the connection.
      this.#sound = isBusy(error) && !this.#connection.db.inTransaction;
      throw error;
    }
  }

  #nothingDecided(batch: Batch): BatchAnswers {
    return {
      now: batch.time.now,
      frameOutcomes: new Uint8Array(0),
      answers: batch.asks.map(() => ({ answer: false })),
      firstPosition: 0,
      indexedUpto: this.#connection.merge.upto(),
    };
  }

  #transactWithRoom(batch: Batch): BatchAnswers {
    try {
      return transact(this.#connection, batch, this.#roomFor(batch));
    } catch (error) {
      if (!isFull(error, this.#ballast.diskIsFull)) throw error;
      return this.#transactOnFullDisk(batch);
    }
  }

  #roomFor(batch: Batch): boolean {
    const hasRoom = this.#hasRoom(this.#connection.db, batch);
    const isNeeded = batch.frameCount > 0 || batch.asks.some(wantsRoom);
    return !isNeeded || (hasRoom && this.#ballast.held());
  }

  /**
   * A full disk fails the commit before its last frame is written, and the roll-back takes the rest out of the log, so
   * the batch may run again: first in the room that the log gives back, then, without the puts, in the ballast's.
   */
  #transactOnFullDisk(batch: Batch): BatchAnswers {
    this.#makeRoom();
    try {
      return transact(this.#connection, batch, this.#roomFor(batch));
    } catch (error) {
      if (!isFull(error, this.#ballast.diskIsFull)) throw error;
      this.#ballast.release();
      this.#makeRoom();
      return transact(this.#connection, batch, false);
    }
  }

  #makeRoom(): void {
    rollBack(this.#connection);
    this.#connection.log.writeOut('TRUNCATE');
  }

  /** Opens the database anew and checks it; whether it may be used again. Another file is never opened in its place. */
  recover(): boolean {
    try {
      if (!this.#files.areInPlace()) return false;
      this.#connection.db.close();
      this.#connection = this.#connect();
      if (!this.#files.areInPlace()) return false;
      // Writes every frame anew, so that nothing rests on pages that a failed fsync may have dropped.
      if (!this.#connection.log.writeOut('TRUNCATE')) return false;
      const verdict = this.#connection.db.query('PRAGMA quick_check(1)').values()[0]?.[0];
      this.#sound = verdict === 'ok';
    } catch {
      this.#sound = false;
    }
    return this.#sound;
  }

  /** With the index complete, the next start has nothing to catch up with. */
  close(): void {
    try {
      if (this.#sound) this.#connection.merge.finish();
    } catch {
      // No room, or another process at work: the rows stay to be merged.
      rollBack(this.#connection);
    }
    this.#connection.log.writeOut('TRUNCATE');
    this.#connection.db.close();
  }
}

function withScrub(batch: Batch, result: BatchAnswers, emptied: boolean): BatchAnswers {
  const answers = result.answers.map((each, n) =>
    batch.asks[n]?.name === 'scrub' ? { answer: emptied } : each,
  );
  return { ...result, answers };
}
