/**
 * The store over PostgreSQL, for any number of equal nodes. Each decision is one statement on the primary; what resolves is durable at
 * the store's class (P2, P5). Expiry is judged by a store time that all nodes share and that never steps back (P8).
 */
import type { MachineClock } from '../../core/time.ts';
import type { Store } from '../store.ts';
import { createAccountStore, createTokenStore } from './accounts.ts';
import { createDeletionStore } from './deletion.ts';
import { createDomainStore } from './domains.ts';
import { openEngine } from './engine.ts';
import { createPasswordStore } from './passwords.ts';
import { createRecordStore } from './records.ts';
import { createSessionStore } from './sessions.ts';

export interface PostgresStoreOptions {
  readonly url: string;
  /** The schema that the tables are in; the connection's own if absent. */
  readonly schema?: string;
  readonly clock: MachineClock;
}

export interface PostgresStore extends Store, AsyncDisposable {}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const engine = await openEngine(options);
  const { time } = engine;
  return {
    ...createRecordStore(engine),
    ...createAccountStore(engine),
    ...createTokenStore(engine),
    ...createPasswordStore(engine),
    ...createSessionStore(engine),
    ...createDeletionStore(engine),
    ...createDomainStore(engine),
    now: time.now,
    clock: time.report,
    usedBytes: async () => 0,
    [Symbol.asyncDispose]: () => engine.close(),
  } as unknown as PostgresStore;
}
