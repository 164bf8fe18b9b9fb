/**
 * All refusals by the transport itself. Wording and status are in `api/v1/refusals.ts`, `api/v2/refusals.ts` and `web/kit/error-page.tsx`.
 */
import type { TokenScope } from '../core/account.ts';

export type Problem =
  /** Unparsable body, invalid percent-encoding or UTF-8, repeated or structured parameter. */
  | { readonly problem: 'malformed'; readonly message: string }
  /** `isEncoded`: refused for its `Content-Encoding`, not its type. */
  | { readonly problem: 'unsupported_media_type'; readonly isEncoded?: true }
  | { readonly problem: 'body_too_large'; readonly capBytes: number }
  | { readonly problem: 'not_found' }
  | { readonly problem: 'method_not_allowed'; readonly allow: string }
  | { readonly problem: 'not_authorized' }
  /** The credentials are right, but the API token lacks this scope. */
  | { readonly problem: 'scope_missing'; readonly scope: TokenScope }
  | { readonly problem: 'cross_site' }
  | { readonly problem: 'rate_limited'; readonly retryAfterSeconds: number }
  | { readonly problem: 'unavailable'; readonly retryAfterSeconds: number }
  | { readonly problem: 'storage_full'; readonly retryAfterSeconds: number }
  | { readonly problem: 'invalid_fields'; readonly errors: readonly FieldError[] }
  | { readonly problem: 'internal'; readonly requestId: string };

/** The client closed the connection before anything was done, so it never sees this response. */
export const clientLeft = {
  problem: 'malformed',
  message: 'The client closed the connection',
} as const satisfies Problem;

export interface FieldError {
  /** A dotted path such as `secret.ttl`; `''` means the whole body. */
  readonly field: string;
  readonly message: string;
}

export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>> | null;

  constructor(problem: Problem, headers: RequestProblem['headers'] = null) {
    super(problem.problem);
    this.problem = problem;
    this.headers = headers;
  }
}

export function malformed(message: string): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message });
}
