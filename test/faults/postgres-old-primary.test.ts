/**
 * An old primary that lives on after its standby was promoted, and a node that still uses it: it releases nothing, acknowledges
 * nothing, and calls nothing gone that the new primary has.
 */
import { expect, test } from 'bun:test';
import {
  attemptRequest,
  createV1,
  type Made,
  readAttempt,
  readMade,
  receiptRequest,
} from '../support/calls.ts';
import { startNodes } from '../support/nodes.ts';
import { startPair } from '../support/postgres.ts';
import { sendOnce } from '../support/raw-client.ts';
import { startServer } from '../support/started-server.ts';

/** One node, through what people do with it. */
function clientOf(port: number, basic: string) {
  const create = async (value: string) => readMade(await sendOnce(port, createV1({ value, basic })));
  return {
    create,
    /** After a failover it takes a moment. */
    async createSoon(value: string): Promise<Made> {
      for (let tries = 0; tries < 200; tries += 1) {
        const made = await create(value);
        if (made !== null) return made;
        await new Promise((resume) => setTimeout(resume, 50));
      }
      throw new Error('nothing was stored');
    },
    async reveal(made: Made) {
      const attempt = { door: 'v1.reveal' as const, made };
      return readAttempt(attempt, await sendOnce(port, attemptRequest(attempt))).is;
    },
    async receiptStatus(made: Made) {
      return (await sendOnce(port, receiptRequest(made, basic))).status;
    },
  };
}

const currentMs = 3_000;

test('P1, P2, P5, P6: a node that is left at an old primary answers 503, also once the names of its standbys are emptied', async () => {
  await using pair = await startPair();
  await using nodes = await startNodes({ url: pair.url, durability: 'synchronous', nodeCount: 1 });
  const { MAYFLY_DATA_DIR: _, ...env } = nodes.env;
  await using leftBehind = await startServer({ env: { ...env, MAYFLY_STORE: pair.primary.url } });
  const old = clientOf(leftBehind.port, nodes.owner.basic);
  const { reveal, createSoon } = clientOf(nodes.servers[0]?.port ?? 0, nodes.owner.basic);
  const [one, other] = [await old.createSoon('one'), await old.createSoon('other')];
  const read = await old.createSoon('read before');
  expect(await old.reveal(read)).toBe('released');

  pair.freezeStandby();
  await pair.promote();
  const promotedMs = performance.now();
  await pair.addStandby();
  const later = await createSoon('later');
  expect([await old.reveal(one), await old.reveal(other), await old.create('late')]).toEqual([
    'unavailable',
    'unavailable',
    null,
  ]);
  // The attempts took longer than what it knew of its primary is believed for.
  expect(performance.now() - promotedMs).toBeGreaterThan(currentMs);
  expect([await old.reveal(later), await old.receiptStatus(later)]).toEqual(['unavailable', 503]);
  expect(await reveal(one)).toBe('released');
  expect([await old.reveal(one), await old.reveal(read)]).toEqual(['unavailable', 'unavailable']);

  const [former] = pair.former;
  await former?.configure({ synchronous_standby_names: "''" });
  expect([await old.reveal(other), await old.reveal(later), await old.create('late')]).toEqual([
    'unavailable',
    'unavailable',
    null,
  ]);
  expect([await reveal(other), await reveal(other), await reveal(later)]).toEqual([
    'released',
    'lost',
    'released',
  ]);
}, 90_000);
