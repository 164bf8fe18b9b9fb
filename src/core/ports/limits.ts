/** How often something may be done: `limit` times per window in the long run, in bursts of up to `burst`. */
export interface LimitRule {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly burst: number;
}

/** One call to be counted against a client, by the rule called `name`. */
export interface LimitCount {
  readonly name: string;
  readonly rule: LimitRule;
  readonly client: string | number;
}

/**
 * Limits that protect people (log-ins, sign-ups, mails), so all nodes count together. They may be forgotten when the process
 * or the engine restarts. A call takes one round trip, however many counts it has.
 */
export interface SharedLimits {
  /**
   * Counts a call against each, if every rule allows it, else against none, in one step. Returns for each the milliseconds
   * until its rule allows it, 0 for now.
   */
  take(counts: readonly LimitCount[]): Promise<readonly number[]>;
  /** As `take`, but counts nothing. */
  peek(counts: readonly LimitCount[]): Promise<readonly number[]>;
  /** Gives back one counted call of each, which did not happen after all. */
  refund(counts: readonly LimitCount[]): Promise<void>;
}
