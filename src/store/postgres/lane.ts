/**
 * A fixed number of connections, opened on demand. A dropped connection keeps its place until the server has released
 * it, so a node never has more backends than it is allowed.
 */
import { StoreRefusal } from '../store.ts';
import type { Connection } from './connection.ts';
import { NotExecutedError } from './faults.ts';

export interface Lane {
  /** Rejects as not executed if no connection is free by `deadlineMs` (in `performance.now()` time). */
  use<T>(deadlineMs: number, work: (connection: Connection) => Promise<T>): Promise<T>;
  forgetIdle(): void;
  close(): Promise<void>;
}

interface Caller {
  readonly give: (connection: Connection) => void;
  readonly refuse: (cause: unknown) => void;
}

const pauseMs = 100;
/** After this long without a connection, callers wait only for the next attempt to open one. */
const outageMs = 2_000;

export function createLane(size: number, open: () => Promise<Connection>, first?: Connection): Lane {
  const callers = new Set<Caller>();
  const idle: Connection[] = first === undefined ? [] : [first];
  const connections = new Set(idle);
  let opening = 0;
  let isPausing = false;
  let isClosed = false;
  let failingSinceMs: number | null = null;
  const emptied = Promise.withResolvers<void>();

  const refuseAll = (cause: unknown) => {
    for (const { refuse } of [...callers]) refuse(cause);
  };

  function fill(): void {
    const needed = callers.size - opening;
    const free = size - connections.size - opening;
    if (isPausing || isClosed) return;
    for (let count = Math.min(needed, free); count > 0; count -= 1) void add();
  }

  async function add(): Promise<void> {
    opening += 1;
    try {
      const connection = await open();
      failingSinceMs = null;
      connections.add(connection);
      release(connection);
    } catch (cause) {
      noteFailure(cause);
    } finally {
      opening -= 1;
      goOn();
    }
  }

  function goOn(): void {
    if (isClosed && connections.size + opening === 0) emptied.resolve();
    fill();
  }

  function noteFailure(cause: unknown): void {
    failingSinceMs ??= performance.now();
    const isOutage = connections.size === 0 && performance.now() - failingSinceMs > outageMs;
    if (cause instanceof StoreRefusal || isOutage) refuseAll(cause);
    if (isPausing) return;
    isPausing = true;
    setTimeout(() => {
      isPausing = false;
      fill();
    }, pauseMs);
  }

  function release(connection: Connection): void {
    if (isClosed || !connection.isUsable()) return void drop(connection);
    const [next] = callers;
    if (next === undefined) idle.push(connection);
    else next.give(connection);
  }

  async function drop(connection: Connection): Promise<void> {
    await connection.end();
    connections.delete(connection);
    goOn();
  }

  function takeIdle(): Connection | null {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.isUsable()) return connection;
      void drop(connection);
    }
    return null;
  }

  function acquire(deadlineMs: number): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const refuse = (cause: unknown) => {
      leave();
      reject(new NotExecutedError('There is no connection to PostgreSQL.', { mayTryAgain: false, cause }));
    };
    const timer = setTimeout(refuse, Math.max(0, deadlineMs - performance.now()));
    const caller: Caller = {
      give(connection) {
        leave();
        resolve(connection);
      },
      refuse,
    };
    const leave = () => {
      callers.delete(caller);
      clearTimeout(timer);
    };
    callers.add(caller);
    fill();
    return promise;
  }

  function forgetIdle(): void {
    for (const connection of idle.splice(0)) void drop(connection);
  }

  return {
    forgetIdle,
    async use(deadlineMs, work) {
      if (isClosed) throw new NotExecutedError('The store is closed.', { mayTryAgain: false });
      const connection = takeIdle() ?? (await acquire(deadlineMs));
      try {
        return await work(connection);
      } finally {
        release(connection);
      }
    },
    async close() {
      isClosed = true;
      refuseAll(new Error('The store was closed.'));
      forgetIdle();
      goOn();
      await emptied.promise;
    },
  };
}
