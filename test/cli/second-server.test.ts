/** A second server on one data folder is allowed, and reported, only while the first one is alive. */
import { Database } from 'bun:sqlite';
import { describe, expect, it } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { registerServing } from '../../src/store/sqlite/files.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { steadyClock } from '../support/clocks.ts';
import { makeDataDir, startServer } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

const said = 'another server also uses this data folder';

async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir();
  try {
    await work(dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A store as version 0.1 left it, before roots could be closed. */
function downgrade(dataDir: string): void {
  using db = new Database(join(dataDir, 'mayfly.db'));
  for (const later of [
    'root_floor',
    'creations',
    'move',
    'move_changes',
    'epochs',
    'answers',
    'requests',
    'codes',
  ])
    db.run(`DROP TABLE ${later}`);
  db.run('ALTER TABLE accounts DROP COLUMN sender_name');
  db.run('PRAGMA user_version = 11');
}

function schemaOf(dataDir: string): unknown {
  using db = new Database(join(dataDir, 'mayfly.db'));
  return db.query('PRAGMA user_version').values()[0]?.[0];
}

describe('a command', () => {
  it('P12: upgrades no store that a server of an earlier version serves, and says what to do', () =>
    withFolder(async (dataDir) => {
      const first = await startServer({ dataDir });
      await first[Symbol.asyncDispose]();
      downgrade(dataDir);
      const { leave } = registerServing(dataDir);
      const refused = await mayfly(['account', 'list'], { MAYFLY_DATA_DIR: dataDir });
      expect([refused.code, schemaOf(dataDir)]).toEqual([1, 11]);
      expect(refused.err).toStartWith('A server of an earlier version runs on ');
      leave();
      expect((await mayfly(['account', 'list'], { MAYFLY_DATA_DIR: dataDir })).code).toBe(0);
      expect(schemaOf(dataDir)).toBe(18);
    }));
});

describe('a second server on a data folder', () => {
  it('starts, serves and says that it is one; the first did not', () =>
    withFolder(async (dataDir) => {
      await using first = await startServer({ dataDir });
      await using second = await startServer({ dataDir });
      expect(first.stderr()).not.toContain(said);
      expect(second.stderr()).toContain(said);
      expect((await fetch(`http://127.0.0.1:${second.port}/readyz`)).status).toBe(200);
    }));

  it('is said as long as any other serves, in whichever order they end', () =>
    withFolder(async (dataDir) => {
      const first = await startServer({ dataDir });
      await using _second = await startServer({ dataDir });
      await first[Symbol.asyncDispose]();
      await using third = await startServer({ dataDir });
      expect(third.stderr()).toContain(said);
    }));

  it.each(['SIGKILL', 'SIGTERM'] as const)('is not said once the first has ended by %s', (signal) =>
    withFolder(async (dataDir) => {
      const first = await startServer({ dataDir });
      first.kill(signal);
      await first.exited;
      await using second = await startServer({ dataDir });
      expect(second.stderr()).toContain('is ready');
      expect(second.stderr()).not.toContain(said);
    }),
  );

  it('is not said of a command or the doctor, which open the store and do not serve', () =>
    withFolder(async (dataDir) => {
      const first = await startServer({ dataDir });
      await first[Symbol.asyncDispose]();
      const clock = steadyClock(() => Math.floor(Date.now() / 1_000));
      await using _store = await openSqliteStore({ directory: dataDir, clock });
      expect((await mayfly(['doctor'], { MAYFLY_DATA_DIR: dataDir })).code).toBe(0);
      await using server = await startServer({ dataDir });
      expect(server.stderr()).not.toContain(said);
    }));
});
