/** What the writer does when its open files are no longer those in the folder. */
import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it, spyOn } from 'bun:test';
import * as fs from 'node:fs';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openConnection, readerSettings, writerSettings } from './database.ts';
import { Engine } from './engine.ts';
import { FilesMoved, prepareFolder, rememberOpenFiles } from './files.ts';
import type { Batch } from './decisions.ts';

let directory = '';
/** Open as long as the engine, like the event loop's own connection. */
let reader: Database;
let engine: Engine;
let nowMs = 0;

const path = (name: string) => join(directory, name);
const asking = (...asks: Batch['asks']): Batch => ({
  time: { now: 1, sinceBoot: 0, timesSet: 0, mark: null },
  frames: new ArrayBuffer(0),
  frameCount: 0,
  asks,
});
const rootCheck = (kid: number) => ({ name: 'addRootCheck', args: [kid, new Uint8Array(32)] }) as const;
const sweep = { name: 'sweep', args: [1] } as const;
const scrub = asking({ name: 'scrub', args: [] });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const { database } = prepareFolder(directory);
  reader = openConnection(database, { ...readerSettings, queryOnly: false });
  migrate(reader);
  engine = new Engine(
    { directory, settings: writerSettings, ballastBytes: 64 * 1024, maxStorageBytes: null },
    () => nowMs,
  );
});

afterEach(() => {
  engine.close();
  reader.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('the writer whose database file', () => {
  const lose: Readonly<Record<string, () => void>> = {
    'was removed': () => rmSync(path('mayfly.db')),
    'was moved away': () => renameSync(path('mayfly.db'), path('aside')),
    'gave way to a copy of itself': () => {
      copyFileSync(path('mayfly.db'), path('copy'));
      renameSync(path('copy'), path('mayfly.db'));
    },
  };
  for (const [what, deed] of Object.entries(lose)) {
    it(`P5: ${what} decides nothing and does not recover`, () => {
      deed();
      expect(() => engine.run(scrub)).toThrow(FilesMoved);
      expect(engine.isSound()).toBe(false);
      expect(engine.recover()).toBe(false);
      expect(engine.recover()).toBe(false);
    });
  }

  it('P3: was moved away has begun nothing of what it was asked then', () => {
    renameSync(path('mayfly.db'), path('aside'));
    expect(() => engine.run(asking(rootCheck(1), sweep))).toThrow(FilesMoved);
    expect(reader.query('SELECT kid FROM root_checks').all()).toEqual([]);
  });

  it('P5: was moved away takes no write a second after it last looked', () => {
    engine.run(asking(sweep));
    renameSync(path('mayfly.db'), path('aside'));
    nowMs += 999;
    engine.run(asking(rootCheck(1)));
    nowMs += 1;
    expect(() => engine.run(asking(rootCheck(2)))).toThrow(FilesMoved);
    expect(reader.query('SELECT kid FROM root_checks').all()).toEqual([{ kid: 1 }]);
  });

  it('P23: was put back, after a copy had its name, recovers', () => {
    renameSync(path('mayfly.db'), path('aside'));
    copyFileSync(path('aside'), path('mayfly.db'));
    expect(() => engine.run(scrub)).toThrow(FilesMoved);
    expect(engine.recover()).toBe(false);
    renameSync(path('aside'), path('mayfly.db'));
    expect(engine.recover()).toBe(true);
    expect(engine.run(scrub).answers).toEqual([{ answer: true }]);
  });
});

it('P5: a file is known by its inode also where these are larger than a double can tell apart', () => {
  let ino = 2n ** 60n;
  const stat = spyOn(fs, 'statSync').mockImplementation(((_path: string, options?: fs.StatOptions) =>
    options?.bigint === true ? { dev: 1n, ino } : { dev: 1, ino: Number(ino) }) as typeof fs.statSync);
  try {
    const files = rememberOpenFiles(
      { directory, database: path('a'), wal: path('b'), ballast: path('c') },
      () => 0,
    );
    expect(files.areInPlace()).toBe(true);
    ino += 1n;
    expect(files.areInPlace()).toBe(false);
  } finally {
    stat.mockRestore();
  }
});
