/**
 * A server with the documented dialects and one with the upstream dialects, on one store: what docs/proxies.md says of a fleet that moves.
 *
 * Proves that a secret made at either opens once, whichever of the two its readers ask, in whichever version (P1, P7).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import {
  type Attempt,
  attemptRequest,
  createV1,
  createV2,
  type Made,
  readAttempt,
  readMade,
  readReceiptState,
  receiptRequest,
} from '../support/calls.ts';
import { count, limitMs } from '../support/counts.ts';
import { startNodes } from '../support/nodes.ts';
import { startPostgres } from '../support/postgres.ts';
import { type RawAnswer, requestBytes, sendOnce, sendTogether } from '../support/raw-client.ts';
import { createAccount, makeDataDir, openPool, startServer } from '../support/started-server.ts';

const secretCount = count({ usual: 100, long: 1_000 });
const readersAtEach = 4;
const upstream = { MAYFLY_V1_DIALECT: 'upstream', MAYFLY_V2_DIALECT: 'upstream' };

interface Both extends AsyncDisposable {
  /** Documented, then upstream. */
  readonly ports: readonly [number, number];
  readonly basic: string;
}

const stores: Readonly<Record<string, () => Promise<Both>>> = {
  async 'one data folder'() {
    const dataDir = await makeDataDir();
    const { basic } = await createAccount(dataDir, 'fleet@example.org');
    const servers = await Promise.all([{}, upstream].map((env) => startServer({ dataDir, env })));
    const [first, second] = servers.map(({ port }) => port);
    return {
      ...{ ports: [first ?? 0, second ?? 0], basic },
      async [Symbol.asyncDispose]() {
        for (const server of servers) await server[Symbol.asyncDispose]();
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  },
  async PostgreSQL() {
    const server = await startPostgres();
    const nodes = await startNodes({ url: server.url, durability: 'single', nodeCount: 1 });
    const { MAYFLY_DATA_DIR: _, ...shared } = nodes.env;
    const second = await startServer({ env: { ...shared, ...upstream } });
    return {
      ...{ ports: [nodes.servers[0]?.port ?? 0, second.port], basic: nodes.owner.basic },
      async [Symbol.asyncDispose]() {
        await second[Symbol.asyncDispose]();
        await nodes[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  },
};

const anonymousReceipt = ({ metadataKey }: Made) =>
  requestBytes({ method: 'GET', path: `/api/v1/private/${metadataKey}` });

async function make(port: number, request: Buffer): Promise<Made> {
  const answer = await sendOnce(port, request);
  const made = readMade(answer);
  if (made === null) throw new Error(`a create answered ${answer.status}: ${answer.body}`);
  return made;
}

describe.each(Object.entries(stores))('both dialects on %s', (_name, open) => {
  let both: Both;
  beforeAll(async () => {
    both = await open();
  }, 60_000);
  afterAll(() => both?.[Symbol.asyncDispose]());

  test(
    `P1, P7: of ${2 * readersAtEach} readers over both, one gets the value and the others hear that it is gone`,
    async () => {
      const pools = await Promise.all(both.ports.map((port) => openPool(port, readersAtEach)));
      const readers = pools.flatMap(({ connections }) => connections);
      for (let n = 0; n < secretCount; n += 1) {
        const value = `the value ${n}`;
        const secret = n % 3 === 0 ? { value, basic: both.basic } : { value };
        const request = n % 4 < 2 ? createV1(secret) : createV2(secret);
        const made = await make(both.ports[n % 2] ?? 0, request);
        const attempts = readers.map((connection, at) => {
          const attempt: Attempt = { door: (at + n) % 2 === 0 ? 'v1.reveal' : 'v2.reveal', made };
          return { connection, attempt, request: attemptRequest(attempt) };
        });
        // The bytes of either server's readers leave first, in turn.
        if (n % 2 === 0) attempts.reverse();
        const answers = await sendTogether(attempts);
        const readings = attempts.map(({ attempt }, at) => readAttempt(attempt, answers[at] as RawAnswer));
        const lost = new Array(readers.length - 1).fill({ is: 'lost' });
        const released = { is: 'released', value } as const;
        expect(readings.filter(({ is }) => is !== 'released')).toEqual(lost);
        expect(readings.filter(({ is }) => is === 'released')).toEqual([released]);
      }
      for (const pool of pools) pool[Symbol.dispose]();
    },
    limitMs(60_000),
  );

  test(
    'what is made at one opens at the other, an account is the same at both, and each speaks its own dialect',
    async () => {
      const [documented, fleet] = both.ports;
      for (const [here, there] of [both.ports, [fleet, documented]] as const) {
        const made = await make(here, createV1({ value: 'over there', basic: both.basic }));
        expect(readReceiptState(await sendOnce(there, receiptRequest(made, both.basic)))).toBe('new');
        const statuses = await Promise.all(
          both.ports.map(async (port) => (await sendOnce(port, anonymousReceipt(made))).status),
        );
        expect(statuses).toEqual([401, 200]);
        const reveal: Attempt = { door: 'v2.reveal', made };
        const answer = await sendOnce(there, attemptRequest(reveal));
        expect(readAttempt(reveal, answer)).toEqual({ is: 'released', value: 'over there' });
      }
    },
    limitMs(60_000),
  );
});
