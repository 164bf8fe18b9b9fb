/**
 * The embedded store while its open files are moved, removed or replaced.
 */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreMovedError } from '../../src/core/errors.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { clientStays, createSettableClock, found, newRecord, putNew } from './conformance/check.ts';
import { testBallastBytes } from './subjects.ts';

let directory = '';
const aside = () => join(directory, 'aside');
const database = () => join(directory, 'mayfly.db');

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () =>
  openSqliteStore({ directory, clock: createSettableClock(), ballastBytes: testBallastBytes });

const outcomeOf = (deed: Promise<unknown>): Promise<unknown> =>
  deed.then(
    () => 'done',
    (error: unknown) => (error instanceof StoreMovedError ? 'moved' : error),
  );

/** What the store answers after one sweep. */
async function answersOf(store: SqliteStore, stored: NewRecord): Promise<Readonly<Record<string, unknown>>> {
  return {
    sweep: await outcomeOf(store.sweep(10)),
    put: await outcomeOf(store.put(newRecord(store.now()))),
    secret: await outcomeOf(store.findSecret(stored.secretId)),
    receipt: await outcomeOf(store.findReceipt(stored.receiptId)),
    burn: await outcomeOf(store.burn(stored.receiptId, clientStays)),
    account: await outcomeOf(store.findAccount('jo@example.org')),
    /** What `/readyz` calls. */
    ready: await outcomeOf(store.findRootCheck(1)),
    domain: await outcomeOf(store.findVerifiedDomain('example.org')),
    scrub: await outcomeOf(store.scrub()),
  };
}

const allOf = (answer: string) => ({
  ...{ sweep: answer, put: answer, secret: answer, receipt: answer, burn: answer },
  ...{ account: answer, ready: answer, domain: answer, scrub: answer },
});

/** Polls until the writer, which checks every second, serves again; returns whether it does. */
async function servesAgain(store: SqliteStore): Promise<boolean> {
  const giveUpAt = performance.now() + 20_000;
  while (performance.now() < giveUpAt) {
    if ((await outcomeOf(store.scrub())) === 'done') return true;
    await new Promise((resume) => setImmediate(resume));
  }
  return false;
}

describe('a database file that is not where it was opened', () => {
  const files = ['mayfly.db', 'mayfly.db-wal', 'mayfly.db-shm'] as const;
  for (const name of files) {
    it(`P5: answers nothing within a sweep of ${name} having been moved away`, async () => {
      await using store = await open();
      const stored = await putNew(store);
      renameSync(join(directory, name), aside());
      expect(await answersOf(store, stored)).toEqual(allOf('moved'));
      renameSync(aside(), join(directory, name));
    });
  }

  it('P5: neither takes nor releases anything after a sweep, and loses nothing of what was asked', async () => {
    await using store = await open();
    const secret = await found(store, (await putNew(store)).secretId);
    renameSync(database(), aside());
    expect(await outcomeOf(Promise.all([store.sweep(10), store.claim(secret, clientStays)]))).toBe('moved');
    expect(await outcomeOf(store.claim(secret, clientStays))).toBe('moved');
    expect(await outcomeOf(store.put(newRecord(store.now())))).toBe('moved');
    renameSync(aside(), database());
    expect(await servesAgain(store)).toBe(true);
    // The earlier claim was refused before it began.
    expect(await store.claim(secret, clientStays)).toBe('won');
  }, 30_000);

  it('P23: serves again, without a restart, when it has been put back', async () => {
    await using store = await open();
    const stored = await putNew(store);
    renameSync(database(), aside());
    await outcomeOf(store.sweep(10));
    renameSync(aside(), database());
    expect(await servesAgain(store)).toBe(true);
    expect((await found(store, stored.secretId)).sealedSecret).toEqual(stored.sealedSecret);
    const late = await putNew(store);
    await using other = await open();
    for (const record of [stored, late]) expect(await other.findSecret(record.secretId)).not.toBeNull();
  }, 30_000);

  it('P5: answers nothing within a sweep of its removal', async () => {
    await using store = await open();
    const stored = await putNew(store);
    rmSync(database());
    expect(await answersOf(store, stored)).toEqual(allOf('moved'));
  });

  it('P5: is noticed by every process on the folder', async () => {
    await using first = await open();
    await using second = await open();
    const stored = await putNew(first);
    expect(await second.findSecret(stored.secretId)).not.toBeNull();
    renameSync(database(), aside());
    for (const store of [first, second]) expect(await answersOf(store, stored)).toEqual(allOf('moved'));
    renameSync(aside(), database());
    for (const store of [first, second]) expect(await servesAgain(store)).toBe(true);
  }, 30_000);

  it('P5: keeps its latest secrets through a stop while it is elsewhere', async () => {
    const store = await open();
    const stored = await putNew(store);
    renameSync(database(), aside());
    await outcomeOf(store.sweep(10));
    await store[Symbol.asyncDispose]();
    renameSync(aside(), database());
    await using again = await open();
    expect(await again.findSecret(stored.secretId)).not.toBeNull();
  });
});
