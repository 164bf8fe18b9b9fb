/**
 * Another role of the server, with the rights that PostgreSQL 14 gives to everybody. It makes functions, operators and tables that
 * fit Mayfly's statements better than Mayfly's own or the built-in ones, and waits for one of them to be used with Mayfly's rights.
 */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import type { MoveId } from '../../../src/store/move/move.ts';
import { movedTables } from '../../../src/store/move/tables.ts';
import { openEngine } from '../../../src/store/postgres/engine.ts';
import { openPostgresSource } from '../../../src/store/postgres/moving.ts';
import { toRefusal } from '../../../src/store/postgres/server.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import { loadEarlierStore } from '../../support/earlier-store.ts';
import { startPgbouncer } from '../../support/pgbouncer.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { runProduct } from '../../support/started-server.ts';
import { personNamed } from '../conformance/account-fixtures.ts';
import { createSettableClock, putNew } from '../conformance/check.ts';
import {
  liveIn,
  lootIn,
  newDatabase,
  openStore,
  refusalOf,
  setTraps,
  startTenantedServer,
  trap,
} from './tenant.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
beforeAll(async () => {
  server = await startTenantedServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a role that may log in and create in public', () => {
  it('P1: takes nothing, and nothing of it runs, before the tables are made or after', async () => {
    for (const isFirst of [true, false]) {
      const database = await newDatabase(server);
      if (isFirst) await setTraps(database);
      await using store = await openStore(database);
      if (!isFirst) await setTraps(database);
      await liveIn(store);
      expect(await lootIn(database)).toEqual([]);
      await using another = await openStore(database);
      expect(await another.lockAccount((await another.findAccount('bob@example.org'))?.id as never)).toBe(
        true,
      );
      expect(await lootIn(database)).toEqual([]);
    }
  });

  for (const [what, made] of Object.entries({
    'a view': `CREATE VIEW public.migrations AS SELECT 1 AS only_row, 0 AS done, public.spring() AS moved_to`,
    'a table with a rule for its rows': `CREATE TABLE public.migrations (only_row int, done int, moved_to text);
      INSERT INTO public.migrations VALUES (1, 0, 'a'); ALTER TABLE public.migrations ENABLE ROW LEVEL SECURITY;
      CREATE POLICY spring ON public.migrations USING (public.spring() IS NULL)`,
    'a table with a rule for its rows, as an earlier version’s': `CREATE TABLE public.migrations (only_row int, done int);
      INSERT INTO public.migrations VALUES (1, 0); ALTER TABLE public.migrations ENABLE ROW LEVEL SECURITY;
      CREATE POLICY spring ON public.migrations USING (public.spring() IS NULL)`,
  }))
    it(`P1: does not run when ${what} is in the place of an earlier store: the start is refused`, async () => {
      const database = await newDatabase(server);
      await setTraps(database);
      await database.as(
        'tenant',
        `CREATE FUNCTION public.spring() RETURNS text ${trap}; ${made}; GRANT ALL ON public.migrations TO PUBLIC`,
      );
      const refused = await openStore(database).then(
        async (store) => store[Symbol.asyncDispose](),
        (error) => toRefusal(error, 'there').message,
      );
      expect(await lootIn(database)).toEqual([]);
      expect(refused).toContain('(42501)');
      await database.as(
        'mayfly',
        'DROP FUNCTION public.spring() CASCADE; DROP TABLE IF EXISTS public.migrations',
      );
      await (await openStore(database))[Symbol.asyncDispose]();
    });

  it('P1: does not run while the store is moved', async () => {
    const database = await newDatabase(server);
    await using store = await openStore(database);
    await liveIn(store);
    await setTraps(database);
    await using source = await openPostgresSource(database, async () => {});
    await source.begin(new Uint8Array(16) as MoveId);
    for (const table of movedTables) await source.readPage(table, null, 100);
    await putNew(store);
    await source.readChanges(100);
    await source.countRows();
    expect(await source.cancel()).toBe(true);
    expect(await lootIn(database)).toEqual([]);
  });

  it('P1: a name without its schema means nothing, whoever has made something of that name', async () => {
    const database = await newDatabase(server);
    await using store = await openStore(database);
    await setTraps(database);
    const engine = await openEngine({
      url: database.url,
      clock: createSettableClock(),
      durability: 'single',
    });
    for (const text of [
      'SELECT 1 FROM records',
      'SELECT lock_account($1, $2)',
      "SELECT 'a'::bytea + 1::bigint",
    ]) {
      const values = text.includes('$1') ? ['1', '1'] : [];
      await expect(engine.read(statement(text), values)).rejects.toMatchObject({ code: 'unavailable' });
    }
    await engine.close();
    expect(await lootIn(database)).toEqual([]);
    expect(await store.hasAccounts()).toBe(false);
  });

  it('P1: does not run when an earlier store is moved out of public, and stays behind', async () => {
    const database = await newDatabase(server);
    const openEarlier = await loadEarlierStore();
    await (await openStore(database, openEarlier))[Symbol.asyncDispose]();
    await setTraps(database);
    await using store = await openStore(database);
    await liveIn(store);
    expect(await lootIn(database)).toEqual([]);
    expect(
      await database.as(
        'mayfly',
        `SELECT proname FROM pg_proc WHERE pronamespace = 'mayfly_store'::regnamespace
        AND proowner = 'tenant'::regrole`,
      ),
    ).toEqual([]);
  });

  it('the check above notices a store that names no schema: the earlier one runs what the role has made', async () => {
    const database = await newDatabase(server);
    await using store = await openStore(database, await loadEarlierStore());
    await setTraps(database);
    await liveIn(store).catch(() => {});
    await store
      .addDomain(
        { accountId: 1 as never, name: 'a.example.org', state: 'unverified', challenge: 'c', createdAt: 0 },
        9,
      )
      .catch(() => {});
    expect(await lootIn(database)).toEqual([{ who: 'service' }]);
  });

  it('P1: does not run when a command asks what it has put in the place of a closed or restored store', async () => {
    const database = await newDatabase(server);
    await setTraps(database);
    await database.as(
      'mayfly',
      'CREATE SCHEMA mayfly_store AUTHORIZATION tenant; GRANT ALL ON SCHEMA mayfly_store TO service',
    );
    const columns =
      "'x'::bytea AS id, public.spring() AS phase, 1 AS run, 1 AS next_table, 1 AS next_after, 1 AS only_row";
    await database.as(
      'tenant',
      `CREATE FUNCTION public.spring() RETURNS text ${trap};
       CREATE TABLE mayfly_store.fenced_records (id int); CREATE TABLE mayfly_store.fenced_store_time (id int);
       CREATE VIEW mayfly_store.move AS SELECT ${columns}; GRANT ALL ON ALL TABLES IN SCHEMA mayfly_store TO PUBLIC`,
    );
    const env = { MAYFLY_STORE: database.url, MAYFLY_STORE_DURABILITY: 'single' };
    for (const words of [
      ['migrate-store', database.url, '--cancel'],
      ['store', 'accept-restore', '--yes'],
      ['doctor'],
    ]) {
      const run = await runProduct(['src/main.ts', ...words], env, 30_000);
      expect([run.code, `${run.stdout}${run.stderr}`]).toEqual([
        1,
        expect.stringContaining('ALTER SCHEMA mayfly_store OWNER'),
      ]);
    }
    expect(await lootIn(database)).toEqual([]);
  });

  it('may read, write and call nothing of it', async () => {
    const database = await newDatabase(server);
    await using _ = await openStore(database);
    for (const sql of [
      'SELECT 1 FROM mayfly_store.records',
      'SELECT mayfly_store.lock_account(1, 1)',
      'CREATE TABLE mayfly_store.mine (id int)',
      'CREATE FUNCTION mayfly_store.add_domain(text) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    ])
      await expect(database.as('tenant', sql)).rejects.toMatchObject({ code: '42501' });
  });

  it('a temporary table is not taken for one of ours by a function that is called where it is', async () => {
    const database = await newDatabase(server);
    await using store = await openStore(database);
    const { account } = await personNamed(store, 'ann@example.org');
    const [row] = await database.as(
      'service',
      `CREATE TEMP TABLE accounts (LIKE mayfly_store.accounts); SELECT mayfly_store.lock_account(${account.id}, 1) AS done`,
    );
    expect(row).toEqual({ done: true });

    await database.as('service', 'ALTER FUNCTION mayfly_store.lock_account RESET search_path');
    const [misled] = await database.as(
      'service',
      `CREATE TEMP TABLE accounts (LIKE mayfly_store.accounts); CREATE TEMP TABLE sessions (id int);
       SELECT mayfly_store.lock_account(${account.id}, 1) AS done`,
    );
    expect(misled).toEqual({ done: false });
  });

  it('is refused through a pooler, where the path is the role’s own, until it may create no more', async () => {
    await using own = await startPostgres();
    await own.ask('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await using pooler = await startPgbouncer(own);
    expect(await refusalOf({ url: pooler.url })).toContain('run REVOKE CREATE ON SCHEMA public FROM PUBLIC;');
    await own.ask('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    await (await openStore({ url: pooler.url }))[Symbol.asyncDispose]();
  });
});
