/**
 * A store on a slow or broken disk: prints as JSON what it and the event loop did. Arguments: the store's folder; what to
 * do; the path of the flag that makes the disk slow or breaks it; the seeded defect, if any (`inline`: the event loop syncs).
 */
import { Database } from 'bun:sqlite';
import { closeSync, fdatasyncSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loopSettings, writerSettings } from '../../src/store/sqlite/database.ts';
import type { SqliteStore } from '../../src/store/sqlite/store.ts';
import { clientStays, found, newRecord, putNew } from '../stores/conformance/check.ts';
import { steadyClock } from '../support/clocks.ts';
import { seedDefect } from './told-defects.ts';

const [directory = '', deed = '', flag = '', defect = ''] = process.argv.slice(2);
const isInline = defect === 'inline';

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
async function timed(commit: () => Promise<unknown>): Promise<object> {
  const absencesMs: number[] = [];
  const putsMs: number[] = [];
  writeFileSync(flag, '');
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now();
    absencesMs.push(await longestAbsence(commit()));
    putsMs.push(performance.now() - began);
  }
  rmSync(flag);
  const onLoop = statSync(`${flag}.loop`, { throwIfNoEntry: false })?.size ?? 0;
  return { longestAbsenceMs: Math.min(...absencesMs), putMs: Math.min(...putsMs), onLoop };
}

/** More than the length at which the log is written out. */
const longRow = () => ({ sealedSecret: new Uint8Array([2, 0, 1, ...new Uint8Array(40_000)]) });

const onSlowDisk: Record<string, (store: SqliteStore) => Promise<unknown>> = {
  'three puts': (store) => Promise.all([putNew(store), putNew(store), putNew(store)]),
  async 'a put after a scrub'(store) {
    await store.scrub();
    await putNew(store);
  },
  async 'a put that has the log written out'(store) {
    await putNew(store, longRow());
    await putNew(store);
  },
  async 'a put after one that had the log written out'(store) {
    await putNew(store, longRow());
    await putNew(store);
    await putNew(store);
  },
};

const codeOf = (deed: Promise<unknown>): Promise<string> =>
  deed.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  );

/** The store tries again by itself and tells nobody when, so it is asked until it answers. */
async function untilBack(store: SqliteStore): Promise<void> {
  for (let asked = 0; asked < 2_000 && (await codeOf(store.sweep(1))) !== 'done'; asked += 1)
    await Bun.sleep(5);
}

async function onBrokenDisk(store: SqliteStore): Promise<object> {
  const [before, other] = [await putNew(store), await putNew(store)];
  const secret = await found(store, before.secretId);
  writeFileSync(flag, '');
  const neverTold = newRecord(store.now());
  const broken = await Promise.all([codeOf(store.claim(secret, clientStays)), codeOf(store.put(neverTold))]);
  const began = performance.now();
  const next = await codeOf(store.burn(other.receiptId, clientStays));
  const toldWithinMs = performance.now() - began;
  const readMeanwhile = (await store.findSecret(other.secretId)) !== null;
  rmSync(flag);
  await untilBack(store);
  const states = [before, other].map(async ({ receiptId }) => (await store.findReceipt(receiptId))?.state);
  const afterwards = await codeOf(store.put(newRecord(store.now())));
  return { broken, next, toldWithinMs, readMeanwhile, afterwards, states: await Promise.all(states) };
}

/** Whether the secret is gone, where that is told. */
const goneOf = (store: SqliteStore, { secretId }: { secretId: Parameters<SqliteStore['findSecret']>[0] }) =>
  store.findSecret(secretId).then(
    (secret) => secret === null,
    (error: { code?: string }) => error.code ?? String(error),
  );

/** One sync fails and later ones would succeed, but the log cannot be written anew while somebody reads. */
async function inDoubt(store: SqliteStore): Promise<object> {
  const record = await putNew(store);
  const secret = await found(store, record.secretId);
  const reader = new Database(join(directory, 'mayfly.db'), { readwrite: true });
  reader.run('BEGIN');
  reader.query('SELECT count(*) FROM records').get();
  writeFileSync(flag, '');
  const claim = await codeOf(store.claim(secret, clientStays));
  rmSync(flag);
  const told = [await goneOf(store, record), await codeOf(store.findReceipt(record.receiptId))];
  const log = openSync(join(directory, 'mayfly.db-wal'), 'r+');
  fdatasyncSync(log);
  closeSync(log);
  told.push(await goneOf(store, record), await codeOf(store.put(newRecord(store.now()))));
  reader.close();
  await untilBack(store);
  return { claim, told, back: [await goneOf(store, record), await codeOf(putNew(store))] };
}

async function run(): Promise<void> {
  if (!isInline) seedDefect(defect);
  const { openWith } = await import('../../src/store/sqlite/store.ts');
  const clock = steadyClock(() => 1_800_000_000);
  const settings = isInline ? { ...writerSettings, busyMilliseconds: 5 } : loopSettings;
  await using store = await openWith(
    { directory, clock, ballastBytes: 64 * 1024 },
    { settings, isSynced: true },
  );
  const slow = onSlowDisk[deed];
  const deeds: Record<string, () => Promise<object>> = {
    broken: () => onBrokenDisk(store),
    doubted: () => inDoubt(store),
  };
  console.log(JSON.stringify(await (slow === undefined ? deeds[deed]?.() : timed(() => slow(store)))));
}

await run();
