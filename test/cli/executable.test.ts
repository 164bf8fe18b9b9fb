/** The single executable serves exactly what a checkout serves, without Node, packages or sources next to it. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildExecutable } from '../support/executable.ts';
import { freePort, makeDataDir, watch } from '../support/started-server.ts';

setDefaultTimeout(120_000);

let folder: string;
let executable: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  executable = join(folder, 'mayfly');
  await buildExecutable(executable);
});
afterAll(() => rm(folder, { recursive: true }));

describe('the executable', () => {
  it('serves from any folder, stores durably, stretches a passphrase, backs up and restores', async () => {
    const port = await freePort();
    const env = { PORT: String(port), MAYFLY_DATA_DIR: await makeDataDir() };
    const child = spawn(executable, ['serve'], { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] });
    const { stderr, exited } = watch(child);
    await once(child.stderr, 'data');
    expect(stderr()).toContain('is ready');

    const api = `http://127.0.0.1:${port}/api/v1`;
    const form = new URLSearchParams({ secret: 'open sesame', passphrase: 'thyme' });
    const made = await fetch(`${api}/share`, { method: 'POST', body: form });
    const { secret_key: key } = (await made.json()) as { secret_key: string };
    const read = () =>
      fetch(`${api}/secret/${key}`, { method: 'POST', body: new URLSearchParams({ passphrase: 'thyme' }) });
    expect(await (await read()).json()).toMatchObject({ value: 'open sesame' });
    expect((await read()).status).toBe(404);

    const module = await fetch(`http://127.0.0.1:${port}/sdk/mayfly.js`);
    expect([module.status, await module.text()]).toEqual([200, expect.stringContaining('createClient,')]);

    const backup = join(folder, 'backup.db');
    const run = async (args: readonly string[], dataDir: string) => {
      const command = spawn(executable, args, {
        cwd: '/',
        env: { MAYFLY_DATA_DIR: dataDir },
        stdio: 'ignore',
      });
      return (await once(command, 'exit'))[0];
    };
    expect(await run(['backup', backup], env.MAYFLY_DATA_DIR)).toBe(0);
    expect(await run(['restore', backup, '--yes'], join(folder, 'restored'))).toBe(0);

    child.kill('SIGTERM');
    expect(await exited).toEqual({ code: 0, signal: null });
    await rm(env.MAYFLY_DATA_DIR, { recursive: true });
  });
});
