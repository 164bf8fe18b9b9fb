/**
 * One request at the address without a region: to which region it goes, and what the client hears.
 *
 * Owns: the order of decisions. Invariant: what names a key goes to the region of that key and nowhere else; what carries
 * credentials goes to the region that knows them; only what belongs to no region yet goes by preference. A lost region is
 * never answered for by another.
 */

import type { RegionLabel } from '../core/regions.ts';
import type { PeerSource } from '../http/client-address.ts';
import { parseBasic } from '../http/credentials.ts';
import { type ApiVersion, destinationOf, labelIn } from './destination.ts';
import type { Fleet, RouterRegion } from './fleet.ts';
import type { HomeRegions } from './home-regions.ts';
import { type HopRequest, isSafe } from './hop.ts';
import { lostPage, redirectTo } from './pages.ts';
import { byPreference, type Preference } from './preference.ts';
import { noRegion, outcomeUnknown, type Refusal, refuseApi, regionLost } from './refusals.ts';
import { type RequestDeps, readRequest } from './request.ts';
import type { Send, Sent } from './sender.ts';

export interface RouterDeps extends RequestDeps, Preference {
  readonly fleet: Fleet;
  readonly send: Send;
  readonly homes: HomeRegions;
  /** Since when this address is deprecated, in Unix seconds; `null` when it is not (RFC 9745). */
  readonly deprecatedSince: number | null;
  readonly onAnswer: OnAnswer;
}

/** Each answer, by the region that gave it or should have; `null` when there is none. */
export type OnAnswer = (label: RegionLabel | null, status: number) => void;

export type Route = (request: Request, peer: PeerSource | undefined) => Promise<Response>;

/** An answer, and the region that gave it or should have. */
interface Routed {
  readonly response: Response;
  readonly region: RouterRegion | null;
}

/** A request under `/api`. */
interface ApiCall {
  readonly version: ApiVersion;
  readonly request: HopRequest;
}

export function createRouter(deps: RouterDeps): Route {
  return async (request, peer) => {
    const { path, target } = partsOf(request.url);
    const destination = destinationOf(path);
    const { response, region } =
      destination.kind === 'page'
        ? await answerPage(deps, request, target, destination.key)
        : await answerApi(deps, request, peer, { ...destination, target });
    if (deps.deprecatedSince !== null) sayDeprecated(response.headers, deps.deprecatedSince, region);
    deps.onAnswer(region?.label ?? null, response.status);
    return response;
  };
}

interface Parts {
  /** What the router decides by: without query, and without a fragment. */
  readonly path: string;
  /** As received. A request line should hold no `#`; if it does, its region refuses it rather than cut a value short. */
  readonly target: string;
}

function partsOf(url: string): Parts {
  const start = url.indexOf('/', 8);
  const target = url.slice(start);
  const end = target.search(/[?#]/);
  return { path: end === -1 ? target : target.slice(0, end), target };
}

/** The older link goes on; the preferred address is named beside it (RFC 9745 §2, RFC 8288). */
function sayDeprecated(headers: Headers, since: number, region: RouterRegion | null): void {
  headers.set('deprecation', `@${since}`);
  if (region !== null) headers.append('link', `<${region.baseUrl}>; rel="alternate"`);
}

interface ApiTarget {
  readonly version: ApiVersion;
  readonly key: string | null;
  readonly target: string;
}

async function answerApi(
  deps: RouterDeps,
  incoming: Request,
  peer: PeerSource | undefined,
  { version, key, target }: ApiTarget,
): Promise<Routed> {
  const reading = await readRequest(incoming, peer, target, deps);
  if (reading.outcome === 'refused') {
    const response = refuseApi(version, incoming.method, reading.refusal);
    if (reading.isConnectionOver) response.headers.set('connection', 'close');
    return { response, region: null };
  }
  const call: ApiCall = { version, request: reading.request };
  if (key !== null) return askRegion(deps, call, deps.fleet.regionOf(labelIn(key)));
  const authorization = incoming.headers.get('authorization');
  // What are no credentials is refused by any region alike.
  if (authorization === null || parseBasic(authorization) === null) return askPreferred(deps, call);
  return askHome(deps, call, authorization, reading.clientAddress);
}

async function askRegion(deps: RouterDeps, call: ApiCall, region: RouterRegion): Promise<Routed> {
  return toAnswer(await deps.send(region, call.request), call, region);
}

async function askHome(
  deps: RouterDeps,
  call: ApiCall,
  authorization: string,
  clientAddress: string,
): Promise<Routed> {
  const home = await deps.homes.find(authorization, clientAddress);
  if (home.outcome === 'stranger') return askPreferred(deps, call);
  if (home.outcome === 'lost') return refuse(call, regionLost(home.region.label), home.region);
  const routed = await askRegion(deps, call, home.region);
  if (routed.response.status === 401) deps.homes.forget(authorization);
  return routed;
}

async function askPreferred(deps: RouterDeps, call: ApiCall): Promise<Routed> {
  const isRepeatable = isSafe(call.request.method);
  for (const region of candidates(deps, isRepeatable)) {
    const sent = await deps.send(region, call.request);
    if (sent.outcome === 'lost' || (sent.outcome === 'unknown' && isRepeatable)) continue;
    return toAnswer(sent, call, region);
  }
  return refuse(call, noRegion, null);
}

/** The well ones by preference; for what changes nothing, then also those that shall get nothing new. */
function candidates(deps: RouterDeps, isRepeatable: boolean): readonly RouterRegion[] {
  const well = deps.fleet.regions.filter(deps.fleet.isWell);
  const preferred = byPreference(well, deps);
  return isRepeatable ? [...new Set([...preferred, ...well])] : preferred;
}

function toAnswer(sent: Sent, call: ApiCall, region: RouterRegion): Routed {
  if (sent.outcome === 'answered') return { response: sent.response, region };
  if (sent.outcome === 'lost') return refuse(call, regionLost(region.label), region);
  const { method } = call.request;
  return refuse(call, isSafe(method) ? regionLost(region.label) : outcomeUnknown(region.label), region);
}

function refuse({ version, request }: ApiCall, refusal: Refusal, region: RouterRegion | null): Routed {
  return { response: refuseApi(version, request.method, refusal), region };
}

async function answerPage(
  deps: RouterDeps,
  { headers }: Request,
  target: string,
  key: string | null,
): Promise<Routed> {
  const { fleet } = deps;
  const keeper = key === null ? null : fleet.regionOf(labelIn(key));
  const region = keeper ?? candidates(deps, false)[0] ?? null;
  if (region !== null && fleet.isWell(region)) return { response: redirectTo(region, target), region };
  const others = candidates(deps, false).filter((other) => other !== keeper);
  return { response: await lostPage(keeper, others, headers.get('accept-language')), region };
}
