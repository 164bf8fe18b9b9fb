/**
 * Prepares a client's request for a region: finds its key, filters its fields, reads its body. The router reads the key as the region does
 * (one segment, percent-decoded once), so that both identify the same secret. The region gets exactly one `X-Forwarded-For`, the address
 * that the router found (RFC 9110 §7.6). Client claims about addresses, hosts or the connection are dropped, and no field that affects a
 * region's decisions can be suppressed. Bodies up to the cap are read in full first, so that slow clients tie up no connection to a region.
 */
import { parseSecretKey, type RegionLabel, regionOfKey } from '../core/keys.ts';
import { builtInPlans } from '../core/plans.ts';
import { BodyTimeout, bodyCapBytesFor, type ReadBody } from '../http/body.ts';
import type { ClientAddressOf, PeerSource } from '../http/client-address.ts';
import { RequestProblem } from '../http/problem.ts';
import { decodeLeniently } from '../http/routes.ts';
import { endOfTurn } from '../http/turn.ts';
import { type BodyStream, type HopRequest, isSafe } from './fleet.ts';
import { type ApiVersion, circle, malformed, type Refusal } from './own-answers.ts';

export type Destination =
  | { readonly kind: 'api'; readonly version: ApiVersion; readonly key: string | null }
  | { readonly kind: 'page'; readonly key: string | null };

/** Path segments that precede a key, and words that may be in a key's place without being keys. */
const beforeKey: Readonly<Record<ApiVersion | 'page', ReadonlySet<string>>> = {
  v1: new Set(['secret', 'private', 'metadata', 'receipt']),
  v2: new Set(['secret', 'private', 'receipt', 'request']),
  page: new Set(['secret', 'private', 'receipt', 'ask', 'answers']),
};
const noKeys = new Set(['', 'recent', 'conceal', 'generate', 'batch', 'status']);

export function destinationOf(path: string): Destination {
  const segments = path.split('/');
  // The API reference counts as a page, because it uses its region's style sheet.
  const isPage = segments[1] !== 'api' || (segments[2] === 'docs' && segments.length === 3);
  if (isPage) return { kind: 'page', key: keyAt(segments, 1, 'page') };
  // An unknown version is treated as the latest, as the regions do.
  const version = segments[2] === 'v1' ? 'v1' : 'v2';
  if (segments[2] !== version) return { kind: 'api', version, key: null };
  const start = version === 'v2' && segments[3] === 'guest' ? 4 : 3;
  return { kind: 'api', version, key: keyAt(segments, start, version) };
}

function keyAt(segments: readonly string[], at: number, of: keyof typeof beforeKey): string | null {
  const key = segments[at + 1];
  if (key === undefined || noKeys.has(key)) return null;
  return beforeKey[of].has(segments[at] ?? '') ? key : null;
}

export function labelIn(segment: string): RegionLabel | null {
  const key = parseSecretKey(decodeLeniently(segment));
  return key === null ? null : regionOfKey(key);
}

/** Hop-by-hop fields, and those rewritten for the next hop. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
  'content-length',
  'via',
  // Claims about the client and the target, which only a region's own proxies may make.
  'forwarded',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-host',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
]);
const forwardedPrefix = 'x-forwarded';

/** Fields that affect a region's decisions: `Connection` must not remove them. */
export const decisiveFields: ReadonlySet<string> = new Set([
  'authorization',
  'content-type',
  'content-encoding',
  'sec-fetch-site',
  'origin',
  'cookie',
  'secret-passphrase',
  'idempotency-key',
  'access-control-request-method',
  'accept-encoding',
  // Needed to show a browser with a foreign host name a page in its own language.
  'accept',
  'accept-language',
]);

export type Fields = [name: string, value: string][];

/** @returns `null` if `Connection` names one of `decisiveFields` */
export function fieldsForRegion(headers: Headers, clientAddress: string, via: string): Fields | null {
  const options = connectionOptions(headers.get('connection'));
  if (options.some((name) => decisiveFields.has(name))) return null;
  const fields: Fields = [];
  headers.forEach((value, name) => {
    if (dropped.has(name) || name.startsWith(forwardedPrefix) || options.includes(name)) return;
    fields.push([name, value]);
  });
  const before = headers.get('via');
  fields.push(
    ['x-forwarded-for', clientAddress],
    ['via', `${before === null ? '' : `${before}, `}1.1 ${via}`],
  );
  return fields;
}

const noOptions: readonly string[] = [];

function connectionOptions(value: string | null): readonly string[] {
  if (value === null || value === 'keep-alive' || value === 'close') return noOptions;
  return value.toLowerCase().split(/[\t ]*,[\t ]*/);
}

/** The largest API body of a region with the built-in plans, except end-to-end secrets, which are streamed. */
export const wholeBytes = bodyCapBytesFor(builtInPlans);

export interface RequestDeps {
  readonly clientAddressOf: ClientAddressOf;
  readonly readBody: ReadBody;
  /** This router's unique name in `Via`. */
  readonly via: string;
}

export type RequestReading =
  | { readonly outcome: 'read'; readonly request: HopRequest; readonly clientAddress: string }
  | { readonly outcome: 'refused'; readonly refusal: Refusal; readonly isConnectionOver: boolean };

function refused(refusal: Refusal, isConnectionOver = false): RequestReading {
  return { outcome: 'refused', refusal, isConnectionOver };
}

export async function readRequest(
  request: Request,
  peer: PeerSource | undefined,
  target: string,
  deps: RequestDeps,
): Promise<RequestReading> {
  const { method, headers, signal } = request;
  if (headers.get('via')?.includes(deps.via) === true) return refused(circle);
  const clientAddress = deps.clientAddressOf(request, peer);
  const fields = fieldsForRegion(headers, clientAddress, deps.via);
  if (fields === null)
    return refused(malformed('Connection may not name a field that the request is decided by'));
  // A safeguard: the runtime lets no other characters through, and a request line cannot contain them.
  if (!/^[\x21-\x7e]+$/.test(target)) return refused(malformed('The address is not well-formed'));
  try {
    const body = await readContent(request, deps.readBody);
    // A pipelined second request ends the connection, so the region sees neither (P3). Reading a body in full has already ended the turn.
    if (!isSafe(method) && !(body instanceof Uint8Array)) await endOfTurn();
    return { outcome: 'read', request: { method, target, fields, body, signal }, clientAddress };
  } catch (error) {
    if (!(error instanceof RequestProblem) || error.problem.problem !== 'malformed') throw error;
    return refused(malformed(error.problem.message), error instanceof BodyTimeout);
  }
}

function readContent(request: Request, readBody: ReadBody): null | BodyStream | Promise<Uint8Array> {
  const { method, headers } = request;
  if (isSafe(method)) return null;
  const declared = headers.get('content-length');
  if (declared === '0' || (declared === null && !headers.has('transfer-encoding'))) return null;
  if (declared !== null && Number(declared) <= wholeBytes) return readBody(request);
  const stream = request.body;
  return stream === null ? null : { stream, lengthBytes: declared === null ? null : Number(declared) };
}
