/** What the engine does when its open files are no longer those in the folder. */
import { afterEach, beforeEach, describe, expect, it, spyOn } from 'bun:test';
import * as fs from 'node:fs';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenedEngine, openEngine } from '../../../test/support/opened-engine.ts';
import { useSqlite } from '../../../test/support/sqlite-folder.ts';
import type { Batch } from './decisions.ts';
import type { Engine } from './engine.ts';
import { FilesMoved, rememberOpenFiles } from './files.ts';

const current = useSqlite();
let opened: OpenedEngine;
let engine: Engine;
let nowMs = 0;

const path = (name: string) => join(current.directory, name);
const asking = (...asks: Batch['asks']): Batch => ({
  time: { now: 1, sinceBoot: 0, timesSet: 0, anchor: null },
  asks,
  bytes: 0,
});
const rootCheck = (kid: number) => ({ name: 'addRootCheck', args: [kid, new Uint8Array(32)] }) as const;
const rootChecks = () => opened.db.query('SELECT kid FROM root_checks').values();
const sweep = { name: 'sweep', args: [1] } as const;
const scrub = asking({ name: 'scrub', args: [] });
const faultOf = (batch: Batch) => engine.run(batch).catch((error: unknown) => error);

beforeEach(() => {
  opened = openEngine(current.directory, 64 * 1024, { monotonicMs: () => nowMs });
  engine = opened.engine;
});

afterEach(() => opened[Symbol.asyncDispose]());

describe('the engine whose database file', () => {
  const lose: Readonly<Record<string, () => void>> = {
    'was removed': () => rmSync(path('mayfly.db')),
    'was moved away': () => renameSync(path('mayfly.db'), path('aside')),
    'gave way to a copy of itself': () => {
      copyFileSync(path('mayfly.db'), path('copy'));
      renameSync(path('copy'), path('mayfly.db'));
    },
  };
  for (const [what, deed] of Object.entries(lose)) {
    it(`P5: ${what} decides nothing and does not recover`, async () => {
      deed();
      expect(await faultOf(scrub)).toBeInstanceOf(FilesMoved);
      expect(engine.areFilesInPlace()).toBe(false);
    });
  }

  it('P3: was moved away has begun nothing of what it was asked then', async () => {
    renameSync(path('mayfly.db'), path('aside'));
    expect(await faultOf(asking(rootCheck(1), sweep))).toBeInstanceOf(FilesMoved);
    expect(rootChecks()).toEqual([]);
  });

  it('P5: was moved away takes no write a second after it last looked', async () => {
    await engine.run(asking(sweep));
    renameSync(path('mayfly.db'), path('aside'));
    nowMs += 999;
    await engine.run(asking(rootCheck(1)));
    nowMs += 1;
    expect(await faultOf(asking(rootCheck(2)))).toBeInstanceOf(FilesMoved);
    expect(rootChecks()).toEqual([[1]]);
  });

  it('P23: was put back, after a copy had its name, recovers', async () => {
    renameSync(path('mayfly.db'), path('aside'));
    copyFileSync(path('aside'), path('mayfly.db'));
    expect(await faultOf(scrub)).toBeInstanceOf(FilesMoved);
    expect(engine.areFilesInPlace()).toBe(false);
    renameSync(path('aside'), path('mayfly.db'));
    expect(engine.areFilesInPlace()).toBe(true);
    expect((await engine.run(scrub)).answers).toEqual([{ answer: true }]);
  });
});

it('P5: a file is known by its inode also where these are larger than a double can tell apart', () => {
  let ino = 2n ** 60n;
  const stat = spyOn(fs, 'statSync').mockImplementation(((_path: string, options?: fs.StatOptions) =>
    options?.bigint === true ? { dev: 1n, ino } : { dev: 1, ino: Number(ino) }) as typeof fs.statSync);
  try {
    const files = rememberOpenFiles(
      { directory: '', database: path('a'), wal: path('b'), ballast: path('c') },
      () => 0,
    );
    expect(files.areInPlace()).toBe(true);
    ino += 1n;
    expect(files.areInPlace()).toBe(false);
  } finally {
    stat.mockRestore();
  }
});
