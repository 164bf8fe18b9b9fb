/** Several nodes over the same tables, statements with a seeded defect, and locks that a test holds. */
import pg from 'pg';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { type Statement, statement } from '../../../src/store/postgres/statement.ts';
import { createPostgresStore } from '../../../src/store/postgres/store.ts';
import { type PostgresServer, until } from '../../support/postgres.ts';
import { createSettableClock } from '../conformance/check.ts';

let schemas = 0;

/** @param seed what a node's engine is replaced by */
export async function openNodes(
  server: PostgresServer,
  count: number,
  seed: (engine: Engine) => Engine = (engine) => engine,
) {
  schemas += 1;
  const schema = `nodes_${schemas}`;
  await server.ask(`CREATE SCHEMA ${schema}`);
  const clock = createSettableClock();
  const nodes = [];
  const engines: Engine[] = [];
  for (let n = 0; n < count; n += 1) {
    const opened = await openEngine({ url: server.url, schema, clock, durability: 'single' });
    engines.push(opened);
    nodes.push(createPostgresStore(seed(opened)));
  }
  return {
    nodes,
    clock,
    schema,
    ask: <Row extends pg.QueryResultRow>(sql: string) =>
      server.ask<Row>(sql.replaceAll(/\b(records|attempts|accounts|root_floor)\b/g, `${schema}.$1`)),
    async [Symbol.asyncDispose]() {
      for (const engine of engines) await engine.close();
      await server.ask(`DROP SCHEMA ${schema} CASCADE`);
    },
  };
}

/** An engine with another text in place of a part of some statements. */
export function replacing(engine: Engine, part: string, other: string): Engine {
  const seeded = (given: Statement) =>
    given.text.includes(part) ? statement(given.text.replace(part, other)) : given;
  return {
    ...engine,
    read: (given, values) => engine.read(seeded(given), values),
    decide: (given, values) => engine.decide(seeded(given), values),
  };
}

/** A transaction of the test's own, which has done this and holds its locks until it is released, which undoes it. */
export async function holding(
  { url }: PostgresServer,
  schema: string,
  sql: string,
): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
  await client.connect();
  await client.query('BEGIN');
  await client.query(sql);
  return async () => {
    await client.query('ROLLBACK');
    await client.end();
  };
}

/** Resolves once so many of the server's backends wait for a lock, or `other` has ended. */
export async function untilWaiting(
  server: PostgresServer,
  backends: number,
  other?: Promise<unknown>,
): Promise<void> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  other?.then(end, end);
  await until(`${backends} that wait for a lock`, async () => {
    if (hasEnded) return true;
    const rows = await server.ask("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    return rows.length >= backends;
  });
}
