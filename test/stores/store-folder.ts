/** A new folder for the embedded store in each test of a file. */
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

  /** What the query finds, in the files as they are. */
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
