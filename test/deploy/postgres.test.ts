/**
 * deploy/postgres/compose.yaml without a container engine: its scripts and settings run on Debian's PostgreSQL in the order in which
 * the image runs them, and what it says of Mayfly is read as Mayfly reads it.
 */
import { describe, expect, it, setDefaultTimeout } from 'bun:test';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { z } from 'zod';
import { readConfig } from '../../src/config/read.ts';
import { asServer, makePostgresFolder, postgresPrograms, until } from '../support/postgres.ts';
import { freePort, repositoryRoot } from '../support/started-server.ts';
import { startCaddy } from './caddy.ts';
import { visit } from './curl.ts';

setDefaultTimeout(120_000);

const folder = join(repositoryRoot, 'deploy/postgres');
const service = z.looseObject({
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string().nullable()),
  volumes: z.array(z.string()),
});
const compose = z
  .looseObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })
  .parse(Bun.YAML.parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')));

const passwords = {
  POSTGRES_PASSWORD: 'aaa111',
  MAYFLY_DATABASE_PASSWORD: 'bbb222',
  REPLICATION_PASSWORD: 'ccc333',
};

/** What stands in for the image's own entrypoint: it starts the server on this machine's terms. */
const entrypoint = `#!/bin/sh
exec "$@" -D "$PGDATA" -c port=$PGPORT -c listen_addresses=127.0.0.1 -c unix_socket_directories="$PGHOST"
`;

interface Machine extends AsyncDisposable {
  readonly port: number;
  /** A program as the image's user, with the image's environment. */
  run(command: string, ...args: readonly string[]): string;
  /** Starts what lasts until the end, or until it is killed. */
  start(command: string, ...args: readonly string[]): ChildProcess;
  ask(sql: string, user?: string, password?: string): Promise<Record<string, unknown>[]>;
}

async function openMachine(more: Readonly<Record<string, string>>): Promise<Machine> {
  const home = makePostgresFolder();
  const port = await freePort();
  const bin = join(home, 'bin');
  spawnSync('mkdir', [bin]);
  writeFileSync(join(bin, 'docker-entrypoint.sh'), entrypoint);
  chmodSync(join(bin, 'docker-entrypoint.sh'), 0o755);
  const env = {
    PATH: `${bin}:${postgresPrograms()}:/usr/bin:/bin`,
    ...{ PGDATA: join(home, 'data'), PGHOST: home, PGPORT: String(port) },
    ...{ POSTGRES_USER: 'postgres', POSTGRES_DB: 'mayfly', ...passwords, ...more },
  };
  const started: ChildProcess[] = [];
  return {
    port,
    run(command, ...args) {
      const [program, all] = asServer(command, args);
      const { status, stdout, stderr } = spawnSync(program, all, { env, cwd: '/', encoding: 'utf8' });
      if (status !== 0) throw new Error(`${command}: ${stdout}${stderr}`);
      return stdout;
    },
    start(command, ...args) {
      const [program, all] = asServer(command, args);
      const child = spawn(program, all, { env, cwd: '/', stdio: 'ignore' });
      started.push(child);
      return child;
    },
    async ask(sql, user = 'postgres', password = passwords.POSTGRES_PASSWORD) {
      const client = new pg.Client({ host: '127.0.0.1', port, user, password, database: 'mayfly' });
      await client.connect();
      try {
        return (await client.query(sql)).rows;
      } finally {
        await client.end();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const child of started) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGQUIT');
        await exited;
      }
      spawnSync('rm', ['-rf', home]);
    },
  };
}

const answers = (machine: Machine): Promise<boolean> =>
  machine.ask('SELECT 1').then(
    () => true,
    () => false,
  );

const script = join(folder, 'server.sh');
const commandOf = (name: string): string[] => compose.services[name]?.command ?? [];

/** As the image does: an empty database, a temporary server, the script beside it, then the server itself. */
async function startPrimary(): Promise<Machine> {
  const machine = await openMachine({ SERVER: 'primary', LEADER: 'primary' });
  const words = ['--username=postgres', '--auth-host=scram-sha-256', '--auth-local=trust', '--no-sync'];
  machine.run('initdb', ...words);
  // The image lets users log in to databases with their password.
  machine.run('sh', '-c', `echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"`);
  const temporary = `-p ${machine.port} -c listen_addresses= -c unix_socket_directories="$PGHOST"`;
  machine.run('sh', '-c', `pg_ctl start --wait --silent --options '${temporary}' >/dev/null`);
  machine.run('psql', '-qc', `ALTER ROLE postgres PASSWORD '${passwords.POSTGRES_PASSWORD}'`, '-Upostgres');
  machine.run('createdb', '-Upostgres', 'mayfly');
  machine.run('sh', join(folder, 'primary.sh'));
  machine.run('pg_ctl', 'stop', '--wait', '--silent');
  machine.start('sh', script, ...commandOf('primary'));
  await until('the primary', () => answers(machine));
  return machine;
}

/** The other server, which `start` makes a copy of the leader. */
async function openFollower(of: Machine, SERVER: string, LEADER: string) {
  const machine = await openMachine({ SERVER, LEADER, LEADER_ADDRESS: `host=127.0.0.1 port=${of.port}` });
  return { ...machine, start: () => machine.start('sh', script, ...commandOf(SERVER)) };
}

/** Resolves once the leader's commits wait for it, and the connections that copied it are gone. */
function untilFollowed(leader: Machine, name: string): Promise<void> {
  const followers = () =>
    leader.ask('SELECT application_name AS name, sync_state AS state FROM pg_stat_replication');
  return until('a synchronous standby alone', async () =>
    Bun.deepEquals(await followers(), [{ name, state: 'sync' }]),
  );
}

describe('the compose file for PostgreSQL', () => {
  it('starts a primary whose commits wait for the standby, which takes over, and has the old one for its standby (P2)', async () => {
    await using primary = await startPrimary();
    await using standby = await openFollower(primary, 'standby', 'primary');
    standby.start();
    await untilFollowed(primary, 'standby');
    const mayfly = ['mayfly', passwords.MAYFLY_DATABASE_PASSWORD] as const;
    await primary.ask('CREATE TABLE mayfly_store.kept (it text)', ...mayfly);
    await primary.ask("INSERT INTO mayfly_store.kept VALUES ('confirmed')", ...mayfly);
    primary.run('pg_ctl', 'stop', '--wait', '--silent', '--mode=immediate');
    standby.run('pg_ctl', 'promote', '--wait', '--silent');
    expect(await standby.ask('SELECT it FROM mayfly_store.kept', ...mayfly)).toEqual([{ it: 'confirmed' }]);
    // `docker compose up` starts it again, with its old state and the new leader's name.
    const restart = () => primary.run('env', 'LEADER=standby', 'sh', script, ...commandOf('primary'));
    expect(restart).toThrow('primary was the primary before standby. Remove its volume');
    await using copy = await openFollower(standby, 'primary', 'standby');
    copy.start();
    await untilFollowed(standby, 'primary');
    await standby.ask("INSERT INTO mayfly_store.kept VALUES ('by both')", ...mayfly);
  });

  it('follows the primary again after a restart of the standby, without another copy', async () => {
    await using primary = await startPrimary();
    await using standby = await openFollower(primary, 'standby', 'primary');
    const isThere = () => answers(standby);
    standby.start();
    await until('a standby', isThere);
    standby.run('sh', '-c', 'touch "$PGDATA/still-the-first-copy"');
    standby.run('pg_ctl', 'stop', '--wait', '--silent', '--mode=fast');
    await until('no standby', async () => !(await isThere()));
    standby.start();
    await until('a standby', isThere);
    standby.run('sh', '-c', 'test -e "$PGDATA/still-the-first-copy"');
  });

  it('gives both servers the same settings, and the standby’s user nothing but replication', async () => {
    expect(commandOf('standby')).toEqual(commandOf('primary'));
    for (const name of ['primary', 'standby'])
      expect(compose.services[name]?.environment).toMatchObject({
        SERVER: name,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills it in
        LEADER: '${MAYFLY_DATABASE_HOST:-primary}',
      });
    await using primary = await startPrimary();
    const roles = await primary.ask(
      "SELECT rolname, rolsuper, rolreplication, rolcreatedb FROM pg_roles WHERE rolname IN ('mayfly', 'replication') ORDER BY 1",
    );
    expect(roles).toEqual([
      { rolname: 'mayfly', rolsuper: false, rolreplication: false, rolcreatedb: false },
      { rolname: 'replication', rolsuper: false, rolreplication: true, rolcreatedb: false },
    ]);
  });

  it('gives every node the same settings, which Mayfly accepts (P25)', () => {
    const nodes = Object.entries(compose.services).filter(([name]) => name.startsWith('mayfly-'));
    expect(nodes).toHaveLength(3);
    const [first, ...others] = nodes.map(([, node]) => node.environment);
    for (const other of others) expect(other).toEqual(first ?? {});
    const values = Object.entries(first ?? {}).flatMap(([name, text]) =>
      text === null
        ? []
        : [[name, text.replace(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}/g, (_, __, other = 'x1') => other)]],
    );
    expect(readConfig(Object.fromEntries(values))).toMatchObject({
      outcome: 'read',
      settings: { storeDurability: 'synchronous' },
    });
  });

  it('mounts files and volumes that there are, and asks for every password', () => {
    const sources = Object.values(compose.services).flatMap(({ volumes }) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    const files = sources.filter((source) => source.startsWith('.'));
    expect(files.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
    const names = sources.filter((source) => !source.startsWith('.'));
    expect(new Set(names)).toEqual(new Set(Object.keys(compose.volumes)));
    const example = readFileSync(join(folder, 'env.example'), 'utf8');
    for (const name of Object.keys(passwords)) expect(example).toContain(`\n${name}=\n`);
  });
});

describe('Caddy in front of several nodes', () => {
  /** A node that is ready or not, and dies over every POST. */
  function openNode(isReady: boolean) {
    const asked: string[] = [];
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url);
        asked.push(`${request.method} ${pathname}`);
        if (request.method === 'POST') {
          void server.stop(true);
          return new Promise<Response>(() => {});
        }
        return new Response(null, { status: pathname === '/readyz' && !isReady ? 503 : 200 });
      },
    });
    const countOf = (line: string) => asked.filter((each) => each === line).length;
    return { port: server.port ?? 0, countOf, [Symbol.asyncDispose]: () => server.stop(true) };
  }

  it('sends none to a node that is not ready, and no request twice (P1)', async () => {
    const balancing = compose.services.caddy?.environment.MAYFLY_BALANCING ?? '';
    await using ready = openNode(true);
    await using waiting = openNode(false);
    await using caddy = await startCaddy({
      upstreamPort: waiting.port,
      others: {
        ports: [ready.port],
        balancing: balancing.replace('health_interval 2s', 'health_interval 50ms'),
      },
      internalPort: 1,
    });
    await until('two checks of each', async () =>
      [ready, waiting].every((node) => node.countOf('GET /readyz') > 1),
    );
    const at = { host: 'localhost', port: caddy.httpsPort, authority: caddy.authority };
    for (let sent = 0; sent < 20; sent += 1)
      expect(await visit({ ...at, path: '/x' })).toMatchObject({ status: 200 });
    expect([ready.countOf('GET /x'), waiting.countOf('GET /x')]).toEqual([20, 0]);
    expect(await visit({ ...at, path: '/secret', body: 'a=b' })).toMatchObject({ status: 502 });
    expect([ready.countOf('POST /secret'), waiting.countOf('POST /secret')]).toEqual([1, 0]);
  });
});
