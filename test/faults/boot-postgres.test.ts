/**
 * Nodes at their start on a PostgreSQL server: what they refuse, with a sentence (P25) that shows no password (P18), and that all that
 * serve one store have the same keys (P12).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, chownSync, copyFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { attemptRequest, createV1, type Made, readMade } from '../support/calls.ts';
import { type PostgresServer, startPair, startPostgres, until } from '../support/postgres.ts';
import { sendOnce } from '../support/raw-client.ts';
import {
  freePort,
  makeDataDir,
  runProduct,
  type StartedServer,
  StartRefused,
  serveCommand,
  spawnProduct,
  startServer,
  watch,
} from '../support/started-server.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
const folders: string[] = [];
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function freshFolder(): Promise<string> {
  const folder = await makeDataDir();
  folders.push(folder);
  return folder;
}

let databases = 0;

/** The address of a database without tables. */
async function freshDatabase(): Promise<string> {
  databases += 1;
  await server.ask(`CREATE DATABASE fresh_${databases}`);
  return server.url.replace(/mayfly$/, `fresh_${databases}`);
}

type Env = Readonly<Record<string, string>>;
const single = { MAYFLY_STORE_DURABILITY: 'single' };

async function refusalOf(env: Env): Promise<string> {
  const port = String(await freePort());
  const run = await runProduct(serveCommand, { PORT: port, MAYFLY_DATA_DIR: await freshFolder(), ...env });
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toStartWith('Mayfly does not start. ');
  // For a person: no stack trace, and no password.
  expect(run.stderr).not.toMatch(/\n\s+at |hunter2/);
  return run.stderr;
}

const as = (user: string, url = server.url) => url.replace('mayfly@', `${user}:hunter2@`);

describe('P25, P18: a PostgreSQL server stops the start', () => {
  test('that names no standby, until its durability is said', async () => {
    expect(await refusalOf({ MAYFLY_STORE: as('mayfly') })).toContain('Set MAYFLY_STORE_DURABILITY: single');
  });

  test('that does not know the user', async () => {
    expect(await refusalOf({ MAYFLY_STORE: as('stranger'), ...single })).toMatch(
      /does not let this user in \(28\w{3}\): correct the user or the password/,
    );
  });

  test('that has no such database', async () => {
    const url = server.url.replace(/mayfly$/, 'missing');
    expect(await refusalOf({ MAYFLY_STORE: as('mayfly', url), ...single })).toContain('has no such database');
  });

  test('on which the user may make no tables', async () => {
    await server.ask('CREATE ROLE reader LOGIN');
    expect(await refusalOf({ MAYFLY_STORE: as('reader'), ...single })).toMatch(
      /lacks a right \(42501\): run CREATE SCHEMA mayfly_store AUTHORIZATION/,
    );
  });

  test('whose tables a later version has made, which stay as they are', async () => {
    const url = await freshDatabase();
    const keys = { MAYFLY_DATA_DIR: await freshFolder() };
    {
      await using node = await startServer({
        dataDir: keys.MAYFLY_DATA_DIR,
        env: { MAYFLY_STORE: url, ...single },
      });
      node.kill('SIGTERM');
      await node.exited;
    }
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query('UPDATE mayfly_store.migrations SET done = 999');
      expect(await refusalOf({ MAYFLY_STORE: url, ...single, ...keys })).toContain(
        'later version of Mayfly (schema 999',
      );
      expect((await client.query('SELECT done FROM mayfly_store.migrations')).rows).toEqual([{ done: 999 }]);
    } finally {
      await client.end();
    }
  });

  test('with a setting that is not safe, unless that is allowed: then it is said wherever people look', async () => {
    await server.configure({ fsync: 'off' });
    try {
      const env = { MAYFLY_STORE: await freshDatabase(), ...single };
      expect(await refusalOf(env)).toMatch(
        /fsync is off.*\nTo run on it all the same, set MAYFLY_ALLOW_UNSAFE_STORE=on\./,
      );
      await using node = await startServer({ env: { ...env, MAYFLY_ALLOW_UNSAFE_STORE: 'on' } });
      expect(node.stderr()).toMatch(/ {2}UNSAFE {3}fsync is off/);
      const get = async (path: string) => (await fetch(`http://127.0.0.1:${node.port}${path}`)).text();
      expect(await get('/readyz')).toBe('{"status":"ok","store":"unsafe"}');
      expect(await get('/status')).toMatch(/A single server, no standby.*Unsafe settings/);
    } finally {
      await server.configure({ fsync: 'on' });
    }
  });
});

/** Of the name `localhost`, and its own authority. */
const certificate = join(import.meta.dir, '../deploy/certificate.pem');

/** The key in a file that the server takes: of its user alone. */
function serverKey(): string {
  const path = join(server.folder, 'key.pem');
  copyFileSync(join(import.meta.dir, '../deploy/certificate-key.pem'), path);
  const { uid, gid } = statSync(server.folder);
  chmodSync(path, 0o600);
  chownSync(path, uid, gid);
  return path;
}

describe('the server proves its name', () => {
  const at = (host: string, parameters: string) =>
    `${server.url.replace('127.0.0.1', host).replace('mayfly@', 'mayfly:hunter2@')}?${parameters}`;

  test('P25: or the start is refused: without TLS, by an unknown authority, by another name', async () => {
    const known = `sslrootcert=${certificate}`;
    expect(await refusalOf({ MAYFLY_STORE: at('localhost', known), ...single })).toContain(
      'does not encrypt: set ssl=on',
    );
    const copied = join(server.folder, 'certificate.pem');
    writeFileSync(copied, await Bun.file(certificate).text());
    await server.configure({ ssl: 'on', ssl_cert_file: `'${copied}'`, ssl_key_file: `'${serverKey()}'` });
    try {
      const whoItIs = /does not prove who it is \(\w+\): name the authority/;
      expect(await refusalOf({ MAYFLY_STORE: at('localhost', 'sslmode=require'), ...single })).toMatch(
        whoItIs,
      );
      expect(await refusalOf({ MAYFLY_STORE: at('127.0.0.1', known), ...single })).toMatch(whoItIs);
      await using node = await startServer({ env: { MAYFLY_STORE: at('localhost', known), ...single } });
      expect(node.stderr()).toContain('PostgreSQL at postgres://mayfly@localhost');
      const encrypted = await server.ask<{ n: string }>(
        "SELECT count(*) AS n FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'mayfly'",
      );
      expect(Number(encrypted[0]?.n)).toBeGreaterThan(0);
    } finally {
      await server.configure({ ssl: 'off' });
    }
  });
});

async function put(node: StartedServer, value: string): Promise<Made> {
  const made = readMade(await sendOnce(node.port, createV1({ value })));
  if (made === null) throw new Error('a create failed');
  return made;
}

const reveal = async (node: StartedServer, made: Made) =>
  (await sendOnce(node.port, attemptRequest({ door: 'v1.reveal', made }))).status;

/** Starts at the same time; each serves or says why not. */
async function startAtOnce(store: string, dataDirs: readonly string[]) {
  const starts = await Promise.allSettled(
    dataDirs.map((dataDir) => startServer({ dataDir, env: { MAYFLY_STORE: store, ...single } })),
  );
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const refused = starts.flatMap((start) => {
    if (start.status === 'fulfilled') return [];
    if (!(start.reason instanceof StartRefused)) throw start.reason;
    return [start.reason.stderr];
  });
  return { nodes, refused };
}

async function withOwnKeys(byte: number): Promise<string> {
  const dataDir = await freshFolder();
  const key = Buffer.alloc(32, byte).toString('base64url');
  await writeFile(join(dataDir, 'keys.json'), JSON.stringify({ version: 1, roots: [{ kid: 1, key }] }), {
    mode: 0o600,
  });
  return dataDir;
}

describe('P12: the nodes of one store have the same keys', () => {
  test('of two that are the first at once with other keys, one serves and the other says why not', async () => {
    const { nodes, refused } = await startAtOnce(await freshDatabase(), [
      await withOwnKeys(1),
      await withOwnKeys(2),
    ]);
    try {
      expect(nodes).toHaveLength(1);
      expect(refused).toEqual([
        expect.stringContaining('root 1 is not the one that this store was written with'),
      ]);
    } finally {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    }
  });

  test('of two that are the first at once without any, one makes the file, and the other serves with a copy of it', async () => {
    const store = await freshDatabase();
    const dataDirs = [await freshFolder(), await freshFolder()];
    const { nodes, refused } = await startAtOnce(store, dataDirs);
    const [first] = nodes;
    try {
      expect(nodes).toHaveLength(1);
      expect(refused).toEqual([expect.stringContaining('copy that node’s key file here')]);
      if (first === undefined) throw new Error('none serves');
      expect(first.stderr()).toContain('created just now: copy it to every other node before it starts');
      const fileOf = (dataDir: string) => join(dataDir, 'keys.json');
      const other = dataDirs.find((dataDir) => dataDir !== first.dataDir) ?? '';
      expect(dataDirs.filter((dataDir) => existsSync(fileOf(dataDir)))).toEqual([first.dataDir]);
      copyFileSync(fileOf(first.dataDir), fileOf(other));
      await using second = await startServer({ dataDir: other, env: { MAYFLY_STORE: store, ...single } });
      const made = await put(first, 'of the first node');
      expect([await reveal(second, made), await reveal(first, made)]).toEqual([200, 404]);
    } finally {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    }
  });
});

describe('a server that is changed while a node serves', () => {
  test('P2, P25: releases nothing once commits wait for no standby, says so, and goes on when they do', async () => {
    await using pair = await startPair();
    const env = { MAYFLY_STORE: pair.url, MAYFLY_STORE_DURABILITY: 'synchronous', MAYFLY_LOG_LEVEL: 'info' };
    await using node = await startServer({ env });
    expect(node.stderr()).toContain('synchronous: a commit counts once a standby has it');
    const made = await put(node, 'kept through it');
    const isReady = async () => (await fetch(`http://127.0.0.1:${node.port}/readyz`)).status === 200;
    const [before] = await pair.primary.ask<{ names: string }>(
      "SELECT current_setting('synchronous_standby_names') AS names",
    );
    await pair.primary.configure({ synchronous_standby_names: "''" });
    await until('it is not ready', async () => !(await isReady()));
    await until('the log says so', async () => /"store_failed","code":"UNSAFE_SETTING"/.test(node.stdout()));
    expect(await reveal(node, made)).toBe(503);
    const doctor = await runProduct(['src/main.ts', 'doctor'], { ...env, MAYFLY_DATA_DIR: node.dataDir });
    expect(doctor.stdout).toMatch(/FAULT +store +The server waits for no standby/);
    await pair.primary.configure({ synchronous_standby_names: `'${before?.names}'` });
    await until('it is ready', isReady);
    expect(await reveal(node, made)).toBe(200);
    await until('the log says that, too', async () => node.stdout().includes('store_back'));
  });
});

describe('a standby that does not answer', () => {
  test('P23: does not keep a node from stopping, and the next waits for it, with what to look at', async () => {
    await using pair = await startPair();
    const env = { MAYFLY_STORE: pair.url, MAYFLY_DATA_DIR: await freshFolder() };
    await using node = await startServer({ dataDir: env.MAYFLY_DATA_DIR, env });
    pair.freezeStandby();
    node.kill('SIGTERM');
    expect(await node.exited).toEqual({ code: 0, signal: null });
    const run = (...words: string[]) => runProduct(['src/main.ts', ...words], env);
    const port = await freePort();
    const next = spawnProduct(serveCommand, { PORT: String(port), ...env });
    const { stderr, exited } = watch(next);
    await using _ = {
      async [Symbol.asyncDispose]() {
        next.kill('SIGKILL');
        await exited;
      },
    };
    await until('it says what it waits for', async () =>
      /Mayfly is waiting\. .*does not confirm in time.*whether the standby .* is connected/.test(stderr()),
    );
    const [doctor, create] = await Promise.all([
      run('doctor'),
      run('account', 'create', 'jo@example.org', '--json'),
    ]);
    expect(doctor.stdout).toMatch(/FAULT +store +opens, but does not answer in time/);
    expect(create).toMatchObject({ code: 1, stdout: '{"error":"unavailable"}\n' });
    pair.thawStandby();
    await until('it serves', async () => stderr().includes('is ready'));
    expect(readMade(await sendOnce(port, createV1({ value: 'once it answers' })))).not.toBeNull();
    next.kill('SIGTERM');
    expect(await exited).toEqual({ code: 0, signal: null });
  });
});

describe('a command', () => {
  test('on a database that no server has used says so, and makes nothing there', async () => {
    const store = await freshDatabase();
    const env = { MAYFLY_STORE: store, ...single, MAYFLY_DATA_DIR: await freshFolder() };
    for (let times = 0; times < 2; times += 1)
      expect(await runProduct(['src/main.ts', 'account', 'list'], env)).toMatchObject({
        code: 1,
        stderr: `There is no store at ${store}. Start Mayfly once, or correct MAYFLY_STORE.\n`,
      });
    const doctor = await runProduct(['src/main.ts', 'doctor'], env);
    expect(doctor.stdout).toMatch(
      /ok +keys +\S+ will be created by the first node; every other node needs a copy/,
    );
  });

  test('that copies the embedded store’s file leaves a server’s to the server’s own means', async () => {
    const env = { MAYFLY_STORE: server.url, ...single, MAYFLY_DATA_DIR: await freshFolder() };
    for (const words of [
      ['backup', 'never.db'],
      ['restore', 'never.db', '--yes'],
    ]) {
      const { code, stderr } = await runProduct(['src/main.ts', ...words], env);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('back it up and restore it with PostgreSQL’s own tools (docs/engines.md).'),
      ]);
    }
  });
});
