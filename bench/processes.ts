/**
 * The processes of a benchmark, each pinned to a core and measured from outside.
 *
 * Figures come from the kernel, for a process with all its threads and descendants. Source: proc(5), fields 4, 14 and 15 of
 * /proc/<pid>/stat and VmRSS of /proc/<pid>/status.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { requestBytes, sendOnce } from '../test/support/raw-client.ts';
import { freePort, repositoryRoot } from '../test/support/started-server.ts';

const tasksetPath = '/usr/bin/taskset';
export const canPin = existsSync(tasksetPath);

/** The kernel counts in hundredths of a second for user programs, on every Linux. */
const microsecondsPerTick = 10_000;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly cpuTicks: number;
}

/** `null`: it has ended. */
function statOf(pid: number): ProcessStat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid, parent: Number(fields[1]), cpuTicks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}

/** The process and its descendants. */
export function treeOf(root: number): ProcessStat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const all = pids.map((pid) => statOf(Number(pid))).filter((stat) => stat !== null);
  const tree = all.filter(({ pid }) => pid === root);
  // The loop also reaches what it adds.
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/** User and system time of every thread, so far. */
export function cpuMicroseconds({ pid }: Pick<BenchServer, 'pid'>): number {
  return treeOf(pid).reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) * microsecondsPerTick;
}

function residentKibibytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

export function residentMebibytes({ pid }: Pick<BenchServer, 'pid'>): number {
  return treeOf(pid).reduce((sum, process) => sum + residentKibibytes(process.pid), 0) / 1024;
}

/** Of what processes share, such as the program itself, each counts its part. */
export function proportionalMebibytes({ pid }: Pick<BenchServer, 'pid'>): number {
  const kibibytes = treeOf(pid).map(({ pid: each }) =>
    Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'latin1'))?.[1] ?? 0),
  );
  return kibibytes.reduce((sum, each) => sum + each, 0) / 1024;
}

type Command = readonly [string, ...string[]];

export const serverCore = 0;
export const generatorCore = 1;

/** @param core `null`: on any */
export function spawnPinned(
  core: number | null,
  command: Command,
  env: Readonly<Record<string, string>>,
  { stdin = 'ignore', cwd = repositoryRoot }: { stdin?: 'ignore' | 'pipe'; cwd?: string } = {},
): ChildProcess {
  const [program, ...args] =
    canPin && core !== null ? ([tasksetPath, '-c', String(core), ...command] as const) : command;
  const { PATH = '', HOME = '' } = process.env;
  return spawn(program, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
}

/** Disposing stops it. */
export interface BenchServer extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to its first 200. */
  readonly startMilliseconds: number;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function awaitAnswer(port: number, path: string, child: ChildProcess): Promise<void> {
  const request = requestBytes({ method: 'GET', path });
  for (let polls = 0; polls < 20_000; polls += 1) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const status = await sendOnce(port, request).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await pause(1);
  }
  throw new Error('the server never answered');
}

/** Keeps what a process says, and says it when the process ends otherwise than it should. */
function overhear(child: ChildProcess, name: string): void {
  const said: Buffer[] = [];
  child.stderr?.on('data', (part: Buffer) => said.push(part));
  child.once('close', (code) => {
    if (code !== 0 && code !== null) console.error(`${name} ended with ${code}: ${Buffer.concat(said)}`);
  });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It ended in the meantime.
  }
}

/** A shell does not pass a signal on, so every process gets its own. */
function stopTree(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    for (const { pid } of treeOf(child.pid ?? 0)) endProcess(pid);
  });
}

/** Starts a server on its core and waits for its first 200. */
export async function startBenchServer(
  name: string,
  command: Command,
  {
    readyPath = '/',
    env = {},
    cwd = repositoryRoot,
    core = serverCore,
  }: {
    readyPath?: string;
    env?: Readonly<Record<string, string>>;
    cwd?: string;
    core?: number | null;
  } = {},
): Promise<BenchServer> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawnPinned(core, command, { ...env, PORT: String(port) }, { cwd });
  overhear(child, name);
  child.stdout?.resume();
  await awaitAnswer(port, readyPath, child);
  const startMilliseconds = performance.now() - startedAt;
  return {
    ...{ name, port, startMilliseconds },
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: () => stopTree(child),
  };
}

/** What npm runs for a script of package.json, with npm's environment and without npm itself. */
export function commandOfScript(
  checkout: string,
  script: string,
  ...args: string[]
): { command: Command; env: Record<string, string>; cwd: string } {
  const manifest = join(checkout, 'package.json');
  const { scripts } = JSON.parse(readFileSync(manifest, 'utf8')) as { scripts: Record<string, string> };
  const line = [scripts[script], ...args].join(' ');
  const env = {
    PATH: `${join(checkout, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
    INIT_CWD: checkout,
    npm_package_json: manifest,
    npm_lifecycle_event: script,
    npm_lifecycle_script: line,
  };
  return { command: ['sh', '-c', line], env, cwd: checkout };
}
