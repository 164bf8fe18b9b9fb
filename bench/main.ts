/**
 * `npm run bench`: what is fast, how fast, and beside what.
 *
 * Owns: the run. Invariant: the service and its yardsticks are measured in the same rounds of the same run; the report is
 * written only when the run came to its end. `--quick` for a short run, `--long` with a million requests; `uniform` takes
 * the times that must not differ, and nothing else, and writes no report.
 */

import { Database } from 'bun:sqlite';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import packageJson from '../package.json';
import { repositoryRoot, serveCommand } from '../test/support/started-server.ts';
import { type Figures, type MemorySample, median, type Round, type Series } from './figures.ts';
import { type JobKind, requestsPerTrip } from './jobs.ts';
import { measurePages } from './pages.ts';
import {
  type BenchServer,
  canPin,
  cpuMicroseconds,
  type Generator,
  residentMebibytes,
  startBenchServer,
  startGenerator,
} from './processes.ts';
import { renderPicture, renderReport } from './report.ts';
import { measureRouter } from './router.ts';
import type { StoreFigures } from './store.ts';
import { measureUniform, printUniform, quickUniform, wholeUniform } from './uniform.ts';

const flags = new Set(process.argv.slice(2));
const isQuick = flags.has('--quick');
const isLong = flags.has('--long');
const connections = 48;
const rounds = isQuick ? 3 : 9;
const tripsPerRound = isQuick ? 6_000 : 20_000;
const startCount = isQuick ? 5 : 11;
const quickPages = { visits: 3, requests: 500 };
const wholePages = { visits: 11, requests: 4_000 };
const uniformSize = isQuick ? quickUniform : wholeUniform;
const routerSize = isQuick ? { rounds: 3, requests: 2_000 } : { rounds: 9, requests: 8_000 };

const kinds: readonly (readonly [JobKind, string])[] = [
  ['create-v1-form', 'create, v1, form'],
  ['create-v1-json', 'create, v1, JSON'],
  ['create-v2', 'create, v2'],
  ['trip-v1', 'create and reveal, v1'],
  ['trip-v2', 'create and reveal, v2'],
];

const passphraseKinds: readonly (readonly [JobKind, string])[] = [
  ['passphrase-create-v1', 'create with a passphrase, v1'],
  ['passphrase-trip-v1', 'create and reveal with a passphrase, v1'],
];

const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));

/** Limits that count every request and refuse none: the limiter's work belongs to the figure. */
function writeLimits(): string {
  const rule = { limit: 1_000_000_000, windowSeconds: 3_600, burst: 1_000_000_000 };
  const both = { anonymous: rule, account: rule };
  const path = join(folder, 'limits.json');
  writeFileSync(path, JSON.stringify({ create: both, manage: both }));
  return path;
}

function serviceEnv(dataDir: string): Record<string, string> {
  return {
    MAYFLY_DATA_DIR: join(folder, dataDir),
    MAYFLY_RATE_LIMITS: writeLimits(),
    MAYFLY_LOG_LEVEL: 'warn',
  };
}

function startService(dataDir: string): Promise<BenchServer> {
  return startBenchServer('mayfly', [process.execPath, ...serveCommand], {
    readyPath: '/healthz',
    env: serviceEnv(dataDir),
  });
}

async function takeRound(
  generator: Generator,
  server: BenchServer,
  kind: JobKind,
  size: { trips: number; connections: number },
): Promise<Round> {
  const cpuBefore = cpuMicroseconds(server.pid);
  const result = await generator.run({ kind, port: server.port, ...size });
  return {
    tripsPerSecond: result.trips / result.seconds,
    cpuMicrosecondsPerTrip: (cpuMicroseconds(server.pid) - cpuBefore) / result.trips,
    p50Milliseconds: result.p50Milliseconds,
    p99Milliseconds: result.p99Milliseconds,
  };
}

interface MutableSeries extends Series {
  readonly rounds: Round[];
  readonly server: BenchServer;
}

const seriesOf = (server: BenchServer, kind: JobKind, label: string): MutableSeries => ({
  label,
  kind,
  server,
  rounds: [],
});

/** The most that any sample of resident memory showed while `work` ran. */
async function watchMemory<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; most: number }> {
  let most = 0;
  const sample = () => {
    most = Math.max(most, residentMebibytes(pid));
  };
  const timer = setInterval(sample, 50);
  try {
    const result = await work();
    sample();
    return { result, most };
  } finally {
    clearInterval(timer);
  }
}

async function runRounds(generator: Generator, all: readonly MutableSeries[]): Promise<void> {
  for (const { server, kind } of all)
    await takeRound(generator, server, kind, { trips: tripsPerRound / 2, connections });
  for (let count = 0; count < rounds; count += 1) {
    for (const series of all) {
      const trips = series.kind === 'get' ? tripsPerRound * 2 : tripsPerRound;
      series.rounds.push(await takeRound(generator, series.server, series.kind, { trips, connections }));
    }
    console.error(`round ${count + 1} of ${rounds}`);
  }
}

async function runPassphrases(generator: Generator, server: BenchServer): Promise<Series[]> {
  const found: Series[] = [];
  for (const [kind, label] of passphraseKinds) {
    const round = await takeRound(generator, server, kind, { trips: isQuick ? 12 : 48, connections: 4 });
    found.push({ kind, label, rounds: [round] });
  }
  return found;
}

/** Start, first answer, stop; the folder exists, as it does at every start but the first. */
async function timeStarts(): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count <= startCount; count += 1) {
    const server = await startService('start');
    if (count > 0) times.push(server.startMilliseconds);
    await server.stop();
  }
  return times;
}

async function soak(generator: Generator, server: BenchServer): Promise<MemorySample[]> {
  const samples: MemorySample[] = [{ requests: 0, mebibytes: residentMebibytes(server.pid) }];
  const slices = 20;
  const kind: JobKind = 'trip-v1';
  const trips = 1_000_000 / requestsPerTrip[kind] / slices;
  for (let slice = 1; slice <= slices; slice += 1) {
    await generator.run({ kind, port: server.port, connections, trips });
    samples.push({
      requests: slice * trips * requestsPerTrip[kind],
      mebibytes: residentMebibytes(server.pid),
    });
    console.error(`long run: ${slice} of ${slices}`);
  }
  return samples;
}

function timeFsync(): number {
  const file = openSync(join(folder, 'fsync'), 'w');
  const block = Buffer.alloc(4096, 7);
  const times = Array.from({ length: 200 }, () => {
    const startedAt = performance.now();
    writeSync(file, block);
    fsyncSync(file);
    return (performance.now() - startedAt) * 1000;
  });
  closeSync(file);
  return median(times);
}

async function measure(): Promise<Figures> {
  const generator = startGenerator();
  const node = await startBenchServer('node', ['node', 'bench/bare-node.mjs']);
  const bun = await startBenchServer('bun', [process.execPath, 'bench/bare-bun.ts']);
  const service = await startService('load');
  try {
    const bare = {
      node: seriesOf(node, 'get', 'bare node:http'),
      bun: seriesOf(bun, 'get', 'bare Bun.serve'),
    };
    const own = kinds.map(([kind, label]) => seriesOf(service, kind, label));
    const { most } = await watchMemory(service.pid, () =>
      runRounds(generator, [bare.node, bare.bun, ...own]),
    );
    const passphrase = await runPassphrases(generator, service);
    const router = await measureRouter(generator, service, routerSize);
    const pages = await measurePages(service, bun, isQuick ? quickPages : wholePages).catch(
      (error: unknown) => {
        console.error(
          `The pages were not measured: ${error instanceof Error ? error.message : String(error)}`,
        );
        return null;
      },
    );
    const memory = isLong ? await soak(generator, service) : [];
    return {
      ...bare,
      service: own,
      passphrase,
      router,
      residentMebibytes: most,
      pages,
      memory,
      startMilliseconds: await timeStarts(),
      store: measureStore(),
      uniform: await measureUniform(uniformSize),
      fsyncMicroseconds: timeFsync(),
    };
  } finally {
    generator.stop();
    for (const server of [node, bun, service]) await server.stop();
  }
}

/** In a process of its own, so that neither's memory is the other's. */
function measureStore(): StoreFigures {
  const size = isQuick ? ['100000', '1'] : ['1000000', '3'];
  const text = execFileSync(process.execPath, ['bench/store.ts', ...size], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  return JSON.parse(text) as StoreFigures;
}

function describeMachine(): string {
  const all = cpus();
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${all.length} × ${all[0]?.model.trim() ?? 'unknown processor'}, ${gibibytes} GiB, ${type()} ${release()}`;
}

function describeVersions(): string {
  const sqlite = new Database(':memory:').query<{ v: string }, []>('SELECT sqlite_version() AS v').get()?.v;
  const node = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
  return `Mayfly ${packageJson.version}, Bun ${Bun.version} with SQLite ${sqlite}, Node ${node} for the bare server`;
}

async function writeReport(): Promise<void> {
  const loadBefore = loadavg()[0] ?? 0;
  const figures = await measure();
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    machine: describeMachine(),
    versions: describeVersions(),
    rounds,
    connections,
    isPinned: canPin,
    isQuick,
    loadBefore,
  };
  const report = renderReport(figures, circumstances);
  mkdirSync(join(repositoryRoot, 'docs'), { recursive: true });
  writeFileSync(join(repositoryRoot, 'docs/benchmarks.md'), report);
  writeFileSync(join(repositoryRoot, 'docs/benchmarks.svg'), renderPicture(figures));
  console.log(report);
}

try {
  await (flags.has('uniform') ? printUniform(uniformSize) : writeReport());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
