/** A pgbouncer in transaction mode before a server: on a free port, in a folder of its own, ended and removed with the test. */
import { spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asServer, makePostgresFolder, type PostgresServer } from './postgres.ts';
import { freePort } from './started-server.ts';

const programs = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'];

export interface Pgbouncer extends AsyncDisposable {
  /** Of the server's database `mayfly`, through the pooler. */
  readonly url: string;
}

/** `serverConnections` are shared by all clients, one transaction at a time. */
export async function startPgbouncer(
  server: Pick<PostgresServer, 'port'>,
  serverConnections = 4,
): Promise<Pgbouncer> {
  const folder = makePostgresFolder();
  const port = await freePort();
  const lines = [
    '[databases]',
    `mayfly = host=127.0.0.1 port=${server.port} dbname=mayfly user=mayfly`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    `unix_socket_dir = ${folder}`,
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${serverConnections}`,
    'max_client_conn = 500',
    'ignore_startup_parameters = extra_float_digits',
  ];
  writeFileSync(join(folder, 'pgbouncer.ini'), `${lines.join('\n')}\n`);
  const path = programs.find((each) => existsSync(each));
  if (path === undefined) throw new Error('pgbouncer is not installed');
  const [command, args] = asServer(path, [join(folder, 'pgbouncer.ini')]);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let log = '';
  const ready = Promise.withResolvers<void>();
  child.stderr.on('data', (chunk) => {
    log += chunk;
    if (log.includes('process up')) ready.resolve();
  });
  void exited.then(() => ready.reject(new Error(`pgbouncer ended: ${log}`)));
  await ready.promise;
  ready.promise.catch(() => {});
  return {
    url: `postgres://mayfly@127.0.0.1:${port}/mayfly`,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGINT');
        await exited;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
