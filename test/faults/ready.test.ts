/**
 * P23, readiness is the ability to do the work: every way in which a store can be unable, what `/readyz` and the log say of it, and that
 * a node without traffic recovers by itself.
 *
 * Elsewhere: a full disk (`disk-full`, `storage-limit`: 200, `storage_full`), moved files (`moved`: `store_moved`), a server whose
 * settings were changed (`boot-postgres`), an old primary (`postgres-old-primary`), a missing root (`rotation`, `three-nodes`), a disputed
 * clock (`clock`: 200), and a thread that has ended, which ends the process (`commit-queue`).
 */

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { attemptRequest, createV1, readMade } from '../support/calls.ts';
import { type PostgresPair, startPair, until } from '../support/postgres.ts';
import { sendOnce } from '../support/raw-client.ts';
import { type StartedServer, startServer } from '../support/started-server.ts';
import { buildShim, type Shim } from './shim.ts';

setDefaultTimeout(90_000);

interface Fault {
  readonly name: string;
  /** What the log calls it. */
  readonly code: RegExp;
  readonly words: string;
  /** Returns what ends it. */
  begin(node: StartedServer): Promise<() => Promise<void>>;
}

const unavailable = '{"status":"unavailable"}';
const readiness = async ({ port }: StartedServer) => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return [answer.status, await answer.text()];
};
const isReady = async (node: StartedServer) => (await readiness(node))[0] === 200;
const create = async ({ port }: StartedServer) => readMade(await sendOnce(port, createV1({ value: 'kept' })));
const linesOf = (node: StartedServer, event: string) =>
  node
    .stdout()
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`));

/** The fault comes, with `attempt` as the only traffic, and goes, with none. */
async function goThrough(node: StartedServer, fault: Fault, attempt: () => Promise<unknown>): Promise<void> {
  const before = [linesOf(node, 'store_failed').length, linesOf(node, 'store_back').length] as const;
  const made = await create(node);
  if (made === null) throw new Error('nothing was made before the fault');
  const end = await fault.begin(node);
  try {
    await attempt();
    await until(`not ready: ${fault.name}`, async () => !(await isReady(node)));
    await until(`said: ${fault.name}`, async () => linesOf(node, 'store_failed').length > before[0]);
    expect([fault.name, ...(await readiness(node))]).toEqual([fault.name, 503, fault.words]);
    const failed = linesOf(node, 'store_failed').slice(before[0]);
    expect(failed).toHaveLength(1);
    expect(JSON.parse(failed[0] ?? '{}').code).toMatch(fault.code);
  } finally {
    await end();
  }
  await until(`ready again: ${fault.name}`, () => isReady(node));
  await until(`said: ${fault.name} is over`, async () => linesOf(node, 'store_back').length > before[1]);
  expect(linesOf(node, 'store_failed').slice(before[0])).toHaveLength(1);
  expect(linesOf(node, 'store_back').slice(before[1])).toHaveLength(1);
  const answer = await sendOnce(node.port, attemptRequest({ door: 'v1.reveal', made }));
  expect([200, 404]).toContain(answer.status);
  expect(await create(node)).not.toBeNull();
}

describe('the embedded store', () => {
  let shim: Shim;
  beforeAll(async () => {
    shim = await buildShim();
  });
  afterAll(() => shim[Symbol.asyncDispose]());

  const whileThereIs = (name: string) => async () => {
    const flag = join(shim.folder, name);
    writeFileSync(flag, '');
    return async () => rmSync(flag);
  };
  const faults: readonly Fault[] = [
    { name: 'fsync fails', code: /^EIO$/, words: unavailable, begin: whileThereIs('sync') },
    // SQLite's word for what cannot be read.
    { name: 'reads fail', code: /^SQLITE_CORRUPT$/, words: unavailable, begin: whileThereIs('read') },
    {
      name: 'another process holds the lock',
      code: /^SQLITE_BUSY/,
      words: '{"status":"unavailable","store":"locked"}',
      async begin({ dataDir }) {
        const other = new Database(join(dataDir, 'mayfly.db'));
        other.run('BEGIN IMMEDIATE');
        return async () => other.close();
      },
    },
  ];

  test('P23: is not ready while it cannot do its work, and the log says why and when that is over', async () => {
    const env = {
      MAYFLY_LOG_LEVEL: 'info',
      LD_PRELOAD: shim.library,
      SHIM_ROOT: shim.folder,
      SHIM_FAIL_FLAG: join(shim.folder, 'sync'),
      SHIM_READ_FLAG: join(shim.folder, 'read'),
    };
    await using node = await startServer({ dataDir: join(shim.folder, 'data'), env });
    for (const fault of faults) await goThrough(node, fault, () => create(node));
  });
});

describe('PostgreSQL', () => {
  let pair: PostgresPair;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(() => pair[Symbol.asyncDispose]());

  const sql = (begin: string, end: string) => async () => {
    await pair.primary.ask(begin);
    return async () => void (await pair.primary.ask(end));
  };
  const faults: readonly Fault[] = [
    {
      name: 'the table of secrets is locked',
      code: /^UNAVAILABLE$/,
      words: unavailable,
      async begin() {
        const other = new pg.Client({ connectionString: pair.primary.url });
        await other.connect();
        await other.query('BEGIN; LOCK TABLE mayfly_store.records IN SHARE MODE');
        return () => other.end();
      },
    },
    {
      name: 'the standby is silent',
      code: /^[0-9A-Z_]+$/,
      words: unavailable,
      async begin() {
        pair.freezeStandby();
        return async () => pair.thawStandby();
      },
    },
    {
      name: 'the server is away',
      code: /^(?:ECONN\w+|57P\d\d|UNAVAILABLE)$/,
      words: unavailable,
      async begin() {
        await pair.primary.kill('SIGINT');
        return () => pair.primary.restart();
      },
    },
    {
      name: 'the table has another name, as in a store that is fenced',
      code: /^42P01$/,
      words: unavailable,
      begin: sql(
        'ALTER TABLE mayfly_store.records RENAME TO aside',
        'ALTER TABLE mayfly_store.aside RENAME TO records',
      ),
    },
  ];

  test('P23: is not ready while it cannot do its work, though nobody asks for it, and the log says why and when that is over', async () => {
    const env = { MAYFLY_STORE: pair.url, MAYFLY_LOG_LEVEL: 'info' };
    await using node = await startServer({ env });
    for (const fault of faults) await goThrough(node, fault, async () => {});
  });
});
