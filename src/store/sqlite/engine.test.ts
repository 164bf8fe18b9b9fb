/**
 * The engine that commits: a lock that another process holds, and the end of a run, in order or with no room for it.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it, spyOn } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRecord } from '../conformance/check.ts';
import { Engine } from './engine.ts';
import { prepareFolder } from './folder.ts';
import { FrameSink } from './frames.ts';
import { migrate } from './migrate.ts';
import { type Batch, frameOutcome } from './protocol.ts';
import { openConnection, writerSettings } from './settings.ts';

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
});

afterEach(() => {
  other.close();
  rmSync(directory, { recursive: true });
});

const openEngine = () => new Engine({ directory, settings: writerSettings, ballastBytes: 256 * 1024 });

/** One whose connection gives up on a lock at once, instead of after five seconds. */
function openImpatientEngine(): Engine {
  const run = spyOn(Database.prototype, 'run');
  try {
    const engine = openEngine();
    for (const db of new Set(run.mock.contexts as Database[])) db.run('PRAGMA busy_timeout = 0');
    return engine;
  } finally {
    run.mockRestore();
  }
}

function puts(count: number): Batch {
  const sink = new FrameSink();
  for (let n = 0; n < count; n += 1) sink.put(newRecord(now));
  return { now, frames: sink.take(), frameCount: count, asks: [] };
}

function counts() {
  return other
    .query<Record<string, number>, []>(
      `SELECT upto, (SELECT count(*) FROM records) AS rows, (SELECT count(*) FROM secret_index) AS secrets,
         (SELECT count(*) FROM receipt_index) AS receipts FROM index_progress`,
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
      "CREATE TRIGGER no_room BEFORE UPDATE ON index_progress BEGIN SELECT RAISE(ABORT, 'no room'); END",
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
      "CREATE TRIGGER no_room BEFORE UPDATE ON index_progress BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    engine.close();
    other.run('PRAGMA busy_timeout = 0');
    other.run('BEGIN IMMEDIATE');
    other.run('ROLLBACK');
  });
});

describe('a lock that another process holds for too long', () => {
  it('P23: refuses the batch, and the connection is sound: the next batch is committed', () => {
    const engine = openImpatientEngine();
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
  it('P2: leaves the connection unsound until it was opened anew, and nothing of the batch', () => {
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
