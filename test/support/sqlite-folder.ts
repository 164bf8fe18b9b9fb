/** For each test of a file, a new folder with an embedded store that is up to date. */
import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach } from 'bun:test';
import { rmSync } from 'node:fs';
import { loopSettings, migrate, openConnection } from '../../src/store/sqlite/database.ts';
import { prepareFolder, type StoreFolder } from '../../src/store/sqlite/files.ts';
import { makeMemoryFolder } from '../stores/memory-folder.ts';

interface Current extends StoreFolder {
  db: Database;
}

/** Where it is, and a connection to it. */
export function useSqlite(settings = loopSettings): Current {
  const current = {} as Current;
  beforeEach(() => {
    Object.assign(current, prepareFolder(makeMemoryFolder()));
    current.db = openConnection(current.database, settings);
    migrate(current.db);
  });
  afterEach(() => {
    current.db.close();
    rmSync(current.directory, { recursive: true, force: true });
  });
  return current;
}
