/**
 * What open requests for a secret cost everybody else: `bun bench/asking.ts [--quick] [--postgres]`.
 *
 * In turns, two services get creates: one that nobody asked for anything, and one with open requests, whose askers meanwhile ask for
 * their answers again, from random moments on, as often as a page (5 s) or the command (2 s). Ratios are within a round.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientAnswer, clientRequest } from '../test/support/asking.ts';
import { startPair } from '../test/support/postgres.ts';
import { announceSeed, seededFractions } from '../test/support/run-seed.ts';
import { formatNumber, median, type Round, ratios, table } from './figures.ts';
import { startGenerator } from './generators.ts';
import { takeRound } from './load.ts';
import { describeMachine } from './machine.ts';
import { startService } from './service.ts';

const [rounds, trips] = process.argv.includes('--quick') ? [3, 6_000] : [9, 48_000];
const [connections, requests, lists, answersEach] = [32, 10_000, 100, 19] as const;
const random = seededFractions(announceSeed('asking'));

async function post(port: number, path: string, body: object) {
  const [method, headers] = ['POST', { 'Content-Type': 'application/json' }];
  const url = `http://127.0.0.1:${port}/api/v2/request${path}`;
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  return (await response.json()) as { record: { key: string }; count?: number };
}

/** Returns how the answers are asked for. One place stays free. */
async function open(port: number, request: number): Promise<[path: string, body: object]> {
  const [{ wire, ask, owner }, answers] = [clientRequest(`${request}`), request < lists ? answersEach : 0];
  const { key } = (await post(port, '', { ...wire, answers: answers + 1 })).record;
  for (let n = 0; n < answers; n += 1)
    await post(port, `/${key}/answer`, { ...ask, ...clientAnswer(`${request} ${n}`).wire });
  return [`/${key}/answers`, owner];
}

/** Asks again until the round is over. Returns how many milliseconds each answer took. */
async function wait(port: number, list: readonly [string, object], seconds: number, round: Promise<Round>) {
  const took: number[] = [];
  for (let pause = random() * seconds; ; pause = seconds) {
    if (await Promise.race([Bun.sleep(1_000 * pause), round])) return took;
    const askedAt = performance.now();
    if ((await post(port, ...list)).count !== answersEach) throw new Error('answers are missing');
    took.push(performance.now() - askedAt);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
try {
  console.log(describeMachine(folder));
  const isShared = process.argv.includes('--postgres');
  await using pair = isShared ? await startPair({ isOnDisk: true, isDirect: true }) : null;
  const env = { MAYFLY_REQUESTS: 'anyone', MAYFLY_PLANS_FILE: join(folder, 'plans.json') };
  writeFileSync(env.MAYFLY_PLANS_FILE, JSON.stringify({ anonymous: { maxPlaces: answersEach + 1 } }));
  const start = async (dataDir: string) => {
    await pair?.primary.ask(`CREATE DATABASE ${dataDir}`);
    const store = pair && { store: pair.primary.url.replace(/mayfly$/, dataDir) };
    return await startService({ folder, dataDir, env, ...store });
  };
  await using idle = await start('idle');
  await using asked = await start('asked');
  using raw = await startGenerator('raw');
  const opened: Awaited<ReturnType<typeof open>>[] = [];
  const openNext = (_: unknown, n: number) => open(asked.port, opened.length + n);
  while (opened.length < requests) opened.push(...(await Promise.all(Array.from({ length: 100 }, openNext))));
  const subjects = (
    [
      ['no requests', idle, 0],
      ['open requests', asked, 0],
      ['lists every 5 s', asked, 5],
      ['lists every 2 s', asked, 2],
    ] as const
  ).map((subject) => ({ subject, p99s: [] as number[], took: [] as number[] }));
  // The first round only warms up.
  for (let round = -1; round < rounds; round += 1) {
    for (const { subject, p99s, took } of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const [, server, seconds] = subject;
      const taking = takeRound(raw, server, { kind: 'create-v2' }, { trips, connections });
      const waiting = opened
        .slice(0, seconds && lists)
        .map((list) => wait(asked.port, list, seconds, taking));
      const [{ p99Milliseconds }, ...all] = await Promise.all([taking, ...waiting]);
      if (round >= 0) p99s.push(p99Milliseconds);
      if (round >= 0) took.push(...all.flat());
    }
    console.error(round < 0 ? 'asking: warmed up' : `asking: round ${round + 1} of ${rounds}`);
  }
  const rows = subjects.map(({ subject: [label], p99s, took }) => {
    const figures = [median(p99s), median(ratios(p99s, subjects[0]?.p99s ?? [])), median(took)];
    return [
      label,
      ...figures.map((figure) => (Number.isNaN(figure) ? '–' : formatNumber(figure, 2))),
      `${took.length}`,
    ];
  });
  const header = ['beside', 'p99 of a create, ms', 'over no requests', 'a list, median ms', 'lists'];
  console.log(`\n${requests} open requests, ${lists} of ${answersEach} answers each; ${rounds} rounds.\n`);
  console.log(table(header, rows));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
