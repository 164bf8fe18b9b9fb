/**
 * Failovers of PostgreSQL under three nodes, with a ledger of secrets and one of requests at the client. What a standby had not heard
 * dies with its primary: the nodes must have released nothing of it, and acknowledged nothing.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { count, limitMs } from '../support/counts.ts';
import { type FailoverCycle, playFailovers } from '../support/failovers.ts';
import { createLedger } from '../support/ledger.ts';
import { createMailboxes } from '../support/mailboxes.ts';
import { type Env, startNodes } from '../support/nodes.ts';
import { type PostgresOptions, startPair } from '../support/postgres.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';

setDefaultTimeout(limitMs(180_000));

const nodeCount = 3;

async function play(name: string, cycles: number, options: PostgresOptions = {}, env: Env = {}) {
  const seed = announceSeed(name);
  const ledger = createLedger(seed.toString(36));
  const mailboxes = createMailboxes(seed.toString(36));
  await using pair = await startPair(options);
  const settings = { MAYFLY_REQUESTS: 'anyone', ...env };
  await using nodes = await startNodes({
    ...{ url: pair.url, durability: 'synchronous', nodeCount },
    env: settings,
  });
  const told: FailoverCycle[] = [];
  const run = { pair, nodes, ledger, mailboxes, random: seededFractions(seed), cycles };
  const sum = await playFailovers({ ...run, onCycle: (cycle) => void told.push(cycle) });
  const seconds = told.map(({ recoveryMs }) => (recoveryMs / 1_000).toFixed(1)).join(', ');
  const waited = told.map(({ waitingAtDeath }) => waitingAtDeath).join(', ');
  console.log(
    `${name}: ${sum.acknowledged} acknowledged, ${sum.released} read, ${sum.burned} burned, ${sum.stillWaited} waited at the end, ` +
      `${sum.forfeited} forfeited in doubt, ${sum.doubles} double, ${sum.lost} lost; ${waited} commits waited at a death; back after ${seconds} s; ` +
      `requests: ${JSON.stringify(mailboxes.done)}`,
  );
  return { ledger, mailboxes, sum, told };
}

describe('a failover of PostgreSQL', () => {
  const cycles = count({ usual: 2, long: 10 });
  test(`P1, P2, P5, P6: ${cycles} times under load, three nodes release nothing twice and lose nothing acknowledged`, async () => {
    const { ledger, mailboxes, sum, told } = await play('failover', cycles);
    expect([...ledger.faults, ...mailboxes.faults]).toEqual([]);
    expect(mailboxes.done.answer).toBeGreaterThan(0);
    expect(told.length).toBe(cycles);
    // A death at which no commit waited would have proven nothing.
    expect(told.some(({ waitingAtDeath }) => waitingAtDeath > 0)).toBe(true);
    expect(sum.released).toBeGreaterThan(0);
  });

  test('the ledger catches a server that commits without its standby', async () => {
    const { sum } = await play(
      'failover, asynchronous',
      1,
      { config: { synchronous_commit: 'local' } },
      { MAYFLY_ALLOW_UNSAFE_STORE: 'on' },
    );
    expect(sum.doubles).toBeGreaterThan(0);
    expect(sum.lost).toBeGreaterThan(0);
  });
});
