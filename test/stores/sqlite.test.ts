/**
 * What only the embedded store promises: refusals at the start, erasure in its files, several handles on one folder.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AccountId, tokenScopes } from '../../src/core/account.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { loopSettings } from '../../src/store/sqlite/database.ts';
import { openSqliteStore, openWith, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { StoreRefusal } from '../../src/store/store.ts';
import { announceSeed, createDice } from '../support/run-seed.ts';
import { ownerIn } from './conformance/account-fixtures.ts';
import { clientStays, createSettableClock, found, newRecord, putNew, recentOf } from './conformance/check.ts';
import { testBallastBytes } from './subjects.ts';

let directory = '';
let wallClock = createSettableClock();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  wallClock = createSettableClock();
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () => openSqliteStore({ directory, clock: wallClock, ballastBytes: testBallastBytes });

async function refusalOf(opening: Promise<SqliteStore>): Promise<StoreRefusal> {
  const outcome = await opening.then(
    async (store) => {
      await store[Symbol.asyncDispose]();
      return null;
    },
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(StoreRefusal);
  return outcome as StoreRefusal;
}

/** Everything in the folder except the ballast, which is random. */
function filesAsText(): string {
  const names = readdirSync(directory).filter((name) => name !== 'ballast');
  return names.map((name) => readFileSync(join(directory, name), 'latin1')).join('\n');
}

function countRows(): number {
  const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
  const row = db.query<{ n: number }, []>('SELECT count(*) AS n FROM records').get();
  db.close();
  return row?.n ?? 0;
}

describe('the start of the embedded store', () => {
  it('makes its files for its user alone', async () => {
    await using store = await open();
    await putNew(store);
    for (const name of ['mayfly.db', 'mayfly.db-wal', 'mayfly.db-shm', 'ballast']) {
      expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
  });

  it('P23: keeps 16 MiB of room for a full disk, unless it is told otherwise', async () => {
    await using store = await openSqliteStore({ directory, clock: wallClock });
    await putNew(store);
    expect(statSync(join(directory, 'ballast')).size).toBe(16 * 1024 * 1024);
  });

  it('P25: refuses data of a later version, and says so', async () => {
    await (await open())[Symbol.asyncDispose]();
    const db = new Database(join(directory, 'mayfly.db'));
    db.run('PRAGMA user_version = 999');
    db.close();
    const refusal = await refusalOf(open());
    expect(refusal.reason).toBe('newer_schema');
    expect(refusal.message).toContain('later version');
  });

  it('P25: refuses another program’s database and leaves it as it was', async () => {
    const path = join(directory, 'mayfly.db');
    const db = new Database(path, { create: true });
    db.run('CREATE TABLE theirs (a)');
    db.close();
    const before = readFileSync(path);
    expect((await refusalOf(open())).reason).toBe('foreign_database');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('P25: refuses a file that is no database', async () => {
    writeFileSync(
      join(directory, 'mayfly.db'),
      'this is no database, but it is long enough to be looked at'.repeat(100),
    );
    expect((await refusalOf(open())).reason).toBe('damaged');
  });

  it('P25: refuses a connection whose setting does not hold', async () => {
    const settings = { ...loopSettings, cacheKiB: 0.5 };
    const options = { directory, clock: wallClock, ballastBytes: testBallastBytes };
    const refusal = await refusalOf(openWith(options, { settings, isSynced: true }));
    expect(refusal.reason).toBe('unsafe_setting');
    expect(refusal.message).toContain('cache_size');
  });

  it('answers for data written in an earlier run', async () => {
    const first = await open();
    const record = await putNew(first);
    await first[Symbol.asyncDispose]();
    expect(existsSync(join(directory, 'mayfly.db-wal'))).toBe(false);
    await using second = await open();
    expect((await found(second, record.secretId)).sealedSecret).toEqual(record.sealedSecret);
  });

  it('P5: lists all that an account had stored when the process was killed', async () => {
    await using store = await open();
    const owner = await ownerIn(store);
    const records = await Promise.all(Array.from({ length: 60 }, () => putNew(store, { owner })));
    // The files at this moment are those that a kill leaves.
    const left = join(directory, 'left');
    for (const name of ['mayfly.db', 'mayfly.db-wal']) cpSync(join(directory, name), join(left, name));
    await using again = await openSqliteStore({
      directory: left,
      clock: wallClock,
      ballastBytes: testBallastBytes,
    });
    const listed = await recentOf(again, owner, 100);
    const idsOf = (of: readonly { receiptId: Uint8Array }[]) =>
      of.map(({ receiptId }) => Buffer.from(receiptId).toString('hex')).sort();
    expect(idsOf(listed)).toEqual(idsOf(records));
  });

  it('brings up several openings of a new folder at once', async () => {
    const stores = await Promise.all([open(), open(), open()]);
    const records = await Promise.all(stores.map((store) => putNew(store)));
    for (const store of stores) {
      for (const record of records) expect(await store.findSecret(record.secretId)).not.toBeNull();
    }
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
  });
});

describe('the end of the embedded store', () => {
  it('commits what was asked before it', async () => {
    const store = await open();
    const records = Array.from({ length: 50 }, () => newRecord(store.now()));
    const puts = records.map((record) => store.put(record));
    await store[Symbol.asyncDispose]();
    await Promise.all(puts);
    await using again = await open();
    for (const record of records) expect(await again.findSecret(record.secretId)).not.toBeNull();
  });

  it('P2: rejects what is asked after it', async () => {
    const store = await open();
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    await store[Symbol.asyncDispose]();
    await expect(store.claim(secret, clientStays)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.put(newRecord(1_800_000_000))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.findSecret(record.secretId)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the failure of one decision', () => {
  it('leaves its neighbours in the same batch as they are', async () => {
    await using store = await open();
    const sane = newRecord(store.now());
    const nonsense = { ...newRecord(store.now()), receiptExpiresAt: store.now() - 1 };
    const outcomes = await Promise.allSettled([
      store.put(nonsense),
      store.put(sane),
      store.addToken(99 as AccountId, {
        tokenHash: new Uint8Array(32),
        name: 'of no account',
        wrappedDataKey: new Uint8Array(1),
        scopes: tokenScopes,
        createdAt: 1,
        expiresAt: null,
      }),
      store.addRootCheck(1, new Uint8Array(32)),
    ]);
    expect(outcomes.map((each) => each.status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await store.findSecret(nonsense.secretId)).toBeNull();
    expect(await store.findSecret(sane.secretId)).not.toBeNull();
    expect(await store.findRootCheck(1)).not.toBeNull();
  });
});

it('P12: the roots in use are those that live records are wrapped under, and no others', async () => {
  await using store = await open();
  expect(await store.rootKidsInUse()).toEqual([]);
  const burned = await putNew(store, {}, 1);
  await putNew(store, { expiresAt: store.now() + 10 }, 3);
  await putNew(store, {}, 300);
  expect(await store.rootKidsInUse()).toEqual([1, 3, 300]);
  await store.burn(burned.receiptId, clientStays);
  wallClock.advance(10);
  expect(await store.rootKidsInUse()).toEqual([300]);
});

it('P12: a root is in use until the last of its records has expired, whichever process stored that one', async () => {
  await using store = await open();
  const lastsSeconds = 7 * 86_400;
  const receiptExpiresAt = store.now() + 2 * lastsSeconds;
  await putNew(store, { expiresAt: store.now() + lastsSeconds, receiptExpiresAt }, 3);
  await using other = await open();
  await putNew(other, { expiresAt: other.now() + 10 }, 3);
  wallClock.advance(lastsSeconds - 1);
  expect(await store.rootKidsInUse()).toEqual([3]);
});

describe('erasure', () => {
  /** A sealed secret in which every 16-byte run is its mark. */
  const marked = (n: number, length: number): Uint8Array => {
    const mark = createHash('sha256').update(`secret ${n}`).digest('hex').slice(0, 16);
    return Buffer.from(mark.repeat(Math.ceil(length / 16))).subarray(0, length);
  };
  /** A refused mail with every optional part set. */
  const refused = (n: number) => ({
    state: 'refused' as const,
    staleAt: null,
    noteBox: marked(n + 10_000, 70),
    addressBox: marked(n + 10_000, 60),
  });
  const remainsOf = (n: number): boolean =>
    filesAsText().includes(Buffer.from(marked(n, 16)).toString('latin1'));

  function remainsAmong(numbers: readonly number[]): number[] {
    const text = filesAsText();
    return numbers.filter((n) => text.includes(Buffer.from(marked(n, 16)).toString('latin1')));
  }

  it('P10: leaves no byte of a read, burned or expired secret in the files after a scrub', async () => {
    await using store = await open();
    const sizes = [300, 300, 300, 5_000, 20_000, 300];
    const records = [];
    for (const [n, size] of sizes.entries()) {
      records.push(await putNew(store, { sealedSecret: marked(n, size) }));
    }
    expect(sizes.map((_, n) => remainsOf(n))).toEqual(sizes.map(() => true));
    const [first, second, third, fourth, fifth] = records;
    if (!first || !second || !third || !fourth || !fifth) throw new Error('records are missing');
    await store.claim(await found(store, first.secretId), clientStays);
    await store.burn(second.receiptId, clientStays);
    await store.claim(await found(store, fourth.secretId), clientStays);
    await store.burnFound(await found(store, fifth.secretId), clientStays);
    expect(await store.scrub()).toBe(true);
    expect(sizes.map((_, n) => remainsOf(n))).toEqual([false, false, true, false, false, true]);
    wallClock.set(third.expiresAt);
    await store.sweep(100);
    expect(await store.scrub()).toBe(true);
    expect(sizes.map((_, n) => remainsOf(n))).toEqual(sizes.map(() => false));
  });

  const seed = announceSeed('erasure');
  it('P10: leaves none after any order of views, reads, burns, expiries and sweeps', async () => {
    await using store = await open();
    const dice = createDice(seed);
    const alive = new Map<number, Awaited<ReturnType<typeof putNew>>>();
    const gone: number[] = [];
    for (let n = 0; n < 2_500; n += 1) {
      // A few are long-lived, so that rows are deleted close to live ones; none of the last are, so that with every
      // seed some deleted rows have no live one near.
      const livesLong = dice(200) === 0 && n < 1_500;
      const expiresAt = store.now() + 1 + (livesLong ? 10_000 : dice(20));
      const receiptExpiresAt = expiresAt + 1 + (livesLong ? 100_000 : dice(20));
      const record = {
        sealedSecret: marked(n, 64 + dice(1_200)),
        expiresAt,
        receiptExpiresAt,
      };
      const deliveryStaleAt = dice(2) === 0 ? store.now() + 60 : null;
      const noticeDueAt = dice(4) === 0 ? store.now() + 1 : null;
      alive.set(n, await putNew(store, { ...record, deliveryStaleAt, noticeDueAt }));
      const victim = dice(n + 1);
      const chosen = alive.get(victim);
      if (chosen !== undefined) {
        const deed = dice(8);
        if (deed === 0) await store.burn(chosen.receiptId, clientStays);
        const secret = deed === 1 || deed === 4 ? await store.findSecret(chosen.secretId) : null;
        if (secret !== null) await store[deed === 1 ? 'claim' : 'burnFound'](secret, clientStays);
        if (deed === 2) await store.markViewed(chosen.receiptId);
        if (deed === 3) await store.setDelivery(chosen.receiptId, refused(n));
      }
      if (n % 4 === 0) wallClock.advance(1);
      if (n % 50 === 0) await store.sweep(200);
    }
    while ((await store.sweep(500)) === 500);
    expect(await store.scrub()).toBe(true);
    const text = filesAsText();
    for (const [n, record] of alive) {
      if ((await store.findSecret(record.secretId)) === null) gone.push(n);
      else expect(text).toContain(Buffer.from(marked(n, 16)).toString('latin1'));
    }
    expect(gone.length).toBeGreaterThan(1_000);
    expect(countRows()).toBeLessThan(2_400);
    expect(remainsAmong(gone)).toEqual([]);
    // The long-lived ones, whose neighbours were deleted, expire now too; their receipts stay.
    wallClock.advance(20_000);
    while ((await store.sweep(500)) === 500);
    expect(await store.scrub()).toBe(true);
    expect(remainsAmong([...alive.keys()])).toEqual([]);
  }, 30_000);

  it('P10: leaves no byte of an older wrapping once secrets were re-wrapped, nor of those that were then read', async () => {
    await using store = await open();
    const dice = createDice(seed);
    const count = 600;
    const under = (kid: number, n: number, length: number) =>
      new Uint8Array([2, 0, kid, ...marked(n + kid * count, length)]);
    const records: NewRecord[] = [];
    for (let n = 0; n < count; n += 1) {
      const length = n % 50 === 0 ? 9_000 : 64 + dice(1_200);
      records.push(await putNew(store, { sealedSecret: under(1, n, length) }));
    }
    for (const [n, { secretId, sealedSecret }] of records.entries()) {
      const to = under(2, n, sealedSecret.length - 3);
      expect(await store.replaceWrapping(secretId, sealedSecret, to)).toBe(true);
    }
    expect(await store.scrub()).toBe(true);
    const [first, second] = [1, 2].map((kid) => records.map((_, n) => n + kid * count));
    expect([remainsAmong(first ?? []), remainsAmong(second ?? []).length]).toEqual([[], count]);
    for (const { secretId } of records) await store.claim(await found(store, secretId), clientStays);
    expect(await store.scrub()).toBe(true);
    expect(remainsAmong(second ?? [])).toEqual([]);
  }, 30_000);

  it('P10: is what the scan above would notice if a row were deleted beside a live one', () => {
    const db = new Database(join(directory, 'naive.db'), { create: true });
    for (const pragma of ['journal_mode = WAL', 'secure_delete = ON', 'synchronous = OFF'])
      db.run(`PRAGMA ${pragma}`);
    db.run('CREATE TABLE naive (n INTEGER PRIMARY KEY, sealed BLOB)');
    const dice = createDice(1);
    const count = 2_000;
    db.run('BEGIN');
    for (let n = 0; n < count; n += 1)
      db.run('INSERT INTO naive VALUES (?, ?)', [n, marked(n, 64 + dice(1_200))]);
    for (let n = 0; n < count; n += 1) if (dice(4) > 0) db.run('DELETE FROM naive WHERE n = ?', [n]);
    db.run('UPDATE naive SET sealed = zeroblob(length(sealed))');
    db.run('COMMIT');
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    const text = filesAsText();
    const remains = Array.from({ length: count }, (_, n) =>
      text.includes(Buffer.from(marked(n, 16)).toString('latin1')),
    );
    expect(remains).toContain(true);
  });

  it('P10: says that it is not done while a reader is in the way, and is done when the reader has gone', async () => {
    await using store = await open();
    const record = await putNew(store, { sealedSecret: marked(1, 300) });
    const reader = new Database(join(directory, 'mayfly.db'), { readwrite: true });
    reader.run('BEGIN');
    reader.query('SELECT count(*) FROM records').get();
    await store.claim(await found(store, record.secretId), clientStays);
    expect(await store.scrub()).toBe(false);
    reader.run('COMMIT');
    reader.close();
    expect(await store.scrub()).toBe(true);
    expect(remainsOf(1)).toBe(false);
  });
});
