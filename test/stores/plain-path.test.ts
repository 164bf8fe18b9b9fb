/**
 * What a request costs that uses no feature beside sharing and opening: its statements, on both threads of the embedded store and on
 * PostgreSQL, its syncs and its slow hashes. Whoever adds one for a feature finds it here, and asks whether those who do not use it must pay.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { freePort, makeDataDir, type StartedServer, startServer } from '../support/started-server.ts';

type Engine = 'sqlite' | 'postgres';
type Work = readonly string[];

/** None of them can be a share domain: the site, addresses, and one label, as a proxy may call its upstream. */
const plainHosts = ['localhost', '127.0.0.1', '127.0.0.1:3000', '[::1]:3000', 'mayfly:3000'];

/** One snapshot for all reads of a turn. */
const read = (...statements: string[]) => ['BEGIN', 'PRAGMA data_version', ...statements, 'COMMIT'];
const write = (...statements: string[]) => [
  'BEGIN IMMEDIATE',
  'PRAGMA data_version',
  'SELECT store_time',
  ...statements,
  'COMMIT',
  // How long the log is; less than a microsecond, once a batch.
  'PRAGMA wal_checkpoint(NOOP)',
  'sync the log',
];
const decided = (statement: string) => [statement, 'is the server still the same?'];

/** PostgreSQL looks for a reservation, and makes a look, in the same statement: without one they find no row. */
const create = {
  sqlite: write('INSERT records'),
  postgres: decided('UPDATE creations, INSERT records'),
};
const find = {
  sqlite: read('SELECT secret_index', 'SELECT records'),
  postgres: ['SELECT records'],
};
const reveal = {
  sqlite: [...find.sqlite, ...write('UPDATE records')],
  postgres: [...find.postgres, ...decided('UPDATE records, INSERT looks')],
};
const nothing = { sqlite: [], postgres: [] };
const domain = { sqlite: read('SELECT domains'), postgres: ['SELECT domains'] };
const together = (one: Record<Engine, Work>, other: Record<Engine, Work>) => ({
  sqlite: [...one.sqlite, ...other.sqlite],
  postgres: [...one.postgres, ...other.postgres],
});
const hashed = { sqlite: ['argon2id', 'bcrypt'], postgres: ['argon2id', 'bcrypt'] };

interface Asked {
  readonly path: string;
  readonly body?: object;
}

const share = (options: object = {}): Asked => ({ path: '/api/v1/share', body: { secret: 'v', ...options } });
const doors: Readonly<Record<string, { asked: (key: string) => Asked; costs: Record<Engine, Work> }>> = {
  'v1 create': { asked: () => share(), costs: create },
  'v1 reveal': { asked: (key) => ({ path: `/api/v1/secret/${key}`, body: {} }), costs: reveal },
  'v2 conceal': {
    asked: () => ({ path: '/api/v2/secret/conceal', body: { secret: { kind: 'conceal', secret: 'v' } } }),
    costs: create,
  },
  'v2 reveal': {
    asked: (key) => ({ path: `/api/v2/secret/${key}/reveal`, body: { secret: { continue: true } } }),
    costs: reveal,
  },
  'the page to share': { asked: () => ({ path: '/' }), costs: nothing },
  'the page of a link': { asked: (key) => ({ path: `/secret/${key}` }), costs: find },
};

/** The tables that it writes, or the first that it reads. */
function shortOf(statement: string): string {
  const text = statement.replace(/\s+/g, ' ').replace(/^WITH clock AS \(.*?\)(?=,? )/, '');
  if (text.includes('pg_postmaster_start_time')) return 'is the server still the same?';
  const writes =
    /\b(INSERT|UPDATE|DELETE)(?: OR \w+)?(?: INTO| FROM)? (?:mayfly_store\.)?(?!SET\b|OF\b)(\w+)/g;
  const written = Array.from(text.matchAll(writes), ([, verb, table]) => `${verb} ${table}`);
  if (written.length > 0) return written.join(', ');
  const [, from] = /\b(?:FROM|JOIN) (?:mayfly_store\.)?(?!unnest|LATERAL)(\w+)/.exec(text) ?? [];
  return from === undefined ? text : `SELECT ${from}`;
}

const sorted = (work: Work) => [...work].sort();

/** What is in both, as often as it is in both. */
function common(one: Work, other: Work): Work {
  const left = [...other];
  return one.filter((each) => {
    const at = left.indexOf(each);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
}

function countingServer(env: () => Record<string, string>) {
  let server: StartedServer;
  let [countsPort, clients] = [0, 0];
  beforeAll(async () => {
    countsPort = await freePort();
    server = await startServer({
      command: ['--preload', './test/support/counted-server.ts', 'src/main.ts', 'serve'],
      readyWords: 'is ready',
      env: {
        COUNTS_PORT: String(countsPort),
        MAYFLY_RATE_LIMITS: 'on',
        MAYFLY_TRUSTED_PROXIES: '127.0.0.1',
        ...env(),
      },
    });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const taken = async () => (await (await fetch(`http://127.0.0.1:${countsPort}`)).json()) as string[];
  async function ask({ path, body }: Asked, host: string) {
    const sent =
      body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    // Of another client each time, so that the limits are counted and never reached.
    clients += 1;
    const client = `10.${clients >> 8}.${clients & 255}.1`;
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      ...sent,
      headers: { ...sent.headers, host, 'x-forwarded-for': client },
    });
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    return response.text();
  }

  /** What a request does each time; what else the server does meanwhile, it does in some of the rounds only. */
  return async function workOf(asked: (key: string) => Asked, host: string, expected: Work) {
    let seen: Work | null = null;
    for (let round = 0; round < 30; round += 1) {
      const { secret_key: key } = JSON.parse(await ask(share(), 'localhost')) as { secret_key: string };
      await taken();
      await ask(asked(key), host);
      const work = (await taken()).map(shortOf);
      seen = seen === null ? work : common(seen, work);
      if (round > 0 && seen.length <= expected.length) break;
    }
    return sorted(seen ?? []);
  };
}

function checkCosts(engine: Engine, env: () => Record<string, string>) {
  const workOf = countingServer(env);
  for (const [door, { asked, costs }] of Object.entries(doors))
    it(`${door}: only what it must, whichever name the server is asked by`, async () => {
      for (const host of plainHosts)
        expect({ host, work: await workOf(asked, host, costs[engine]) }).toEqual({
          host,
          work: sorted(costs[engine]),
        });
    });

  it('a public name costs one read more, since it may be a share domain', async () => {
    for (const door of ['v1 create', 'v2 conceal', 'the page to share']) {
      const { asked, costs } = doors[door] as (typeof doors)[string];
      const expected = together(costs, domain)[engine];
      expect({ door, work: await workOf(asked, 'links.example.org', expected) }).toEqual({
        door,
        work: sorted(expected),
      });
    }
  });

  it('a passphrase costs one hash of each kind', async () => {
    const expected = together(create, hashed)[engine];
    const work = await workOf(() => share({ passphrase: 'p' }), 'localhost', expected);
    expect(work).toEqual(sorted(expected));
  });
}

describe('the statements and hashes of a request, over SQLite:', () => checkCosts('sqlite', () => ({})));

describe('the statements and hashes of a request, over PostgreSQL:', () => {
  let postgres: PostgresServer;
  let folder = '';
  beforeAll(async () => {
    [postgres, folder] = await Promise.all([startPostgres(), makeDataDir()]);
  });
  afterAll(async () => {
    await postgres[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  checkCosts('postgres', () => ({
    MAYFLY_STORE: postgres.url,
    MAYFLY_STORE_DURABILITY: 'single',
    MAYFLY_ROOT_KEYS_FILE: join(folder, 'keys.json'),
  }));
});
