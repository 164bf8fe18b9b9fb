/**
 * `npm run bench -- --engines`: the embedded store beside PostgreSQL with a synchronous standby, in the same rounds.
 *
 * The pair runs on this machine's disk and on the same cores as everything else, and syncs on both servers. A *trip* is one secret that is
 * stored, found and claimed; over HTTP, created and revealed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMachineClock } from '../src/ops/machine-clock.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import type { Store } from '../src/store/store.ts';
import { clientStays } from '../test/stores/conformance/check.ts';
import { type PostgresPair, startPair } from '../test/support/postgres.ts';
import { formatNumber, median, ratios, table } from './figures.ts';
import { type Generator, startGenerator } from './generators.ts';
import { type BenchServer, cpuMicroseconds } from './processes.ts';
import { startService } from './service.ts';
import { newRecord } from './store.ts';
import { type Target, targetsTable } from './targets.ts';

export interface EngineSizes {
  readonly rounds: number;
  readonly storeSeconds: number;
  readonly httpTrips: number;
}

export const engineSizes = (isQuick: boolean): EngineSizes =>
  isQuick
    ? { rounds: 3, storeSeconds: 1, httpTrips: 2_000 }
    : { rounds: 9, storeSeconds: 3, httpTrips: 12_000 };

const inFlight = [64, 256] as const;
/** In all, however many nodes share them. */
const connections = 48;

/** One subject in one round. */
interface Taken {
  readonly tripsPerSecond: number;
  readonly appMicrosecondsPerTrip: number;
  /** Of both servers; 0 where there are none. */
  readonly engineMicrosecondsPerTrip: number;
}

interface Subject {
  readonly label: string;
  readonly take: () => Promise<Taken>;
  readonly rounds: Taken[];
}

function pidsOf({ primary, standby }: PostgresPair): number[] {
  return [primary, standby].flatMap((server) => server?.process.pid ?? []);
}

const engineCpu = (pair: PostgresPair | null): number =>
  pair === null ? 0 : pidsOf(pair).reduce((sum, pid) => sum + cpuMicroseconds({ pid }), 0);

async function tripsOn(store: Store, seconds: number, at: number): Promise<number> {
  const untilMs = performance.now() + 1_000 * seconds;
  let trips = 0;
  const worker = async () => {
    while (performance.now() < untilMs) {
      const record = newRecord(store.now());
      await store.put({ ...record, owner: null });
      const secret = await store.findSecret(record.secretId);
      if (secret === null || (await store.claim(secret, clientStays)) !== 'won')
        throw new Error('a live secret was not claimed');
      trips += 1;
    }
  };
  await Promise.all(Array.from({ length: at }, worker));
  return trips;
}

function storeSubject(
  name: string,
  store: Store,
  pair: PostgresPair | null,
  at: number,
  seconds: number,
): Subject {
  const take = async (): Promise<Taken> => {
    const [beganMs, app, engine] = [performance.now(), process.cpuUsage(), engineCpu(pair)];
    const trips = await tripsOn(store, seconds, at);
    const used = process.cpuUsage(app);
    return {
      tripsPerSecond: (1_000 * trips) / (performance.now() - beganMs),
      appMicrosecondsPerTrip: (used.user + used.system) / trips,
      engineMicrosecondsPerTrip: (engineCpu(pair) - engine) / trips,
    };
  };
  return { label: `${name}, store alone, ${at} in flight`, take, rounds: [] };
}

function httpSubject(
  label: string,
  nodes: readonly BenchServer[],
  pair: PostgresPair | null,
  generators: readonly Generator[],
  trips: number,
): Subject {
  const appCpu = () => nodes.reduce((sum, node) => sum + cpuMicroseconds(node), 0);
  const take = async (): Promise<Taken> => {
    const [app, engine] = [appCpu(), engineCpu(pair)];
    const share = { trips: Math.round(trips / nodes.length), connections: connections / nodes.length };
    const results = await Promise.all(
      nodes.map(({ port }, at) => (generators[at] ?? missing()).run({ kind: 'trip-v1', port, ...share })),
    );
    const sent = results.reduce((sum, result) => sum + result.trips, 0);
    return {
      tripsPerSecond: sent / Math.max(...results.map(({ seconds }) => seconds)),
      appMicrosecondsPerTrip: (appCpu() - app) / sent,
      engineMicrosecondsPerTrip: (engineCpu(pair) - engine) / sent,
    };
  };
  return { label, take, rounds: [] };
}

function missing(): never {
  throw new Error('a node without a generator');
}

/** All subjects in each round, in an order that turns, so that a slow minute hits all of them. */
async function takeTurns(what: string, subjects: readonly Subject[], rounds: number): Promise<void> {
  // The first round only warms up.
  for (let round = -1; round < rounds; round += 1) {
    const turned = round % 2 === 0 ? subjects : [...subjects].reverse();
    for (const { take, rounds: kept } of turned) {
      const taken = await take();
      if (round >= 0) kept.push(taken);
    }
    console.error(round < 0 ? `${what}: warmed up` : `${what}: round ${round + 1} of ${rounds}`);
  }
}

async function measureStores(folder: string, pair: PostgresPair, sizes: EngineSizes): Promise<Subject[]> {
  const clock = createMachineClock();
  await using embedded = await openSqliteStore({ directory: join(folder, 'embedded'), clock });
  await using shared = await openPostgresStore({ url: pair.primary.url, clock, durability: 'synchronous' });
  const subjects = inFlight.flatMap((at) => [
    storeSubject('SQLite', embedded, null, at, sizes.storeSeconds),
    storeSubject('PostgreSQL', shared, pair, at, sizes.storeSeconds),
  ]);
  await takeTurns('stores', subjects, sizes.rounds);
  return subjects;
}

const labels = {
  embedded: 'SQLite, HTTP, one server',
  one: 'PostgreSQL, HTTP, 1 node',
  three: 'PostgreSQL, HTTP, 3 nodes',
} as const;

async function measureHttp(folder: string, pair: PostgresPair, sizes: EngineSizes): Promise<Subject[]> {
  await using stack = new AsyncDisposableStack();
  const generators = await Promise.all([1, 2, 3].map(() => startGenerator('raw')));
  for (const generator of generators) stack.use(generator);
  const start = async (dataDir: string, store: string | null) =>
    stack.use(await startService({ folder, dataDir, ...(store !== null && { store }) }));
  const embedded = await start('sqlite', null);
  // A database of their own: in the other one there are secrets under no root of theirs.
  await pair.primary.ask('CREATE DATABASE nodes');
  const url = pair.primary.url.replace(/mayfly$/, 'nodes');
  const nodes: BenchServer[] = [];
  // One after the other, in one folder: the first makes the key file.
  for (let node = 0; node < 3; node += 1) nodes.push(await start('nodes', url));
  const subjects = [
    httpSubject(labels.embedded, [embedded], null, generators, sizes.httpTrips),
    httpSubject(labels.one, nodes.slice(0, 1), pair, generators, sizes.httpTrips),
    httpSubject(labels.three, nodes, pair, generators, sizes.httpTrips),
  ];
  await takeTurns('HTTP', subjects, sizes.rounds);
  return subjects;
}

type Engines = readonly Subject[];

const figure = (field: keyof Taken, label: string) => (all: Engines) => {
  const subject = all.find((each) => each.label === label);
  return subject === undefined ? null : median(subject.rounds.map((round) => round[field]));
};

const targets: readonly Target<Engines>[] = [
  {
    what: 'processor time of a node for a trip over HTTP, beside SQLite',
    ...{ bound: 1.2, direction: 'at most', unit: '×', digits: 2 },
    measure(all) {
      const cpu = (label: string) =>
        all.find((each) => each.label === label)?.rounds.map((round) => round.appMicrosecondsPerTrip) ?? [];
      return median(ratios(cpu(labels.one), cpu(labels.embedded)));
    },
  },
  {
    what: 'trips on the store alone, 256 in flight',
    ...{ bound: 6_000, direction: 'at least', unit: '/s', digits: 0 },
    measure: figure('tripsPerSecond', 'PostgreSQL, store alone, 256 in flight'),
  },
  {
    what: 'processor time of both servers for a trip, 256 in flight',
    ...{ bound: 150, direction: 'at most', unit: 'µs', digits: 0 },
    measure: figure('engineMicrosecondsPerTrip', 'PostgreSQL, store alone, 256 in flight'),
  },
];

const introduction = (machine: string, command: string) => `# Beside PostgreSQL

Made by \`${command}\`; do not edit. [engines.md](engines.md) says how to run Mayfly on PostgreSQL.

${machine}
- PostgreSQL: a primary and a synchronous standby, which syncs before anything is answered. Both, the nodes and the load share this machine's
  cores, and its disk.
- A trip is one secret that is stored, found and claimed; over HTTP, created and revealed through v1, with ${connections} connections in all.
- Subjects take turns within a round; medians over the rounds. Processor time is the kernel's, of all threads and processes.
`;

/** The document. @param machine in words, as in the others */
export function renderEngines(all: Engines, machine: string, command: string): string {
  const rows = all.map(({ label, rounds }) => {
    const of = (field: keyof Taken) => formatNumber(median(rounds.map((round) => round[field])), 0);
    return [label, of('tripsPerSecond'), of('appMicrosecondsPerTrip'), of('engineMicrosecondsPerTrip')];
  });
  const figures = table(['', 'trips/s', 'app CPU, µs a trip', 'engine CPU, µs a trip'], rows);
  return `${introduction(machine, command)}\n${figures}\n\n${targetsTable(targets, all, true)}\n`;
}

export async function measureEngines(sizes: EngineSizes): Promise<Engines> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  try {
    await using pair = await startPair({ isOnDisk: true, isDirect: true });
    return [...(await measureStores(folder, pair, sizes)), ...(await measureHttp(folder, pair, sizes))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
