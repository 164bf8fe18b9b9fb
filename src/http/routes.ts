/**
 * Paths to endpoints, for one part of the site.
 *
 * The path decides before the method does, so that a known path with a wrong method can say which are allowed. An encoded
 * slash never divides segments. Built once; a path without parameters is one look-up in a map.
 */
import { type OperationMethod, operationMethods } from './operation.ts';

/** What one method of one path leads to. */
export interface Way<Target> {
  readonly method: OperationMethod;
  /** Below the base, with `:name` for a segment. */
  readonly path: string;
  readonly target: Target;
}

export interface Endpoint<Target> {
  readonly target: Target;
  /** Names of the path's parameters, in order. */
  readonly paramNames: readonly string[];
}

export interface Route<Target> {
  readonly get: Endpoint<Target> | null;
  readonly post: Endpoint<Target> | null;
  readonly patch: Endpoint<Target> | null;
  /** Value of `Allow`. */
  readonly allow: string;
}

export interface RouteMatch<Target> {
  readonly route: Route<Target>;
  /** The segments for the parameters, percent-encoded as in the path that was matched. */
  readonly values: readonly string[];
}

export interface RouteTable<Target> {
  /** @param path below the server's root, without the query. */
  match(path: string): RouteMatch<Target> | null;
}

interface Spelling {
  /** Whether paths without parameters also answer with a slash at the end. */
  readonly trailingSlash: boolean;
  /** Whether letters may be percent-encoded, `/%61bout`. Otherwise a path has one spelling. */
  readonly encodedLetters: boolean;
}

const noValues: readonly string[] = [];

/** Throws where two ways have the same method and path. */
export function createRouteTable<Target>(
  base: string,
  ways: readonly Way<Target>[],
  { trailingSlash, encodedLetters }: Spelling,
): RouteTable<Target> {
  const plain = new Map<string, RouteMatch<Target>>();
  const root = newBranch<Target>();
  for (const { method, path, target } of ways) {
    const { route, paramNames } = plant(root, path.split('/').slice(1));
    addEndpoint(route, method, { target, paramNames }, path);
    if (paramNames.length > 0) continue;
    plain.set(base + path, { route, values: noValues });
    if (trailingSlash) plain.set(`${base}${path}/`, { route, values: noValues });
  }
  const prefix = `${base}/`;
  const match = (path: string): RouteMatch<Target> | null => {
    const known = plain.get(path);
    if (known !== undefined || !path.startsWith(prefix)) return known ?? null;
    return find(root, path.slice(prefix.length).split('/'), 0, noValues);
  };
  return { match: encodedLetters ? (path) => match(plainSpelling(path)) : match };
}

/**
 * The path with its letters decoded, so that each segment is still encoded: what would divide it (`%2F`, `%3F`), `%25` and
 * what does not decode stay. A `%` without two digits becomes `%25`, or decoding what follows could complete it.
 */
export function plainSpelling(path: string): string {
  if (!path.includes('%')) return path;
  return decodeWhereValid(path.replace(/%(?![\da-f]{2})/gi, '%25'), decodeLetters);
}

/** A segment of a path, decoded; what does not decode stays as it is. */
export function decodeLeniently(segment: string): string {
  return segment.includes('%') ? decodeWhereValid(segment, decodeURIComponent) : segment;
}

function decodeLetters(path: string): string {
  return decodeURI(path.replaceAll('%25', '%2525'));
}

function decodeWhereValid(text: string, decode: (encoded: string) => string): string {
  const tryDecode = (encoded: string): string | null => {
    try {
      return decode(encoded);
    } catch {
      return null;
    }
  };
  return tryDecode(text) ?? text.replace(/(?:%[\da-f]{2})+/gi, (run) => tryDecode(run) ?? run);
}

interface Branch<Target> {
  route: Writable<Route<Target>> | null;
  readonly literal: Map<string, Branch<Target>>;
  parameter: Branch<Target> | null;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

function newBranch<Target>(): Branch<Target> {
  return { route: null, literal: new Map(), parameter: null };
}

function plant<Target>(
  root: Branch<Target>,
  segments: readonly string[],
): { route: Writable<Route<Target>>; paramNames: string[] } {
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

function addEndpoint<Target>(
  route: Writable<Route<Target>>,
  method: OperationMethod,
  endpoint: Endpoint<Target>,
  path: string,
): void {
  const slot = slots[method];
  if (route[slot] !== null) throw new Error(`${method} ${path} is served twice`);
  route[slot] = endpoint;
  const methods = operationMethods.filter((each) => route[slots[each]] !== null);
  const answered = methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]));
  route.allow = [...answered, 'OPTIONS'].join(', ');
}

/** HEAD is answered as GET. */
export function endpointFor<Target>(route: Route<Target>, method: string): Endpoint<Target> | null {
  if (method === 'POST') return route.post;
  if (method === 'PATCH') return route.patch;
  return method === 'GET' || method === 'HEAD' ? route.get : null;
}

/** Literals go before parameters; an empty segment is never a parameter. */
function find<Target>(
  branch: Branch<Target>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): RouteMatch<Target> | null {
  const segment = segments[at];
  if (segment === undefined) return branch.route === null ? null : { route: branch.route, values };
  const literal = branch.literal.get(segment);
  const found = literal === undefined ? null : find(literal, segments, at + 1, values);
  if (found !== null || branch.parameter === null || segment === '') return found;
  return find(branch.parameter, segments, at + 1, [...values, segment]);
}
