/** Opens the configured store, for a server or alongside one, and backs up the embedded store. */
import { resolve } from 'node:path';
import type { Settings } from './config/read.ts';
import type { PostgresServer } from './config/store-address.ts';
import { ServiceError } from './core/errors.ts';
import type { SharedLimits } from './core/ports/limits.ts';
import type { BackupOutcome, MigrateOutcome, OnProgress } from './core/store-copies.ts';
import { createMachineClock } from './ops/machine-clock.ts';
import type { StoreServer } from './ops/start-words.ts';
import type { FoundTables, ServerOptions } from './store/postgres/server.ts';
import { backUpStore, previewRestore, restoreStore } from './store/sqlite/backup.ts';
import { hasStore, registerServing } from './store/sqlite/files.ts';
import { migrateFolder, openSqliteStore } from './store/sqlite/store.ts';
import { mayPass, type Store, StoreRefusal } from './store/store.ts';

/** An error that prevents startup. Its message is a sentence for the operator. */
export class StartRefusal extends Error {
  override readonly name: string = 'StartRefusal';
  /** Whether the cause may go away by itself. */
  readonly mayPass: boolean;

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.mayPass = options.cause instanceof StoreRefusal && mayPass(options.cause);
  }
}

export interface OpenStore {
  readonly store: Store;
  /** `null` for the embedded store. */
  readonly server: StoreServer | null;
  /** Rejects with the reason if secrets cannot be read and burned now. @param isDoubted whether the last attempt failed */
  assertCommits(isDoubted: boolean): Promise<void>;
  /** Creates limits that all nodes count together, given a key that they share; `null` for the store of a single machine. */
  readonly limitsUnder: ((key: Uint8Array) => SharedLimits) | null;
  /** Gives all store calls of a request one deadline; `null` if each call has its own. */
  readonly duringRequest: (<T>(request: () => T | Promise<T>) => Promise<T>) | null;
  close(): Promise<void>;
}

export function optionsFor(settings: Settings, { url, tls }: PostgresServer): ServerOptions {
  const { storeDurability: durability, storePoolSize: poolSize, allowsUnsafeStore: allowsUnsafe } = settings;
  const options = tls !== null && {
    rejectUnauthorized: tls.isVerified,
    ...(tls.ca !== null && { ca: tls.ca }),
    ...(tls.cert !== null && { cert: tls.cert }),
    ...(tls.key !== null && { key: tls.key.expose() }),
  };
  return { url: url.expose(), tls: options, durability, poolSize, allowsUnsafe };
}

/** Thrown when the store does not exist yet, because only a server creates it. */
class NotMadeYet extends StoreRefusal {}

const unproven =
  'The server’s certificate is not checked (sslmode=no-verify), so anyone on the network path can impersonate it: set its CA with ?sslrootcert=PATH.';

export const outdated =
  'The tables are from an earlier version of Mayfly: run mayfly migrate or start a server of this version, and try again.';

async function openPostgres(
  settings: Settings,
  at: PostgresServer,
  isBesideServers: boolean,
  migrationMs?: number,
): Promise<OpenStore & { readonly found: FoundTables }> {
  const { probeServer, toRefusal } = await import('./store/postgres/server.ts');
  const options = optionsFor(settings, at);
  const { durability, unsafe: ofServer, tables: found } = await probeServer(options, at.shown);
  if (isBesideServers && found === 'none')
    throw new NotMadeYet(
      'not_a_store',
      `There is no store at ${at.shown}. Start Mayfly once, or correct MAYFLY_STORE.`,
    );
  if (isBesideServers && found === 'older') throw new StoreRefusal('older_server', outdated);
  const { openPostgresStore } = await import('./store/postgres/store.ts');
  const { requestWaits } = await import('./store/postgres/waits.ts');
  const { maxStorageBytes } = settings;
  const clock = createMachineClock();
  const opening = openPostgresStore({
    ...{ ...options, durability, maxStorageBytes, clock },
    ...(migrationMs !== undefined && { migrationMs }),
  });
  const store = await opening.catch((error: unknown) => {
    throw toRefusal(error, at.shown);
  });
  const { shown, isLocal, tls } = at;
  const unsafe = tls === null || tls.isVerified ? ofServer : [unproven, ...ofServer];
  const server = { shown, durability, unsafe, isEncrypted: tls !== null, isLocal };
  const { assertCommits, limitsUnder } = store;
  const { during: duringRequest } = requestWaits;
  const close = async () => store[Symbol.asyncDispose]();
  return { store, server, assertCommits, limitsUnder, duringRequest, close, found };
}

async function openSqlite(
  { dataDir, maxStorageBytes }: Settings,
  isBesideServers: boolean,
): Promise<OpenStore> {
  if (isBesideServers && !hasStore(dataDir))
    throw new NotMadeYet(
      'not_a_store',
      `There is no store in ${resolve(dataDir)}. Start Mayfly once, or set MAYFLY_DATA_DIR.`,
    );
  const clock = createMachineClock();
  const store = await openSqliteStore({ directory: dataDir, clock, maxStorageBytes, isBesideServers });
  const close = async () => store[Symbol.asyncDispose]();
  const { assertCommits } = store;
  return { store, server: null, assertCommits, limitsUnder: null, duringRequest: null, close };
}

function open(settings: Settings, isBesideServers: boolean): Promise<OpenStore> {
  const { store } = settings;
  return store === 'sqlite'
    ? openSqlite(settings, isBesideServers)
    : openPostgres(settings, store, isBesideServers);
}

/** Creates the store if it is missing. @throws StartRefusal */
export async function openStore(settings: Settings): Promise<OpenStore> {
  try {
    return await open(settings, false);
  } catch (error) {
    throw error instanceof StoreRefusal ? new StartRefusal(error.message, { cause: error }) : error;
  }
}

const longestMigrationMs = 86_400_000;
const awaitedEveryMs = 1_000;
const toldEveryMs = 10_000;

/**
 * Creates the store's tables or brings them up to date. Waits until the database can be reached.
 * @param tell receives a progress sentence now and then
 */
export async function migrateStore(
  settings: Settings,
  tell: (words: string) => void,
): Promise<MigrateOutcome> {
  const startedMs = performance.now();
  let doing = 'Still working';
  const timer = setInterval(
    () => tell(`${doing} (${Math.round((performance.now() - startedMs) / 1_000)} s so far).`),
    toldEveryMs,
  );
  try {
    for (;;) {
      const outcome = await migrateOnce(settings);
      if (!('waitsFor' in outcome)) return outcome;
      if (doing !== outcome.waitsFor) tell(outcome.waitsFor);
      doing = outcome.waitsFor;
      await Bun.sleep(awaitedEveryMs);
    }
  } finally {
    clearInterval(timer);
  }
}

async function migrateOnce(settings: Settings): Promise<MigrateOutcome | { readonly waitsFor: string }> {
  const { store: at, dataDir } = settings;
  try {
    if (at === 'sqlite') {
      const isNew = !hasStore(dataDir);
      const isDone = migrateFolder(dataDir);
      return { outcome: isNew ? 'made' : isDone ? 'updated' : 'up_to_date', where: resolve(dataDir) };
    }
    const { found, close } = await openPostgres(settings, at, false, longestMigrationMs);
    await close();
    const outcome = ({ none: 'made', older: 'updated', up_to_date: 'up_to_date' } as const)[found];
    return { outcome, where: at.shown };
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    return mayPass(error) ? { waitsFor: error.message } : { outcome: 'refused', problem: error.message };
  }
}

/** Turns a failure of the open store into a startup refusal; returns other errors unchanged. */
export async function refusalOf(error: unknown, { store }: Settings): Promise<unknown> {
  if (store === 'sqlite' || !(error instanceof ServiceError)) return error;
  const { toRefusal } = await import('./store/postgres/server.ts');
  const cause = toRefusal(error, store.shown);
  return new StartRefusal(cause.message, { cause });
}

export type OpenedBeside =
  | ({ readonly outcome: 'open' } & OpenStore)
  /** `no_store`: there is no store yet. */
  | { readonly outcome: 'no_store' | 'refused'; readonly problem: string };

/** Opens the store for a command, which must not create a store or upgrade one that an older server may have open. */
export async function openBesideServers(settings: Settings): Promise<OpenedBeside> {
  try {
    return { outcome: 'open', ...(await open(settings, true)) };
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    return { outcome: error instanceof NotMadeYet ? 'no_store' : 'refused', problem: error.message };
  }
}

/** Registers a server with the embedded store; a shared store needs no registration. */
export function registerServer({ store, dataDir }: Settings): ReturnType<typeof registerServing> {
  return store === 'sqlite' ? registerServing(dataDir) : { hasOthers: false, leave: () => {} };
}

const byTheEngine: BackupOutcome = {
  outcome: 'refused',
  problem:
    'The store is on a PostgreSQL server (MAYFLY_STORE): back it up and restore it with PostgreSQL’s own tools (docs/engines.md).',
};

export async function backUp(
  { store, dataDir }: Settings,
  file: string,
  onProgress: OnProgress,
): Promise<BackupOutcome> {
  if (store !== 'sqlite') return byTheEngine;
  if (hasStore(dataDir)) return backUpStore(dataDir, file, onProgress);
  const folder = resolve(dataDir);
  return { outcome: 'refused', problem: `There is no store in ${folder}: set MAYFLY_DATA_DIR.` };
}

export async function previewBackup({ store, dataDir }: Settings, file: string): Promise<BackupOutcome> {
  return store === 'sqlite' ? previewRestore(file, dataDir) : byTheEngine;
}

export async function restoreBackup(
  { store, dataDir }: Settings,
  file: string,
  onProgress: OnProgress,
): Promise<BackupOutcome> {
  if (store !== 'sqlite') return byTheEngine;
  return restoreStore(file, dataDir, Math.floor(Date.now() / 1000), onProgress);
}
