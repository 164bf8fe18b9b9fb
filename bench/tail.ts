/**
 * What comes last, and what grows with what is stored: the slowest of a hundred requests, old secrets among many, trips while many
 * expire, large values beside small ones.
 */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { cpuOf, formatNumber, median, type Round, ratios, table } from './figures.ts';
import { type Generator, startGenerator } from './generators.ts';
import { takeRound } from './load.ts';
import { type BenchServer, proportionalMebibytes } from './processes.ts';
import { startService } from './service.ts';

export interface TailSize {
  readonly liveSecrets: number;
  readonly rounds: number;
  /** Of a round. */
  readonly trips: number;
  readonly largeCreates: number;
  /** How long before they all expire the store is aged. */
  readonly calmSeconds: number;
}

/** In milliseconds, but for the ratios and the memory. */
export interface TailFigures {
  readonly liveSecrets: number;
  readonly tripP99: number;
  readonly largeP99: number;
  readonly besideLargeP99: number;
  /** Processor time of a reveal: random ones among all over the newest. */
  readonly oldOverNew: number;
  readonly oldP99: number;
  readonly newP99: number;
  /** Trips a second while the sweep runs, over those before. */
  readonly stormOverCalm: number;
  readonly stormP99: number;
  readonly calmP99: number;
  readonly idleMebibytes: number;
}

const connections = 32;
const p99Of = (rounds: readonly Round[]) => median(rounds.map((round) => round.p99Milliseconds));
const create = { kind: 'create-v1-form', path: '/' } as const;

async function measureFresh(folder: string, raw: Generator, { rounds, trips, largeCreates }: TailSize) {
  using undici = await startGenerator('undici');
  await using service = await startService({ folder, dataDir: 'tail-fresh', core: null });
  const idleMebibytes = proportionalMebibytes(service);
  const [plain, alone, beside]: [Round[], Round[], Round[]] = [[], [], []];
  const sendLarge = () =>
    takeRound(undici, service, { kind: 'create-large' }, { trips: largeCreates, connections });
  for (let round = -1; round < rounds; round += 1) {
    const trip = await takeRound(raw, service, { kind: 'trip-v1' }, { trips, connections });
    const large = await sendLarge();
    let isSending = true;
    const sending = sendLarge().finally(() => {
      isSending = false;
    });
    const small: Round[] = [];
    while (isSending)
      small.push(await takeRound(raw, service, create, { trips: 20 * connections, connections }));
    await sending;
    if (round < 0) continue;
    plain.push(trip);
    alone.push(large);
    beside.push(...small);
    console.error(`tail: round ${round + 1} of ${rounds}`);
  }
  return { idleMebibytes, tripP99: p99Of(plain), largeP99: p99Of(alone), besideLargeP99: p99Of(beside) };
}

async function measureOld(service: BenchServer, raw: Generator, { liveSecrets, rounds, trips }: TailSize) {
  const make = async (count: number, keepEach: number) =>
    (await raw.run({ ...create, port: service.port, connections, trips: count, keepEach })).keys;
  // Their keys are random, so sorted they are in a random order.
  const old = (await make(liveSecrets, Math.max(1, Math.floor(liveSecrets / (rounds * trips))))).toSorted();
  const [ofOld, ofNew]: [Round[], Round[]] = [[], []];
  const reveal = (keys: readonly string[]) =>
    takeRound(raw, service, { kind: 'reveal-v1', keys }, { trips: keys.length, connections });
  for (let round = 0; round < rounds; round += 1) {
    const newest = await make(trips, 1);
    ofNew.push(await reveal(newest));
    ofOld.push(await reveal(old.slice(round * trips, (round + 1) * trips)));
    console.error(`tail: old secrets, round ${round + 1} of ${rounds}`);
  }
  const cpu = (taken: Round[]) => cpuOf({ rounds: taken });
  return { oldOverNew: median(ratios(cpu(ofOld), cpu(ofNew))), oldP99: p99Of(ofOld), newP99: p99Of(ofNew) };
}

/** In the columns alone: a sweep opens nothing. */
function expireAll(path: string, at: number): void {
  using database = new Database(path);
  database.run("UPDATE records SET expires_at = ?1, ended_at = ?1, sweep_at = ?1 WHERE state = 'w'", [at]);
}

/** A sweep begins within five seconds, and ends within a minute. */
const sweepBegins = 5;
const sweepEnds = 90;

async function measureStorm(folder: string, raw: Generator, { trips, calmSeconds }: TailSize) {
  const path = join(folder, 'tail', 'mayfly.db');
  const at = Math.floor(Date.now() / 1_000) + calmSeconds;
  expireAll(path, at);
  await using service = await startService({ folder, dataDir: 'tail' });
  using database = new Database(path, { readonly: true });
  const isLeft = () =>
    database.query<{ is: number }, [number]>('SELECT min(sweep_at) <= ?1 AS "is" FROM records').get(at)
      ?.is === 1;
  const [calm, storm]: [Round[], Round[]] = [[], []];
  for (let began = 0; began < at + sweepEnds; ) {
    began = Date.now() / 1_000;
    const taken = await takeRound(raw, service, { kind: 'trip-v1' }, { trips: trips / 4, connections });
    if (Date.now() / 1_000 < at) calm.push(taken);
    if (began < at + sweepBegins) continue;
    if (!isLeft()) break;
    storm.push(taken);
  }
  const rateOf = (rounds: Round[]) => median(rounds.map((round) => round.tripsPerSecond));
  // The first of them warms up.
  const quiet = calm.slice(1);
  return { stormOverCalm: rateOf(storm) / rateOf(quiet), stormP99: p99Of(storm), calmP99: p99Of(quiet) };
}

export async function measureTail(folder: string, size: TailSize): Promise<TailFigures> {
  using raw = await startGenerator('raw');
  const fresh = await measureFresh(folder, raw, size);
  const old = await (async () => {
    await using service = await startService({ folder, dataDir: 'tail' });
    return await measureOld(service, raw, size);
  })();
  return { liveSecrets: size.liveSecrets, ...fresh, ...old, ...(await measureStorm(folder, raw, size)) };
}

export function tailText(tail: TailFigures): string {
  const milliseconds = (value: number) => `${formatNumber(value, 1)} ms`;
  const many = formatNumber(tail.liveSecrets, 0);
  const rows = [
    ['p99 of a create and reveal, v1, on all cores', milliseconds(tail.tripP99)],
    ['p99 of a create of 100 kB, end-to-end', milliseconds(tail.largeP99)],
    ['p99 of a small create beside them', milliseconds(tail.besideLargeP99)],
    [`processor time of a reveal: random ones of ${many} over the newest`, formatNumber(tail.oldOverNew, 2)],
    ['p99 of these, and of the newest', `${milliseconds(tail.oldP99)}, ${milliseconds(tail.newP99)}`],
    [`trips a second while ${many} are swept, over before`, formatNumber(tail.stormOverCalm, 2)],
    ['p99 meanwhile, and before', `${milliseconds(tail.stormP99)}, ${milliseconds(tail.calmP99)}`],
    ['proportional memory of a server before any request', `${formatNumber(tail.idleMebibytes, 0)} MiB`],
  ];
  return `With ${connections} connections, by raw sockets, values of 100 kB by undici; medians of the rounds.

${table(['what', ''], rows)}`;
}
