/** How PostgreSQL runs the statements: found by index and not compiled, also in tables that were never analyzed. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { openEngine } from '../../../src/store/postgres/engine.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { clientStays, createSettableClock, found, newRecord } from '../conformance/check.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
const logged: string[] = [];

beforeAll(async () => {
  const config = {
    shared_preload_libraries: "'auto_explain'",
    'auto_explain.log_min_duration': 0,
    'auto_explain.log_format': "'json'",
    autovacuum: 'off',
  };
  server = await startPostgres({ config });
  server.process.stderr?.on('data', (part: Buffer) => logged.push(part.toString()));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const plansSoFar = (): Record<string, unknown>[] =>
  logged
    .join('')
    .split(/^.*LOG: {2}duration: .* plan:$/m)
    .slice(1)
    .map((text) => JSON.parse(text.replace(/^\d{4}-\d\d-\d\d.*$/gms, '')) as Record<string, unknown>);

/** What the planner takes a statement for, at its default beyond which it is compiled. */
const jitAboveCost = 100_000;

describe('the statements of batches', () => {
  it('are not costly enough to be compiled, while nothing was ever analyzed', async () => {
    const clock = createSettableClock();
    const options = { url: server.url, clock, durability: 'single', allowsUnsafe: true } as const;
    {
      await using store = await openPostgresStore(options);
      const records = Array.from({ length: 256 }, () => newRecord(store.now()));
      await Promise.all(records.map((record) => store.put(record)));
      const secrets = await Promise.all(records.map(({ secretId }) => found(store, secretId)));
      await Promise.all(secrets.map((secret) => store.claim(secret, clientStays)));
      await Promise.all(records.map(({ secretId }) => store.findSecret(secretId)));
    }
    const plans = plansSoFar();
    const costOf = (plan: Record<string, unknown>) =>
      (plan.Plan as Record<string, number> | undefined)?.['Total Cost'] ?? Number.POSITIVE_INFINITY;
    expect(plans.length).toBeGreaterThan(8);
    expect(plans.filter((plan) => costOf(plan) >= jitAboveCost)).toEqual([]);
  });

  it('run without the compiler, which a server has on by default', async () => {
    const clock = createSettableClock();
    const engine = await openEngine({ url: server.url, clock, durability: 'single', allowsUnsafe: true });
    try {
      const jit = statement("SELECT current_setting('jit') AS jit");
      expect(await engine.read(jit, [])).toEqual([{ jit: 'off' }]);
      expect(await server.ask('SHOW jit')).toEqual([{ jit: 'on' }]);
    } finally {
      await engine.close();
    }
  });
});
