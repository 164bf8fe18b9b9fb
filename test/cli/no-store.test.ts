/** Commands on a data folder without a store say so and leave the folder as it was. Only `serve` creates a store. */
import { describe, expect, it } from 'bun:test';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountCommands, tokenCommands } from '../../src/cli/accounts.ts';
import { domainCommands } from '../../src/cli/domains.ts';
import { storeCommands } from '../../src/cli/server.ts';
import { repositoryRoot, startServer } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

const onStores = [...accountCommands, ...tokenCommands, ...domainCommands, ...storeCommands];

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'mayfly-')));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const sentence = (folder: string) =>
  `There is no store in ${folder}. Start Mayfly once, or set MAYFLY_DATA_DIR.\n`;

describe('a command on a folder without a store', () => {
  it.each(onStores.map((command) => [command.path.join(' '), command] as const))(
    '%s says so, and makes neither folder nor file',
    (_name, { example }) =>
      withFolder(async (folder) => {
        const args = example.split(' ').slice(1);
        const missing = join(folder, 'data');
        expect(await mayfly(args, { MAYFLY_DATA_DIR: missing })).toEqual({
          code: 1,
          out: args.includes('--json') ? '{"error":"no_store"}\n' : '',
          err: sentence(missing),
        });
        await writeFile(join(folder, 'letter.txt'), 'not a store');
        const json = await mayfly([...args, '--json'], { MAYFLY_DATA_DIR: folder });
        expect(json).toEqual({ code: 1, out: '{"error":"no_store"}\n', err: sentence(folder) });
        expect(await readdir(folder)).toEqual(['letter.txt']);
      }),
  );

  it('names the whole path of one that was given from where it was called', async () => {
    const { err } = await mayfly(['account', 'list'], { MAYFLY_DATA_DIR: 'no/such/folder' });
    expect(err).toBe(sentence(join(repositoryRoot, 'no', 'such', 'folder')));
    expect(existsSync(join(repositoryRoot, 'no'))).toBe(false);
  });

  it('is looked at by the doctor, who leaves it as it was', () =>
    withFolder(async (folder) => {
      await chmod(folder, 0o700);
      const { code, out } = await mayfly(['doctor'], { MAYFLY_DATA_DIR: folder });
      expect([code, await readdir(folder)]).toEqual([0, []]);
      expect(out).toMatch(/ok +store +will be created at the first start/);
    }));

  it('says that the database is gone, rather than that there was none, where its log is still there', () =>
    withFolder(async (folder) => {
      await writeFile(join(folder, 'mayfly.db-wal'), '');
      const { code, err } = await mayfly(['account', 'list'], { MAYFLY_DATA_DIR: folder });
      expect(code).toBe(1);
      expect(err).toContain('is gone, and the log of its latest changes is still there');
    }));

  it('is one for as long as no server was started there, and works from then on', () =>
    withFolder(async (folder) => {
      const dataDir = join(folder, 'data');
      const create = () => mayfly(['account', 'create', 'jo@example.org'], { MAYFLY_DATA_DIR: dataDir });
      expect((await create()).code).toBe(1);
      await using server = await startServer({ dataDir });
      expect((await create()).code).toBe(0);
      server.kill('SIGTERM');
      await server.exited;
      expect((await mayfly(['account', 'list'], { MAYFLY_DATA_DIR: dataDir })).out).toStartWith('jo@');
    }));
});
