/**
 * Time, as the core counts it.
 *
 * Owns: the unit. Every time is a whole number of Unix seconds, UTC; expiry is stored absolute, never as a remainder.
 */

/** Whole seconds since 1970-01-01T00:00:00Z. */
export type UnixSeconds = number;

/** Where time comes from. The store's clock is authoritative for expiry (P8); this one stamps new records. */
export type Clock = () => UnixSeconds;

/** What a machine knows of the time. */
export interface MachineClock {
  /** The wall clock: may be wrong, and may jump. */
  readonly wall: Clock;
  /** Whole seconds since the machine started, suspended or not. Only ever counts up. */
  readonly sinceBoot: () => number;
  /** Names this start of the machine; `null` where that is unknown. */
  readonly bootId: string | null;
}

/**
 * What the store makes of its machine's wall clock.
 * - `agreed`: the wall clock and the time that has passed agree within five minutes.
 * - `disputed`: they do not. Time goes on from what it was, nothing is swept, and a secret that has expired by one clock
 *   only is neither released nor called gone.
 * - `unproven`: the machine restarted and its wall clock is more than an hour ahead of what was kept: believed after ten
 *   minutes, and until then as if disputed.
 */
export type ClockVerdict = 'agreed' | 'disputed' | 'unproven';

export interface ClockReport {
  readonly verdict: ClockVerdict;
  readonly storeTime: UnixSeconds;
  readonly wall: UnixSeconds;
  /** How far the wall clock is ahead of the time that the store can account for; negative: behind. */
  readonly aheadSeconds: number;
}

/** How operators see store time, and put it right. */
export interface StoreClock {
  clock(): ClockReport;
  /** How many waiting secrets would have expired if store time were `at`. */
  countExpiringBy(at: UnixSeconds): Promise<number>;
  /**
   * Sets store time to the wall clock, also backwards, for all processes on this store. What has expired by the time it
   * was is erased first, so that nothing gone comes back.
   */
  setTime(): Promise<void>;
}

export const systemClock: Clock = () => Math.floor(Date.now() / 1000);
