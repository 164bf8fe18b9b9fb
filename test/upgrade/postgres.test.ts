/** The version before PostgreSQL's tables had a schema of their own (README.md) and today's, as nodes of one database. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { execFileSync } from 'node:child_process';
import type { Account } from '../../src/core/account.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { createMachineClock } from '../../src/ops/machine-clock.ts';
import { openMoveSession } from '../../src/store/postgres/move-session.ts';
import { acceptRestore, openPostgresSource } from '../../src/store/postgres/moving.ts';
import { probeServer, toRefusal } from '../../src/store/postgres/server.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/store.ts';
import { accountNamed, logIn, personNamed, ticketFor } from '../stores/conformance/account-fixtures.ts';
import { clientStays, countOf, found, newRecord, putNew } from '../stores/conformance/check.ts';
import { domainOf } from '../stores/conformance/domain-fixtures.ts';
import { loadEarlierStore } from '../support/earlier-store.ts';
import { startPgbouncer } from '../support/pgbouncer.ts';
import { type PostgresServer, runPostgresProgram, startPostgres, until } from '../support/postgres.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
let openEarlierStore: typeof openPostgresStore;
let databases = 0;

beforeAll(async () => {
  server = await startPostgres();
  await server.ask('CREATE ROLE service LOGIN');
  openEarlierStore = await loadEarlierStore();
});
afterAll(() => server[Symbol.asyncDispose]());

/** As docs/engines.md makes it, for a role that is no superuser. */
async function newDatabase(): Promise<string> {
  databases += 1;
  await server.ask(`CREATE DATABASE service_${databases} OWNER service`);
  return `postgres://service@127.0.0.1:${server.port}/service_${databases}`;
}

const optionsAt = (url: string) =>
  ({ url, clock: createMachineClock(), durability: 'single', poolSize: 4 }) as const;
const open = (url: string) => openPostgresStore(optionsAt(url));
const openEarlier = (url: string) => openEarlierStore(optionsAt(url));

const codeOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    (answer) => ({ answer }),
    (error) => error.reason ?? error.code ?? error,
  );

async function askAs(url: string, sql: string): Promise<Record<string, unknown>[]> {
  await using session = await openMoveSession({ url });
  return await session.ask(sql);
}

/** Each kind of question about what exists, at an earlier node. */
function askAll(node: PostgresStore, { secretId, receiptId }: NewRecord, account: Account) {
  const limits = { perClient: 5, perSecret: 20, keptForNew: 5, inLife: 100, windowSeconds: 600 } as never;
  const asked: readonly Promise<unknown>[] = [
    node.findSecret(secretId),
    node.findReceipt(receiptId),
    node.burn(receiptId, clientStays),
    node.findAccount(account.username),
    node.listReceipts(account.id, { limit: 1, after: null }),
    node.findLook(secretId, new Uint8Array(16)),
    node.put(newRecord(node.now())),
    node.reserve(secretId, new Uint8Array(16), limits),
  ];
  return Promise.all(asked.map(codeOf));
}

const silent = Array(8).fill('unavailable');

describe('an earlier store that is updated', () => {
  it('P1, P5: opens each of its secrets once, while earlier nodes run and two new ones start at once', async () => {
    const url = await newDatabase();
    await using one = await openEarlier(url);
    await using two = await openEarlier(url);
    const account = await accountNamed(one, 'ann@example.org');
    const records = await Promise.all(Array.from({ length: 40 }, () => putNew(one, { owner: account.id })));
    const targets = await Promise.all(records.map(({ secretId }) => found(one, secretId)));

    const starting = Promise.all([open(url), open(url)]);
    const claims = targets.map((target, n) => codeOf((n % 2 === 0 ? one : two).claim(target, clientStays)));
    const looks: Promise<unknown>[] = [];
    let hasStarted = false;
    void starting.then(() => {
      hasStarted = true;
    });
    const [kept] = records;
    while (!hasStarted) {
      looks.push(codeOf(two.findReceipt(kept?.receiptId as NewRecord['receiptId'])));
      await Promise.all([looks.at(-1), new Promise((resume) => setTimeout(resume, 5))]);
    }
    const nodes = await starting;
    await using new1 = nodes[0];
    await using new2 = nodes[1];

    // An earlier node has said what it saw, or nothing.
    for (const said of await Promise.all(looks))
      if (said !== 'unavailable') expect((said as { answer: unknown }).answer).not.toBeNull();
    const outcomes = await Promise.all(claims);
    const later = await Promise.all(
      records.map(async ({ secretId }, n) => {
        const target = await (n % 2 === 0 ? new1 : new2).findSecret(secretId);
        return target === null ? 'gone' : (n % 2 === 0 ? new2 : new1).claim(target, clientStays);
      }),
    );
    for (const [n, outcome] of outcomes.entries()) {
      const isWon = JSON.stringify(outcome) === '{"answer":"won"}';
      expect([outcome, later[n]]).toEqual(isWon ? [{ answer: 'won' }, 'gone'] : ['unavailable', 'won']);
    }
    expect(countOf(later, 'won') + countOf(later, 'gone')).toBe(40);
  });

  it('P5: is served whole by the new nodes, and not at all by the earlier ones, which say so', async () => {
    const url = await newDatabase();
    await using earlier = await openEarlier(url);
    const person = await personNamed(earlier, 'ann@example.org');
    const { account } = person;
    const session = await logIn(earlier, person);
    const { ticketHash } = await ticketFor(earlier, 'reset', 'ann@example.org');
    const record = await putNew(earlier, { owner: account.id });
    await using node = await open(url);

    expect(await askAll(earlier, record, account)).toEqual(silent);
    expect(await codeOf(openEarlier(url))).toBe('newer_schema');
    expect(await codeOf(openEarlier(url))).toBe('newer_schema');
    expect(await askAll(earlier, record, account)).toEqual(silent);

    expect((await node.findSession(session.sessionHash))?.account.id).toBe(account.id);
    expect((await node.listReceipts(account.id, { limit: 9, after: null }))?.length).toBe(1);
    await domainOf(node, account.id, 'secrets.example.org');
    expect((await node.redeemReset(ticketHash, person.password, 'keep'))?.id).toBe(account.id);
    expect(await node.findSession(session.sessionHash)).toBeNull();
    expect(await node.lockAccount(account.id)).toBe(true);
    expect(await node.claim(await found(node, record.secretId), clientStays)).toBe('won');
    expect(
      await askAs(
        url,
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
      ),
    ).toEqual([{ relname: 'migrations' }]);
    expect(
      await askAs(url, "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"),
    ).toEqual([]);
    const open1 = await askAs(
      url,
      `SELECT proname FROM pg_proc WHERE pronamespace = 'mayfly_store'::regnamespace
      AND (proconfig IS NULL OR has_function_privilege('public', oid, 'EXECUTE'))`,
    );
    expect(open1).toEqual([]);
    await using again = await open(url);
    expect(await again.findSecret(record.secretId)).toBeNull();
  });

  it('is moved through a pooler, too', async () => {
    await using own = await startPostgres();
    const record = await (async () => {
      await using earlier = await openEarlier(own.url);
      return await putNew(earlier);
    })();
    await using pooler = await startPgbouncer(own);
    await using node = await open(pooler.url);
    expect(await node.claim(await found(node, record.secretId), clientStays)).toBe('won');
  });

  it('stays closed where a move has closed it, and can be opened by cancelling that', async () => {
    const url = await newDatabase();
    const record = await (async () => {
      await using earlier = await openEarlier(url);
      return await putNew(earlier);
    })();
    await askAs(url, `INSERT INTO public.move (only_row, id, phase, run) VALUES (1, '', 'closed', 1)`);
    for (const table of ['store_time', 'records'])
      await askAs(url, `ALTER TABLE public.${table} RENAME TO fenced_${table}`);
    expect(await codeOf(open(url))).toBe('not_a_store');
    {
      await using source = await openPostgresSource({ url }, async () => {});
      expect(await source.cancel()).toBe(true);
    }
    await using node = await open(url);
    expect(await node.claim(await found(node, record.secretId), clientStays)).toBe('won');
  });

  it('is left alone, with the sentence, where the role may make no schema; and moves once it has one', async () => {
    databases += 1;
    await server.ask(`CREATE DATABASE service_${databases}`);
    const as = (role: string) => `postgres://${role}@127.0.0.1:${server.port}/service_${databases}`;
    await askAs(as('mayfly'), 'GRANT CREATE ON SCHEMA public TO service');
    await using earlier = await openEarlier(as('service'));
    const record = await putNew(earlier);
    const refused = await open(as('service')).catch((error) => toRefusal(error, 'there').message);
    expect(refused).toContain('CREATE SCHEMA mayfly_store AUTHORIZATION');
    expect((await found(earlier, record.secretId)).secretId).toEqual(record.secretId);
    await askAs(as('mayfly'), 'CREATE SCHEMA mayfly_store AUTHORIZATION service');
    await using node = await open(as('service'));
    expect(await node.claim(await found(node, record.secretId), clientStays)).toBe('won');
  });

  it('is not kept from its users by a statement that takes long: the move gives way, and is tried again', async () => {
    const url = await newDatabase();
    await using earlier = await openEarlier(url);
    const record = await putNew(earlier);
    await using hand = await openMoveSession({ url });
    await hand.ask('BEGIN');
    await hand.ask('SELECT FROM public.records');
    const starting = open(url);
    const tries = new Set<number>();
    await until('a second try', async () => {
      const waiting = await server.ask<{ since: number }>(
        "SELECT extract(epoch FROM query_start)::float8 AS since FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '^-- Makes the schema'",
      );
      for (const { since } of waiting) tries.add(since);
      return tries.size > 1;
    });
    await hand.ask('COMMIT');
    await using node = await starting;
    expect(await node.claim(await found(node, record.secretId), clientStays)).toBe('won');
  });

  it('P1: that comes out of a backup is moved, and serves nothing until it is accepted', async () => {
    const [from, to] = [await newDatabase(), await newDatabase()];
    await using earlier = await openEarlier(from);
    const record = await putNew(earlier);
    const at = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'mayfly'];
    const dump = runPostgresProgram('pg_dump', [...at, new URL(from).pathname.slice(1)]);
    execFileSync('psql', [...at, '-q', '-v', 'ON_ERROR_STOP=1', new URL(to).pathname.slice(1)], {
      input: dump,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    expect(await codeOf(open(to))).toBe('restored');
    expect(await codeOf(openEarlier(to))).toBe('newer_schema');
    {
      await using session = await openMoveSession({ url: to });
      await acceptRestore(session);
    }
    await using node = await open(to);
    expect(await node.findSecret(record.secretId)).toBeNull();
    expect((await node.findReceipt(record.receiptId))?.state).toBe('burned');
    expect((await found(earlier, record.secretId)).secretId).toEqual(record.secretId);
  });

  it('is left alone where a part of it is another role’s, as after a restore by a superuser', async () => {
    const url = await newDatabase();
    await using earlier = await openEarlier(url);
    const record = await putNew(earlier);
    const admin = url.replace('service@', 'mayfly@');
    for (const table of ['looks', 'migrations']) {
      await askAs(
        admin,
        `ALTER TABLE public.${table} OWNER TO mayfly; GRANT ALL ON public.${table} TO service`,
      );
      expect(await codeOf(open(url))).toBe('42501');
      expect((await found(earlier, record.secretId)).secretId).toEqual(record.secretId);
      await askAs(admin, `ALTER TABLE public.${table} OWNER TO service`);
    }
    await using node = await open(url);
    expect(await node.claim(await found(node, record.secretId), clientStays)).toBe('won');
  });

  it('is moved out of whatever schema its role’s path begins with', async () => {
    const url = await newDatabase();
    await askAs(url, 'CREATE SCHEMA app');
    await askAs(
      url,
      `ALTER ROLE service IN DATABASE service_${databases} SET search_path = nowhere, app, public`,
    );
    await using earlier = await openEarlier(url);
    const record = await putNew(earlier);
    await using node = await open(url);
    expect(await node.claim(await found(node, record.secretId), clientStays)).toBe('won');
    expect(await codeOf(openEarlier(url))).toBe('newer_schema');
    expect(await askAs(url, 'SELECT moved_to FROM app.migrations')).toEqual([{ moved_to: 'mayfly_store' }]);
  });

  it('is told as older by a look at the server', async () => {
    const url = await newDatabase();
    const look = () =>
      probeServer({ url, tls: false, durability: 'single', poolSize: 4, allowsUnsafe: false }, 'there');
    expect((await look()).tables).toBe('none');
    await (await openEarlier(url))[Symbol.asyncDispose]();
    expect((await look()).tables).toBe('older');
    await (await open(url))[Symbol.asyncDispose]();
    expect((await look()).tables).toBe('up_to_date');
  });
});

describe('a new store', () => {
  it('P5: is not doubled by an earlier version that starts beside it', async () => {
    const url = await newDatabase();
    await using node = await open(url);
    expect(await codeOf(openEarlier(url))).toBe('newer_schema');
    const record = await putNew(node);
    expect((await found(node, record.secretId)).secretId).toEqual(record.secretId);
  });

  it('the check above notices an old place where nothing is left: there an empty store is made', async () => {
    const url = await newDatabase();
    await using node = await open(url);
    const record = await putNew(node);
    await askAs(url, 'DROP TABLE public.migrations');
    await using earlier = await openEarlier(url);
    expect(await codeOf(earlier.findSecret(record.secretId))).toEqual({ answer: null });
  });

  it('P5: is not begun in place of one whose schema was left out of a backup', async () => {
    const url = await newDatabase();
    await (await open(url))[Symbol.asyncDispose]();
    await askAs(url, 'DROP SCHEMA mayfly_store CASCADE');
    expect(await codeOf(open(url))).toBe('not_a_store');
    await askAs(url, 'DROP TABLE public.migrations');
    await (await open(url))[Symbol.asyncDispose]();
  });

  it('is made beside a table of another program that is called migrations', async () => {
    const url = await newDatabase();
    await askAs(url, 'CREATE TABLE public.migrations (version text)');
    await using node = await open(url);
    await putNew(node);
  });
});
