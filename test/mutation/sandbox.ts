/**
 * A copy of the tree to break, and to run tests in.
 *
 * The checkout is never changed. A mutant may loop forever, so a run that takes too long or too much memory is killed,
 * with everything that it started.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const copied = ['src', 'test', 'sdk', 'docs', 'scripts', 'package.json', 'tsconfig.json', 'bunfig.toml'];
const maxBytes = 2_000_000_000;
const watchMs = 500;

export type Verdict = 'passed' | 'failed' | 'timed out';

export interface Sandbox extends Disposable {
  readonly folder: string;
  write(path: string, text: string): void;
  /** Runs the tests in sequence, up to the first failure. */
  runTests(tests: readonly string[], limitMs: number, more?: readonly string[]): Promise<Verdict>;
}

export function createSandbox(root: string): Sandbox {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-mutants-'));
  const scratch = join(folder, '.scratch');
  let running: number | undefined;
  for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    write: (path, text) => writeFileSync(join(folder, path), text),
    async runTests(tests, limitMs, more = ['--bail']) {
      mkdirSync(scratch, { recursive: true });
      const flags = ['--no-install', '--no-env-file', 'test', '--timeout=60000', ...more];
      const child = start(folder, scratch, [...flags, ...tests.map((test) => `./${test}`)]);
      running = child.pid;
      const verdict = await verdictOf(child, limitMs);
      running = undefined;
      // Removes what a killed test left behind.
      rmSync(scratch, { recursive: true, force: true });
      return verdict;
    },
    [Symbol.dispose]() {
      endGroup(running);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function start(cwd: string, scratch: string, args: readonly string[]): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  return spawn(process.execPath, args, {
    cwd,
    // A fixed seed, so that a test draws the same with every mutant.
    env: { PATH, HOME, TMPDIR: scratch, MAYFLY_SEED: '1', NO_COLOR: '1' },
    stdio: 'ignore',
    detached: true,
  });
}

function verdictOf(child: ChildProcess, limitMs: number): Promise<Verdict> {
  return new Promise((resolve) => {
    let isEnded = false;
    const end = () => {
      isEnded = true;
      endGroup(child.pid);
    };
    const limit = setTimeout(end, limitMs);
    const watch = setInterval(() => {
      if (residentBytes(child.pid) > maxBytes) end();
    }, watchMs);
    child.on('close', (code) => {
      clearTimeout(limit);
      clearInterval(watch);
      endGroup(child.pid);
      if (isEnded) resolve('timed out');
      else resolve(code === 0 ? 'passed' : 'failed');
    });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** 0 where there is no `/proc`. */
function residentBytes(pid: number | undefined): number {
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1];
    return Number(pages) * 4_096;
  } catch {
    return 0;
  }
}
