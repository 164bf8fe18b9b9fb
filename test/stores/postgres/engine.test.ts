/** The engine over one real server, also behind a link that a test stalls and cuts, and behind a pooler. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { ServiceError } from '../../../src/core/errors.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { ConstraintError, NotExecutedError } from '../../../src/store/postgres/faults.ts';
import { migrations } from '../../../src/store/postgres/migrate.ts';
import { decision, statement } from '../../../src/store/postgres/statement.ts';
import { startPgbouncer } from '../../support/pgbouncer.ts';
import { type PostgresServer, startPostgres, until } from '../../support/postgres.ts';
import { openTcpLink } from '../../support/tcp-link.ts';
import { createSettableClock } from '../conformance/check.ts';
import { untilWaiting } from './seeded-nodes.ts';

const poolSize = 6;
const boundMs = 2_900;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  await using _ = await open(server.url);
  await server.ask('CREATE TABLE notes (id int PRIMARY KEY, word text NOT NULL)');
  await server.ask('CREATE SEQUENCE tries');
  // Fails as it is told to until it was tried often enough: a sequence counts what is undone, too.
  await server.ask(`
    CREATE FUNCTION fail(code text, until_try int) RETURNS int LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('public.tries') < until_try THEN RAISE EXCEPTION 'a value: canary' USING ERRCODE = code; END IF;
      RETURN currval('public.tries');
    END $$`);
  await server.ask(`
    CREATE FUNCTION remark() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'a remark'; RETURN 1; END $$`);
});
afterAll(() => server[Symbol.asyncDispose]());

async function open(url: string, tls: ConnectionOptions | false = false): Promise<Engine & AsyncDisposable> {
  const clock = createSettableClock();
  const engine = await openEngine({ url, tls, clock, durability: 'single', poolSize });
  return { ...engine, [Symbol.asyncDispose]: engine.close };
}

const addNote = decision('INSERT INTO public.notes (id, word) VALUES ($3, $4)');
const findNote = statement('SELECT word FROM public.notes WHERE id = $1');
const fail = decision('SELECT public.fail($3, $4) AS tried');
const wait = decision('SELECT pg_sleep($3)');

let lastId = 0;
const nextId = () => {
  lastId += 1;
  return lastId;
};

const wordOf = async (id: number) =>
  (await server.ask('SELECT word FROM notes WHERE id = $1', [id]))[0]?.word ?? null;

const backends = async () =>
  Number(
    (await server.ask("SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'mayfly'"))[0]?.n,
  );

/** What it rejected with; fails where it did not within the two seconds that a call may take, and some for a busy machine. */
async function faultOf(call: Promise<unknown>): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), boundMs);
  const outcome = await Promise.race([
    call.then(
      () => null,
      (fault: unknown) => ({ fault }),
    ),
    late.promise,
  ]);
  clearTimeout(timer);
  if (outcome === null) throw new Error('it was not rejected');
  return outcome.fault;
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const fault = await faultOf(call);
  return fault instanceof ServiceError ? fault.code : String(fault);
}

const isFine = (engine: Engine) => () =>
  engine.decide(addNote, [nextId(), 'again']).then(
    () => true,
    () => false,
  );

it('decides at once on a store that another node has made while it started', async () => {
  const schema = 'made_meanwhile';
  await server.ask(`CREATE SCHEMA ${schema}`);
  await server.ask(`CREATE TABLE ${schema}.migrations AS SELECT 1 AS only_row, 0 AS done`);
  const other = new pg.Client({ connectionString: server.url });
  await other.connect();
  await other.query(`BEGIN; LOCK TABLE ${schema}.migrations IN ACCESS EXCLUSIVE MODE`);
  // It has looked at the server, and found no table, when it begins to wait.
  const opening = openEngine({ url: server.url, schema, clock: createSettableClock(), durability: 'single' });
  await untilWaiting(server, 1, opening);
  for (const text of migrations) await other.query(text.replaceAll('mayfly_store', schema));
  await other.query(`UPDATE ${schema}.migrations SET done = ${migrations.length}; COMMIT`);
  await other.end();
  const engine = await opening;
  expect(await engine.decide(addNote, [nextId(), 'at once'])).toEqual([]);
  await engine.close();
  await server.ask(`DROP SCHEMA ${schema} CASCADE`);
});

describe('an engine', () => {
  it('gives back bytes as they were and whole numbers as numbers', async () => {
    await using engine = await open(server.url);
    const bytes = Uint8Array.of(0, 1, 92, 255);
    const [row] = await engine.read(statement('SELECT $1::bytea AS bytes, $2::bigint AS number'), [
      bytes,
      2 ** 40,
    ]);
    expect(row).toEqual({ bytes, number: 2 ** 40 });
  });

  it('copies the bytes that it is given', async () => {
    await using engine = await open(server.url);
    const bytes = Uint8Array.of(1, 2, 3);
    const asked = engine.read(statement('SELECT $1::bytea AS bytes'), [bytes]);
    bytes.fill(0);
    expect(await asked).toEqual([{ bytes: Uint8Array.of(1, 2, 3) }]);
  });

  it('tries a decision again that lost a race at the server', async () => {
    await using engine = await open(server.url);
    for (const code of ['40001', '40P01']) {
      await server.ask("SELECT setval('tries', 1, false)");
      expect(await engine.decide(fail, [code, 3])).toEqual([{ tried: 3 }]);
    }
  });

  it('does not try again what may have happened, and says so in the words of the service', async () => {
    await using engine = await open(server.url);
    for (const [code, said] of [
      ['40003', 'unavailable'],
      ['57014', 'unavailable'],
      ['08006', 'unavailable'],
      ['53100', 'storage_full'],
    ]) {
      await server.ask("SELECT setval('tries', 1, false)");
      const fault = await faultOf(engine.decide(fail, [code, 9]));
      expect([code, (fault as ServiceError).code]).toEqual([code, said]);
      expect(fault).not.toBeInstanceOf(NotExecutedError);
      expect(Bun.inspect(fault)).not.toContain('canary');
      expect(await server.ask("SELECT nextval('public.tries')::int AS next")).toEqual([{ next: 2 }]);
    }
  });

  it('says which constraint refused a row, and nothing of the row (P18)', async () => {
    await using engine = await open(server.url);
    const id = nextId();
    await engine.decide(addNote, [id, 'first']);
    const fault = await faultOf(engine.decide(addNote, [id, 'canary']));
    expect(fault).toBeInstanceOf(ConstraintError);
    expect(fault).toMatchObject({ code: '23505', constraint: 'notes_pkey' });
    expect(Bun.inspect(fault)).not.toMatch(new RegExp(`canary|\\(${id}\\)`));
  });

  it('does not confirm a decision that the server has remarked on (P2)', async () => {
    await using engine = await open(server.url);
    const id = nextId();
    const remark = decision('INSERT INTO public.notes SELECT $3, $4 WHERE public.remark() = 1');
    expect(await codeOf(engine.decide(remark, [id, 'remarked']))).toBe('unavailable');
    expect(await wordOf(id)).toBe('remarked');
  });

  it('ends a decision that takes too long, here and at the server', async () => {
    await using engine = await open(server.url);
    expect(await codeOf(engine.decide(wait, [60]))).toBe('unavailable');
    await until('the cancelled backend', async () => !(await isBusy(server)));
    expect(await engine.decide(wait, [0])).toHaveLength(1);
  });

  it('has no more connections than it was given, however many ask', async () => {
    await using engine = await open(server.url);
    const decided = Array.from({ length: 60 }, () => engine.decide(addNote, [nextId(), 'many']));
    const read = Array.from({ length: 60 }, () => engine.read(findNote, [1]));
    await Promise.all([...decided, ...read]);
    await until('the connections', async () => (await backends()) <= poolSize);
    expect(await backends()).toBe(poolSize);
    await engine.close();
    await until('the end of the connections', async () => (await backends()) === 0);
  });

  it('brings an empty database up to date once, also when four start at once', async () => {
    await server.ask('CREATE DATABASE empty');
    const url = server.url.replace(/mayfly$/, 'empty');
    const engines = await Promise.all([1, 2, 3, 4].map(() => open(url)));
    const [row] =
      (await engines[0]?.read<{ n: number }>(
        statement('SELECT count(*) AS n FROM mayfly_store.store_time'),
        [],
      )) ?? [];
    expect(row?.n).toBe(1);
    await engines[0]?.decide(decision('UPDATE mayfly_store.migrations SET done = done + 1'), []);
    await expect(open(url)).rejects.toMatchObject({ reason: 'newer_schema' });
    await Promise.all(engines.map((engine) => engine.close()));
  });
});

describe('an engine whose server is in trouble', () => {
  it('answers unavailable within two seconds while it is stalled, and works within five after (P23)', async () => {
    await using link = await openTcpLink(server.port);
    await using engine = await open(`postgres://mayfly@127.0.0.1:${link.port}/mayfly`);
    expect(await isFine(engine)()).toBe(true);
    link.stall();
    const calls = Array.from({ length: 50 }, () => [
      engine.read(findNote, [1]),
      engine.decide(addNote, [nextId(), 'stalled']),
    ]);
    expect(new Set(await Promise.all(calls.flat().map(codeOf)))).toEqual(new Set(['unavailable']));
    // Long after its connections were given up, too.
    expect(await codeOf(engine.read(findNote, [1]))).toBe('unavailable');
    link.resume();
    const resumedMs = performance.now();
    await until('a decision', isFine(engine));
    expect(performance.now() - resumedMs).toBeLessThan(5_000);
  });

  it('finds a new connection for a read when its own are cut', async () => {
    await using link = await openTcpLink(server.port);
    await using engine = await open(`postgres://mayfly@127.0.0.1:${link.port}/mayfly`);
    await Promise.all(Array.from({ length: 8 }, () => engine.read(findNote, [1])));
    link.cut();
    expect(await Promise.all([1, 2, 3].map(() => engine.read(findNote, [-1])))).toEqual([[], [], []]);
    const slow = engine.read(statement('SELECT pg_sleep(0.3)'), []);
    await until(
      'the read',
      async () =>
        (
          await server.ask(
            "SELECT 1 FROM pg_stat_activity WHERE query ~ 'pg_sleep.0.3' AND pid <> pg_backend_pid()",
          )
        ).length > 0,
    );
    link.cut();
    expect(await slow).toHaveLength(1);
  });

  it('leaves open what became of a decision that was cut, and does not send it twice (P2)', async () => {
    await using link = await openTcpLink(server.port);
    await using engine = await open(`postgres://mayfly@127.0.0.1:${link.port}/mayfly`);
    const id = nextId();
    const slow = decision('INSERT INTO public.notes SELECT $3, $4 FROM pg_sleep(0.3)');
    const cut = codeOf(engine.decide(slow, [id, 'cut']));
    await until(
      'the decision',
      async () =>
        (
          await server.ask(
            "SELECT 1 FROM pg_stat_activity WHERE query ~ 'notes SELECT .* FROM pg_sleep' AND state = 'active' AND pid <> pg_backend_pid()",
          )
        ).length > 0,
    );
    link.cut();
    expect(await cut).toBe('unavailable');
    await until('the row', async () => (await wordOf(id)) !== null);
    expect(await isFine(engine)()).toBe(true);
  });

  it('works within five seconds of its first refusal when the other side of its connections has lost its power (P23)', async () => {
    await using link = await openTcpLink(server.port);
    await using engine = await open(`postgres://mayfly@127.0.0.1:${link.port}/mayfly`);
    await Promise.all(Array.from({ length: 20 }, isFine(engine)));
    const busy = codeOf(engine.decide(wait, [60]));
    await until('the decision', () => isBusy(server));
    link.lose();
    expect(await busy).toBe('unavailable');
    const refusedMs = performance.now();
    await until('a decision', isFine(engine));
    await engine.read(findNote, [1]);
    expect(performance.now() - refusedMs).toBeLessThan(5_000);
    await until('the cancelled backend', async () => !(await isBusy(server)));
  });

  it('works again after the server was killed and started', async () => {
    await using own = await startPostgres();
    await using engine = await open(own.url);
    await own.kill('SIGKILL');
    expect(await codeOf(engine.read(statement('SELECT 1'), []))).toBe('unavailable');
    expect(await codeOf(engine.decide(decision('SELECT 1'), []))).toBe('unavailable');
    await own.restart();
    const startedMs = performance.now();
    await until('a decision', () =>
      engine.decide(decision('SELECT 1'), []).then(
        () => true,
        () => false,
      ),
    );
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('checks a server whose configuration was loaded again, and refuses one that became unsafe (P25)', async () => {
    await using own = await startPostgres();
    await using engine = await open(own.url);
    const decide = () => engine.decide(decision('SELECT 1'), []);
    await decide();
    await own.configure({ work_mem: "'8MB'" });
    await until('a decision', () =>
      decide().then(
        () => true,
        () => false,
      ),
    );
    await own.configure({ synchronous_commit: 'off' });
    expect(await codeOf(decide())).toBe('unavailable');
    expect(await codeOf(decide())).toBe('unavailable');
    expect(engine.status().refusal?.message).toContain('synchronous_commit is off');
    await own.configure({ synchronous_commit: 'on' });
    await until('a decision', () =>
      decide().then(
        () => true,
        () => false,
      ),
    );
    expect(engine.status().refusal).toBeNull();
  });
});

const isBusy = async (on: PostgresServer) =>
  (
    await on.ask(
      "SELECT 1 FROM pg_stat_activity WHERE query ~ 'pg_sleep' AND state = 'active' AND pid <> pg_backend_pid()",
    )
  ).length > 0;

describe('an engine whose server loads its settings again and again', () => {
  it('P3: answers each decision, without one of them in doubt', async () => {
    await using own = await startPostgres();
    await using engine = await open(own.url);
    await own.ask('CREATE TABLE notes (id int PRIMARY KEY, word text NOT NULL)');
    for (let reload = 1; reload <= 10; reload += 1) {
      await own.configure({});
      await Promise.all(Array.from({ length: 20 }, () => engine.decide(addNote, [nextId(), 'loaded'])));
    }
  });
});

describe('an engine that reaches its server in another way', () => {
  it('believes an encrypted one only with a certificate that it can verify, and ends what takes too long there', async () => {
    await using own = await startPostgres();
    const [cert, key] = [join(own.folder, 'data/server.crt'), join(own.folder, 'data/server.key')];
    const subject = ['-subj', '/CN=a-server', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const { uid, gid } = statSync(own.folder);
    for (const path of [cert, key]) chownSync(path, uid, gid);
    chmodSync(key, 0o600);
    await own.configure({ ssl: 'on' });
    await expect(open(own.url, {})).rejects.toThrow(/certificate/);
    await using engine = await open(own.url, { ca: readFileSync(cert, 'utf8') });
    const isEncrypted = statement('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    expect(await engine.read(isEncrypted, [])).toEqual([{ ssl: true }]);
    expect(await codeOf(engine.decide(wait, [60]))).toBe('unavailable');
    await until('the cancelled backend', async () => !(await isBusy(own)));
  });

  it('ends what takes too long over a socket of this machine', async () => {
    await using engine = await open(`postgres://mayfly@/mayfly?host=${server.folder}&port=${server.port}`);
    expect(await codeOf(engine.decide(wait, [60]))).toBe('unavailable');
    await until('the cancelled backend', async () => !(await isBusy(server)));
  });
});

describe('an engine behind pgbouncer in transaction mode', () => {
  it('gives each of 240 decisions and reads its own answer', async () => {
    await using pooler = await startPgbouncer(server, 3);
    const engines = await Promise.all([1, 2, 3].map(() => open(pooler.url)));
    expect(engines.map((engine) => engine.status().isPooled)).toEqual([true, true, true]);
    const texts = ['SELECT $3::int AS a', 'SELECT $3::int + 1000 AS b', 'SELECT $3::int AS c, $4::text AS d'];
    const answers = Array.from({ length: 240 }, async (_, n) => {
      const engine = engines[n % 3];
      const kind = n % 4;
      if (kind === 3) return engine?.read(statement('SELECT $1::int AS r'), [n]);
      return engine?.decide(decision(texts[kind] ?? ''), kind === 2 ? [n, `${n}`] : [n]);
    });
    const expected = Array.from({ length: 240 }, (_, n) => [
      [{ a: n }, { b: n + 1000 }, { c: n, d: `${n}` }, { r: n }][n % 4],
    ]);
    expect(await Promise.all(answers)).toEqual(expected);
    await Promise.all(engines.map((engine) => engine.close()));
  });

  it('gives nothing of a decision, and does it not, that fails in its transaction there', async () => {
    await using pooler = await startPgbouncer(server, 2);
    await using engine = await open(pooler.url);
    const id = nextId();
    await engine.decide(addNote, [id, 'first']);
    expect(await faultOf(engine.decide(addNote, [id, 'again']))).toBeInstanceOf(ConstraintError);
    expect(await faultOf(engine.read(statement('SELECT 1 / $1::int'), [0]))).toBeInstanceOf(NotExecutedError);
    expect(await engine.read(findNote, [id])).toEqual([{ word: 'first' }]);
    expect(await isFine(engine)()).toBe(true);
  });

  it('ends a decision there that takes too long', async () => {
    await using pooler = await startPgbouncer(server, 2);
    await using engine = await open(pooler.url);
    expect(await codeOf(engine.decide(wait, [61]))).toBe('unavailable');
    await until('the cancelled backend', async () => !(await isBusy(server)));
    expect(await isFine(engine)()).toBe(true);
  });

  it('confirms a decision while the configuration is loaded again', async () => {
    await using own = await startPostgres();
    await using pooler = await startPgbouncer(own, 1);
    await using engine = await open(pooler.url);
    await engine.decide(decision('SELECT 1'), []);
    const slow = engine.decide(decision('SELECT 1 FROM pg_sleep(1)'), []);
    await until(
      'the decision',
      async () =>
        (
          await own.ask(
            "SELECT 1 FROM pg_stat_activity WHERE query ~ 'pg_sleep.1' AND pid <> pg_backend_pid()",
          )
        ).length > 0,
    );
    await own.configure({ work_mem: "'8MB'" });
    expect(await slow).toHaveLength(1);
  });
});
