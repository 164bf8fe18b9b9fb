/** How a PostgreSQL server is reached, a first look at it, and what is said where it does not let us in. */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { StoreRefusal } from '../store.ts';
import { type CheckedEngine, checkEngine, type Durability, type EngineDemands } from './boot-checks.ts';
import { migrations } from './migrate.ts';

export interface ServerOptions {
  /** Without parameters that speak of TLS. */
  readonly url: string;
  /** `false` if absent: not encrypted. It is always passed on, so that no variable of libpq decides it. */
  readonly ssl?: ConnectionOptions | false;
  /** As `EngineDemands.durability`; `single` if absent. */
  readonly durability?: Durability | null;
  /** How many connections are kept; 10 if absent. */
  readonly poolSize?: number;
  readonly allowsUnsafe?: boolean;
}

/** What a connection of its own cancels what takes too long with. */
const cancellingConnections = 1;
const usualPoolSize = 10;

export function demandsOf(options: ServerOptions): EngineDemands {
  const { durability = 'single', poolSize = usualPoolSize, allowsUnsafe = false } = options;
  return { durability, connections: poolSize + cancellingConnections, allowsUnsafe };
}

/** A server that does not answer by then is as good as none. */
const connectLimitMs = 5_000;

/** `older`: the next server that starts brings the tables up to date. */
export type FoundTables = 'none' | 'older' | 'up_to_date';

export interface ServerLook extends CheckedEngine {
  readonly tables: FoundTables;
}

async function findTables(client: pg.Client): Promise<FoundTables> {
  const { rows: named } = await client.query<{ oid: string | null }>(
    "SELECT to_regclass('migrations') AS oid",
  );
  if (named[0]?.oid === null) return 'none';
  const { rows } = await client.query<{ done: number }>('SELECT done FROM migrations');
  const done = rows[0]?.done ?? 0;
  if (done > migrations.length)
    throw new StoreRefusal(
      'newer_schema',
      `The data was written by a later version of Mayfly (schema ${done}, this one knows ${migrations.length}). ` +
        'Run that version or a later one.',
    );
  return done === 0 ? 'none' : done < migrations.length ? 'older' : 'up_to_date';
}

/**
 * Looks at a server on a connection of its own; changes nothing. Rejects with a `StoreRefusal` that says what to do.
 * @param shown its address without a password
 */
export async function lookAtServer(options: ServerOptions, shown: string): Promise<ServerLook> {
  const { url, ssl = false } = options;
  const client = new pg.Client({ connectionString: url, ssl, connectionTimeoutMillis: connectLimitMs });
  // Cut while nothing is asked of it: the next query rejects.
  client.on('error', () => {});
  try {
    await client.connect();
    const ask = async (text: string, values: readonly unknown[]) =>
      (await client.query(text, [...values])).rows;
    const checked = await checkEngine(ask, demandsOf(options));
    return { ...checked, tables: await findTables(client) };
  } catch (error) {
    throw toRefusal(error, shown);
  } finally {
    await client.end().catch(() => {});
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const certificateCodes =
  /^(?:ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** What the server or the network says, as a sentence for the operator. Never the driver's own words: they may repeat values. */
export function toRefusal(error: unknown, shown: string): StoreRefusal {
  if (error instanceof StoreRefusal) return error;
  return new StoreRefusal('unreachable', sentenceOf(error, shown), { cause: error });
}

function sentenceOf(error: unknown, shown: string): string {
  const code = codeOf(error);
  const said = error instanceof Error ? error.message : '';
  if (certificateCodes.test(code))
    return `The PostgreSQL server at ${shown} does not prove who it is (${code}): name the authority of its certificate in MAYFLY_STORE with ?sslrootcert=PATH, and the server by the name in it.`;
  if (/does not support SSL/.test(said))
    return `The PostgreSQL server at ${shown} does not encrypt: set ssl=on there. On a network that nobody else can reach, MAYFLY_STORE may say ?sslmode=disable.`;
  switch (code) {
    case '28P01':
    case '28000':
      return `The PostgreSQL server at ${shown} does not let this user in (${code}): correct the user or the password in MAYFLY_STORE, or the server’s pg_hba.conf.`;
    case '3D000':
      return `The PostgreSQL server at ${shown} has no such database: create it, for the user of MAYFLY_STORE.`;
    case '42501':
      return `On ${shown} the user of MAYFLY_STORE lacks a right (${code}): let it own the database, or GRANT ALL ON SCHEMA public TO it.`;
    case '53300':
      return `The PostgreSQL server at ${shown} has no connection left (${code}): raise max_connections, or lower MAYFLY_STORE_POOL_SIZE.`;
    case '53100':
      return `The PostgreSQL server at ${shown} has no room left on its disk (${code}): make room.`;
    default:
      return `The PostgreSQL server at ${shown} does not answer${code === '' ? '' : ` (${code})`}: start it, or correct MAYFLY_STORE.`;
  }
}
