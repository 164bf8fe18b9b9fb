/** Each setting of a server that would break a promise is refused with a sentence that says what to do (P25). */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import pg from 'pg';
import {
  type CheckedEngine,
  checkEngine,
  type EngineDemands,
} from '../../../src/store/postgres/boot-checks.ts';
import { StoreRefusal } from '../../../src/store/store.ts';
import { type PostgresServer, startPair, startPostgres } from '../../support/postgres.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  // Not a superuser, as a careful operator's service is not.
  await server.ask('CREATE ROLE service LOGIN');
});
afterAll(() => server[Symbol.asyncDispose]());

const single: EngineDemands = { durability: 'single', connections: 10, allowsUnsafe: false };
const unsafe: EngineDemands = { ...single, allowsUnsafe: true };

async function check(demands: EngineDemands, url = server.url, user = 'service'): Promise<CheckedEngine> {
  const client = new pg.Client({ connectionString: url.replace('mayfly@', `${user}@`) });
  await client.connect();
  try {
    return await checkEngine(async (text, values) => (await client.query(text, [...values])).rows, demands);
  } finally {
    await client.end();
  }
}

async function refusalOf(
  demands: EngineDemands,
  url?: string,
  reason: StoreRefusal['reason'] = 'unsafe_setting',
): Promise<string> {
  const refusal: unknown = await check(demands, url).catch((error) => error);
  if (!(refusal instanceof StoreRefusal)) throw new Error(`it was not refused: ${String(refusal)}`);
  expect(refusal.reason).toBe(reason);
  return refusal.message;
}

const sinceSettings: readonly (readonly [setting: Record<string, string>, says: RegExp])[] = [
  [{ fsync: 'off' }, /fsync is off.*set fsync=on\./],
  [{ full_page_writes: 'off' }, /full_page_writes is off.*set full_page_writes=on\./],
  [{ synchronous_commit: 'off' }, /synchronous_commit is off.*set synchronous_commit=on\./],
  [
    { log_statement: 'mod', log_parameter_max_length: '-1' },
    /log_statement is mod.*set log_parameter_max_length=0\./,
  ],
  [
    { log_min_duration_statement: '250', log_parameter_max_length: '100' },
    /log_min_duration_statement is 250ms.*set log_parameter_max_length=0\./,
  ],
  [
    { log_min_duration_sample: '0', log_parameter_max_length: '-1' },
    /log_min_duration_sample is 0.*set log_parameter_max_length=0\./,
  ],
  [
    { log_transaction_sample_rate: '0.1', log_parameter_max_length: '-1' },
    /log_transaction_sample_rate is 0\.1.*set log_parameter_max_length=0\./,
  ],
  [{ log_parameter_max_length_on_error: '-1' }, /set log_parameter_max_length_on_error=0\./],
  [
    { session_preload_libraries: "'auto_explain'", 'auto_explain.log_min_duration': '0' },
    /ALTER ROLE … SET auto_explain\.log_min_duration = -1/,
  ],
];

const asBefore: Readonly<Record<string, string>> = {
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  log_statement: 'none',
  log_transaction_sample_rate: '0',
  session_preload_libraries: "''",
};

describe('a server that could break a promise', () => {
  it('is served on when its settings are safe', async () => {
    expect(await check(single)).toEqual({ durability: 'single', unsafe: [] });
  });

  for (const [settings, says] of sinceSettings)
    it(`P25: ${Object.entries(settings).join(' with ').replaceAll(',', '=')} is refused, and may be allowed`, async () => {
      await server.configure(settings);
      try {
        expect(await refusalOf(single)).toMatch(says);
        const { unsafe: allowed } = await check(unsafe);
        expect(allowed).toEqual([expect.stringMatching(says)]);
      } finally {
        const reset = Object.keys(settings).map((name) => [name, asBefore[name] ?? '-1']);
        await server.configure(Object.fromEntries(reset));
      }
    });

  it('P18: settings that log statements without their parameters are safe', async () => {
    await server.configure({ log_statement: 'all', log_min_duration_statement: '0' });
    try {
      expect((await check(single)).unsafe).toEqual([]);
    } finally {
      await server.configure({ log_statement: 'none', log_min_duration_statement: '-1' });
    }
  });

  it('P18: plans that the role does not log, or that no module would, are safe', async () => {
    await server.configure({ 'auto_explain.log_min_duration': '10000' });
    try {
      expect((await check(single)).unsafe).toEqual([]);
      await server.ask('ALTER ROLE service SET auto_explain.log_min_duration = -1');
      await server.configure({ session_preload_libraries: "'auto_explain'" });
      expect((await check(single)).unsafe).toEqual([]);
    } finally {
      await server.ask('ALTER ROLE service RESET auto_explain.log_min_duration');
      await server.configure({ session_preload_libraries: "''", 'auto_explain.log_min_duration': '-1' });
    }
  });

  it('P18: a plan holds values, whatever is logged of parameters', async () => {
    await server.configure({
      'auto_explain.log_min_duration': '0',
      session_preload_libraries: "'auto_explain'",
    });
    try {
      const log = Promise.withResolvers<string>();
      let written = '';
      server.process.stderr?.on('data', (chunk) => {
        written += chunk;
        if (written.includes('Filter: ')) log.resolve(written);
      });
      await server.ask('SELECT 1 FROM pg_roles WHERE rolname = $1', ['canary@example.org']);
      expect(await log.promise).toContain("'canary@example.org'");
    } finally {
      await server.configure({ session_preload_libraries: "''", 'auto_explain.log_min_duration': '-1' });
    }
  });

  it('P25: a table that a crash would empty is refused by its name', async () => {
    await server.ask('CREATE SCHEMA mayfly_store');
    await server.ask('CREATE UNLOGGED TABLE mayfly_store.records (id int)');
    await server.ask('CREATE UNLOGGED TABLE mayfly_store.of_another_program (id int)');
    try {
      expect(await refusalOf(single)).toMatch(
        /run ALTER TABLE mayfly_store\.records SET LOGGED;\nTo run on it all the same/,
      );
    } finally {
      await server.ask('DROP SCHEMA mayfly_store CASCADE');
    }
  });

  it('P25: another isolation than the one that the statements were written for is refused, and cannot be allowed', async () => {
    await server.ask("ALTER ROLE service SET default_transaction_isolation = 'serializable'");
    try {
      const said = await refusalOf(unsafe);
      expect(said).toContain('default_transaction_isolation is "serializable": set it to "read committed"');
      expect(said).not.toContain('MAYFLY_ALLOW_UNSAFE_STORE');
    } finally {
      await server.ask('ALTER ROLE service RESET default_transaction_isolation');
    }
  });

  it('P25: a role that may only read is refused', async () => {
    await server.ask('ALTER ROLE service SET default_transaction_read_only = on');
    try {
      expect(await refusalOf(unsafe)).toContain('default_transaction_read_only is on');
    } finally {
      await server.ask('ALTER ROLE service RESET default_transaction_read_only');
    }
  });

  it('P23: fewer connections than the pool needs are refused with both numbers', async () => {
    expect(await refusalOf({ ...unsafe, connections: 200 })).toContain(
      'The server allows 97 connections and this node alone may need 200: raise max_connections, or lower MAYFLY_STORE_POOL_SIZE.',
    );
  });

  it('P25: a database that cannot hold every text is refused', async () => {
    await server.ask("CREATE DATABASE plain ENCODING 'SQL_ASCII' TEMPLATE template0");
    expect(await refusalOf(unsafe, server.url.replace(/mayfly$/, 'plain'))).toContain(
      "The database has the encoding SQL_ASCII: create one with ENCODING 'UTF8'.",
    );
  });

  it('P25: a version that is too old is refused by its number', async () => {
    // Answers as an old server would: only its version differs.
    const ask = async (text: string, values: readonly unknown[]) =>
      (await server.ask(text, values)).map((row) => ('version' in row ? { ...row, version: 130_012 } : row));
    await expect(checkEngine(ask, unsafe)).rejects.toThrow(
      'The server is PostgreSQL 13: Mayfly needs version 14 or later.',
    );
  });

  it('everything that is wrong is said at once', async () => {
    await server.configure({ fsync: 'off', synchronous_commit: 'off' });
    try {
      expect((await refusalOf(single)).split('\n')).toHaveLength(3);
    } finally {
      await server.configure({ fsync: 'on', synchronous_commit: 'on' });
    }
  });
});

describe('the durability class', () => {
  it('has to be said for a server that names no standby', async () => {
    const said = await refusalOf({ ...unsafe, durability: null });
    expect(said).toContain('Set MAYFLY_STORE_DURABILITY: single for one server that nothing takes over for');
    expect(said).not.toContain('MAYFLY_ALLOW_UNSAFE_STORE');
  });

  it('engine is what the operator declares, whatever disks and standbys the server speaks of', async () => {
    await server.configure({ fsync: 'off', full_page_writes: 'off' });
    try {
      expect(await check({ ...single, durability: 'engine' })).toEqual({ durability: 'engine', unsafe: [] });
      await server.configure({ synchronous_commit: 'off' });
      expect(await refusalOf({ ...single, durability: 'engine' })).toContain('synchronous_commit is off');
    } finally {
      await server.configure({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' });
    }
  });

  it('P25: synchronous is refused where the server waits for nobody', async () => {
    expect(await refusalOf({ ...single, durability: 'synchronous' })).toMatch(
      /waits for no standby.*synchronous_mode_strict/,
    );
  });

  it('P1, P25: of a server with a standby', async () => {
    await using pair = await startPair();
    await pair.primary.ask('CREATE ROLE service LOGIN');
    const { url } = pair;
    expect(await check({ ...single, durability: null }, url)).toEqual({
      durability: 'synchronous',
      unsafe: [],
    });
    expect(await refusalOf(single, url)).toContain('MAYFLY_STORE_DURABILITY is single, and the server names');
    const standbyUrl = pair.standby?.url;
    expect(await refusalOf({ ...unsafe, durability: 'synchronous' }, standbyUrl, 'standby')).toContain(
      'The address leads to a standby',
    );
    await pair.primary.configure({ synchronous_commit: 'remote_write' });
    expect(await refusalOf({ ...single, durability: null }, url)).toContain(
      'synchronous_commit is remote_write, which does not wait until the standby has a commit on its disk',
    );
    // The standby follows, and nothing waits for it.
    await pair.primary.configure({ synchronous_commit: 'on', synchronous_standby_names: "''" });
    expect(await refusalOf({ ...single, durability: 'synchronous' }, url)).toContain(
      'synchronous_standby_names is empty',
    );
    expect(await refusalOf(single, url)).toContain('a standby follows the server ("mayfly_standby")');
    expect((await check(unsafe, url)).unsafe).toHaveLength(1);
  });
});
