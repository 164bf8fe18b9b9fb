import type { UnixSeconds } from '../time.ts';

export interface StoreNow {
  /**
   * Store time (P8). It never steps back, even across restarts, and follows elapsed time rather than a wall clock that
   * jumps. Where it can only be estimated, it is never ahead of the time that the store decides by. Expiry is judged by it;
   * while the wall clock is in doubt (`ClockVerdict`), a secret that has expired by only one of the two rejects as
   * `unavailable`.
   */
  now(): UnixSeconds;
}

/**
 * The store's verdict on its machine's wall clock.
 * - `agreed`: the wall clock and the elapsed time agree within five minutes.
 * - `disputed`: they do not. Store time continues by the elapsed time, nothing is swept, and a secret that has expired by
 *   only one of the two is neither released nor reported as gone.
 * - `unproven`: the machine restarted and its wall clock is more than an hour ahead of the saved time. It is believed after
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

/** How operators inspect store time and correct it. */
export interface StoreClock {
  clock(): ClockReport;
  /** How many waiting secrets would have expired if store time were `at`. */
  countExpiringBy(at: UnixSeconds): Promise<number>;
  /**
   * Sets store time to the wall clock, forwards or backwards, for all processes on this store. Erases what has expired by the
   * old time first, so nothing comes back.
   */
  setTime(): Promise<void>;
}
