/**
 * Servers of PostgreSQL that are built and failed over by hand, by the very commands that docs/engines.md prints: whoever follows them
 * loses nothing and reads nothing twice, even while the old primary lives on with a node.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { attemptRequest, createV1, type Made, readAttempt, readMade } from '../support/calls.ts';
import { startNodes } from '../support/nodes.ts';
import { until } from '../support/postgres.ts';
import { openPrintedServers, type PrintedServers, printedBlocks } from '../support/printed-servers.ts';
import { sendOnce } from '../support/raw-client.ts';
import { startServer } from '../support/started-server.ts';
import { openTcpLink } from '../support/tcp-link.ts';

setDefaultTimeout(120_000);

const { onFirst, onStandbys, look } = printedBlocks('Your own servers', ['onFirst', 'onStandbys', 'look']);
const { stop, cutOff, whatTheyHave, promote, follow, comeBack } = printedBlocks('Failover by hand', [
  ...(['stop', 'cutOff', 'whatTheyHave', 'promote', 'follow', 'comeBack'] as const),
]);

/** As printed. */
async function build(): Promise<PrintedServers> {
  const servers = await openPrintedServers();
  servers.runBlock(onFirst);
  servers.runBlock(onStandbys);
  await until('two standbys', async () =>
    /sync\s.*potential|potential.*sync\s/s.test(servers.runBlock(look).join()),
  );
  return servers;
}

/** Asks as printed until nobody follows and nothing grows. What each has, in the order of the block. */
async function untilCutOff(servers: PrintedServers): Promise<string[]> {
  let before: string[] = [];
  await until('no receiver', async () => {
    const now = servers.runBlock(whatTheyHave);
    const isSo = now.every((line, at) => line.startsWith('0|') && line === before[at]);
    before = now;
    return isSo;
  });
  return before.map((line) => line.slice('0|'.length));
}

/** A node, through what people do with it. */
function clientOf(port: number, basic: string) {
  return {
    async createSoon(value: string): Promise<Made> {
      let made: Made | null = null;
      await until('a secret to be stored', async () => {
        made = readMade(await sendOnce(port, createV1({ value, basic })));
        return made !== null;
      });
      return made ?? expect.unreachable();
    },
    async reveal(made: Made) {
      const attempt = { door: 'v1.reveal' as const, made };
      return readAttempt(attempt, await sendOnce(port, attemptRequest(attempt))).is;
    },
  };
}

/** A node at each end of two addresses, both of which lead to the first server. */
async function openNodes(servers: PrintedServers) {
  const links = [await openTcpLink(servers.portOf('a')), await openTcpLink(servers.portOf('a'))] as const;
  const url = (link: { port: number }) => `postgres://mayfly@127.0.0.1:${link.port}/mayfly`;
  const nodes = await startNodes({ url: url(links[0]), durability: 'synchronous', nodeCount: 1 });
  const { MAYFLY_DATA_DIR: _, ...env } = nodes.env;
  const startSecond = (more: Record<string, string> = {}) =>
    startServer({ env: { ...env, MAYFLY_STORE: url(links[1]), ...more } });
  return {
    links,
    startSecond,
    first: clientOf(nodes.servers[0]?.port ?? 0, nodes.owner.basic),
    clientOf: ({ port }: { port: number }) => clientOf(port, nodes.owner.basic),
    async [Symbol.asyncDispose]() {
      await nodes[Symbol.asyncDispose]();
      for (const link of links) await link[Symbol.asyncDispose]();
    },
  };
}

const some = 10;

describe('PostgreSQL by hand, as printed', () => {
  test('P1, P2: a failover past an old primary that lives on with a node reads nothing twice and loses nothing', async () => {
    await using servers = await build();
    await using nodes = await openNodes(servers);
    const { first } = nodes;
    await using second = await nodes.startSecond();
    const other = nodes.clientOf(second);
    const made = await Promise.all(Array.from({ length: some }, (_, at) => first.createSoon(`value ${at}`)));
    const kept = await first.createSoon('kept');
    const read = await first.createSoon('read before');
    expect(await first.reveal(read)).toBe('released');

    // Nobody reaches the old primary: the first block is for those who do.
    servers.runBlock(cutOff);
    const [ofB, ofC] = await untilCutOff(servers);
    expect(ofB).toBe(ofC ?? '');
    servers.runBlock(promote);
    servers.runBlock(follow);
    nodes.links[1].pointTo(servers.portOf('b'));
    await other.createSoon('after it');
    expect(await Promise.all(made.map(other.reveal))).toEqual(made.map(() => 'released'));
    // Nothing is known there of what happened since, and nothing is released.
    const atOld = await Promise.all([...made, kept, read].map(first.reveal));
    expect(atOld).toEqual(atOld.map(() => 'unavailable'));
    expect(await other.reveal(read)).toBe('lost');

    servers.runBlock(comeBack);
    nodes.links[0].pointTo(servers.portOf('b'));
    await until(
      'both to follow',
      async () =>
        (
          await servers.ask(
            'b',
            "SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'potential')",
          )
        ).length === 2,
    );
    expect(await first.reveal(await first.createSoon('at last'))).toBe('released');
    expect(await first.reveal(kept)).toBe('released');
  });

  test('P1: the standby that was restarted is chosen where it has more, though what it received looks like less', async () => {
    await using servers = await build();
    const hasTable = (name: string) => async () =>
      (await servers.ask('c', `SELECT 1 FROM pg_class WHERE relname = '${name}'`)).length === 1;
    await servers.ask('a', 'CREATE TABLE confirmed_by_both ()');
    await until('c to have it', hasTable('confirmed_by_both'));
    // From here on only b confirms.
    servers.run('c', cutOff.script);
    await until(
      'c to follow no more',
      async () => (await servers.ask('c', 'SELECT 1 FROM pg_stat_wal_receiver')).length === 0,
    );
    await servers.ask('a', 'CREATE TABLE confirmed_by_b ()');
    servers.runBlock(stop);
    servers.run('b', 'pg_ctl restart --mode=immediate --log="$HOME/postgresql.log"');
    servers.run('b', cutOff.script);
    const [ofB = '', ofC = ''] = await untilCutOff(servers);
    const asked = (sql: string) => servers.ask('b', `SELECT ${sql} AS is`).then(([row]) => row?.is);
    expect(await asked(`'${ofB}'::pg_lsn > '${ofC}'::pg_lsn`)).toBe(true);
    const [received] = await servers.ask(
      'b',
      "SELECT coalesce(pg_last_wal_receive_lsn(), '0/0')::text AS lsn",
    );
    expect(await asked(`'${received?.lsn}'::pg_lsn < '${ofC}'::pg_lsn`)).toBe(true);
    servers.runBlock(promote);
    servers.runBlock(follow);
    await until('c to have it', hasTable('confirmed_by_b'));
  });

  test('a promotion before the other standby has left the old primary reads secrets twice: what the order is for', async () => {
    await using servers = await build();
    await using nodes = await openNodes(servers);
    const { first } = nodes;
    const made = await Promise.all(Array.from({ length: some }, (_, at) => first.createSoon(`value ${at}`)));
    servers.run('b', cutOff.script);
    servers.run(
      'b',
      `psql --command="ALTER SYSTEM SET synchronous_standby_names = ''" --command='SELECT pg_reload_conf()'`,
    );
    servers.runBlock(promote);
    nodes.links[1].pointTo(servers.portOf('b'));
    await using second = await nodes.startSecond({ MAYFLY_STORE_DURABILITY: 'single' });
    const other = nodes.clientOf(second);
    expect(await Promise.all(made.map(other.reveal))).toEqual(made.map(() => 'released'));
    expect(await Promise.all(made.map(first.reveal))).toEqual(made.map(() => 'released'));
  });
});
