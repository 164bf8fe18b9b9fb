/**
 * Paths to endpoints, for one API.
 *
 * Owns: matching inside an API's base. Invariant: the path decides before the method does, so that a known path with a
 * wrong method can say which are allowed; a path has one spelling (percent-encoded letters make another, unknown path),
 * and an encoded slash never divides segments. Built once; a path without a key is one look-up in a map.
 */
import { type Operation, type OperationMethod, operationMethods } from './operation.ts';
import { RequestProblem } from './problem.ts';

/** An operation as reached by one of its paths. */
export interface Endpoint {
  readonly operation: Operation;
  /** Names of the path's parameters, in order. */
  readonly paramNames: readonly string[];
}

export interface Route {
  readonly get: Endpoint | null;
  readonly post: Endpoint | null;
  readonly patch: Endpoint | null;
  /** Value of `Allow`. */
  readonly allow: string;
}

export interface RouteMatch {
  readonly route: Route;
  /** Segments that stand for parameters, percent-encoded as received. */
  readonly values: readonly string[];
}

export interface RouteTable {
  /** @param path below the server's root, without the query. */
  match(path: string): RouteMatch | null;
}

type Params = Readonly<Record<string, string>>;
const noParams: Params = Object.freeze({});
const noValues: readonly string[] = [];

interface MutableRoute {
  get: Endpoint | null;
  post: Endpoint | null;
  patch: Endpoint | null;
  allow: string;
}

interface Branch {
  route: MutableRoute | null;
  readonly literal: Map<string, Branch>;
  parameter: Branch | null;
}

export function createRouteTable(
  base: string,
  operations: readonly Operation[],
  acceptsTrailingSlash: boolean,
): RouteTable {
  const plain = new Map<string, RouteMatch>();
  const root = newBranch();
  for (const operation of operations) {
    const ways = [{ method: operation.method, path: operation.path }, ...(operation.aliases ?? [])];
    for (const { method, path } of ways) {
      const { route, paramNames } = plant(root, path.split('/').slice(1));
      addEndpoint(route, method, { operation, paramNames }, path);
      if (paramNames.length > 0) continue;
      plain.set(base + path, { route, values: noValues });
      if (acceptsTrailingSlash) plain.set(`${base}${path}/`, { route, values: noValues });
    }
  }
  const prefix = `${base}/`;
  return {
    match(path) {
      const known = plain.get(path);
      if (known !== undefined || !path.startsWith(prefix)) return known ?? null;
      return find(root, path.slice(prefix.length).split('/'), 0, []);
    },
  };
}

/** The endpoint's parameters, percent-decoded. Throws `RequestProblem('malformed')` for what does not decode. */
export function paramsOf(endpoint: Endpoint, values: readonly string[]): Params {
  if (endpoint.paramNames.length === 0) return noParams;
  const params: Record<string, string> = {};
  endpoint.paramNames.forEach((name, at) => {
    params[name] = decodeSegment(values[at] ?? '');
  });
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new RequestProblem({ problem: 'malformed', message: 'The path holds an invalid percent-encoding' });
  }
}

function newBranch(): Branch {
  return { route: null, literal: new Map(), parameter: null };
}

function plant(root: Branch, segments: readonly string[]): { route: MutableRoute; paramNames: string[] } {
  const paramNames: string[] = [];
  let branch = root;
  for (const segment of segments) {
    if (segment.startsWith(':')) {
      paramNames.push(segment.slice(1));
      branch.parameter ??= newBranch();
      branch = branch.parameter;
    } else {
      const next = branch.literal.get(segment) ?? newBranch();
      branch.literal.set(segment, next);
      branch = next;
    }
  }
  branch.route ??= { get: null, post: null, patch: null, allow: '' };
  return { route: branch.route, paramNames };
}

const slots = { GET: 'get', POST: 'post', PATCH: 'patch' } as const;

function addEndpoint(route: MutableRoute, method: OperationMethod, endpoint: Endpoint, path: string): void {
  const slot = slots[method];
  if (route[slot] !== null) throw new Error(`${method} ${path} is served twice`);
  route[slot] = endpoint;
  const methods = operationMethods.filter((each) => route[slots[each]] !== null);
  const answered = methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]));
  route.allow = [...answered, 'OPTIONS'].join(', ');
}

/** Literals go before parameters; an empty segment is never a parameter. */
function find(
  branch: Branch,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): RouteMatch | null {
  const segment = segments[at];
  if (segment === undefined) return branch.route === null ? null : { route: branch.route, values };
  const literal = branch.literal.get(segment);
  const found = literal === undefined ? null : find(literal, segments, at + 1, values);
  if (found !== null || branch.parameter === null || segment === '') return found;
  return find(branch.parameter, segments, at + 1, [...values, segment]);
}
