/**
 * Store time as the database saves it, for every process on the folder (P8), and as this process measures it.
 *
 * Saved time only moves forward, except for an operator's `setTime`, which increments `times_set`: a batch from a process
 * that has not seen that yet is judged by the time that was set, and saves nothing itself.
 */

import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../core/errors.ts';
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import { createStoreTime, leastTimeBy, type StoreTime, type TimeMark } from '../store-time.ts';
import type { BatchClock, BatchTime } from './decisions.ts';

export interface KeptTime {
  readonly mark: TimeMark;
  readonly timesSet: number;
}

interface TimeRow {
  seconds: UnixSeconds;
  boot_id: string | null;
  since_boot: number;
  disputed_since: UnixSeconds | null;
  disputed_ahead: number | null;
  times_set: number;
}

const selectTime = `
  SELECT seconds, boot_id, since_boot, disputed_since, disputed_ahead, times_set FROM store_time`;

const updateTime = `
  UPDATE store_time SET seconds = ?1, boot_id = ?2, since_boot = ?3, disputed_since = ?4, disputed_ahead = ?5,
    times_set = times_set + ?6 WHERE only_row = 1`;

export function createTimeReader(db: Database): () => KeptTime {
  const select = db.query<TimeRow, []>(selectTime);
  return () => {
    const row = select.get();
    if (row === null) throw new Error('the store has lost its time');
    const { disputed_since: since, disputed_ahead: aheadSeconds } = row;
    const dispute = since === null || aheadSeconds === null ? null : { since, aheadSeconds };
    const mark = { seconds: row.seconds, bootId: row.boot_id, sinceBoot: row.since_boot, dispute };
    return { mark, timesSet: row.times_set };
  };
}

export function createTimeWriter(db: Database): (mark: TimeMark, set: 0 | 1) => void {
  const update = db.query(updateTime);
  return ({ seconds, bootId, sinceBoot, dispute }, set) => {
    update.run(seconds, bootId, sinceBoot, dispute?.since ?? null, dispute?.aheadSeconds ?? null, set);
  };
}

/** Keeps the batch's time if it is later; the time to judge the batch by. */
export function createTimeKeeper(db: Database): (time: BatchTime) => UnixSeconds {
  const [read, write] = [createTimeReader(db), createTimeWriter(db)];
  return ({ now, sinceBoot, timesSet, mark }) => {
    const kept = read();
    if (kept.timesSet !== timesSet) {
      return kept.mark.seconds + Math.max(0, sinceBoot - kept.mark.sinceBoot);
    }
    const isLater = mark !== null && mark.seconds > kept.mark.seconds;
    if (isLater || (mark !== null && hasChanged(mark, kept.mark))) write(mark, 0);
    return Math.max(now, kept.mark.seconds);
  };
}

/** Another start of the machine, or a dispute that began or ended, at the same second. */
function hasChanged(mark: TimeMark, kept: TimeMark): boolean {
  if (mark.seconds < kept.seconds) return false;
  return mark.bootId !== kept.bootId || mark.dispute?.since !== kept.dispute?.since;
}

/** Reads alone move the kept time on as well, this often. */
const keepTimeSeconds = 10;

export interface SharedTime extends StoreTime {
  readonly ofBatch: BatchClock;
  /** How often it was set, as far as this process knows. */
  timesSet(): number;
  /** Looks at what is kept, now. */
  refresh(): void;
}

/** @param keep has the time of a batch kept */
export function createSharedTime(
  db: Database,
  clock: MachineClock,
  keep: () => Promise<unknown>,
): SharedTime {
  const readKept = createTimeReader(db);
  const first = readKept();
  const time = createStoreTime(clock, first.mark);
  let { timesSet } = first;
  let keptAt: UnixSeconds = first.mark.seconds;
  let lookedAt: UnixSeconds = -1;

  function refresh(): void {
    const kept = readKept();
    // By another process, since this start of the machine.
    const isProvenElsewhere =
      time.mark() === null && kept.mark.bootId !== null && kept.mark.bootId === clock.bootId;
    if (kept.timesSet !== timesSet || isProvenElsewhere) time.adopt(kept.mark);
    else time.raiseTo(leastTimeBy(kept.mark, clock));
    ({ timesSet } = kept);
    keptAt = kept.mark.seconds;
  }

  /** Once a second of the wall clock: it is one query, and a clock that was set is noticed at once. */
  function look(): void {
    const wall = clock.wall();
    if (wall === lookedAt) return;
    lookedAt = wall;
    try {
      refresh();
    } catch (cause) {
      throw new ServiceError('unavailable', 'The kept time could not be read.', { cause });
    }
    const mark = time.mark();
    if (mark === null || mark.seconds < keptAt + keepTimeSeconds) return;
    keptAt = mark.seconds;
    keep().catch(() => {});
  }

  const looking =
    <Args extends readonly unknown[], Result>(ask: (...args: Args) => Result) =>
    (...args: Args): Result => {
      look();
      return ask(...args);
    };

  return {
    ...time,
    now: looking(time.now),
    earliest: looking(time.earliest),
    isLive: looking(time.isLive),
    assertProven: looking(time.assertProven),
    maySweep: looking(time.maySweep),
    report: looking(time.report),
    refresh,
    timesSet: () => timesSet,
    ofBatch: {
      read: () => ({ now: time.now(), sinceBoot: clock.sinceBoot(), timesSet, mark: time.mark() }),
      raiseTo: time.raiseTo,
    },
  };
}
