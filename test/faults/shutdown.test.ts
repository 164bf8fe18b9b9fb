/**
 * SIGTERM in the middle of work.
 *
 * Proves that SIGTERM lets requests in flight finish and leaves nothing half done, that a second SIGTERM changes nothing
 * about that, and that no new connection is accepted (P23).
 */
import { expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { createV2, readMade } from '../support/calls.ts';
import { count, limitMs } from '../support/counts.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import { ConnectionCut, openConnection, requestBytes, sendOnce } from '../support/raw-client.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import {
  createAccount,
  makeDataDir,
  type StartedServer,
  type StartOptions,
  startServer,
} from '../support/started-server.ts';
import { readOut, runLoad, settle } from '../support/storm.ts';

/** The server below that exits at once is caught within three stops. */
const stopCount = count({ usual: 6, long: 100 });
const connectionCount = 16;
/** The promised maximum time from SIGTERM to exit. */
const graceMilliseconds = 10_000;

interface StopReport {
  /** Answers that arrived only in part. */
  readonly cut: number;
  /** The request that lacked only its last byte was answered with 200. */
  readonly isHeldAnswered: boolean;
  /** A connection was refused before the held request was released. */
  readonly isNewRefused: boolean;
  readonly code: number | null;
  readonly stopMilliseconds: number;
}

/** Tries to connect until refused; bounded. */
async function isRefused(port: number): Promise<boolean> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    const connection = await openConnection(port).catch(() => null);
    if (connection === null) return true;
    connection.destroy();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return false;
}

interface Stop {
  readonly server: StartedServer;
  readonly ledger: Ledger;
  readonly basic: string;
  readonly random: () => number;
}

/** Load, SIGTERM at a seeded operation, SIGTERM again, and only then the last byte of a request begun earlier. */
async function stopUnderLoad({ server, ledger, basic, random }: Stop): Promise<StopReport> {
  const { port } = server;
  const held = await openConnection(port);
  const entry = ledger.open();
  await held.hold(createV2({ value: entry.value, basic }));
  const stopAt = 20 + Math.floor(random() * 150);
  let stoppedAt = 0;
  const load = await runLoad({
    port,
    ledger,
    basic,
    random,
    connectionCount,
    goesOn: () => true,
    onAnswer: (answered) => {
      if (answered !== stopAt) return;
      stoppedAt = performance.now();
      server.kill('SIGTERM');
    },
  });
  // npm passes the signal on to the whole group, so a real stop signals twice.
  server.kill('SIGTERM');
  const isNewRefused = await isRefused(port);
  const made = await held.release().then(readMade, (fault: unknown) => {
    if (fault instanceof ConnectionCut) return null;
    throw fault;
  });
  held.destroy();
  if (made !== null) ledger.acknowledge(entry, made);
  const { code } = await server.exited;
  const stopMilliseconds = performance.now() - stoppedAt;
  return { cut: load.cut, isHeldAnswered: made !== null, isNewRefused, code, stopMilliseconds };
}

/** Attempts that took effect without an answer: something was half done. */
function halfDone(ledger: Ledger): string[] {
  const gone = ledger.entries.filter(
    ({ made, isSettled, releases, burns }) => made !== null && isSettled && releases + burns === 0,
  );
  return gone.map(({ value }) => `${value} went without anybody having been told`);
}

async function countListed(port: number, basic: string): Promise<number> {
  let listed = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/api/v2/private/recent?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const request = requestBytes({ method: 'GET', path, headers: { Authorization: basic } });
    const body = JSON.parse((await sendOnce(port, request)).body);
    listed += body.records.length;
    cursor = body.details.next_cursor;
  }
  return listed;
}

async function stopAgainAndAgain(
  start: StartOptions,
  rounds: number,
  basic: string,
  ledger: Ledger,
  seed: number,
) {
  const random = seededFractions(seed);
  const reports: StopReport[] = [];
  for (let round = 0; round < rounds && ledger.faults.length === 0; round += 1) {
    await using server = await startServer(start);
    await settle(server.port, ledger, basic);
    reports.push(await stopUnderLoad({ server, ledger, basic, random }));
  }
  return reports;
}

test(
  `P23: told to stop ${stopCount} times under load, it finishes what it has begun, takes nothing new and ends by itself`,
  async () => {
    const seed = announceSeed('shutdown');
    const dataDir = await makeDataDir();
    try {
      const { basic } = await createAccount(dataDir, 'stop@example.org');
      const ledger = createLedger(seed.toString(36));
      const reports = await stopAgainAndAgain({ dataDir }, stopCount, basic, ledger, seed);
      await using server = await startServer({ dataDir });
      await settle(server.port, ledger, basic);
      const slowest = Math.max(...reports.map(({ stopMilliseconds }) => stopMilliseconds));
      const acknowledged = ledger.entries.filter(({ made }) => made !== null).length;
      console.log(
        `shutdown: ${reports.length} stops, ${acknowledged} acknowledged, slowest end ${slowest.toFixed(0)} ms`,
      );
      expect(ledger.faults).toEqual([]);
      expect(halfDone(ledger)).toEqual([]);
      // As many records as acknowledgements: no create took effect without an answer, and none was answered but lost.
      expect(await countListed(server.port, basic)).toBe(acknowledged);
      for (const report of reports) {
        expect(report).toMatchObject({ cut: 0, isHeldAnswered: true, isNewRefused: true, code: 0 });
        expect(report.stopMilliseconds).toBeLessThan(graceMilliseconds);
      }
      await readOut(server.port, ledger, basic);
      expect(ledger.faults).toEqual([]);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  limitMs(240_000),
);

test('P23: a request that never ends delays the exit by no more than the grace period', async () => {
  await using server = await startServer();
  const stuck = await openConnection(server.port);
  await stuck.hold(createV2({ value: 'never finished' }));
  // A whole exchange after it, so the server has seen the start of the stuck request.
  expect(readMade(await sendOnce(server.port, createV2({ value: 'finished' })))).not.toBeNull();
  const startedAt = performance.now();
  server.kill('SIGTERM');
  const { code, signal } = await server.exited;
  stuck.destroy();
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  // The promise is 10 s; the margin is for a loaded machine.
  expect(performance.now() - startedAt).toBeLessThan(graceMilliseconds + 2_000);
}, 60_000);

test('the stops catch a server that ends at once', async () => {
  const seed = announceSeed('shutdown, self-test');
  const dataDir = await makeDataDir();
  try {
    const start = {
      dataDir,
      command: ['test/support/defective-server.ts'],
      env: { DEFECT: 'cut-on-term' },
    };
    const ledger = createLedger(seed.toString(36));
    const reports = await stopAgainAndAgain(start, 3, 'Basic eDp5', ledger, seed);
    expect(reports.some(({ isHeldAnswered }) => !isHeldAnswered)).toBe(true);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}, 60_000);

test('the stops find nothing in a server that finishes first', async () => {
  const seed = announceSeed('shutdown, self-test');
  const dataDir = await makeDataDir();
  try {
    const start = { dataDir, command: ['test/support/defective-server.ts'] };
    const ledger = createLedger(seed.toString(36));
    const reports = await stopAgainAndAgain(start, 3, 'Basic eDp5', ledger, seed);
    expect(ledger.faults).toEqual([]);
    for (const report of reports)
      expect(report).toMatchObject({ cut: 0, isHeldAnswered: true, isNewRefused: true });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}, 60_000);
