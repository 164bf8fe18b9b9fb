/**
 * The store over PostgreSQL, for any number of equal nodes. Each decision is one statement on the primary; what resolves is durable at
 * the store's class (P2, P5). Expiry is judged by a store time that all nodes share and that never steps back (P8).
 */
import type { SharedLimits } from '../../core/ports/limits.ts';
import type { MachineClock } from '../../core/time.ts';
import { withEpochs } from '../epochs.ts';
import type { Store } from '../store.ts';
import { judgeByStoreTime } from '../store-time.ts';
import { createAccountStore } from './accounts.ts';
import { createAttemptStore } from './attempts.ts';
import { createStoreClock } from './clock.ts';
import { createCreationStore } from './creations.ts';
import { createDeletionStore } from './deletion.ts';
import { createDomainStore } from './domains.ts';
import { type Engine, type EngineOptions, type EngineStatus, openEngine } from './engine.ts';
import { createEpochTable } from './epochs.ts';
import { createSharedLimits } from './limits.ts';
import { createMailStore } from './mail.ts';
import { createPasswordStore } from './passwords.ts';
import { createRoom } from './room.ts';
import { createRootStore } from './roots.ts';
import { createSecretStore } from './secrets.ts';
import { createSessionStore } from './sessions.ts';
import { decision } from './statement.ts';
import { createSweepStore } from './sweep.ts';
import { createTicketStore } from './tickets.ts';
import { createServerClock } from './time.ts';
import { createTokenStore } from './tokens.ts';

/** The time is kept, or heard, this often. */
const tickMs = 1_000;

/** Needs the same locks and rights as a claim, and finds no row. */
const probeRecords = decision(
  `UPDATE mayfly_store.records SET state = state FROM clock WHERE secret_id = ''::bytea`,
);

export interface PostgresStoreOptions extends Omit<EngineOptions, 'clock'> {
  /** This machine's. Only the time that passes on it counts: the wall clock of all nodes is the server's. */
  readonly clock: MachineClock;
  /** What the data may take before new secrets are refused as `storage_full`; no more than the engine has if absent or `null`. */
  readonly maxStorageBytes?: number | null;
}

/** Disposing waits for what is under way, and ends every connection. */
export interface PostgresStore extends Store, AsyncDisposable {
  engineStatus(): EngineStatus;
  /** @param key as in `createSharedLimits` */
  limitsUnder(key: Uint8Array): SharedLimits;
}

/** A store that keeps the time by itself. */
export interface OpenPostgresStore extends PostgresStore {
  /** Resolves when a secret could be read and burned now; rejects with why not. May be asked every second. */
  assertCommits(isDoubted: boolean): Promise<void>;
}

/** Opens the store, or rejects with a `StoreRefusal` that says why not and what to do. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenPostgresStore> {
  const clock = createServerClock(options.clock, () => performance.now());
  const engine = await openEngine({ ...options, clock });
  const store = createPostgresStore(engine, options.maxStorageBytes);
  let hasTicked = true;
  async function tick(): Promise<void> {
    hasTicked = await engine.time.tick().then(
      () => true,
      // Tried again in a second, and before the next decision.
      () => false,
    );
  }
  const ticking = setInterval(() => void tick(), tickMs);
  return {
    ...store,
    async assertCommits(isDoubted) {
      // After a failure only a confirmed write shows that it is over: one that was not confirmed may have moved the kept time on.
      if (isDoubted || !hasTicked) await engine.time.keep();
      await engine.decide(probeRecords, []);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(ticking);
      await store[Symbol.asyncDispose]();
    },
  };
}

/** @param maxStorageBytes as in the options */
export function createPostgresStore(engine: Engine, maxStorageBytes: number | null = null): PostgresStore {
  const { usedBytes, assertRoom, storing } = createRoom(engine, maxStorageBytes);
  const secrets = createSecretStore(engine);
  const sweeps = createSweepStore(engine);
  const creations = createCreationStore(engine);
  const mail = createMailStore(engine);
  const { time } = engine;
  const epochs = withEpochs(
    createEpochTable(engine),
    { ...secrets, ...sweeps, put: (record) => storing(() => secrets.put(record)) },
    time,
  );
  return {
    ...epochs,
    ...judgeByStoreTime({ ...secrets, ...mail, ...sweeps, ...epochs, now: time.now }, time),
    findAnyLook: secrets.findAnyLook,
    replaceWrapping: secrets.replaceWrapping,
    ...createAttemptStore(engine),
    ...createAccountStore(engine),
    ...createTokenStore(engine),
    ...createTicketStore(engine),
    ...createPasswordStore(engine),
    ...createSessionStore(engine),
    ...createDeletionStore(engine),
    ...createDomainStore(engine),
    ...createRootStore(engine),
    ...creations,
    reserveCreation: (creation) => storing(() => creations.reserveCreation(creation)),
    ...createStoreClock(engine, sweeps.sweep),
    usedBytes,
    assertRoom,
    engineStatus: engine.status,
    limitsUnder: (key) => createSharedLimits(engine, key),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}
