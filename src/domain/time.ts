/**
 * Time, as the domain counts it.
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

export const systemClock: Clock = () => Math.floor(Date.now() / 1000);
