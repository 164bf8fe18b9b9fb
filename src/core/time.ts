/** Every time is a whole number of Unix seconds, UTC; expiry is stored absolute, never as a remainder. */

/** Whole seconds since 1970-01-01T00:00:00Z. */
export type UnixSeconds = number;

/** A source of time. For expiry, the store's own clock is authoritative (P8). */
export type Clock = () => UnixSeconds;

/** What a machine knows about the time. */
export interface MachineClock {
  /** May be wrong, and may jump. */
  readonly wall: Clock;
  /** Whole seconds since the machine started, including suspended time. Only ever counts up. */
  readonly sinceBoot: () => number;
  /** Identifies this boot of the machine; `null` if unknown. */
  readonly bootId: string | null;
}

/**
 * The store's verdict on its machine's wall clock.
 * - `agreed`: the wall clock and the elapsed time agree within five minutes.
 * - `disputed`: they do not. Store time continues by the elapsed time, nothing is swept, and a secret that has expired by
 *   only one of the two is neither released nor reported as gone.
 * - `unproven`: the machine restarted and its wall clock is more than an hour ahead of the time that was kept. It is
 *   believed after ten minutes, and treated as disputed until then.
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
   * Sets store time to the wall clock, forwards or backwards, for all processes on this store. What has expired by the old
   * time is erased first, so nothing comes back.
   */
  setTime(): Promise<void>;
}

export const systemClock: Clock = () => Math.floor(Date.now() / 1000);
