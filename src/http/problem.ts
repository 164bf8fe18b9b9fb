/**
 * Problems: every way the transport itself refuses a request, before or after a handler.
 *
 * Owns: the closed union. Invariant: no version's wording or status lives here; each API encodes the same problems
 * through one table of its own (`api/v1/refusals.ts`, `api/v2/refusals.ts`, `web/`).
 */
import type { TokenScope } from '../core/accounts/accounts.ts';

export type Problem =
  /** Unparsable body, invalid percent-encoding or UTF-8, repeated or structured parameter. */
  | { readonly problem: 'malformed'; readonly message: string }
  | { readonly problem: 'unsupported_media_type' }
  /** The body is over the transport's cap. */
  | { readonly problem: 'body_too_large'; readonly capBytes: number }
  | { readonly problem: 'not_found' }
  | { readonly problem: 'method_not_allowed'; readonly allow: string }
  | { readonly problem: 'not_authorized' }
  /** The credentials are right; the API token among them was made for other things. */
  | { readonly problem: 'scope_missing'; readonly scope: TokenScope }
  | { readonly problem: 'cross_site' }
  | { readonly problem: 'rate_limited'; readonly retryAfterSeconds: number }
  | { readonly problem: 'unavailable'; readonly retryAfterSeconds: number }
  /** The store has no room for another secret. */
  | { readonly problem: 'storage_full'; readonly retryAfterSeconds: number }
  | { readonly problem: 'invalid_fields'; readonly errors: readonly FieldError[] }
  | { readonly problem: 'internal'; readonly requestId: string };

/** Nothing was done for a client that had closed the connection; the answer reaches nobody. */
export const clientLeft = {
  problem: 'malformed',
  message: 'The client closed the connection',
} as const satisfies Problem;

export interface FieldError {
  /** A dotted path, `secret.ttl`; `''` for the body as a whole. */
  readonly field: string;
  readonly message: string;
}

/** What `decode` throws to refuse a request; `mount` turns it into the version's answer. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.problem);
    this.problem = problem;
  }
}
