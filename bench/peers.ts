/**
 * `npm run bench -- --peers`: Mayfly beside other services of its kind, whose programs are not part of this repository.
 *
 * Each is on the servers' core with its data in a folder of its own, and is sent what its own client sends. Rounds and ratios are
 * those of the other benchmarks.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { freePort } from '../test/support/started-server.ts';
import { ratiosOf } from './against.ts';
import { cpuOf, formatNumber, inB, type Round, type Series, summary, table } from './figures.ts';
import { type Generator, startGenerator } from './generators.ts';
import type { JobKind } from './jobs.ts';
import { bareWorks, cheapFactor, type LoadSize, startBareBun, takeRound } from './load.ts';
import { type BenchServer, startBenchServer } from './processes.ts';
import { startService } from './service.ts';

/** Of the programs, on this machine. What is absent is not measured. */
export interface PeerPaths {
  readonly yopass?: string | undefined;
  /** For Yopass. */
  readonly redis?: string | undefined;
  readonly ots?: string | undefined;
}

export interface Contestant {
  readonly name: string;
  readonly server: BenchServer;
  readonly create: JobKind;
  readonly trip: JobKind;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Redis is a child of the shell that becomes Yopass, and so counts with it. */
async function startYopass(
  folder: string,
  yopass: string,
  redis: string,
  flags: string,
): Promise<BenchServer> {
  const port = await freePort();
  mkdirSync(folder);
  const store = `${quoted(redis)} --bind 127.0.0.1 --port ${port} --dir ${quoted(folder)} ${flags}`;
  const own = '--address 127.0.0.1 --port "$PORT" --database redis';
  const line = `${store} & exec ${quoted(yopass)} ${own} --redis redis://127.0.0.1:${port}/0`;
  return startBenchServer('Yopass', ['sh', '-c', line], { readyPath: '/ready', cwd: folder });
}

function startOts(folder: string, ots: string): Promise<BenchServer> {
  mkdirSync(folder);
  const line = `exec ${quoted(ots)} --listen "127.0.0.1:$PORT" --log-requests=false`;
  return startBenchServer('ots', ['sh', '-c', line], { readyPath: '/api/healthz', cwd: folder });
}

/** Starts what was given. */
export async function startPeers(
  { yopass, redis, ots }: PeerPaths,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<Contestant[]> {
  const peers: Contestant[] = [];
  const add = async (name: string, start: Promise<BenchServer>, works: Pick<Contestant, 'create' | 'trip'>) =>
    void peers.push({ name, server: stack.use(await start), ...works });
  if (yopass !== undefined && redis !== undefined) {
    const works = { create: 'create-yopass', trip: 'trip-yopass' } as const;
    const start = (name: string, flags: string) => startYopass(join(folder, name), yopass, redis, flags);
    await add('Yopass with Redis', start('yopass', ''), works);
    const synced = '--appendonly yes --appendfsync always';
    await add('Yopass with Redis, synced at every write', start('yopass-synced', synced), works);
  }
  if (ots !== undefined)
    await add('Luzifer ots', startOts(join(folder, 'ots'), ots), { create: 'create-ots', trip: 'trip-ots' });
  return peers;
}

/** Of one contestant. */
export interface PeerFigures {
  readonly name: string;
  readonly create: Series;
  readonly trip: Series;
}

export interface PeersFigures {
  readonly bun: Series;
  /** Mayfly first. */
  readonly all: readonly PeerFigures[];
}

/** @param contestants Mayfly first */
export async function measurePeers(
  generator: Generator,
  bun: BenchServer,
  contestants: readonly Contestant[],
  { rounds, tripsPerRound, connections }: Pick<LoadSize, 'rounds' | 'tripsPerRound' | 'connections'>,
): Promise<PeersFigures> {
  const seriesOf = (label: string, kind: JobKind) => ({ label, kind, rounds: [] as Round[] });
  const bare = {
    server: bun,
    series: seriesOf(bareWorks.bun.label, bareWorks.bun.kind),
    factor: cheapFactor,
  };
  const all = contestants.map(({ name, server, create, trip }) => ({
    ...{ name, create: seriesOf(name, create), trip: seriesOf(name, trip), server },
  }));
  const tasks = (['create', 'trip'] as const).map((what) =>
    all.map((each) => ({ server: each.server, series: each[what], factor: 1 })),
  );
  // The first round only warms up.
  for (let round = -1; round < rounds; round += 1) {
    const turns = tasks.flatMap((turn) => (round % 2 === 0 ? turn : turn.toReversed()));
    for (const { server, series, factor } of [bare, ...turns]) {
      const size = { trips: factor * tripsPerRound, connections };
      const taken = await takeRound(generator, server, { kind: series.kind }, size);
      if (round >= 0) series.rounds.push(taken);
    }
    console.error(round < 0 ? 'peers: warmed up' : `peers: round ${round + 1} of ${rounds}`);
  }
  return { bun: bare.series, all };
}

function rowsOf({ bun, all }: PeersFigures, what: 'create' | 'trip'): string[][] {
  return all.map((each) => {
    const series = each[what];
    const { cpuMicrosecondsPerTrip, tripsPerSecond, p50Milliseconds, p99Milliseconds } = summary(series);
    const mayfly = cpuOf((all[0] ?? each)[what]);
    const shares = ratiosOf({ own: mayfly, other: cpuOf(series) }).map((ratio) => formatNumber(ratio, 2));
    return [
      each.name,
      formatNumber(cpuMicrosecondsPerTrip, 1),
      formatNumber(inB(cpuOf(series), { bun }), 1),
      formatNumber(tripsPerSecond, 0),
      formatNumber(p50Milliseconds, 2),
      formatNumber(p99Milliseconds, 2),
      ...(each === all[0] ? ['1', '–'] : [shares[1] ?? '', `${shares[0]} to ${shares[2]}`]),
    ];
  });
}

const nameOf = (path: string) =>
  `${basename(path)} (SHA-256 ${createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)})`;

function leftOut({ yopass, redis, ots }: PeerPaths): string[] {
  return [
    ...(yopass === undefined || redis === undefined
      ? ['Yopass with Redis was not measured: give `--yopass PATH --redis PATH`.']
      : []),
    ...(ots === undefined ? ['Luzifer ots was not measured: give `--ots PATH`.'] : []),
  ];
}

/** In Markdown. */
export function renderPeers(figures: PeersFigures, paths: PeerPaths, { connections }: LoadSize): string {
  const header = ['what', 'CPU µs', 'in B', 'a second', 'p50 ms', 'p99 ms', 'Mayfly over it', 'quartiles'];
  const programs = Object.values(paths).filter((path) => path !== undefined);
  const used = programs.length === 0 ? [] : [`The programs: ${programs.map(nameOf).join(', ')}.`];
  return `## Beside its peers

Each is sent what its own client sends for a value of 48 bytes, by raw sockets on ${connections} connections; processor time is of all processes,
Redis included. B is the processor time of a create sent to a bare \`Bun.serve\` that reads its body, in the same rounds. "Mayfly over
it" is Mayfly's processor time, through v1, over this row's within a round. Mayfly's answers are synced before they are given;
Redis as it is configured by default loses what came since its last snapshot, and ots keeps everything in memory.

${[...used, ...leftOut(paths)].join(' ')}

### Create

${table(header, rowsOf(figures, 'create'))}

### Create and reveal

${table(header, rowsOf(figures, 'trip'))}
`;
}

/** Mayfly through v1 and end-to-end, and what was given. */
export async function comparePeers(paths: PeerPaths, folder: string, size: LoadSize): Promise<PeersFigures> {
  await using stack = new AsyncDisposableStack();
  const generator = stack.use(await startGenerator('raw'));
  const bun = stack.use(await startBareBun());
  const server = stack.use(await startService({ folder, dataDir: 'mayfly' }));
  const own: Contestant[] = [
    { name: 'Mayfly, v1', server, create: 'create-v1-form', trip: 'trip-v1' },
    { name: 'Mayfly, end-to-end', server, create: 'create-sealed', trip: 'trip-sealed' },
  ];
  const peers = await startPeers(paths, folder, stack);
  return await measurePeers(generator, bun, [...own, ...peers], size);
}
