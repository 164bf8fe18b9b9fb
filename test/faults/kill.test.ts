/**
 * A storm of `kill -9`: load, kill in the middle of it, restart on the same folder, compare with the client's ledger.
 *
 * Proves that no value is released twice across a kill (P1), that an acknowledged create is never lost (P5), that a receipt
 * never says unread after a release (P6), that requests for a secret keep what was acknowledged (P5), and that the process needs no operator to come back (P23).
 */
import { expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { count, limitMs } from '../support/counts.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import { createMailboxes, type Mailboxes } from '../support/mailboxes.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { createAccount, makeDataDir, type StartOptions, startServer } from '../support/started-server.ts';
import { readOut, runLoad, settle, settleMailboxes } from '../support/storm.ts';

/** The defective servers below are caught by their third kill (24 storms). */
const killCount = count({ usual: 8, long: 300 });
const connectionCount = 16;

interface Storm {
  readonly start: StartOptions;
  readonly rounds: number;
  readonly basic: string;
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly mailboxes?: Mailboxes;
}

interface StormReport {
  readonly kills: number;
  readonly startMilliseconds: readonly number[];
  readonly answered: number;
  /** Requests that were in flight when the server died. */
  readonly inFlight: number;
}

/** Stops at the first fault, which is the one to look at. */
async function runStorm(storm: Storm): Promise<StormReport> {
  const { start, rounds, basic, random, ledger, mailboxes } = storm;
  const hasFaults = () => ledger.faults.length + (mailboxes?.faults.length ?? 0) > 0;
  const settleAll = async (port: number) => {
    await settle(port, ledger, basic);
    if (mailboxes !== undefined) await settleMailboxes(port, mailboxes, basic);
  };
  const startMilliseconds: number[] = [];
  let answered = 0;
  let inFlight = 0;
  let kills = 0;
  for (; kills < rounds && !hasFaults(); kills += 1) {
    await using server = await startServer(start);
    startMilliseconds.push(server.startMilliseconds);
    await settleAll(server.port);
    // By count and turns of the loop, never by time, so that the same seed hits the same operation.
    const killAt = 10 + Math.floor(random() * 110);
    let turns = Math.floor(random() * 12);
    const fire = () => {
      if (turns-- > 0) setImmediate(fire);
      else server.kill('SIGKILL');
    };
    const onAnswer = (answered: number) => (answered === killAt ? fire() : undefined);
    const load = { ...storm, port: server.port, connectionCount, onAnswer, goesOn: () => true };
    const result = await runLoad(load);
    answered += result.answered;
    inFlight += result.cut + result.unanswered;
    expect((await server.exited).signal).toBe('SIGKILL');
  }
  await using server = await startServer(start);
  await settleAll(server.port);
  if (!hasFaults()) await readOut(server.port, ledger, basic);
  return { kills, startMilliseconds, answered, inFlight };
}

const most = (numbers: readonly number[]) => Math.max(...numbers).toFixed(0);

test(
  `P1, P5, P6: through ${killCount} kills in the middle of the work nothing is read twice and nothing acknowledged is lost`,
  async () => {
    const seed = announceSeed('kill');
    const dataDir = await makeDataDir();
    try {
      const { basic } = await createAccount(dataDir, 'storm@example.org');
      const ledger = createLedger(seed.toString(36));
      const random = seededFractions(seed);
      const mailboxes = createMailboxes(seed.toString(36));
      const start = { dataDir, env: { MAYFLY_REQUESTS: 'anyone' } };
      const report = await runStorm({ start, rounds: killCount, basic, random, ledger, mailboxes });
      const made = ledger.entries.filter((entry) => entry.made !== null);
      const read = made.filter((entry) => entry.releases === 1);
      const burned = made.filter((entry) => entry.burns === 1);
      console.log(
        `kill: ${report.kills} kills, ${report.answered} answers, ${report.inFlight} cut off; ${made.length} acknowledged: ` +
          `${read.length} read, ${burned.length} burned, ${made.length - read.length - burned.length} in doubt at a kill and gone; ` +
          `slowest start ${most(report.startMilliseconds)} ms; requests: ${JSON.stringify(mailboxes.done)}`,
      );
      expect([...ledger.faults, ...mailboxes.faults]).toEqual([]);
      expect(report.kills).toBe(killCount);
      // Kills that hit no work in flight would prove nothing.
      expect(report.inFlight).toBeGreaterThan(killCount);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  limitMs(300_000),
);

async function stormOnToy(defect: string, rounds: number): Promise<Ledger> {
  const seed = announceSeed(`kill, ${defect}`);
  const dataDir = await makeDataDir();
  try {
    const start = { dataDir, command: ['test/support/defective-server.ts'], env: { DEFECT: defect } };
    const ledger = createLedger(seed.toString(36));
    await runStorm({ start, rounds, basic: 'Basic eDp5', random: seededFractions(seed), ledger });
    return ledger;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

for (const defect of ['acknowledge-first', 'release-first', 'stale-receipt']) {
  test(`the storm catches a server with the defect ${defect}`, async () => {
    const ledger = await stormOnToy(defect, 20);
    expect(ledger.faults.length).toBeGreaterThan(0);
  }, 60_000);
}

test('the storm finds nothing in a server that stores before it answers', async () => {
  const ledger = await stormOnToy('none', 8);
  expect(ledger.faults).toEqual([]);
}, 60_000);
