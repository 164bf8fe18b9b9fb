/** How often something may be done: `limit` times per window in the long run, in bursts of up to `burst`. */
export interface LimitRule {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly burst: number;
}

/** One call to count against a client, by the rule called `name`. */
export interface LimitCount {
  readonly name: string;
  readonly rule: LimitRule;
  readonly client: string | number;
}

/**
 * Limits that protect people (on log-ins, sign-ups and emails), so all nodes count together. The counts may be lost when the
 * process or the engine restarts. A call takes one round trip, however many counts it has.
 */
export interface SharedLimits {
  /**
   * Counts a call against every entry if all rules allow it, otherwise against none, in one step. Returns for each entry the
   * milliseconds until its rule allows a call; 0 means now.
   */
  take(counts: readonly LimitCount[]): Promise<readonly number[]>;
  /** Works like `take`, but counts nothing. */
  peek(counts: readonly LimitCount[]): Promise<readonly number[]>;
  /** Subtracts a counted call from every entry, because the call did not happen after all. */
  refund(counts: readonly LimitCount[]): Promise<void>;
}
