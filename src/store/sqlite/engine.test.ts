/** The committing engine: a lock that another process holds, a disk that is full, and the end of a run, clean or without room for it. */
import { Database } from 'bun:sqlite';
import { beforeEach, describe, expect, it, spyOn } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import {
  clientStays,
  createSettableClock,
  found,
  newRecord,
  newSecretId,
  putNew,
} from '../../../test/stores/conformance/check.ts';
import { batchTimeAt } from '../../../test/support/clocks.ts';
import { lookUntil } from '../../../test/support/look-until.ts';
import { openEngine as openEngineIn } from '../../../test/support/opened-engine.ts';
import { useSqlite } from '../../../test/support/sqlite-folder.ts';
import { ServiceError } from '../../core/errors.ts';
import { writerSettings } from './database.ts';
import type { Ask, Batch } from './decisions.ts';
import { Disk } from './disk.ts';
import { createLocator } from './locator.ts';
import { openSqliteStore } from './store.ts';

const now = 1_800_000_000;
const ballastBytes = 256 * 1024;
/** Where the store is, and another process's connection to it. */
const current = useSqlite(writerSettings);

// As after a start: nothing of the migrations is in the log.
beforeEach(() => void current.db.run('PRAGMA wal_checkpoint(TRUNCATE)'));

const openEngine = async () => openEngineIn(current.directory, ballastBytes);
const openStore = () =>
  openSqliteStore({ directory: current.directory, clock: createSettableClock(now), ballastBytes });

const asking = (...asks: Ask[]): Batch => ({ time: batchTimeAt(now), asks, bytes: 0 });
const puts = (count: number): Batch =>
  asking(...Array.from({ length: count }, () => ({ name: 'put', args: [newRecord(now)] }) as const));
const keepTime = { name: 'keepTime', args: [] } as const;
const full = { full: true } as const;

function counts() {
  return current.db
    .query<Record<string, number>, []>(
      `SELECT upto, (SELECT count(*) FROM records) AS rows, (SELECT count(*) FROM secret_index) AS secrets,
         (SELECT count(*) FROM receipt_index) AS receipts FROM merge_progress`,
    )
    .get();
}

const logBytes = (): number => statSync(current.wal).size;

describe('the end of a run', () => {
  it('brings every row into the index, and empties the log', async () => {
    const store = await openStore();
    for (let n = 0; n < 35; n += 1) await putNew(store);
    expect(counts()).toEqual({ upto: 0, rows: 35, secrets: 0, receipts: 0 });
    await store[Symbol.asyncDispose]();
    expect(counts()).toEqual({ upto: 35, rows: 35, secrets: 35, receipts: 35 });
    expect(logBytes()).toBe(0);
  });

  it('P5: with no room for the index leaves the rows, empties the log all the same, and is in nobody’s way', async () => {
    const store = await openStore();
    for (let n = 0; n < 7; n += 1) await putNew(store);
    current.db.run(
      "CREATE TRIGGER no_room BEFORE UPDATE ON merge_progress BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    await store[Symbol.asyncDispose]();
    expect(counts()).toEqual({ upto: 0, rows: 7, secrets: 0, receipts: 0 });
    expect(logBytes()).toBe(0);
    current.db.run('PRAGMA busy_timeout = 0');
    current.db.run('DROP TRIGGER no_room');
    const again = await openStore();
    await putNew(again);
    await again[Symbol.asyncDispose]();
    expect(counts()).toEqual({ upto: 8, rows: 8, secrets: 8, receipts: 8 });
  });
});

describe('the log of a run', () => {
  it('P23: is never longer than the ballast has room for', async () => {
    await using store = await openStore();
    let longest = 0;
    for (let batch = 0; batch < 300; batch += 1) {
      await Promise.all([putNew(store), putNew(store)]);
      longest = Math.max(longest, logBytes());
    }
    expect(longest).toBeGreaterThan(ballastBytes / 4);
    expect(longest).toBeLessThan(ballastBytes);
  });
});

describe('what a batch has stored', () => {
  it('P5: is where the locator finds it, and counted as a change, when the batch has run', async () => {
    const locator = createLocator(current.db);
    const [stored, indexed] = [spyOn(locator, 'stored'), spyOn(locator, 'indexed')];
    await using opened = openEngineIn(current.directory, ballastBytes, { locator });
    for (const rows of [3, 1, 5]) await opened.engine.run(puts(rows));
    await opened.engine.run(asking(keepTime));
    expect(stored.mock.calls.map(([position]) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(indexed.mock.calls).toEqual([[0], [0], [0], [0]]);
    expect(opened.changes()).toBe(4);
  });

  it('P10: is not in the log any more when it was scrubbed', async () => {
    await using opened = await openEngine();
    const scrub = { name: 'scrub', args: [] } as const;
    expect((await opened.engine.run(asking(keepTime, scrub))).answers).toEqual([
      { answer: undefined },
      { answer: true },
    ]);
    expect([logBytes() < 8_192, opened.changes()]).toEqual([true, 1]);
    // Alone it decides nothing.
    expect((await opened.engine.run(asking(scrub, scrub))).answers).toEqual([
      { answer: true },
      { answer: true },
    ]);
    expect(opened.changes()).toBe(1);
  });
});

describe('a lock that another process holds', () => {
  it('P24: is waited for while the event loop goes on', async () => {
    await using opened = await openEngine();
    current.db.run('BEGIN IMMEDIATE');
    const running = opened.engine.run(puts(1));
    await new Promise((resolve) => setImmediate(resolve));
    current.db.run('ROLLBACK');
    expect((await running).answers).toEqual([{ answer: 1 }]);
  });

  it('P23: for too long refuses the batch, and the next one is committed', async () => {
    await using opened = await openEngine();
    current.db.run('BEGIN IMMEDIATE');
    let ms = 0;
    const clock = spyOn(performance, 'now').mockImplementation(() => (ms += 2_501));
    try {
      expect(await opened.engine.run(puts(1)).catch((error: unknown) => error)).toMatchObject({
        code: 'SQLITE_BUSY',
      });
    } finally {
      clock.mockRestore();
    }
    expect([opened.db.inTransaction, opened.changes()]).toEqual([false, 0]);
    current.db.run('ROLLBACK');
    expect((await opened.engine.run(puts(2))).answers).toEqual([{ answer: 1 }, { answer: 2 }]);
  });
});

describe('a failure in the middle of a batch', () => {
  it('P2: leaves nothing of the batch', async () => {
    await using opened = await openEngine();
    await opened.engine.run(puts(1));
    const broken = asking(...puts(2).asks, { name: 'burn', args: [null] });
    expect(await opened.engine.run(broken).catch((error: unknown) => error)).toBeInstanceOf(TypeError);
    expect([opened.db.inTransaction, opened.changes(), counts()?.rows]).toEqual([false, 1, 1]);
    await opened.engine.run(puts(3));
    expect(counts()).toMatchObject({ rows: 4 });
  });
});

/** What it opens, of which the next `failures` commits fail. */
async function openWithFailingCommits<Opened>(
  failures: number,
  code: string,
  open: () => Promise<Opened>,
  onCommit: () => void = () => {},
): Promise<Opened> {
  let left = failures;
  const query = Database.prototype.query;
  const spy = spyOn(Database.prototype, 'query').mockImplementation(function (this: Database, sql: string) {
    const statement = Reflect.apply(query, this, [sql]);
    if (sql !== 'COMMIT') return statement;
    const run = () => {
      onCommit();
      left -= 1;
      if (left >= 0) throw Object.assign(new Error('the commit failed'), { code });
      return statement.run();
    };
    return Object.assign(Object.create(statement), { run });
  } as typeof query);
  try {
    return await open();
  } finally {
    spy.mockRestore();
  }
}

describe('a commit that fails', () => {
  it('P2: has the store check its files, after which it goes on with nothing of the batch', async () => {
    await using store = await openWithFailingCommits(1, 'SQLITE_IOERR_WRITE', openStore);
    expect(await putNew(store).catch((error: unknown) => error)).toMatchObject({ code: 'unavailable' });
    await lookUntil('a store that recovers', () => putNew(store).catch(() => null), Boolean);
    expect(counts()).toMatchObject({ rows: 1 });
  });
});

describe('a sync that fails', () => {
  const faultOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);
  const unavailable = expect.objectContaining({ code: 'unavailable' });

  it.each(['a claim', 'a read of what another process has committed'])(
    'P2: of %s, has nothing told or decided until all was written anew and checked',
    async (what) => {
      await using store = await openStore();
      const { secretId, receiptId } = await putNew(store);
      const secret = await found(store, secretId);
      const held = Promise.withResolvers<void>();
      const sync = spyOn(Disk.prototype, 'sync').mockRejectedValueOnce(new Error('EIO'));
      const ask = spyOn(Disk.prototype, 'ask').mockResolvedValueOnce(false);
      const sleep = spyOn(Bun, 'sleep').mockReturnValueOnce(held.promise);
      try {
        if (what === 'a claim') expect(await faultOf(store.claim(secret, clientStays))).toEqual(unavailable);
        else current.db.run("UPDATE records SET state = 'r'");
        expect(await faultOf(store.findReceipt(receiptId))).toEqual(unavailable);
        const asked = [putNew(store), store.findSecret(newSecretId()), store.assertCommits(false)];
        expect(await Promise.all(asked.map(faultOf))).toEqual([unavailable, unavailable, unavailable]);
        held.resolve();
        await lookUntil('a store that recovers', () => putNew(store).catch(() => null), Boolean);
        expect(ask.mock.calls.map(([name]) => name)).toEqual(['check', 'check']);
        expect((await store.findReceipt(receiptId))?.state).toBe('received');
      } finally {
        for (const spy of [sync, ask, sleep]) spy.mockRestore();
      }
    },
  );

  it('P23: because its thread has ended, is a fault that only a restart ends', async () => {
    const onMessage = `({ data }) => {
      if (typeof data !== 'number') throw new Error('a fault');
      self.postMessage(null);
    }`;
    const realWorker = globalThis.Worker;
    globalThis.Worker = class extends realWorker {
      constructor() {
        super(URL.createObjectURL(new Blob([`self.onmessage = ${onMessage}`])));
      }
    };
    const opening = openStore();
    globalThis.Worker = realWorker;
    await using store = await opening;
    for (let n = 0; n < 2; n += 1) expect(await faultOf(putNew(store))).toEqual(unavailable);
    const fault = await faultOf(store.assertCommits(false));
    expect([fault, fault instanceof ServiceError]).toEqual([expect.any(Error), false]);
    expect(await faultOf(store.findSecret(newSecretId()))).toEqual(unavailable);
  });
});

describe('a commit that fails on a full disk', () => {
  const isBallastHeld = () => existsSync(current.ballast);
  const rootUses = () => current.db.query('SELECT kid FROM root_uses').values();
  const openOnFullDisk = (failures: number) => openWithFailingCommits(failures, 'SQLITE_FULL', openEngine);

  it('P23: is done in the room that the log gives back, and the ballast stays', async () => {
    for (let kid = 1; kid < 20; kid += 1)
      current.db.run('INSERT INTO root_checks VALUES (?1, zeroblob(1))', [kid]);
    const before = logBytes();
    await using opened = await openOnFullDisk(1);
    expect((await opened.engine.run(puts(2))).answers).toEqual([{ answer: 1 }, { answer: 2 }]);
    expect(logBytes()).toBeLessThan(before);
    // The root uses noted before the roll-back are noted again (P12).
    expect([isBallastHeld(), rootUses(), opened.changes()]).toEqual([true, [[1]], 1]);
    opened.engine.finish();
    expect(counts()).toMatchObject({ rows: 2, upto: 2 });
  });

  it('P23: refuses new secrets when that is not enough, and does the rest in the ballast’s room', async () => {
    await using opened = await openOnFullDisk(2);
    const { answers } = await opened.engine.run(asking(...puts(2).asks, keepTime));
    expect(answers).toEqual([full, full, { answer: undefined }]);
    expect([isBallastHeld(), counts()?.rows]).toEqual([false, 0]);
    expect((await opened.engine.run(puts(1))).answers).toEqual([{ answer: 1 }]);
    expect([isBallastHeld(), rootUses()]).toEqual([true, [[1]]]);
  });

  it('P23: is tried again only after the log was written out, and after the ballast was given up', async () => {
    const order: string[] = [];
    const { ask } = Disk.prototype;
    const spy = spyOn(Disk.prototype, 'ask').mockImplementation(async function (this: Disk, ...asked) {
      const answer = await Reflect.apply(ask, this, asked);
      if (asked[0] !== 'holdBallast') order.push(asked[0]);
      return answer;
    } as typeof ask);
    const onCommit = () => void order.push('commit');
    try {
      await using opened = await openWithFailingCommits(2, 'SQLITE_FULL', openEngine, onCommit);
      await opened.engine.run(puts(2));
      expect(order).toEqual(['commit', 'writeOut', 'commit', 'giveUpBallast', 'writeOut', 'commit']);
    } finally {
      spy.mockRestore();
    }
  });

  it('P2: rejects the batch when even that fails', async () => {
    await using opened = await openOnFullDisk(3);
    expect(await opened.engine.run(puts(2)).catch((error: unknown) => error)).toMatchObject({
      code: 'SQLITE_FULL',
    });
    expect([opened.db.inTransaction, opened.changes(), counts()?.rows]).toEqual([false, 0, 0]);
  });
});

describe('a database that cannot grow', () => {
  it('P23: refuses new secrets, still burns, and takes secrets again when it can', async () => {
    await using opened = await openEngine();
    const { engine, db } = opened;
    const record = newRecord(now);
    await engine.run(asking({ name: 'put', args: [record] }));
    db.run(`PRAGMA max_page_count = ${db.query('PRAGMA page_count').values()[0]?.[0]}`);
    const burn = { name: 'burn', args: [{ position: 1, id: record.receiptId }] } as const;
    const { answers } = await engine.run(asking(...puts(40).asks, burn));
    expect(answers).toEqual([...new Array(40).fill(full), { answer: now }]);
    expect(db.inTransaction).toBe(false);
    db.run('PRAGMA max_page_count = 100000');
    expect((await engine.run(puts(1))).answers).toEqual([{ answer: 2 }]);
    engine.finish();
    expect(counts()).toMatchObject({ rows: 2, secrets: 2, receipts: 2 });
  });
});
