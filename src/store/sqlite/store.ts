import type { MachineClock } from '../../core/time.ts';
import { withEpochs } from '../epochs.ts';
import { type Store, StoreRefusal } from '../store.ts';
import { judgeByStoreTime } from '../store-time.ts';
import { accountReads } from './accounts.ts';
import { attemptStore } from './attempts.ts';
import { storeClock } from './clock.ts';
import { codeStore } from './codes.ts';
import { CommitQueue } from './commit-queue.ts';
import { creationReads } from './creations.ts';
import {
  type ConnectionSettings,
  isFileKind,
  isOutdated,
  loopSettings,
  migrate,
  openConnection,
  writerSettings,
} from './database.ts';
import { type DecisionArguments, type Forwarded, forwarded } from './decisions.ts';
import { deletionReads } from './deletion.ts';
import { Disk } from './disk.ts';
import { domainReads } from './domains.ts';
import { Engine } from './engine.ts';
import { epochTable } from './epochs.ts';
import { codeOf, isEmptyFile, isServed, messageOf, prepareFolder, syncPath } from './files.ts';
import { createLocator } from './locator.ts';
import { beginLog, createLogKeeper, LogSync, watchOthers, writeOut } from './log.ts';
import { lookStore } from './looks.ts';
import type { DecisionQueue, Parts } from './parts.ts';
import { passwordReads } from './passwords.ts';
import { createReader } from './reader.ts';
import { requestStore } from './requests.ts';
import { rootStore } from './roots.ts';
import { secretStore } from './secrets.ts';
import { sessionReads } from './sessions.ts';
import { usedBytes } from './sweep.ts';
import { ticketReads } from './tickets.ts';
import { createSharedTime } from './time.ts';
import { tokenReads } from './tokens.ts';

export interface SqliteStoreOptions {
  readonly directory: string;
  readonly clock: MachineClock;
  /**
   * Space reserved for reads and burns on a full disk; twice the log length that triggers a checkpoint. Default: 16
   * MiB.
   */
  readonly ballastBytes?: number;
  /** New secrets are refused as `storage_full` at this size; if absent or `null`, only the disk limits it. */
  readonly maxStorageBytes?: number | null;
  /** Set by commands: they do not upgrade a store that a server of an earlier version has open. */
  readonly isBesideServers?: boolean;
}

/** Disposing of the store commits everything still waiting. */
export interface SqliteStore extends Store, AsyncDisposable {
  assertCommits: CommitQueue['assertCommits'];
}

const defaultBallastBytes = 16 * 1024 * 1024;

/** Rejects with a `StoreRefusal` that says what to do. */
export function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  return openWith(options, { settings: loopSettings, isSynced: true });
}

/** Only tests change this, to show why nothing else may. */
export interface Durability {
  readonly settings: ConnectionSettings;
  readonly isSynced: boolean;
}

export async function openWith(options: SqliteStoreOptions, durability: Durability): Promise<SqliteStore> {
  const { directory, clock, ballastBytes = defaultBallastBytes, maxStorageBytes = null } = options;
  migrateFolder(directory, options.isBesideServers ?? false);
  const folder = prepareFolder(directory);
  const db = orRefusal(directory, () => openConnection(folder.database, durability.settings));
  // SQLite makes the log's name durable only if it syncs the log itself.
  isFileKind(db, 'store');
  syncPath(folder.directory);
  if (!options.isBesideServers && isEmptyFile(folder.wal)) beginLog(db);
  let queue: CommitQueue | null = null;
  const disk = new Disk(folder.wal, (message) => queue?.lose(message));
  try {
    // The first sync is made early: later, name look-ups and hashes may fill the runtime's thread pool.
    await disk.sync().catch((cause) => {
      throw logNotSynced(directory, cause);
    });
    const log = new LogSync(durability.isSynced ? () => disk.sync() : async () => {}, (error) =>
      committing.fail(error),
    );
    const changed = () => log.changed();
    const isStore = watchOthers(db, changed);
    const locator = createLocator(db);
    const keeper = createLogKeeper(db, disk, folder.database, ballastBytes / 2);
    const limits = { ballastBytes, maxStorageBytes };
    const engine = new Engine({ db, folder, locator, isStore, keeper, disk, changed, ...limits });
    const time = createSharedTime(db, clock, () => committing.decide('keepTime'));
    const committing: CommitQueue = new CommitQueue({
      engine,
      time: time.ofBatch,
      settled: () => log.settled(),
      tend: () => keeper.tend(),
      recover: () => recover(engine, log, disk, folder.database),
    });
    queue = committing;
    const reader = createReader(
      db,
      () => committing.hasMoved || !isStore(),
      () => log.settled(),
    );
    const close = async () => {
      const { isSound } = committing;
      await committing.close();
      if (isSound) engine.finish();
      await disk.close();
      writeOut(db, 'TRUNCATE');
      db.close();
    };
    const parts = { db, queue: committing, locator, clock, time, reader };
    return createStore(parts, close, (isDoubted) => committing.assertCommits(isDoubted));
  } catch (error) {
    await disk.close();
    db.close();
    throw error;
  }
}

/** Never opens a different file in place of the database. */
async function recover(engine: Engine, log: LogSync, disk: Disk, database: string): Promise<boolean> {
  if (!engine.areFilesInPlace()) return false;
  const { seen } = log;
  const isWell = await disk.ask('check', database).catch(() => false);
  if (!isWell || !engine.areFilesInPlace()) return false;
  log.recovered(seen);
  return true;
}

/** Returns whether there was anything to migrate. @throws StoreRefusal */
export function migrateFolder(directory: string, isBesideServers = false): boolean {
  const { database } = prepareFolder(directory);
  return orRefusal(directory, () => {
    const migrating = openConnection(database, writerSettings, 'store');
    try {
      if (isBesideServers && isOutdated(migrating) && isServed(directory)) throw olderServer(directory);
      return migrate(migrating);
    } finally {
      migrating.close();
    }
  });
}

function orRefusal<T>(directory: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw toRefusal(error, directory);
  }
}

const olderServer = (directory: string) =>
  new StoreRefusal(
    'older_server',
    `A server of an earlier version runs on ${directory}. Restart it with this version, which brings the store up to date; then try again.`,
  );

const logNotSynced = (directory: string, cause: unknown) =>
  new StoreRefusal(
    'damaged',
    `The log in ${directory} cannot be synced: ${messageOf(cause)}. Check the disk and what the kernel says of it.`,
    { cause },
  );

function toRefusal(error: unknown, directory: string): unknown {
  const code = codeOf(error);
  if (error instanceof StoreRefusal || !code.startsWith('SQLITE_')) return error;
  const damaged = code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT');
  const advice = damaged
    ? 'Restore the folder from a copy, or move mayfly.db and its -wal file away to start empty.'
    : 'Check that this user may write the folder and that the disk has room.';
  const message = `The database in ${directory} does not open (${code}: ${messageOf(error)}). ${advice}`;
  return new StoreRefusal(damaged ? 'damaged' : 'not_writable', message, { cause: error });
}

function createStore(
  parts: Parts,
  close: () => Promise<void>,
  assertCommits: SqliteStore['assertCommits'],
): SqliteStore {
  const looks = lookStore(parts);
  const secrets = secretStore(parts);
  const requests = requestStore(parts);
  const epochs = withEpochs(epochTable(parts), { ...requests, ...secrets }, parts.time);
  return {
    ...requests,
    ...looks,
    ...epochs,
    ...judgeByStoreTime({ ...secrets, ...epochs, ...looks }, parts.time),
    ...attemptStore(parts),
    ...codeStore(parts),
    ...forwards(parts.queue),
    ...accountReads(parts),
    ...tokenReads(parts),
    ...ticketReads(parts),
    ...passwordReads(parts),
    ...sessionReads(parts),
    ...deletionReads(parts),
    ...rootStore(parts),
    ...creationReads(parts),
    ...domainReads(parts),
    ...storeClock(parts),
    assertCommits,
    usedBytes: () => parts.reader.read(() => usedBytes(parts.db)),
    [Symbol.asyncDispose]: close,
  };
}

/** Copies the bytes now: the caller may wipe them. */
function forwards(queue: DecisionQueue): Forwarded {
  const forward = <N extends keyof Forwarded>(name: N) => [
    name,
    (...args: DecisionArguments<N>) => queue.decide(name, ...structuredClone(args)),
  ];
  return Object.fromEntries(forwarded.map((name) => forward(name))) as Forwarded;
}
