/**
 * The router in front of a test's app, without a socket.
 *
 * The app is the first region. The second passes its health check and knows no account; it refuses everything else, so a
 * misrouted request fails its test.
 */

import { parseRegionLabel, type RegionLabel } from '../../src/core/keys.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { createClientAddressOf } from '../../src/http/client-address.ts';
import { type Hop, type HopOutcome, type HopRequest, routerRegions } from '../../src/router/fleet.ts';
import { assembleRouter, type RouterParts } from '../../src/router/start.ts';
import { proxiesOf } from './settings.ts';

export type Handler = (request: Request, server?: object) => Response | Promise<Response>;

const front = process.env.MAYFLY_TEST_FRONT;
const isRouted = front === 'router' || front === 'astray';

function labelOf(text: string): RegionLabel {
  const label = parseRegionLabel(text);
  if (label === null) throw new Error(`${text} is no label`);
  return label;
}
const [us, eu] = [labelOf('us'), labelOf('eu')];

/** The region whose tag the app's keys carry; `null` without a router. */
export function frontRegion(): RegionLabel | null {
  if (!isRouted) return null;
  return front === 'astray' ? eu : us;
}

/** The handler itself, or the router in front of it. @param trustedProxies the app's own */
export function standBefore(handler: Handler, trustedProxies: readonly string[]): Handler {
  return isRouted ? routerBefore(handler, trustedProxies) : handler;
}

function routerBefore(handler: Handler, trustedProxies: readonly string[]): Handler {
  let routing: Promise<RouterParts> | null = null;
  return async (request, server) => {
    routing ??= startRouting(handler, trustedProxies);
    const { fetch } = await routing;
    return fetch(await asSent(request), server);
  };
}

async function startRouting(handler: Handler, trustedProxies: readonly string[]): Promise<RouterParts> {
  const trusted = proxiesOf(trustedProxies);
  const [first, second] = [us, eu].map((label) => ({ label, baseUrl: `https://${label}.mayfly.example` }));
  if (first === undefined || second === undefined) throw new Error('two regions are needed');
  const regions = routerRegions([first, second], []);
  const hop: Hop = (to, request) =>
    to.host.startsWith('us.') ? hopTo(handler, to.host, request) : stranger(request);
  const settings = { regions, weights: null, deprecatedSince: null, onChange: () => {}, onAnswer: () => {} };
  const idle = { abandon: () => {}, after: () => () => {} };
  const edges = { ...idle, hop, random: systemRandom, nowMs: () => performance.now() };
  const clientAddressOf = createClientAddressOf(trusted);
  const parts = assembleRouter({ ...settings, clientAddressOf }, edges);
  for (const { servers } of regions) for (const server of servers) parts.fleet.setHealth(server, true);
  return parts;
}

/** Adds the Content-Length that a client's library would send. */
async function asSent(request: Request): Promise<Request> {
  if (request.body === null || request.headers.has('content-length')) return request;
  const body = await request.bytes();
  const headers = new Headers(request.headers);
  headers.set('content-length', String(body.length));
  return new Request(request.url, { method: request.method, headers, body, signal: request.signal });
}

export async function hopTo(handler: Handler, host: string, request: HopRequest): Promise<HopOutcome> {
  const { method, target, fields, body, signal } = request;
  const content = body === null ? {} : { body: 'stream' in body ? body.stream : (body as BodyInit) };
  const headers = [...fields.map(([name, value]): [string, string] => [name, value])];
  const sent = new Request(`http://${host}${target}`, { method, headers, signal, ...content });
  sent.headers.set('host', host);
  return { outcome: 'answered', response: await handler(sent) };
}

async function stranger({ target }: HopRequest): Promise<HopOutcome> {
  if (target !== '/api/v2/authcheck') return { outcome: 'unknown' };
  return { outcome: 'answered', response: new Response(null, { status: 401 }) };
}
