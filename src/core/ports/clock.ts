import type { UnixSeconds } from '../time.ts';

export interface StoreNow {
  /**
   * Returns store time (P8). It never steps back, even across restarts, and follows elapsed time rather than a wall clock
   * that jumps. If it can only be estimated, the estimate is never ahead of the time that the store decides by. Expiry is
   * judged by store time. While the wall clock is in doubt (`ClockVerdict`), calls reject as `unavailable` for a secret that
   * has expired according to only one of the two.
   */
  now(): UnixSeconds;
}

/**
 * The store's verdict on its machine's wall clock.
 * - `agreed`: the wall clock and the elapsed time agree to within five minutes.
 * - `disputed`: they do not. Store time follows the elapsed time, nothing is swept, and a secret that has expired by
 *   only one of the two is neither released nor reported as gone.
 * - `unproven`: the machine restarted and its wall clock is more than an hour ahead of the saved time. It is trusted after
 *   ten minutes, and treated as disputed until then.
 */
export type ClockVerdict = 'agreed' | 'disputed' | 'unproven';

export interface ClockReport {
  readonly verdict: ClockVerdict;
  readonly storeTime: UnixSeconds;
  readonly wall: UnixSeconds;
  /** How far the wall clock is ahead of the time that the store can account for; negative if behind. */
  readonly aheadSeconds: number;
}

/** Lets operators inspect and correct store time. */
export interface StoreClock {
  clock(): ClockReport;
  /** Counts the waiting secrets that would have expired if store time were `at`. */
  countExpiringBy(at: UnixSeconds): Promise<number>;
  /**
   * Sets store time to the wall clock, forwards or backwards, for all processes on this store. First erases what has expired
   * by the old time, so no expired secret comes back.
   */
  setTime(): Promise<void>;
}
