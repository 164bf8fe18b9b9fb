/**
 * `npm run bench`: how fast Mayfly is, next to bare servers measured in the same rounds.
 *
 * The report is written only when the run came to its end.
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
import { parseArgs } from 'node:util';
import packageJson from '../package.json';
import { repositoryRoot } from '../test/support/started-server.ts';
import { compareWith, UnknownRevision } from './against.ts';
import { type Figures, type MemorySample, median, type Round, type Series } from './figures.ts';
import { type JobKind, requestsPerTrip } from './jobs.ts';
import { measurePages } from './pages.ts';
import {
  type BenchServer,
  canPin,
  type Generator,
  residentMebibytes,
  startBenchServer,
  startGenerator,
} from './processes.ts';
import { renderPicture, renderReport } from './report.ts';
import { measureRouter } from './router.ts';
import { kinds, passphraseConnections, passphraseKinds, startService, takeRound } from './service.ts';
import type { StoreFigures } from './store.ts';
import { measureUniform, printUniform, quickUniform, wholeUniform } from './uniform.ts';

const usage = `npm run bench [-- OPTION ...]

Measures and writes docs/benchmarks.md.

  --quick               a short run
  --long                also 1,000,000 requests while memory is watched
  --against REVISION    only this checkout beside another revision, interleaved; writes
                        nothing, and ends with 1 when this checkout is slower
  uniform               only the times that must not differ; writes nothing
`;

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        long: { type: 'boolean', default: false },
        against: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    const stranger = positionals.find((one) => one !== 'uniform');
    if (stranger !== undefined) throw new TypeError(`Unknown argument '${stranger}'`);
    return { ...values, against: values.against ?? null, uniformOnly: positionals.length > 0 };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

const { quick: isQuick, long: isLong, against, uniformOnly, help } = readArguments();
if (help) {
  console.log(usage);
  process.exit(0);
}
const connections = 48;
const rounds = isQuick ? 3 : 9;
const tripsPerRound = isQuick ? 6_000 : 20_000;
const startCount = isQuick ? 5 : 11;
const quickPages = { visits: 3, requests: 500 };
const wholePages = { visits: 11, requests: 4_000 };
const uniformSize = isQuick ? quickUniform : wholeUniform;
const againstSize = {
  ...{ connections, rounds: isQuick ? 5 : 15, tripsPerRound: isQuick ? 4_000 : 10_000, passphraseTrips: 12 },
  ...{ pageRequests: isQuick ? 2_000 : 5_000, starts: isQuick ? 5 : 15 },
};
const routerSize = isQuick ? { rounds: 3, requests: 2_000 } : { rounds: 9, requests: 8_000 };

const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));

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
    const round = await takeRound(generator, server, kind, {
      trips: isQuick ? 12 : 48,
      connections: passphraseConnections,
    });
    found.push({ kind, label, rounds: [round] });
  }
  return found;
}

/** Start, first answer, stop; the folder exists, as it does at every start but the first. */
async function timeStarts(): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count <= startCount; count += 1) {
    const server = await startService(folder, 'start');
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
  const service = await startService(folder, 'load');
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

async function run(): Promise<boolean> {
  if (against !== null) return await compareWith(against, againstSize);
  await (uniformOnly ? printUniform(uniformSize) : writeReport());
  return true;
}

try {
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  if (!(error instanceof UnknownRevision)) throw error;
  console.error(error.message);
  process.exitCode = 2;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
