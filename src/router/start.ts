/**
 * Composes, starts and stops the router, with its own `/healthz` and `/readyz`. It starts listening after checking every server once, and
 * is ready as long as any region is. It has no store or server keys, and writes nothing to disk.
 */
import type { Settings } from '../config/read.ts';
import { type RandomBytes, systemRandom } from '../crypto/random.ts';
import { createBodyReader } from '../http/body.ts';
import { type ClientAddressOf, createClientAddressOf, type PeerSource } from '../http/client-address.ts';
import { healthAnswers } from '../http/health.ts';
import { type InternalServer, startInternalServer } from '../http/internal-server.ts';
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
  readonly bodyLimitMs?: number;
}

const healthEveryMs = 2_000;
const healthLimitMs = 1_000;
/** Time limit for checking credentials, while the request waits. */
const recognitionLimitMs = 5_000;

/** Builds the router without sockets or a clock. */
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

/** 403 means that the credentials are right but lack a scope. */
function recognitionOf(status: number): Recognition {
  if (status === 200 || status === 403) return 'known';
  if (status === 401) return 'unknown';
  return status === 429 ? 'withheld' : 'lost';
}

export interface RouterObservers {
  /** `null` if there is no internal port. */
  readonly metrics: {
    readonly countAnswer: OnAnswer;
    readonly setRegionHealth: FleetDeps['onChange'];
    readonly render: () => Promise<string>;
  } | null;
  readonly onUntrustedProxy: () => void;
  readonly onChange: FleetDeps['onChange'];
  readonly onFault: (error: unknown, requestId?: string) => void;
  readonly onCrowd: () => void;
}

export type RouterStart =
  | { readonly outcome: 'listening'; readonly port: number; readonly stop: () => Promise<void> }
  | { readonly outcome: 'refused'; readonly problem: string };

/** Longer than the router waits for a region, so that the router responds first. */
const idleTimeoutSeconds = 60;
const graceMs = 8_000;

function settingsOf(settings: Settings, observers: RouterObservers): RouterSettings {
  const { metrics, onChange, onUntrustedProxy } = observers;
  return {
    regions: routerRegions(settings.regions, settings.routerUpstreams),
    weights: settings.routerWeights,
    deprecatedSince: settings.routerDeprecation,
    clientAddressOf: createClientAddressOf(settings.trustedProxies, onUntrustedProxy),
    onChange(label, isHealthy) {
      onChange(label, isHealthy);
      metrics?.setRegionHealth(label, isHealthy);
    },
    onAnswer: metrics?.countAnswer ?? (() => {}),
  };
}

async function listenInternally(
  { internalHost: hostname, internalPort: port }: Settings,
  { metrics, onFault }: RouterObservers,
): Promise<InternalServer | null> {
  if (port === null || metrics === null) return null;
  // Share domains belong to regions, so a router needs no certificates for them.
  const isVerified = async () => false;
  return startInternalServer({ hostname, port }, { metrics, isVerified, onFault: (error) => onFault(error) });
}

/** Runs `mayfly router`. It starts listening only once its internal port is open. */
export async function startRouter(settings: Settings, observers: RouterObservers): Promise<RouterStart> {
  const internal = await listenInternally(settings, observers);
  if (internal?.outcome === 'refused') return internal;
  const stopInternal = async () => void (await internal?.stop());
  const router = await listen(settings, observers);
  if (router.outcome === 'listening') return { ...router, stop: () => router.stop().then(stopInternal) };
  await stopInternal();
  return router;
}

async function listen(settings: Settings, observers: RouterObservers): Promise<RouterStart> {
  const client = createUpstreamClient();
  const { hop, abandon } = client;
  const edges = { hop, abandon, after: afterMs, random: systemRandom, nowMs: () => performance.now() };
  const { fetch, health } = assembleRouter(settingsOf(settings, observers), edges);
  const close = () => {
    health.stop();
    client.close();
  };
  try {
    await health.checkAll();
    const { host: hostname, port } = settings;
    const { onFault, onCrowd } = observers;
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
