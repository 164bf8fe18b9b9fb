/**
 * A schema with the tables of a new store, for tests that share a server. One that was given back is emptied instead of made again:
 * to make the tables takes longer than most tests.
 */
import { openConnection } from '../../../src/store/postgres/connection.ts';
import { migrate, migrations } from '../../../src/store/postgres/migrate.ts';
import type { PostgresServer } from '../../support/postgres.ts';

const free = new WeakMap<object, string[]>();
let made = 0;

/** What a new store's tables hold. */
const firstRows = migrations.flatMap(
  (text) => text.match(/^INSERT INTO mayfly_store\.\S+ .*VALUES .*;$/gm) ?? [],
);

/** Without the triggers of foreign keys and of moves. */
const emptied = (schema: string) => `
  SET session_replication_role TO replica;
  DO $$ DECLARE name name; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' AND tablename <> 'migrations' LOOP
      EXECUTE format('DELETE FROM ${schema}.%I', name);
    END LOOP;
  END $$;
  ${firstRows.join('\n').replaceAll('mayfly_store', schema)}`;

export async function takeSchema(server: Pick<PostgresServer, 'url' | 'ask'>): Promise<string> {
  const used = free.get(server)?.pop();
  if (used !== undefined) {
    await server.ask(emptied(used));
    return used;
  }
  made += 1;
  const schema = `store_${made}`;
  await server.ask(`CREATE SCHEMA ${schema}`);
  const connection = await openConnection({ url: server.url, tls: false, schema });
  await migrate(connection);
  await connection.end();
  return schema;
}

/** Once nothing is connected to it any more. Its tables must be those that it had, and no move under way. */
export function giveBack(server: object, schema: string): void {
  free.set(server, [...(free.get(server) ?? []), schema]);
}
