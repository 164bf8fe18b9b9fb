/**
 * What the stores' statements ask of the engine: reads, decisions and proof that what was seen is durable.
 *
 * A decision is confirmed when its statement succeeded, no notice came on its connection meanwhile, and the server, asked in the
 * same write and so after the commit, is still as it was checked (`server-watch.ts`). What is not confirmed is rejected, whether it
 * happened or not (P2), and is not tried again unless the server itself undid it.
 */
import type { ConnectionOptions } from 'node:tls';
import { ServiceError } from '../../core/errors.ts';
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import type { EngineDemands } from './boot-checks.ts';
import { type Connection, openConnection, type Replies, type Values } from './connection.ts';
import { faultOf, isLostConnection, NotExecutedError } from './faults.ts';
import { createLane, type Lane } from './lane.ts';
import { migrate } from './migrate.ts';
import { assertNotRestored } from './restores.ts';
import { createServerWatch, type EngineStatus, type ServerWatch } from './server-watch.ts';
import type { Statement } from './statement.ts';
import { createSharedTime, leaseSeconds, type ServerClock, type SharedTime, type TimeRow } from './time.ts';
import { requestWaits } from './waits.ts';

export type { Values } from './connection.ts';
export type { EngineStatus } from './server-watch.ts';

export type LateValues = () => Values | null;

export interface Engine {
  /** Store time as this node knows it. */
  readonly time: SharedTime;
  /**
   * Reads on the primary. `$1` is the first of `values`.
   * @param askedAtMs when the callers began to wait (of `performance.now()`): two seconds later it is rejected. Without it the call
   * is one of its request's, which has two seconds for all of them (`waits.ts`)
   */
  read<Row>(statement: Statement, values: Values, askedAtMs?: number): Promise<readonly Row[]>;
  /**
   * One statement, one decision (see `decision`): `values` begin at `$3`. Resolves when it is durable at the store's
   * class; rejects as `unavailable` when it is not, or when that is in doubt, with `NotExecutedError` when nothing happened,
   * and with `ConstraintError` when the tables refused a row.
   * @param lateValues asked after every wait, right before it is sent, for what is sent in place of `values`; `null` sends nothing
   */
  decide<Row>(
    statement: Statement,
    values: Values,
    askedAtMs?: number,
    lateValues?: LateValues,
  ): Promise<readonly Row[]>;
  /** Resolves when a state that was seen to have ended at this time is known to be durable; rejects as `unavailable`. */
  prove(endedAt: UnixSeconds): Promise<void>;
  /**
   * Resolves when this server was the one that decides a moment ago; rejects as `unavailable`. What an old primary does not have
   * may have been stored elsewhere since.
   */
  proveAbsence(): Promise<void>;
  status(): EngineStatus;
  /** Resolves when what is under way has ended, with every connection. */
  close(): Promise<void>;
}

export interface EngineOptions extends Partial<Pick<EngineDemands, 'durability' | 'allowsUnsafe'>> {
  readonly url: string;
  /** `false`, the default: not encrypted. */
  readonly tls?: ConnectionOptions | false;
  /** The schema that stands for `mayfly_store`, so that many tests share a server. */
  readonly schema?: string;
  /** The server's clock, which is heard with each answer; or one that a test drives, which is taken for the server's. */
  readonly clock: ServerClock | MachineClock;
  /** How many connections it may have, at least two: for decisions, which may wait for a standby, and for reads. */
  readonly poolSize?: number;
}

/** Every call is answered within this, and so are all of a request together. */
const limitMs = 2_000;
/** Opening a connection may take longer, because the calls do not wait for it. */
const checkMs = 5_000;
/** A connection that was silent for longer is asked whether it is there before it decides. */
const silentMs = 1_000;
const maxAttempts = 5;
const maxPauseMs = 20;
const defaultPoolSize = 10;
/** Of all connections. */
const readersShare = 0.4;
/** A state may have been written so much later than it says that it ended. */
const writtenWithinMs = 10_000;
/** A server that has just confirmed a decision has no successor yet that anything was stored on. */
const authorityMs = 3_000;

/** Callers wipe their bytes as soon as they have asked. A buffer's `slice` would share them. */
const ownCopy = (values: Values): Values =>
  values.map((value) => (value instanceof Uint8Array ? new Uint8Array(value) : value));

/** Runs a call, with its deadline: within the time that its request has left, if it is one request's alone. */
function timed<T>(askedAtMs: number | undefined, call: (deadlineMs: number) => Promise<T>): Promise<T> {
  if (askedAtMs !== undefined) return call(askedAtMs + limitMs);
  return requestWaits.count(() => call(requestWaits.beganMs() + limitMs));
}

/** What others wait for as well goes on after the deadline. */
async function by(deadlineMs: number, shared: Promise<void> | null): Promise<void> {
  if (shared === null) return;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const refusal = new NotExecutedError('There was no time left.', { mayTryAgain: false });
  const timer = setTimeout(() => reject(refusal), Math.max(0, deadlineMs - performance.now()));
  await Promise.race([shared, late]).finally(() => clearTimeout(timer));
}

/** Once more while nothing has happened and it may succeed. */
async function persist<T>(deadlineMs: number, attempt: () => Promise<T>): Promise<T> {
  for (let left = maxAttempts - 1; ; left -= 1) {
    try {
      return await attempt();
    } catch (fault) {
      const isHopeful = fault instanceof NotExecutedError && fault.mayTryAgain && left > 0;
      if (!isHopeful || performance.now() > deadlineMs) throw fault;
    }
    await new Promise((resume) => setTimeout(resume, Math.random() * maxPauseMs));
  }
}

/** Many who ask for one thing, and it begins after each has asked: at most one runs, and one waits to. */
function createShared(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        running = run();
        return running;
      });
    return next;
  };
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { url, tls = false, schema, clock, durability = null, allowsUnsafe = false } = options;
  const poolSize = options.poolSize ?? defaultPoolSize;
  const address = { url, tls, ...(schema !== undefined && { schema }) };
  const watch = createServerWatch({ durability, allowsUnsafe, connections: poolSize });

  /** The row of the time after the last confirmed decision; `null` while the tables are not up to date. */
  let known: TimeRow | null = null;

  async function open(): Promise<Connection> {
    const connection = await openConnection(address);
    try {
      const deadlineMs = performance.now() + checkMs;
      await watch.check(connection, deadlineMs);
      if (known !== null) await assertNotRestored((text) => connection.run(text, deadlineMs), known);
      return connection;
    } catch (cause) {
      void connection.end();
      throw cause;
    }
  }

  const connection = await open();
  const first = await prepare(connection, watch);
  known = first;
  // Answers come in any order.
  const onConfirmed = (row: TimeRow) => {
    if (known === null || row.times_set > known.times_set || row.seconds > known.seconds) known = row;
  };
  const readerCount = Math.max(1, Math.floor(poolSize * readersShare));
  const readers = createLane(readerCount, open);
  const writers = createLane(Math.max(1, poolSize - readerCount), open, connection);
  const { time, ...calls } = createCalls({ readers, writers, watch, clock, first, onConfirmed });
  // The first decisions need not wait for it, and a store that was made just now has a time.
  await time.beforeDecision()?.catch(() => {});
  return { time, ...calls, status: watch.status, close };

  async function close(): Promise<void> {
    await Promise.all([readers.close(), writers.close()]);
  }
}

/** Brings the tables up to date, as durably as everything else. What is kept of the time. */
async function prepare(connection: Connection, watch: ServerWatch): Promise<TimeRow> {
  try {
    const noticesBefore = connection.noticeCount();
    const isMigrated = await migrate(connection);
    const deadlineMs = performance.now() + limitMs;
    const isKept = await assertNotRestored((text) => connection.run(text, deadlineMs), null);
    // What an earlier version has made may be another role's.
    if (isMigrated) await watch.check(connection, deadlineMs);
    const isNew = isMigrated || isKept;
    const [reading] = await connection.ask([watch.reading()], deadlineMs);
    if (isNew) return confirmed(watch, connection, reading, noticesBefore);
    if (reading?.status === 'fulfilled') return reading.value[0] as TimeRow;
    throw faultOf(reading?.reason);
  } catch (cause) {
    await connection.end();
    throw cause;
  }
}

/** The server as it is after a decision, which it confirms. */
function confirmed(
  watch: ServerWatch,
  connection: Connection,
  reading: Replies[number] | undefined,
  noticesBefore: number,
): TimeRow {
  if (connection.noticeCount() === noticesBefore && reading?.status === 'fulfilled') {
    const [row] = reading.value;
    if (watch.isAsChecked(connection, row)) return row as TimeRow;
  }
  throw new ServiceError('unavailable', 'PostgreSQL did not confirm a decision.');
}

interface Parts {
  readonly readers: Lane;
  readonly writers: Lane;
  readonly watch: ServerWatch;
  readonly clock: EngineOptions['clock'];
  readonly first: TimeRow;
  /** Called with what is kept of the time after each confirmed decision. */
  readonly onConfirmed: (row: TimeRow) => void;
}

type Calls = Pick<Engine, 'time' | 'read' | 'decide' | 'prove' | 'proveAbsence'>;

function createCalls({ readers, writers, watch, clock, first, onConfirmed }: Parts): Calls {
  const heardAtMs = new WeakMap<Connection, number>();
  /**
   * When the last confirmed keeping of time began, and on which server. It always writes; a decision that finds nothing to write
   * waits for no standby, and proves nothing.
   */
  let lastConfirmed = { fromMs: Number.NEGATIVE_INFINITY, serverStart: watch.serverStart() };

  const needsProbe = (connection: Connection) =>
    !watch.isChecked(connection) ||
    performance.now() - (heardAtMs.get(connection) ?? Number.NEGATIVE_INFINITY) > silentMs;

  /** That it is there and as it was checked, before anything depends on it. */
  async function probe(connection: Connection, deadlineMs: number): Promise<void> {
    try {
      const [reading] = await connection.ask(
        [watch.reading()],
        Math.min(deadlineMs, performance.now() + silentMs),
      );
      if (reading?.status !== 'fulfilled') throw reading?.reason;
      if (!watch.isAsChecked(connection, reading.value[0])) await watch.check(connection, deadlineMs);
      time.hear(reading.value[0] as TimeRow);
    } catch (cause) {
      void connection.end();
      // The others may be as dead, and are not asked one by one.
      for (const lane of [readers, writers]) lane.forgetIdle();
      throw new NotExecutedError('A connection to PostgreSQL is of no use any more.', {
        mayTryAgain: true,
        cause,
      });
    }
    heardAtMs.set(connection, performance.now());
  }

  async function decideOn(
    connection: Connection,
    statement: Statement,
    valuesNow: LateValues,
    deadlineMs: number,
  ) {
    if (needsProbe(connection)) await probe(connection, deadlineMs);
    const noticesBefore = connection.noticeCount();
    const values = valuesNow();
    if (values === null) return [];
    const [decided, reading] = await connection.ask([{ statement, values }, watch.reading()], deadlineMs);
    if (decided?.status !== 'fulfilled') throw faultOf(decided?.reason);
    const row = confirmed(watch, connection, reading, noticesBefore);
    onConfirmed(row);
    time.hear(row);
    heardAtMs.set(connection, performance.now());
    return decided.value;
  }

  async function readOn(connection: Connection, statement: Statement, values: Values, deadlineMs: number) {
    if (needsProbe(connection)) await probe(connection, deadlineMs);
    const [reply] = await connection.ask([{ statement, values }], deadlineMs);
    if (reply?.status === 'fulfilled') return reply.value;
    if (!isLostConnection(reply?.reason)) throw faultOf(reply?.reason);
    // A read may be tried again, whatever became of it.
    throw new NotExecutedError('A read was cut.', { mayTryAgain: true, cause: reply?.reason });
  }

  const write = (statement: Statement, valuesNow: LateValues, deadlineMs: number) =>
    persist(deadlineMs, () =>
      writers.use(deadlineMs, (connection) => decideOn(connection, statement, valuesNow, deadlineMs)),
    );

  const time = createSharedTime(clock, first, {
    leaseSeconds: 'hear' in clock ? leaseSeconds : 0,
    read() {
      const deadlineMs = performance.now() + limitMs;
      return persist(deadlineMs, () =>
        readers.use(deadlineMs, (connection) => probe(connection, deadlineMs)),
      );
    },
    async write(statement, values) {
      const [fromMs, serverStart] = [performance.now(), watch.serverStart()];
      await write(statement, () => values, fromMs + limitMs);
      lastConfirmed = { fromMs: Math.max(lastConfirmed.fromMs, fromMs), serverStart };
    },
  });

  const confirmAnew = createShared(time.keep);
  /** Where only what is durable is seen, all of it always was. */
  function confirmedMsAgo(): number {
    const { durability } = watch.status();
    if (durability !== 'synchronous') return Number.NEGATIVE_INFINITY;
    const isOfThisServer = lastConfirmed.serverStart === watch.serverStart();
    return isOfThisServer ? performance.now() - lastConfirmed.fromMs : Number.POSITIVE_INFINITY;
  }

  return {
    time,
    decide<Row>(statement: Statement, values: Values, askedAtMs?: number, lateValues?: LateValues) {
      const copy = ownCopy(values);
      return timed(askedAtMs, async (deadlineMs) => {
        await by(deadlineMs, time.beforeDecision());
        const valuesNow = () => {
          const sent = lateValues === undefined ? copy : lateValues();
          return sent === null ? null : [...time.ofDecision(), ...sent];
        };
        return (await write(statement, valuesNow, deadlineMs)) as readonly Row[];
      });
    },
    read<Row>(statement: Statement, values: Values, askedAtMs?: number) {
      const copy = ownCopy(values);
      return timed(askedAtMs, async (deadlineMs) => {
        await by(deadlineMs, time.beforeRead());
        const attempt = () =>
          readers.use(deadlineMs, (connection) => readOn(connection, statement, copy, deadlineMs));
        return (await persist(deadlineMs, attempt)) as readonly Row[];
      });
    },
    async prove(endedAt) {
      // The log is written in order, so whatever a confirmed decision follows is as durable as it is.
      const endedMsAgo = (time.now() - endedAt) * 1_000;
      if (endedMsAgo - confirmedMsAgo() <= writtenWithinMs)
        await timed(undefined, (deadlineMs) => by(deadlineMs, confirmAnew()));
    },
    async proveAbsence() {
      if (confirmedMsAgo() > authorityMs)
        await timed(undefined, (deadlineMs) => by(deadlineMs, confirmAnew()));
    },
  };
}
