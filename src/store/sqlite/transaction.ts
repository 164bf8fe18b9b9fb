/**
 * One batch as one transaction.
 *
 * Owns: the order of things between BEGIN and COMMIT. Invariants: every decision is judged at the later of the asker's
 * time and the persisted one (P8); a decision that fails alone is undone alone; answers exist only after COMMIT returned.
 */
import type { Database } from 'bun:sqlite';
import type { UnixSeconds } from '../../core/time.ts';
import type { WritingConnection } from './connection.ts';
import { isConstraint, messageOf } from './files.ts';
import { type ClaimFrame, type PutFrame, readFrames } from './frames.ts';
import { type Answer, type Ask, type Batch, type BatchAnswers, frameOutcome, wantsRoom } from './protocol.ts';

/** Commits the batch; without room, what only adds is refused. Throws when it could not: see `rollBack`. */
export function transact(connection: WritingConnection, batch: Batch, hasRoom: boolean): BatchAnswers {
  const { merge } = connection;
  connection.begin();
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

function claimAlone({ records }: WritingConnection, frame: ClaimFrame, now: UnixSeconds): number {
  if (frame.kind === 'withdrawn') return frameOutcome.withdrawn;
  return records.claim(now, frame) ? frameOutcome.done : frameOutcome.gone;
}

/** The new row's position, or `null` when it was refused. An INSERT that violates a constraint undoes itself and nothing else. */
function putAlone(connection: WritingConnection, frame: PutFrame): number | null {
  const { db, records } = connection;
  const { deliveryStaleAt, noticeDueAt, memoBox } = frame;
  if (deliveryStaleAt !== null || noticeDueAt !== null || memoBox !== null) return putRows(connection, frame);
  try {
    return records.put(frame);
  } catch (error) {
    if (!db.inTransaction || !isConstraint(error)) throw error;
    return null;
  }
}

/** Of several rows, the others are undone too. */
function putRows({ db, records }: WritingConnection, frame: PutFrame): number | null {
  const refuse = (): null => {
    records.forget();
    return null;
  };
  return undoneAlone(db, () => records.put(frame), refuse);
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
