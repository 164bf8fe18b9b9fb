/** Clocks of test machines; `createSettableClock` makes one that a test can move. */
import type { Clock, MachineClock, UnixSeconds } from '../../src/core/time.ts';
import type { BatchTime } from '../../src/store/sqlite/decisions.ts';

/** Both of its clocks follow `read`, so they never disagree. */
export function steadyClock(read: Clock): MachineClock {
  return { wall: read, sinceBoot: read, bootId: null };
}

/** All clocks one second behind another machine's: a seeded defect. */
export function slowClock({ wall, sinceBoot, bootId }: MachineClock): MachineClock {
  return { wall: () => wall() - 1, sinceBoot: () => sinceBoot() - 1, bootId };
}

/** The time of a batch at `now`, on a machine that has just started. */
export function batchTimeAt(now: UnixSeconds): BatchTime {
  return {
    now,
    sinceBoot: 0,
    timesSet: 0,
    anchor: { seconds: now, bootId: null, sinceBoot: 0, dispute: null },
  };
}
