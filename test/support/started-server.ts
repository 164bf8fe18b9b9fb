/**
 * A real server process for tests: started, watched, killed. Nothing outlives the test: disposing kills the process by its
 * id and removes the folder if it was made here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConnection, requestBytes, sendOnce } from './raw-client.ts';

export const repositoryRoot = join(import.meta.dir, '..', '..');

export interface StartOptions {
  /** A free one when absent. */
  readonly port?: number;
  /** Kept after the test; a fresh one that is removed when absent. */
  readonly dataDir?: string;
  /** Added to the settings that every test uses. */
  readonly env?: Readonly<Record<string, string>>;
  /** The script and its arguments; the product's `serve` when absent. */
  readonly command?: readonly string[];
  /** The path that answers 200 once the server serves. */
  readonly readyPath?: string;
  /** What it then writes to stderr, possibly after its first answer; `is ready` for the product's `serve`. */
  readonly readyWords?: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartedServer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  /** From the start of the process to its first answer. */
  readonly startMilliseconds: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<Exit>;
}

/** The server ended before it answered. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
  readonly exit: Exit;
  readonly stderr: string;
  readonly stdout: string;

  constructor(exit: Exit, output: { stdout: string; stderr: string }) {
    super(`the server ended with ${exit.code ?? exit.signal}: ${output.stderr || output.stdout}`);
    this.exit = exit;
    this.stderr = output.stderr;
    this.stdout = output.stdout;
  }
}

const pollMilliseconds = 4;
/** 60 s: a loaded machine starts slowly, and giving up early proves nothing. */
const maxPolls = 15_000;

const portsOfAProcess = 400;
/** Test files run side by side: no two processes take ports from the same part, unless their ids are 50 apart. */
const firstPort = 12_000 + (process.pid % 50) * portsOfAProcess;
let portsTaken = Math.floor(Math.random() * portsOfAProcess);

/**
 * A free port below the ephemeral range, so that no outgoing connection can take it between this check and the server's
 * bind. Another one each time.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < portsOfAProcess; tries += 1) {
    portsTaken += 1;
    const port = firstPort + (portsTaken % portsOfAProcess);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port found');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

export function makeDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'mayfly-'));
}

/** Only these variables reach the process: the surrounding shell must not affect a test. */
function baseEnv(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, HOST: '127.0.0.1', MAYFLY_RATE_LIMITS: 'off', MAYFLY_LOG_LEVEL: 'error' };
}

/** Starts a process of the product without waiting for anything. */
export function spawnProduct(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [...args], {
    cwd: repositoryRoot,
    env: { ...baseEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export const serveCommand = ['src/main.ts', 'serve'] as const;

/** Collects a process's output and how it ended. */
export function watch(child: ChildProcess): {
  stdout: () => string;
  stderr: () => string;
  exited: Promise<Exit>;
} {
  const collect = (stream: NodeJS.ReadableStream | null) => {
    const parts: Buffer[] = [];
    stream?.on('data', (part: Buffer) => parts.push(part));
    return () => Buffer.concat(parts).toString('utf8');
  };
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { stdout, stderr, exited };
}

/** A command that has not ended by then is killed, which its exit shows. */
const usualRunMilliseconds = 20_000;

/** Runs a command of the product until it ends. */
export async function runProduct(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  limitMilliseconds = usualRunMilliseconds,
): Promise<Exit & { stdout: string; stderr: string }> {
  const child = spawnProduct(args, env);
  const { stdout, stderr, exited } = watch(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMilliseconds);
  const exit = await exited;
  clearTimeout(timer);
  return { ...exit, stdout: stdout(), stderr: stderr() };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Polls until it is so; resolves to whether it ever was. Stops as soon as the process has ended. */
async function awaitThat(isSo: () => boolean | Promise<boolean>, exited: Promise<Exit>): Promise<boolean> {
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  for (let polls = 0; polls < maxPolls; polls += 1) {
    if (await isSo()) return true;
    if (hasEnded) return false;
    await pause(pollMilliseconds);
  }
  return false;
}

const answers = (port: number, path: string) => () =>
  sendOnce(port, requestBytes({ method: 'GET', path })).then(
    (answer) => answer.status === 200,
    () => false,
  );

/** Starts a server and waits for its first answer and `readyWords`. Rejects with `StartRefused` when it exits first. */
export async function startServer(options: StartOptions = {}): Promise<StartedServer> {
  const dataDir = options.dataDir ?? (await makeDataDir());
  const port = options.port ?? (await freePort());
  const startedAt = performance.now();
  const child = spawnProduct(options.command ?? serveCommand, {
    PORT: String(port),
    MAYFLY_DATA_DIR: dataDir,
    ...options.env,
  });
  const { stdout, stderr, exited } = watch(child);
  const words = options.readyWords ?? (options.command === undefined ? 'is ready' : '');
  const hasAnswered = await awaitThat(answers(port, options.readyPath ?? '/healthz'), exited);
  const startMilliseconds = performance.now() - startedAt;
  const isReady = hasAnswered && (await awaitThat(() => stderr().includes(words), exited));
  const remove = async () => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  if (!isReady) {
    child.kill('SIGKILL');
    const exit = await exited;
    await remove();
    throw new StartRefused(exit, { stdout: stdout(), stderr: stderr() });
  }
  return {
    port,
    pid: child.pid ?? 0,
    dataDir,
    startMilliseconds,
    stdout,
    stderr,
    exited,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      await remove();
    },
  };
}

export interface Credentials {
  readonly username: string;
  readonly token: string;
  /** The value of an `Authorization` header. */
  readonly basic: string;
}

/** Only a server creates a store, so this starts one and stops it. */
async function makeStore(dataDir: string): Promise<void> {
  await using first = await startServer({ dataDir });
  first.kill('SIGTERM');
  await first.exited;
}

/** Makes an account with the operator's command, even on a folder that no server has used yet. */
export async function createAccount(dataDir: string, email: string, plan = 'basic'): Promise<Credentials> {
  if (!existsSync(join(dataDir, 'mayfly.db'))) await makeStore(dataDir);
  const run = await runProduct(['src/main.ts', 'account', 'create', email, '--plan', plan, '--json'], {
    MAYFLY_DATA_DIR: dataDir,
  });
  if (run.code !== 0) throw new Error(`account create ended with ${run.code}: ${run.stderr}${run.stdout}`);
  const { username, token } = JSON.parse(run.stdout) as { username: string; token: string };
  return { username, token, basic: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}` };
}

/** A pool of keep-alive connections, closed when disposed. */
export async function openPool(port: number, size: number) {
  const connections = await Promise.all(Array.from({ length: size }, () => openConnection(port)));
  return {
    connections,
    [Symbol.dispose]() {
      for (const connection of connections) connection.destroy();
    },
  };
}
