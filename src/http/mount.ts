/**
 * From a request to an operation's answer, in one fixed order.
 *
 * Owns: the pipeline, and turning every outcome into a response. Invariant: nothing escapes, every answer carries the
 * common headers, and what must not change anything has not run yet when a request is refused:
 *
 *   route (404, 405, OPTIONS; HEAD as GET) -> client prefix -> cross-site -> limits and credentials -> the token's scope
 *     -> decode -> the end of the turn, if the client is still there -> handle
 *
 * The body is first touched by `decode`, so never before the credentials are right; a refused body is not read at all,
 * the server discards it. Status decides the headers of a refusal: 401 carries the challenge, 405 `Allow`, and a
 * problem with a waiting time `Retry-After`, whichever status an API gives it.
 */
import type { Context, Hono } from 'hono';
import type { AccountId, Caller, TokenScope } from '../core/accounts/accounts.ts';
import type { SecretService } from '../core/secrets/service.ts';
import { type Admit, createAdmission } from './admission.ts';
import { BodyTimeout, createBodyReader } from './body.ts';
import type { ClientAddressOf, PeerSource } from './client-address.ts';
import { basicChallenge } from './credentials.ts';
import { type CrossSitePolicy, createCrossSitePolicy, type Origins } from './cross-site.ts';
import { Call, type CallDeps } from './exchange.ts';
import { methodForLog, problemOf } from './failure.ts';
import { declareLength, jsonResponse } from './headers.ts';
import { mayChange, type Operation, type Reply } from './operation.ts';
import { clientLeft, type Problem } from './problem.ts';
import type { RateLimiter } from './rate-limit.ts';
import {
  createRouteTable,
  type Endpoint,
  paramsOf,
  type Route,
  type RouteMatch,
  type RouteTable,
} from './route-table.ts';
import { endOfTurn } from './turn.ts';

/** What an API may use to word a problem. `path` and `params` hold keys: for the answer only, never for a log. */
export interface ProblemFacts {
  readonly path: string;
  /** Path parameters; empty before the route is found or when they do not decode. */
  readonly params: Readonly<Record<string, string>>;
  /** The operation's name, or `null` when no operation was found. */
  readonly operation: string | null;
  readonly method: string;
}

/** One version of the API. */
export interface ApiSurface {
  /** `/api/v1`, without a trailing slash. */
  readonly base: string;
  readonly operations: readonly Operation[];
  readonly encodeProblem: (problem: Problem, facts: ProblemFacts) => Reply;
  /** Whether paths without a key also answer with a slash at the end. */
  readonly acceptsTrailingSlash: boolean;
}

/** What is known of an answer when it is ready: no path, no key, no address. */
export interface AnswerFacts {
  readonly requestId: string;
  /** The operation's name, or `null` when no operation was found. */
  readonly operation: string | null;
  /** `other` for a method without a meaning here. */
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly accountId: AccountId | null;
}

export interface MountDeps extends Origins {
  readonly authenticate: SecretService['authenticate'];
  readonly limiter: RateLimiter;
  readonly clientAddressOf: ClientAddressOf;
  readonly bodyCapBytes: number;
  /** Milliseconds within which a body has to arrive; 10,000 when absent. */
  readonly bodyLimitMs?: number;
  readonly onAnswer: (answer: AnswerFacts) => void;
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** Answers one request of this API: also for an unknown path anywhere, with this API's wording. Never rejects. */
export type ApiHandler = (context: Context) => Promise<Response>;

/**
 * Serves a version's operations under its base. One route for all of them, so that Hono runs one handler and no chain.
 * @returns the handler, for `app.notFound` to answer unknown paths beside the base in this API's wording.
 */
export function mountApi(app: Hono, surface: ApiSurface, deps: MountDeps): ApiHandler {
  const handler = createApiHandler(surface, deps);
  app.all(`${surface.base}/*`, handler);
  return handler;
}

export function createApiHandler(surface: ApiSurface, deps: MountDeps): ApiHandler {
  const crossSite = createCrossSitePolicy(deps);
  const api: MountedApi = {
    surface,
    deps,
    crossSite,
    clientAddressOf: deps.clientAddressOf,
    table: createRouteTable(surface.base, surface.operations, surface.acceptsTrailingSlash),
    admit: createAdmission({ authenticate: deps.authenticate, limiter: deps.limiter, crossSite }),
    readBody: createBodyReader({ capBytes: deps.bodyCapBytes, limitMs: deps.bodyLimitMs }),
  };
  return (context) => serve(api, context.req.raw, context.env as PeerSource | undefined);
}

interface MountedApi extends CallDeps {
  readonly surface: ApiSurface;
  readonly deps: MountDeps;
  readonly table: RouteTable;
  readonly crossSite: CrossSitePolicy;
  readonly admit: Admit;
}

async function serve(api: MountedApi, request: Request, peer: PeerSource | undefined): Promise<Response> {
  const call = new Call(request, peer, api);
  let response: Response;
  try {
    const match = api.table.match(call.path);
    response = match === null ? refuse(api, call, { problem: 'not_found' }) : await answer(api, call, match);
  } catch (error) {
    response = answerFailure(api, call, error);
  }
  finish(api, call, response);
  return response;
}

async function answer(api: MountedApi, call: Call, { route, values }: RouteMatch): Promise<Response> {
  const { method } = call.request;
  if (method === 'OPTIONS') return answerOptions(api, call, route);
  const endpoint = endpointFor(route, method);
  if (endpoint === null) return refuse(api, call, { problem: 'method_not_allowed', allow: route.allow });
  call.endpoint = endpoint;
  const { operation } = endpoint;
  const admitted = api.admit(operation, call);
  const admission = admitted instanceof Promise ? await admitted : admitted;
  if (admission.kind === 'refused') return refuse(api, call, admission.problem, admission.headers);
  call.caller = admission;
  const scope = missingScope(operation, admission);
  if (scope !== null) return refuse(api, call, { problem: 'scope_missing', scope });
  call.params = paramsOf(endpoint, values);
  const decoded = operation.decode(call);
  const input = decoded instanceof Promise ? await decoded : decoded;
  if (mayChange(method)) {
    await endOfTurn();
    // Nobody is there to read the answer: what would be consumed for it stays (P3).
    if (call.request.signal.aborted) return refuse(api, call, clientLeft);
  }
  return toResponse(await operation.handle(input, admission, call), call);
}

/** An account whose token may not do this is refused also where nobody needs an account: it is never silently anonymous. */
function missingScope({ scope }: Operation, caller: Caller): TokenScope | null {
  if (scope === undefined || caller.kind === 'anonymous') return null;
  return caller.scopes.includes(scope) ? null : scope;
}

/** The last of an answer. A failing observer is reported and costs nobody the answer. */
function finish(api: MountedApi, call: Call, response: Response): void {
  try {
    api.crossSite.share(call.request, response.headers);
    api.deps.onAnswer(answerFacts(call, response.status));
  } catch (error) {
    api.deps.onFault(error, call.requestId);
  }
}

function endpointFor(route: Route, method: string): Endpoint | null {
  if (method === 'POST') return route.post;
  if (method === 'PATCH') return route.patch;
  return method === 'GET' || method === 'HEAD' ? route.get : null;
}

function answerOptions(api: MountedApi, call: Call, route: Route): Response {
  const response = jsonResponse(204, null, call.requestId);
  response.headers.set('allow', route.allow);
  api.crossSite.answerPreflight(call.request, response.headers, route.allow);
  return response;
}

/** The API's own answer to a problem; its status decides what a refusal carries. */
function refuse(
  api: MountedApi,
  call: Call,
  problem: Problem,
  extra?: Readonly<Record<string, string>>,
): Response {
  const facts: ProblemFacts = {
    path: call.path,
    params: call.params,
    operation: call.endpoint?.operation.name ?? null,
    method: call.request.method,
  };
  const response = toResponse(api.surface.encodeProblem(problem, facts), call);
  if (extra !== undefined) addHeaders(response.headers, extra);
  if ('retryAfterSeconds' in problem) response.headers.set('retry-after', String(problem.retryAfterSeconds));
  if (problem.problem === 'method_not_allowed' && response.status === 405)
    response.headers.set('allow', problem.allow);
  return response;
}

function toResponse(reply: Reply, call: Call): Response {
  const text = reply.body === null ? null : JSON.stringify(reply.body);
  const response = jsonResponse(reply.status, text, call.requestId);
  if (text !== null && call.request.method === 'HEAD') declareLength(response, text);
  if (reply.status === 401) response.headers.set('www-authenticate', basicChallenge);
  if (reply.headers !== undefined) addHeaders(response.headers, reply.headers);
  if (call.answerHeaders !== null) addHeaders(response.headers, call.answerHeaders);
  return response;
}

function addHeaders(headers: Headers, added: Readonly<Record<string, string>>): void {
  for (const name in added) headers.set(name, added[name] ?? '');
}

/** Whatever was thrown, answered. Only what nobody could foresee is reported as a fault. */
function answerFailure(api: MountedApi, call: Call, error: unknown): Response {
  try {
    const problem = problemOf(error, call.requestId);
    if (problem.problem === 'internal') api.deps.onFault(error, call.requestId);
    const response = refuse(api, call, problem);
    if (error instanceof BodyTimeout) response.headers.set('connection', 'close');
    return response;
  } catch (second) {
    // Even the API's own wording failed: a bare answer is still an answer.
    api.deps.onFault(second, call.requestId);
    return jsonResponse(500, '{"message":"An unexpected error occurred"}', call.requestId);
  }
}

function answerFacts(call: Call, status: number): AnswerFacts {
  const { method } = call.request;
  return {
    requestId: call.requestId,
    operation: call.endpoint?.operation.name ?? null,
    method: methodForLog(method),
    status,
    durationMs: call.durationMs(),
    accountId: call.caller.kind === 'account' ? call.caller.account.id : null,
  };
}
