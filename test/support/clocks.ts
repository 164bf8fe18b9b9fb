/** Machines of tests: see `createSettableClock` for one that a test moves. */
import type { Clock, MachineClock, UnixSeconds } from '../../src/core/time.ts';
import type { BatchTime } from '../../src/store/sqlite/protocol.ts';

/** Its clocks never disagree: both follow `read`. */
export function steadyClock(read: Clock): MachineClock {
  return { wall: read, sinceBoot: read, bootId: null };
}

/** A second behind another's, by every clock: a seeded defect. */
export function slowClock({ wall, sinceBoot, bootId }: MachineClock): MachineClock {
  return { wall: () => wall() - 1, sinceBoot: () => sinceBoot() - 1, bootId };
}

/** What a batch knows of the time when it is `now`, on a machine that has just been started. */
export function batchTimeAt(now: UnixSeconds): BatchTime {
  return {
    now,
    sinceBoot: 0,
    timesSet: 0,
    mark: { seconds: now, bootId: null, sinceBoot: 0, dispute: null },
  };
}
