/**
 * A full disk: a 1 MiB file system in memory, filled with secrets and by other programs. Mounting it needs root.
 */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../src/core/errors.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { limits } from '../stores/conformance/attempt-fixtures.ts';
import {
  clientStays,
  createSettableClock,
  found,
  newRecord,
  ttlSeconds,
} from '../stores/conformance/check.ts';

const ballastBytes = 128 * 1024;
let directory = '';
let wallClock = createSettableClock();

async function run(...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  wallClock = createSettableClock();
  await run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory);
});

afterEach(async () => {
  await run('umount', directory);
  rmSync(directory, { recursive: true });
});

const open = (ballast = ballastBytes) =>
  openSqliteStore({ directory, clock: wallClock, ballastBytes: ballast });

const outcomeOf = (deed: Promise<unknown>): Promise<string> =>
  deed.then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );

interface Filled {
  readonly stored: NewRecord[];
  readonly refused: NewRecord[];
  readonly refusals: Set<string>;
}

/** Stores secrets, `together` at a time, until even a scrub no longer makes room for one. */
async function fillUp(store: SqliteStore, together: number): Promise<Filled> {
  const filled: Filled = { stored: [], refused: [], refusals: new Set() };
  for (let refusedInARow = 0; refusedInARow < 10; ) {
    const records = Array.from({ length: together }, () => newRecord(store.now()));
    const outcomes = await Promise.all(records.map((record) => outcomeOf(store.put(record))));
    for (const [n, record] of records.entries()) {
      filled[outcomes[n] === 'done' ? 'stored' : 'refused'].push(record);
      if (outcomes[n] !== 'done') filled.refusals.add(outcomes[n] ?? '');
    }
    refusedInARow = outcomes.includes('done') ? 0 : refusedInARow + 1;
    if (refusedInARow > 0) await store.scrub();
  }
  return filled;
}

describe('a full disk', () => {
  for (const together of [1, 16]) {
    it(`P5 P23: refuses new secrets and still reads and burns every old one, with ${together} at once`, async () => {
      await using store = await open();
      const { stored, refused, refusals } = await fillUp(store, together);
      expect(stored.length).toBeGreaterThan(100);
      expect([...refusals]).toEqual(['storage_full']);
      for (const record of refused) expect(await store.findSecret(record.secretId)).toBeNull();
      for (const [n, record] of stored.entries()) {
        const secret = await found(store, record.secretId);
        expect(secret.sealedSecret).toEqual(record.sealedSecret);
        if (n % 2 === 0) expect(await store.claim(secret, clientStays)).toBe('won');
        else expect(await store.burn(record.receiptId, clientStays)).not.toBeNull();
      }
      expect(await outcomeOf(store.put(newRecord(store.now())))).toBe('storage_full');
    }, 60_000);
  }

  /** Fills every byte that is left, as another program might. */
  function takeTheRest(): void {
    const file = openSync(join(directory, 'stuffing'), 'w');
    try {
      for (;;) writeSync(file, new Uint8Array(512));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    } finally {
      closeSync(file);
    }
  }

  async function burnsOnStuffedDisk(ballast: number): Promise<string[]> {
    await using store = await open(ballast);
    const records = Array.from({ length: 50 }, () => newRecord(store.now()));
    await Promise.all(records.map((record) => store.put(record)));
    await store.scrub();
    takeTheRest();
    const outcomes: string[] = [];
    for (const record of records) outcomes.push(await outcomeOf(store.burn(record.receiptId, clientStays)));
    return [...new Set(outcomes)];
  }

  it('P23: still allows burns when another program has filled it to the last byte', async () => {
    expect(await burnsOnStuffedDisk(ballastBytes)).toEqual(['done']);
  });

  it('P23: refuses burns then without a ballast', async () => {
    // One may fit into what is left of the log.
    expect(await burnsOnStuffedDisk(0)).toContain('unavailable');
  });

  it('P23: counts passphrase attempts and sweeps', async () => {
    await using store = await open();
    const { stored } = await fillUp(store, 4);
    for (const { secretId } of stored.slice(0, 20)) {
      expect((await store.reserve(secretId, new Uint8Array(16), limits)).outcome).toBe('reserved');
    }
    wallClock.advance(ttlSeconds);
    expect(await store.sweep(50)).toBe(50);
    expect(await store.scrub()).toBe(true);
  }, 60_000);

  it('P23: takes new secrets again, without a restart, when somebody makes room', async () => {
    const stuffing = join(directory, 'stuffing');
    await using store = await open();
    const first = newRecord(store.now());
    await store.put(first);
    writeFileSync(stuffing, new Uint8Array(450 * 1024));
    const { stored, refusals } = await fillUp(store, 1);
    expect([...refusals]).toEqual(['storage_full']);
    expect(await outcomeOf(store.assertRoom())).toBe('storage_full');
    rmSync(stuffing);
    expect(await outcomeOf(store.assertRoom())).toBe('done');
    const late = newRecord(store.now());
    expect(await outcomeOf(store.put(late))).toBe('done');
    for (const record of [first, ...stored, late])
      expect(await store.findSecret(record.secretId)).not.toBeNull();
  }, 60_000);

  it('P5: has lost nothing that was acknowledged when it is opened again', async () => {
    const store = await open();
    const { stored, refused } = await fillUp(store, 8);
    const [read] = stored;
    if (read === undefined) throw new Error('nothing was stored');
    expect(await store.claim(await found(store, read.secretId), clientStays)).toBe('won');
    await store[Symbol.asyncDispose]();
    await using again = await open();
    expect(await again.findSecret(read.secretId)).toBeNull();
    for (const record of stored.slice(1)) expect(await again.findSecret(record.secretId)).not.toBeNull();
    for (const record of refused) expect(await again.findSecret(record.secretId)).toBeNull();
  }, 60_000);
});
