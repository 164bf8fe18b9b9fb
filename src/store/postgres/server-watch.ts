/**
 * Watches whether the server, and the store on it, are still those that were checked, after each decision and read on
 * the same connection.
 *
 * A commit waiting for a standby succeeds silently if the list of standby names is emptied during the wait. Either the
 * list shows this or, if it has since been restored, the time of the last reload does: the server gives every backend
 * the new configuration before it ends the waits. A dump loaded over the store creates new tables under the same
 * names, or sets the time back.
 */
import { StoreRefusal } from '../store.ts';
import { type CheckedEngine, checkEngine, type Durability, type EngineDemands } from './boot-checks.ts';
import type { Connection, Query, Values } from './connection.ts';
import { type AskFence, assertNotFenced } from './fence.ts';
import { assertNotRestored, hasGoneBack, type KnownTime } from './restores.ts';
import { type Statement, statement } from './statement.ts';

/** With `engine` durability, nothing is known about the server itself. */
export interface Place {
  /** No two servers start in the same microsecond, and a primary becomes a standby only by restarting. */
  readonly server_started?: number;
  readonly is_standby?: boolean;
  readonly time_table: number | null;
  readonly records_table: number | null;
}

interface Reading extends Place {
  readonly standby_names: string;
  readonly loaded_at: number;
  readonly server_now: number;
}

const serverColumns = `
    extract(epoch FROM pg_postmaster_start_time())::float8 AS server_started, pg_is_in_recovery() AS is_standby`;
const settingColumns = `
    current_setting('synchronous_standby_names') AS standby_names,
    extract(epoch FROM pg_conf_load_time())::float8 AS loaded_at`;
const clockColumn = 'extract(epoch FROM clock_timestamp())::float8 AS server_now';
/** A statement that includes this column, and always returns a row, reports which table it read (`confirmed.ts`). */
export const recordsColumn = "'mayfly_store.records'::regclass::oid::bigint AS records_table";
const storeColumns = `store_time.tableoid::bigint AS time_table, ${recordsColumn}`;
/** During the check, the tables may not exist yet or may not be readable. */
const oidOf = (table: string): string => `
  (SELECT c.oid::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'mayfly_store' AND c.relname = '${table}')`;
const anyStoreColumns = `${oidOf('store_time')} AS time_table, ${oidOf('records')} AS records_table`;

interface Statements {
  readonly atCheck: Statement;
  readonly afterDecision: Query;
  readonly place: Query;
}

const statementsFor = (server: string, settings: string): Statements => ({
  atCheck: statement(`SELECT ${server}${settings}${clockColumn}, ${anyStoreColumns}`),
  afterDecision: {
    statement: statement(
      `SELECT ${server}${settings}${clockColumn}, ${storeColumns}, store_time.* FROM mayfly_store.store_time`,
    ),
    values: [],
  },
  place: {
    statement: statement(`SELECT ${server}${storeColumns}, seconds, times_set FROM mayfly_store.store_time`),
    values: [],
  },
});
const ofServer = statementsFor(`${serverColumns}, `, `${settingColumns}, `);
/** With `engine` durability the server's functions may be missing. */
const ofEngine = statementsFor('', '');

export interface EngineStatus extends CheckedEngine {
  readonly isPooled: boolean;
  readonly refusal: StoreRefusal | null;
}

/** `settings`: the same store on the same server, after a reload of its settings. `place`: anything else. */
export type Change = 'none' | 'settings' | 'place';

export interface ServerWatch {
  /** Rejects with a `StoreRefusal`, or with the driver's error if the server does not respond. */
  check(connection: Connection, deadlineMs: number): Promise<void>;
  /** Queries what `changeSince` judges, the server's clock as `server_now`, and the row of `store_time`. */
  afterDecision(): Query;
  place(): Query;
  /** Returns `undefined` until the connection is checked. */
  placeOf(connection: Connection): Place | undefined;
  /**
   * Anything but `none` means that the connection must be checked again.
   * @param known the saved time known before `row` was queried
   */
  changeSince(connection: Connection, row: unknown, known: KnownTime | null): Change;
  status(): EngineStatus;
}

const isSamePlace = (checked: Place, now: Place): boolean =>
  now.is_standby !== true &&
  now.server_started === checked.server_started &&
  now.time_table === checked.time_table &&
  now.records_table === checked.records_table;

/** Through a pooler, another backend may have loaded the same configuration at a different time. */
const hasSameSettings = (checked: Reading, now: Partial<Reading>, isPooled: boolean): boolean =>
  now.loaded_at === undefined ||
  (now.standby_names === checked.standby_names &&
    (isPooled ? now.loaded_at <= checked.server_now : now.loaded_at === checked.loaded_at));

/** @param known `null` while the tables are not up to date */
export function createServerWatch(demands: EngineDemands, known: () => KnownTime | null): ServerWatch {
  const readings = new WeakMap<Connection, Reading>();
  let durability: Durability | null = demands.durability;
  let status: EngineStatus | null = null;
  const statements = () => (durability === 'engine' ? ofEngine : ofServer);

  async function check(connection: Connection, deadlineMs: number): Promise<void> {
    readings.delete(connection);
    const ask = async (text: string, values: Values) => {
      const [reply] = await connection.ask([{ statement: statement(text), values }], deadlineMs);
      if (reply?.status === 'fulfilled') return reply.value;
      throw reply?.reason;
    };
    // Read first, so that a later comparison reveals a change during the check.
    const [reading] = (await ask(statements().atCheck.text, [])) as Reading[];
    const checked = await checkEngine(ask, { ...demands, durability });
    const time = known();
    if (time !== null) await checkStore((text) => connection.run(text, deadlineMs), time);
    durability = checked.durability;
    status = { ...checked, isPooled: connection.isPooled, refusal: null };
    if (reading !== undefined) readings.set(connection, reading);
  }

  async function checkStore(run: AskFence, time: KnownTime): Promise<void> {
    await assertNotFenced(run);
    await assertNotRestored(run, time);
  }

  return {
    async check(connection, deadlineMs) {
      try {
        await check(connection, deadlineMs);
      } catch (cause) {
        if (status !== null && cause instanceof StoreRefusal) status = { ...status, refusal: cause };
        throw cause;
      }
    },
    afterDecision: () => statements().afterDecision,
    place: () => statements().place,
    placeOf: (connection) => readings.get(connection),
    changeSince(connection, row, before) {
      const checked = readings.get(connection);
      const now = row as (Reading & KnownTime) | undefined;
      const isHere =
        checked !== undefined &&
        now !== undefined &&
        isSamePlace(checked, now) &&
        (before === null || !hasGoneBack(now, before));
      if (isHere && hasSameSettings(checked, now, connection.isPooled)) return 'none';
      readings.delete(connection);
      return isHere ? 'settings' : 'place';
    },
    status() {
      if (status === null) throw new Error('The server was not checked yet.');
      return status;
    },
  };
}
