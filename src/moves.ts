/** Moves data between the stores named by a command, and accepts a store restored on a PostgreSQL server. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { readTextFile, type Settings } from './config/read.ts';
import { type PostgresServer, storeAddress } from './config/store-address.ts';
import { readAs, whyUnread } from './config/text.ts';
import { ServiceError } from './core/errors.ts';
import type { BackupOutcome, CancelOutcome, StoreMove, StoreMoveOutcome } from './core/store-copies.ts';
import { createMachineClock } from './ops/machine-clock.ts';
import { MoveProblem, type MoveSource, type MoveTarget, moveStore } from './store/move/move.ts';
import { openSqliteSource, openSqliteTarget } from './store/sqlite/moving.ts';
import { StoreRefusal } from './store/store.ts';
import { optionsFor, outdated } from './stores.ts';

/** A store, as named in a command. */
type Address = { readonly folder: string } | { readonly server: PostgresServer };

class AddressProblem extends Error {}

function addressOf(given: string, { dataDir }: Settings): Address {
  const text = given.startsWith('@') ? readGiven(given.slice(1)) : given;
  if (text === 'sqlite') return { folder: resolve(dataDir) };
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length)
    return { folder: resolve(text.slice('sqlite:'.length)) };
  const parsed = storeAddress.parse(text, readTextFile);
  if ('value' in parsed && parsed.value !== 'sqlite') return { server: parsed.value };
  const objection = 'objections' in parsed ? parsed.objections[0] : undefined;
  throw new AddressProblem(
    objection === undefined
      ? 'Name a store as sqlite:FOLDER or postgres://user@host:port/database, or as @FILE that contains this.'
      : `An address${objection}`,
  );
}

function readGiven(path: string): string {
  try {
    return readAs('word', readTextFile(path));
  } catch (error) {
    throw new AddressProblem(`The file ${path} ${whyUnread(error)}.`);
  }
}

const shownOf = (address: Address): string => ('folder' in address ? address.folder : address.server.shown);

const isSame = (one: Address, other: Address): boolean => shownOf(one) === shownOf(other);

/** Updates the tables and checks the server, as a node does when it starts. */
async function preparePostgres(settings: Settings, server: PostgresServer, isSource: boolean): Promise<void> {
  const { probeServer } = await import('./store/postgres/server.ts');
  const { openEngine } = await import('./store/postgres/engine.ts');
  const options = optionsFor(settings, server);
  const { durability, tables } = await probeServer(options, server.shown);
  if (isSource && tables === 'none')
    throw new StoreRefusal('not_a_store', `There is no store at ${server.shown}.`);
  if (isSource && tables === 'older') throw new StoreRefusal('older_server', outdated);
  await (await openEngine({ ...options, durability, clock: createMachineClock() })).close();
}

/** Checks the schema. A closed store needs this check too, because it is never prepared. */
async function checkServer(settings: Settings, server: PostgresServer): Promise<void> {
  const { probeServer } = await import('./store/postgres/server.ts');
  await probeServer(optionsFor(settings, server), server.shown);
}

async function openSource(address: Address, settings: Settings): Promise<MoveSource> {
  if ('folder' in address) return openSqliteSource(address.folder, createMachineClock());
  await checkServer(settings, address.server);
  const { openPostgresSource } = await import('./store/postgres/moving.ts');
  const { url, tls } = optionsFor(settings, address.server);
  return openPostgresSource({ url, tls }, () => preparePostgres(settings, address.server, true));
}

async function openTarget(address: Address, settings: Settings): Promise<MoveTarget> {
  if ('folder' in address) return openSqliteTarget(address.folder);
  await checkServer(settings, address.server);
  const { openPostgresTarget } = await import('./store/postgres/moving.ts');
  const { url, tls } = optionsFor(settings, address.server);
  return openPostgresTarget({ url, tls }, () => preparePostgres(settings, address.server, false));
}

/** @throws StoreRefusal with the server's reason */
async function opened<Side>(address: Address, opening: Promise<Side>): Promise<Side> {
  try {
    return await opening;
  } catch (error) {
    if ('folder' in address || error instanceof StoreRefusal) throw error;
    const { toRefusal } = await import('./store/postgres/server.ts');
    throw toRefusal(error, address.server.shown);
  }
}

function problemOf(error: unknown): string {
  const isForOperator =
    error instanceof StoreRefusal ||
    error instanceof MoveProblem ||
    error instanceof AddressProblem ||
    error instanceof ServiceError;
  if (!isForOperator) throw error;
  return error.message;
}

export async function moveBetweenStores(settings: Settings, asked: StoreMove): Promise<StoreMoveOutcome> {
  const { isFinishing, onProgress } = asked;
  try {
    const [from, to] = [addressOf(asked.from, settings), addressOf(asked.to, settings)];
    if (isSame(from, to)) throw new AddressProblem('FROM and TO are the same store.');
    await using source = await opened(from, openSource(from, settings));
    await using target = await opened(to, openTarget(to, settings));
    const freshId = new Uint8Array(randomBytes(16));
    const moved = await moveStore({ source, target, freshId, isFinishing, onProgress });
    return { ...moved, from: shownOf(from), to: shownOf(to) };
  } catch (error) {
    return { outcome: 'refused', problem: problemOf(error) };
  }
}

export async function cancelMove(settings: Settings, given: string): Promise<CancelOutcome> {
  try {
    const from = addressOf(given, settings);
    await using source = await opened(from, openSource(from, settings));
    return { outcome: (await source.cancel()) ? 'cancelled' : 'none' };
  } catch (error) {
    return { outcome: 'refused', problem: problemOf(error) };
  }
}

const notRestored =
  'The store does not seem to be restored. To burn its unread secrets anyway, run mayfly burn-all.';
const embedded = 'Nothing to accept: the embedded store is restored with mayfly restore.';

/** Reports what a restored store contains, and burns its waiting secrets if `isAccepted`. */
async function restoredStore(settings: Settings, isAccepted: boolean): Promise<BackupOutcome> {
  const { store } = settings;
  if (store === 'sqlite') return { outcome: 'refused', problem: embedded };
  const { openMoveSession } = await import('./store/postgres/move-session.ts');
  const { acceptRestore, previewRestored } = await import('./store/postgres/moving.ts');
  const options = optionsFor(settings, store);
  try {
    await checkServer(settings, store);
    await using session = await openMoveSession(options);
    const facts = await previewRestored(session);
    if (facts === null) return { outcome: 'refused', problem: notRestored };
    if (isAccepted) await acceptRestore(session);
    return { outcome: 'done', facts };
  } catch (error) {
    return { outcome: 'refused', problem: problemOf(error) };
  }
}

export const previewRestoredStore = (settings: Settings) => restoredStore(settings, false);
export const acceptRestoredStore = (settings: Settings) => restoredStore(settings, true);
