/** What is refused of the schema that the tables are in: that another role may create in it, or owns something there (P25). */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { probeServer } from '../../../src/store/postgres/server.ts';
import { type PostgresServer, until } from '../../support/postgres.ts';
import { putNew } from '../conformance/check.ts';
import { newDatabase, openAt, openStore, refusalOf, startTenantedServer } from './tenant.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
beforeAll(async () => {
  server = await startTenantedServer();
});
afterAll(() => server[Symbol.asyncDispose]());

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
      const database = await newDatabase(server);
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
      await expect(probeServer(looked, 'there')).rejects.toThrow(words);
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
    const database = await newDatabase(server);
    await database.as('mayfly', 'CREATE SCHEMA mayfly_store AUTHORIZATION tenant');
    expect(await refusalOf(database)).toMatch(/run ALTER SCHEMA mayfly_store OWNER TO service;/);
  });

  it('is a superuser, as whoever made the schema may be, is not refused', async () => {
    const database = await newDatabase(server);
    await database.as('mayfly', 'CREATE SCHEMA mayfly_store; GRANT ALL ON SCHEMA mayfly_store TO service');
    expect(await refusalOf(database)).toBeNull();
  });
});
