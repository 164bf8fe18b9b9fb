/**
 * Stores to run checks on: the real ones, opened fresh, each with its own wall clock.
 */
import { Database } from 'bun:sqlite';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openEngine } from '../../src/store/postgres/engine.ts';
import { createPostgresStore, type PostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { openTcpLink } from '../support/tcp-link.ts';
import {
  createSettableClock,
  type Means,
  type SettableClock,
  type StoreUnderTest,
} from './conformance/check.ts';
import { playUnconfirmed } from './memory/unconfirmed.ts';
import { createMemoryStore } from './memory.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { giveBack, takeSchema } from './postgres/schemas.ts';

type Having<M extends Means> = StoreUnderTest & Required<Pick<StoreUnderTest, M>>;

export async function openMemorySubject(): Promise<Having<'openSecond' | 'holdClaims'>> {
  const wallClock = createSettableClock();
  const { store, holdClaims } = playUnconfirmed(createMemoryStore({ clock: wallClock }));
  // All copies of its methods share one state.
  const openSecond = async () => ({ ...store });
  return { store, wallClock, openSecond, holdClaims, close: async () => {} };
}

/** Small, because each store that a test opens writes a fresh one. */
export const testBallastBytes = 256 * 1024;

export interface SqliteSubject extends Having<'reopen' | 'openSecond' | 'holdWrites'> {
  readonly directory: string;
}

export async function openSqliteSubject(): Promise<SqliteSubject> {
  const directory = makeMemoryFolder();
  const wallClock = createSettableClock();
  const open = () => openSqliteStore({ directory, clock: wallClock, ballastBytes: testBallastBytes });
  const stores = [await open()];
  async function openAgain(): Promise<Store> {
    const store = await open();
    stores.push(store);
    return store;
  }
  return {
    directory,
    store: stores[0] ?? (await open()),
    wallClock,
    // The first store keeps its connections open: a crash closes nothing properly.
    reopen: openAgain,
    openSecond: openAgain,
    holdWrites() {
      const other = new Database(join(directory, 'mayfly.db'), { readwrite: true });
      other.run('BEGIN IMMEDIATE');
      return () => {
        other.run('ROLLBACK');
        other.close();
      };
    },
    async close() {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A node whose server's clock, and its own, are `clock`. */
export async function openDriven(
  { url }: Pick<PostgresServer, 'url'>,
  schema: string,
  clock: SettableClock,
  poolSize = 4,
): Promise<PostgresStore> {
  return createPostgresStore(await openEngine({ url, schema, clock, durability: 'single', poolSize }));
}

/** A schema of its own on a server that many share: a tenth of what a database costs. */
export async function openPostgresSubject(server: PostgresServer): Promise<Having<'reopen' | 'openSecond'>> {
  const schema = await takeSchema(server);
  const wallClock = createSettableClock();
  const store = await openDriven(server, schema, wallClock);
  const stores = [store];
  async function openAgain(): Promise<Store> {
    const again = await openDriven(server, schema, wallClock);
    stores.push(again);
    return again;
  }
  return {
    store,
    wallClock,
    // The first store keeps its connections open: a crash closes nothing properly.
    reopen: openAgain,
    openSecond: openAgain,
    async close() {
      for (const each of stores) await each[Symbol.asyncDispose]();
      giveBack(server, schema);
    },
  };
}

/** A node with one connection for its decisions, over a link that can be stalled: what comes later waits for the connection. */
export async function openNarrowSubject(server: PostgresServer): Promise<Having<'holdWrites'>> {
  const schema = await takeSchema(server);
  const wallClock = createSettableClock();
  const link = await openTcpLink(server.port);
  const url = server.url.replace(String(server.port), String(link.port));
  const store = await openDriven({ url }, schema, wallClock, 2);
  return {
    store,
    wallClock,
    holdWrites() {
      link.stall();
      return link.resume;
    },
    async close() {
      await store[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
      // Not given back: a stalled statement may still be under way there.
      await server.ask(`DROP SCHEMA ${schema} CASCADE`);
    },
  };
}
