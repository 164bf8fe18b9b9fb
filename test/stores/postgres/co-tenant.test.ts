/**
 * Another role of the server, with the rights that PostgreSQL 14 gives to everybody. It makes functions, operators and tables that
 * fit Mayfly's statements better than Mayfly's own or the built-in ones, and waits for one of them to be used with Mayfly's rights.
 */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import pg from 'pg';
import { createMachineClock } from '../../../src/ops/machine-clock.ts';
import type { MoveId } from '../../../src/store/move/move.ts';
import { movedTables } from '../../../src/store/move/tables.ts';
import { openEngine } from '../../../src/store/postgres/engine.ts';
import { openPostgresSource } from '../../../src/store/postgres/moving.ts';
import { lookAtServer, toRefusal } from '../../../src/store/postgres/server.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/store.ts';
import { StoreRefusal } from '../../../src/store/store.ts';
import { loadEarlierStore } from '../../support/earlier-store.ts';
import { startPgbouncer } from '../../support/pgbouncer.ts';
import { type PostgresServer, startPostgres, until } from '../../support/postgres.ts';
import { runProduct } from '../../support/started-server.ts';
import {
  logIn,
  newAccount,
  newPassword,
  newTicket,
  newToken,
  personNamed,
} from '../conformance/account-fixtures.ts';
import { clientStays, createSettableClock, found, newSecretId, putNew } from '../conformance/check.ts';
import { domainOf, fullBrand } from '../conformance/domain-fixtures.ts';
import { opened } from '../conformance/look-fixtures.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
let databases = 0;

beforeAll(async () => {
  server = await startPostgres();
  await server.ask('CREATE ROLE service LOGIN');
  await server.ask('CREATE ROLE tenant LOGIN');
});
afterAll(() => server[Symbol.asyncDispose]());

interface Database {
  readonly url: string;
  /** Statements of one role, in one transaction; the rows of the last. */
  as(role: 'mayfly' | 'service' | 'tenant', sql: string): Promise<Record<string, unknown>[]>;
}

/** As the docs said until now: nothing is revoked. On 14 everybody may create in `public`. */
async function newDatabase(at = server): Promise<Database> {
  databases += 1;
  const name = `tenanted_${databases}`;
  await at.ask(`CREATE DATABASE ${name} OWNER service`);
  const urlOf = (role: string) => `postgres://${role}@127.0.0.1:${at.port}/${name}`;
  async function as(role: string, sql: string) {
    const client = new pg.Client({ connectionString: urlOf(role) });
    await client.connect();
    try {
      const result: pg.QueryResult | pg.QueryResult[] = await client.query(sql);
      return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
    } finally {
      await client.end();
    }
  }
  await as('mayfly', 'GRANT CREATE ON SCHEMA public TO PUBLIC');
  return { url: urlOf('service'), as };
}

type Open = typeof openPostgresStore;
const openAt: Open = (options) =>
  openPostgresStore({ ...options, clock: createMachineClock(), durability: 'single', poolSize: 3 });
const openStore = ({ url }: Pick<Database, 'url'>, open = openAt, allowsUnsafe = false) =>
  open({ url, clock: createMachineClock(), durability: 'single', poolSize: 3, allowsUnsafe });

/** What PostgreSQL prefers for a parameter whose type it must guess, and what others make of it. */
const types = [
  'text',
  'bytea',
  'bigint',
  'int',
  'numeric',
  'boolean',
  'name',
  'text[]',
  'bytea[]',
  'bigint[]',
  'int[]',
];
const calls: Readonly<Record<string, number>> = {
  ...{
    lock_account: 2,
    add_domain: 7,
    note_domain_check: 5,
    change_password: 8,
    redeem_reset: 7,
    redeem_sign_up: 8,
  },
  ...{ replace_reset_tickets: 4, hand_ticket: 4, use_ticket: 3, count_calls: 6 },
};
const builtIns = [
  'substr',
  'get_byte',
  'set_byte',
  'octet_length',
  'floor',
  'cardinality',
  'encode',
  'to_regclass',
  'count',
];
const operators = ['=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '||'];
const tables = ['records', 'accounts', 'store_time', 'tokens', 'limits', 'move', 'attempts'];

/** Notes who ran it; what it was called for fails then. */
const trap = `LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.loot VALUES (current_user); RETURN NULL; END $$`;

function trapsOf(): string[] {
  const ofCalls = Object.entries(calls).map(([name, count]) => {
    const given = Array(count).fill('text').join(', ');
    return `CREATE FUNCTION public.${name}(${given}) RETURNS text ${trap}`;
  });
  const ofBuiltIns = builtIns.flatMap((name) =>
    [
      'bytea, text',
      'bytea, bigint',
      'text, bytea',
      'bytea, bigint, bigint',
      'name',
      'int',
      'numeric, text',
      'varchar',
      'bigint[]',
    ].map((given) => `CREATE FUNCTION public.${name}(${given}) RETURNS text ${trap}`),
  );
  // What `format` takes is of any number and type, so one that is written out fits better.
  const ofFormat = `CREATE FUNCTION public.format(text, text, bigint) RETURNS text ${trap}`;
  const ofOperators = types.flatMap((left) =>
    types.map((right) => {
      const name = `trap_${types.indexOf(left)}_${types.indexOf(right)}`;
      const made = operators.map(
        (each) =>
          `CREATE OPERATOR public.${each} (LEFTARG = ${left}, RIGHTARG = ${right}, FUNCTION = public.${name});`,
      );
      return `CREATE FUNCTION public.${name}(${left}, ${right}) RETURNS boolean ${trap}; ${made.join('\n')}`;
    }),
  );
  const ofTables = tables.map((name) => `CREATE TABLE IF NOT EXISTS public.${name} (id int)`);
  return [...ofCalls, ofFormat, ...ofBuiltIns, ...ofOperators, ...ofTables];
}

const setTraps = (database: Database) =>
  database.as(
    'tenant',
    `CREATE TABLE public.loot (who text); GRANT ALL ON public.loot TO PUBLIC; ${trapsOf().join(';\n')}`,
  );

/** One of each that a store does; what a trap has spoilt ends it. */
async function liveIn(store: PostgresStore): Promise<void> {
  const person = await personNamed(store, 'ann@example.org');
  const { id } = person.account;
  await logIn(store, person);
  const token = newToken();
  await store.addToken(id, token);
  await store.findToken(token.tokenHash);
  await domainOf(store, id, 'secrets.example.org');
  await store.noteDomainCheck(id, 'secrets.example.org', { state: 'verified', finding: null } as never);
  await store.setDomainBrand(id, 'secrets.example.org', fullBrand);
  await store.findVerifiedDomain('secrets.example.org');
  const password = newPassword(store.now());
  await store.changePassword(id, person.password.verifier, password, 0 as never, 'revoke');
  const reset = newTicket('reset', 'ann@example.org', store.now());
  await store.replaceResetTickets(id, reset);
  await store.redeemReset(reset.ticketHash, newPassword(store.now()), 'keep');
  await store.inviteAccount(
    newAccount('bob@example.org'),
    newTicket('reset', 'bob@example.org', store.now()),
  );
  const secret = await putNew(store, { owner: id });
  await store.claim(await found(store, secret.secretId), clientStays);
  await store.findReceipt(secret.receiptId);
  await store.listReceipts(id, { limit: 9, after: null });
  await store.burn((await putNew(store)).receiptId, clientStays);
  await opened(store);
  await store
    .limitsUnder(new Uint8Array(32))
    .take([{ name: 'a', client: 'b', rule: { limit: 5, windowSeconds: 60, burst: 5 } }]);
  await store.usedBytes();
  await store.sweep(100);
  const limits = { perClient: 5, perSecret: 20, keptForNew: 5, inLife: 100, windowSeconds: 600 } as never;
  await store.reserve(newSecretId(), new Uint8Array(16), limits);
  await store.lockAccount(id);
}

const lootIn = ({ as }: Database) => as('mayfly', 'SELECT DISTINCT who FROM public.loot');

describe('a role that may log in and create in public', () => {
  it('P1: takes nothing, and nothing of it runs, before the tables are made or after', async () => {
    for (const isFirst of [true, false]) {
      const database = await newDatabase();
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
      const database = await newDatabase();
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
    const database = await newDatabase();
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
    const database = await newDatabase();
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
    const database = await newDatabase();
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
    const database = await newDatabase();
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
    const database = await newDatabase();
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
    const database = await newDatabase();
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
    const database = await newDatabase();
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

const refusalOf = (database: Pick<Database, 'url'>): Promise<string | null> =>
  openStore(database).then(
    async (store) => {
      await store[Symbol.asyncDispose]();
      return null;
    },
    (error) => (error instanceof StoreRefusal && error.reason === 'unsafe_setting' ? error.message : error),
  );

/** What is done as a superuser, what the refusal says, and the SQL that mends it. */
const intrusions: readonly (readonly [what: string, sql: string, words: RegExp, mend: string])[] = [
  [
    'may create in it',
    'GRANT USAGE, CREATE ON SCHEMA mayfly_store TO tenant',
    /run REVOKE CREATE ON SCHEMA mayfly_store FROM tenant;/,
    'REVOKE CREATE ON SCHEMA mayfly_store FROM tenant',
  ],
  [
    'may create in it as everybody may',
    'GRANT ALL ON SCHEMA mayfly_store TO PUBLIC',
    /run REVOKE CREATE ON SCHEMA mayfly_store FROM PUBLIC;/,
    'REVOKE ALL ON SCHEMA mayfly_store FROM PUBLIC',
  ],
  [
    'owns it',
    'ALTER SCHEMA mayfly_store OWNER TO tenant; GRANT ALL ON SCHEMA mayfly_store TO service',
    /run ALTER SCHEMA mayfly_store OWNER TO service;/,
    'ALTER SCHEMA mayfly_store OWNER TO service',
  ],
  ...(
    [
      ['a table', 'TABLE mayfly_store.plans', '(id int)'],
      ['a view', 'VIEW mayfly_store.plans', 'AS SELECT 1 AS one'],
      ['a type', 'TYPE mayfly_store.mood', "AS ENUM ('a')"],
      ['a sequence', 'SEQUENCE mayfly_store.numbers', ''],
    ] as const
  ).map(
    ([what, name, rest]) =>
      [
        `owns ${what}`,
        `CREATE ${name} ${rest}; ALTER ${name} OWNER TO tenant`,
        new RegExp(`Others own what is in Mayfly’s schema \\(.*${name.split('.')[1]} of tenant`),
        `DROP ${name}`,
      ] as const,
  ),
  [
    'owns a function of one of our names',
    `CREATE FUNCTION mayfly_store.add_domain(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
     ALTER FUNCTION mayfly_store.add_domain(text) OWNER TO tenant`,
    /\(function mayfly_store\.add_domain\((pg_catalog\.)?text\) of tenant\)/,
    'DROP FUNCTION mayfly_store.add_domain(text)',
  ],
  [
    'owns an operator',
    `CREATE OPERATOR mayfly_store.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq);
     ALTER OPERATOR mayfly_store.=== (text, text) OWNER TO tenant`,
    /operator mayfly_store\.===.* of tenant/,
    'DROP OPERATOR mayfly_store.=== (text, text)',
  ],
  [
    'owns one of our tables',
    'GRANT USAGE, CREATE ON SCHEMA mayfly_store TO tenant; ALTER TABLE mayfly_store.looks OWNER TO tenant; REVOKE ALL ON SCHEMA mayfly_store FROM tenant',
    /\(table mayfly_store\.looks of tenant\)/,
    'ALTER TABLE mayfly_store.looks OWNER TO service',
  ],
];

describe('a role that', () => {
  for (const [what, sql, words, mend] of intrusions)
    it(`P25: ${what} is refused at the start and by a node that runs, until it is mended`, async () => {
      const database = await newDatabase();
      await using store = await openStore(database);
      await database.as('mayfly', sql);
      expect(await refusalOf(database)).toMatch(words);
      const looked = {
        url: database.url,
        tls: false,
        durability: 'single',
        poolSize: 3,
        allowsUnsafe: false,
      } as const;
      await expect(lookAtServer(looked, 'there')).rejects.toThrow(words);
      await database.as(
        'mayfly',
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'service' AND datname = current_database()",
      );
      await until('the refusal', async () => {
        await expect(putNew(store)).rejects.toMatchObject({ code: 'unavailable' });
        return store.engineStatus().refusal !== null;
      });
      expect(store.engineStatus().refusal?.message).toMatch(words);
      await using allowed = await openStore(database, openAt, true);
      expect(allowed.engineStatus().unsafe.join()).toMatch(words);
      await database.as('mayfly', mend);
      expect(await refusalOf(database)).toBeNull();
    });

  it('P25: has made the schema before us is refused', async () => {
    const database = await newDatabase();
    await database.as('mayfly', 'CREATE SCHEMA mayfly_store AUTHORIZATION tenant');
    expect(await refusalOf(database)).toMatch(/run ALTER SCHEMA mayfly_store OWNER TO service;/);
  });

  it('is a superuser, as whoever made the schema may be, is not refused', async () => {
    const database = await newDatabase();
    await database.as('mayfly', 'CREATE SCHEMA mayfly_store; GRANT ALL ON SCHEMA mayfly_store TO service');
    expect(await refusalOf(database)).toBeNull();
  });
});
