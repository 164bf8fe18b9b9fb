/**
 * Resident memory of a service and all its processes while requests come in, slow hashes among them.
 */
import { median } from './figures.ts';
import type { Generator } from './generators.ts';
import { requestsPerTrip } from './jobs.ts';
import { passphraseConnections, takeRound } from './load.ts';
import { type BenchServer, residentMebibytes } from './processes.ts';

/** The most that was seen since the sample before. */
export interface MemorySample {
  /** So far. */
  readonly requests: number;
  readonly mebibytes: number;
}

export interface MemorySize {
  readonly requests: number;
  readonly slices: number;
  readonly connections: number;
}

const sampleMilliseconds = 100;

async function mostWhile(server: BenchServer, work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  const sample = () => {
    most = Math.max(most, residentMebibytes(server));
  };
  const timer = setInterval(sample, sampleMilliseconds);
  try {
    await work();
    sample();
    return most;
  } finally {
    clearInterval(timer);
  }
}

/** Enough that as many hashes as are allowed run at once. */
const hashes = 8;

/** @param servers freshly started; they take turns @returns the samples of each */
export async function measureMemory(
  generator: Generator,
  servers: readonly BenchServer[],
  { requests, slices, connections }: MemorySize,
): Promise<MemorySample[][]> {
  const all = servers.map((server) => [{ requests: 0, mebibytes: residentMebibytes(server) }]);
  const trips = Math.round(requests / slices / requestsPerTrip('trip-v1'));
  for (let slice = 1; slice <= slices; slice += 1) {
    for (const [index, server] of servers.entries()) {
      const mebibytes = await mostWhile(server, async () => {
        await takeRound(generator, server, { kind: 'trip-v1' }, { trips, connections });
        const slow = { trips: hashes, connections: passphraseConnections };
        await takeRound(generator, server, { kind: 'passphrase-create-v1' }, slow);
      });
      all[index]?.push({ requests: slice * trips * requestsPerTrip('trip-v1'), mebibytes });
    }
    console.error(`memory: ${slice} of ${slices}`);
  }
  return all;
}

export const mostMebibytes = (samples: readonly MemorySample[]): number =>
  Math.max(...samples.map(({ mebibytes }) => mebibytes));

/** From the first to the second half, the idle process left out. */
export function growthPercent(samples: readonly MemorySample[]): number {
  const [, ...loaded] = samples.map(({ mebibytes }) => mebibytes);
  const half = Math.floor(loaded.length / 2);
  return (median(loaded.slice(-half)) / median(loaded.slice(0, half)) - 1) * 100;
}
