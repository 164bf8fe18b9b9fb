/**
 * A region dies under load, and comes back.
 *
 * Proves that creations go on elsewhere, that secrets of the dead region are refused with 503 and never called unknown,
 * and that throughout no value is released twice and no acknowledged one is lost (P1, P5, P6).
 */
import { expect, test } from 'bun:test';
import { parseSecretKey, regionOfKey } from '../../src/core/keys.ts';
import {
  attemptRequest,
  createV1,
  createV2,
  type Door,
  readAttempt,
  readMade,
  readReceiptState,
  receiptRequest,
} from '../support/calls.ts';
import { createLedger, type Entry, type Ledger } from '../support/ledger.ts';
import { openConnection, type RawConnection, requestBytes, sendOnce } from '../support/raw-client.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { openPool } from '../support/started-server.ts';
import { type Installation, logged, openInstallation } from './installation.ts';

const secretCount = 1_000;
/** How many creates have been sent when the region is killed, and when it is started again. */
const killAt = 300;
const backAt = 700;

function regionOf(entry: Entry): 'us' | 'eu' {
  const key = parseSecretKey(entry.made?.secretKey ?? '');
  if (key === null) throw new Error('the entry was not acknowledged');
  return String(regionOfKey(key)) === 'us' ? 'us' : 'eu';
}

interface Course {
  readonly installation: Installation;
  readonly ledger: Ledger;
  readonly random: () => number;
  readonly waiting: Entry[];
  /** Refused creates, and how many of them came after the router had noticed. */
  readonly refused: { all: number; afterNotice: number };
  hasNotice: boolean;
}

async function create(course: Course, connection: RawConnection): Promise<void> {
  const { ledger, random, refused } = course;
  const entry = ledger.open();
  const hadNotice = course.hasNotice;
  const request = random() < 0.5 ? createV1({ value: entry.value }) : createV2({ value: entry.value });
  const answer = await connection.send(request);
  const made = readMade(answer);
  if (made !== null) {
    ledger.acknowledge(entry, made);
    course.waiting.push(entry);
    return;
  }
  // The only refusal allowed is 503 (outcome unknown), and only for what was in flight when the region died.
  expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
  refused.all += 1;
  if (hadNotice) refused.afterNotice += 1;
}

/** One anonymous reveal, recorded before and after. */
async function reveal(ledger: Ledger, entry: Entry, connection: RawConnection, door: Door): Promise<void> {
  if (entry.made === null) return;
  const attempt = { door, made: entry.made };
  ledger.attempt(entry);
  ledger.note(entry, readAttempt(attempt, await connection.send(attemptRequest(attempt))));
}

async function readOne(course: Course, connection: RawConnection): Promise<void> {
  const { waiting, random, ledger } = course;
  const [entry] = waiting.splice(Math.floor(random() * waiting.length), 1);
  if (entry !== undefined)
    await reveal(ledger, entry, connection, random() < 0.5 ? 'v1.reveal' : 'v2.reveal');
}

/** Creates secrets and reads about half of them meanwhile; `at` is called with the number of each create before it. */
async function runCourse(course: Course, at: (count: number) => void): Promise<void> {
  using pool = await openPool(course.installation.router.port, 12);
  const { ledger, random, waiting } = course;
  const work = async (connection: RawConnection): Promise<void> => {
    while (ledger.entries.length < secretCount) {
      if (waiting.length > 0 && random() < 0.35) await readOne(course, connection);
      else {
        at(ledger.entries.length);
        await create(course, connection);
      }
    }
  };
  await Promise.all(pool.connections.map(work));
}

/** Compares the receipts with the ledger, each requested through the router with an account of its region. */
async function settle({ installation, ledger }: Course): Promise<void> {
  const connection = await openConnection(installation.router.port);
  for (const entry of ledger.unsettled()) {
    if (entry.made === null) continue;
    const { basic } = installation[regionOf(entry)].account;
    ledger.compare(entry, readReceiptState(await connection.send(receiptRequest(entry.made, basic))));
  }
  connection.destroy();
}

/** Reads every secret that still waits; each must come out exactly once. */
async function readOut({ installation, ledger }: Course): Promise<number> {
  const connection = await openConnection(installation.router.port);
  let count = 0;
  for (const entry of ledger.unsettled()) {
    const before = entry.releases;
    await reveal(ledger, entry, connection, 'v2.reveal');
    if (entry.releases !== before + 1) throw new Error(`${entry.value} waits and did not come out`);
    await reveal(ledger, entry, connection, 'v1.reveal');
    count += 1;
  }
  connection.destroy();
  return count;
}

test('a region killed among 1,000 secrets through the router: creations go on, its reads are refused until it is back, nothing is read twice or lost', async () => {
  const seed = announceSeed('a lost region');
  await using installation = await openInstallation({ MAYFLY_ROUTER_WEIGHTS: 'us=1,eu=1' });
  const { us, router } = installation;
  const course: Course = {
    ...{ installation, random: seededFractions(seed), waiting: [] },
    ledger: createLedger(`regions${seed.toString(36)}`),
    refused: { all: 0, afterNotice: 0 },
    hasNotice: false,
  };
  let steps: Promise<void> = Promise.resolve();
  const refusedReads: number[] = [];
  await runCourse(course, (count) => {
    if (count === killAt) {
      steps = us.kill().then(async () => {
        await logged(router, 'region_lost', 'us');
        course.hasNotice = true;
        refusedReads.push(await expectRefused(course));
      });
    }
    if (count === backAt) steps = steps.then(() => us.start());
  });
  await steps;
  expect(course.hasNotice).toBe(true);
  await leadsTo('us', course);
  await settle(course);
  const waited = await readOut(course);
  await settle(course);
  const { ledger, refused } = course;
  const acknowledged = ledger.entries.filter(({ made }) => made !== null);
  const of = (label: string) => acknowledged.filter((entry) => regionOf(entry) === label).length;
  console.log(
    `${acknowledged.length} made (us ${of('us')}, eu ${of('eu')}), ${refused.all} refused while us died, ${refusedReads[0]} reads refused meanwhile, ${waited} read at the end`,
  );
  expect(ledger.faults).toEqual([]);
  expect(ledger.unsettled()).toEqual([]);
  expect(refused.afterNotice).toBe(0);
  expect(ledger.entries.every(({ releases }) => releases <= 1)).toBe(true);
  for (const label of ['us', 'eu']) expect(of(label)).toBeGreaterThan(100);
  expect(refusedReads[0]).toBeGreaterThan(0);
}, 120_000);

/** Waits until the router has noticed that a region is back; status requests change nothing. */
async function leadsTo(label: 'us' | 'eu', { installation, ledger }: Course): Promise<void> {
  const kept = ledger.unsettled().find((entry) => regionOf(entry) === label)?.made;
  const look = requestBytes({ method: 'GET', path: `/api/v2/secret/${kept?.secretKey}/status` });
  while ((await sendOnce(installation.router.port, look)).status === 503)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Secrets of the lost region are refused with 503 in both versions and on its pages; returns how many were tried. */
async function expectRefused({ installation, waiting }: Course): Promise<number> {
  const { port } = installation.router;
  const kept = waiting.filter((entry) => regionOf(entry) === 'us').slice(0, 20);
  for (const { made } of kept) {
    if (made === null) continue;
    // Only reads that do not consume: an attempt would have to go through the ledger.
    for (const path of [
      `/api/v2/secret/${made.secretKey}/status`,
      `/api/v1/private/${made.metadataKey}`,
      `/secret/${made.secretKey}`,
    ]) {
      const answer = await sendOnce(port, requestBytes({ method: 'GET', path }));
      expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
      expect(answer.body).not.toContain('nknown');
      expect(answer.body).not.toContain(made.secretKey);
    }
    const read = await sendOnce(port, attemptRequest({ door: 'v1.reveal', made }));
    expect([read.status, JSON.parse(read.body).message]).toEqual([
      503,
      'The region us is not available right now. Nothing was done there: try again',
    ]);
  }
  return kept.length;
}
