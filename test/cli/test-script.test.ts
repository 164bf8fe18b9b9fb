/** `npm test` itself: what its flags do. */
import { describe, expect, it } from 'bun:test';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot, watch } from '../support/started-server.ts';

const script = join(repositoryRoot, 'scripts', 'test.mjs');

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('node', [script, ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr, exited } = watch(child);
  const { code } = await exited;
  return { code, stdout: stdout(), words: stdout() + stderr() };
}

describe('the test script', () => {
  it('takes the usual counts, whatever the environment says, and with --long the long ones, of the same tests', async () => {
    const usual = await run(['support/counts'], { MAYFLY_LONG: '1' });
    const long = await run(['--long', 'support/counts']);
    expect([usual.code, long.code]).toEqual([0, 0]);
    expect(usual.words).toContain('counts are usual');
    expect(long.words).toContain('counts are long');
    for (const { stdout } of [usual, long]) expect(stdout).toEndWith('\n1 passed, 0 failed\n');
  });

  it('explains its flags, and runs nothing for one that it does not have', async () => {
    const help = await run(['--help']);
    expect(help.code).toBe(0);
    for (const flag of ['--long', '--strict', '--mutants', '--help']) expect(help.stdout).toContain(flag);
    const mistyped = await run(['--lnog']);
    expect([mistyped.code, mistyped.stdout]).toEqual([2, '']);
    expect(mistyped.words).toContain('--lnog');
  });
});
