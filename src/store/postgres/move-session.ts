/**
 * A move's only connection. Each of its transactions locks a row, so that runs of the command exclude each other. A
 * transaction is confirmed like a decision (`engine.ts`).
 */
import pg from 'pg';
import { ServiceError } from '../../core/errors.ts';
import { fixedPath, type ServerAddress, valueTypes } from './connection.ts';
import { inSchema } from './statement.ts';

/** Without `tls`, the connection is not encrypted. */
export type PostgresAddress = Omit<ServerAddress, 'tls'> & Partial<Pick<ServerAddress, 'tls'>>;

export interface MoveSession extends AsyncDisposable {
  ask<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Retries as long as the server itself undoes the transaction. */
  write<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Reads from one snapshot. */
  read<Result>(work: () => Promise<Result>): Promise<Result>;
}

const standing = `
  SELECT current_setting('synchronous_standby_names', true) AS names, pg_conf_load_time() AS loaded_at,
    pg_postmaster_start_time() AS started_at, pg_is_in_recovery() AS is_standby`;

const limitMs = 60_000;
/** Kept short, because nodes queue up behind a lock that the move is waiting for. */
const lockMs = 2_000;
const maxAttempts = 10;
/** Error codes that mean that the server undid the transaction. */
const undone = new Set(['40P01', '55P03', '40001']);

export async function openMoveSession({ url, tls = false, schema }: PostgresAddress): Promise<MoveSession> {
  const client = new pg.Client({
    connectionString: url,
    ssl: tls,
    types: valueTypes as pg.CustomTypesConfig,
    query_timeout: limitMs,
    fallback_application_name: 'mayfly migrate-store',
  });
  let notices = 0;
  client.on('notice', () => {
    notices += 1;
  });
  client.on('error', () => {});
  await client.connect();
  const ask = async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await client.query(inSchema(sql, schema), [...values])).rows as Row[];
  const [backend] = await ask<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  // A pooler would keep the setting for its other clients.
  if (backend?.pid === (client as unknown as { processID: number }).processID) await ask(`SET ${fixedPath}`);
  const stand = async () => JSON.stringify(await ask(standing));
  const first = await stand();

  async function transact<Result>(begin: string, work: () => Promise<Result>): Promise<Result> {
    await ask(begin);
    try {
      await ask(`SET LOCAL ${fixedPath}`);
      const result = await work();
      await ask('COMMIT');
      return result;
    } catch (error) {
      await ask('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  async function writeOnce<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = notices;
    const result = await transact('BEGIN', async () => {
      await ask(`SET LOCAL lock_timeout = ${lockMs}`);
      // Remarks about missing objects must not count as notices about the commit.
      await ask('SET LOCAL client_min_messages = warning');
      return work();
    });
    if (notices === before && (await stand()) === first) return result;
    throw new ServiceError('unavailable', 'PostgreSQL did not confirm a step of the move: run it again.');
  }

  return {
    ask,
    read: (work) => transact('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    async write(work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await writeOnce(work);
        } catch (error) {
          const mayRepeat = error instanceof pg.DatabaseError && undone.has(error.code ?? '');
          if (!mayRepeat || attempt === maxAttempts) throw error;
        }
      }
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
