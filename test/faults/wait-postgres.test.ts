/**
 * P23: a start, and `mayfly migrate`, wait for a database that is away, and for nothing else. What ends a start at once is in
 * `boot-postgres`.
 */

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import firstMigration from '../../src/store/sqlite/migrations/001-records.sql' with { type: 'text' };
import { createV1, readMade } from '../support/calls.ts';
import {
  type PostgresPair,
  type PostgresServer,
  startPair,
  startPostgres,
  until,
} from '../support/postgres.ts';
import { sendOnce } from '../support/raw-client.ts';
import {
  freePort,
  makeDataDir,
  runProduct,
  serveCommand,
  spawnProduct,
  watch,
} from '../support/started-server.ts';

setDefaultTimeout(90_000);

let dataDir = '';
let server: PostgresServer;
beforeAll(async () => {
  dataDir = await makeDataDir();
  server = await startPostgres();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

/** A start that nobody waits for. */
async function begin(env: Readonly<Record<string, string>>) {
  const port = await freePort();
  const child = spawnProduct(serveCommand, {
    ...{ PORT: String(port), MAYFLY_DATA_DIR: dataDir, MAYFLY_LOG_LEVEL: 'info', ...env },
  });
  const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
  const { stderr, stdout, exited } = watch(child);
  return {
    ...{ port, ask, stderr, stdout, exited },
    statusOf: (path: string) =>
      ask(path).then(
        ({ status }) => status,
        () => 0,
      ),
    stop: () => child.kill('SIGTERM'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const single = { MAYFLY_STORE_DURABILITY: 'single' };
const count = (text: string, part: string) => text.split(part).length - 1;

describe('a start whose database is away', () => {
  test('lives and is not ready, says what it waits for, and serves once the database is there', async () => {
    await server.kill('SIGINT');
    await using node = await begin({ MAYFLY_STORE: server.url, ...single });
    await until('it listens', async () => (await node.statusOf('/healthz')) === 200);
    expect(await node.statusOf('/readyz')).toBe(503);
    for (const [path, method] of [
      ['/', 'GET'],
      ['/api/v2/status', 'GET'],
      ['/api/v1/share', 'POST'],
    ] as const) {
      const { status, headers } = await node.ask(path, { method });
      expect([path, status, headers.get('retry-after')]).toEqual([path, 503, '5']);
    }
    expect(node.stderr()).toContain(
      `Mayfly is waiting. The PostgreSQL server at ${server.url} does not answer (ECONNREFUSED): start it, or correct MAYFLY_STORE.`,
    );
    // Tried every second, told every ten.
    await until('the log says so', async () => node.stdout().includes('store_awaited'));
    expect(node.stdout()).toMatch(/"event":"store_awaited","code":"ECONNREFUSED"/);
    await server.restart();
    await until('it is ready', async () => (await node.statusOf('/readyz')) === 200);
    expect(readMade(await sendOnce(node.port, createV1({ value: 'after the wait' })))).not.toBeNull();
    await until('it says so', async () => node.stderr().includes('is ready'));
    expect([count(node.stderr(), 'Mayfly is waiting'), count(node.stdout(), 'store_awaited')]).toEqual([
      1, 1,
    ]);
  });

  test('ends at once when it is told to stop', async () => {
    const env = { MAYFLY_STORE: server.url.replace(/:\d+/, `:${await freePort()}`), ...single };
    await using node = await begin(env);
    await until('it waits', async () => (await node.statusOf('/healthz')) === 200);
    const startedMs = performance.now();
    node.stop();
    expect(await node.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(node.stdout()).toMatch(/"event":"stopping","signal":"SIGTERM"[\s\S]*"event":"stopped"/);
  });

  test('refuses at once a port in use, and a command beside servers waits for nothing', async () => {
    await using holder = await begin({ MAYFLY_STORE: server.url, ...single });
    await until('it is ready', async () => (await holder.statusOf('/readyz')) === 200);
    const away = {
      MAYFLY_STORE: server.url.replace(/:\d+/, `:${await freePort()}`),
      ...single,
      MAYFLY_DATA_DIR: dataDir,
    };
    const start = await runProduct(serveCommand, { ...away, PORT: String(holder.port) });
    expect([start.code, start.stderr]).toEqual([1, expect.stringContaining(`Port ${holder.port}`)]);
    const list = await runProduct(['src/main.ts', 'account', 'list'], away);
    expect([list.code, list.stderr]).toEqual([1, expect.stringContaining('does not answer (ECONNREFUSED)')]);
  });
});

describe('mayfly migrate', () => {
  const migrate = (env: Readonly<Record<string, string>>, ...words: string[]) =>
    runProduct(['src/main.ts', 'migrate', ...words], { MAYFLY_DATA_DIR: dataDir, ...env }, 60_000);

  test('makes the tables of both stores, and finds nothing to do the second time', async () => {
    await server.ask('CREATE DATABASE fresh');
    for (const [env, where] of [
      [{ MAYFLY_STORE: server.url.replace(/mayfly$/, 'fresh'), ...single }, /postgres:\S+fresh/],
      [{}, /\S*mayfly-\w+/],
    ] as const) {
      const first = await migrate(env);
      expect([first.code, first.stdout]).toEqual([0, '']);
      expect(first.stderr).toMatch(new RegExp(`^Done\\. Created a new store at ${where.source}\\.\n$`));
      expect((await migrate(env)).stderr).toMatch(/is up to date: nothing to do\.\n$/);
      expect(await migrate(env, '--json')).toMatchObject({ code: 0, stdout: '{"outcome":"up_to_date"}\n' });
    }
  });

  test('brings a store of the first version up to date', async () => {
    const folder = await makeDataDir();
    const store = new Database(join(folder, 'mayfly.db'), { create: true });
    store.run(firstMigration);
    store.run('PRAGMA application_id = 0x6d617966; PRAGMA user_version = 1');
    store.close();
    try {
      const { code, stderr } = await migrate({ MAYFLY_DATA_DIR: folder });
      expect([code, stderr]).toEqual([0, `Done. The store at ${folder} is now up to date.\n`]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('refuses what a start refuses, and waits for what a start waits for', async () => {
    const missing = await migrate({ MAYFLY_STORE: server.url.replace(/mayfly$/, 'missing'), ...single });
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('has no such database')]);
    const undeclared = await migrate({ MAYFLY_STORE: server.url }, '--json');
    expect([undeclared.code, undeclared.stdout]).toEqual([1, '{"error":"failed"}\n']);
    await server.kill('SIGINT');
    const child = spawnProduct(['src/main.ts', 'migrate'], {
      ...{ MAYFLY_DATA_DIR: dataDir, MAYFLY_STORE: server.url, ...single },
    });
    const { stderr, exited } = watch(child);
    await until('it says what it waits for', async () => stderr().includes('does not answer (ECONNREFUSED)'));
    await server.restart();
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(stderr()).toContain('is up to date: nothing to do.');
  });
});

describe('a start in the middle of a failover', () => {
  let pair: PostgresPair;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(() => pair[Symbol.asyncDispose]());

  test('waits while its address leads to a standby, and serves from the promoted one', async () => {
    const standby = pair.standby?.url ?? '';
    const env = { MAYFLY_STORE_DURABILITY: 'synchronous' };
    await using first = await begin({ MAYFLY_STORE: pair.url, ...env });
    await until('the store is made', async () => (await first.statusOf('/readyz')) === 200);
    await using node = await begin({ MAYFLY_STORE: standby, ...env });
    await until('it waits', async () =>
      node.stderr().includes('Mayfly is waiting. The address leads to a standby'),
    );
    await pair.killPrimary();
    await pair.promote();
    await pair.addStandby();
    await until('it is ready', async () => (await node.statusOf('/readyz')) === 200);
    expect(readMade(await sendOnce(node.port, createV1({ value: 'after the failover' })))).not.toBeNull();
  });
});
