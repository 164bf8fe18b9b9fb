/** The committing engine: a lock held by another process, and the end of a run, clean or without room for it. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it, spyOn } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRecord } from '../../../test/stores/conformance/check.ts';
import { batchTimeAt } from '../../../test/support/clocks.ts';
import { migrate, openConnection, writerSettings } from './database.ts';
import { Engine } from './engine.ts';
import { prepareFolder } from './files.ts';
import { FrameSink } from './frames.ts';
import { type Batch, frameOutcome } from './decisions.ts';

const now = 1_800_000_000;
let directory = '';
let path = '';
/** Another process's connection. */
let other: Database;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  path = prepareFolder(directory).database;
  other = openConnection(path, writerSettings);
  migrate(other);
  // As after a start: nothing of the migrations is in the log.
  other.run('PRAGMA wal_checkpoint(TRUNCATE)');
});

afterEach(() => {
  other.close();
  rmSync(directory, { recursive: true });
});

const ballastBytes = 256 * 1024;
const openEngine = () =>
  new Engine({ directory, settings: writerSettings, ballastBytes, maxStorageBytes: null });

/** An engine, and the connection that it has opened. */
function openWithConnection(): { readonly engine: Engine; readonly db: Database } {
  const run = spyOn(Database.prototype, 'run');
  try {
    const engine = openEngine();
    const [db] = run.mock.contexts as Database[];
    if (db === undefined) throw new Error('the engine opened nothing');
    return { engine, db };
  } finally {
    run.mockRestore();
  }
}

function puts(count: number): Batch {
  const sink = new FrameSink();
  for (let n = 0; n < count; n += 1) sink.put(newRecord(now));
  return { time: batchTimeAt(now), frames: sink.take(), frameCount: count, asks: [] };
}

function counts() {
  return other
    .query<Record<string, number>, []>(
      `SELECT upto, (SELECT count(*) FROM records) AS rows, (SELECT count(*) FROM secret_index) AS secrets,
         (SELECT count(*) FROM receipt_index) AS receipts FROM merge_progress`,
    )
    .get();
}

const logBytes = (): number => statSync(`${path}-wal`).size;

describe('the end of a run', () => {
  it('brings every row into the index, and empties the log', () => {
    const engine = openEngine();
    for (let batch = 0; batch < 5; batch += 1) engine.run(puts(7));
    expect(counts()).toEqual({ upto: 0, rows: 35, secrets: 0, receipts: 0 });
    engine.close();
    expect(counts()).toEqual({ upto: 35, rows: 35, secrets: 35, receipts: 35 });
    expect(logBytes()).toBe(0);
  });

  it('P5: with no room for the index leaves the rows as they are, and empties the log all the same', () => {
    const engine = openEngine();
    engine.run(puts(7));
    other.run(
      "CREATE TRIGGER no_room BEFORE UPDATE ON merge_progress BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    engine.close();
    expect(counts()).toEqual({ upto: 0, rows: 7, secrets: 0, receipts: 0 });
    expect(logBytes()).toBe(0);
    other.run('DROP TRIGGER no_room');
    const again = openEngine();
    again.run(puts(1));
    again.close();
    expect(counts()).toEqual({ upto: 8, rows: 8, secrets: 8, receipts: 8 });
  });

  it('is not in the way of another process', () => {
    const engine = openEngine();
    engine.run(puts(1));
    other.run(
      "CREATE TRIGGER no_room BEFORE UPDATE ON merge_progress BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    engine.close();
    other.run('PRAGMA busy_timeout = 0');
    other.run('BEGIN IMMEDIATE');
    other.run('ROLLBACK');
  });
});

describe('the log of a run', () => {
  it('P23: is never longer than the ballast has room for', () => {
    const engine = openEngine();
    let longest = 0;
    for (let batch = 0; batch < 150; batch += 1) {
      engine.run(puts(2));
      longest = Math.max(longest, logBytes());
    }
    expect(longest).toBeGreaterThan(ballastBytes / 4);
    expect(longest).toBeLessThan(ballastBytes);
    engine.close();
  });
});

describe('a lock that another process holds for too long', () => {
  it('P23: refuses the batch, and the connection is sound: the next batch is committed', () => {
    const { engine, db } = openWithConnection();
    // Otherwise it would wait for five seconds.
    db.run('PRAGMA busy_timeout = 0');
    other.run('BEGIN IMMEDIATE');
    expect(() => engine.run(puts(1))).toThrow('database is locked');
    expect(engine.isSound()).toBe(true);
    other.run('ROLLBACK');
    expect([...engine.run(puts(2)).frameOutcomes]).toEqual([frameOutcome.done, frameOutcome.done]);
    engine.close();
    expect(counts()).toMatchObject({ rows: 2 });
  });
});

describe('a failure in the middle of a batch', () => {
  it('P2: leaves the connection unsound until it is opened again, with nothing of the batch', () => {
    const engine = openEngine();
    engine.run(puts(1));
    const broken = { ...puts(2), asks: [{ name: 'burn', args: [null] }] } as const;
    expect(() => engine.run(broken)).toThrow(TypeError);
    expect(engine.isSound()).toBe(false);
    expect(engine.recover()).toBe(true);
    expect(engine.isSound()).toBe(true);
    engine.run(puts(3));
    engine.close();
    expect(counts()).toMatchObject({ rows: 4 });
  });
});

/** An engine whose next `failures` commits fail as on a full disk. */
function openOnFullDisk(failures: number): Engine {
  let left = failures;
  const query = Database.prototype.query;
  const spy = spyOn(Database.prototype, 'query').mockImplementation(function (this: Database, sql: string) {
    const statement = Reflect.apply(query, this, [sql]);
    if (sql !== 'COMMIT') return statement;
    const run = () => {
      left -= 1;
      if (left >= 0) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
      return statement.run();
    };
    return Object.assign(Object.create(statement), { run });
  } as typeof query);
  try {
    return openEngine();
  } finally {
    spy.mockRestore();
  }
}

describe('a commit that fails on a full disk', () => {
  const isBallastHeld = () => existsSync(join(directory, 'ballast'));
  const rootUses = () => other.query('SELECT kid FROM root_uses').values();

  it('P23: is done in the room that the log gives back, and the ballast stays', () => {
    const engine = openOnFullDisk(1);
    expect([...engine.run(puts(2)).frameOutcomes]).toEqual([frameOutcome.done, frameOutcome.done]);
    expect([engine.isSound(), isBallastHeld()]).toEqual([true, true]);
    // The root uses noted before the roll-back are noted again (P12).
    expect(rootUses()).toEqual([[1]]);
    engine.close();
    expect(counts()).toMatchObject({ rows: 2, upto: 2 });
  });

  it('P23: refuses new secrets when that is not enough, and does the rest in the ballast’s room', () => {
    const engine = openOnFullDisk(2);
    const result = engine.run({ ...puts(2), asks: [{ name: 'keepTime', args: [] }] });
    expect([...result.frameOutcomes]).toEqual([frameOutcome.full, frameOutcome.full]);
    expect(result.answers).toEqual([{ answer: undefined }]);
    expect([engine.isSound(), isBallastHeld()]).toEqual([true, false]);
    expect(counts()).toMatchObject({ rows: 0 });
    expect([...engine.run(puts(1)).frameOutcomes]).toEqual([frameOutcome.done]);
    expect(isBallastHeld()).toBe(true);
    expect(rootUses()).toEqual([[1]]);
    engine.close();
  });

  it('P2: makes the connection unsound when even that fails', () => {
    const engine = openOnFullDisk(3);
    expect(() => engine.run(puts(2))).toThrow('full');
    expect(engine.isSound()).toBe(false);
    expect(engine.recover()).toBe(true);
    engine.close();
    expect(counts()).toMatchObject({ rows: 0 });
  });
});

describe('a database that cannot grow', () => {
  const pagesOf = (db: Database): number =>
    db.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0;

  it('P23: refuses new secrets, still burns, and takes secrets again when it can', () => {
    const { engine, db } = openWithConnection();
    const record = newRecord(now);
    const sink = new FrameSink();
    sink.put(record);
    expect([
      ...engine.run({ time: batchTimeAt(now), frames: sink.take(), frameCount: 1, asks: [] }).frameOutcomes,
    ]).toEqual([frameOutcome.done]);
    db.run(`PRAGMA max_page_count = ${pagesOf(db)}`);
    const burn = { name: 'burn', args: [{ position: 1, id: record.receiptId }] } as const;
    const full = engine.run({ ...puts(40), asks: [burn] });
    expect(new Set(full.frameOutcomes)).toEqual(new Set([frameOutcome.full]));
    expect(full.answers).toEqual([{ answer: now }]);
    expect([engine.isSound(), db.inTransaction]).toEqual([true, false]);
    db.run('PRAGMA max_page_count = 100000');
    expect([...engine.run(puts(1)).frameOutcomes]).toEqual([frameOutcome.done]);
    engine.close();
    expect(counts()).toMatchObject({ rows: 2, secrets: 2, receipts: 2 });
  });
});
