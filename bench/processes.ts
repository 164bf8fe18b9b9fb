/**
 * The processes of a benchmark, each pinned to a core and measured from outside.
 *
 * Figures come from the kernel, for all threads of a process. Source: proc(5), fields 14 and 15 of /proc/<pid>/stat and VmRSS of
 * /proc/<pid>/status.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { requestBytes, sendOnce } from '../test/support/raw-client.ts';
import { freePort, repositoryRoot, serveCommand } from '../test/support/started-server.ts';
import type { Job, JobResult } from './jobs.ts';

const tasksetPath = '/usr/bin/taskset';
export const canPin = existsSync(tasksetPath);

/** The kernel counts in hundredths of a second for user programs, on every Linux. */
const microsecondsPerTick = 10_000;

/** User and system time of every thread, so far. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
}

export function residentMebibytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kibibytes ?? 0) / 1024;
}

export function spawnPinned(
  core: number,
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  { stdin = 'ignore', cwd = repositoryRoot }: { stdin?: 'ignore' | 'pipe'; cwd?: string } = {},
): ChildProcess {
  const [program, ...args] = canPin ? [tasksetPath, '-c', String(core), ...command] : command;
  const { PATH = '', HOME = '' } = process.env;
  return spawn(program, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
}

export interface BenchServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly startMilliseconds: number;
  stop(): Promise<void>;
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

export const serverCore = 0;
export const generatorCore = 1;

/** Keeps what a process says, and says it when the process ends otherwise than it should. */
function overhear(child: ChildProcess, name: string): void {
  const said: Buffer[] = [];
  child.stderr?.on('data', (part: Buffer) => said.push(part));
  child.once('close', (code) => {
    if (code !== 0 && code !== null) console.error(`${name} ended with ${code}: ${Buffer.concat(said)}`);
  });
}

/** Starts a server on its core and waits for its first 200. */
export async function startBenchServer(
  name: string,
  command: readonly [string, ...string[]],
  {
    readyPath = '/',
    env = {},
    cwd = repositoryRoot,
  }: { readyPath?: string; env?: Readonly<Record<string, string>>; cwd?: string } = {},
): Promise<BenchServer> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawnPinned(serverCore, command, { ...env, PORT: String(port) }, { cwd });
  overhear(child, name);
  child.stdout?.resume();
  await awaitAnswer(port, readyPath, child);
  const startMilliseconds = performance.now() - startedAt;
  return {
    name,
    port,
    pid: child.pid ?? 0,
    startMilliseconds,
    stop: () =>
      new Promise((resolve) => {
        child.once('close', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

/** The service as it is shipped, quiet. @param checkout where its code is; this checkout when absent */
export function startMayfly(
  env: { readonly MAYFLY_DATA_DIR: string; readonly MAYFLY_RATE_LIMITS: string },
  checkout = repositoryRoot,
): Promise<BenchServer> {
  return startBenchServer('mayfly', [process.execPath, ...serveCommand], {
    readyPath: '/healthz',
    env: { ...env, MAYFLY_LOG_LEVEL: 'warn' },
    cwd: checkout,
  });
}

export interface Generator {
  run(job: Job): Promise<JobResult>;
  stop(): void;
}

export function startGenerator(): Generator {
  const child = spawnPinned(generatorCore, [process.execPath, 'bench/generator.ts'], {}, { stdin: 'pipe' });
  overhear(child, 'the generator');
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('the generator has no pipes');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    async run(job) {
      stdin.write(`${JSON.stringify(job)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the generator ended: its reason stands above');
      return JSON.parse(value) as JobResult;
    },
    stop: () => void stdin.end(),
  };
}
