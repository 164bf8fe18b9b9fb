/**
 * What a person reads when the router has started.
 *
 * Owns: those lines. Invariant: they say where it listens, which regions it leads to and by what, and nothing secret.
 */
import type { Settings } from '../config/read.ts';

function choiceWords({ routerWeights, regions }: Settings): string {
  if (routerWeights === null)
    return `to the first region that is well: ${regions.map(({ label }) => label).join(', then ')}`;
  return `spread by weight: ${Object.entries(routerWeights)
    .map(([label, weight]) => `${label} ${weight}`)
    .join(', ')}`;
}

export function renderRouterWords(settings: Settings, version: string): string {
  const { host, port, regions, routerUpstreams, routerDeprecation } = settings;
  const lines = regions.map(({ label, baseUrl }) => {
    const servers = routerUpstreams
      .filter((server) => server.label === label)
      .map((server) => server.baseUrl);
    return `  ${label.padEnd(8)} ${baseUrl}${servers.length === 0 ? '' : `, reached at ${servers.join(' and ')}`}`;
  });
  return [
    `Mayfly ${version} routes on ${host}, port ${port}`,
    ...lines,
    `  new      ${choiceWords(settings)}`,
    ...(routerDeprecation === null
      ? []
      : [
          `  says     that its address is deprecated since ${new Date(routerDeprecation * 1_000).toISOString().slice(0, 10)}`,
        ]),
    '',
  ].join('\n');
}
