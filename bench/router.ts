/**
 * What a hop through the router costs, compared with asking the region directly; alone: `bun bench/router.ts`.
 *
 * Both ways are measured in the same rounds against the same server. The router's processor time is that of its own process; the
 * extra cost of a hop includes the server's.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './figures.ts';
import type { JobKind } from './jobs.ts';
import {
  type BenchServer,
  cpuMicroseconds,
  type Generator,
  startBenchServer,
  startGenerator,
  startMayfly,
} from './processes.ts';

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
}

interface Size {
  readonly rounds: number;
  readonly requests: number;
}

const kind: JobKind = 'create-v1-form';
const shapes = [
  { label: 'create, v1, form; one at a time', connections: 1 },
  { label: 'create, v1, form; 48 at once', connections: 48 },
] as const;

interface Round {
  readonly p50Milliseconds: number;
  readonly serverMicroseconds: number;
  readonly routerMicroseconds: number;
}

export function startBenchRouter(server: BenchServer): Promise<BenchServer> {
  return startBenchServer('router', [process.execPath, 'src/main.ts', 'router'], {
    readyPath: '/readyz',
    env: {
      MAYFLY_REGIONS: 'us=http://us.localhost',
      MAYFLY_ROUTER_UPSTREAMS: `us=http://127.0.0.1:${server.port}`,
      MAYFLY_LOG_LEVEL: 'warn',
    },
  });
}

/** @param server the service, which must refuse nobody for their number of requests */
export async function measureRouter(
  generator: Generator,
  server: BenchServer,
  { rounds, requests }: Size,
): Promise<RouterFigure[]> {
  const router = await startBenchRouter(server);
  const take = async (port: number, connections: number, trips: number): Promise<Round> => {
    const before = [cpuMicroseconds(server.pid), cpuMicroseconds(router.pid)] as const;
    const result = await generator.run({ kind, port, connections, trips });
    return {
      p50Milliseconds: result.p50Milliseconds,
      serverMicroseconds: (cpuMicroseconds(server.pid) - before[0]) / trips,
      routerMicroseconds: (cpuMicroseconds(router.pid) - before[1]) / trips,
    };
  };
  const figures: RouterFigure[] = [];
  try {
    for (const { label, connections } of shapes) {
      const [direct, routed]: [Round[], Round[]] = [[], []];
      for (const port of [server.port, router.port]) await take(port, connections, requests / 2);
      for (let count = 0; count < rounds; count += 1) {
        direct.push(await take(server.port, connections, requests));
        routed.push(await take(router.port, connections, requests));
      }
      figures.push(figureOf(label, connections, direct, routed));
    }
    return figures;
  } finally {
    await router.stop();
  }
}

function figureOf(
  label: string,
  connections: number,
  direct: readonly Round[],
  routed: readonly Round[],
): RouterFigure {
  const of = (all: readonly Round[], field: keyof Round) => median(all.map((round) => round[field]));
  const routerCpuMicroseconds = of(routed, 'routerMicroseconds');
  return {
    ...{ label, connections, routerCpuMicroseconds },
    directP50Milliseconds: of(direct, 'p50Milliseconds'),
    routedP50Milliseconds: of(routed, 'p50Milliseconds'),
    directCpuMicroseconds: of(direct, 'serverMicroseconds'),
    routedCpuMicroseconds: of(routed, 'serverMicroseconds') + routerCpuMicroseconds,
  };
}

async function runAlone(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const generator = startGenerator();
  const server = await startMayfly({ MAYFLY_DATA_DIR: folder, MAYFLY_RATE_LIMITS: 'off' });
  try {
    console.table(await measureRouter(generator, server, { rounds: 7, requests: 6_000 }));
  } finally {
    generator.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await runAlone();
