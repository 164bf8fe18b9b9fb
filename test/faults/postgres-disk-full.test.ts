/**
 * A PostgreSQL server without room for another secret: its tables are on a file system in memory of 8 MiB, its log is not. Mounting that
 * needs root.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../src/core/errors.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/store.ts';
import { clientStays, createSettableClock, found, newRecord } from '../stores/conformance/check.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

let server: PostgresServer;
let store: PostgresStore;
const directory = mkdtempSync(join(tmpdir(), 'mayfly-'));

const run = (command: string, ...args: string[]): void => void execFileSync(command, args);

beforeAll(async () => {
  run('mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', directory);
  run('chown', 'postgres', directory);
  server = await startPostgres();
  await server.ask(`CREATE TABLESPACE small LOCATION '${directory}'`);
  await server.configure({ default_tablespace: 'small', autovacuum: 'off' });
  store = await openPostgresStore({ url: server.url, clock: createSettableClock(), durability: 'single' });
});

afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  run('umount', directory);
  rmSync(directory, { recursive: true });
});

const outcomeOf = (deed: Promise<unknown>): Promise<string> =>
  deed.then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );

/** Stores a hundred at a time until none of them finds room; which were stored, and how the others were refused. */
async function fillUp(): Promise<{ stored: NewRecord[]; refusals: string[] }> {
  const stored: NewRecord[] = [];
  const refusals = new Set<string>();
  for (let isFull = false; !isFull; ) {
    const records = Array.from({ length: 100 }, () => newRecord(store.now()));
    const outcomes = await Promise.all(records.map((record) => outcomeOf(store.put(record))));
    stored.push(...records.filter((_, n) => outcomes[n] === 'done'));
    for (const outcome of outcomes) if (outcome !== 'done') refusals.add(outcome);
    isFull = outcomes.every((outcome) => outcome !== 'done');
  }
  return { stored, refusals: [...refusals] };
}

describe('a PostgreSQL server without room', () => {
  it('P23: refuses new secrets, while those that were stored are read and burned, and takes more as soon as there is room', async () => {
    const { stored, refusals } = await fillUp();
    expect(refusals).toEqual(['storage_full']);
    expect(stored.length).toBeGreaterThan(1_000);
    expect(await outcomeOf(store.assertRoom())).toBe('storage_full');
    const [read, burned] = [stored.slice(0, 500), stored.slice(-500)];
    const claims = read.map(async ({ secretId }) => store.claim(await found(store, secretId), clientStays));
    expect(new Set(await Promise.all(claims))).toEqual(new Set(['won']));
    const burns = await Promise.all(
      burned.map(({ receiptId }) => outcomeOf(store.burn(receiptId, clientStays))),
    );
    expect(new Set(burns)).toEqual(new Set(['done']));
    run('mount', '-o', 'remount,size=64m', directory);
    await store.put(newRecord(store.now()));
    expect(await outcomeOf(store.assertRoom())).toBe('done');
  }, 60_000);
});
