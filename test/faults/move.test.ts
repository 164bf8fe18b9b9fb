/**
 * A store that is moved there and back while clients share, read and burn, by commands that are killed on the way: nothing that was
 * acknowledged is lost, and nothing opens twice.
 */
import { expect, it } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { count, limitMs } from '../support/counts.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import type { Env } from '../support/nodes.ts';
import { startPostgres } from '../support/postgres.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import {
  createAccount,
  makeDataDir,
  runProduct,
  type StartedServer,
  spawnProduct,
  startServer,
  watch,
} from '../support/started-server.ts';
import { readAll, runLoad } from '../support/storm.ts';

/** That wait before the first move. */
const secretCount = count({ usual: 3_000, long: 100_000 });
const connectionCount = 8;
const commandMs = limitMs(60_000);

/** Ends the command with SIGKILL once it has said how far it is. */
async function moveAndKill(args: readonly string[], env: Env, atWords: string): Promise<void> {
  const child = spawnProduct(['src/main.ts', 'migrate-store', ...args], env);
  const { exited } = watch(child);
  let said = '';
  child.stderr?.on('data', (part) => {
    said += part;
    if (said.includes(atWords)) child.kill('SIGKILL');
  });
  expect([(await exited).signal, said]).toEqual(['SIGKILL', expect.stringContaining(atWords)]);
}

async function move(args: readonly string[], env: Env): Promise<string> {
  const run = await runProduct(['src/main.ts', 'migrate-store', ...args, '--json'], env, commandMs);
  expect([run.code, run.stderr]).toEqual([0, expect.any(String)]);
  return (JSON.parse(run.stdout) as { outcome: string }).outcome;
}

interface Clients {
  readonly ledger: Ledger;
  readonly basic: string;
  readonly random: () => number;
}

async function share({ port }: StartedServer, clients: Clients): Promise<void> {
  let answered = 0;
  const onAnswer = (soFar: number) => {
    answered = soFar;
  };
  // Where it would draw what to do, it always shares.
  const random = () => 0.9;
  await runLoad({
    ...clients,
    port,
    random,
    connectionCount,
    onAnswer,
    goesOn: () => answered < secretCount,
  });
}

/** Serves while `work` runs, and until it has ended. */
async function underLoad(
  { port }: StartedServer,
  clients: Clients,
  work: () => Promise<void>,
): Promise<number> {
  let goesOn = true;
  const load = runLoad({ ...clients, port, connectionCount, onAnswer: () => {}, goesOn: () => goesOn });
  try {
    await work();
  } finally {
    goesOn = false;
  }
  return (await load).answered;
}

/** Copies with a cut, again without, and then finishes. */
async function moveUnderLoad(from: string, to: string, env: Env): Promise<void> {
  await moveAndKill([from, to], env, '% of');
  expect(await move([from, to], env)).toBe('copied');
  await moveAndKill([from, to, '--finish', '--yes'], env, 'takes over');
  expect(await move([from, to, '--finish', '--yes'], env)).toBe('moved');
}

it(
  'P1 P5 P6: a store is moved to PostgreSQL and back under load, with commands killed on the way',
  async () => {
    const random = seededFractions(announceSeed('a move under load'));
    await using postgres = await startPostgres();
    const folders = [await makeDataDir(), await makeDataDir()] as const;
    try {
      const keys = { MAYFLY_ROOT_KEYS_FILE: join(folders[0], 'keys.json') };
      const limits = { MAYFLY_RATE_LIMITS: 'off' };
      const onServer = { ...keys, ...limits, MAYFLY_STORE: postgres.url, MAYFLY_STORE_DURABILITY: 'single' };
      const env = { ...onServer, MAYFLY_DATA_DIR: folders[0] };
      await using first = await startServer({ dataDir: folders[0], env: { ...keys, ...limits } });
      const { basic } = await createAccount(folders[0], 'storm@example.org');
      const ledger = createLedger(random().toString(36).slice(2, 8));
      const clients = { ledger, basic, random };
      await share(first, clients);
      const [here, there, back] = [`sqlite:${folders[0]}`, postgres.url, `sqlite:${folders[1]}`];
      const answered = [await underLoad(first, clients, () => moveUnderLoad(here, there, env))];
      await using second = await startServer({ env: onServer });
      answered.push(await underLoad(second, clients, () => moveUnderLoad(there, back, env)));
      await using third = await startServer({ dataDir: folders[1], env: { ...keys, ...limits } });
      const waited = await readAll(third.port, clients);
      expect(ledger.faults).toEqual([]);
      expect([waited > secretCount / 10, Math.min(...answered) > 100]).toEqual([true, true]);
      console.log(
        `${ledger.entries.length} shared, ${waited} waited at the end; ${answered} answers under load`,
      );
    } finally {
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    }
  },
  limitMs(120_000),
);
