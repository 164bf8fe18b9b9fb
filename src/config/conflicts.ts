/** Conflicts between settings. Each sentence names every variable involved. */
import type { Region } from '../core/keys.ts';
import { definitions, regionAddress, type SettingName, type SettingValues } from './settings.ts';

const signing = ['dkimDomain', 'dkimSelector', 'dkimKey'] as const;

function envsOf(names: readonly SettingName[]): string {
  return names.map((name) => definitions[name].env).join(' and ');
}

function signingProblems(values: Pick<SettingValues, (typeof signing)[number]>): string[] {
  const set = signing.filter((name) => values[name] !== null);
  const missing = signing.filter((name) => values[name] === null);
  if (set.length === 0 || missing.length === 0) return [];
  const [verb, others] = [set.length === 1 ? 'is' : 'are', missing.length === 1 ? 'that one' : 'the others'];
  return [
    `${envsOf(set)} ${verb} set without ${envsOf(missing)}: signing mail takes all three, so set ${others} too, or none.`,
  ];
}

function portProblems({ port, internalPort }: Pick<SettingValues, 'port' | 'internalPort'>): string[] {
  if (internalPort !== port) return [];
  return [
    `MAYFLY_INTERNAL_PORT and PORT are both ${port}: /metrics must not share the service’s port, so change one of them.`,
  ];
}

function listed(regions: readonly Region[]): string {
  return regions.map(({ label }) => label).join(', ');
}

function strangerProblem(env: string, label: string, regions: readonly Region[]): string {
  return regions.length === 0
    ? `${env} names the region "${label}", but MAYFLY_REGIONS is not set: list all regions there, such as us=https://us.example.com,eu=https://eu.example.com.`
    : `${env} names the region "${label}", which is not in MAYFLY_REGIONS (${listed(regions)}).`;
}

type RegionValues = Pick<
  SettingValues,
  'region' | 'regions' | 'baseUrl' | 'routerUpstreams' | 'routerWeights'
>;

function regionProblems(values: RegionValues, given: ReadonlySet<SettingName>): string[] {
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
      `MAYFLY_BASE_URL is "${baseUrl}", but the region ${region} has the address "${address}" in MAYFLY_REGIONS: remove MAYFLY_BASE_URL, or make them equal.`,
    );
  }
  return problems;
}

/** Returns why a server cannot use these settings, or `null` if it can. */
export function serverRegionProblem({
  region,
  regions,
}: Pick<SettingValues, 'region' | 'regions'>): string | null {
  if (regions.length === 0 || region !== null) return null;
  return `MAYFLY_REGIONS is set but MAYFLY_REGION is not: set it to this server’s region (${listed(regions)}).`;
}

/** Returns why a router cannot use these settings, or `null` if it can. */
export function routerProblem({ regions }: Pick<SettingValues, 'regions'>): string | null {
  return regions.length > 0
    ? null
    : 'MAYFLY_REGIONS is not set: the router needs to know all regions, such as us=https://us.example.com,eu=https://eu.example.com.';
}

const ofPostgres = ['storeDurability', 'storePoolSize', 'allowsUnsafeStore'] as const;

function storeProblems(
  { store, allowsUnsafeStore }: Pick<SettingValues, 'store' | 'allowsUnsafeStore'>,
  given: ReadonlySet<SettingName>,
): string[] {
  if (store === 'sqlite') {
    const idle = ofPostgres.filter((name) => given.has(name));
    if (idle.length === 0) return [];
    return [
      `${envsOf(idle)} ${idle.length === 1 ? 'is' : 'are'} set, but the store is the embedded one: set MAYFLY_STORE to a postgres:// address, or remove ${idle.length === 1 ? 'it' : 'them'}.`,
    ];
  }
  if (store.tls === null || store.tls.isVerified || allowsUnsafeStore) return [];
  return [
    'MAYFLY_STORE has sslmode=no-verify, so anyone on the network path can impersonate the server: set its CA with ?sslrootcert=PATH, or set MAYFLY_ALLOW_UNSAFE_STORE=on.',
  ];
}

/** Returns the contradictions that matter to servers, routers and commands alike. */
export function conflictsBetween(values: SettingValues, given: ReadonlySet<SettingName>): string[] {
  return [
    ...regionProblems(values, given),
    ...signingProblems(values),
    ...portProblems(values),
    ...storeProblems(values, given),
  ];
}
