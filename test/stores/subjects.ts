/**
 * Stores to run checks on: the real ones, opened fresh, each with a wall clock of its own.
 */
import { Database } from 'bun:sqlite';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { createSettableClock, type StoreUnderTest } from './conformance/check.ts';
import { createMemoryStore } from './memory.ts';

export async function openMemorySubject(): Promise<StoreUnderTest> {
  const wallClock = createSettableClock();
  return { store: createMemoryStore({ clock: wallClock }), wallClock, close: async () => {} };
}

/** Small, because a fresh one is written for every store that a test opens. */
export const testBallastBytes = 256 * 1024;

/**
 * A new folder in memory where the system has room for it: what a store answers does not depend on its disk, and a sync
 * there takes most of a check's time. What depends on the disk is proven in test/faults.
 */
async function makeFolder(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null);
  const hasRoom = memory !== null && memory.bavail * memory.bsize >= leastMemoryBytes;
  return mkdtemp(join(hasRoom ? '/dev/shm' : tmpdir(), 'mayfly-'));
}

/** Containers often have 64 MiB; the largest store here takes a tenth of it. */
const leastMemoryBytes = 48 * 1024 * 1024;

export interface SqliteSubject extends Required<StoreUnderTest> {
  readonly directory: string;
}

export async function openSqliteSubject(): Promise<SqliteSubject> {
  const directory = await makeFolder();
  const wallClock = createSettableClock();
  const open = () => openSqliteStore({ directory, clock: wallClock, ballastBytes: testBallastBytes });
  const stores = [await open()];
  return {
    directory,
    store: stores[0] ?? (await open()),
    wallClock,
    async reopen() {
      // The first store is left as it is, with its connections open: an orderly end is what a crash does not give.
      const store = await open();
      stores.push(store);
      return store;
    },
    holdWrites() {
      const other = new Database(join(directory, 'mayfly.db'), { readwrite: true });
      other.run('BEGIN IMMEDIATE');
      return () => {
        other.run('ROLLBACK');
        other.close();
      };
    },
    async close() {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
