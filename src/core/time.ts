/** Times are whole Unix seconds, UTC. Expiry is stored as an absolute time, not a duration. */

/** Whole seconds since 1970-01-01T00:00:00Z. */
export type UnixSeconds = number;

/** A source of time. For expiry, the store's own clock is authoritative (P8). */
export type Clock = () => UnixSeconds;

export interface MachineClock {
  /** May be wrong, and may jump. */
  readonly wall: Clock;
  /** Whole seconds since the machine started, including suspended time. Never steps back. */
  readonly sinceBoot: () => number;
  /** Identifies this boot of the machine; `null` if unknown. */
  readonly bootId: string | null;
}

export const systemClock: Clock = () => Math.floor(Date.now() / 1000);

/** Runs a function once after `milliseconds`; returns a function that cancels it. */
export type After = (milliseconds: number, run: () => void) => () => void;
