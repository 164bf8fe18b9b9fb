/**
 * The embedded store: SQLite in one folder, safe for several processes on one machine.
 *
 * It reads and commits on the event loop, by one connection, and waits for the disk in threads. What resolves is durable (P2, P5). Expiry
 * is judged by a store time that never steps back, across restarts and for all processes on the folder (P8).
 */
import type { Database } from 'bun:sqlite';
import type { AttemptStore } from '../../core/attempt-store.ts';
import type { CreationStore } from '../../core/creation-store.ts';
import { ServiceError } from '../../core/errors.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { LookStore, NewLook } from '../../core/look-store.ts';
import type {
  AccountStore,
  ClaimOutcome,
  ClaimTarget,
  DomainStore,
  IsAbandoned,
  SecretStore,
} from '../../core/ports.ts';
import type { RootStore, RotationStore } from '../../core/root-store.ts';
import type { NewRecord } from '../../core/secret.ts';
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
import { type DecisionArguments, type Forwarded, forwarded, type LocatedClaim } from './decisions.ts';
import { Disk } from './disk.ts';
import { createDomainReads } from './domains.ts';
import { Engine } from './engine.ts';
import { readEpochKey } from './epochs.ts';
import { codeOf, isEmptyFile, isServed, messageOf, prepareFolder } from './files.ts';
import { createLocator, type Locator } from './locator.ts';
import { createLookReads } from './looks.ts';
import { beginLog, LogKeeper, LogSync, watchOthers, writeOut } from './log.ts';
import { createReader, type Reader } from './reader.ts';
import { createRecordReads } from './records.ts';
import { createRootReads } from './roots.ts';
import { createSessionReads } from './sessions.ts';
import { usedBytes } from './sweep.ts';
import { createSharedTime, type SharedTime } from './time.ts';

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

/** Disposing commits what waits, empties the log and ends the threads. */
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
  // SQLite makes the log at the first read.
  isMarked(db, 'store');
  if (!options.isBesideServers && isEmptyFile(folder.wal)) beginLog(db);
  let queue: CommitQueue | null = null;
  const disk = new Disk(folder.wal, (message) => queue?.lose(message));
  try {
    const log = new LogSync(durability.isSynced ? () => disk.sync() : async () => {}, (error) => committing.fail(error));
    const isStore = watchOthers(db, () => log.changed());
    const locator = createLocator(db);
    const keeper = new LogKeeper(db, disk, folder.database, ballastBytes / 2);
    const engine = new Engine(
      { db, folder, locator, isStore, keeper, disk, changed: () => log.changed() },
      { ballastBytes, maxStorageBytes },
    );
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

interface Parts {
  readonly db: Database;
  readonly queue: CommitQueue;
  readonly locator: Locator;
  readonly clock: MachineClock;
  readonly time: SharedTime;
  readonly reader: Reader;
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

function recordStore({ db, queue, locator, time, reader }: Parts): Omit<SecretStore, keyof LookStore> {
  const { now } = time;
  const reads = createRecordReads(db, locator);
  const locate = (asked: ReceiptId) =>
    reader.lookUp(asked, (id) => {
      const position = locator.ofReceipt(id);
      return position === null ? null : { id, position };
    });
  /** Of what was not found by this process, or was copied since. */
  async function locateAndClaim(
    target: ClaimTarget,
    isAbandoned: IsAbandoned,
    look: NewLook | null,
  ): Promise<ClaimOutcome> {
    const { rowVersion } = target;
    const secretId = target.secretId.slice() as SecretId;
    const kept = look === null ? {} : { look: structuredClone(look) };
    const position = await reader.read(() => locator.ofSecret(secretId));
    return position === null ? 'gone' : claimAt({ secretId, rowVersion, position, ...kept }, isAbandoned);
  }

  async function claimAt(target: LocatedClaim, isAbandoned: IsAbandoned): Promise<ClaimOutcome> {
    const outcome = await queue.decideFor(isAbandoned, 'claim', target);
    if (outcome === 'refused') throw new ServiceError('unavailable', 'The store did not take the claim.');
    return outcome;
  }
  return {
    now,
    async put(record) {
      if ((await queue.decide('put', copyOf(record))) === null)
        throw new ServiceError('unavailable', 'The store refused the record.');
    },
    claim(target, isAbandoned, look = null) {
      const { secretId, rowVersion } = target;
      const position = reads.knownPlaceOf(target);
      if (position === undefined) return locateAndClaim(target, isAbandoned, look);
      const kept = look === null ? {} : { look: structuredClone(look) };
      const located = { secretId: secretId.slice() as SecretId, rowVersion, position, ...kept };
      return claimAt(located, isAbandoned);
    },
    // What waits is told at once: whoever knows its link was told after its own sync.
    findSecret: (asked) =>
      reader.lookUp(
        asked,
        (id) => reads.findSecret(id, time.earliest()),
        (found) => found !== null,
      ),
    findReceipt: (asked, manager) =>
      reader.lookUp(asked, (id) => reads.findReceipt(id, manager ?? null, time.earliest())),
    listReceipts: (owner, page) => reader.read(() => reads.listReceipts(owner, page, now())),
    async burn(id, isAbandoned) {
      const at = await locate(id);
      return at === null ? null : queue.decideFor(isAbandoned, 'burn', at);
    },
    async burnFound(target, isAbandoned) {
      const { rowVersion } = target;
      const id = target.secretId.slice() as SecretId;
      const position = reads.knownPlaceOf(target) ?? (await reader.read(() => locator.ofSecret(id)));
      return position === null
        ? null
        : queue.decideFor(isAbandoned, 'burnFound', { id, position }, rowVersion);
    },
    async burnAll(after, limit) {
      const { burned, next } = await queue.decide('burnAll', Number(after ?? 0), limit, time.earliest());
      return { burned, next: next === null ? null : String(next) };
    },
    async markViewed(id) {
      const at = await locate(id);
      return at === null ? null : queue.decide('markViewed', at);
    },
    async setExpiry(id, from, to) {
      const kept = structuredClone(to);
      const at = await locate(id);
      return at !== null && queue.decide('setExpiry', at, from, kept);
    },
    async setMemo(id, memoBox) {
      const kept = memoBox?.slice() ?? null;
      const at = await locate(id);
      return at !== null && queue.decide('setMemo', at, kept);
    },
    async queueDelivery(id, queued) {
      const kept = structuredClone(queued);
      const at = await locate(id);
      return at === null ? 'gone' : queue.decide('queueDelivery', at, kept);
    },
    async setDelivery(id, delivery) {
      const kept = structuredClone(delivery);
      const at = await locate(id);
      if (at !== null) await queue.decide('setDelivery', at, kept);
    },
    takeDueNotices: (limit) => queue.decide('takeDueNotices', limit),
    async sweep(limit) {
      let touched = 0;
      for (let slice = sliceRows; slice === sliceRows && touched < limit; touched += slice)
        slice = await queue.decide('sweep', Math.min(sliceRows, limit - touched));
      return touched;
    },
    scrub: () => queue.decide('scrub'),
  };
}

/** The event loop stops for a slice, so each is short (P24). */
const sliceRows = 128;

/** The caller may wipe its bytes. */
function copyOf(record: NewRecord): NewRecord {
  const { hold } = record;
  return {
    ...record,
    secretId: record.secretId.slice() as SecretId,
    receiptId: record.receiptId.slice() as ReceiptId,
    sealedSecret: record.sealedSecret.slice(),
    detailsBox: record.detailsBox?.slice() ?? null,
    recentBox: record.recentBox?.slice() ?? null,
    memoBox: record.memoBox?.slice() ?? null,
    hold: hold && structuredClone(hold),
  };
}

function lookStore({
  db,
  queue,
  locator,
  time,
  reader,
}: Parts): LookStore & Pick<RotationStore, 'findAnyLook'> {
  const reads = createLookReads(db, locator);
  const find = (asked: SecretId, tag: Uint8Array | null) =>
    reader.lookUp(asked, (id) => reads.findLook(id, tag, time.now()));
  const locate = (asked: SecretId) =>
    reader.lookUp(asked, (id) => {
      const position = locator.ofSecret(id);
      return position === null ? null : { id, position };
    });
  return {
    findLook: (id, tag) => find(id, tag.slice()),
    findAnyLook: (id) => find(id, null),
    async takeAnswer(id, tag, isAbandoned) {
      const kept = tag.slice();
      const at = await locate(id);
      const taken = at !== null && (await queue.decideFor(isAbandoned, 'takeAnswer', at, kept));
      return taken === 'abandoned' ? taken : taken ? 'answered' : 'gone';
    },
    async endLook(id, tag) {
      const kept = tag.slice();
      const at = await locate(id);
      if (at !== null) await queue.decide('endLook', at, kept);
    },
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
