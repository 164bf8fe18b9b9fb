/**
 * Reads, decisions, and proof that what they saw is durable.
 *
 * A decision is confirmed if its statement succeeded, no notice arrived on its connection, and the server has not changed since
 * its check (`server-watch.ts`); the query for this is part of the same write, so it runs after the commit. Otherwise the
 * decision is rejected, whether it happened or not (P2), and retried only if the server itself undid it.
 *
 * Where a standby may take over, a server is trusted only while it is known to be in charge: within the last few seconds it must
 * have confirmed that this node saved the time there. Every read requires such a confirmation, and so does every decision, since
 * it may have written nothing. A confirmation from one server proves nothing about rows read from another.
 */
import type { MachineClock, UnixSeconds } from '../../core/time.ts';
import type { EngineDemands } from './boot-checks.ts';
import { type Decided, decideConfirmed, readWithPlace, touch, unconfirmed } from './confirmed.ts';
import { type Connection, openConnection, type Query, type Values } from './connection.ts';
import { faultOf, NotExecutedError } from './faults.ts';
import { createLane, type Lane } from './lane.ts';
import { migrate } from './migrate.ts';
import type { PostgresAddress } from './move-session.ts';
import { assertNotRestored } from './restores.ts';
import { createServerWatch, type EngineStatus, type Place, type ServerWatch } from './server-watch.ts';
import type { Statement } from './statement.ts';
import { createSharedTime, leaseSeconds, type ServerClock, type SharedTime, type TimeRow } from './time.ts';
import { requestWaits } from './waits.ts';

export type { Values } from './connection.ts';
export type { EngineStatus } from './server-watch.ts';

export type LateValues = () => Values | null;

export interface Engine {
  readonly time: SharedTime;
  /**
   * Reads on the primary; `values` begin at `$1`. Rejects as `unavailable` if no server is known to be in charge.
   * @param askedAtMs when the callers began to wait (by `performance.now()`); the call rejects two seconds later. If
   *   absent, it counts against its request (`waits.ts`)
   */
  read<Row>(statement: Statement, values: Values, askedAtMs?: number): Promise<readonly Row[]>;
  /**
   * Runs one statement as one decision (see `decision`); `values` begin at `$3`. Resolves once the decision is as
   * durable as `durability` requires. Rejects as `unavailable` if it is not or may not be, with `NotExecutedError`
   * if nothing happened, and with `ConstraintError` if the tables refused a row.
   * @param lateValues called just before sending, after every wait; returns the values to send instead, or `null` to
   *   send nothing
   */
  decide<Row>(
    statement: Statement,
    values: Values,
    askedAtMs?: number,
    lateValues?: LateValues,
  ): Promise<readonly Row[]>;
  /**
   * Resolves once the rows seen are known to be durable; otherwise rejects as `unavailable`.
   * @param seen the rows returned by `read` or `decide`, or one of them
   * @param since when the state seen began; now if absent
   */
  prove(seen: object, since?: UnixSeconds): Promise<void>;
  status(): EngineStatus;
  close(): Promise<void>;
}

export interface EngineOptions
  extends PostgresAddress,
    Partial<Pick<EngineDemands, 'durability' | 'allowsUnsafe'>> {
  /** The server's clock, updated by each answer, or one driven by a test. */
  readonly clock: ServerClock | MachineClock;
  /** A minute if absent. */
  readonly migrationMs?: number;
  /** At least two: one for decisions, which may wait for a standby, and one for reads. */
  readonly poolSize?: number;
}

/** Time limit for a call, and for all calls of one request together. */
const limitMs = 2_000;
/** Checks may take longer: calls do not wait for a connection to open. */
const checkMs = 5_000;
/** A connection silent for longer is probed before use. */
const silentMs = 1_000;
const maxAttempts = 5;
const maxPauseMs = 20;
const defaultPoolSize = 10;
const readersShare = 0.4;
/** An ending may have been written up to this long after the time that it records. */
const writtenWithinMs = 10_000;
/** For this long after a server confirmed a decision, no successor can have stored anything. */
const authorityMs = 3_000;
/** How often the time is saved: early enough that no read waits for a save. Checked every second. */
const keptEachMs = authorityMs / 2;

/** Copies the bytes, because callers wipe theirs after the call. A buffer's `slice` would share them. */
const ownCopy = (values: Values): Values =>
  values.map((value) => (value instanceof Uint8Array ? new Uint8Array(value) : value));

/** Limits a call made for a request to the time that the request has left. */
function timed<T>(askedAtMs: number | undefined, call: (deadlineMs: number) => Promise<T>): Promise<T> {
  if (askedAtMs !== undefined) return call(askedAtMs + limitMs);
  return requestWaits.count(() => call(requestWaits.beganMs() + limitMs));
}

async function by(deadlineMs: number, shared: Promise<void> | null): Promise<void> {
  if (shared === null) return;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const refusal = new NotExecutedError('There was no time left.', { mayTryAgain: false });
  const timer = setTimeout(() => reject(refusal), Math.max(0, deadlineMs - performance.now()));
  await Promise.race([shared, late]).finally(() => clearTimeout(timer));
}

/** Retries as long as nothing has happened and another attempt may succeed. */
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

/** Lets callers share a run that begins after they asked: while one is running, the next may already be waiting. */
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
  /** `null` while the tables are not up to date. */
  let known: TimeRow | null = null;
  const watch = createServerWatch({ durability, allowsUnsafe, connections: poolSize }, () => known);

  async function open(): Promise<Connection> {
    const connection = await openConnection(address);
    try {
      await watch.check(connection, performance.now() + checkMs);
      return connection;
    } catch (cause) {
      void connection.end();
      throw cause;
    }
  }

  const connection = await open();
  const first = await prepare(connection, watch, options.migrationMs);
  known = first;
  // Answers arrive in any order.
  const latest = () => known ?? first;
  const onConfirmed = (row: TimeRow) => {
    if (row.times_set > latest().times_set || row.seconds > latest().seconds) known = row;
  };
  const readerCount = Math.max(1, Math.floor(poolSize * readersShare));
  const readers = createLane(readerCount, open);
  const writers = createLane(Math.max(1, poolSize - readerCount), open, connection);
  const { time, ...calls } = createCalls({
    readers,
    writers,
    watch,
    clock,
    first,
    known: latest,
    onConfirmed,
  });
  // Saves the time, so that the first decisions need not wait for it and a new store has a saved time.
  await time.beforeDecision()?.catch(() => {});
  return { time, ...calls, status: watch.status, close };

  async function close(): Promise<void> {
    await Promise.all([readers.close(), writers.close()]);
  }
}

/** Migrates, as durably as everything else, and returns the saved time. */
async function prepare(connection: Connection, watch: ServerWatch, migrationMs?: number): Promise<TimeRow> {
  try {
    const isMigrated = await migrate(connection, migrationMs);
    const deadlineMs = performance.now() + limitMs;
    // An earlier version's tables may belong to another role.
    const wereMissing = watch.placeOf(connection)?.records_table === null;
    if (isMigrated || wereMissing) await watch.check(connection, deadlineMs);
    const isKept = await assertNotRestored((text) => connection.run(text, deadlineMs), null);
    if (isMigrated || isKept)
      return (await decideConfirmed(connection, touch, { watch, known: null }, deadlineMs)).row;
    const [reading] = await connection.ask([watch.afterDecision()], deadlineMs);
    if (reading?.status === 'fulfilled') return reading.value[0] as TimeRow;
    throw faultOf(reading?.reason);
  } catch (cause) {
    await connection.end();
    throw cause;
  }
}

interface Parts {
  readonly readers: Lane;
  readonly writers: Lane;
  readonly watch: ServerWatch;
  readonly clock: EngineOptions['clock'];
  readonly first: TimeRow;
  readonly known: () => TimeRow;
  readonly onConfirmed: (row: TimeRow) => void;
}

type Calls = Pick<Engine, 'time' | 'read' | 'decide' | 'prove'>;

interface Answer {
  readonly rows: readonly unknown[];
  readonly server: Place['server_started'];
  readonly connection: Connection;
}

function createCalls({ readers, writers, watch, clock, first, known, onConfirmed }: Parts): Calls {
  const heardAtMs = new WeakMap<Connection, number>();
  /** The server on which rows were seen, in case a proof is needed. */
  const seenOn = new WeakMap<object, Answer['server']>();
  /**
   * When each server's last confirmed save of the time began. A save always writes; a decision that writes nothing
   * waits for no standby, so proves nothing.
   */
  const confirmedFromMs = new Map<Answer['server'], number>();
  let lastKeptMs = Number.NEGATIVE_INFINITY;
  /** Only with synchronous durability may another server take over. */
  const mayBeReplaced = () => watch.status().durability === 'synchronous';
  const msSinceConfirmed = (server: Answer['server']) =>
    performance.now() - (confirmedFromMs.get(server) ?? Number.NEGATIVE_INFINITY);
  const forgetIdle = () => {
    for (const lane of [readers, writers]) lane.forgetIdle();
  };

  const needsProbe = (connection: Connection) =>
    watch.placeOf(connection) === undefined ||
    performance.now() - (heardAtMs.get(connection) ?? Number.NEGATIVE_INFINITY) > silentMs;

  async function probe(connection: Connection, deadlineMs: number): Promise<void> {
    try {
      const before = known();
      const [reading] = await connection.ask(
        [watch.afterDecision()],
        Math.min(deadlineMs, performance.now() + silentMs),
      );
      if (reading?.status !== 'fulfilled') throw reading?.reason;
      const [row] = reading.value;
      if (watch.changeSince(connection, row, before) !== 'none') await watch.check(connection, deadlineMs);
      time.hear(row as TimeRow);
    } catch (cause) {
      void connection.end();
      // The other idle connections may be dead too.
      forgetIdle();
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
  ): Promise<(Answer & Decided) | null> {
    if (needsProbe(connection)) await probe(connection, deadlineMs);
    const values = valuesNow();
    if (values === null) return null;
    const parts = { watch, known: known() };
    const decided = await decideConfirmed(connection, { statement, values }, parts, deadlineMs);
    time.hear(decided.row);
    heardAtMs.set(connection, performance.now());
    return { ...decided, server: decided.row.server_started, connection };
  }

  async function readOn(connection: Connection, query: Query, deadlineMs: number): Promise<Answer> {
    if (needsProbe(connection)) await probe(connection, deadlineMs);
    const { rows, place } = await readWithPlace(connection, query, { watch, known: known() }, deadlineMs);
    return { rows, server: place.server_started, connection };
  }

  async function assertDecides({ server, connection }: Answer, deadlineMs: number): Promise<void> {
    const isKnown = () => !mayBeReplaced() || msSinceConfirmed(server) <= authorityMs;
    if (isKnown()) return;
    await by(deadlineMs, time.keepNow());
    if (isKnown()) return;
    void connection.end();
    forgetIdle();
    throw new NotExecutedError('Another server decides by now.', { mayTryAgain: true });
  }

  function seen<Row>({ rows, server }: Answer): readonly Row[] {
    for (const each of [rows, ...rows]) seenOn.set(each as object, server);
    return rows as readonly Row[];
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
    known,
    isDue: () => mayBeReplaced() && performance.now() - lastKeptMs > keptEachMs,
    async write(statement, values) {
      const fromMs = performance.now();
      const kept = await write(statement, () => values, fromMs + limitMs).catch((fault) => {
        // The address may point to another server by now.
        forgetIdle();
        throw fault;
      });
      if (kept === null) return;
      lastKeptMs = Math.max(lastKeptMs, fromMs);
      confirmedFromMs.set(kept.server, Math.max(confirmedFromMs.get(kept.server) ?? 0, fromMs));
      onConfirmed(kept.row);
    },
  });

  const confirmAnew = createShared(time.keep);

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
        const decided = await write(statement, valuesNow, deadlineMs);
        if (decided === null) return [];
        await assertDecides(decided, deadlineMs).catch((cause) => {
          throw unconfirmed(cause);
        });
        onConfirmed(decided.row);
        return seen<Row>(decided);
      });
    },
    read<Row>(statement: Statement, values: Values, askedAtMs?: number) {
      const query = { statement, values: ownCopy(values) };
      return timed(askedAtMs, async (deadlineMs) => {
        await by(deadlineMs, time.beforeRead());
        return persist(deadlineMs, async () => {
          const answer = await readers.use(deadlineMs, (each) => readOn(each, query, deadlineMs));
          await assertDecides(answer, deadlineMs);
          return seen<Row>(answer);
        });
      });
    },
    async prove(rows, since = time.now()) {
      if (!mayBeReplaced()) return;
      const [server, askedMs] = [seenOn.get(rows), performance.now()];
      // The log is in order: once a save is confirmed, so is everything before it.
      const sinceMs = (time.now() - since) * 1_000;
      if (sinceMs - msSinceConfirmed(server) > writtenWithinMs) return;
      await timed(undefined, (deadlineMs) => by(deadlineMs, confirmAnew()));
      if ((confirmedFromMs.get(server) ?? 0) < askedMs) throw unconfirmed();
    },
  };
}
