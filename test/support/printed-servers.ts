/**
 * Database servers on this machine as an operator has them on several: each with a home and a data folder of its own, and with nothing done
 * to it but what the documentation prints.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { asServer, makePostgresFolder, postgresPrograms } from './postgres.ts';
import { freePort, repositoryRoot } from './started-server.ts';

const serverNames = ['a', 'b', 'c'] as const;
export type ServerName = (typeof serverNames)[number];

/** One printed block: the servers that its first line names, and the whole as a script. */
export interface PrintedBlock {
  readonly on: readonly ServerName[];
  readonly script: string;
}

/**
 * The blocks of shell in docs/engines.md below a heading, without those for the reader alone, by names for them in order. Throws where a
 * block is printed that has no name: nothing printed goes untried.
 */
export function printedBlocks<Name extends string>(
  heading: string,
  names: readonly Name[],
): Readonly<Record<Name, PrintedBlock>> {
  const text = readFileSync(join(repositoryRoot, 'docs/engines.md'), 'utf8');
  const [, after = ''] = text.split(`\n### ${heading}\n`);
  const [section = ''] = after.split(/\n##+ /);
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, script = '']) => {
    const [, named] = /^# On ((?:[abc], )*[abc])\b/.exec(script) ?? [];
    const on = serverNames.filter((name) => named?.split(', ').includes(name));
    return on.length === 0 ? [] : [{ on, script }];
  });
  if (blocks.length !== names.length)
    throw new Error(`"${heading}" prints ${blocks.length} blocks for servers, not ${names.length}`);
  return Object.fromEntries(blocks.map((block, at) => [names[at], block])) as Record<Name, PrintedBlock>;
}

export interface PrintedServers extends AsyncDisposable {
  /** Where it listens, on 127.0.0.1. */
  readonly portOf: (name: ServerName) => number;
  /** Runs a script on a server, as its user; what it printed. */
  run(name: ServerName, script: string): string;
  /** On each of the servers that the block names, one after the other. */
  runBlock(block: PrintedBlock): string[];
  ask(name: ServerName, sql: string): Promise<Record<string, unknown>[]>;
}

/** As a system sets up a machine: what `pg_basebackup` copies from another one must not replace it. */
const machineSettings = (home: string, port: number) => `
  port = ${port}
  listen_addresses = '127.0.0.1'
  unix_socket_directories = '${home}'
  shared_buffers = '16MB'
  dynamic_shared_memory_type = 'mmap'
  ssl = on
  ssl_cert_file = '${home}/server.pem'
  ssl_key_file = '${home}/server-key.pem'
`;

const setUpMachine = (home: string, port: number) => `
  cat > machine.conf <<'END'
${machineSettings(home, port)}
END
  cp '${repositoryRoot}/test/deploy/certificate.pem' server.pem
  cp '${repositoryRoot}/test/deploy/certificate-key.pem' server-key.pem
  chmod 600 server-key.pem
  echo '*:*:*:replicator:PASSWORD' > .pgpass
  chmod 600 .pgpass
`;

/** The first server, with a role and a database for Mayfly, and with nobody who may replicate. */
const setUpFirst = `
  initdb --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync
  sed --in-place '/replication/d' "$PGDATA/pg_hba.conf"
  echo "include '../machine.conf'" >> "$PGDATA/postgresql.conf"
  pg_ctl start --log="$HOME/postgresql.log"
  psql --command='CREATE ROLE mayfly LOGIN' --command='CREATE DATABASE mayfly OWNER mayfly'
`;

export async function openPrintedServers(): Promise<PrintedServers> {
  const machines = new Map<ServerName, { readonly home: string; readonly port: number }>();
  for (const name of serverNames) machines.set(name, { home: makePostgresFolder(), port: await freePort() });
  const machine = (name: ServerName) => machines.get(name) ?? { home: '', port: 0 };
  /** The port goes with the address, in every place where an operator's servers have the usual one. */
  const addressOf = (name: ServerName) => `127.0.0.1 port=${machine(name).port}`;
  const envOf = (name: ServerName) => {
    const { home, port } = machine(name);
    return {
      ...{ PATH: `${postgresPrograms()}:/usr/bin:/bin`, HOME: home, PGDATA: join(home, 'data') },
      ...{ PGPORT: String(port), PGHOST: home, PGUSER: 'postgres', PGDATABASE: 'postgres' },
      ...{ NAME: name, A: addressOf('a'), B: addressOf('b'), NETWORK: '127.0.0.1/32' },
    };
  };
  const shell = (name: ServerName, script: string) => {
    const { home } = machine(name);
    // To a file: a server that it starts keeps its output open.
    const [command, args] = asServer('/bin/sh', ['-euc', `exec > out 2>&1 < /dev/null\n${script}`]);
    const { status } = spawnSync(command, args, { env: envOf(name), cwd: home });
    return { status, text: readFileSync(join(home, 'out'), 'utf8') };
  };
  const run = (name: ServerName, script: string): string => {
    const { status, text } = shell(name, script);
    if (status !== 0) throw new Error(`on ${name}: ${script}\n${text}`);
    return text.trim();
  };
  const end = () => {
    for (const name of serverNames) {
      shell(name, 'pg_ctl stop --silent --mode=immediate || true');
      rmSync(machine(name).home, { recursive: true, force: true });
    }
    process.off('exit', end);
  };
  process.on('exit', end);
  for (const name of serverNames) run(name, setUpMachine(machine(name).home, machine(name).port));
  run('a', setUpFirst);
  return {
    portOf: (name) => machine(name).port,
    run,
    runBlock: ({ on, script }) => on.map((name) => run(name, script)),
    async ask(name, sql) {
      const client = new pg.Client({ host: '127.0.0.1', port: machine(name).port, user: 'postgres' });
      await client.connect();
      try {
        return (await client.query(sql)).rows;
      } finally {
        await client.end();
      }
    },
    [Symbol.asyncDispose]: async () => end(),
  };
}
