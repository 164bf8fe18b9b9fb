/**
 * Another process on the folder stops in the middle of a commit, after each number of its writes, and is then killed: its lock keeps
 * nobody's event loop waiting, and whoever is left serves on: secrets, and requests for one.
 */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewAnswer, NewRequest } from '../../src/core/request.ts';
import { loopSettings } from '../../src/store/sqlite/database.ts';
import { openWith, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { clientStays, found, putNew } from '../stores/conformance/check.ts';
import { ask, newAnswer, outcomeOf, stored } from '../stores/conformance/request-fixtures.ts';
import { steadyClock } from '../support/clocks.ts';
import { count, limitMs } from '../support/counts.ts';
import { idsOf, powerlossTime, sealedOf } from './powerloss-ledger.ts';
import { buildShim, type Shim } from './shim.ts';
import { heldCount } from './shim-flags.ts';

let shim: Shim;
let [directory, flag, runs] = ['', '', 0];
beforeAll(async () => {
  shim = await buildShim();
});
beforeEach(() => {
  directory = join(shim.folder, String(runs++));
  flag = `${directory}-writes`;
  mkdirSync(directory);
});
afterAll(() => shim[Symbol.asyncDispose]());

/** Of several pages. */
const longRecord = 7;
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

const open = (busyMilliseconds = loopSettings.busyMilliseconds) =>
  openWith(
    { directory, clock: steadyClock(() => powerlossTime), ballastBytes: 1024 * 1024 },
    { settings: { ...loopSettings, busyMilliseconds }, isSynced: true },
  );

async function startOther() {
  let [isReady, isDone] = [false, false];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'told-other.ts'), directory], {
    env: { ...process.env, LD_PRELOAD: shim.library, SHIM_ROOT: directory, SHIM_WRITE_FLAG: flag },
    stderr: 'inherit',
    ipc(message) {
      if (message === 'ready') isReady = true;
      else isDone = true;
    },
  });
  while (!isReady) await turn();
  const other = {
    /** Lets so many of its writes to the log through; whether it then waits for the next one. */
    async putUntil(writes: number): Promise<boolean> {
      const before = heldCount(flag);
      writeFileSync(flag, '');
      child.send({ put: longRecord });
      for (let passed = 0; ; passed += 1) {
        while (heldCount(flag) === before + passed && !isDone) await turn();
        if (isDone || passed === writes) return !isDone;
        writeFileSync(`${flag}.pass`, '');
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await child.exited;
      for (const path of [flag, `${flag}.pass`]) rmSync(path, { force: true });
    },
  };
  return other;
}

/** The longest time that the event loop was away while the other process holds the lock, at its best. */
async function longestAbsence(store: SqliteStore): Promise<number> {
  const longest: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    longest.push(0);
    for (let turns = 0, before = performance.now(); turns < 10; turns += 1) {
      await turn();
      const now = performance.now();
      longest[round] = Math.max(longest[round] ?? 0, now - before);
      before = now;
    }
  }
  expect(await store.findSecret(idsOf(longRecord).secretId)).toBeNull();
  return Math.min(...longest);
}

/** Discarded, the answer gives its place back once; closed, the request has none. */
async function endRequest(store: SqliteStore, request: NewRequest, answer: NewAnswer): Promise<void> {
  expect(await store.discardAnswer(request.id, answer.id)).toBe(true);
  expect([await outcomeOf(store, request), await outcomeOf(store, request)]).toEqual(['stored', 'full']);
  expect(await store.changeRequest(request.id, { close: true }, null)).toBe('changed');
  expect(await outcomeOf(store, request)).toBe('ended');
}

/** Stops the other after so many writes; whether it got there. */
async function stopAndKill(writes: number): Promise<boolean> {
  await using store = await open();
  const before = await putNew(store);
  const request = await ask(store);
  const answer = newAnswer(store, request);
  let wasStopped = false;
  let putting: Promise<unknown> = Promise.resolve();
  {
    await using other = await startOther();
    wasStopped = await other.putUntil(writes);
    if (wasStopped) {
      putting = Promise.all([putNew(store), store.putAnswer(answer)]);
      expect(await longestAbsence(store)).toBeLessThan(50);
      expect(await store.findSecret(before.secretId)).not.toBeNull();
    }
  }
  await putting;
  if (!wasStopped) return false;
  expect(await store.listAnswers(request.id)).toEqual([stored(answer)]);
  const half = await store.findSecret(idsOf(longRecord).secretId);
  // It was committed whole, and nobody was told; or there is nothing of it.
  if (half !== null) expect(Buffer.compare(half.sealedSecret, sealedOf(longRecord))).toBe(0);
  expect(await store.claim(await found(store, before.secretId), clientStays)).toBe('won');
  expect((await store.findReceipt(before.receiptId))?.state).toBe('received');
  await endRequest(store, request, answer);
  expect(await store.scrub()).toBe(true);
  const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
  expect(db.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
  db.close();
  return true;
}

describe('another process that is killed in the middle of a commit', () => {
  // A page is two writes.
  for (const writes of count({ usual: [0, 1, 4, 7], long: Array.from({ length: 12 }, (_, n) => n) }))
    it(
      `P5 P24: delays nobody's loop, and leaves nothing half done: after ${writes} writes`,
      async () => {
        expect(await stopAndKill(writes)).toBe(true);
      },
      limitMs(60_000),
    );

  it('P24: would stop the loop where a lock is waited for on it', async () => {
    await using store = await open(200);
    await using other = await startOther();
    expect(await other.putUntil(0)).toBe(true);
    const putting = putNew(store);
    expect(await longestAbsence(store)).toBeGreaterThan(150);
    await other[Symbol.asyncDispose]();
    await putting;
  }, 60_000);
});
