/**
 * The regions behind the address without a label, and which of their servers are well.
 *
 * Owns: what is known of each server's health. Invariant: a server counts as well from a good answer of its `/readyz`
 * until a failed one or a failed connection; a region is well while one of its servers is, and each change is told once.
 */
import type { Region, RegionLabel } from '../core/regions.ts';
import type { RegionServer } from './hop.ts';

export interface RouterRegion extends Region {
  readonly servers: readonly RegionServer[];
}

export interface Fleet {
  /** In the operator's order; never empty. */
  readonly regions: readonly RouterRegion[];
  /** The region with this label; the first for any other, where keys from before there were regions belong. */
  regionOf(label: RegionLabel | null): RouterRegion;
  isWell(region: RouterRegion): boolean;
  /** The servers that are well, each time beginning with the next. */
  inTurn(region: RouterRegion): readonly RegionServer[];
  note(server: RegionServer, isWell: boolean): void;
}

export interface FleetDeps {
  /** A region became well or lost, also when it is first known. */
  readonly onChange: (label: RegionLabel, isWell: boolean) => void;
}

export function createFleet(regions: readonly RouterRegion[], { onChange }: FleetDeps): Fleet {
  const [first] = regions;
  if (first === undefined) throw new Error('a router needs a region');
  const byLabel = new Map(regions.map((region) => [region.label, region]));
  const homeOf = new Map(
    regions.flatMap((region) => region.servers.map((server) => [server, region] as const)),
  );
  const well = new Set<RegionServer>();
  const known = new Map<RouterRegion, boolean>();
  const turns = new Map<RouterRegion, number>();
  const isWell = (region: RouterRegion) => region.servers.some((server) => well.has(server));
  return {
    regions,
    regionOf: (label) => (label === null ? first : (byLabel.get(label) ?? first)),
    isWell,
    inTurn(region) {
      const { servers } = region;
      if (servers.length === 1) return isWell(region) ? servers : [];
      const turn = ((turns.get(region) ?? 0) + 1) % servers.length;
      turns.set(region, turn);
      return [...servers.slice(turn), ...servers.slice(0, turn)].filter((server) => well.has(server));
    },
    note(server, isServerWell) {
      const region = homeOf.get(server);
      if (region === undefined) return;
      if (isServerWell) well.add(server);
      else well.delete(server);
      const now = isWell(region);
      // A region of several servers is not lost because the first that was asked is.
      if (known.get(region) === now) return;
      known.set(region, now);
      onChange(region.label, now);
    },
  };
}

/** @param upstreams where servers are reached, by label; a region without an entry is reached at its own address */
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
