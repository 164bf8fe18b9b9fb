import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreRefusal } from '../store.ts';
import { assertSettings, openConnection, readerSettings, writerSettings } from './database.ts';

let directory = '';
let path = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  path = join(directory, 'mayfly.db');
  new Database(path, { create: true }).close();
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a connection', () => {
  it('P25: holds every setting it was given, for writing and for reading', () => {
    for (const settings of [writerSettings, readerSettings]) {
      const db = openConnection(path, settings);
      expect(() => assertSettings(db, settings)).not.toThrow();
      db.close();
    }
  });

  const unsafe = [
    ['synchronous', 'NORMAL'],
    ['synchronous', 'OFF'],
    ['secure_delete', 'OFF'],
    ['secure_delete', 'FAST'],
    ['foreign_keys', 'OFF'],
    ['trusted_schema', 'ON'],
    ['cell_size_check', 'OFF'],
    ['busy_timeout', '0'],
    ['wal_autocheckpoint', '1000'],
    ['temp_store', 'FILE'],
    ['mmap_size', '1048576'],
    ['journal_mode', 'DELETE'],
    ['fullfsync', 'OFF'],
  ] as const;
  for (const [name, value] of unsafe) {
    it(`P25: is refused by name when ${name} turns out to be ${value}`, () => {
      const db = openConnection(path, writerSettings);
      db.run(`PRAGMA ${name} = ${value}`);
      expect(() => assertSettings(db, writerSettings)).toThrow(StoreRefusal);
      expect(() => assertSettings(db, writerSettings)).toThrow(`the setting ${name} = `);
      db.close();
    });
  }

  it('P4: for reading cannot write', () => {
    const db = openConnection(path, readerSettings);
    expect(() => db.run('CREATE TABLE t (a)')).toThrow('readonly');
    db.close();
  });
});
