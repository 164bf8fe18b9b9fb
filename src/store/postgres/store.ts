/**
 * The store over PostgreSQL, for any number of equal nodes. Each decision is one statement on the primary; what resolves is durable at
 * the store's class (P2, P5). Expiry is judged by a store time that all nodes share and that never steps back (P8).
 */
import type { NewRecord } from '../../core/secret.ts';
import type { Store } from '../store.ts';
import { createAccountStore, createTokenStore } from './accounts.ts';
import { createAttemptStore } from './attempts.ts';
import { createCreationStore } from './creations.ts';
import { createDeletionStore } from './deletion.ts';
import { createDomainStore } from './domains.ts';
import { type EngineOptions, openEngine } from './engine.ts';
import { createMailStore } from './mail.ts';
import { createPasswordStore } from './passwords.ts';
import { createRecordStore } from './records.ts';
import { createRoom } from './room.ts';
import { createRootStore } from './roots.ts';
import { createSessionStore } from './sessions.ts';
import { createSweepStore } from './sweep.ts';

export interface PostgresStoreOptions extends EngineOptions {
  /** What the data may take before new secrets are refused as `storage_full`; no more than the engine has if absent or `null`. */
  readonly maxStorageBytes?: number | null;
}

export interface PostgresStore extends Store, AsyncDisposable {}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const engine = await openEngine(options);
  const { time } = engine;
  const room = createRoom(engine, options.maxStorageBytes ?? null);
  const records = createRecordStore(engine);
  return {
    ...records,
    ...createMailStore(engine),
    ...createSweepStore(engine),
    ...createAttemptStore(engine),
    ...createCreationStore(engine),
    ...createRootStore(engine),
    ...createAccountStore(engine),
    ...createTokenStore(engine),
    ...createPasswordStore(engine),
    ...createSessionStore(engine),
    ...createDeletionStore(engine),
    ...createDomainStore(engine),
    put: (record: NewRecord) => room.storing(() => records.put(record)),
    usedBytes: room.usedBytes,
    assertRoom: room.assertRoom,
    now: time.now,
    clock: time.report,
    [Symbol.asyncDispose]: () => engine.close(),
  } as unknown as PostgresStore;
}
