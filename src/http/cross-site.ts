/**
 * What pages of other sites may do here.
 *
 * Owns: the refusal of cross-site POSTs (Fetch Metadata, W3C) and CORS (Fetch standard). Invariant: nothing is allowed
 * by default; an allowed origin is matched whole and answered by name, never with `*`, and never with credentials:
 * `Authorization` is not among the allowed headers, so a page of another site can only act anonymously.
 */

export interface CrossSitePolicy {
  /** Whether a POST may go on: it is not marked cross-site, or its origin is allowed. */
  admits(request: Request): boolean;
  /** Adds what the origin needs to read the answer. */
  share(request: Request, headers: Headers): void;
  /** Adds what a preflight asks for. `allow` is the route's `Allow`. */
  answerPreflight(request: Request, headers: Headers, allow: string): void;
}

const allowedHeaders = 'content-type, idempotency-key, secret-passphrase';
const exposedHeaders = 'retry-after, ratelimit, ratelimit-policy, x-request-id';
const preflightSeconds = '600';

/** @param allowedOrigins serialised origins, `https://app.example`. */
export function createCrossSitePolicy(allowedOrigins: ReadonlySet<string>): CrossSitePolicy {
  const allows = (origin: string | null): origin is string => origin !== null && allowedOrigins.has(origin);
  const admits = (request: Request) =>
    request.headers.get('sec-fetch-site') !== 'cross-site' || allows(request.headers.get('origin'));
  if (allowedOrigins.size === 0) return { admits, share: () => {}, answerPreflight: () => {} };
  const share = (request: Request, headers: Headers) => {
    headers.append('vary', 'Origin');
    const origin = request.headers.get('origin');
    if (!allows(origin)) return;
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', exposedHeaders);
  };
  const answerPreflight = (request: Request, headers: Headers, allow: string) => {
    if (!allows(request.headers.get('origin')) || !request.headers.has('access-control-request-method'))
      return;
    headers.set('access-control-allow-methods', allow);
    headers.set('access-control-allow-headers', allowedHeaders);
    headers.set('access-control-max-age', preflightSeconds);
  };
  return { admits, share, answerPreflight };
}
