/** What the stores' statements ask of the engine: reads, decisions and proof that what was seen is durable. */
import pg from 'pg';
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import { migrate } from './migrate.ts';
import { type Statement, statement } from './statement.ts';
import { createSharedTime, type SharedTime, type TimeRow, timeColumns } from './time.ts';

export type Values = readonly unknown[];

export interface Engine {
  /** Store time as this node knows it. */
  readonly time: SharedTime;
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

export interface EngineOptions {
  readonly url: string;
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

export async function openEngine({ url, schema, clock }: EngineOptions): Promise<Engine> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    types: types as pg.CustomTypesConfig,
    ...(schema !== undefined && { options: `-c search_path=${schema}` }),
  });
  await migrate(pool);
  const run = async <Row>({ name, text }: Statement, values: Values): Promise<readonly Row[]> =>
    (await pool.query({ name, text, values: [...values] })).rows as Row[];
  const selectTime = statement(`SELECT ${timeColumns} FROM store_time`);
  const rowOfTime = async () => {
    const [row] = await run<TimeRow>(selectTime, []);
    if (row === undefined) throw new Error('the store has lost its time');
    return row;
  };
  const hear = async () => time.hear(await rowOfTime());
  const time: SharedTime = createSharedTime(
    clock,
    await rowOfTime(),
    {
      read: hear,
      async write(statement, values) {
        await run(statement, values);
        await hear();
      },
    },
    0,
  );
  return {
    time,
    async read(statement, values) {
      await time.beforeRead();
      return run(statement, values);
    },
    async decide<Row>(statement: Statement, values: Values) {
      await time.beforeDecision();
      const rows = await run<Row>(statement, [...time.ofDecision(), ...values]);
      await hear();
      return rows;
    },
    prove: async () => {},
    close: () => pool.end(),
  };
}
