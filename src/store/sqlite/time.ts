/**
 * Store time as saved in the database, for every process on the folder (P8). It only moves forward, except for an
 * operator's `setTime`, which increments `times_set`: a batch from a process that has not seen the new count yet is judged by
 * the time that was set, and saves no time.
 */

import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../core/errors.ts';
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import { createStoreTime, leastTimeBy, type StoreTime, type TimeAnchor } from '../store-time.ts';
import type { BatchClock, BatchTime } from './decisions.ts';

export interface KeptTime {
  readonly anchor: TimeAnchor;
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
    const anchor = { seconds: row.seconds, bootId: row.boot_id, sinceBoot: row.since_boot, dispute };
    return { anchor, timesSet: row.times_set };
  };
}

export function createTimeWriter(db: Database): (anchor: TimeAnchor, set: 0 | 1) => void {
  const update = db.query(updateTime);
  return ({ seconds, bootId, sinceBoot, dispute }, set) => {
    update.run(seconds, bootId, sinceBoot, dispute?.since ?? null, dispute?.aheadSeconds ?? null, set);
  };
}

/** Returns the time to judge the batch by. */
export function createTimeKeeper(db: Database): (time: BatchTime) => UnixSeconds {
  const [read, write] = [createTimeReader(db), createTimeWriter(db)];
  return ({ now, sinceBoot, timesSet, anchor }) => {
    const kept = read();
    if (kept.timesSet !== timesSet) {
      return kept.anchor.seconds + Math.max(0, sinceBoot - kept.anchor.sinceBoot);
    }
    const isLater = anchor !== null && anchor.seconds > kept.anchor.seconds;
    if (isLater || (anchor !== null && hasChanged(anchor, kept.anchor))) write(anchor, 0);
    return Math.max(now, kept.anchor.seconds);
  };
}

/** Checks for a reboot, or a dispute that began or ended, within the same second. */
function hasChanged(anchor: TimeAnchor, kept: TimeAnchor): boolean {
  if (anchor.seconds < kept.seconds) return false;
  return anchor.bootId !== kept.bootId || anchor.dispute?.since !== kept.dispute?.since;
}

/** The saved time advances this often even if there are only reads. */
const keepTimeSeconds = 10;

export interface SharedTime extends StoreTime {
  readonly ofBatch: BatchClock;
  timesSet(): number;
  refresh(): void;
}

export function createSharedTime(
  db: Database,
  clock: MachineClock,
  keep: () => Promise<unknown>,
): SharedTime {
  const readKept = createTimeReader(db);
  const first = readKept();
  const time = createStoreTime(clock, first.anchor);
  let { timesSet } = first;
  let keptAt: UnixSeconds = first.anchor.seconds;
  let checkedAt: UnixSeconds = -1;

  function refresh(): void {
    const kept = readKept();
    const isProvenElsewhere =
      time.anchor() === null && kept.anchor.bootId !== null && kept.anchor.bootId === clock.bootId;
    if (kept.timesSet !== timesSet || isProvenElsewhere) time.adopt(kept.anchor);
    else time.raiseTo(leastTimeBy(kept.anchor, clock));
    ({ timesSet } = kept);
    keptAt = kept.anchor.seconds;
  }

  /** Runs once per second of the wall clock: it is one query, and notices immediately when an operator sets the time. */
  function check(): void {
    const wall = clock.wall();
    if (wall === checkedAt) return;
    checkedAt = wall;
    try {
      refresh();
    } catch (cause) {
      throw new ServiceError('unavailable', 'The kept time could not be read.', { cause });
    }
    const anchor = time.anchor();
    if (anchor === null || anchor.seconds < keptAt + keepTimeSeconds) return;
    keptAt = anchor.seconds;
    keep().catch(() => {});
  }

  const checked =
    <Args extends readonly unknown[], Result>(ask: (...args: Args) => Result) =>
    (...args: Args): Result => {
      check();
      return ask(...args);
    };

  return {
    ...time,
    now: checked(time.now),
    earliest: checked(time.earliest),
    isLive: checked(time.isLive),
    assertProven: checked(time.assertProven),
    maySweep: checked(time.maySweep),
    report: checked(time.report),
    refresh,
    timesSet: () => timesSet,
    ofBatch: {
      read: () => ({ now: time.now(), sinceBoot: clock.sinceBoot(), timesSet, anchor: time.anchor() }),
      raiseTo: time.raiseTo,
    },
  };
}
