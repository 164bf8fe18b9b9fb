/**
 * The only place that commits decisions.
 *
 * Every decision is judged at the later of the caller's time and the saved one (P8). If a single decision fails, only
 * that one is undone. A full disk, or a store at its limit, refuses only new secrets and memos (P23, P21). When other files
 * replace the folder's, decisions on the old ones stop within a second (P5). A committed batch is not on disk yet: see
 * commit-queue.ts.
 */
import type { Database } from 'bun:sqlite';
import type { NewAnswer } from '../../core/request.ts';
import type { NewRecord } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { createAccountWrites } from './accounts.ts';
import { createAttemptWrites } from './attempts.ts';
import { createClaimWrites } from './claims.ts';
import { createTimeSetter } from './clock.ts';
import { createCodeWrites } from './codes.ts';
import { createCreationWrites, createHeldPut } from './creations.ts';
import {
  type Answer,
  type Ask,
  type Batch,
  type BatchAnswers,
  type BatchTime,
  type Decisions,
  type LocatedClaim,
  wantsRoom,
} from './decisions.ts';
import { createAccountDeletion } from './deletion.ts';
import type { Disk } from './disk.ts';
import { createDomainWrites } from './domains.ts';
import { createEpochWrites } from './epochs.ts';
import {
  FilesMoved,
  isBallastHeld,
  isBusy,
  isConstraint,
  isDiskFull,
  isFull,
  messageOf,
  type OpenFiles,
  rememberOpenFiles,
  type StoreFolder,
} from './files.ts';
import { IndexMerge } from './index-merge.ts';
import { hintOf, type Locator } from './locator.ts';
import type { IsStore, LogKeeper } from './log.ts';
import { createLookWrites } from './looks.ts';
import { createMailWrites } from './mail.ts';
import { createPasswordWrites } from './passwords.ts';
import { createReceiptWrites } from './receipts.ts';
import { createRequestWrites } from './requests.ts';
import { createRootUses, createRootWrites } from './roots.ts';
import { createSecretWrites } from './secrets.ts';
import { createSessionWrites } from './sessions.ts';
import { createStorageLimit, createSweep, type HasRoom } from './sweep.ts';
import { createTicketWrites } from './tickets.ts';
import { createTimeKeeper } from './time.ts';
import { createTokenWrites } from './tokens.ts';

export interface Writes {
  readonly db: Database;
  readonly merge: IndexMerge;
  readonly begin: () => void;
  readonly commit: () => void;
  /** Saves the batch's time if it is later than the saved one; returns the time to judge the batch by. */
  readonly keepTime: (time: BatchTime) => UnixSeconds;
  readonly decide: (now: UnixSeconds, ask: Ask) => unknown;
  /** Discards everything that a rolled-back transaction left in memory. */
  readonly forget: () => void;
}

type Decide = (now: UnixSeconds, ...args: readonly unknown[]) => unknown;

export function createWrites(db: Database): Writes {
  const roots = createRootUses(db);
  const { put, setExpiry } = createSecretWrites(db, roots);
  const { markViewed, setMemo } = createReceiptWrites(db);
  const { queueDelivery, setDelivery, takeDueNotices } = createMailWrites(db);
  const [putHeld, sweep] = [createHeldPut(db), createSweep(db)];
  const decisions: Record<keyof Decisions, (now: UnixSeconds, ...args: never[]) => unknown> = {
    put: (_now, record: NewRecord) =>
      record.hold === null ? put(record) : putHeld(record.hold, () => put(record)),
    setExpiry,
    markViewed,
    setMemo,
    queueDelivery,
    setDelivery,
    takeDueNotices,
    ...createClaimWrites(db, roots),
    ...createLookWrites(db),
    ...createAttemptWrites(db),
    ...createCodeWrites(db),
    ...createAccountWrites(db),
    ...createTokenWrites(db),
    ...createTicketWrites(db),
    ...createPasswordWrites(db),
    ...createSessionWrites(db),
    ...createAccountDeletion(db),
    ...createDomainWrites(db),
    ...createRootWrites(db, roots),
    ...createCreationWrites(db),
    ...createRequestWrites(db, put),
    ...createEpochWrites(db),
    sweep,
    keepTime: () => undefined,
    // A batch without room never gets here.
    assertRoom: () => undefined,
    setTime: createTimeSetter(db, sweep),
    withdrawn: () => 'abandoned',
  };
  const [begin, commit] = [db.query('BEGIN IMMEDIATE'), db.query('COMMIT')];
  return {
    db,
    merge: new IndexMerge(db),
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    keepTime: createTimeKeeper(db),
    decide: (now, ask) => (decisions[ask.name as keyof Decisions] as Decide)(now, ...ask.args),
    forget: roots.forget,
  };
}

/** Without room, refuses decisions that only add data. If it throws, nothing of the batch remains. */
export function transact(writes: Writes, batch: Batch, hasRoom: boolean, isStore: IsStore): BatchAnswers {
  writes.begin();
  try {
    return decideAll(writes, batch, hasRoom, isStore);
  } catch (error) {
    rollBack(writes);
    throw error;
  }
}

function decideAll(writes: Writes, batch: Batch, hasRoom: boolean, isStore: IsStore): BatchAnswers {
  const { merge } = writes;
  // Another process may have closed the store to move it (see moving.ts).
  if (!isStore()) throw new FilesMoved('the store was closed by a move');
  const now = writes.keepTime(batch.time);
  let [puts, lastPosition] = [0, 0];
  const answers = batch.asks.map((ask): Answer => {
    if (ask.name === 'scrub') return { answer: false };
    if (wantsRoom(ask) && !hasRoom) return { full: true };
    const answer = decideAlone(writes, now, ask);
    const stored = storedIn(ask, answer);
    if (stored !== null) [puts, lastPosition] = [puts + 1, stored.position];
    return answer;
  });
  if (puts > 0) merge.step(puts, lastPosition);
  writes.commit();
  merge.settled(true);
  return { now, answers };
}

function rollBack({ db, merge, forget }: Writes): void {
  forget();
  merge.settled(false);
  if (db.inTransaction) db.run('ROLLBACK');
}

/** Returns a new record and its position. */
function storedIn({ name, args: [first] }: Ask, answer: Answer): Stored | null {
  if ((name !== 'put' && name !== 'putAnswer') || !('answer' in answer)) return null;
  if (name === 'put')
    return answer.answer === null ? null : { record: first as NewRecord, position: answer.answer as number };
  const { position = null } = answer.answer as { position?: number };
  return position === null ? null : { record: (first as NewAnswer).record, position };
}

interface Stored {
  readonly record: NewRecord;
  readonly position: number;
}

/** Returns whether the decision is a single statement, which SQLite undoes by itself if it fails. */
function isOneStatement({ name, args: [first] }: Ask): boolean {
  if (name === 'claim') return (first as LocatedClaim).look === undefined;
  if (name !== 'put') return false;
  const { deliveryStaleAt, noticeDueAt, memoBox, hold } = first as NewRecord;
  return deliveryStaleAt === null && noticeDueAt === null && memoBox === null && hold === null;
}

function decideAlone({ db, decide, forget }: Writes, now: UnixSeconds, ask: Ask): Answer {
  const isAlone = isOneStatement(ask);
  if (!isAlone) db.run('SAVEPOINT decision');
  try {
    const answer = decide(now, ask);
    if (!isAlone) db.run('RELEASE decision');
    return { answer };
  } catch (error) {
    // SQLite has ended the transaction, or the decision is not at fault: the whole batch is lost.
    if (!db.inTransaction || !isConstraint(error)) throw error;
    if (!isAlone) {
      db.run('ROLLBACK TO decision');
      db.run('RELEASE decision');
      forget();
    }
    return { refused: messageOf(error) };
  }
}

const lockPatienceMs = 5_000;
const lockPauseMs = 5;

export interface EngineParts {
  readonly db: Database;
  readonly folder: StoreFolder;
  readonly locator: Locator;
  readonly isStore: IsStore;
  readonly keeper: LogKeeper;
  readonly disk: Pick<Disk, 'ask'>;
  readonly changed: () => void;
  /** Twice the length at which the log is checkpointed, so that the ballast always makes enough room for a checkpoint. */
  readonly ballastBytes: number;
  /** New secrets are refused once the store has this size; `null`: only the disk sets a limit. */
  readonly maxStorageBytes: number | null;
}

export class Engine {
  readonly #parts: EngineParts;
  readonly #writes: Writes;
  readonly #hasRoom: HasRoom;
  readonly #files: OpenFiles;
  #isBallastHeld: boolean;

  constructor(parts: EngineParts, monotonicMs: () => number = () => performance.now()) {
    const { db, folder, ballastBytes, maxStorageBytes } = parts;
    this.#parts = parts;
    this.#writes = createWrites(db);
    this.#hasRoom = createStorageLimit(maxStorageBytes);
    this.#files = rememberOpenFiles(folder, monotonicMs);
    this.#isBallastHeld = isBallastHeld(folder.ballast, ballastBytes);
    // Started here, so that the first secret need not wait. Without room, that secret is refused.
    if (!this.#isBallastHeld) this.#holdBallast().catch(() => {});
  }

  areFilesInPlace(): boolean {
    return this.#files.areInPlace();
  }

  /**
   * If it rejects, nothing of the batch is visible. An `isBusy` error means only that another process held the lock for
   * too long.
   */
  async run(batch: Batch): Promise<BatchAnswers> {
    this.#files.assertInPlace(batch.asks.some(({ name }) => name === 'sweep' || name === 'scrub'));
    const isScrubbed = batch.asks.some(({ name }) => name === 'scrub');
    const isOnlyScrub = isScrubbed && batch.asks.every(({ name }) => name === 'scrub');
    const result = isOnlyScrub ? nothingDecided(batch) : await this.#transactWithRoom(batch);
    this.#takeIn(batch, result);
    return isScrubbed ? withScrub(batch, result, await this.#parts.keeper.empty()) : result;
  }

  /** Records where new rows are, before any caller learns that they exist. */
  #takeIn({ asks }: Batch, { answers }: BatchAnswers): void {
    const { locator } = this.#parts;
    for (const [n, ask] of asks.entries()) {
      const stored = storedIn(ask, answers[n] as Answer);
      if (stored !== null) locator.stored(stored.position, rowOf(stored.record));
    }
    locator.indexed(this.#writes.merge.upto());
  }

  async #transactWithRoom(batch: Batch): Promise<BatchAnswers> {
    try {
      return await this.#transact(batch, await this.#roomFor(batch));
    } catch (error) {
      if (!this.#isFull(error)) throw error;
      return this.#transactOnFullDisk(batch);
    }
  }

  async #transact(batch: Batch, hasRoom: boolean): Promise<BatchAnswers> {
    const endMs = performance.now() + lockPatienceMs;
    for (;;) {
      try {
        const result = transact(this.#writes, batch, hasRoom, this.#parts.isStore);
        this.#parts.changed();
        return result;
      } catch (error) {
        if (!isBusy(error) || performance.now() > endMs) throw error;
      }
      await Bun.sleep(lockPauseMs);
    }
  }

  #isFull(error: unknown): boolean {
    return isFull(error, () => isDiskFull(this.#parts.folder.database));
  }

  async #roomFor(batch: Batch): Promise<boolean> {
    const hasRoom = this.#hasRoom(this.#writes.db, batch);
    if (!batch.asks.some(wantsRoom)) return true;
    return hasRoom && (this.#isBallastHeld || (await this.#holdBallast()));
  }

  async #holdBallast(): Promise<boolean> {
    const { disk, folder, ballastBytes } = this.#parts;
    this.#isBallastHeld = await disk.ask('holdBallast', folder.ballast, ballastBytes);
    return this.#isBallastHeld;
  }

  /**
   * On a full disk, the commit fails before its last frame is written, and the rollback removes the rest from the log,
   * so the batch may run again: first in the space that the log gives back, then in the ballast's space, leaving
   * out decisions that only add data.
   */
  async #transactOnFullDisk(batch: Batch): Promise<BatchAnswers> {
    const { disk, folder, keeper } = this.#parts;
    await keeper.empty();
    try {
      return await this.#transact(batch, await this.#roomFor(batch));
    } catch (error) {
      if (!this.#isFull(error)) throw error;
      this.#isBallastHeld = false;
      await disk.ask('giveUpBallast', folder.ballast);
      await keeper.empty();
      return this.#transact(batch, false);
    }
  }

  /** Merges all rows, so that the next start has nothing to catch up on. */
  finish(): void {
    try {
      this.#writes.merge.finish();
    } catch {
      // There is no room, or another process is writing: the rows are merged later.
      rollBack(this.#writes);
    }
  }
}

const rowOf = ({ secretId, receiptId, owner }: NewRecord) => ({
  secretHint: hintOf(secretId),
  receiptHint: hintOf(receiptId),
  owner,
});

const nothingDecided = ({ time, asks }: Batch): BatchAnswers => ({
  now: time.now,
  answers: asks.map(() => ({ answer: false })),
});

function withScrub({ asks }: Batch, { now, answers }: BatchAnswers, isEmptied: boolean): BatchAnswers {
  const answersWith = answers.map((each, n) => (asks[n]?.name === 'scrub' ? { answer: isEmptied } : each));
  return { now, answers: answersWith };
}
