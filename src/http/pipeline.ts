/**
 * Takes a request to its response, in one order for the API and the pages. No error escapes, every response carries
 * the common headers, and a refused request has changed nothing:
 *
 *   1. match      which route has this path
 *   2. prepare    pages: the host's brand, the session
 *   3. route      404, OPTIONS, 405; HEAD is handled as GET
 *   4. admit      API: cross-site, limit or credentials with their limit. Pages: redirects from a share domain to the site,
 *                 cross-site forms, session faults, limit, log-in required
 *   5. scope      what the caller's token may do
 *   6. decode     API: path and body into an input. Pages: the form token on a POST
 *   7. wait for the end of the event loop's turn (bodies end there): is the client still connected? (POST, PATCH)
 *   8. handle
 *
 * Steps 2 and 4 differ because a page's refusal is a branded, localised page with the session's header: the session
 * comes before any limit, which then counts by account. API credentials are guesses until checked, so the limit on
 * failed log-ins comes first (`admission.ts`).
 *
 * Only step 6 reads the body, so this happens only for admitted callers; the server discards a refused request's body.
 * Exception: forms refused by a limit, or because the store could not check the session. Their page reads the body to
 * restore what was typed; a page that needs an account does so only after log-in. A problem with a waiting time gets
 * `Retry-After` with any status, and a 405 gets `Allow`.
 */
import { type AccountId, anonymous, type Caller, type TokenScope } from '../core/account.ts';
import { ServiceError } from '../core/errors.ts';
import type { IsAbandoned } from '../core/ports/claims.ts';
import type { Admission } from './admission.ts';
import { assertNotEncoded, type ReadBody } from './body.ts';
import { type ClientAddressOf, clientPrefixOf, type PeerSource } from './client-address.ts';
import type { CrossSitePolicy } from './cross-site.ts';
import { addHeaders, jsonResponse, newRequestId } from './headers.ts';
import { type Exchange, type LimitClass, mayChange } from './operation.ts';
import { clientLeft, type Problem, RequestProblem } from './problem.ts';
import type { LimitRefusal, RateLimiter } from './rate-limit.ts';
import { type Endpoint, endpointFor, plainSpelling, type RouteMatch, type RouteTable } from './routes.ts';
import { endOfTurn } from './turn.ts';

/** Facts about a response for logs and metrics: no path, key or address. */
export interface AnswerFacts {
  readonly requestId: string;
  /** Such as `v1.share`; `null` if no endpoint was found. */
  readonly operation: string | null;
  /** `other` for unknown methods. */
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly accountId: AccountId | null;
}

export interface Observers {
  readonly onAnswer: (answer: AnswerFacts) => void;
  readonly onFault: (error: unknown, requestId: string) => void;
}

type Params = Readonly<Record<string, string>>;

export interface Served {
  readonly limit: LimitClass;
  /** The largest body accepted, if not the side's default. */
  readonly bodyCapBytes?: number | ((caller: Caller, params: Params) => number | Promise<number>);
  readonly scope?: TokenScope;
}

interface SideTypes {
  readonly target: Served;
  readonly call: Call;
  readonly reply: unknown;
  readonly ownProblem: { readonly problem: string };
}

/** One side of the pipeline: an API version, or the pages. Every function but `open` may throw. */
export interface Side<T extends SideTypes> extends Observers {
  readonly routes: RouteTable<T['target']>;
  /** The CORS policy; `null` means no CORS. */
  readonly sharing: Pick<CrossSitePolicy, 'share' | 'answerPreflight'> | null;
  open(arrival: Arrival<T['target']>): T['call'];
  readonly prepare: ((call: T['call']) => Promise<void>) | null;
  admit(call: T['call'], target: T['target']): SideAdmission<T> | Promise<SideAdmission<T>>;
  decode(call: T['call'], endpoint: Endpoint<T['target']>): unknown;
  handle(call: T['call'], target: T['target'], input: unknown): T['reply'] | Promise<T['reply']>;
  problemOf(error: unknown, requestId: string): Problem | T['ownProblem'];
  /** An endpoint's own response to a problem; `null` means that `word` is used. */
  readonly recover:
    | ((call: T['call'], problem: Problem | T['ownProblem']) => Promise<T['reply']> | null)
    | null;
  word(call: T['call'], problem: Problem | T['ownProblem']): T['reply'];
  noContent(headers: Readonly<Record<string, string>>): T['reply'];
  respond(call: T['call'], reply: T['reply']): Response;
  nameOf(call: T['call']): string | null;
}

/** `answered`: the request is not served here, and the reply explains this or redirects. */
export type SideAdmission<T extends SideTypes> =
  | Admission
  | { readonly kind: 'answered'; readonly reply: T['reply'] };

/** As received, but the runtime has resolved dot segments and encoded non-ASCII characters. */
export interface Address {
  readonly path: string;
  readonly rawQuery: string;
}

function addressOf(url: string): Address {
  // Skips `http://`. A fragment cannot arrive over HTTP, but a `Request` can contain one.
  const start = url.indexOf('/', 8);
  const hash = url.indexOf('#', start);
  const end = hash === -1 ? url.length : hash;
  const query = url.indexOf('?', start);
  const hasQuery = query !== -1 && query < end;
  return {
    path: url.slice(start, hasQuery ? query : end),
    rawQuery: hasQuery ? url.slice(query + 1, end) : '',
  };
}

export interface Arrival<Target> {
  readonly request: Request;
  readonly address: Address;
  readonly peer: PeerSource | undefined;
  readonly match: RouteMatch<Target> | null;
}

interface CallDeps {
  readonly readBody: ReadBody;
  readonly clientAddressOf: ClientAddressOf;
  readonly limiter: Pick<RateLimiter, 'take'>;
  readonly onFault: Observers['onFault'];
}

/**
 * A request in progress. The pipeline fills it step by step, so that a failure shows where it happened. Nothing here
 * reads Host or any forwarded name (P20). It is a class because every request creates one, and methods and lazy
 * fields need no closures.
 */
export class Call<Target extends Served = Served> implements Exchange {
  readonly requestId = newRequestId();
  readonly request: Request;
  readonly path: string;
  readonly rawQuery: string;
  readonly match: RouteMatch<Target> | null;
  params: Params = {};
  endpoint: Endpoint<Target> | null = null;
  caller: Caller = anonymous;
  answerHeaders: Record<string, string> | null = null;
  readonly #startedMs = performance.now();
  readonly #peer: PeerSource | undefined;
  readonly #deps: CallDeps;
  #clientPrefix = '';
  #body: Promise<Uint8Array> | null = null;

  constructor({ request, address, peer, match }: Arrival<Target>, deps: CallDeps) {
    this.request = request;
    this.path = address.path;
    this.rawQuery = address.rawQuery;
    this.match = match;
    this.#peer = peer;
    this.#deps = deps;
  }

  /** Lazy, because getting the socket's address costs more than the rest of admission. */
  get clientPrefix(): string {
    if (this.#clientPrefix === '') {
      this.#clientPrefix = clientPrefixOf(this.#deps.clientAddressOf(this.request, this.#peer));
    }
    return this.#clientPrefix;
  }

  get isAbandoned(): IsAbandoned {
    const { signal } = this.request;
    return () => signal.aborted;
  }

  body(): Promise<Uint8Array> {
    if (this.#body !== null) return this.#body;
    assertNotEncoded(this.request);
    const cap = this.endpoint?.target.bodyCapBytes;
    const capBytes = typeof cap === 'function' ? cap(this.caller, this.params) : cap;
    const read = (most: number | undefined) => this.#deps.readBody(this.request, most);
    this.#body = capBytes instanceof Promise ? capBytes.then(read) : read(capBytes);
    return this.#body;
  }

  /** If true, the turn in which the last byte arrived has ended (`body.ts`). */
  get hasReadBody(): boolean {
    return this.#body !== null;
  }

  countAnother(): LimitRefusal | null {
    const limit = this.endpoint?.target.limit ?? 'none';
    if (limit === 'none') return null;
    const { caller } = this;
    return caller.kind === 'account'
      ? this.#deps.limiter.take(limit, 'account', caller.account.id)
      : this.#deps.limiter.take(limit, 'anonymous', this.clientPrefix);
  }

  reportFault(error: unknown): void {
    this.#deps.onFault(error, this.requestId);
  }

  setAnswerHeader(name: string, value: string): void {
    this.answerHeaders ??= {};
    this.answerHeaders[name] = value;
  }

  durationMs(): number {
    return performance.now() - this.#startedMs;
  }
}

/** Never rejects. */
export type Serve = (request: Request, peer: PeerSource | undefined, address: Address) => Promise<Response>;

export function createPipeline<T extends SideTypes>(side: Side<T>): Serve {
  return async (request, peer, address) => {
    const match = side.routes.match(address.path);
    const call = side.open({ request, address, peer, match });
    let response: Response;
    try {
      response = await answer(side, call, match);
    } catch (error) {
      response = await answerFailure(side, call, error, side.recover);
    }
    finish(side, call, response);
    return request.method === 'HEAD' ? new Response(null, response) : response;
  };
}

async function answer<T extends SideTypes>(
  side: Side<T>,
  call: T['call'],
  match: RouteMatch<T['target']> | null,
): Promise<Response> {
  const { method } = call.request;
  if (side.prepare !== null) await side.prepare(call);
  if (match === null) return refuse(side, call, { problem: 'not_found' });
  const { route } = match;
  if (method === 'OPTIONS') return answerOptions(side, call, route.allow);
  const endpoint = endpointFor(route, method);
  if (endpoint === null) return refuse(side, call, { problem: 'method_not_allowed', allow: route.allow });
  call.endpoint = endpoint;
  const { target } = endpoint;
  const admitted = side.admit(call, target);
  const admission = admitted instanceof Promise ? await admitted : admitted;
  if (admission.kind === 'refused') return refuse(side, call, admission.problem, admission.headers);
  if (admission.kind === 'answered') return side.respond(call, admission.reply);
  call.caller = admission;
  const scope = missingScope(target, admission);
  if (scope !== null) return refuse(side, call, { problem: 'scope_missing', scope });
  const decoded = side.decode(call, endpoint);
  const input = decoded instanceof Promise ? await decoded : decoded;
  if (mayChange(method)) {
    if (!call.hasReadBody) await endOfTurn();
    // The client is gone: consume nothing for it (P3).
    if (call.request.signal.aborted) return refuse(side, call, clientLeft);
  }
  return side.respond(call, await side.handle(call, target, input));
}

function answerOptions<T extends SideTypes>(side: Side<T>, call: T['call'], allow: string): Response {
  const response = side.respond(call, side.noContent({ allow }));
  side.sharing?.answerPreflight(call.request, response.headers, allow);
  return response;
}

function refuse<T extends SideTypes>(
  side: Side<T>,
  call: T['call'],
  problem: Problem | T['ownProblem'],
  headers: ProblemHeaders = null,
): Response {
  return withProblemHeaders(side.respond(call, side.word(call, problem)), problem, headers);
}

async function answerFailure<T extends SideTypes>(
  side: Side<T>,
  call: T['call'],
  error: unknown,
  recover: Side<T>['recover'],
): Promise<Response> {
  try {
    const problem = side.problemOf(error, call.requestId);
    if (problem.problem === 'internal') side.onFault(error, call.requestId);
    const headers = error instanceof RequestProblem ? error.headers : null;
    const recovering = recover === null ? null : recover(call, problem);
    if (recovering === null) return refuse(side, call, problem, headers);
    return withProblemHeaders(side.respond(call, await recovering), problem, headers);
  } catch (second) {
    if (recover !== null) return answerFailure(side, call, second, null);
    // Turning the error into a response failed too.
    side.onFault(second, call.requestId);
    return jsonResponse(500, '{"message":"An unexpected error occurred"}', call.requestId);
  }
}

/** Reports a failing observer, but sends the response anyway. */
function finish<T extends SideTypes>(side: Side<T>, call: T['call'], response: Response): void {
  try {
    side.sharing?.share(call.request, response.headers);
    side.onAnswer({
      requestId: call.requestId,
      operation: side.nameOf(call),
      method: methodForLog(call.request.method),
      status: response.status,
      durationMs: call.durationMs(),
      accountId: call.caller.kind === 'account' ? call.caller.account.id : null,
    });
  } catch (error) {
    side.onFault(error, call.requestId);
  }
}

/** An account whose token lacks the scope is refused even where anonymous callers are not: it never silently becomes anonymous. */
function missingScope({ scope }: Served, caller: Caller): TokenScope | null {
  if (scope === undefined || caller.kind === 'anonymous') return null;
  return caller.scopes.includes(scope) ? null : scope;
}

type ProblemHeaders = Readonly<Record<string, string>> | null;

function withProblemHeaders(
  response: Response,
  problem: { readonly problem: string; readonly retryAfterSeconds?: number; readonly allow?: string },
  headers: ProblemHeaders,
): Response {
  if (headers !== null) addHeaders(response.headers, headers);
  const { retryAfterSeconds, allow } = problem;
  if (retryAfterSeconds !== undefined) response.headers.set('retry-after', String(retryAfterSeconds));
  if (allow !== undefined && response.status === 405) response.headers.set('allow', allow);
  return response;
}

/** Only unexpected errors and damaged records become `internal`. */
export function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof RequestProblem) return error.problem;
  if (!(error instanceof ServiceError)) return { problem: 'internal', requestId };
  const { code, retryAfterSeconds } = error;
  switch (code) {
    case 'unavailable':
    case 'busy':
      return { problem: 'unavailable', retryAfterSeconds };
    case 'storage_full':
      return { problem: 'storage_full', retryAfterSeconds };
    case 'damaged':
      // Retrying will not help. Nothing was consumed (P3), but an operator must investigate.
      return { problem: 'internal', requestId };
  }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);

function methodForLog(method: string): string {
  return knownMethods.has(method) ? method : 'other';
}

export type Fetch = (request: Request, peer?: PeerSource | undefined) => Response | Promise<Response>;

export interface Part {
  /** `/api/v1`, without a trailing slash. */
  readonly base: string;
  /** Only `base` itself, nothing under it. */
  readonly isAlone?: true;
  readonly serve: Serve;
}

/** Serves one path outside the pipeline; returns `null` to leave a request to others. */
export type AnswerAlone = (request: Request) => Response | Promise<Response> | null;

/** Tries `alone` by exact path, then the first part whose base contains the path, then `rest`. */
export function createFetch(
  parts: readonly Part[],
  rest: Serve,
  alone: ReadonlyMap<string, AnswerAlone> = new Map(),
): Fetch {
  return (request, peer) => {
    const address = addressOf(request.url);
    const path = plainSpelling(address.path);
    const answered = alone.get(path)?.(request) ?? null;
    if (answered !== null) return answered;
    for (const { base, isAlone, serve } of parts) {
      if (isAlone === true ? path === base : isBelow(path, base)) return serve(request, peer, address);
    }
    return rest(request, peer, address);
  };
}

function isBelow(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === 0x2f);
}
