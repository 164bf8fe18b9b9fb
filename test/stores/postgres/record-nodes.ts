/** Nodes on one schema of a real server, whose decisions a test may hold up or rob of their replies. */
import pg from 'pg';
import { ServiceError } from '../../../src/core/errors.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import { type Engine, type EngineOptions, openEngine } from '../../../src/store/postgres/engine.ts';
import { createSecretStore, type PostgresSecrets } from '../../../src/store/postgres/secrets.ts';
import type { Statement } from '../../../src/store/postgres/statement.ts';
import { createSettableClock, type SettableClock } from '../conformance/check.ts';

/** What is in the text of the statements that do it, and of no others. */
export const does = {
  claim: "SET state = 'r'",
  undo: "SET state = 'w'",
  settle: 'SET claim_token = NULL FROM found',
};

export interface Node extends AsyncDisposable {
  readonly engine: Engine;
  readonly store: PostgresSecrets & { now(): UnixSeconds };
  /** The next statement of this kind is executed, and its caller hears nothing of it. */
  loseNextReply(kind: string): void;
  /** From now on statements of this kind wait, until the returned function is called. */
  hold(kind: string): () => void;
  /** How many statements wait because they are of this kind. */
  heldCount(kind: string): number;
  /** How many statements of this kind were executed. */
  count(kind: string): number;
}

export interface Nodes extends AsyncDisposable {
  readonly clock: SettableClock;
  readonly schema: string;
  readonly url: string;
  open(options?: Partial<EngineOptions>): Promise<Node>;
  /** A plain connection, with the schema's tables. */
  connect(): Promise<pg.Client>;
}

let schemas = 0;

export async function openNodes(server: {
  readonly url: string;
  ask(sql: string): Promise<unknown>;
}): Promise<Nodes> {
  schemas += 1;
  const schema = `records_${schemas}`;
  await server.ask(`CREATE SCHEMA ${schema}`);
  const clock = createSettableClock();
  const opened: { close(): Promise<unknown> }[] = [];
  return {
    clock,
    schema,
    url: server.url,
    async open(options = {}) {
      const node = steered(
        await openEngine({ url: server.url, schema, clock, durability: 'single', ...options }),
      );
      opened.push(node.engine);
      return node;
    },
    async connect() {
      const client = new pg.Client({ connectionString: server.url, options: `-c search_path=${schema}` });
      await client.connect();
      opened.push({ close: () => client.end() });
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(opened.map((each) => each.close()));
    },
  };
}

function steered(engine: Engine): Node {
  const lost = new Set<string>();
  const held = new Map<string, { readonly released: Promise<void>; readonly waiting: string[] }>();
  const counts = new Map<string, number>();
  async function steer<Row>(
    { text }: Statement,
    send: () => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    for (const [kind, { released, waiting }] of held) {
      if (!text.includes(kind)) continue;
      waiting.push(text);
      await released;
    }
    const kinds = Object.values(does).filter((kind) => text.includes(kind));
    const rows = await send();
    for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (kinds.some((kind) => lost.delete(kind))) throw new ServiceError('unavailable', 'The reply was lost.');
    return rows;
  }
  const steering: Engine = {
    ...engine,
    decide: <Row>(statement: Statement, ...rest: [readonly unknown[]]) =>
      steer(statement, () => engine.decide<Row>(statement, ...rest)),
  };
  return {
    engine,
    store: { ...createSecretStore(steering), now: engine.time.now },
    loseNextReply: (kind) => void lost.add(kind),
    hold(kind) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(kind, { released: promise, waiting: [] });
      return () => {
        held.delete(kind);
        resolve();
      };
    },
    heldCount: (kind) => held.get(kind)?.waiting.length ?? 0,
    count: (kind) => counts.get(kind) ?? 0,
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

/** Statements on one connection of the test's own, by whose path it finds the tables; failures are the server's. */
export function engineOn(client: pg.Client, engine: Engine): Engine {
  const run = async <Row>({ text }: Statement, values: readonly unknown[]): Promise<readonly Row[]> =>
    (await client.query(text.replaceAll('mayfly_store.', ''), [...values])).rows as Row[];
  return {
    ...engine,
    read: run,
    decide: (statement, values) => run(statement, [engine.time.now(), 0, ...values]),
  };
}
