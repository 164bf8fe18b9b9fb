/**
 * Maps paths to endpoints. The path is matched before the method, so that a wrong method gets the list of allowed ones. An encoded slash
 * never divides segments. A path without parameters takes one map lookup.
 */
import { type OperationMethod, operationMethods } from './operation.ts';

export interface Way<Target> {
  readonly method: OperationMethod;
  readonly path: string;
  readonly target: Target;
}

export interface Endpoint<Target> {
  readonly target: Target;
  readonly paramNames: readonly string[];
}

export interface Route<Target> {
  readonly get: Endpoint<Target> | null;
  readonly post: Endpoint<Target> | null;
  readonly patch: Endpoint<Target> | null;
  readonly allow: string;
}

export interface RouteMatch<Target> {
  readonly route: Route<Target>;
  /** Percent-encoded as received. */
  readonly values: readonly string[];
}

export interface RouteTable<Target> {
  match(path: string): RouteMatch<Target> | null;
}

interface Spelling {
  /** Whether paths without parameters may end in a slash. */
  readonly trailingSlash: boolean;
  /** Whether letters may be percent-encoded, as in `/%61bout`. Otherwise a path has only one spelling. */
  readonly encodedLetters: boolean;
}

const noValues: readonly string[] = [];

/** Throws if two of `ways` have the same method and path. */
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
 * Decodes letters only. In segments, delimiters (`%2F`, `%3F`), `%25` and undecodable sequences remain encoded. A `%` without two digits
 * becomes `%25`; otherwise, decoding the characters after it could complete an escape.
 */
export function plainSpelling(path: string): string {
  if (!path.includes('%')) return path;
  return decodeWhereValid(path.replace(/%(?![\da-f]{2})/gi, '%25'), decodeLetters);
}

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

export function endpointFor<Target>(route: Route<Target>, method: string): Endpoint<Target> | null {
  if (method === 'POST') return route.post;
  if (method === 'PATCH') return route.patch;
  return method === 'GET' || method === 'HEAD' ? route.get : null;
}

/** Literal segments win over parameters; an empty segment is never a parameter. */
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
