/**
 * Real races: a hundred readers of one secret, over real connections to two processes on one data folder.
 *
 * Proves that at most one reader gets a value, whichever endpoint, process or version it uses (P1, P7). Every request is
 * sent except its last byte; then all last bytes are sent in one turn of the loop.
 */
import { expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { count, limitMs } from '../support/counts.ts';
import { layTrack, race } from '../support/race.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { createAccount, makeDataDir, startServer } from '../support/started-server.ts';

/** A store that reads and then deletes has more than one winner in the very first race. */
const secretCount = count({ usual: 120, long: 5_000 });
const readerCount = 100;

test(
  'P1, P7: of 100 reveals and burns of one secret at once, over two processes, exactly one wins, each time',
  async () => {
    const random = seededFractions(announceSeed('race'));
    const dataDir = await makeDataDir();
    try {
      const { basic } = await createAccount(dataDir, 'racer@example.org');
      await using one = await startServer({ dataDir });
      await using two = await startServer({ dataDir });
      using laid = await layTrack([one, two], readerCount, basic, random);
      const won = { reader: 0, creator: 0, recipient: 0 };
      const startedAt = performance.now();
      for (let raced = 0; raced < secretCount; raced += 1) {
        const { winner, faults } = await race(laid.track, `race value ${raced}`);
        expect(faults).toEqual([]);
        if (winner !== null) won[winner] += 1;
      }
      const seconds = (performance.now() - startedAt) / 1000;
      console.log(
        `race: ${secretCount} secrets x ${readerCount} readers in ${seconds.toFixed(1)} s; ${won.reader} read, ${won.creator} and ${won.recipient} burned, 0 twice`,
      );
      expect(won.reader + won.creator + won.recipient).toBe(secretCount);
      // Every kind of winner must occur, or one kind was never really in the race.
      for (const wins of Object.values(won)) expect(wins).toBeGreaterThan(0);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  limitMs(240_000),
);

test('the race catches a store that reads and then deletes', async () => {
  const random = seededFractions(announceSeed('race, self-test'));
  await using toy = await startServer({
    command: ['test/support/defective-server.ts'],
    env: { DEFECT: 'read-then-delete' },
  });
  using laid = await layTrack([toy], readerCount, 'Basic eDp5', random);
  const result = await race(laid.track, 'a value that many will see');
  expect(result.winners).toBeGreaterThan(1);
  expect(result.faults).not.toEqual([]);
}, 60_000);

test('the race finds nothing in a store that takes in one step', async () => {
  const random = seededFractions(announceSeed('race, self-test'));
  await using toy = await startServer({ command: ['test/support/defective-server.ts'] });
  using laid = await layTrack([toy], readerCount, 'Basic eDp5', random);
  for (let raced = 0; raced < 10; raced += 1) {
    expect((await race(laid.track, `a value ${raced}`)).faults).toEqual([]);
  }
}, 60_000);
