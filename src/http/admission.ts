/**
 * Decides who is calling, and whether they may now. The order is fixed, and the body is not read:
 *
 * 1. A POST or PATCH that a browser marks cross-site is refused, and so is a GET with a passphrase. This counts against no limit, so a
 *    hostile page cannot use up its visitor's allowance.
 * 2. Without an `Authorization` header (or if it is ignored), the call counts by client prefix in the operation's class; then an
 *    operation for accounts returns 401.
 * 3. With the header, a client over its `logIn` limit is refused before any lookup, unless the same credentials were accepted before (a
 *    neighbour's failures never lock out a known account). Wrong or malformed credentials count as one failure and get 401; right ones
 *    count by account in the operation's class. Concurrent requests may exceed the limit by their number: the limit only bounds work,
 *    since tokens have 256 bits.
 */
import { anonymous, type Caller } from '../core/account.ts';
import type { SecretService } from '../core/secrets/service.ts';
import type { CrossSitePolicy } from './cross-site.ts';
import { type Exchange, type Operation, takesGuess } from './operation.ts';
import type { Problem } from './problem.ts';
import type { LimitRefusal, RateLimiter } from './rate-limit.ts';

export interface Refusal {
  readonly kind: 'refused';
  readonly problem: Problem;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Admission = Caller | Refusal;

/** Rejects with `ServiceError` if credentials cannot be checked right now. */
type Admit = (operation: Operation, call: AdmissionCall) => Admission | Promise<Admission>;

/** Lazy, because credentials accepted before never need the prefix. */
type AdmissionCall = Pick<Exchange, 'request' | 'clientPrefix'>;

interface AdmissionDeps {
  readonly authenticate: SecretService['authenticate'];
  readonly limiter: RateLimiter;
  readonly crossSite: CrossSitePolicy;
}

const notAuthorized: Refusal = { kind: 'refused', problem: { problem: 'not_authorized' } };
const crossSiteRefusal: Refusal = { kind: 'refused', problem: { problem: 'cross_site' } };

export function createAdmission({ authenticate, limiter, crossSite }: AdmissionDeps): Admit {
  const right = createRightCredentials();

  const admitAnonymous = ({ access, limit }: Operation, call: AdmissionCall): Admission => {
    const refusal = limit === 'none' ? null : limiter.take(limit, 'anonymous', call.clientPrefix);
    if (refusal !== null) return rateLimited(refusal);
    return access === 'account' ? notAuthorized : anonymous;
  };

  const admitCredentials = async (
    { limit }: Operation,
    header: string,
    call: AdmissionCall,
  ): Promise<Admission> => {
    const isKnown = right.has(header);
    const locked = isKnown ? null : await limiter.peekShared([failedLogIn(call)]);
    if (locked !== null) return rateLimited(locked);
    const credentials = parseBasic(header);
    const caller = credentials === null ? null : await authenticate(credentials.username, credentials.token);
    if (caller === null) {
      right.forget(header);
      await limiter.takeShared([failedLogIn(call)]);
      return notAuthorized;
    }
    right.add(header);
    const refusal = limit === 'none' ? null : limiter.take(limit, 'account', caller.account.id);
    return refusal === null ? caller : rateLimited(refusal);
  };

  return (operation, call) => {
    const { request } = call;
    if (!crossSite.admits(request, takesGuess(operation))) return crossSiteRefusal;
    if (operation.access === 'open') return admitAnonymous(operation, call);
    const header = request.headers.get('authorization');
    return header === null ? admitAnonymous(operation, call) : admitCredentials(operation, header, call);
  };
}

const failedLogIn = ({ clientPrefix }: AdmissionCall) =>
  ({ name: 'logIn', party: 'anonymous', client: clientPrefix }) as const;

function rateLimited({ retryAfterSeconds, headers }: LimitRefusal): Refusal {
  return { kind: 'refused', problem: { problem: 'rate_limited', retryAfterSeconds }, headers };
}

export const basicChallenge = 'Basic realm="Mayfly", charset="UTF-8"';

interface BasicCredentials {
  readonly username: string;
  readonly token: string;
}

/** Longer than any address (320 characters) with its token (64 digits) in base64. */
const maxHeaderLength = 2_048;
const scheme = /^basic +/i;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 §2 forbids exactly these in both parts.
const control = /[\u0000-\u001f\u007f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses UTF-8 Basic credentials (RFC 7617, RFC 9110 §11.4). Returns `null` for any other header, which counts as wrong, not anonymous. */
export function parseBasic(header: string): BasicCredentials | null {
  if (header.length > maxHeaderLength) return null;
  const start = scheme.exec(header)?.[0].length;
  if (start === undefined) return null;
  const pair = decodePair(header.slice(start));
  if (pair === null || control.test(pair)) return null;
  // A username contains no colon (RFC 7617 §2).
  const colon = pair.indexOf(':');
  if (colon < 1 || colon === pair.length - 1) return null;
  return { username: pair.slice(0, colon).toLowerCase(), token: pair.slice(colon + 1) };
}

function decodePair(encoded: string): string | null {
  if (encoded.length % 4 !== 0 || !base64.test(encoded)) return null;
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return null;
  }
}

/**
 * Lets a client over its limit of failed log-ins still try credentials accepted before. Decides who is checked, never who is let in. Stores
 * 64-bit fingerprints under a random seed.
 */
interface RightCredentials {
  has(header: string): boolean;
  add(header: string): void;
  forget(header: string): void;
}

export function createRightCredentials(maxEntries = 10_000): RightCredentials {
  const seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;
  const fingerprintOf = (header: string) => Bun.hash(header, seed);
  const right = new Set<number | bigint>();
  return {
    has: (header) => right.has(fingerprintOf(header)),
    add(header) {
      const fingerprint = fingerprintOf(header);
      if (right.has(fingerprint)) return;
      if (right.size >= maxEntries) for (const oldest of right.values()) if (right.delete(oldest)) break;
      right.add(fingerprint);
    },
    forget: (header) => void right.delete(fingerprintOf(header)),
  };
}
