/**
 * Composes, starts and stops the router, with its own `/healthz` and `/readyz`.
 *
 * It listens only after every server was asked once, and is ready while one region is. It holds no store and no key of a server, and
 * writes nothing to disk.
 */
import type { TrustedProxies } from '../config/addresses.ts';
import type { Region, RegionLabel } from '../core/keys.ts';
import { type RandomBytes, systemRandom } from '../crypto/random.ts';
import { createBodyReader } from '../http/body.ts';
import { type ClientAddressOf, createClientAddressOf, type PeerSource } from '../http/client-address.ts';
import { healthAnswers } from '../http/health.ts';
import { ListenError, startServer } from '../http/server.ts';
import { createUpstreamClient } from './connection.ts';
import {
  createFleet,
  createHealthWatch,
  createSender,
  type Fleet,
  type FleetDeps,
  type HealthWatch,
  type HealthWatchDeps,
  type Hop,
  type HopRequest,
  type RouterRegion,
  routerRegions,
  type Send,
} from './fleet.ts';
import { createHomeRegions, type Recognition } from './home-regions.ts';
import { wholeBytes } from './request.ts';
import { createRouter, type OnAnswer } from './router.ts';

export interface RouterSettings {
  /** In the operator's order; not empty. */
  readonly regions: readonly RouterRegion[];
  readonly weights: Readonly<Record<string, number>> | null;
  readonly deprecatedSince: number | null;
  readonly clientAddressOf: ClientAddressOf;
  readonly onChange: FleetDeps['onChange'];
  readonly onAnswer: OnAnswer;
}

export interface RouterParts {
  readonly fetch: (request: Request, peer: PeerSource | undefined) => Response | Promise<Response>;
  readonly fleet: Fleet;
  readonly health: HealthWatch;
}

export interface RouterEdges {
  readonly hop: Hop;
  readonly abandon: HealthWatchDeps['abandon'];
  readonly after: HealthWatchDeps['after'];
  readonly random: RandomBytes;
  readonly nowMs: () => number;
  /** How long a body may take; 10 s when absent. */
  readonly bodyLimitMs?: number;
}

const healthEveryMs = 2_000;
const healthLimitMs = 1_000;
/** A request waits while the regions are asked about its credentials. */
const recognitionLimitMs = 5_000;

/** The router without its sockets and its clock. */
export function assembleRouter(settings: RouterSettings, edges: RouterEdges): RouterParts {
  const { hop, abandon, after, random, nowMs, bodyLimitMs } = edges;
  const { regions, weights, deprecatedSince, clientAddressOf, onChange, onAnswer } = settings;
  const fleet = createFleet(regions, { onChange });
  const health = createHealthWatch({
    ...{ fleet, hop, abandon, after },
    ...{ everyMs: healthEveryMs, limitMs: healthLimitMs },
  });
  const send = createSender({ fleet, hop, check: health.check });
  const via = `mayfly-${random(4).toHex()}`;
  const homes = createHomeRegions({ regions, ask: createAsker(send, via), key: random(32), nowMs });
  const readBody = createBodyReader({ capBytes: wholeBytes, limitMs: bodyLimitMs });
  const route = createRouter({
    ...{ fleet, send, homes, weights, random, deprecatedSince, clientAddressOf, readBody, via, onAnswer },
  });
  const own = new Map(healthAnswers({ isReady: () => regions.some(fleet.isHealthy) }));
  return {
    fleet,
    health,
    fetch: (request, peer) => own.get(targetOf(request.url))?.(request) ?? route(request, peer),
  };
}

/** Path and query. */
function targetOf(url: string): string {
  return url.slice(url.indexOf('/', 8));
}

function createAsker(send: Send, via: string) {
  return async (region: RouterRegion, authorization: string, clientAddress: string): Promise<Recognition> => {
    const request: HopRequest = {
      method: 'GET',
      target: '/api/v2/authcheck',
      fields: [
        ['authorization', authorization],
        ['x-forwarded-for', clientAddress],
        ['via', `1.1 ${via}`],
      ],
      body: null,
      signal: AbortSignal.timeout(recognitionLimitMs),
    };
    const sent = await send(region, request);
    return sent.outcome === 'answered' ? recognitionOf(sent.response.status) : 'lost';
  };
}

/** 403: the credentials are right but lack a scope. */
function recognitionOf(status: number): Recognition {
  if (status === 200 || status === 403) return 'known';
  if (status === 401) return 'unknown';
  return status === 429 ? 'withheld' : 'lost';
}

export interface RouterOptions {
  readonly hostname: string;
  readonly port: number;
  readonly regions: readonly Region[];
  /** Servers' addresses, by label. */
  readonly upstreams: readonly Region[];
  readonly weights: Readonly<Record<string, number>> | null;
  readonly deprecatedSince: number | null;
  readonly trustedProxies: TrustedProxies;
  /** Called once, when another proxy forwards requests. */
  readonly onUntrustedProxy?: () => void;
  readonly onChange: (label: RegionLabel, isHealthy: boolean) => void;
  readonly onAnswer: OnAnswer;
  readonly onFault: (error: unknown, requestId: string) => void;
  readonly onCrowd: () => void;
}

export type RouterStart =
  | { readonly outcome: 'listening'; readonly port: number; readonly stop: () => Promise<void> }
  | { readonly outcome: 'refused'; readonly problem: string };

/** Longer than the router waits for a region, so that the router answers first. */
const idleTimeoutSeconds = 60;
const graceMs = 8_000;

function settingsOf(options: RouterOptions): RouterSettings {
  const { regions, upstreams, weights, deprecatedSince, trustedProxies } = options;
  const { onChange, onAnswer, onUntrustedProxy } = options;
  return {
    regions: routerRegions(regions, upstreams),
    weights,
    deprecatedSince,
    clientAddressOf: createClientAddressOf(trustedProxies, onUntrustedProxy),
    ...{ onChange, onAnswer },
  };
}

export async function startRouter(options: RouterOptions): Promise<RouterStart> {
  const client = createUpstreamClient();
  const { hop, abandon } = client;
  const edges = { hop, abandon, after: afterMs, random: systemRandom, nowMs: () => performance.now() };
  const { fetch, health } = assembleRouter(settingsOf(options), edges);
  const close = () => {
    health.stop();
    client.close();
  };
  try {
    await health.checkAll();
    const { hostname, port, onFault, onCrowd } = options;
    const server = await startServer({ fetch, hostname, port, onFault, onCrowd, idleTimeoutSeconds });
    return { outcome: 'listening', port: server.port, stop: () => server.stop(graceMs).then(close) };
  } catch (error) {
    close();
    if (error instanceof ListenError) return { outcome: 'refused', problem: error.message };
    throw error;
  }
}

function afterMs(milliseconds: number, run: () => void): () => void {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
}
