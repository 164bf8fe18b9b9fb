/** A pooler whose connections lead to two servers, as while an address moves: what one of them confirms says nothing of the other. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { decideConfirmed, readWithPlace } from '../../../src/store/postgres/confirmed.ts';
import { type Connection, openConnection, type Query } from '../../../src/store/postgres/connection.ts';
import { openEngine } from '../../../src/store/postgres/engine.ts';
import { createServerWatch } from '../../../src/store/postgres/server-watch.ts';
import { statement } from '../../../src/store/postgres/statement.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { createSettableClock } from '../conformance/check.ts';

let servers: readonly [PostgresServer, PostgresServer];
let connections: readonly [Connection, Connection];
beforeAll(async () => {
  servers = [await startPostgres(), await startPostgres()];
  for (const { url, ask } of servers) {
    await (await openEngine({ url, clock: createSettableClock(), durability: 'single' })).close();
    await ask('CREATE TABLE notes (id int)');
  }
  const open = ({ url }: PostgresServer) => openConnection({ url, tls: false });
  connections = [await open(servers[0]), await open(servers[1])];
});
afterAll(async () => {
  for (const connection of connections) await connection.end();
  for (const server of servers) await server[Symbol.asyncDispose]();
});

/** Each transaction goes where its turn says; the first server has the others. */
function poolerWith(turns: number[], isPooled: boolean): Connection {
  const [first] = connections;
  return {
    ...first,
    isPooled,
    end: async () => {},
    async ask(queries, deadlineMs) {
      const replies = [];
      let at: number | null = null;
      for (const query of queries) {
        const server: number = at ?? turns.shift() ?? 0;
        const { text } = query.statement;
        at = text === 'BEGIN' || (at !== null && text !== 'COMMIT') ? server : null;
        const [reply] = await (connections[server] ?? first).ask([query], deadlineMs);
        if (reply !== undefined) replies.push(reply);
      }
      return replies;
    },
  };
}

const soon = () => performance.now() + 5_000;
const queryOf = (text: string): Query => ({ statement: statement(text), values: [] });
const addNote = queryOf('INSERT INTO public.notes VALUES (1)');
const countNotes = queryOf('SELECT count(*)::int AS n FROM public.notes');

async function setUp(turns: readonly number[], isPooled = true) {
  const given: number[] = [];
  const connection = poolerWith(given, isPooled);
  const watch = createServerWatch({ durability: 'single', connections: 2, allowsUnsafe: false }, () => null);
  await watch.check(connection, soon());
  given.push(...turns);
  return { connection, parts: { watch, known: null } };
}

describe('a pooler between two servers', () => {
  it('P2: confirms no decision by what another server is like', async () => {
    const { connection, parts } = await setUp([1, 0]);
    await expect(decideConfirmed(connection, addNote, parts, soon())).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await servers[1].ask('SELECT count(*)::int AS n FROM notes')).toEqual([{ n: 1 }]);
  });

  it('would confirm it, were it not asked in the decision’s own transaction', async () => {
    const { connection, parts } = await setUp([1, 0], false);
    await decideConfirmed(connection, addNote, parts, soon());
    expect(await servers[0].ask('SELECT count(*)::int AS n FROM notes')).toEqual([{ n: 0 }]);
  });

  it('P6: gives nothing that was read from another server than the one that was checked', async () => {
    const { connection, parts } = await setUp([1]);
    await expect(readWithPlace(connection, countNotes, parts, soon())).rejects.toMatchObject({
      mayTryAgain: true,
    });
    const other = await setUp([0]);
    const { rows } = await readWithPlace(other.connection, countNotes, other.parts, soon());
    expect(rows).toEqual([{ n: 0 }]);
  });
});
