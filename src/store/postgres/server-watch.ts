/**
 * Whether the server is still the one that the boot checks approved, asked after each decision on its own connection.
 *
 * A commit that waits for a standby succeeds without a word when the standbys' names are emptied meanwhile. The names show that,
 * and where they are back by then, the time of the last reload does: the server gives every backend the new configuration before
 * it ends the waits.
 */
import { StoreRefusal } from '../store.ts';
import { type CheckedEngine, checkEngine, type Durability, type EngineDemands } from './boot-checks.ts';
import type { Connection, Query, Values } from './connection.ts';
import { statement } from './statement.ts';

/** The server as a statement found it. */
interface Reading {
  readonly server_started: number;
  readonly standby_names: string;
  readonly loaded_at: number;
  readonly server_now: number;
  readonly is_standby: boolean;
}

const serverColumns = `
    extract(epoch FROM pg_postmaster_start_time())::float8 AS server_started,
    current_setting('synchronous_standby_names') AS standby_names,
    extract(epoch FROM pg_conf_load_time())::float8 AS loaded_at,
    extract(epoch FROM clock_timestamp())::float8 AS server_now,
    pg_is_in_recovery() AS is_standby`;

/** What the operator vouches for need not have a server's functions. */
const clockColumn = 'extract(epoch FROM clock_timestamp())::float8 AS server_now';

const selectServer = statement(`SELECT ${serverColumns}`);
const selectServerAndTime: Query = {
  statement: statement(`SELECT ${serverColumns}, store_time.* FROM mayfly_store.store_time`),
  values: [],
};
const selectTime: Query = {
  statement: statement(`SELECT ${clockColumn}, store_time.* FROM mayfly_store.store_time`),
  values: [],
};

export interface EngineStatus extends CheckedEngine {
  /** Through a pooler. */
  readonly isPooled: boolean;
  /** Why the server is not used at present; `null` when it is. */
  readonly refusal: StoreRefusal | null;
}

export interface ServerWatch {
  /** Rejects with a `StoreRefusal` that says what to change, and with the driver's error where the server does not answer. */
  check(connection: Connection, deadlineMs: number): Promise<void>;
  /** What `isAsChecked` judges, beside the server's clock as `server_now` and the row of `store_time`. */
  reading(): Query;
  /** Whether nothing has changed since it was checked. */
  isChecked(connection: Connection): boolean;
  /** Where it is not, the connection is to be checked again. */
  isAsChecked(connection: Connection, row: unknown): boolean;
  /** Which server was checked last, and which start of it; `null` where the operator vouches for the engine. */
  serverStart(): number | null;
  status(): EngineStatus;
}

/** Through a pooler the backend may be another one, which loaded the same configuration at a moment of its own. */
function isSame(checked: Reading, now: Reading, isPooled: boolean): boolean {
  return (
    !now.is_standby &&
    now.server_started === checked.server_started &&
    now.standby_names === checked.standby_names &&
    (isPooled ? now.loaded_at <= checked.server_now : now.loaded_at === checked.loaded_at)
  );
}

export function createServerWatch(demands: EngineDemands): ServerWatch {
  const readings = new WeakMap<Connection, Reading>();
  let durability: Durability | null = demands.durability;
  let status: EngineStatus | null = null;
  let serverStart: number | null = null;

  async function check(connection: Connection, deadlineMs: number): Promise<void> {
    const ask = async (text: string, values: Values) => {
      const [reply] = await connection.ask([{ statement: statement(text), values }], deadlineMs);
      if (reply?.status === 'fulfilled') return reply.value;
      throw reply?.reason;
    };
    // Read before the settings are, so that a reload between the two shows later.
    const [reading] = durability === 'engine' ? [] : ((await ask(selectServer.text, [])) as Reading[]);
    const checked = await checkEngine(ask, { ...demands, durability });
    durability = checked.durability;
    status = { ...checked, isPooled: connection.isPooled, refusal: null };
    if (reading === undefined) return;
    readings.set(connection, reading);
    serverStart = reading.server_started;
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
    reading: () => (durability === 'engine' ? selectTime : selectServerAndTime),
    isChecked: (connection) => durability === 'engine' || readings.has(connection),
    isAsChecked(connection, row) {
      if (durability === 'engine') return true;
      const checked = readings.get(connection);
      if (checked !== undefined && isSame(checked, row as Reading, connection.isPooled)) return true;
      readings.delete(connection);
      return false;
    },
    serverStart: () => serverStart,
    status() {
      if (status === null) throw new Error('The server was not checked yet.');
      return status;
    },
  };
}
