/**
 * Limits that all nodes count together: the server runs the cell rate algorithm of `http/rate-limit.ts`. A statement
 * locks its clients' rows in the order of their hashes, so that none deadlock, and processes its requests one by one,
 * so that each counts those before it. The table is UNLOGGED and nothing else is written, so such a commit waits for
 * neither the disk nor a standby. A crash or failover loses the counts.
 */
import { createHmac } from 'node:crypto';
import type { LimitCount, SharedLimits } from '../../core/ports/limits.ts';
import { createBatch } from './batches.ts';
import type { Engine } from './engine.ts';
import { statement } from './statement.ts';

type Mode = 'take' | 'peek' | 'refund';

interface Request {
  readonly mode: Mode;
  readonly counts: readonly LimitCount[];
  /** Orders the requests, and is unique, so that none waits for another with the same counts. */
  readonly number: number;
}

const countCalls = statement(
  `SELECT mayfly_store.count_calls(
    $1::bytea[], $2::text[], $3::int[], $4::int[], $5::bigint[], $6::bigint[]) AS waits`,
);

/** Deletes only as many rows as one statement can within its time limit. */
const forgetWhole = statement(`
  DELETE FROM mayfly_store.limits WHERE client IN (
    SELECT client FROM mayfly_store.limits WHERE whole_at <= extract(epoch FROM clock_timestamp()) * 1000000
    LIMIT 10000 FOR UPDATE SKIP LOCKED)`);

const forgottenEachMs = 60_000;

function valuesOf(requests: readonly Request[], hashOf: (count: LimitCount) => Buffer): unknown[] {
  const counts = requests.flatMap((request) => request.counts);
  const hashes = counts.map(hashOf);
  const clients = new Map(hashes.map((hash) => [hash.toString('latin1'), hash]));
  const places = new Map([...clients.keys()].map((hash, at) => [hash, at + 1]));
  const intervals = counts.map(({ rule }) => Math.ceil((rule.windowSeconds * 1_000_000) / rule.limit));
  return [
    [...clients.values()],
    requests.map(({ mode }) => mode),
    requests.map((request) => request.counts.length),
    hashes.map((hash) => places.get(hash.toString('latin1'))),
    intervals,
    counts.map(({ rule }, at) => (intervals[at] ?? 0) * rule.burst),
  ];
}

function waitsOf(requests: readonly Request[], waits: readonly number[]): (readonly number[])[] {
  let upto = 0;
  return requests.map(({ counts }) => {
    upto += counts.length;
    return waits.slice(upto - counts.length, upto).map((micros) => micros / 1000);
  });
}

/** @param key 32 bytes, the same on all nodes; without the key, the stored hashes identify no client */
export function createSharedLimits(
  engine: Pick<Engine, 'read' | 'decide'>,
  key: Uint8Array,
  monotonicMs = () => performance.now(),
): SharedLimits {
  let asked = 0;
  let forgottenAtMs = monotonicMs();
  const hashOf = ({ name, client }: LimitCount): Buffer =>
    createHmac('sha256', key)
      .update(`${name}\n${typeof client}\n${client}`)
      .digest()
      .subarray(0, 16);

  const count = createBatch<Request, readonly number[], { readonly waits: readonly string[] }>(engine, {
    statement: countCalls,
    // Losing or repeating a count when a server goes down does no harm.
    kind: 'read',
    idOf({ number }) {
      const id = Buffer.alloc(8);
      id.writeDoubleBE(number);
      return id;
    },
    valuesOf: (requests) => valuesOf(requests, hashOf),
    answersOf: ([row], requests) => waitsOf(requests, (row?.waits ?? []).map(Number)),
  });

  function forgetNowAndThen(): void {
    if (monotonicMs() < forgottenAtMs + forgottenEachMs) return;
    forgottenAtMs = monotonicMs();
    engine.read(forgetWhole, []).catch(() => {});
  }

  async function ask(mode: Mode, counts: readonly LimitCount[]): Promise<readonly number[]> {
    if (counts.length === 0) return [];
    asked += 1;
    const waits = await count({ mode, counts, number: asked });
    if (waits === 'abandoned') throw new Error('a limit is never abandoned');
    forgetNowAndThen();
    return waits;
  }

  return {
    take: (counts) => ask('take', counts),
    peek: (counts) => ask('peek', counts),
    async refund(counts) {
      await ask('refund', counts);
    },
  };
}
