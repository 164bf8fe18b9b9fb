import pg from 'pg';
import { ServiceError } from '../../core/errors.ts';
import { StoreRefusal } from '../store.ts';
import { type AskEngine, type CheckedEngine, checkEngine } from './boot-checks.ts';
import { openConnection } from './connection.ts';
import type { EngineOptions } from './engine.ts';
import { migrations } from './migrate.ts';
import { statement } from './statement.ts';

export type ServerOptions = Required<
  Pick<EngineOptions, 'url' | 'tls' | 'durability' | 'poolSize' | 'allowsUnsafe'>
>;

const probeLimitMs = 5_000;

/** `older`: the next server that starts brings the tables up to date. */
export type FoundTables = 'none' | 'older' | 'up_to_date';

export interface ServerFacts extends CheckedEngine {
  readonly tables: FoundTables;
}

/** Looks where versions before own-schema.sql created their tables. */
const selectEarlier = `
  SET LOCAL search_path TO DEFAULT;
  SELECT pg_catalog.to_regclass('store_place')::pg_catalog.oid AS earlier`;

async function hasEarlier(run: (text: string) => Promise<readonly unknown[]>): Promise<boolean> {
  const [row] = await run(selectEarlier);
  return (row as { earlier: number | null }).earlier !== null;
}

async function findTables(
  ask: AskEngine,
  run: (text: string) => Promise<readonly unknown[]>,
): Promise<FoundTables> {
  const [named] = (await ask("SELECT to_regclass('mayfly_store.migrations') IS NOT NULL AS found", [])) as {
    found: boolean;
  }[];
  if (named?.found !== true) return (await hasEarlier(run)) ? 'older' : 'none';
  const [kept] = (await ask('SELECT done FROM mayfly_store.migrations', [])) as { done: number }[];
  const done = kept?.done ?? 0;
  if (done > migrations.length)
    throw new StoreRefusal(
      'newer_schema',
      `The data was written by a later version of Mayfly (schema ${done}, this one knows ${migrations.length}). ` +
        'Run that version or a later one.',
    );
  return done === 0 ? 'none' : done < migrations.length ? 'older' : 'up_to_date';
}

/** Changes nothing. Rejects with a `StoreRefusal` that says what to do. @param shown the address without password */
export async function probeServer(options: ServerOptions, shown: string): Promise<ServerFacts> {
  const { url, tls, durability, allowsUnsafe, poolSize: connections } = options;
  try {
    const connection = await openConnection({ url, tls });
    const deadlineMs = performance.now() + probeLimitMs;
    const ask: AskEngine = async (text, values) => {
      const [reply] = await connection.ask([{ statement: statement(text), values }], deadlineMs);
      if (reply?.status === 'fulfilled') return reply.value;
      throw reply?.reason;
    };
    try {
      const checked = await checkEngine(ask, { durability, connections, allowsUnsafe });
      return { ...checked, tables: await findTables(ask, (text) => connection.run(text, deadlineMs)) };
    } finally {
      await connection.end();
    }
  } catch (error) {
    throw toRefusal(error, shown);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const certificateCodes =
  /^(?:ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA)/;

const noEncryption = /does not support SSL/;

/** Returns a refusal for the operator, never in the driver's own words, which may repeat values. */
export function toRefusal(error: unknown, shown: string): StoreRefusal {
  if (error instanceof StoreRefusal) return error;
  if (error instanceof ServiceError)
    return new StoreRefusal('away', unconfirmedWords(shown), { cause: error });
  return new StoreRefusal(isAway(error) ? 'away' : 'unreachable', sentenceOf(error, shown), { cause: error });
}

/** Whether the server is starting, stopping or full (classes 08, 53 and 57), rather than refusing us. */
function isAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(?:08|53|57)/.test(codeOf(error));
  return !certificateCodes.test(codeOf(error)) && !noEncryption.test(String(error));
}

const unconfirmedWords = (shown: string): string =>
  `The PostgreSQL server at ${shown} does not confirm in time that something is stored. See whether it is overloaded, whether its ` +
  'disk has room, and whether the standby of synchronous_standby_names is connected (SELECT * FROM pg_stat_replication).';

function sentenceOf(error: unknown, shown: string): string {
  const code = codeOf(error);
  const said = error instanceof Error ? error.message : '';
  if (certificateCodes.test(code))
    return `The PostgreSQL server at ${shown} does not prove who it is (${code}): name the authority of its certificate in MAYFLY_STORE with ?sslrootcert=PATH, and the server by the name in it.`;
  if (noEncryption.test(said))
    return `The PostgreSQL server at ${shown} does not encrypt: set ssl=on there. On a network that nobody else can reach, MAYFLY_STORE may say ?sslmode=disable.`;
  switch (code) {
    case '28P01':
    case '28000':
      return `The PostgreSQL server at ${shown} does not let this user in (${code}): correct the user or the password in MAYFLY_STORE, or the server’s pg_hba.conf.`;
    case '3D000':
      return `The PostgreSQL server at ${shown} has no such database: create it, for the user of MAYFLY_STORE.`;
    case '42501':
      return `On ${shown} the user of MAYFLY_STORE lacks a right (${code}): run CREATE SCHEMA mayfly_store AUTHORIZATION that user; as a superuser in its database. Tables of an earlier version must be that user’s own.`;
    case '53300':
      return `The PostgreSQL server at ${shown} has no connection left (${code}): raise max_connections, or lower MAYFLY_STORE_POOL_SIZE.`;
    case '53100':
      return `The PostgreSQL server at ${shown} has no room left on its disk (${code}): make room.`;
    default:
      return `The PostgreSQL server at ${shown} does not answer${code === '' ? '' : ` (${code})`}: start it, or correct MAYFLY_STORE.`;
  }
}
