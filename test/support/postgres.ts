/** A real PostgreSQL for tests: on a free port, in a folder of its own, ended and removed with the test. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const versions = '/usr/lib/postgresql';
const user = 'postgres';

/** Where Debian puts the newest version's programs. */
function programs(): string {
  const newest = readdirSync(versions)
    .filter((name) => existsSync(join(versions, name, 'bin/postgres')))
    .sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`there is no PostgreSQL in ${versions}`);
  return join(versions, newest, 'bin');
}

/** PostgreSQL refuses to run as root. */
function asServer(program: string, args: readonly string[]): [string, string[]] {
  const path = join(programs(), program);
  if (process.getuid?.() !== 0) return [path, [...args]];
  return ['setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', path, ...args]];
}

export function runPostgresProgram(program: string, args: readonly string[]): string {
  const [command, all] = asServer(program, args);
  return execFileSync(command, all, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' }).toString();
}

export async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => resolve(port));
  });
  return promise;
}

export function makePostgresFolder(): string {
  const inMemory =
    existsSync('/dev/shm') &&
    statfsSync('/dev/shm').bavail * statfsSync('/dev/shm').bsize > 512 * 1024 * 1024;
  const folder = mkdtempSync(join(inMemory ? '/dev/shm' : tmpdir(), 'mayfly-postgres-'));
  if (process.getuid?.() === 0) {
    const id = (flag: string) => Number(execFileSync('id', [flag, user]).toString());
    chownSync(folder, id('-u'), id('-g'));
  }
  return folder;
}

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  readonly folder: string;
  /** Of the database `mayfly`, as a superuser without a password. */
  readonly url: string;
  readonly process: ChildProcess;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface PostgresOptions {
  /** Lines added to postgresql.conf. */
  readonly config?: Readonly<Record<string, string | number>>;
}

const defaults = {
  listen_addresses: "'127.0.0.1'",
  shared_buffers: "'32MB'",
  max_connections: 100,
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_statement: 'none',
} as const;

function configure(data: string, config: Readonly<Record<string, string | number>>): void {
  const lines = Object.entries(config).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''));
}

/** A fresh, empty server that accepts connections. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = makePostgresFolder();
  const data = join(folder, 'data');
  const port = await freePort();
  runPostgresProgram('initdb', [
    '-D',
    data,
    '-U',
    'mayfly',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ]);
  configure(data, { ...defaults, unix_socket_directories: `'${folder}'`, port, ...options.config });
  const server = await serve(folder, port);
  runPostgresProgram('createdb', ['-h', '127.0.0.1', '-p', String(port), '-U', 'mayfly', 'mayfly']);
  return server;
}

async function serve(folder: string, port: number): Promise<PostgresServer> {
  const [command, args] = asServer('postgres', ['-D', join(folder, 'data')]);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let log = '';
  const ready = Promise.withResolvers<void>();
  child.stderr?.on('data', (chunk) => {
    log += chunk;
    if (log.includes('ready to accept connections')) ready.resolve();
  });
  void exited.then(() => ready.reject(new Error(`PostgreSQL ended: ${log}`)));
  await ready.promise;
  ready.promise.catch(() => {});
  async function kill(signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    await exited;
  }
  return {
    port,
    folder,
    url: `postgres://mayfly@127.0.0.1:${port}/mayfly`,
    process: child,
    kill,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await kill('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
