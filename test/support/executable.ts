/** The single executable, as `npm run build` makes it. */
import { expect } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryRoot } from './started-server.ts';

/** @param path of the executable, in a folder of the test's own */
export async function buildExecutable(path: string): Promise<void> {
  const build = spawn('node', [join(repositoryRoot, 'scripts', 'build.mjs'), path], { stdio: 'ignore' });
  expect(await once(build, 'exit')).toEqual([0, null]);
}
