/**
 * Requests under load: every kind of work against each server in each round, by each generator, beside bare servers.
 *
 * Within a round the servers take turns, in an order that changes, so that a slow minute hits all of them.
 */
import type { LoadFigures, Round, Series } from './figures.ts';
import type { Generator } from './generators.ts';
import { benchValue, type Job, type JobKind, tripOf } from './jobs.ts';
import { type BenchServer, cpuMicroseconds, startBenchServer } from './processes.ts';

export interface LoadSize {
  readonly rounds: number;
  readonly tripsPerRound: number;
  readonly passphraseTrips: number;
  readonly connections: number;
}

/** Bare servers that own nothing and keep no promise. */
export interface BareServers {
  readonly bun: BenchServer;
  readonly node: BenchServer;
}

export const startBareBun = () => startBenchServer('bare Bun.serve', [process.execPath, 'bench/bare-bun.ts']);
export const startBareNode = () => startBenchServer('bare node:http', ['node', 'bench/bare-node.mjs']);

interface Work {
  readonly label: string;
  readonly kind: JobKind;
  /** Of a page. */
  readonly path?: string;
  /** The kernel counts coarsely, so a cheap request is sent more often. */
  readonly isCheap?: true;
}

/** What the bare servers are sent. */
export const bareWorks = {
  bun: { kind: 'create-v1-form', label: 'bare Bun.serve, the body read', isCheap: true },
  bunWithoutBody: { kind: 'get', label: 'bare Bun.serve, no body', isCheap: true },
  node: { kind: 'get', label: 'bare node:http, no body', isCheap: true },
} as const satisfies Record<string, Work>;

/** By these the figures are found again. */
export const labels = {
  create: 'create, v1, form',
  createV2: 'create, v2',
  trip: 'create and reveal, v1',
  tripV2: 'create and reveal, v2',
  tripSealed: 'create and reveal, end-to-end',
  passphraseCreate: 'create with a passphrase, v1',
  home: '`/`',
  secret: '`/secret/:key`',
} as const;

const calls: readonly Work[] = [
  { kind: 'create-v1-form', label: labels.create },
  { kind: 'create-v1-json', label: 'create, v1, JSON' },
  { kind: 'create-v2', label: labels.createV2 },
  { kind: 'trip-v1', label: labels.trip },
  { kind: 'trip-v2', label: labels.tripV2 },
];

/** What earlier commits do not know. */
const sealedCalls: readonly Work[] = [
  { kind: 'create-sealed', label: 'create, end-to-end' },
  { kind: 'trip-sealed', label: labels.tripSealed },
];

/** Expensive by design, so few are sent, and few at a time. */
const slowCalls: readonly Work[] = [
  { kind: 'passphrase-create-v1', label: labels.passphraseCreate },
  { kind: 'passphrase-trip-v1', label: 'create and reveal with a passphrase, v1' },
];
export const passphraseConnections = 4;

/** A secret's page; looking at it consumes nothing. */
export async function concealOne({ port }: BenchServer): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/share`, {
    method: 'POST',
    body: new URLSearchParams({ secret: benchValue }),
  });
  const { secret_key: key } = (await response.json()) as { secret_key: string };
  return `/secret/${key}`;
}

async function isKnown({ port }: BenchServer, { kind }: Work): Promise<boolean> {
  const { path, ...request } = tripOf({ kind }).first;
  return (await fetch(`http://127.0.0.1:${port}${path}`, request)).ok;
}

/** All that is asked of a service; what another may not know comes last, so that the others keep their places. */
async function worksOn(server: BenchServer): Promise<Work[]> {
  const pages: Work[] = [
    { kind: 'page', label: labels.home, path: '/' },
    { kind: 'page', label: labels.secret, path: await concealOne(server) },
  ];
  const known = await Promise.all(sealedCalls.map((work) => isKnown(server, work)));
  return [...calls, ...pages, ...slowCalls, ...sealedCalls.filter((_, index) => known[index])];
}

export const isSlow = ({ kind }: Pick<Work, 'kind'>): boolean => kind.startsWith('passphrase');

export const cheapFactor = 8;

function jobSize(work: Work, { tripsPerRound, passphraseTrips, connections }: LoadSize) {
  if (isSlow(work)) return { trips: passphraseTrips, connections: passphraseConnections };
  return { trips: work.isCheap === true ? cheapFactor * tripsPerRound : tripsPerRound, connections };
}

export async function takeRound(
  generator: Generator,
  server: BenchServer,
  work: Pick<Job, 'kind' | 'path' | 'keys'>,
  size: { readonly trips: number; readonly connections: number },
): Promise<Round> {
  const cpuBefore = cpuMicroseconds(server);
  const result = await generator.run({ path: '/', ...work, port: server.port, ...size });
  return {
    tripsPerSecond: result.trips / result.seconds,
    cpuMicrosecondsPerTrip: (cpuMicroseconds(server) - cpuBefore) / result.trips,
    p50Milliseconds: result.p50Milliseconds,
    p99Milliseconds: result.p99Milliseconds,
    generatorShare: result.generatorCpuSeconds / result.seconds,
  };
}

interface Task {
  readonly server: BenchServer;
  readonly work: Work;
  readonly series: Series & { readonly rounds: Round[] };
}

const taskOf = (server: BenchServer, work: Work): Task => ({
  server,
  work,
  series: { label: work.label, kind: work.kind, rounds: [] },
});

/** What one generator does: the bare servers' tasks, and each service's, in the same order. */
interface Plan {
  readonly generator: Generator;
  readonly bare: Readonly<Record<keyof typeof bareWorks, Task>>;
  readonly services: readonly (readonly Task[])[];
}

async function planOf(
  generator: Generator,
  { bun, node }: BareServers,
  services: readonly BenchServer[],
): Promise<Plan> {
  // Slow hashes cost the same whatever sends the request.
  const isTaken = (work: Work) => generator.name === 'raw' || !isSlow(work);
  const tasksOn = async (server: BenchServer) =>
    (await worksOn(server)).filter(isTaken).map((work) => taskOf(server, work));
  return {
    generator,
    bare: {
      bun: taskOf(bun, bareWorks.bun),
      bunWithoutBody: taskOf(bun, bareWorks.bunWithoutBody),
      node: taskOf(node, bareWorks.node),
    },
    services: await Promise.all(services.map(tasksOn)),
  };
}

/** The services take turns with each kind of work. */
function inOrder({ bare, services }: Plan, round: number): Task[] {
  const turns = (services[0] ?? []).map((_, index) => services.map((tasks) => tasks[index]));
  const turned = turns.map((turn) => (round % 2 === 0 ? turn : turn.reverse()));
  return [...Object.values(bare), ...turned.flat().filter((task) => task !== undefined)];
}

/** @returns for each service the figures of each generator */
export async function measureLoad(
  generators: readonly Generator[],
  bare: BareServers,
  services: readonly BenchServer[],
  size: LoadSize,
): Promise<LoadFigures[][]> {
  const plans = await Promise.all(generators.map((generator) => planOf(generator, bare, services)));
  // The first round only warms up.
  for (let round = -1; round < size.rounds; round += 1) {
    for (const plan of plans) {
      for (const { server, work, series } of inOrder(plan, round)) {
        const taken = await takeRound(plan.generator, server, work, jobSize(work, size));
        if (round >= 0) series.rounds.push(taken);
      }
    }
    console.error(round < 0 ? 'requests: warmed up' : `requests: round ${round + 1} of ${size.rounds}`);
  }
  return services.map((_, index) => plans.map((plan) => figuresOf(plan, index)));
}

function figuresOf({ generator, bare, services }: Plan, index: number): LoadFigures {
  const service = (services[index] ?? []).map(({ series }) => series);
  const { bun, bunWithoutBody, node } = bare;
  return {
    generator: generator.name,
    bun: bun.series,
    bunWithoutBody: bunWithoutBody.series,
    node: node.series,
    service,
  };
}
