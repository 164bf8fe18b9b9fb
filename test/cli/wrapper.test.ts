/** `scripts/mayfly.mjs`: getting from plain Node to the runtime adds nothing to the command. */
import { describe, expect, it } from 'bun:test';
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, makeDataDir, repositoryRoot, watch } from '../support/started-server.ts';

const wrapper = join(repositoryRoot, 'scripts', 'mayfly.mjs');

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  // From another folder, because the command can be called from anywhere.
  return spawn('node', [wrapper, ...args], {
    cwd: '/',
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

describe('the wrapper', () => {
  it('passes arguments, both outputs and the exit code through', async () => {
    for (const [args, code, out] of [
      [['version'], 0, /^\d+\.\d+\.\d+\n$/],
      [['nonsense'], 2, /^$/],
      [['account', 'create', 'nobody', '--json'], 1, /^\{"error":"no_store"\}\n$/],
    ] as const) {
      const folder = await makeDataDir();
      const { stdout, exited } = watch(run(args, { MAYFLY_DATA_DIR: folder }));
      expect(await exited).toEqual({ code, signal: null });
      expect(stdout()).toMatch(out);
      await rm(folder, { recursive: true });
    }
  });

  it('passes SIGTERM on, waits for the server to finish, and ends as it does (P23)', async () => {
    const folder = await makeDataDir();
    const child = run(['serve'], { MAYFLY_DATA_DIR: folder, PORT: String(await freePort()) });
    const { stdout, stderr, exited } = watch(child);
    await new Promise<void>((resolve) => {
      child.stderr?.on('data', () => stderr().includes('is ready') && resolve());
    });
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(stderr()).toContain('is ready');
    expect(stdout()).toContain('"event":"stopped"');
    await rm(folder, { recursive: true });
  });
});
