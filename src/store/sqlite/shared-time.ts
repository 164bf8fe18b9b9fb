/**
 * Store time on the event loop: what this process measures, what the processes on the folder have kept, and that what this
 * one says is kept soon.
 */
import type { Database } from 'bun:sqlite';
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import { createStoreTime, leastTimeBy, type StoreTime } from '../store-time.ts';
import type { BatchClock } from './commit-queue.ts';
import { createTimeReader } from './kept-time.ts';

/** Reads alone move the kept time on as well, this often. */
const keepTimeSeconds = 10;

export interface SharedTime extends StoreTime {
  readonly ofBatch: BatchClock;
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
    refresh();
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
    ofBatch: {
      read: () => ({ now: time.now(), sinceBoot: clock.sinceBoot(), timesSet, mark: time.mark() }),
      raiseTo: time.raiseTo,
    },
  };
}
