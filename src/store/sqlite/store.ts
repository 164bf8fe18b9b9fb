import type { AttemptStore } from '../../core/attempt-store.ts';
import type { CreationStore } from '../../core/creation-store.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SecretId } from '../../core/keys.ts';
import type { AccountStore, DomainStore } from '../../core/ports.ts';
import type { RootStore, RotationStore } from '../../core/root-store.ts';
import type { MachineClock, StoreClock } from '../../core/time.ts';
import { type EpochTable, withEpochs } from '../epochs.ts';
import { type Store, StoreRefusal } from '../store.ts';
import { judgeByStoreTime } from '../store-time.ts';
import { createAccountReads } from './accounts.ts';
import { createLockRead } from './attempts.ts';
import { CommitQueue } from './commit-queue.ts';
import { createCreationRead } from './creations.ts';
import {
  type ConnectionSettings,
  isMarked,
  isOutdated,
  loopSettings,
  migrate,
  openConnection,
  writerSettings,
} from './database.ts';
import { type DecisionArguments, type Forwarded, forwarded } from './decisions.ts';
import { Disk } from './disk.ts';
import { createDomainReads } from './domains.ts';
import { Engine } from './engine.ts';
import { readEpochKey } from './epochs.ts';
import { codeOf, isEmptyFile, isServed, messageOf, prepareFolder, syncPath } from './files.ts';
import { createLocator } from './locator.ts';
import { beginLog, createLogKeeper, LogSync, watchOthers, writeOut } from './log.ts';
import { createReader } from './reader.ts';
import { createRootReads } from './roots.ts';
import { lookStore, type Parts, recordStore } from './secret-store.ts';
import { createSessionReads } from './sessions.ts';
import { usedBytes } from './sweep.ts';
import { createSharedTime } from './time.ts';

export interface SqliteStoreOptions {
  /** Made, for this user alone, when it is missing. */
  readonly directory: string;
  readonly clock: MachineClock;
  /** Room kept for reads and burns on a full disk; twice the length at which the log is written out. 16 MiB if absent. */
  readonly ballastBytes?: number;
  /** What the data may take before new secrets are refused as `storage_full`; no more than the disk has if absent or `null`. */
  readonly maxStorageBytes?: number | null;
  /** For a command: it does not upgrade what a server of an earlier version has open, which would go on without the new rules. */
  readonly isBesideServers?: boolean;
}

/** Disposing commits everything waiting, empties the log and ends the thread. */
export interface SqliteStore extends Store, AsyncDisposable {
  assertCommits: CommitQueue['assertCommits'];
}

const defaultBallastBytes = 16 * 1024 * 1024;

/** Opens the store, or rejects with a `StoreRefusal` that says why not and what to do. */
export function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  return openWith(options, { settings: loopSettings, isSynced: true });
}

/** What only tests change, to show why it must not be. */
export interface Durability {
  readonly settings: ConnectionSettings;
  /** Whether the log is synced before anything is told. */
  readonly isSynced: boolean;
}

export async function openWith(options: SqliteStoreOptions, durability: Durability): Promise<SqliteStore> {
  const { directory, clock, ballastBytes = defaultBallastBytes, maxStorageBytes = null } = options;
  migrateFolder(directory, options.isBesideServers ?? false);
  const folder = prepareFolder(directory);
  const db = orRefusal(directory, () => openConnection(folder.database, durability.settings));
  // SQLite creates the log at the first read, but makes its name durable only when SQLite itself syncs it.
  isMarked(db, 'store');
  syncPath(folder.directory);
  if (!options.isBesideServers && isEmptyFile(folder.wal)) beginLog(db);
  let queue: CommitQueue | null = null;
  const disk = new Disk(folder.wal, (message) => queue?.lose(message));
  try {
    // The thread begins in the runtime's pool, which names and hashes may fill later on.
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
    return createStore({ db, queue: committing, locator, clock, time, reader }, close);
  } catch (error) {
    await disk.close();
    db.close();
    throw error;
  }
}

/** Whether the store may be used again after a failure. Another file is never opened in its place. */
async function recover(engine: Engine, log: LogSync, disk: Disk, database: string): Promise<boolean> {
  if (!engine.areFilesInPlace()) return false;
  const { seen } = log;
  const isWell = await disk.ask('check', database).catch(() => false);
  if (!isWell || !engine.areFilesInPlace()) return false;
  log.recovered(seen);
  return true;
}

/**
 * Brings the store up to date, or creates it. Returns whether there was anything to do. @throws StoreRefusal
 * @param isBesideServers as in the options
 */
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

function createStore(parts: Parts, close: () => Promise<void>): SqliteStore {
  const looks = lookStore(parts);
  const records = recordStore(parts);
  const epochs = withEpochs(epochTable(parts), records, parts.time);
  return {
    ...looks,
    ...epochs,
    ...judgeByStoreTime({ ...records, ...epochs, ...looks }, parts.time),
    ...attemptStore(parts),
    ...forwards(parts.queue),
    ...accountReads(parts),
    ...rootStore(parts),
    ...creationReads(parts),
    ...domainReads(parts),
    ...storeClock(parts),
    assertCommits: (isDoubted) => parts.queue.assertCommits(isDoubted),
    usedBytes: () => parts.reader.read(() => usedBytes(parts.db)),
    [Symbol.asyncDispose]: close,
  };
}

const countExpiring = `
  SELECT count(*) AS n FROM records WHERE state = 'w' AND expires_at > ?1 AND expires_at <= ?2`;

function storeClock({ db, queue, clock, time, reader }: Parts): StoreClock {
  return {
    clock: time.report,
    countExpiringBy: (at) =>
      reader.read(() => db.query<{ n: number }, [number, number]>(countExpiring).get(time.now(), at)?.n ?? 0),
    async setTime() {
      const mark = {
        seconds: clock.wall(),
        sinceBoot: clock.sinceBoot(),
        bootId: clock.bootId,
        dispute: null,
      };
      await queue.decide('setTime', mark);
      time.refresh();
    },
  };
}

function attemptStore({ db, queue, locator, reader, time }: Parts): AttemptStore {
  const lockOf = createLockRead(db);
  return {
    async reserve(id, client, limits) {
      const [secretId, token] = [id.slice() as SecretId, client.slice()];
      const position = await reader.read(() => locator.ofSecret(secretId));
      return queue.decide('reserve', secretId, position, token, limits);
    },
    refund: (id, attempt) => queue.decide('refund', id, attempt),
    allowMore: (id) => queue.decide('allowMore', id.slice() as SecretId),
    findLocks(asked, limits) {
      const ids = asked.map((id) => id.slice() as SecretId);
      return reader.read(() => ids.map((id) => lockOf(id, limits, time.now())));
    },
  };
}

/** The bytes are taken now: the caller may wipe them. */
function forwards(queue: CommitQueue): Forwarded {
  const forward = <N extends keyof Forwarded>(name: N) => [
    name,
    (...args: DecisionArguments<N>) => queue.decide(name, ...structuredClone(args)),
  ];
  return Object.fromEntries(forwarded.map((name) => forward(name))) as Forwarded;
}

type Read<Port> = Omit<Port, keyof Forwarded>;

function accountReads({ db, time: { now }, reader }: Parts): Read<AccountStore> {
  const reads = createAccountReads(db);
  const sessions = createSessionReads(db);
  return {
    findAccount: (username) => reader.read(() => reads.findAccount(username)),
    findAccountById: (id) => reader.read(() => reads.findAccountById(id)),
    listAccounts: () => reader.read(() => reads.listAccounts(now())),
    hasAccounts: () => reader.read(() => reads.hasAccounts()),
    countOwned: (id) => reader.read(() => reads.countOwned(id, now())),

    findToken: (tokenHash) => reader.lookUp(tokenHash, reads.findToken),
    listTokens: (id) => reader.read(() => reads.listTokens(id)),
    listDeletions: (limit) => reader.read(() => reads.listDeletions(limit)),

    findTicket: (kind, asked) => reader.lookUp(asked, (hash) => sessions.findTicket(kind, hash, now())),
    findPassword: (username) => reader.read(() => sessions.findPassword(username)),

    findSession: (asked) => reader.lookUp(asked, (hash) => sessions.findSession(hash, now())),
    listSessions: (id) => reader.read(() => sessions.listSessions(id, now())),
  };
}

function rootStore(parts: Parts): Omit<Read<RootStore & RotationStore>, 'findAnyLook'> {
  const { db, queue, locator, time, reader } = parts;
  const reads = createRootReads(db);
  return {
    findRootCheck: (kid) => reader.read(() => reads.findRootCheck(kid)),
    rootKidsInUse: () => reader.read(() => reads.rootKidsInUse(time.earliest())),
    findFirstOpenRoot: () => reader.read(reads.findFirstOpenRoot),
    mayMakeRoots: async () => true,
    listUnderOlderRoots: (kid, after, limit) =>
      reader.read(() => reads.listUnderOlderRoots(kid, Number(after ?? 0), limit, time.earliest())),
    async replaceWrapping(asked, from, to) {
      const [id, before, after] = [asked.slice() as SecretId, from.slice(), to.slice()];
      const position = await reader.read(() => locator.ofSecret(id));
      if (position === null) return false;
      const replaced = await queue.decide('replaceWrapping', { id, position }, before, after);
      if (replaced === null) throw new ServiceError('unavailable', 'The root of the wrapping was closed.');
      return replaced;
    },
  };
}

function epochTable({ db, queue, reader }: Parts): EpochTable {
  return {
    holdEpoch: (epoch, freshKey) => queue.decide('holdEpoch', epoch, freshKey),
    readEpochKey: (epoch) => reader.read(() => readEpochKey(db, epoch)),
    destroyPastEpochs: () => queue.decide('destroyPastEpochs'),
  };
}

function creationReads({ db, time, reader }: Parts): Read<CreationStore> {
  const find = createCreationRead(db);
  return { findCreation: (asked) => reader.lookUp(asked, (id) => find(id, time.now())) };
}

function domainReads({ db, reader }: Parts): Read<DomainStore> {
  const reads = createDomainReads(db);
  return {
    findDomain: (id, name) => reader.read(() => reads.findDomain(id, name)),
    listDomains: (id) => reader.read(() => reads.listDomains(id)),
    findVerifiedDomain: (name) => reader.read(() => reads.findVerifiedDomain(name)),
    findDomainLogo: (logoName) => reader.read(() => reads.findDomainLogo(logoName)),
  };
}
