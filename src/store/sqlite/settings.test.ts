import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreRefusal } from '../store.ts';
import { assertSettings, loopSettings, openConnection, writerSettings } from './database.ts';

let directory = '';
let path = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  path = join(directory, 'mayfly.db');
  new Database(path, { create: true }).close();
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a connection', () => {
  it('P25: holds every setting it was given, on the event loop and beside it', () => {
    for (const settings of [writerSettings, loopSettings]) {
      const db = openConnection(path, settings);
      expect(() => assertSettings(db, settings)).not.toThrow();
      db.close();
    }
  });

  it('P25: syncs each commit, and beside our own sync at least as much as a checkpoint needs', () => {
    expect(writerSettings.synchronous).toBe('FULL');
    expect(loopSettings.synchronous).toBe(process.platform === 'linux' ? 'NORMAL' : 'FULL');
  });

  const unsafe = [
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
    ['checkpoint_fullfsync', 'OFF'],
  ] as const;
  const both = { 'of the event loop': loopSettings, 'of a thread': writerSettings };
  for (const [which, settings] of Object.entries(both))
    for (const [name, value] of [
      ...unsafe,
      ['synchronous', settings === loopSettings ? 'EXTRA' : 'NORMAL'],
    ]) {
      it(`P25: ${which} is refused by name when ${name} turns out to be ${value}`, () => {
        const db = openConnection(path, settings);
        db.run(`PRAGMA ${name} = ${value}`);
        expect(() => assertSettings(db, settings)).toThrow(StoreRefusal);
        expect(() => assertSettings(db, settings)).toThrow(`the setting ${name} = `);
        db.close();
      });
    }
});
