/** How PostgreSQL runs the statements: found by index and not compiled, also in tables that were never analyzed. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { openEngine } from '../../../src/store/postgres/engine.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { newClient } from '../conformance/attempt-fixtures.ts';
import { clientStays, createSettableClock, found, newRecord } from '../conformance/check.ts';

setDefaultTimeout(60_000);

let server: PostgresServer;
const logged: string[] = [];

beforeAll(async () => {
  const config = {
    shared_preload_libraries: "'auto_explain'",
    'auto_explain.log_min_duration': 0,
    'auto_explain.log_format': "'json'",
    'auto_explain.log_nested_statements': 'on',
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

interface PlanNode {
  readonly Plans?: readonly PlanNode[];
  readonly [property: string]: unknown;
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

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

describe('a sweep', () => {
  /** With fewer, the planner reads by index whatever the statement says. */
  const count = 20_000;
  const copies = `
    INSERT INTO records SELECT copy.* FROM records r, generate_series(1, ${count}) n, LATERAL jsonb_populate_record(r, jsonb_build_object(
      'secret_id', sha256(n::text::bytea), 'receipt_id', sha256(n::text::bytea), 'position', 1000000 + n)) copy`;
  const requests = (now: number) => `
    INSERT INTO requests (request_id, owner_hash, ask_hash, terms, places, created_at, until, answer_ttl, notify, share_domain, updated_at)
    SELECT sha256(n::text::bytea), '', '', '', 1, ${now}, ${now} + 1000, 1000, 0, '', ${now} FROM generate_series(1, ${count}) n`;

  const codes = `
    INSERT INTO codes SELECT sha256(n::text::bytea), sha256(n::text::bytea), n, '', 'queued' FROM generate_series(1, ${count}) n`;
  /** The steps in which a sweep looks for what is due in `table`. */
  const looksIn = (table: string) =>
    plansSoFar()
      .filter((plan) => String(plan['Query Text']).includes(`FOR UPDATE OF ${table} SKIP LOCKED`))
      .flatMap((plan) => nodesOf(plan.Plan as PlanNode))
      .filter((node) => node['Subplan Name'] === 'CTE due')
      .flatMap(nodesOf);

  it('reads only what is due, though nothing was ever analyzed', async () => {
    const clock = createSettableClock();
    const options = { url: server.url, clock, durability: 'single', allowsUnsafe: true } as const;
    {
      await using store = await openPostgresStore(options);
      await server.ask('DELETE FROM records');
      await store.put(newRecord(store.now()));
      await server.ask(copies);
      await server.ask(requests(store.now()));
      await store.sweep(500);
    }
    for (const [table, column] of [
      ['records', 'sweep_at'],
      ['requests', 'GREATEST(until, answers_until)'],
    ] as const) {
      const conditions = looksIn(table).flatMap((node) => node['Index Cond'] ?? []);
      expect(conditions).toEqual([expect.stringContaining(`(${column} <= `)]);
    }
  });

  it('deletes codes with their record, and neither it nor any other statement reads them from end to end', async () => {
    const clock = createSettableClock();
    const options = { url: server.url, clock, durability: 'single', allowsUnsafe: true } as const;
    const before = plansSoFar().length;
    {
      await using store = await openPostgresStore(options);
      await server.ask(codes);
      const [record, ended] = [newRecord(store.now()), newRecord(store.now())];
      const [lookTag, codeTag] = [newClient(), newClient()];
      for (const each of [record, ended]) {
        await store.put(each);
        await store.putCode(each.secretId, { lookTag, codeTag });
        await store.findCode(each.secretId, lookTag);
        await store.setCodeState(each.secretId, codeTag, 'accepted');
        await store.listCodes(each.secretId);
      }
      await server.ask(
        'UPDATE records SET expires_at = 1, receipt_expires_at = 2, sweep_at = 1 WHERE secret_id = $1',
        [ended.secretId],
      );
      await store.sweep(500);
      expect(await store.listCodes(ended.secretId)).toEqual([]);
      expect(await store.listCodes(record.secretId)).toHaveLength(1);
    }
    const plans = plansSoFar().slice(before);
    const reads = plans
      .flatMap((plan) => nodesOf(plan.Plan as PlanNode))
      .filter((node) => node['Relation Name'] === 'codes' && String(node['Node Type']).includes('Scan'))
      .map((node) => node['Node Type']);
    expect(reads.length).toBeGreaterThanOrEqual(8);
    expect(reads.filter((type) => type === 'Seq Scan')).toEqual([]);
  });
});
