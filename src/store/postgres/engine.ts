/** What the stores' statements ask of the engine: reads, decisions and proof that what was seen is durable. */
import pg from 'pg';
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import { createStoreTime, type StoreTime } from '../store-time.ts';
import { migrate } from './migrate.ts';
import type { ServerOptions } from './server.ts';
import type { Statement } from './statement.ts';

export type Values = readonly unknown[];

export interface Engine {
  /** Store time as this node knows it. */
  readonly time: StoreTime;
  /** Reads on the primary. `$1` is the first of `values`. */
  read<Row>(statement: Statement, values: Values): Promise<readonly Row[]>;
  /**
   * One statement, one decision (see `decision`): `values` begin at `$3`. Resolves when it is durable at the
   * store's class; rejects as `unavailable` when it is not, or when that is in doubt.
   */
  decide<Row>(statement: Statement, values: Values): Promise<readonly Row[]>;
  /** Resolves when a state that was seen to have ended at this time is known to be durable; rejects as `unavailable`. */
  prove(endedAt: UnixSeconds): Promise<void>;
  close(): Promise<void>;
}

export interface EngineOptions extends ServerOptions {
  /** The schema that the tables are in; the connection's own if absent. */
  readonly schema?: string;
  readonly clock: MachineClock;
}

const bytea = 17;
const int8 = 20;

/** Whole numbers of 64 bits are below 2^53 here, and bytes are plain. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: never) => unknown {
    if (oid === int8) return Number as (value: never) => unknown;
    const parse = pg.types.getTypeParser(oid, format as 'text');
    if (oid !== bytea) return parse as (value: never) => unknown;
    return (value: never) => new Uint8Array(parse(value) as unknown as Buffer);
  },
};

export async function openEngine({ url, ssl = false, schema, clock }: EngineOptions): Promise<Engine> {
  const pool = new pg.Pool({
    connectionString: url,
    ssl,
    max: 8,
    types: types as pg.CustomTypesConfig,
    ...(schema !== undefined && { options: `-c search_path=${schema}` }),
  });
  await migrate(pool);
  const time = createStoreTime(clock, null);
  const run = async <Row>({ name, text }: Statement, values: Values): Promise<readonly Row[]> =>
    (await pool.query({ name, text, values: [...values] })).rows as Row[];
  return {
    time,
    read: run,
    decide: (statement, values) => run(statement, [time.now(), 0, ...values]),
    prove: async () => {},
    close: () => pool.end(),
  };
}
