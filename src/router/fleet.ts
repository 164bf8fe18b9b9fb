/**
 * The regions' servers: which are healthy, and sending a request to one of them.
 *
 * An outcome says whether the request can have been carried out, because that alone decides whether it may be sent again
 * (RFC 9110 §9.2.2): what changes something never goes to a second server once a first may have it.
 */
import type { Region, RegionLabel } from '../core/keys.ts';

/** One server of a region, as the router reaches it. */
export interface RegionServer {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
  /** Prefix of every path, `''` or `/path`. */
  readonly basePath: string;
  /** The Host header: the region's own, whatever the server's address is. */
  readonly host: string;
}

/** A body passed on as it arrives. */
export interface BodyStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** As declared; `null` when chunked. */
  readonly lengthBytes: number | null;
}

export interface HopRequest {
  readonly method: string;
  /** Path and query below the server's base path, as received: no space, no control character. */
  readonly target: string;
  /** End-to-end fields, names in lower case, without Host and Content-Length. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** `null` for a request without content. */
  readonly body: Uint8Array | BodyStream | null;
  /** Ends the hop when its answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export type HopOutcome =
  /** The answer, without the fields of that connection. Its body may still be coming. */
  | { readonly outcome: 'answered'; readonly response: Response }
  /** No connection could be made: nothing was sent. */
  | { readonly outcome: 'not_sent' }
  /** It was sent and no understandable answer came: it may have been carried out. */
  | { readonly outcome: 'unknown' }
  /** `signal` ended it. */
  | { readonly outcome: 'left' };

export type Hop = (server: RegionServer, request: HopRequest) => Promise<HopOutcome>;

/** Methods that change nothing, so sending them twice does no harm (RFC 9110 §9.2.1). */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

export interface RouterRegion extends Region {
  readonly servers: readonly RegionServer[];
}

export interface Fleet {
  /** In the operator's order; never empty. */
  readonly regions: readonly RouterRegion[];
  /** The region with this label; the first for any other, because keys older than the regions belong there. */
  regionOf(label: RegionLabel | null): RouterRegion;
  isHealthy(region: RouterRegion): boolean;
  /** The healthy servers, starting with the next one at each call. */
  inTurn(region: RouterRegion): readonly RegionServer[];
  note(server: RegionServer, isHealthy: boolean): void;
}

export interface FleetDeps {
  /** A region became healthy or lost; also called when its health is first known. */
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
    note(server, isServerHealthy) {
      const region = homeOf.get(server);
      if (region === undefined) return;
      if (isServerHealthy) healthy.add(server);
      else healthy.delete(server);
      const now = isHealthy(region);
      // A region of several servers is not lost because the first one asked is.
      if (known.get(region) === now) return;
      known.set(region, now);
      onChange(region.label, now);
    },
  };
}

/** @param upstreams servers' addresses by label; a region without an entry is reached at its own address */
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
    // A URL keeps IPv6 in brackets, a socket does not.
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    basePath: pathname.replace(/\/+$/, ''),
    host: new URL(region.baseUrl).host,
  };
}

export interface HealthWatchDeps {
  readonly fleet: Fleet;
  readonly hop: Hop;
  /** Called at each failure of a server that no longer answers at all: requests in flight there will not end by themselves. */
  readonly abandon: (server: RegionServer) => void;
  /** Runs a function once, after so many milliseconds; returns what cancels it. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
  readonly everyMs: number;
  readonly limitMs: number;
}

export interface HealthWatch {
  /** Asks this server now, after a failure there. */
  check(server: RegionServer): Promise<void>;
  /** Asks all, and resolves when each has answered or failed to. */
  checkAll(): Promise<void>;
  stop(): void;
}

/**
 * Asks every server's `/readyz`: at most one question per server at a time, each with a limit. A server that says no or accepts
 * no connection is unhealthy at once; a slow one only when slow twice in a row, because a busy second is not an outage.
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
      fleet.note(server, answer.outcome === 'answered' && answer.response.status === 200);
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
  /** No server took it: nothing was done. */
  | { readonly outcome: 'lost' }
  /** A server took it and gave no answer. */
  | { readonly outcome: 'unknown' }
  /** The client is gone. */
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
        fleet.note(server, false);
        continue;
      }
      void check(server);
      if (!isSafe(request.method)) return { outcome: 'unknown' };
      isUnknown = true;
    }
    return { outcome: isUnknown ? 'unknown' : 'lost' };
  };
}

/** Each server once; a lone one twice for safe methods, because a kept connection may just have ended. */
function tries(servers: readonly RegionServer[], isRepeatable: boolean): readonly RegionServer[] {
  return isRepeatable && servers.length === 1 ? [...servers, ...servers] : servers;
}
