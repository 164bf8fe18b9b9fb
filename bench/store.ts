/**
 * How fast the embedded store is: durable operations a second, CPU time an operation, bytes a secret, time to open.
 *
 * Every operation that counts has resolved, which means that its commit's fsync has returned. Usage:
 * `bun bench/store.ts [live secrets, 1,000,000] [seconds a figure, 3]`; prints one JSON object.
 */
import { randomFillSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId } from '../src/core/account.ts';
import type { ReceiptId, SecretId } from '../src/core/keys.ts';
import type { NewRecord } from '../src/core/secret.ts';
import type { MachineClock } from '../src/core/time.ts';
import { createMachineClock } from '../src/ops/machine-clock.ts';
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite/store.ts';
import { newAccount, newToken } from '../test/stores/conformance/account-fixtures.ts';
import { clientStays } from '../test/stores/conformance/check.ts';

const lifetimeSeconds = 604_800;
/** A value of up to 252 bytes, sealed, and the creator's box (see `crypto/envelope.ts`). */
const sealedBytes = 434;

export interface StoreFigure {
  readonly inFlight: number;
  readonly operationsPerSecond: number;
  /** Of the whole process, all threads. */
  readonly cpuMicrosecondsPerOperation: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

export interface StoreFigures {
  readonly liveSecrets: number;
  readonly bytesPerSecret: number;
  readonly openEmptyMilliseconds: number;
  readonly openFullMilliseconds: number;
  readonly residentMegabytes: number;
  readonly sweptPerSecond: number;
  readonly figures: Readonly<Record<string, StoreFigure>>;
}

function newId(): Uint8Array {
  return randomFillSync(new Uint8Array(16));
}

export function newRecord(createdAt: number): NewRecord {
  const sealedSecret = randomFillSync(new Uint8Array(sealedBytes));
  sealedSecret.set([2, 0, 1]);
  return {
    secretId: newId() as SecretId,
    receiptId: newId() as ReceiptId,
    owner: (sealedSecret[9] ?? 0) < 64 ? (((sealedSecret[10] ?? 0) + 1) as AccountId) : null,
    createdAt,
    expiresAt: createdAt + lifetimeSeconds,
    receiptExpiresAt: createdAt + 2 * lifetimeSeconds,
    ...{ hasPassphrase: false, sealed: false, verify: false },
    shareDomain: '',
    sealedSecret,
    detailsBox: null,
    recentBox: null,
    memoBox: null,
    deliveryStaleAt: null,
    notify: [],
    noticeDueAt: null,
    hold: null,
  };
}

/** Runs `operation` for some seconds, always `inFlight` at a time. */
async function measure(
  seconds: number,
  inFlight: number,
  operation: () => Promise<unknown>,
): Promise<StoreFigure> {
  const latencies: number[] = [];
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  const until = began + 1_000 * seconds;
  const worker = async () => {
    for (let now = performance.now(); now < until; ) {
      await operation();
      const after = performance.now();
      latencies.push(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const cpu = process.cpuUsage(cpuBefore);
  const elapsedSeconds = (performance.now() - began) / 1_000;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) => Number((latencies[Math.floor(q * latencies.length)] ?? 0).toFixed(3));
  return {
    inFlight,
    operationsPerSecond: Math.round(latencies.length / elapsedSeconds),
    cpuMicrosecondsPerOperation: Number(((cpu.user + cpu.system) / latencies.length).toFixed(2)),
    p50Milliseconds: quantile(0.5),
    p99Milliseconds: quantile(0.99),
  };
}

const owners = 256;

/** The accounts that own some of the records: ids from 1 on. */
async function addOwners(store: SqliteStore): Promise<void> {
  for (let n = 1; n <= owners; n += 1) await store.createAccount(newAccount(`${n}@example.org`), newToken());
}

/** Fills the store; the ids of the secrets, in order. */
async function fill(store: SqliteStore, count: number): Promise<SecretId[]> {
  const ids: SecretId[] = [];
  for (let stored = 0; stored < count; ) {
    const records = Array.from({ length: Math.min(2_000, count - stored) }, () => newRecord(store.now()));
    await Promise.all(records.map((record) => store.put(record)));
    for (const record of records) ids.push(record.secretId);
    stored += records.length;
  }
  return ids;
}

/** An operation on a stock that others made: takes from the end, or from anywhere. */
function claimer(store: SqliteStore, ids: SecretId[], from: 'end' | 'anywhere'): () => Promise<void> {
  return async () => {
    if (from === 'anywhere') {
      const any = Math.floor(Math.random() * ids.length);
      const last = ids.at(-1);
      const chosen = ids[any];
      if (last !== undefined && chosen !== undefined) [ids[any], ids[ids.length - 1]] = [last, chosen];
    }
    const id = ids.pop();
    const secret = id === undefined ? null : await store.findSecret(id);
    if (secret === null || (await store.claim(secret, clientStays)) !== 'won')
      throw new Error('a live secret was not claimed');
  };
}

function bytesIn(directory: string): number {
  const files = readdirSync(directory).filter((name) => name.startsWith('mayfly.db'));
  return files.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const began = performance.now();
  return [await work(), Number((performance.now() - began).toFixed(1))];
}

async function figuresOf(
  store: SqliteStore,
  ids: SecretId[],
  seconds: number,
): Promise<Record<string, StoreFigure>> {
  const fresh: SecretId[] = [];
  const put = async () => {
    const record = newRecord(store.now());
    await store.put(record);
    fresh.push(record.secretId);
  };
  const claimRecent = claimer(store, fresh, 'end');
  const claimRandom = claimer(store, ids, 'anywhere');
  let turn = 0;
  const putAndClaim = () => (turn++ % 2 === 0 || fresh.length === 0 ? put() : claimRecent());
  const figures: Record<string, StoreFigure> = {};
  for (const inFlight of [1, 64]) {
    figures[`put_${inFlight}`] = await measure(seconds, inFlight, put);
    figures[`put_and_claim_${inFlight}`] = await measure(seconds, inFlight, putAndClaim);
    const stock = Math.min(seconds, (fresh.length / 200_000) * 1);
    figures[`claim_recent_${inFlight}`] = await measure(stock, inFlight, claimRecent);
    figures[`claim_random_${inFlight}`] = await measure(
      Math.min(seconds, ids.length / 200_000),
      inFlight,
      claimRandom,
    );
  }
  return figures;
}

async function sweepRate(store: SqliteStore, expire: () => void): Promise<number> {
  expire();
  const began = performance.now();
  let swept = 0;
  while (swept < 20_000) {
    const touched = await store.sweep(1_000);
    swept += touched;
    if (touched < 1_000) break;
  }
  return Math.round((1_000 * swept) / (performance.now() - began));
}

/** This machine's clocks, as if so much time had passed. */
function laterClock(aheadSeconds: () => number): MachineClock {
  const machine = createMachineClock();
  return {
    bootId: machine.bootId,
    wall: () => machine.wall() + aheadSeconds(),
    sinceBoot: () => machine.sinceBoot() + aheadSeconds(),
  };
}

/** All figures for a store of `liveSecrets`, in a temporary folder that is removed. */
export async function benchStore(options: { liveSecrets: number; seconds: number }): Promise<StoreFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  let aheadSeconds = 0;
  const open = () => openSqliteStore({ directory, clock: laterClock(() => aheadSeconds) });
  try {
    const [first, openEmptyMilliseconds] = await timed(open);
    await addOwners(first);
    const ids = await fill(first, options.liveSecrets);
    await first[Symbol.asyncDispose]();
    const bytesPerSecret = Math.round(bytesIn(directory) / options.liveSecrets);
    const [store, openFullMilliseconds] = await timed(open);
    const figures = await figuresOf(store, ids, options.seconds);
    const residentMegabytes = Math.round(process.memoryUsage().rss / 1e6);
    const sweptPerSecond = await sweepRate(store, () => {
      aheadSeconds = lifetimeSeconds + 60;
    });
    await store[Symbol.asyncDispose]();
    const { liveSecrets } = options;
    const sizes = {
      liveSecrets,
      bytesPerSecret,
      openEmptyMilliseconds,
      openFullMilliseconds,
      residentMegabytes,
    };
    return { ...sizes, sweptPerSecond, figures };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const [liveSecrets = '1000000', seconds = '3'] = process.argv.slice(2);
  const figures = await benchStore({ liveSecrets: Number(liveSecrets), seconds: Number(seconds) });
  console.log(JSON.stringify(figures, null, 2));
}
