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
  /** The first test that failed; `null` where none says that it did. */
  readonly failed: { readonly file: string; readonly name: string } | null;
}

export interface Sandbox extends Disposable {
  readonly folder: string;
  write(path: string, text: string): void;
  /** Runs files of tests in sequence, up to the first failure. @param names a pattern: of these files only the tests that it matches */
  runTests(files: readonly string[], limitMs: number, names?: string): Promise<Outcome>;
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
    async runTests(files, limitMs, names) {
      mkdirSync(scratch, { recursive: true });
      const flags = ['--no-install', '--no-env-file', 'test', '--timeout=60000', '--bail'];
      const only = names === undefined ? [] : ['-t', names];
      const child = start(folder, scratch, [...flags, ...only, ...files.map((file) => `./${file}`)]);
      running = child.pid;
      const outcome = await outcomeOf(child, limitMs);
      running = undefined;
      // Removes what a killed test left behind.
      rmSync(scratch, { recursive: true, force: true });
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

async function outcomeOf(child: ChildProcess, limitMs: number): Promise<Outcome> {
  let isEnded = false;
  const end = () => {
    isEnded = true;
    endGroup(child.pid);
  };
  const limit = setTimeout(end, limitMs);
  const watch = setInterval(() => {
    if (residentBytes(child.pid) > maxBytes) end();
  }, watchMs);
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  clearTimeout(limit);
  clearInterval(watch);
  endGroup(child.pid);
  // What has left the group may keep the pipe open.
  await Promise.race([closed, Bun.sleep(1_000)]);
  if (isEnded) return { verdict: 'timed out', failed: null };
  return { verdict: code === 0 ? 'passed' : 'failed', failed: failedTest(said) };
}

/** The runner names each file, and then the tests in it. A test's own name comes after those of its groups. */
function failedTest(said: string): Outcome['failed'] {
  const failure = /^\(fail\) (?:.* > )?(.*?)(?: \[[\d.]+m?s\])?$/m.exec(said);
  const file = [...said.slice(0, failure?.index).matchAll(/^(\S+\.test\.tsx?):$/gm)].at(-1)?.[1];
  return failure?.[1] === undefined || file === undefined ? null : { file, name: failure[1] };
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
