/**
 * A rotation over PostgreSQL while three nodes serve: `mayfly keys add`, `rotate` and `retire` as real processes.
 *
 * Proves that no create and no reveal fails (P12, P3), that nothing is read twice (P1), and that what was acknowledged opens once, by the
 * new root alone (P5).
 */
import { expect, test } from 'bun:test';
import { createMachineClock } from '../../src/ops/machine-clock.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { count, limitMs } from '../support/counts.ts';
import { fillStore } from '../support/fill.ts';
import { createStrictLedger } from '../support/ledger.ts';
import { runJson, startNodes } from '../support/nodes.ts';
import { startPostgres } from '../support/postgres.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { readAll, runLoad } from '../support/storm.ts';

const secretCount = count({ usual: 1_000, long: 100_000 });
const betweenMs = 10;
const pause = () => new Promise((resume) => setTimeout(resume, betweenMs));

/** How much of what waits is under each root. */
const underRoots = `
  SELECT get_byte(sealed_secret, 2) AS kid, count(*)::int AS n FROM records WHERE state = 'w' GROUP BY 1 ORDER BY 1`;

test(
  `P1, P3, P5, P12: a rotation of ${secretCount} waiting secrets under three nodes fails no reveal and no create`,
  async () => {
    const seed = announceSeed('rotation, three nodes');
    const random = seededFractions(seed);
    const { ledger, refused } = createStrictLedger(seed.toString(36));
    await using server = await startPostgres();
    await using nodes = await startNodes({ url: server.url, durability: 'single', nodeCount: 3 });
    const { owner, keysFile, env } = nodes;
    {
      await using store = await openPostgresStore({
        url: server.url,
        durability: 'single',
        clock: createMachineClock(),
      });
      await fillStore({ store, keysFile, owner, ledger, secretCount });
    }
    expect(await server.ask(underRoots)).toEqual([{ kid: 1, n: secretCount }]);
    let isDone = false;
    let answers = 0;
    const loads = nodes.servers.map(({ port }) =>
      runLoad({
        ...{ port, ledger, random, basic: owner.basic, connectionCount: 4 },
        onAnswer: () => {
          answers += 1;
        },
        goesOn: () => !isDone,
        between: pause,
      }),
    );
    const keys = (...words: string[]) => runJson(['keys', ...words], env, limitMs(60_000));
    const startMs = performance.now();
    const rotate = async () => [await keys('add'), await keys('rotate'), await keys('retire', '--yes')];
    const [added, rotated, retired] = await rotate().finally(() => {
      isDone = true;
    });
    const seconds = (performance.now() - startMs) / 1_000;
    await Promise.all(loads);
    expect([added, retired]).toEqual([
      { added: 2, roots: [1, 2] },
      { retired: [1], roots: [2] },
    ]);
    expect(rotated).toMatchObject({ root: 2, fixed: 0, damaged: 0 });
    const [left, ...others] = await server.ask<{ kid: number; n: number }>(underRoots);
    expect([left?.kid, others]).toEqual([2, []]);
    const waited = await readAll(nodes.servers[1]?.port ?? 0, { ledger, basic: owner.basic });
    expect([ledger.faults, refused]).toEqual([[], []]);
    const untold = ledger.entries.filter(
      ({ made, releases, burns }) => made === null || releases + burns !== 1,
    );
    expect(untold).toEqual([]);
    console.log(
      `rotation, three nodes: ${secretCount} secrets in ${seconds.toFixed(1)} s, ${answers} answers meanwhile, ${waited} waited after it`,
    );
  },
  limitMs(180_000),
);
