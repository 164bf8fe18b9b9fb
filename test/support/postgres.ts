/** A real PostgreSQL for tests: on a free port, in a folder of its own, ended and removed with the test. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { lookUntil } from './look-until.ts';
import { freePort, repositoryRoot } from './started-server.ts';
import { openTcpLink } from './tcp-link.ts';

const versions = '/usr/lib/postgresql';
const user = 'postgres';

/** Where Debian puts the newest version's programs. */
export function postgresPrograms(): string {
  const newest = readdirSync(versions)
    .filter((name) => existsSync(join(versions, name, 'bin/postgres')))
    .sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`there is no PostgreSQL in ${versions}`);
  return join(versions, newest, 'bin');
}

/** PostgreSQL refuses to run as root. */
export function asServer(path: string, args: readonly string[]): [string, string[]] {
  if (process.getuid?.() !== 0) return [path, [...args]];
  return ['setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', path, ...args]];
}

export function runPostgresProgram(program: string, args: readonly string[], input = ''): string {
  const [command, all] = asServer(join(postgresPrograms(), program), args);
  return execFileSync(command, all, { input, stdio: ['pipe', 'pipe', 'pipe'], cwd: '/' }).toString();
}

export function makePostgresFolder(isOnDisk = false): string {
  const inMemory =
    !isOnDisk &&
    existsSync('/dev/shm') &&
    statfsSync('/dev/shm').bavail * statfsSync('/dev/shm').bsize > 512 * 1024 * 1024;
  const folder = mkdtempSync(join(inMemory ? '/dev/shm' : tmpdir(), 'mayfly-postgres-'));
  if (process.getuid?.() === 0) {
    const id = (flag: string) => Number(execFileSync('id', [flag, user]).toString());
    chownSync(folder, id('-u'), id('-g'));
  }
  return folder;
}

type Config = Readonly<Record<string, string | number>>;

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  readonly folder: string;
  /** Of the database `mayfly`, as a superuser without a password. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Ends the server; with SIGKILL all its processes at once, as a machine that loses power does. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again after its end, as it was. */
  restart(): Promise<void>;
  /** Changes lines of its configuration and lets it read them; resolves when new connections have them. */
  configure(changes: Config): Promise<void>;
  /** Rows of one statement, on a connection of its own that finds Mayfly's tables without their schema. */
  ask<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface PostgresOptions {
  /** Lines added to postgresql.conf. */
  readonly config?: Config;
  /** In memory if absent, where there is room: answers do not depend on the disk. */
  readonly isOnDisk?: boolean;
}

const defaults = {
  listen_addresses: "'127.0.0.1'",
  shared_buffers: "'32MB'",
  max_connections: 100,
  // In the server's folder, because those in /dev/shm outlive a server that was killed.
  dynamic_shared_memory_type: 'mmap',
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_statement: 'none',
} as const;

function writeConfig(folder: string, config: Config): void {
  const lines = Object.entries(config).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(folder, 'data/postgresql.auto.conf'), lines.join(''));
}

/** Makes a server's data, with the empty database `mayfly`. */
function initialise(folder: string): void {
  const words = ['-U', 'mayfly', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const data = join(folder, 'data');
  runPostgresProgram('initdb', ['-D', data, ...words]);
  runPostgresProgram('postgres', ['--single', '-D', data, 'postgres'], 'CREATE DATABASE mayfly\n');
}

const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to]);

/** Such data, made once for all test files: to copy them takes a tenth of the time. */
function placeCopied(folder: string): void {
  const version = basename(dirname(postgresPrograms()));
  const made = join(
    repositoryRoot,
    'node_modules/.cache/mayfly-postgres',
    `${version}-${Bun.hash(`${initialise}`)}`,
  );
  if (!existsSync(made)) {
    const draft = `${made}.${process.pid}`;
    mkdirSync(dirname(made), { recursive: true });
    initialise(folder);
    copy(join(folder, 'data'), draft);
    try {
      renameSync(draft, made);
    } catch {
      // Another process was faster.
      rmSync(draft, { recursive: true });
    }
    return;
  }
  copy(made, join(folder, 'data'));
}

/** Only the first of a test file: two servers are told apart by the number that each was given when its data were made. */
let isCopied = false;

/** A fresh, empty server that accepts connections. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = makePostgresFolder(options.isOnDisk);
  if (isCopied) initialise(folder);
  else placeCopied(folder);
  isCopied = true;
  return serve(folder, await freePort(), options.config ?? {});
}

/** Servers that run, by their folders. Those that nobody has ended yet do not outlive this process. */
const running = new Map<string, ChildProcess>();
process.on('exit', () => {
  for (const [folder, child] of running) {
    child.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Starts a server's programs and resolves when it accepts connections. */
async function launch(folder: string): Promise<{ child: ChildProcess; exited: Promise<void> }> {
  const [command, args] = asServer(join(postgresPrograms(), 'postgres'), ['-D', join(folder, 'data')]);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  running.set(folder, child);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void exited.then(() => running.delete(folder));
  let log = '';
  const ready = Promise.withResolvers<void>();
  child.stderr?.on('data', (chunk) => {
    log += chunk;
    if (/ready to accept (?:read-only )?connections/.test(log)) ready.resolve();
  });
  void exited.then(() => ready.reject(new Error(`PostgreSQL ended: ${log}`)));
  await ready.promise;
  ready.promise.catch(() => {});
  return { child, exited };
}

function childrenOf(pid: number): number[] {
  const words = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return words.filter((word) => word !== '').map(Number);
}

/** Polls until it is so. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  await lookUntil(what, isSo, (seen) => seen);
}

async function serve(folder: string, port: number, own: Config): Promise<PostgresServer> {
  const url = `postgres://mayfly@127.0.0.1:${port}/mayfly`;
  let config: Config = { ...defaults, unix_socket_directories: `'${folder}'`, port, ...own };
  writeConfig(folder, config);
  let running = await launch(folder);
  const ask: PostgresServer['ask'] = async (sql, values = []) => {
    const client = new pg.Client({ connectionString: url, options: '-c search_path=public,mayfly_store' });
    await client.connect();
    try {
      return (await client.query(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const loadedAt = async () => String((await ask('SELECT pg_conf_load_time()::text AS at'))[0]?.at);
  async function kill(signal: NodeJS.Signals): Promise<void> {
    const { child, exited } = running;
    const pids = signal === 'SIGKILL' && child.pid !== undefined ? childrenOf(child.pid) : [];
    child.kill(signal);
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended by itself.
      }
    }
    await exited;
  }
  return {
    port,
    folder,
    url,
    get process() {
      return running.child;
    },
    kill,
    ask,
    async restart() {
      running = await launch(folder);
    },
    async configure(changes) {
      const before = await loadedAt();
      config = { ...config, ...changes };
      writeConfig(folder, config);
      running.child.kill('SIGHUP');
      await until('the new configuration', async () => (await loadedAt()) !== before);
    },
    async [Symbol.asyncDispose]() {
      const { child } = running;
      if (child.exitCode === null && child.signalCode === null) await kill('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A primary and its synchronous standby. The bytes between them, and those of clients of `url`, go through this process: it
 * must not block while the pair waits for something.
 */
export interface PostgresPair extends AsyncDisposable {
  /** Leads to the primary, and after a promotion to the promoted one: connections are cut by then. */
  readonly url: string;
  readonly primary: PostgresServer;
  /** `null` between a promotion and the next `addStandby`. */
  readonly standby: PostgresServer | null;
  /** Primaries of the past, whose promoted standby took over: dead unless restarted. */
  readonly former: readonly PostgresServer[];
  /** From now on the standby hears nothing of the primary, nor the primary of it: synchronous commits wait. */
  freezeStandby(): void;
  thawStandby(): void;
  /** As by a loss of power. What a frozen standby had not heard, it never will. */
  killPrimary(): Promise<void>;
  /** Makes the standby the primary, whatever became of the old one. Synchronous commits wait for the next standby. */
  promote(): Promise<void>;
  /** Gives the primary a new synchronous standby, made from a copy; resolves when commits wait for it. */
  addStandby(): Promise<void>;
}

const standbyName = 'mayfly_standby';
const synchronous = { synchronous_standby_names: `'FIRST 1 (${standbyName})'` };

async function copyServer(primary: PostgresServer, isOnDisk?: boolean): Promise<string> {
  const folder = makePostgresFolder(isOnDisk);
  const data = join(folder, 'data');
  const [command, args] = asServer(join(postgresPrograms(), 'pg_basebackup'), [
    ...['-D', data, '-h', '127.0.0.1', '-p', String(primary.port), '-U', 'mayfly'],
    ...['--checkpoint=fast', '--no-sync', '--wal-method=stream'],
  ]);
  await promisify(execFile)(command, args, { cwd: '/' });
  writeFileSync(join(data, 'standby.signal'), '');
  return folder;
}

interface PairOptions extends PostgresOptions {
  /** Without the link between the two that a test may stall, which costs processor time. */
  readonly isDirect?: boolean;
}

export async function startPair(options: PairOptions = {}): Promise<PostgresPair> {
  let primary = await startPostgres(options);
  let standby: PostgresServer | null = null;
  const former: PostgresServer[] = [];
  const front = await openTcpLink(primary.port);
  const link = await openTcpLink(primary.port);
  async function addStandby(): Promise<void> {
    link.pointTo(primary.port);
    link.resume();
    const folder = await copyServer(primary, options.isOnDisk);
    const port = options.isDirect ? primary.port : link.port;
    const connection = `host=127.0.0.1 port=${port} user=mayfly application_name=${standbyName}`;
    const follow = { primary_conninfo: `'${connection}'`, wal_retrieve_retry_interval: "'100ms'" };
    standby = await serve(folder, await freePort(), { ...options.config, ...follow, ...synchronous });
    await primary.configure(synchronous);
    const isSynchronous = async () =>
      (await primary.ask("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 1;
    await until('a synchronous standby', isSynchronous);
  }
  await addStandby();
  return {
    url: `postgres://mayfly@127.0.0.1:${front.port}/mayfly`,
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    former,
    freezeStandby: link.stall,
    thawStandby: link.resume,
    async killPrimary() {
      await primary.kill('SIGKILL');
    },
    async promote() {
      if (standby === null) throw new Error('there is no standby to promote');
      link.cut();
      await standby.ask('SELECT pg_promote(true)');
      former.push(primary);
      primary = standby;
      standby = null;
      front.pointTo(primary.port);
    },
    addStandby,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
      for (const server of [standby, primary, ...former]) await server?.[Symbol.asyncDispose]();
    },
  };
}
