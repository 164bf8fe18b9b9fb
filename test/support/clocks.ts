/** Machines of tests: see `createSettableClock` for one that a test moves. */
import type { Clock, MachineClock } from '../../src/domain/time.ts';

/** Its clocks never disagree: both follow `read`. */
export function steadyClock(read: Clock): MachineClock {
  return { wall: read, sinceBoot: read, bootId: null };
}

/** A second behind another's, by every clock: a seeded defect. */
export function slowClock({ wall, sinceBoot, bootId }: MachineClock): MachineClock {
  return { wall: () => wall() - 1, sinceBoot: () => sinceBoot() - 1, bootId };
}
