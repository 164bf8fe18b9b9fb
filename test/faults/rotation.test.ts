/**
 * A rotation under load: `mayfly keys add`, `rotate` and `retire` as real processes beside a real server, and a `kill -9` of either.
 *
 * Proves that no create and no reveal fails (P12, P3), that nothing is read twice (P1), that what was acknowledged opens once with its
 * value, by the new root alone (P5), and that no file has the old root or a wrapping under it.
 */
import { Database } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { rewrapOlder } from '../../src/core/secrets/rewrap.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { createMachineClock } from '../../src/ops/machine-clock.ts';
import { readRootKeys } from '../../src/ops/root-key-file.ts';
import { addRoot } from '../../src/ops/root-keys.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { attemptRequest, createV2, readMade } from '../support/calls.ts';
import { count, limitMs } from '../support/counts.ts';
import { type Filling, fillStore } from '../support/fill.ts';
import { createStrictLedger, type Ledger } from '../support/ledger.ts';
import { openConnection, requestBytes, sendOnce } from '../support/raw-client.ts';
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
import { readAll, runLoad, settle } from '../support/storm.ts';

setDefaultTimeout(limitMs(120_000));

const connectionCount = 6;
/** Between two operations of a connection: hundreds a second go on while a rotation mostly waits. */
const loadPauseMs = 10;
const pause = (milliseconds = 2) => new Promise((resume) => setTimeout(resume, milliseconds));

/** On a connection of its own, closed at once: an open reader would block erasure. */
function ask<Row>(dataDir: string, sql: string, after: number): Row[] {
  using database = new Database(join(dataDir, 'mayfly.db'), { readonly: true });
  return database.query<Row, [number]>(sql).all(after);
}

const pieceBytes = 16;

/** Collects pieces of wrappings under an old root, and looks for them in the files. */
function createPieceWatch(dataDir: string) {
  const pieces = new Set<string>();
  let after = 0;
  return {
    pieces,
    /** At records that were stored since the look before. Each piece belongs to one wrapping: its salt and its tag. */
    look(kid = 1): void {
      const rows = ask<{ position: number; salt: Uint8Array; tag: Uint8Array }>(
        dataDir,
        `SELECT position, substr(sealed_secret, 12, ${pieceBytes}) AS salt, substr(sealed_secret, -${pieceBytes}) AS tag
         FROM records WHERE position > ?1 AND state = 'w' AND substr(sealed_secret, 2, 2) = x'000${kid}'`,
        after,
      );
      for (const { position, salt, tag } of rows) {
        after = Math.max(after, position);
        for (const piece of [salt, tag]) pieces.add(Buffer.from(piece).toString('latin1'));
      }
    },
    countLeft(): number {
      return filesIn(dataDir).reduce((sum, bytes) => sum + countPieces(bytes, pieces), 0);
    },
  };
}

function filesIn(dataDir: string): Buffer[] {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
}

/** At every offset: most are ruled out by their first three bytes. */
function countPieces(bytes: Buffer, pieces: ReadonlySet<string>): number {
  const starts = new Uint8Array(1 << 24);
  for (const piece of pieces)
    starts[(piece.charCodeAt(0) << 16) | (piece.charCodeAt(1) << 8) | piece.charCodeAt(2)] = 1;
  let found = 0;
  let next = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    next = ((next << 8) | (bytes[at] ?? 0)) & 0xffffff;
    if (starts[next] === 1 && pieces.has(bytes.toString('latin1', at - 2, at - 2 + pieceBytes))) found += 1;
  }
  return found;
}

async function fill(dataDir: string, filling: Pick<Filling, 'owner' | 'ledger' | 'secretCount'>) {
  await using store = await openSqliteStore({ directory: dataDir, clock: createMachineClock() });
  await fillStore({ store, keysFile: join(dataDir, 'keys.json'), ...filling });
}

interface Stage {
  readonly dataDir: string;
  readonly basic: string;
  readonly ledger: Ledger;
  readonly refused: readonly string[];
  readonly random: () => number;
  readonly secretCount: number;
  readonly pieces: ReturnType<typeof createPieceWatch>;
  /** In base64url. */
  readonly oldRoot: string;
}

/** A store in which so many secrets wait under root 1. */
async function onStage(name: string, secretCount: number, play: (stage: Stage) => Promise<void>) {
  const seed = announceSeed(name);
  const dataDir = await makeDataDir();
  try {
    const owner = await createAccount(dataDir, 'storm@example.org');
    const oldRoot = JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8')).roots[0].key;
    const { ledger, refused } = createStrictLedger(seed.toString(36));
    await fill(dataDir, { owner, ledger, secretCount });
    const pieces = createPieceWatch(dataDir);
    pieces.look();
    const random = seededFractions(seed);
    await play({ dataDir, basic: owner.basic, ledger, refused, random, secretCount, pieces, oldRoot });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const keysCommand = (...words: string[]) => ['src/main.ts', 'keys', ...words, '--json'];

async function runKeys({ dataDir }: Stage, ...words: string[]) {
  const startedAt = performance.now();
  const run = await runProduct(keysCommand(...words), { MAYFLY_DATA_DIR: dataDir }, limitMs(60_000));
  if (run.code !== 0) throw new Error(`keys ${words.join(' ')} ended with ${run.code}: ${run.stderr}`);
  return { answer: JSON.parse(run.stdout), seconds: (performance.now() - startedAt) / 1_000 };
}

/** Load on the server until `work` has ended. */
async function underLoad<T>({ ledger, basic, random, pieces }: Stage, port: number, work: () => Promise<T>) {
  let isDone = false;
  let lastAt = performance.now();
  let longestPauseMs = 0;
  const onAnswer = (answered: number) => {
    const now = performance.now();
    longestPauseMs = Math.max(longestPauseMs, now - lastAt);
    lastAt = now;
    if (answered % 200 === 0) pieces.look();
  };
  const pace = { connectionCount, between: () => pause(loadPauseMs), goesOn: () => !isDone };
  const loading = runLoad({ port, ledger, basic, random, onAnswer, ...pace });
  const [result, { answered }] = await Promise.all([work().finally(() => (isDone = true)), loading]);
  return { result, answered, longestPauseMs };
}

/** How much of what was there at first, of what still waits, is under this root: 0 to 1. */
function shareUnder({ dataDir, secretCount }: Stage, kid = 2): number {
  const [row] = ask<{ share: number | null }>(
    dataDir,
    `SELECT avg(substr(sealed_secret, 2, 2) = x'000${kid}') AS share FROM records WHERE position <= ?1 AND state = 'w'`,
    secretCount,
  );
  return row?.share ?? 1;
}

/** Resolves once so much is under the root, or to `false` when this process has ended before. */
async function untilShare(stage: Stage, share: number, exited: Promise<unknown>, kid = 2): Promise<boolean> {
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && shareUnder(stage, kid) < share) await pause();
  return !hasEnded;
}

async function stop(server: StartedServer): Promise<void> {
  server.kill('SIGTERM');
  expect((await server.exited).code).toBe(0);
}

/** What was opened or burned, and got a new wrapping all the same (P10). */
const endedWithBytes = `
  SELECT position FROM records
  WHERE position > ?1 AND state <> 'w' AND sealed_secret <> zeroblob(length(sealed_secret))`;

/** After the last step, with the server stopped: the files, and then all that waits. */
async function proveRotated(stage: Stage): Promise<number> {
  const { dataDir, ledger, pieces, oldRoot, refused } = stage;
  const keyFile = JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8'));
  expect(keyFile.roots.map(({ kid }: { kid: number }) => kid)).toEqual([2]);
  const forms = [oldRoot, Buffer.from(oldRoot, 'base64url')];
  expect(filesIn(dataDir).filter((bytes) => forms.some((form) => bytes.includes(form)))).toEqual([]);
  expect(pieces.countLeft()).toBe(0);
  expect(ask(dataDir, endedWithBytes, 0)).toEqual([]);
  await using server = await startServer({ dataDir });
  const waited = await readAll(server.port, stage);
  expect([ledger.faults, refused]).toEqual([[], []]);
  return waited;
}

/** Of each secret: it was opened or burned, once. */
function countUntold({ ledger }: Stage): number {
  return ledger.entries.filter(({ made, releases, burns }) => made === null || releases + burns !== 1).length;
}

const seconds = (figure: number) => `${figure.toFixed(1)} s`;

describe('P1, P3, P5, P12: a rotation under load', () => {
  const secretCount = count({ usual: 1_000, long: 100_000 });
  test(`of ${secretCount} waiting secrets fails no reveal and no create, and leaves nothing under the old root`, () =>
    onStage('rotation', secretCount, async (stage) => {
      expect(stage.pieces.countLeft()).toBeGreaterThanOrEqual(2 * secretCount);
      const server = await startServer({ dataDir: stage.dataDir });
      await using _ = server;
      const { result, answered, longestPauseMs } = await underLoad(stage, server.port, async () => ({
        add: await runKeys(stage, 'add'),
        rotate: await runKeys(stage, 'rotate'),
        retire: await runKeys(stage, 'retire', '--yes'),
      }));
      const { add, rotate, retire } = result;
      expect([add.answer, retire.answer]).toEqual([
        { added: 2, roots: [1, 2] },
        { retired: [1], roots: [2] },
      ]);
      expect(rotate.answer).toMatchObject({ root: 2, fixed: 0, damaged: 0 });
      await stop(server);
      const waited = await proveRotated(stage);
      expect(countUntold(stage)).toBe(0);
      console.log(
        `rotation: add ${seconds(add.seconds)}, rotate ${seconds(rotate.seconds)} for ${rotate.answer.rewrapped}, ` +
          `retire ${seconds(retire.seconds)}; ${answered} answers meanwhile, at most ${longestPauseMs.toFixed(0)} ms apart; ` +
          `${waited} waited after it`,
      );
    }));

  test('that is killed in the middle several times goes on where it was, and ends alike', () =>
    onStage('rotation, killed', count({ usual: 800, long: 20_000 }), async (stage) => {
      const points = [stage.random(), stage.random(), stage.random()].map((share) => 0.02 + share * 0.5);
      const server = await startServer({ dataDir: stage.dataDir });
      await using _ = server;
      const { result } = await underLoad(stage, server.port, async () => {
        await runKeys(stage, 'add');
        let kills = 0;
        for (const point of points.sort((a, b) => a - b)) {
          const child = spawnProduct(keysCommand('rotate'), { MAYFLY_DATA_DIR: stage.dataDir });
          const { exited } = watch(child);
          await untilShare(stage, point, exited);
          child.kill('SIGKILL');
          if ((await exited).signal === 'SIGKILL') kills += 1;
        }
        const before = shareUnder(stage);
        const early = await runProduct(keysCommand('retire', '--yes'), { MAYFLY_DATA_DIR: stage.dataDir });
        // On a busy machine the last of them may have come after everything was under the new root.
        if (before < 1) expect([early.code, JSON.parse(early.stdout).error]).toEqual([1, 'in_use']);
        await runKeys(stage, 'rotate');
        await runKeys(stage, 'retire', '--yes');
        return { kills, before };
      });
      expect(result.kills).toBe(points.length);
      await stop(server);
      const waited = await proveRotated(stage);
      expect(countUntold(stage)).toBe(0);
      const shares = [...points, result.before].map((share) => share.toFixed(2)).join(', ');
      console.log(`rotation, killed: at ${shares} of it; ${waited} waited after it`);
    }));

  test('goes on while the server is killed and started again', () =>
    onStage('rotation, server killed', count({ usual: 800, long: 20_000 }), async (stage) => {
      const { dataDir, ledger, basic, random } = stage;
      const killed = await startServer({ dataDir });
      await using _ = killed;
      const point = 0.05 + random() * 0.9;
      const { result } = await underLoad(stage, killed.port, async () => {
        await runKeys(stage, 'add');
        const child = spawnProduct(keysCommand('rotate'), { MAYFLY_DATA_DIR: dataDir });
        const { exited } = watch(child);
        expect(await untilShare(stage, point, exited)).toBe(true);
        killed.kill('SIGKILL');
        return { exited, atKill: shareUnder(stage) };
      });
      await killed.exited;
      const server = await startServer({ dataDir });
      await using _again = server;
      await settle(server.port, ledger, basic);
      await underLoad(stage, server.port, async () => {
        expect((await result.exited).code).toBe(0);
        await runKeys(stage, 'retire', '--yes');
      });
      await stop(server);
      const waited = await proveRotated(stage);
      console.log(
        `rotation, server killed: at ${point.toFixed(2)} (${result.atKill.toFixed(2)}) of it; ${waited} waited after it`,
      );
    }));
});

/** The answers to so many creates. */
async function createSome({ ledger, basic }: Stage, port: number, secretCount: number): Promise<number[]> {
  const connection = await openConnection(port);
  const statuses: number[] = [];
  for (let n = 0; n < secretCount; n += 1) {
    const entry = ledger.open();
    const answer = await connection.send(createV2({ value: entry.value, basic }));
    const made = readMade(answer);
    if (made !== null) ledger.acknowledge(entry, made);
    statuses.push(answer.status);
  }
  connection.destroy();
  return statuses;
}

const readinessOf = async ({ port }: StartedServer) =>
  (await sendOnce(port, requestBytes({ method: 'GET', path: '/readyz' }))).status;

async function untilReady(server: StartedServer): Promise<void> {
  while ((await readinessOf(server)) !== 200) await pause();
}

describe('P12: a server that has not taken the new root', () => {
  test('stores nothing and consumes nothing until it gets the file, and then goes on', () =>
    onStage('rotation, own copy', 0, async (stage) => {
      const { dataDir, ledger } = stage;
      const [file, copy] = [join(dataDir, 'keys.json'), `${dataDir}.keys.json`];
      const giveCopy = () => copyFile(file, copy);
      try {
        await giveCopy();
        const server = await startServer({ dataDir, env: { MAYFLY_ROOT_KEYS_FILE: copy } });
        await using _ = server;
        await runKeys(stage, 'add');
        await runKeys(stage, 'retire', '--yes');
        expect(await createSome(stage, server.port, 2)).toEqual([503, 503]);
        while ((await readinessOf(server)) !== 503) await pause();
        await giveCopy();
        await untilReady(server);
        expect(new Set(await createSome(stage, server.port, 20))).toEqual(new Set([200]));

        await runKeys(stage, 'add');
        stage.pieces.look(2);
        expect(stage.pieces.countLeft()).toBeGreaterThanOrEqual(40);
        const rotating = runKeys(stage, 'rotate');
        await untilShare({ ...stage, secretCount: 20 }, 1, rotating, 3);
        // Under the older root, which is not closed yet.
        expect(await createSome(stage, server.port, 3)).toEqual([200, 200, 200]);
        expect((await rotating).answer).toMatchObject({ root: 3, rewrapped: 23 });
        expect(stage.pieces.countLeft()).toBe(0);
        const [first] = ledger.unsettled();
        const early = await sendOnce(
          server.port,
          attemptRequest({ door: 'v2.reveal', made: first?.made ?? { secretKey: '', metadataKey: '' } }),
        );
        expect([early.status, await createSome(stage, server.port, 1)]).toEqual([503, [503]]);
        await giveCopy();
        await untilReady(server);
        expect([await readAll(server.port, stage), ledger.faults]).toEqual([23, []]);
        await stop(server);
      } finally {
        await rm(copy, { force: true });
      }
    }));

  test('opens what was re-wrapped a moment ago', () =>
    onStage('rotation, a moment ago', 40, async (stage) => {
      const path = join(stage.dataDir, 'keys.json');
      await using server = await startServer({ dataDir: stage.dataDir });
      {
        await using store = await openSqliteStore({ directory: stage.dataDir, clock: createMachineClock() });
        const random = systemRandom;
        expect((await addRoot(path, store, { random, wallClockMs: Date.now })).outcome).toBe('changed');
        const file = readRootKeys(path);
        if (file.outcome !== 'read') throw new Error(`the key file is ${file.outcome}`);
        expect(await rewrapOlder({ store, ring: file.ring, random }, () => {})).toMatchObject({
          rewrapped: 40,
        });
      }
      expect([await readAll(server.port, stage), stage.ledger.faults, stage.refused]).toEqual([40, [], []]);
    }));
});
