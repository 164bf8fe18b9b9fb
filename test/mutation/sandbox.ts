/**
 * A copy of the tree to break, and to run tests in.
 *
 * The checkout is never changed. A mutant may loop forever, so a run that takes too long or too much memory is killed,
 * with everything that it started.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const copied = ['src', 'test', 'sdk', 'docs', 'scripts', 'package.json', 'tsconfig.json', 'bunfig.toml'];
const maxBytes = 2_000_000_000;
const watchMs = 500;

export interface Outcome {
  readonly verdict: 'passed' | 'failed' | 'timed out';
  readonly said: string;
  readonly ms: number;
}

export interface RunOptions {
  /** The run is ended when no test has ended for so long. */
  readonly stallMs: number;
  /** Only these tests, and up to the first failure. */
  readonly names?: readonly string[];
  readonly preload?: string;
}

export interface Sandbox extends Disposable {
  readonly folder: string;
  write(path: string, text: string): void;
  /** Runs a file of tests. */
  runTests(file: string, options: RunOptions): Promise<Outcome>;
}

const asPattern = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export function createSandbox(root: string): Sandbox {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-mutants-'));
  const scratch = join(folder, '.scratch');
  let running: number | undefined;
  for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    write: (path, text) => writeFileSync(join(folder, path), text),
    async runTests(file, { stallMs, names, preload }) {
      mkdirSync(scratch, { recursive: true });
      const flags = ['--no-install', '--no-env-file', 'test', '--timeout=60000'];
      if (names !== undefined) flags.push('--bail', '-t', `^(?:${names.map(asPattern).join('|')})$`);
      if (preload !== undefined) flags.push('--preload', preload);
      const child = start(folder, scratch, [...flags, `./${file}`]);
      running = child.pid;
      const outcome = await outcomeOf(child, stallMs);
      running = undefined;
      // Removes what a killed test left behind.
      rmSync(scratch, { recursive: true, force: true });
      if (/^error: regex .* matched 0 tests/m.test(outcome.said)) throw new Error(`${file}: ${outcome.said}`);
      return outcome;
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
    // A fixed seed, so that a test draws the same with every mutant; a language in which a browser can name any file.
    env: { PATH, HOME, LANG: 'C.UTF-8', TMPDIR: scratch, MAYFLY_SEED: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
}

async function outcomeOf(child: ChildProcess, stallMs: number): Promise<Outcome> {
  const beganMs = performance.now();
  let saidMs = beganMs;
  let said = '';
  let isEnded = false;
  const watch = setInterval(() => {
    if (performance.now() - saidMs < stallMs && residentBytes(child.pid) < maxBytes) return;
    isEnded = true;
    endGroup(child.pid);
  }, watchMs);
  child.stderr?.on('data', (chunk) => {
    saidMs = performance.now();
    said += chunk;
  });
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  clearInterval(watch);
  const ms = performance.now() - beganMs;
  endGroup(child.pid);
  // What has left the group may keep the pipe open.
  await Promise.race([closed, Bun.sleep(1_000)]);
  const verdict = isEnded ? 'timed out' : code === 0 ? 'passed' : 'failed';
  return { verdict, said, ms };
}

/** Ends the processes that a run has started, and removes what its database servers keep in memory. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  const folders = databasesOf(pid);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

function databasesOf(group: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, , ofGroup] = readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ');
        const command = Number(ofGroup) === group ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
        return [...command.matchAll(/\0(\/[^\0]*\/mayfly-postgres-\w+)\/data\b/g)].map(
          ([, folder = '']) => folder,
        );
      } catch {
        // It has ended.
        return [];
      }
    });
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
