/**
 * A dump that is loaded over the database while nodes serve under load: what was read since the dump is not read again, at no node,
 * and from then on all of them refuse until the operator has accepted.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { count, limitMs } from '../support/counts.ts';
import { startLoad } from '../support/failovers.ts';
import { createLedger, type Entry } from '../support/ledger.ts';
import { runJson, startNodes } from '../support/nodes.ts';
import { postgresPrograms, startPostgres, until } from '../support/postgres.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { openPool, startServer } from '../support/started-server.ts';
import { attemptOne, type Load } from '../support/storm.ts';

setDefaultTimeout(limitMs(120_000));

const oneTransaction = ['--single-transaction'];
const cases = count<readonly (readonly [number, readonly string[]])[]>({
  usual: [[2, []]],
  long: [
    [1, []],
    [1, oneTransaction],
    [3, []],
    [3, oneTransaction],
  ],
});
const cycles = count({ usual: 1, long: 10 });

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(join(postgresPrograms(), program), args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'exit');
  // PostgreSQL may undo all of it for a node's statement, and as an operator does, it is tried again.
  if (code !== 0 && /deadlock detected/.test(said) && args.includes('--single-transaction'))
    return run(program, args);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${said}`);
}

const indexes = "SELECT indexname FROM pg_indexes WHERE schemaname <> 'pg_catalog' ORDER BY 1";

/** Reveals what was read before. How many were answered with anything but 503. */
async function askAgain(
  port: number,
  read: readonly Entry[],
  { ledger, basic }: Pick<Load, 'ledger' | 'basic'>,
) {
  using pool = await openPool(port, 8);
  const left = [...read];
  let answered = 0;
  const work = async (connection: (typeof pool.connections)[number]) => {
    for (let entry = left.pop(); entry !== undefined; entry = left.pop())
      if (await attemptOne(ledger, entry, connection, 'v1.reveal', basic)) answered += 1;
  };
  await Promise.all(pool.connections.map(work));
  return answered;
}

async function play(nodeCount: number, options: readonly string[], name: string) {
  const seed = announceSeed(name);
  const random = seededFractions(seed);
  const ledger = createLedger(seed.toString(36));
  await using server = await startPostgres();
  const dump = join(server.folder, 'dump');
  const at = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'mayfly'];
  await using nodes = await startNodes({ url: server.url, durability: 'single', nodeCount });
  const { basic } = nodes.owner;
  const indexesBefore = await server.ask(indexes);
  const load = startLoad({ nodes, ledger, random });
  const countReleased = () => ledger.entries.filter(({ releases }) => releases > 0).length;
  try {
    await load.untilAnswers(150);
    await run('pg_dump', [...at, '-Fc', '-f', dump, 'mayfly']);
    const before = countReleased();
    await until('reads after the dump', async () => countReleased() >= before + 20);
    const restore = () =>
      run('pg_restore', [...at, '-d', 'mayfly', '--clean', '--if-exists', ...options, dump]);
    await restore().catch(async (error: Error) => {
      // A node's row came before the index. An operator begins again, too.
      if (!error.message.includes('could not create unique index')) throw error;
      await server.ask('DROP SCHEMA mayfly_store CASCADE');
      await restore();
    });
    await load.untilAnswers(50);
  } finally {
    await load.stop();
    rmSync(dump, { force: true });
  }
  const read = ledger.entries.filter(({ releases }) => releases > 0);
  const answers = [];
  for (const { port } of nodes.servers) answers.push(await askAgain(port, read, { ledger, basic }));
  for (const { port } of nodes.servers)
    await until(
      'a node that is not ready',
      async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 503,
    );
  for (const each of nodes.servers) await each[Symbol.asyncDispose]();
  await runJson(['store', 'accept-restore', '--yes'], nodes.env);
  const { MAYFLY_DATA_DIR: _, ...env } = nodes.env;
  await using accepted = await startServer({ env });
  await askAgain(accepted.port, read, { ledger, basic });
  console.log(
    `${name}: ${read.length} read, ${answers.join(' and ')} of them answered again, ` +
      `${ledger.faults.length} faults`,
  );
  expect(ledger.faults).toEqual([]);
  expect(answers).toEqual(nodes.servers.map(() => 0));
  expect(await server.ask(indexes)).toEqual(indexesBefore);
}

describe('a dump that is loaded under load', () => {
  for (const [nodeCount, options] of cases) {
    const how = options.length === 0 ? 'piece by piece' : 'in one transaction';
    const name = `restore ${how}, nodes: ${nodeCount}`;
    test(`P1, P6: ${cycles} times, ${how}, under ${nodeCount} nodes: nothing is read again`, async () => {
      for (let cycle = 0; cycle < cycles; cycle += 1) await play(nodeCount, options, name);
    });
  }
});
