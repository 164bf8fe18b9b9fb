/** The single executable, as `npm run build` makes it. */
import { expect } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort, repositoryRoot, watch } from './started-server.ts';

/** @param path of the executable, in a folder of the test's own @param flags as `npm run build` takes them */
export async function buildExecutable(path: string, flags = ['--no-packages']): Promise<void> {
  const args = [join(repositoryRoot, 'scripts', 'build.mjs'), ...flags, path];
  const build = spawn('node', args, { stdio: 'ignore' });
  expect(await once(build, 'exit')).toEqual([0, null]);
}

export interface RunningExecutable extends AsyncDisposable {
  readonly origin: string;
  /** Ends it as a service manager does; it must end well. */
  stop(): Promise<void>;
}

/** What ended, and what it said. */
export interface EndedExecutable {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of it, alone: nothing but `env` is in its environment, not even a PATH. */
export async function runExecutable(
  path: string,
  args: readonly string[],
  { cwd = '/', env = {}, input = '' }: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<EndedExecutable> {
  const child = spawn(path, [...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const { stdout, stderr, exited } = watch(child);
  child.stdin.end(input);
  const { code } = await exited;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Serves with it, alone, and resolves once it is ready. */
export async function serveExecutable(
  path: string,
  { cwd = '/', env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<RunningExecutable> {
  const port = await freePort();
  const own = { PORT: String(port), MAYFLY_RATE_LIMITS: 'off', ...env };
  const child = spawn(path, ['serve'], { cwd, env: own, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stderr, exited } = watch(child);
  await Promise.race([once(child.stderr, 'data'), exited]);
  expect(stderr()).toContain('is ready');
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      expect(await exited).toEqual({ code: 0, signal: null });
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
