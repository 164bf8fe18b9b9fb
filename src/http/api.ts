/** An API version's side of the pipeline (`pipeline.ts`). */
import type { SecretService } from '../core/secrets/service.ts';
import { basicChallenge, createAdmission } from './admission.ts';
import { createBodyReader } from './body.ts';
import type { ClientAddressOf } from './client-address.ts';
import { SharedText } from './compression.ts';
import { createCrossSitePolicy, type Origins } from './cross-site.ts';
import { addHeaders, declareLength, jsonResponse } from './headers.ts';
import type { Operation, Reply } from './operation.ts';
import { Call, createPipeline, type Observers, type Part, problemOf, type Side } from './pipeline.ts';
import { malformed, type Problem } from './problem.ts';
import type { RateLimiter } from './rate-limit.ts';
import { createRouteTable, type Endpoint, type Way } from './routes.ts';

/** `path` and `params` contain keys, so they are for the response only, never for a log. */
interface ProblemFacts {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly operation: string | null;
  readonly method: string;
}

export interface ApiSurface {
  readonly base: string;
  readonly operations: readonly Operation[];
  readonly encodeProblem: (problem: Problem, facts: ProblemFacts) => Reply;
  /** Applies only to paths without a key. */
  readonly acceptsTrailingSlash: boolean;
}

export interface ApiDeps extends Origins, Observers {
  readonly clientAddressOf: ClientAddressOf;
  readonly authenticate: SecretService['authenticate'];
  readonly limiter: RateLimiter;
  readonly bodyCapBytes: number;
  /** Time limit for reading a body. Default: 10,000. */
  readonly bodyLimitMs?: number;
}

type ApiCall = Call<Operation>;

export function createApi(surface: ApiSurface, deps: ApiDeps): Part {
  const { base, operations, acceptsTrailingSlash } = surface;
  const { authenticate, limiter, clientAddressOf, onAnswer, onFault } = deps;
  const sharing = createCrossSitePolicy(deps);
  const admit = createAdmission({ authenticate, limiter, crossSite: sharing });
  const callDeps = {
    clientAddressOf,
    readBody: createBodyReader({ capBytes: deps.bodyCapBytes, limitMs: deps.bodyLimitMs }),
    limiter,
    onFault,
  };
  const side: Side<{ target: Operation; call: ApiCall; reply: Reply; ownProblem: never }> = {
    onAnswer,
    onFault,
    routes: createRouteTable(base, operations.flatMap(waysTo), {
      trailingSlash: acceptsTrailingSlash,
      encodedLetters: false,
    }),
    sharing,
    open: (arrival) => new Call(arrival, callDeps),
    prepare: null,
    admit: (call, operation) => admit(operation, call),
    decode(call, endpoint) {
      call.params = paramsOf(endpoint, call.match?.values ?? []);
      return endpoint.target.decode(call);
    },
    handle: (call, operation, input) => operation.handle(input, call.caller, call),
    problemOf,
    recover: null,
    word: (call, problem) => surface.encodeProblem(problem, factsOf(call)),
    noContent: (headers) => ({ status: 204, body: null, headers }),
    respond: toResponse,
    nameOf: (call) => call.endpoint?.target.name ?? null,
  };
  return { base, serve: createPipeline(side) };
}

export function waysTo(operation: Operation): Way<Operation>[] {
  const { method, path, aliases = [] } = operation;
  return [{ method, path }, ...aliases].map((way) => ({ ...way, target: operation }));
}

type Params = Readonly<Record<string, string>>;
const noParams: Params = Object.freeze({});

/** Returns the percent-decoded parameters. Throws `RequestProblem('malformed')`. */
export function paramsOf({ paramNames }: Endpoint<Operation>, values: readonly string[]): Params {
  if (paramNames.length === 0) return noParams;
  const params: Record<string, string> = {};
  paramNames.forEach((name, at) => {
    params[name] = decodeSegment(values[at] ?? '');
  });
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw malformed('The path holds an invalid percent-encoding');
  }
}

function factsOf(call: ApiCall): ProblemFacts {
  return {
    path: call.path,
    params: call.params,
    operation: call.endpoint?.target.name ?? null,
    method: call.request.method,
  };
}

function toResponse(call: ApiCall, reply: Reply): Response {
  if (reply.body instanceof SharedText)
    return reply.body.putInto(jsonResponse(reply.status, '', call.requestId), call.request);
  const text = reply.body === null ? null : JSON.stringify(reply.body);
  const response = jsonResponse(reply.status, text, call.requestId);
  if (text !== null && call.request.method === 'HEAD') declareLength(response, text);
  if (reply.status === 401) response.headers.set('www-authenticate', basicChallenge);
  if (reply.headers !== undefined) addHeaders(response.headers, reply.headers);
  if (call.answerHeaders !== null) addHeaders(response.headers, call.answerHeaders);
  return response;
}
