/** A store that was restored from a backup serves nothing until what waited in it is burned; one that failed over serves on. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ServiceError } from '../../../src/core/errors.ts';
import type { StoredSecret } from '../../../src/core/secret.ts';
import { createMachineClock } from '../../../src/ops/machine-clock.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { isFenced } from '../../../src/store/postgres/fence.ts';
import { openMoveSession } from '../../../src/store/postgres/move-session.ts';
import { acceptRestore, previewRestored } from '../../../src/store/postgres/moving.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/store.ts';
import { createServerClock } from '../../../src/store/postgres/time.ts';
import { StoreRefusal } from '../../../src/store/store.ts';
import {
  type PostgresServer,
  postgresPrograms,
  runPostgresProgram,
  startPair,
  startPostgres,
} from '../../support/postgres.ts';
import { accountNamed } from '../conformance/account-fixtures.ts';
import { clientStays, found, putNew } from '../conformance/check.ts';
import { ask, outcomeOf } from '../conformance/request-fixtures.ts';

let server: PostgresServer;
let databases = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const open = (url: string) =>
  openPostgresStore({ url, clock: createMachineClock(), durability: 'single', poolSize: 4 });

async function openBare(url: string): Promise<Engine & AsyncDisposable> {
  const clock = createServerClock(createMachineClock(), () => performance.now());
  const engine = await openEngine({ url, clock, durability: 'single', poolSize: 2 });
  return { ...engine, [Symbol.asyncDispose]: engine.close };
}

async function newDatabase(): Promise<{ name: string; url: string }> {
  databases += 1;
  const name = `restored_${databases}`;
  await server.ask(`CREATE DATABASE ${name}`);
  return { name, url: server.url.replace(/\/mayfly$/, `/${name}`) };
}

const refusalOf = (opening: Promise<AsyncDisposable>): Promise<unknown> =>
  opening.then(
    async (store) => {
      await store[Symbol.asyncDispose]();
      return null;
    },
    (error) => (error instanceof StoreRefusal ? error.reason : error),
  );

const codeOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    (answer) => answer,
    (error) => (error instanceof ServiceError ? error.code : error),
  );

const connected = ['-h', '127.0.0.1', '-U', 'mayfly'];

/** As `pg_dump | psql` does it. */
function restoreDump(from: string, to: string): void {
  const at = [...connected, '-p', String(server.port)];
  const dump = runPostgresProgram('pg_dump', [...at, from]);
  execFileSync('psql', [...at, '-q', '-v', 'ON_ERROR_STOP=1', to], {
    input: dump,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

describe('a store that was restored from a dump', () => {
  it('P1: serves nothing, also at the next try, until it is accepted', async () => {
    const [before, after] = [await newDatabase(), await newDatabase()];
    await using store = await open(before.url);
    await accountNamed(store, 'kept@example.org');
    const [one, two] = [await putNew(store), await putNew(store)];
    await store.burn(two.receiptId, clientStays);
    const request = await ask(store);
    restoreDump(before.name, after.name);
    expect(await store.claim(await found(store, one.secretId), clientStays)).toBe('won');
    expect([await refusalOf(open(after.url)), await refusalOf(open(after.url))]).toEqual([
      'restored',
      'restored',
    ]);
    {
      await using session = await openMoveSession(after);
      expect(await previewRestored(session)).toEqual({
        takenAt: expect.any(Number),
        waiting: 1,
        accounts: 1,
      });
      await acceptRestore(session);
      expect(await previewRestored(session)).toBeNull();
    }
    await using restored = await open(after.url);
    expect(await restored.findSecret(one.secretId)).toBeNull();
    expect(await outcomeOf(restored, request)).toBe('ended');
    expect((await restored.findReceipt(one.receiptId))?.state).toBe('burned');
    expect((await restored.findReceipt(two.receiptId))?.burnedBy).toBe('creator');
    expect((await restored.findAccount('kept@example.org'))?.username).toBe('kept@example.org');
    const fresh = await putNew(restored);
    expect(await restored.claim(await found(restored, fresh.secretId), clientStays)).toBe('won');
  });

  it('P1: answers nothing to a node that has it open when another recognises it', async () => {
    const { url } = await newDatabase();
    await using store = await open(url);
    const record = await putNew(store);
    await using session = await openMoveSession({ url });
    await session.ask('UPDATE mayfly_store.store_place SET database_id = database_id + 1');
    expect(await refusalOf(open(url))).toBe('restored');
    const refused = (asking: Promise<unknown>) =>
      asking.then(
        () => null,
        (error) => error instanceof ServiceError && error.code,
      );
    expect(await refused(store.findSecret(record.secretId))).toBe('unavailable');
    expect(await refused(store.burn(record.receiptId, clientStays))).toBe('unavailable');
  });

  it('opens as before where nothing was restored', async () => {
    const { url } = await newDatabase();
    const record = await (async () => {
      await using store = await open(url);
      return await putNew(store);
    })();
    await using store = await open(url);
    expect((await found(store, record.secretId)).secretId).toEqual(record.secretId);
    await using session = await openMoveSession({ url });
    expect(await previewRestored(session)).toBeNull();
  });
});

/** `pg_restore` over the database that the dump is of; whether all of it was restored. */
function restoreOver(dump: Buffer, name: string, ...options: string[]): boolean {
  const at = [...connected, '-p', String(server.port), '-d', name];
  const given = [...at, '--clean', '--if-exists', ...options];
  return spawnSync(join(postgresPrograms(), 'pg_restore'), given, { input: dump }).status === 0;
}

const indexes = "SELECT indexname FROM pg_indexes WHERE schemaname <> 'pg_catalog' ORDER BY 1";

describe('a dump that is loaded over a store that serves', () => {
  for (const [nodeCount, options] of [
    [1, ['--single-transaction']],
    [3, []],
  ] as const) {
    const how = options.length === 0 ? 'piece by piece' : 'in one transaction';
    it(`P1, P6: serves nothing at ${nodeCount} nodes, loaded ${how}, until it is accepted`, async () => {
      const { name, url } = await newDatabase();
      await using nodes = new AsyncDisposableStack();
      const stores: PostgresStore[] = [];
      for (let n = 0; n < nodeCount; n += 1) stores.push(nodes.use(await open(url)));
      const [one] = stores as [PostgresStore];
      const records = [await putNew(one), await putNew(one), await putNew(one)];
      const targets = await Promise.all(records.map(({ secretId }) => found(one, secretId)));
      await using session = await openMoveSession({ url });
      const before = await session.ask(indexes);
      const dump = execFileSync(join(postgresPrograms(), 'pg_dump'), [
        ...[...connected, '-p', String(server.port), '-Fc', name],
      ]);
      for (const target of targets) expect(await one.claim(target, clientStays)).toBe('won');
      expect(restoreOver(dump, name, ...options)).toBe(true);
      // What was read before is found by no node, and claimed by none, from the first call on.
      for (const store of stores) {
        const asks = records.flatMap(({ secretId, receiptId }) => [
          () => store.findSecret(secretId),
          () => store.findReceipt(receiptId),
          () => store.claim(targets[0] as StoredSecret, clientStays),
        ]);
        const outcomes = await Promise.all(asks.map((ask) => codeOf(ask())));
        expect(outcomes).toEqual(asks.map(() => 'unavailable'));
      }
      expect(one.engineStatus().refusal?.reason).toBe('restored');
      expect([await isFenced(session.ask), await refusalOf(open(url))]).toEqual([true, 'restored']);
      await nodes.disposeAsync();
      await acceptRestore(session);
      expect(await session.ask(indexes)).toEqual(before);
      await using accepted = await open(url);
      for (const { secretId } of records) expect(await accepted.findSecret(secretId)).toBeNull();
    });
  }

  it('P1: serves nothing when the rows of a dump replace those that there are, in the same tables', async () => {
    const { url } = await newDatabase();
    await using store = await open(url);
    const record = await putNew(store);
    const target = await found(store, record.secretId);
    await using session = await openMoveSession({ url });
    await session.ask(
      'UPDATE mayfly_store.store_time SET seconds = seconds - 60, server_clock = server_clock - 60',
    );
    expect(await codeOf(store.claim(target, clientStays))).toBe('unavailable');
    expect(await isFenced(session.ask)).toBe(true);
  });

  it('P1: is not taken for the store that it was by the node that keeps the time there next', async () => {
    const { url } = await newDatabase();
    await using store = await open(url);
    await using engine = await openBare(url);
    await using session = await openMoveSession({ url });
    await session.ask(
      'UPDATE mayfly_store.store_time SET seconds = seconds - 60, server_clock = server_clock - 60',
    );
    expect(await codeOf(engine.time.keep())).toBe('unavailable');
    expect(await isFenced(session.ask)).toBe(true);
    expect(await codeOf(store.hasAccounts())).toBe('unavailable');
  });
});

describe('a store on another timeline', () => {
  it('P1: serves on when its time was kept just before, as after a failover', async () => {
    const { url } = await newDatabase();
    const record = await (async () => {
      await using store = await open(url);
      return await putNew(store);
    })();
    await using session = await openMoveSession({ url });
    await session.ask("UPDATE mayfly_store.store_place SET timeline = '0000000F'");
    await using store = await open(url);
    expect((await found(store, record.secretId)).secretId).toEqual(record.secretId);
  });

  it('P1: serves nothing when its time was kept long before, as after a backup that was rolled forward', async () => {
    const { url } = await newDatabase();
    {
      await using store = await open(url);
      await putNew(store);
    }
    await using session = await openMoveSession({ url });
    await session.ask("UPDATE mayfly_store.store_place SET timeline = '0000000F'");
    await session.ask(
      'UPDATE mayfly_store.store_time SET server_clock = server_clock - 3600, seconds = seconds - 3600',
    );
    expect(await refusalOf(open(url))).toBe('restored');
  });
});

const pauseMs = 20;

/** Asks until it is so; the test's own time limit ends it. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resume) => setTimeout(resume, pauseMs));
}

/** As a server that is started from an older state: its connections are cut, and its time is of before. */
async function rollBack(url: string, seconds: number): Promise<void> {
  await using session = await openMoveSession({ url });
  await session.ask('BEGIN');
  await session.ask(
    'UPDATE mayfly_store.store_time SET seconds = seconds - $1, server_clock = server_clock - $1',
    [seconds],
  );
  await session.ask(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await session.ask('COMMIT');
}

describe('a node that serves', () => {
  it('P1: recognises an older state by the time that it knows, also on the same timeline, and closes it for all', async () => {
    const { url } = await newDatabase();
    await using store = await open(url);
    const record = await putNew(store);
    await rollBack(url, 60);
    await using session = await openMoveSession({ url });
    await until(async () => {
      const found = await store.findSecret(record.secretId).catch(() => null);
      expect(found).toBeNull();
      return isFenced(session.ask);
    });
    expect(await refusalOf(open(url))).toBe('restored');
  });

  it('P1: serves on after its connections were cut and nothing was lost', async () => {
    const { url } = await newDatabase();
    await using store = await open(url);
    const record = await putNew(store);
    await rollBack(url, 0);
    await until(async () => (await store.findSecret(record.secretId).catch(() => null)) !== null);
    expect(await store.claim(await found(store, record.secretId), clientStays)).toBe('won');
  });

  it('P1: serves on after a failover, and so does one that starts then', async () => {
    await using pair = await startPair();
    const openPair = () => openPostgresStore({ url: pair.url, clock: createMachineClock(), poolSize: 4 });
    await using store = await openPair();
    const record = await putNew(store);
    await pair.killPrimary();
    await pair.promote();
    await pair.addStandby();
    await until(async () => (await store.findSecret(record.secretId).catch(() => null)) !== null);
    await using other = await openPair();
    expect(await other.claim(await found(other, record.secretId), clientStays)).toBe('won');
    expect(await other.claim(await found(store, (await putNew(store)).secretId), clientStays)).toBe('won');
    const places = await pair.primary.ask("SELECT timeline <> '00000001' AS is_new FROM store_place");
    expect(places).toEqual([{ is_new: true }]);
  });
});
