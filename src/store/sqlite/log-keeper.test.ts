/** The write-ahead log is reported as written out only when it was, and is written out before it gets too long. */
import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openConnection, writerSettings } from './database.ts';
import { prepareFolder } from './files.ts';
import { createLogKeeper } from './sweep.ts';

let directory = '';
let path = '';
let db: Database;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  path = prepareFolder(directory).database;
  db = openConnection(path, writerSettings);
  migrate(db);
});

afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true });
});

const logBytes = () => statSync(`${path}-wal`).size;
const busyTimeout = () => db.query('PRAGMA busy_timeout').values();
const write = (kid: number) => db.run('INSERT INTO root_checks VALUES (?1, zeroblob(100))', [kid]);

describe('writing the log out', () => {
  it('P10: empties it, and says so', () => {
    write(1);
    expect(logBytes()).toBeGreaterThan(0);
    expect(createLogKeeper(db, 1_000_000).writeOut('TRUNCATE')).toBe(true);
    expect(logBytes()).toBe(0);
  });

  it('P10: says that it was not, where that fails, and waits as long as before for a lock', () => {
    const keeper = createLogKeeper(db, 1_000_000);
    const before = busyTimeout();
    db.run('BEGIN IMMEDIATE');
    write(1);
    expect(keeper.writeOut('TRUNCATE')).toBe(false);
    expect(busyTimeout()).toEqual(before);
    db.run('COMMIT');
    expect(keeper.writeOut('TRUNCATE')).toBe(true);
    expect(busyTimeout()).toEqual(before);
  });

  it('P10: says that it was not, where a reader is in the way', () => {
    write(1);
    const reader = openConnection(path, { ...writerSettings, queryOnly: true });
    reader.run('BEGIN');
    reader.query('SELECT count(*) FROM root_checks').get();
    write(2);
    expect(createLogKeeper(db, 1_000_000).writeOut('TRUNCATE')).toBe(false);
    reader.run('COMMIT');
    reader.close();
    expect(createLogKeeper(db, 1_000_000).writeOut('TRUNCATE')).toBe(true);
  });
});

describe('a log that grows', () => {
  const frameBytes = 4_096 + 24;

  it('P23: is written over from its start before it is longer than its limit and what one look allows', () => {
    const limitBytes = 400 * frameBytes;
    const keeper = createLogKeeper(db, limitBytes);
    let longest = 0;
    for (let kid = 1; kid <= 2_000; kid += 1) {
      write(kid);
      keeper.tend(1);
      longest = Math.max(longest, logBytes());
    }
    expect(longest).toBeGreaterThan(limitBytes / 2);
    expect(longest).toBeLessThan(2 * limitBytes);
  });

  it('is left alone while it is short', () => {
    const keeper = createLogKeeper(db, 400 * frameBytes);
    keeper.writeOut('TRUNCATE');
    write(1);
    const before = logBytes();
    for (let look = 0; look < 1_000; look += 1) keeper.tend(1);
    expect(logBytes()).toBe(before);
    // Nothing was moved: a checkpoint still has everything to do.
    const row = db.query<{ checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)').get();
    expect(row?.checkpointed).toBe(0);
  });
});
