/**
 * What a page can be refused for, beyond what every request can.
 *
 * Owns: the union that notices and forms answer, and the refusals that pages throw themselves. Invariant: a refusal
 * changes nothing.
 */
import { problemOf } from '../http/failure.ts';
import { type Problem, RequestProblem } from '../http/problem.ts';
import type { LimitName, LimitParty, LimitRefusal, RateLimiter } from '../http/rate-limit.ts';

export type PageProblem =
  | Problem
  /** The form was shown to another session than the one that sends it: somebody logged in or out in between. */
  | { readonly problem: 'stale_form' };

export class StaleForm extends Error {
  override readonly name = 'StaleForm';
}

/** A refusal that brings the headers of its limit. */
export class LimitReached extends RequestProblem {
  readonly headers: LimitRefusal['headers'];

  constructor({ retryAfterSeconds, headers }: LimitRefusal) {
    super({ problem: 'rate_limited', retryAfterSeconds });
    this.headers = headers;
  }
}

/** Counts one call. Throws `LimitReached`. */
export function takeLimit(
  limiter: Pick<RateLimiter, 'take'>,
  name: LimitName,
  party: LimitParty,
  client: string | number,
): void {
  const refusal = limiter.take(name, party, client);
  if (refusal !== null) throw new LimitReached(refusal);
}

export function pageProblemOf(error: unknown, requestId: string): PageProblem {
  return error instanceof StaleForm ? { problem: 'stale_form' } : problemOf(error, requestId);
}
