/** The write-ahead log is reported as written out only when it was, and is written out before it gets too long. */
import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { rmSync, statSync } from 'node:fs';
import { makeMemoryFolder } from '../../../test/stores/memory-folder.ts';
import { migrate, openConnection, writerSettings } from './database.ts';
import { prepareFolder } from './files.ts';
import { createLogKeeper } from './sweep.ts';

let directory = '';
let path = '';
let db: Database;

beforeEach(() => {
  directory = makeMemoryFolder();
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

  const limitBytes = 400 * frameBytes;

  /** One row for each, in one transaction. */
  function writeTogether(bytes: readonly number[]) {
    db.run('BEGIN');
    for (const each of bytes) db.run('INSERT INTO root_checks VALUES (NULL, zeroblob(?1))', [each]);
    db.run('COMMIT');
  }

  it.each([
    ['one small decision', [100]],
    ['one large decision', [128 * 1_024]],
    ['large decisions', new Array<number>(8).fill(128 * 1_024)],
    ['a slice of a sweep', new Array<number>(500).fill(2_000)],
  ])(
    'P23: is written over from its start before it is longer than its limit and a batch, which is %s',
    (_, batch) => {
      const keeper = createLogKeeper(db, limitBytes);
      let longest = 0;
      const batchBytes = batch.reduce((sum, bytes) => sum + bytes, 3 * frameBytes);
      for (let written = 0; written < 12 * limitBytes; written += batchBytes) {
        writeTogether(batch);
        keeper.tend();
        longest = Math.max(longest, logBytes());
      }
      expect(longest).toBeGreaterThan(limitBytes / 2);
      expect(longest).toBeLessThan(limitBytes + 1.5 * batchBytes);
    },
  );

  it('P23: is written out once for each length of its limit while a reader keeps it from starting over', () => {
    const keeper = createLogKeeper(db, limitBytes);
    const reader = openConnection(path, { ...writerSettings, queryOnly: true });
    const rest = () => {
      const row = db.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)').get();
      return row === null ? 0 : row.log - row.checkpointed;
    };
    let writtenOut = 0;
    for (let n = 0; n < 1_000; n += 1) {
      writeTogether([100]);
      // It reads the latest state, so that everything may be written out, but the log is in use.
      if (reader.inTransaction) reader.run('COMMIT');
      reader.run('BEGIN');
      reader.query('SELECT count(*) FROM root_checks').get();
      const before = rest();
      keeper.tend();
      if (rest() < before) writtenOut += 1;
    }
    reader.close();
    expect(writtenOut).toBeGreaterThan(1);
    expect(writtenOut).toBeLessThan(logBytes() / limitBytes + 1);
  });

  it('is left alone while it is short', () => {
    const keeper = createLogKeeper(db, limitBytes);
    keeper.writeOut('TRUNCATE');
    write(1);
    const before = logBytes();
    for (let look = 0; look < 1_000; look += 1) keeper.tend();
    expect(logBytes()).toBe(before);
    // Nothing was moved: a checkpoint still has everything to do.
    const row = db.query<{ checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)').get();
    expect(row?.checkpointed).toBe(0);
  });
});
