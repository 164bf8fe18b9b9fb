/** The embedded store's engine with what it needs, put together as the store does it, but without the queue. */
import type { Database } from 'bun:sqlite';
import { isFileKind, loopSettings, openConnection } from '../../src/store/sqlite/database.ts';
import { Disk } from '../../src/store/sqlite/disk.ts';
import { Engine } from '../../src/store/sqlite/engine.ts';
import { prepareFolder } from '../../src/store/sqlite/files.ts';
import { createLocator, type Locator } from '../../src/store/sqlite/locator.ts';
import { createLogKeeper } from '../../src/store/sqlite/log.ts';

export interface OpenedEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly db: Database;
  /** How many commits the engine has told of. */
  readonly changes: () => number;
}

export interface EngineChanges {
  readonly monotonicMs?: () => number;
  readonly locator?: Locator;
}

/** @param directory of a store that is up to date */
export function openEngine(
  directory: string,
  ballastBytes: number,
  { monotonicMs = () => 0, locator }: EngineChanges = {},
): OpenedEngine {
  const folder = prepareFolder(directory);
  const db = openConnection(folder.database, loopSettings);
  const isStore = () => isFileKind(db, 'store');
  isStore();
  const disk = new Disk(folder.wal, (message) => {
    throw new Error(message);
  });
  const keeper = createLogKeeper(db, disk, folder.database, ballastBytes / 2);
  let changes = 0;
  const engine = new Engine(
    {
      db,
      folder,
      locator: locator ?? createLocator(db),
      isStore,
      keeper,
      disk,
      changed() {
        changes += 1;
      },
      ballastBytes,
      maxStorageBytes: null,
    },
    monotonicMs,
  );
  return {
    engine,
    db,
    changes: () => changes,
    async [Symbol.asyncDispose]() {
      await disk.close();
      db.close();
    },
  };
}
