/**
 * Every way in which the transport itself refuses a request, before or after a handler. No wording or status is here: API
 * versions and pages each have a table of their own (`api/v1/refusals.ts`, `api/v2/refusals.ts`, `web/kit/error-page.tsx`).
 */
import type { TokenScope } from '../core/account.ts';

export type Problem =
  /** Unparsable body, invalid percent-encoding or UTF-8, repeated or structured parameter. */
  | { readonly problem: 'malformed'; readonly message: string }
  /** `isEncoded`: by `Content-Encoding`, whatever its type. */
  | { readonly problem: 'unsupported_media_type'; readonly isEncoded?: true }
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

/** Thrown to refuse a request; the pipeline answers it in the words of the API version or the pages. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly problem: Problem;
  /** What its answer carries besides; `null` for nothing. */
  readonly headers: Readonly<Record<string, string>> | null;

  constructor(problem: Problem, headers: RequestProblem['headers'] = null) {
    super(problem.problem);
    this.problem = problem;
    this.headers = headers;
  }
}
