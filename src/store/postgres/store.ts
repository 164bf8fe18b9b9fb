/**
 * The PostgreSQL store, for any number of equal nodes. Each decision is one statement on the primary, as durable as
 * `durability` requires once it resolves (P2, P5). Expiry is judged by a store time that all nodes share and that
 * never goes back (P8).
 */
import type { SharedLimits } from '../../core/ports/limits.ts';
import type { MachineClock } from '../../core/time.ts';
import { withEpochs } from '../epochs.ts';
import type { Store } from '../store.ts';
import { judgeByStoreTime } from '../store-time.ts';
import { createAccountStore } from './accounts.ts';
import { createAttemptStore } from './attempts.ts';
import { createStoreClock } from './clock.ts';
import { createCodeStore } from './codes.ts';
import { createCreationStore } from './creations.ts';
import { createDeletionStore } from './deletion.ts';
import { createDomainStore } from './domains.ts';
import { type Engine, type EngineOptions, type EngineStatus, openEngine } from './engine.ts';
import { createEpochTable } from './epochs.ts';
import { createSharedLimits } from './limits.ts';
import { createMailStore } from './mail.ts';
import { createPasswordStore } from './passwords.ts';
import { createRequestStore } from './requests.ts';
import { createRoom } from './room.ts';
import { createRootStore } from './roots.ts';
import { createSecretStore } from './secrets.ts';
import { createSessionStore } from './sessions.ts';
import { decision } from './statement.ts';
import { createSweepStore } from './sweep.ts';
import { createTicketStore } from './tickets.ts';
import { createServerClock } from './time.ts';
import { createTokenStore } from './tokens.ts';

const tickMs = 1_000;

/** Needs the same locks and rights as a claim, but finds no row. */
const probeRecords = decision(
  `UPDATE mayfly_store.records SET state = state FROM clock WHERE secret_id = ''::bytea`,
);

export interface PostgresStoreOptions extends Omit<EngineOptions, 'clock'> {
  /** Only its elapsed time counts: all nodes use the server's wall clock. */
  readonly clock: MachineClock;
  /** New secrets are refused as `storage_full` at this size; if absent or `null`, only the engine sets a limit. */
  readonly maxStorageBytes?: number | null;
}

export interface PostgresStore extends Store, AsyncDisposable {
  engineStatus(): EngineStatus;
  /** @param key as in `createSharedLimits` */
  limitsUnder(key: Uint8Array): SharedLimits;
}

export interface OpenPostgresStore extends PostgresStore {
  /** Rejects with the reason why a secret could not be read and burned now. May be called every second. */
  assertCommits(isDoubted: boolean): Promise<void>;
}

/** Opens the store, or rejects with a `StoreRefusal` that says what to do. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenPostgresStore> {
  const clock = createServerClock(options.clock, () => performance.now());
  const engine = await openEngine({ ...options, clock });
  const store = createPostgresStore(engine, options.maxStorageBytes);
  let hasTicked = true;
  async function tick(): Promise<void> {
    hasTicked = await engine.time.tick().then(
      () => true,
      () => false,
    );
  }
  const ticking = setInterval(() => void tick(), tickMs);
  return {
    ...store,
    async assertCommits(isDoubted) {
      // An unconfirmed write may have advanced the saved time, so only a confirmed one shows that a failure is over.
      if (isDoubted || !hasTicked) await engine.time.keep();
      await engine.decide(probeRecords, []);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(ticking);
      await store[Symbol.asyncDispose]();
    },
  };
}

export function createPostgresStore(engine: Engine, maxStorageBytes: number | null = null): PostgresStore {
  const { usedBytes, assertRoom, storing } = createRoom(engine, maxStorageBytes);
  const secrets = createSecretStore(engine);
  const sweeps = createSweepStore(engine);
  const creations = createCreationStore(engine);
  const requests = createRequestStore(engine);
  const mail = createMailStore(engine);
  const { time } = engine;
  const epochs = withEpochs(
    createEpochTable(engine),
    {
      ...secrets,
      ...sweeps,
      put: (record) => storing(() => secrets.put(record)),
      putAnswer: (answer) => storing(() => requests.putAnswer(answer)),
    },
    time,
  );
  return {
    ...requests,
    putRequest: (request, maxPlaces) => storing(() => requests.putRequest(request, maxPlaces)),
    ...epochs,
    ...judgeByStoreTime({ ...secrets, ...mail, ...sweeps, ...epochs, now: time.now }, time),
    findAnyLook: secrets.findAnyLook,
    replaceWrapping: secrets.replaceWrapping,
    ...createAttemptStore(engine),
    ...createCodeStore(engine),
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
