/**
 * What the settings of regions have to do with each other.
 *
 * Owns: those checks. Invariant: an installation knows itself by one address: a region's links carry the address that
 * every other region and the router know it by, and no label means a region that nobody listed.
 */
import type { Region, RegionLabel } from '../core/regions.ts';
import type { OptionName, OptionValues } from './options.ts';

/** The address of a region; `null` when it is not listed, or there is none. */
export function regionAddress(region: RegionLabel | null, regions: readonly Region[]): string | null {
  return regions.find(({ label }) => label === region)?.baseUrl ?? null;
}

function listed(regions: readonly Region[]): string {
  return regions.map(({ label }) => label).join(', ');
}

function strangerProblem(env: string, label: string, regions: readonly Region[]): string {
  return regions.length === 0
    ? `${env} names the region "${label}", but MAYFLY_REGIONS is not set: list all regions there, such as us=https://us.example.com,eu=https://eu.example.com.`
    : `${env} names the region "${label}", which is not among MAYFLY_REGIONS (${listed(regions)}).`;
}

type RegionValues = Pick<
  OptionValues,
  'region' | 'regions' | 'baseUrl' | 'routerUpstreams' | 'routerWeights'
>;

/** Every reason why these values cannot stand together, whoever reads them. */
export function regionProblems(values: RegionValues, given: ReadonlySet<OptionName>): string[] {
  const { region, regions, baseUrl, routerUpstreams, routerWeights } = values;
  const isListed = (label: string) => regions.some((one) => one.label === label);
  const strangers = (env: string, labels: readonly string[]) =>
    [...new Set(labels)]
      .filter((label) => !isListed(label))
      .map((label) => strangerProblem(env, label, regions));
  const problems = [
    ...strangers('MAYFLY_REGION', region === null ? [] : [region]),
    ...strangers(
      'MAYFLY_ROUTER_UPSTREAMS',
      routerUpstreams.map(({ label }) => label),
    ),
    ...strangers('MAYFLY_ROUTER_WEIGHTS', Object.keys(routerWeights ?? {})),
  ];
  const address = regionAddress(region, regions);
  if (given.has('baseUrl') && address !== null && address !== baseUrl) {
    problems.push(
      `MAYFLY_BASE_URL is "${baseUrl}", but the region ${region} has the address "${address}" in MAYFLY_REGIONS: leave MAYFLY_BASE_URL out, or make them the same.`,
    );
  }
  return problems;
}

/** Why a server cannot serve with these settings; `null` when nothing is amiss. */
export function serverRegionProblem({
  region,
  regions,
}: Pick<OptionValues, 'region' | 'regions'>): string | null {
  if (regions.length === 0 || region !== null) return null;
  return `MAYFLY_REGIONS is set and MAYFLY_REGION is not: say which of them this server is (${listed(regions)}).`;
}

/** Why a router cannot route with these settings; `null` when nothing is amiss. */
export function routerProblem({ regions }: Pick<OptionValues, 'regions'>): string | null {
  return regions.length > 0
    ? null
    : 'MAYFLY_REGIONS is not set: the router needs to know all regions, such as us=https://us.example.com,eu=https://eu.example.com.';
}
