/**
 * Decides which region a request goes to. A request that names a key goes only to that key's region, one with credentials to the region
 * that knows them, and any other by preference. No region substitutes for an unreachable one.
 */

import type { RegionLabel } from '../core/keys.ts';
import type { RandomBytes } from '../crypto/random.ts';
import { parseBasic } from '../http/admission.ts';
import type { PeerSource } from '../http/client-address.ts';
import { randomBelow } from '../protocol/drawing.ts';
import { type Fleet, type HopRequest, isSafe, type RouterRegion, type Send, type Sent } from './fleet.ts';
import type { HomeRegions } from './home-regions.ts';
import {
  type ApiVersion,
  accountElsewhere,
  lostPage,
  noRegion,
  outcomeUnknown,
  type Refusal,
  redirectTo,
  refuseApi,
  regionLost,
} from './own-answers.ts';
import { destinationOf, labelIn, type RequestDeps, readRequest } from './request.ts';

export interface Preference {
  readonly weights: Readonly<Record<string, number>> | null;
  readonly random: RandomBytes;
}

/**
 * Returns the regions to try, preferred first. If there are weights, a region with weight 0 or none gets no new secrets.
 * @param healthy in the operator's order
 */
export function byPreference(
  healthy: readonly RouterRegion[],
  { weights, random }: Preference,
): readonly RouterRegion[] {
  if (weights === null) return healthy;
  const weightOf = ({ label }: RouterRegion) => weights[label] ?? 0;
  const left = healthy.filter((region) => weightOf(region) > 0);
  const drawn: RouterRegion[] = [];
  while (left.length > 0) {
    let draw = randomBelow(
      left.reduce((sum, region) => sum + weightOf(region), 0),
      random,
    );
    const at = left.findIndex((region) => {
      draw -= weightOf(region);
      return draw < 0;
    });
    drawn.push(...left.splice(at, 1));
  }
  return drawn;
}

export interface RouterDeps extends RequestDeps, Preference {
  readonly fleet: Fleet;
  readonly send: Send;
  readonly homes: HomeRegions;
  /** When this address was deprecated, in Unix seconds (RFC 9745); `null` if it is not. */
  readonly deprecatedSince: number | null;
  readonly onAnswer: OnAnswer;
}

export type OnAnswer = (label: RegionLabel | null, status: number) => void;

export type Route = (request: Request, peer: PeerSource | undefined) => Promise<Response>;

/** A response, and the region that sent it or should have. */
interface Routed {
  readonly response: Response;
  readonly region: RouterRegion | null;
}

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
  readonly path: string;
  /** As received. A request line should contain no `#`; the region refuses it rather than cut a value short. */
  readonly target: string;
}

function partsOf(url: string): Parts {
  const start = url.indexOf('/', 8);
  const target = url.slice(start);
  const end = target.search(/[?#]/);
  return { path: end === -1 ? target : target.slice(0, end), target };
}

/** Marks this address, which still works, as deprecated, and links to the preferred one (RFC 9745 §2, RFC 8288). */
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
  const keeper = key === null ? null : deps.fleet.regionOf(labelIn(key));
  // Regions ignore a guest's credentials.
  const isGuest = key !== null && target.startsWith('/api/v2/guest/');
  const authorization = isGuest ? null : incoming.headers.get('authorization');
  // Every region refuses malformed credentials alike.
  if (authorization === null || parseBasic(authorization) === null) return askKeeper(deps, call, keeper);
  return askHome(deps, call, keeper, authorization, reading.clientAddress);
}

function askKeeper(deps: RouterDeps, call: ApiCall, keeper: RouterRegion | null): Promise<Routed> {
  return keeper === null ? askPreferred(deps, call) : askRegion(deps, call, keeper);
}

async function askRegion(deps: RouterDeps, call: ApiCall, region: RouterRegion): Promise<Routed> {
  return toAnswer(await deps.send(region, call.request), call, region);
}

async function askHome(
  deps: RouterDeps,
  call: ApiCall,
  keeper: RouterRegion | null,
  authorization: string,
  clientAddress: string,
): Promise<Routed> {
  const home = await deps.homes.find(authorization, clientAddress, keeper);
  if (home.outcome === 'stranger') return askKeeper(deps, call, keeper);
  const isAbroad = keeper !== null && keeper !== home.region;
  if (isAbroad && home.outcome === 'home') return askAbroad(deps, call, keeper, home.region);
  // Only the home region could check these credentials, and it is not responding.
  if (isAbroad || home.outcome === 'lost') return refuse(call, regionLost(home.region.label), home.region);
  const routed = await askRegion(deps, call, home.region);
  if (routed.response.status === 401) deps.homes.forget(authorization);
  return routed;
}

/** Sends the request without its credentials, which are valid but unknown to the key's region: some operations need no account. */
async function askAbroad(
  deps: RouterDeps,
  { version, request }: ApiCall,
  keeper: RouterRegion,
  home: RouterRegion,
): Promise<Routed> {
  const fields = request.fields.filter(([name]) => name !== 'authorization');
  const call = { version, request: { ...request, fields } };
  const routed = await askRegion(deps, call, keeper);
  if (routed.response.status !== 401) return routed;
  return refuse(call, accountElsewhere(home.label, keeper.label), keeper);
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

/** Returns the healthy regions by preference, followed by draining regions if the method is safe. */
function candidates(deps: RouterDeps, isRepeatable: boolean): readonly RouterRegion[] {
  const healthy = deps.fleet.regions.filter(deps.fleet.isHealthy);
  const preferred = byPreference(healthy, deps);
  return isRepeatable ? [...new Set([...preferred, ...healthy])] : preferred;
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
  if (region !== null && fleet.isHealthy(region)) return { response: redirectTo(region, target), region };
  const others = candidates(deps, false).filter((other) => other !== keeper);
  return { response: await lostPage(keeper, others, headers.get('accept-language')), region };
}
