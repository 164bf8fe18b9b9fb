/** A server that loads its settings again and again, unchanged, under load: nobody is answered 503, and no secret is lost. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { count, limitMs } from '../support/counts.ts';
import { startLoad } from '../support/failovers.ts';
import { createStrictLedger } from '../support/ledger.ts';
import { startNodes } from '../support/nodes.ts';
import { startPair, startPostgres } from '../support/postgres.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { readAll } from '../support/storm.ts';

setDefaultTimeout(limitMs(120_000));

const reloads = count({ usual: 8, long: 200 });
/** Between two reloads; some nodes answer more than others. */
const answersBetween = 60;

describe('a storm of reloads', () => {
  for (const { durability, nodeCount } of [
    { durability: 'synchronous', nodeCount: count({ usual: 2, long: 3 }) },
    { durability: 'single', nodeCount: count({ usual: 1, long: 2 }) },
  ] as const) {
    test(`P3, P5: at ${durability}, ${reloads} reloads under ${nodeCount} nodes refuse nobody and lose nothing`, async () => {
      const seed = announceSeed(`reloads at ${durability}`);
      const random = seededFractions(seed);
      const { ledger, refused } = createStrictLedger(seed.toString(36));
      await using pair = durability === 'single' ? await startPostgres() : await startPair();
      const primary = 'primary' in pair ? pair.primary : pair;
      await using nodes = await startNodes({ url: pair.url, durability, nodeCount });
      const load = startLoad({ nodes, ledger, random });
      try {
        for (let reload = 0; reload < reloads; reload += 1) {
          await load.untilAnswers(answersBetween);
          await primary.configure({});
        }
        await load.untilEachHasStored();
      } finally {
        await load.stop();
      }
      const [node] = nodes.servers;
      const stillWaited = await readAll(node?.port ?? 0, { ledger, basic: nodes.owner.basic });
      const notStored = ledger.entries.filter(({ made }) => made === null).length;
      const nobodys = ledger.entries.filter(
        ({ made, releases, burns }) => made !== null && releases + burns === 0,
      );
      console.log(
        `reloads at ${durability}: ${load.answers()} answers, ${refused.length} attempts and ${notStored} creates refused, ` +
          `${stillWaited} waited at the end, ${nobodys.length} lost, ${ledger.faults.length} faults`,
      );
      expect([ledger.faults, nobodys, refused, notStored]).toEqual([[], [], [], 0]);
    });
  }
});
