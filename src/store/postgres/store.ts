/**
 * The store over PostgreSQL, for any number of equal nodes. Each decision is one statement on the primary; what resolves is durable at
 * the store's class (P2, P5). Expiry is judged by a store time that all nodes share and that never steps back (P8).
 */
import type { Store } from '../store.ts';
import { type EngineOptions, openEngine } from './engine.ts';
import { createRecordStore } from './records.ts';

export type PostgresStoreOptions = EngineOptions;

export interface PostgresStore extends Store, AsyncDisposable {}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const engine = await openEngine(options);
  const { time } = engine;
  return {
    ...createRecordStore(engine),
    now: time.now,
    clock: time.report,
    usedBytes: async () => 0,
    [Symbol.asyncDispose]: () => engine.close(),
  } as unknown as PostgresStore;
}
