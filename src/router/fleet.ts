/**
 * Tracks which of the regions' servers are healthy, and sends requests to them. The outcome shows whether a request may have been carried
 * out, which alone decides whether to resend it (RFC 9110 §9.2.2): a request that makes changes never goes to a second server once the
 * first may have received it.
 */
import type { Region, RegionLabel } from '../core/keys.ts';
import type { After } from '../core/time.ts';

export interface RegionServer {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
  readonly basePath: string;
  /** The Host header: always the region's own host. */
  readonly host: string;
}

export interface BodyStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** `null` means chunked. */
  readonly lengthBytes: number | null;
}

export interface HopRequest {
  readonly method: string;
  /** Path and query below the server's base path, as received; never contains spaces or control characters. */
  readonly target: string;
  /** End-to-end fields, names in lower case, without Host and Content-Length. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | BodyStream | null;
  readonly signal: AbortSignal;
}

export type HopOutcome =
  /** Without hop-by-hop fields. The body may still be arriving. */
  | { readonly outcome: 'answered'; readonly response: Response }
  /** No connection: nothing was sent. */
  | { readonly outcome: 'not_sent' }
  /** Sent without a valid response: the request may have been carried out. */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'left' };

export type Hop = (server: RegionServer, request: HopRequest) => Promise<HopOutcome>;

/** Checks whether a method is harmless to repeat (RFC 9110 §9.2.1). */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

export interface RouterRegion extends Region {
  readonly servers: readonly RegionServer[];
}

export interface Fleet {
  /** In the operator's order; never empty. */
  readonly regions: readonly RouterRegion[];
  /** Returns the region with this label, or else the first, where keys older than the regions belong. */
  regionOf(label: RegionLabel | null): RouterRegion;
  isHealthy(region: RouterRegion): boolean;
  inTurn(region: RouterRegion): readonly RegionServer[];
  setHealth(server: RegionServer, isHealthy: boolean): void;
}

export interface FleetDeps {
  /** Called when a region becomes healthy or unreachable, or its health is first known. */
  readonly onChange: (label: RegionLabel, isHealthy: boolean) => void;
}

export function createFleet(regions: readonly RouterRegion[], { onChange }: FleetDeps): Fleet {
  const [first] = regions;
  if (first === undefined) throw new Error('a router needs a region');
  const byLabel = new Map(regions.map((region) => [region.label, region]));
  const homeOf = new Map(
    regions.flatMap((region) => region.servers.map((server) => [server, region] as const)),
  );
  const healthy = new Set<RegionServer>();
  const known = new Map<RouterRegion, boolean>();
  const turns = new Map<RouterRegion, number>();
  const isHealthy = (region: RouterRegion) => region.servers.some((server) => healthy.has(server));
  return {
    regions,
    regionOf: (label) => (label === null ? first : (byLabel.get(label) ?? first)),
    isHealthy,
    inTurn(region) {
      const { servers } = region;
      if (servers.length === 1) return isHealthy(region) ? servers : [];
      const turn = ((turns.get(region) ?? 0) + 1) % servers.length;
      turns.set(region, turn);
      return [...servers.slice(turn), ...servers.slice(0, turn)].filter((server) => healthy.has(server));
    },
    setHealth(server, isServerHealthy) {
      const region = homeOf.get(server);
      if (region === undefined) return;
      if (isServerHealthy) healthy.add(server);
      else healthy.delete(server);
      const now = isHealthy(region);
      // A region with several servers is not down just because the first one checked is.
      if (known.get(region) === now) return;
      known.set(region, now);
      onChange(region.label, now);
    },
  };
}

/** @param upstreams server addresses by region label; a region without any is reached at its own address */
export function routerRegions(regions: readonly Region[], upstreams: readonly Region[]): RouterRegion[] {
  return regions.map((region) => {
    const own = upstreams.filter(({ label }) => label === region.label);
    const addresses = own.length === 0 ? [region] : own;
    return { ...region, servers: addresses.map(({ baseUrl }) => serverAt(baseUrl, region)) };
  });
}

function serverAt(address: string, region: Region): RegionServer {
  const { protocol, hostname, port, pathname } = new URL(address);
  const isTls = protocol === 'https:';
  return {
    isTls,
    // A URL puts an IPv6 address in brackets; a socket does not.
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    basePath: pathname.replace(/\/+$/, ''),
    host: new URL(region.baseUrl).host,
  };
}

export interface HealthWatchDeps {
  readonly fleet: Fleet;
  readonly hop: Hop;
  /** Called when a server does not respond at all, since requests in flight there would hang. */
  readonly abandon: (server: RegionServer) => void;
  readonly after: After;
  readonly everyMs: number;
  readonly limitMs: number;
}

export interface HealthWatch {
  check(server: RegionServer): Promise<void>;
  checkAll(): Promise<void>;
  stop(): void;
}

/**
 * Polls every server's `/readyz`, at most one poll per server at a time, each with a time limit. A server that is not ready or refuses
 * connections is unhealthy immediately; a slow one only after two slow polls in a row, because a busy second is not an outage.
 */
export function createHealthWatch(deps: HealthWatchDeps): HealthWatch {
  const { fleet, hop, abandon, after, everyMs, limitMs } = deps;
  const underWay = new Map<RegionServer, Promise<void>>();
  const cancels = new Map<RegionServer, () => void>();
  const slow = new Set<RegionServer>();
  let isStopped = false;

  const ask = async (server: RegionServer): Promise<void> => {
    const limit = new AbortController();
    const cancel = after(limitMs, () => limit.abort());
    const request = { method: 'GET', target: '/readyz', fields: [], body: null, signal: limit.signal };
    const answer = await hop(server, request).finally(cancel);
    underWay.delete(server);
    if (isStopped) return;
    const wasSlow = slow.has(server);
    if (answer.outcome === 'left') slow.add(server);
    else slow.delete(server);
    if (answer.outcome !== 'left' || wasSlow) {
      fleet.setHealth(server, answer.outcome === 'answered' && answer.response.status === 200);
      if (answer.outcome !== 'answered') abandon(server);
    }
    cancels.set(
      server,
      after(everyMs, () => void check(server)),
    );
  };
  const check = (server: RegionServer): Promise<void> => {
    const running = underWay.get(server);
    if (running !== undefined || isStopped) return running ?? Promise.resolve();
    cancels.get(server)?.();
    const asked = ask(server);
    underWay.set(server, asked);
    return asked;
  };
  return {
    check,
    async checkAll() {
      await Promise.all(fleet.regions.flatMap(({ servers }) => servers.map(check)));
    },
    stop() {
      isStopped = true;
      for (const cancel of cancels.values()) cancel();
    },
  };
}

export type Sent =
  | { readonly outcome: 'answered'; readonly response: Response }
  /** No server received the request: nothing was done. */
  | { readonly outcome: 'lost' }
  /** A server may have received the request, but gave no response. */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'left' };

export type Send = (region: RouterRegion, request: HopRequest) => Promise<Sent>;

export interface SenderDeps {
  readonly fleet: Fleet;
  readonly hop: Hop;
  readonly check: HealthWatch['check'];
}

export function createSender({ fleet, hop, check }: SenderDeps): Send {
  return async (region, request) => {
    let isUnknown = false;
    for (const server of tries(fleet.inTurn(region), isSafe(request.method))) {
      const sent = await hop(server, request);
      if (sent.outcome === 'answered' || sent.outcome === 'left') return sent;
      if (sent.outcome === 'not_sent') {
        fleet.setHealth(server, false);
        continue;
      }
      void check(server);
      if (!isSafe(request.method)) return { outcome: 'unknown' };
      isUnknown = true;
    }
    return { outcome: isUnknown ? 'unknown' : 'lost' };
  };
}

/** Lists each server once, but a lone one twice for safe methods, because its kept-alive connection may have just closed. */
function tries(servers: readonly RegionServer[], isRepeatable: boolean): readonly RegionServer[] {
  return isRepeatable && servers.length === 1 ? [...servers, ...servers] : servers;
}
