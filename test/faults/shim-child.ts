/**
 * A store on a slow or broken disk: prints as JSON what it and the event loop did. Arguments: the store's folder; what to
 * do (`slow`; `inline`, the same with the commit on the event loop; `broken`); the path of the flag that breaks the disk.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { writerSettings } from '../../src/store/sqlite/database.ts';
import { Engine } from '../../src/store/sqlite/engine.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { clientStays, found, newRecord, putNew } from '../stores/conformance/check.ts';
import { steadyClock } from '../support/clocks.ts';

const [directory = '', deed = '', brokenFlag = ''] = process.argv.slice(2);

/** The longest time that the event loop was blocked while `work` ran, in milliseconds. */
async function longestAbsence(work: Promise<unknown>): Promise<number> {
  let [longest, ended] = [0, false];
  void work.finally(() => {
    ended = true;
  });
  for (let before = performance.now(); !ended; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
  }
  await work;
  return longest;
}

/** The best of several rounds: a busy machine delays the process now and then, a blocking sync every time. */
async function onSlowDisk(commit: () => Promise<unknown>): Promise<object> {
  const absencesMs: number[] = [];
  const putsMs: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now();
    absencesMs.push(await longestAbsence(commit()));
    putsMs.push(performance.now() - began);
  }
  return { longestAbsenceMs: Math.min(...absencesMs), putMs: Math.min(...putsMs) };
}

/** The seeded defect: runs the engine on this thread instead of the writer's. */
function commitInline(): () => Promise<unknown> {
  const limits = { ballastBytes: 64 * 1024, maxStorageBytes: null };
  const engine = new Engine({ directory, settings: writerSettings, ...limits });
  const time = { now: 0, sinceBoot: 0, timesSet: 0, mark: null };
  const batch = { time, frames: new ArrayBuffer(0), frameCount: 0 };
  return async () => {
    await Bun.sleep(1);
    engine.run({
      ...batch,
      asks: [
        { name: 'sweep', args: [1] },
        { name: 'addRootCheck', args: [kid++, new Uint8Array(32)] },
      ],
    });
  };
}
let kid = 1;

const codeOf = (deed: Promise<unknown>): Promise<string> =>
  deed.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  );

async function onBrokenDisk(store: SqliteStore): Promise<object> {
  const [before, other] = [await putNew(store), await putNew(store)];
  const secret = await found(store, before.secretId);
  writeFileSync(brokenFlag, '');
  const neverTold = newRecord(store.now());
  const broken = await Promise.all([codeOf(store.claim(secret, clientStays)), codeOf(store.put(neverTold))]);
  const began = performance.now();
  const next = await codeOf(store.burn(other.receiptId, clientStays));
  const toldWithinMs = performance.now() - began;
  const readMeanwhile = (await store.findSecret(other.secretId)) !== null;
  rmSync(brokenFlag);
  let attempts = 0;
  // The writer retries on its own and tells no caller when, so poll until it answers.
  for (; attempts < 2_000 && (await codeOf(store.sweep(1))) !== 'done'; attempts += 1) await Bun.sleep(5);
  const states = [before, other].map(async ({ receiptId }) => (await store.findReceipt(receiptId))?.state);
  const afterwards = await codeOf(store.put(newRecord(store.now())));
  return { broken, next, toldWithinMs, readMeanwhile, afterwards, states: await Promise.all(states) };
}

async function run(): Promise<void> {
  const clock = steadyClock(() => 1_800_000_000);
  await using store = await openSqliteStore({ directory, clock, ballastBytes: 64 * 1024 });
  const deeds: Record<string, () => Promise<object>> = {
    slow: () => onSlowDisk(() => Promise.all([putNew(store), putNew(store), putNew(store)])),
    inline: () => onSlowDisk(commitInline()),
    broken: () => onBrokenDisk(store),
  };
  console.log(JSON.stringify(await deeds[deed]?.()));
}

await run();
