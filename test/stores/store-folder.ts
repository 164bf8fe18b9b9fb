/** A new folder for the embedded store for each test in a file. */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { createSettableClock } from './conformance/check.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { testBallastBytes } from './subjects.ts';

export function useStoreFolder() {
  const current = { directory: '', wallClock: createSettableClock() };
  beforeEach(() => {
    current.directory = makeMemoryFolder();
    current.wallClock = createSettableClock();
  });
  afterEach(() => rmSync(current.directory, { recursive: true, force: true }));

  /** The rows that a query finds in the files right now. */
  function valuesOf(sql: string): unknown[][] {
    using db = new Database(join(current.directory, 'mayfly.db'), { readwrite: true });
    return db.query(sql).values();
  }

  return {
    current,
    open: () =>
      openSqliteStore({
        directory: current.directory,
        clock: current.wallClock,
        ballastBytes: testBallastBytes,
      }),
    valuesOf,
    countOf: (what: string) => Number(valuesOf(`SELECT count(*) FROM ${what}`)[0]?.[0]),
  };
}
