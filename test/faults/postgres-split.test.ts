/**
 * A primary that is cut off and lives on under three nodes: its standby takes over, two nodes move there at once, and one late, with
 * proofs under way. A ledger at the clients: nothing is released twice, lost, called gone that is read later, or told wrong by a receipt.
 */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { receiptRequest } from '../support/calls.ts';
import { count, limitMs } from '../support/counts.ts';
import { startLoad } from '../support/failovers.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import { startNodes } from '../support/nodes.ts';
import { startPair, until } from '../support/postgres.ts';
import { sendOnce } from '../support/raw-client.ts';
import { watchReceipts } from '../support/receipt-watch.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { startServer } from '../support/started-server.ts';
import { readAll } from '../support/storm.ts';
import { openTcpLink } from '../support/tcp-link.ts';

/** Whether a node answers nothing of its primary any more. */
async function isRefused(port: number, { entries }: Ledger, basic: string): Promise<boolean> {
  const made = entries.findLast((entry) => entry.made !== null)?.made;
  return made != null && (await sendOnce(port, receiptRequest(made, basic))).status === 503;
}

setDefaultTimeout(limitMs(120_000));

const cycles = count({ usual: 1, long: 10 });

test(`P1, P2, P5, P6: ${cycles} times an old primary lives on, and a node moves to the new one late`, async () => {
  const seed = announceSeed('split');
  const random = seededFractions(seed);
  const ledger = createLedger(seed.toString(36));
  await using pair = await startPair();
  await using ends = new AsyncDisposableStack();
  const links = [];
  for (let n = 0; n < 3; n += 1) links.push(ends.use(await openTcpLink(pair.primary.port)));
  const [url, ...others] = links.map(({ port }) => `postgres://mayfly@127.0.0.1:${port}/mayfly`);
  const first = await startNodes({ url: url ?? '', durability: 'synchronous', nodeCount: 1 });
  ends.use(first);
  const { MAYFLY_DATA_DIR: _, ...env } = first.env;
  const servers = [...first.servers];
  for (const each of others)
    servers.push(ends.use(await startServer({ env: { ...env, MAYFLY_STORE: each } })));
  const nodes = { servers, owner: first.owner };
  const { basic } = nodes.owner;
  const load = startLoad({ nodes, ledger, random });
  const watch = await watchReceipts(
    servers.map(({ port }) => port),
    { ledger, basic, random },
  );
  try {
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      await load.untilAnswers(100);
      pair.freezeStandby();
      // Nothing takes over before the primary has failed for as long as its nodes still believe it.
      for (const { port } of servers)
        await until('a node that gives up', () => isRefused(port, ledger, basic));
      await pair.promote();
      await pair.addStandby();
      const [late, ...prompt] = [0, 1, 2].map((n) => (n + cycle) % 3) as [number, number, number];
      for (const at of prompt) links[at]?.pointTo(pair.primary.port);
      await load.untilEachHasStored(prompt);
      await load.untilAnswers(20 + Math.floor(random() * 100));
      links[late]?.pointTo(pair.primary.port);
      await load.untilEachHasStored();
      await pair.former.at(-1)?.kill('SIGQUIT');
    }
  } finally {
    await load.stop();
    await watch.stop();
  }
  const stillWaited = await readAll(servers[0]?.port ?? 0, { ledger, basic });
  const known = ledger.entries.filter(({ made }) => made !== null);
  const released = known.filter(({ releases }) => releases > 0).length;
  const forfeited = known.filter(({ releases, burns }) => releases + burns === 0).length;
  console.log(
    `split: ${known.length} acknowledged, ${released} read, ${stillWaited} waited at the end, ${forfeited} forfeited in doubt, ` +
      `${watch.told()} receipts told, ${watch.untrue.length} untrue, ${ledger.faults.length} faults`,
  );
  expect([ledger.faults, watch.untrue]).toEqual([[], []]);
  expect(released).toBeGreaterThan(0);
});
