/** The service as it is shipped, started for a benchmark, and one round of work against it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Round } from './figures.ts';
import type { JobKind } from './jobs.ts';
import { type BenchServer, cpuMicroseconds, type Generator, startMayfly } from './processes.ts';

export const kinds: readonly (readonly [JobKind, string])[] = [
  ['create-v1-form', 'create, v1, form'],
  ['create-v1-json', 'create, v1, JSON'],
  ['create-v2', 'create, v2'],
  ['trip-v1', 'create and reveal, v1'],
  ['trip-v2', 'create and reveal, v2'],
];

/** Expensive by design, so few are sent, and few at a time. */
export const passphraseKinds: readonly (readonly [JobKind, string])[] = [
  ['passphrase-create-v1', 'create with a passphrase, v1'],
  ['passphrase-trip-v1', 'create and reveal with a passphrase, v1'],
];
export const passphraseConnections = 4;

/** Limits that count every request and refuse none: the limiter's work belongs to the figure. */
function writeLimits(folder: string): string {
  const rule = { limit: 1_000_000_000, windowSeconds: 3_600, burst: 1_000_000_000 };
  const both = { anonymous: rule, account: rule };
  const path = join(folder, 'limits.json');
  writeFileSync(path, JSON.stringify({ create: both, manage: both }));
  return path;
}

/** @param folder for its files; its data go to `dataDir` in it. @param checkout where its code is; this checkout when absent */
export function startService(folder: string, dataDir: string, checkout?: string): Promise<BenchServer> {
  const env = { MAYFLY_DATA_DIR: join(folder, dataDir), MAYFLY_RATE_LIMITS: writeLimits(folder) };
  return startMayfly(env, checkout);
}

export async function takeRound(
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
