/**
 * What a hop through the router costs, compared with asking the region directly.
 *
 * Both ways, and a bare server, are measured in the same rounds. The router's processor time is that of its own processes; the
 * extra cost of a hop includes the server's.
 */
import { repositoryRoot } from '../test/support/started-server.ts';
import { inB, median, type Round, type Series, summary } from './figures.ts';
import type { Generator } from './generators.ts';
import { bareWorks, takeRound } from './load.ts';
import { type BenchServer, commandOfScript, cpuMicroseconds, startBenchServer } from './processes.ts';

export interface RouterFigure {
  readonly label: string;
  readonly connections: number;
  readonly directP50Milliseconds: number;
  readonly routedP50Milliseconds: number;
  readonly directCpuMicroseconds: number;
  /** Of the server and the router together. */
  readonly routedCpuMicroseconds: number;
  /** Of the router alone. */
  readonly routerCpuMicroseconds: number;
  readonly routerInB: number;
}

export interface RouterSize {
  readonly rounds: number;
  readonly requests: number;
  readonly connections: number;
}

const create = { kind: 'create-v1-form', label: 'create, v1, form' } as const;

export function startBenchRouter(server: BenchServer): Promise<BenchServer> {
  const { command, env, cwd } = commandOfScript(repositoryRoot, 'mayfly', 'router');
  return startBenchServer('router', command, {
    readyPath: '/readyz',
    env: {
      ...env,
      MAYFLY_REGIONS: 'us=http://us.localhost',
      MAYFLY_ROUTER_UPSTREAMS: `us=http://127.0.0.1:${server.port}`,
      MAYFLY_LOG_LEVEL: 'warn',
    },
    cwd,
  });
}

interface Rounds {
  readonly bare: Series & { readonly rounds: Round[] };
  readonly direct: Round[];
  /** Of the router's own processes. */
  readonly routed: Round[];
  /** The server's share of the routed requests. */
  readonly serverMicroseconds: number[];
}

/** @param service must refuse nobody for their number of requests */
export async function measureRouter(
  generator: Generator,
  { service, bun }: { readonly service: BenchServer; readonly bun: BenchServer },
  size: RouterSize,
): Promise<RouterFigure[]> {
  await using router = await startBenchRouter(service);
  const figures: RouterFigure[] = [];
  for (const atOnce of [1, size.connections]) {
    const all: Rounds = {
      bare: { ...bareWorks.bun, rounds: [] },
      ...{ direct: [], routed: [], serverMicroseconds: [] },
    };
    // The first round only warms up.
    for (let round = -1; round < size.rounds; round += 1) {
      const load = { trips: size.requests, connections: atOnce };
      // B has one definition, whatever is held against it: with all connections.
      const bareLoad = { trips: 4 * size.requests, connections: size.connections };
      const bare = await takeRound(generator, bun, bareWorks.bun, bareLoad);
      const direct = await takeRound(generator, service, create, load);
      const before = cpuMicroseconds(service);
      const routed = await takeRound(generator, router, create, load);
      if (round < 0) continue;
      all.bare.rounds.push(bare);
      all.direct.push(direct);
      all.routed.push(routed);
      all.serverMicroseconds.push((cpuMicroseconds(service) - before) / size.requests);
    }
    figures.push(figureOf(atOnce, all));
    console.error(`router: ${atOnce} at once`);
  }
  return figures;
}

function figureOf(connections: number, { bare, direct, routed, serverMicroseconds }: Rounds): RouterFigure {
  const [ofDirect, ofRouted] = [summary({ rounds: direct }), summary({ rounds: routed })];
  return {
    label: `${create.label}; ${connections === 1 ? 'one at a time' : `${connections} at once`}`,
    connections,
    directP50Milliseconds: ofDirect.p50Milliseconds,
    routedP50Milliseconds: ofRouted.p50Milliseconds,
    directCpuMicroseconds: ofDirect.cpuMicrosecondsPerTrip,
    routedCpuMicroseconds: median(serverMicroseconds) + ofRouted.cpuMicrosecondsPerTrip,
    routerCpuMicroseconds: ofRouted.cpuMicrosecondsPerTrip,
    routerInB: inB(
      routed.map((round) => round.cpuMicrosecondsPerTrip),
      { bun: bare },
    ),
  };
}
