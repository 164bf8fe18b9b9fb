/**
 * The one place that commits: a batch as one transaction on the writing connection, and what happens when a commit fails.
 *
 * Every decision is judged at the later of the asker's time and the saved one (P8). A decision that fails alone is undone alone.
 * Answers exist only after COMMIT returned. When a commit fails, its batch has an unknown outcome and none of it is answered (P2); the
 * connection is not trusted again until it was reopened, the log written out and the file checked, because after a failed fsync
 * a later one can succeed without the data. A full disk, or a store at its limit, refuses new secrets and memos and nothing else
 * (P23, P21). Nothing is decided for more than a second in files that the folder no longer names (P5).
 */
import type { Database } from 'bun:sqlite';
import type { UnixSeconds } from '../../core/time.ts';
import { createAccountDeletion, createAccountWrites } from './accounts.ts';
import { createAttemptWrites } from './attempts.ts';
import { createCreationWrites, createHeldPut, type PutHeld } from './creations.ts';
import { type ConnectionSettings, isMarked, openConnection } from './database.ts';
import { createDomainWrites } from './domains.ts';
import { createEpochWrites } from './epochs.ts';
import {
  type Ballast,
  createBallast,
  FilesMoved,
  isBusy,
  isConstraint,
  isFull,
  messageOf,
  type OpenFiles,
  prepareFolder,
  rememberOpenFiles,
  type StoreFolder,
} from './files.ts';
import { type ClaimFrame, type PutFrame, readFrames } from './frames.ts';
import { IndexMerge } from './index-merge.ts';
import { createLookWrites, type LookWrites } from './looks.ts';
import {
  type Answer,
  type Ask,
  type Batch,
  type BatchAnswers,
  type BatchTime,
  type Decisions,
  frameOutcome,
  type OpenRequest,
  wantsRoom,
} from './protocol.ts';
import { createRecordWrites, type RecordWrites } from './records.ts';
import { createRootWrites } from './roots.ts';
import { createPasswordWrites, createSessionWrites } from './sessions.ts';
import { createLogKeeper, createStorageMark, createSweep, type HasRoom, type LogKeeper } from './sweep.ts';
import { createTimeKeeper, createTimeSetter } from './time.ts';

export interface WritingConnection {
  readonly db: Database;
  readonly records: RecordWrites;
  readonly putHeld: PutHeld;
  readonly looks: LookWrites;
  readonly merge: IndexMerge;
  readonly log: LogKeeper;
  readonly begin: () => void;
  readonly commit: () => void;
  /** Keeps the batch's time if it is later than what is kept; the time to judge the batch by. */
  readonly keepTime: (time: BatchTime) => UnixSeconds;
  readonly decide: (now: UnixSeconds, ask: Ask) => unknown;
}

/** The decision of that name, with its arguments, at store time. */
type Decide = (now: UnixSeconds, ...args: readonly unknown[]) => unknown;

export function openWritingConnection(
  database: string,
  settings: ConnectionSettings,
  logLimitBytes: number,
): WritingConnection {
  const db = openConnection(database, settings, 'store');
  const [records, looks] = [createRecordWrites(db), createLookWrites(db)];
  const [begin, commit] = [db.query('BEGIN IMMEDIATE'), db.query('COMMIT')];
  return {
    db,
    records,
    putHeld: createHeldPut(db),
    looks,
    merge: new IndexMerge(db),
    log: createLogKeeper(db, logLimitBytes),
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    keepTime: createTimeKeeper(db),
    decide: createDecide(db, records, looks),
  };
}

function createDecide(db: Database, records: RecordWrites, looks: LookWrites): WritingConnection['decide'] {
  const sweep = createSweep(db);
  const decisions: Record<keyof Decisions, (now: UnixSeconds, ...args: never[]) => unknown> = {
    burn: records.burn,
    burnFound: records.burnFound,
    burnAll: records.burnAll,
    markViewed: records.markViewed,
    setExpiry: records.setExpiry,
    replaceWrapping: records.replaceWrapping,
    setMemo: records.setMemo,
    queueDelivery: records.queueDelivery,
    setDelivery: records.setDelivery,
    takeDueNotices: records.takeDueNotices,
    takeAnswer: looks.takeAnswer,
    endLook: looks.endLook,
    ...createAttemptWrites(db),
    ...createAccountWrites(db),
    ...createPasswordWrites(db),
    ...createSessionWrites(db),
    ...createAccountDeletion(db),
    ...createDomainWrites(db),
    ...createRootWrites(db),
    ...createCreationWrites(db),
    ...createEpochWrites(db),
    sweep,
    keepTime: () => undefined,
    // A batch without room never asks it.
    assertRoom: () => undefined,
    setTime: createTimeSetter(db, sweep),
    withdrawn: () => 'abandoned',
  };
  return (now, ask) => (decisions[ask.name as keyof Decisions] as Decide)(now, ...ask.args);
}

/** Commits the batch; without room, what only adds is refused. Throws when it could not: see `rollBack`. */
export function transact(connection: WritingConnection, batch: Batch, hasRoom: boolean): BatchAnswers {
  const { merge } = connection;
  connection.begin();
  // Another process may have closed it, to move it (see moving.ts): then nothing is decided here any more.
  if (!isMarked(connection.db, 'store')) throw new FilesMoved('the store was closed by a move');
  const now = connection.keepTime(batch.time);
  const { outcomes, puts, lastPosition } = runFrames(connection, batch, now, hasRoom);
  const answers = batch.asks.map((ask): Answer => {
    if (ask.name === 'scrub') return { answer: false };
    return wantsRoom(ask) && !hasRoom ? { full: true } : decideAlone(connection, now, ask);
  });
  if (puts > 0) merge.step(puts, lastPosition);
  connection.commit();
  merge.settled(true);
  const firstPosition = puts === 0 ? 0 : lastPosition - puts + 1;
  return { now, frameOutcomes: outcomes, answers, firstPosition, indexedUpto: merge.upto() };
}

/** Undoes what is left of a transaction that failed, in the database and in memory. */
export function rollBack(connection: WritingConnection): void {
  connection.records.forget();
  connection.merge.settled(false);
  if (connection.db.inTransaction) connection.db.run('ROLLBACK');
}

interface FrameResults {
  readonly outcomes: Uint8Array;
  readonly puts: number;
  /** Of the last row stored; 0 when none was. */
  readonly lastPosition: number;
}

function runFrames(
  connection: WritingConnection,
  batch: Batch,
  now: UnixSeconds,
  hasRoom: boolean,
): FrameResults {
  const outcomes = new Uint8Array(batch.frameCount);
  let [index, puts, lastPosition] = [0, 0, 0];
  for (const frame of readFrames(batch.frames, batch.frameCount)) {
    if (frame.kind !== 'put') {
      outcomes[index] = claimAlone(connection, frame, now);
    } else if (hasRoom) {
      const position = putAlone(connection, frame);
      outcomes[index] = position === null ? frameOutcome.refused : frameOutcome.done;
      if (position !== null) [puts, lastPosition] = [puts + 1, position];
    } else outcomes[index] = frameOutcome.full;
    index += 1;
  }
  return { outcomes, puts, lastPosition };
}

function claimAlone({ records, looks }: WritingConnection, frame: ClaimFrame, now: UnixSeconds): number {
  if (frame.kind === 'withdrawn') return frameOutcome.withdrawn;
  if (frame.look !== undefined) {
    const outcome = looks.claim(now, frame, frame.look);
    if (outcome === 'done') records.noteRoot(frame.look.sealedLook, frame.look.until);
    return frameOutcome[outcome];
  }
  return records.claim(now, frame) ? frameOutcome.done : frameOutcome.gone;
}

/** The new row's position, or `null` when it was refused. An INSERT that violates a constraint undoes itself and nothing else. */
function putAlone(connection: WritingConnection, frame: PutFrame): number | null {
  const { db, records } = connection;
  const { deliveryStaleAt, noticeDueAt, memoBox, hold } = frame;
  const isOneRow = deliveryStaleAt === null && noticeDueAt === null && memoBox === null && hold === null;
  if (!isOneRow) return putRows(connection, frame);
  try {
    return records.put(frame);
  } catch (error) {
    if (!db.inTransaction || !isConstraint(error)) throw error;
    return null;
  }
}

/** Of several rows, the others are undone too. */
function putRows({ db, records, putHeld }: WritingConnection, frame: PutFrame): number | null {
  const { hold } = frame;
  const put = () => records.put(frame);
  const refuse = (): null => {
    records.forget();
    return null;
  };
  return undoneAlone(db, hold === null ? put : () => putHeld(hold, put), refuse);
}

function decideAlone({ db, decide }: WritingConnection, now: UnixSeconds, ask: Ask): Answer {
  return undoneAlone<Answer>(
    db,
    () => ({ answer: decide(now, ask) }),
    (error) => ({ refused: messageOf(error) }),
  );
}

/** Runs one decision so that its failure undoes it alone. */
function undoneAlone<Result>(db: Database, decide: () => Result, refuse: (error: unknown) => Result): Result {
  db.run('SAVEPOINT decision');
  try {
    const result = decide();
    db.run('RELEASE decision');
    return result;
  } catch (error) {
    // SQLite has given up the transaction: the batch is lost, not only this decision.
    if (!db.inTransaction || !isConstraint(error)) throw error;
    db.run('ROLLBACK TO decision');
    db.run('RELEASE decision');
    return refuse(error);
  }
}

/** Holds the connection that writes: one for each process, on the writer's thread. */
export class Engine {
  readonly #options: OpenRequest;
  readonly #folder: StoreFolder;
  readonly #ballast: Ballast;
  readonly #hasRoom: HasRoom;
  readonly #files: OpenFiles;
  #connection: WritingConnection;
  #sound = true;

  constructor(options: OpenRequest, monotonicMs: () => number = () => performance.now()) {
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
      log.tend();
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
