/** Two nodes on one schema, and a third hand on its tables that holds a decision half made. */
import pg from 'pg';
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/store.ts';
import { type PostgresServer, until } from '../../support/postgres.ts';
import { createSettableClock, type SettableClock } from '../conformance/check.ts';
import { takeSchema } from './schemas.ts';

/** Of each kind of race; half of them through each node. */
export const racers = 100;

export interface Nodes extends AsyncDisposable {
  readonly one: PostgresStore;
  readonly other: PostgresStore;
  readonly clock: SettableClock;
  readonly schema: string;
  /** Node n of two, in turn. */
  node(n: number): PostgresStore;
  ask<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * What a call answers that begins while these statements are done and not committed: they are as soon as the call waits for them, or
   * has answered without.
   * @param last done right before they are committed
   */
  during<Answer>(
    statements: readonly Statement[],
    call: () => Promise<Answer>,
    last?: Statement,
  ): Promise<Answer>;
  /** Puts a defect into a function of the schema. */
  seed(name: string, from: string, to: string): Promise<void>;
}

type Statement = readonly [sql: string, values?: readonly unknown[]];

export async function openNodes(server: PostgresServer): Promise<Nodes> {
  // Made by a connection that has ended, so that the scans by which its tables were made are counted before any test counts.
  const schema = await takeSchema(server);
  const hand = new pg.Client({ connectionString: server.url, options: `-c search_path=${schema}` });
  await hand.connect();
  const clock = createSettableClock();
  const open = () => openPostgresStore({ url: server.url, schema, clock, durability: 'single' });
  const [one, other] = [await open(), await open()];
  const ask: Nodes['ask'] = async (sql, values = []) => (await hand.query(sql, [...values])).rows;
  const isWaiting = async () =>
    (await server.ask("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length > 0;
  return {
    one,
    other,
    clock,
    schema,
    node: (n) => (n % 2 === 0 ? one : other),
    ask,
    async during(statements, call, last) {
      await ask('BEGIN');
      for (const statement of statements) await ask(...statement);
      let hasAnswered = false;
      const answer = call().finally(() => {
        hasAnswered = true;
      });
      answer.catch(() => {});
      await until('the call waits or answers', async () => hasAnswered || (await isWaiting()));
      if (last !== undefined) await ask(...last);
      await ask('COMMIT');
      return answer;
    },
    async seed(name, from, to) {
      const [found] = await ask<{ text: string }>(`SELECT pg_get_functiondef('${name}'::regproc) AS text`);
      const text = found?.text ?? '';
      if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
      await ask(text.replace(from, to));
    },
    async [Symbol.asyncDispose]() {
      await hand.end();
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
      await server.ask(`DROP SCHEMA ${schema} CASCADE`);
    },
  };
}

export const countWhere = async ({ ask }: Nodes, from: string): Promise<number> =>
  Number((await ask<{ n: string }>(`SELECT count(*) AS n FROM ${from}`))[0]?.n);
