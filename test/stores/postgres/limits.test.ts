/** Calls that all nodes count together. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import type { LimitCount, LimitRule, SharedLimits } from '../../../src/core/ports/limits.ts';
import { openEngine } from '../../../src/store/postgres/engine.ts';
import { createSharedLimits } from '../../../src/store/postgres/limits.ts';
import { type PostgresPair, startPair, until } from '../../support/postgres.ts';
import { createSettableClock } from '../conformance/check.ts';

const key = new Uint8Array(32).fill(7);
/** So slow that nothing comes back while a test runs. */
const rule: LimitRule = { limit: 5, windowSeconds: 36_000, burst: 5 };
const intervalMs = 7_200_000;
const nodeCount = 3;

let pair: PostgresPair;
let engines: Awaited<ReturnType<typeof openEngine>>[];
let nodes: SharedLimits[];
let clients = 0;

beforeAll(async () => {
  pair = await startPair();
  const open = () =>
    openEngine({ url: pair.url, clock: createSettableClock(), durability: 'synchronous', poolSize: 4 });
  engines = await Promise.all(Array.from({ length: nodeCount }, open));
  nodes = engines.map((engine) => createSharedLimits(engine, key));
});

afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await pair[Symbol.asyncDispose]();
});

const node = (n: number): SharedLimits => nodes[n % nodeCount] as SharedLimits;

function newClient(): string {
  clients += 1;
  return `client ${clients}`;
}

const countFor = (client: string, name = 'logIn.anonymous'): LimitCount => ({ name, rule, client });
const isAllowed = (waits: readonly number[]): boolean => waits.every((waitMs) => waitMs === 0);

async function countAllowed(takes: readonly Promise<readonly number[]>[]): Promise<number> {
  return (await Promise.all(takes)).filter(isAllowed).length;
}

const takeMany = (client: string, times: number) =>
  countAllowed(Array.from({ length: times }, (_, n) => node(n).take([countFor(client)])));

describe('limits that all nodes count together', () => {
  it('P21: allow a burst and no more, however many nodes are asked at once', async () => {
    const client = newClient();
    expect(await takeMany(client, 60)).toBe(5);
    expect(await takeMany(newClient(), 60)).toBe(5);
    const [waitMs = 0] = await node(0).take([countFor(client)]);
    expect(waitMs).toBeGreaterThan(intervalMs - 60_000);
    expect(waitMs).toBeLessThanOrEqual(intervalMs);
  });

  it('P21: would allow more if a node looked before it counted, as the check above would notice', async () => {
    const client = newClient();
    const looks = Array.from({ length: nodeCount * 2 }, (_, n) => node(n).peek([countFor(client)]));
    expect(await countAllowed(looks)).toBeGreaterThan(5);
  });

  it('P21: count against all that is asked for together, or against none of it', async () => {
    const [full, free] = [newClient(), newClient()];
    await takeMany(full, 5);
    const both = [countFor(free, 'mail.account'), countFor(full)];
    const refused = await Promise.all(Array.from({ length: 30 }, (_, n) => node(n).take(both)));
    expect(refused.filter(isAllowed)).toEqual([]);
    expect(refused.every(([first]) => first === 0)).toBe(true);
    const takes = Array.from({ length: 30 }, (_, n) => node(n).take([countFor(free, 'mail.account')]));
    expect(await countAllowed(takes)).toBe(5);
  });

  it('tell one limit from another, and a number from its digits', async () => {
    const client = newClient();
    await takeMany(client, 5);
    expect(isAllowed(await node(0).take([countFor(client, 'signUp.anonymous')]))).toBe(true);
    for (let n = 0; n < 5; n += 1) await node(n).take([{ name: 'mail.account', rule, client: 7 }]);
    expect(isAllowed(await node(0).take([{ name: 'mail.account', rule, client: 7 }]))).toBe(false);
    expect(isAllowed(await node(0).take([{ name: 'mail.account', rule, client: '7' }]))).toBe(true);
  });

  it('look without counting, and give back what did not happen, once for each', async () => {
    const client = newClient();
    for (let n = 0; n < 20; n += 1) expect(isAllowed(await node(n).peek([countFor(client)]))).toBe(true);
    await takeMany(client, 5);
    await node(0).refund([countFor(client)]);
    expect(isAllowed(await node(1).peek([countFor(client)]))).toBe(true);
    expect(await takeMany(client, 10)).toBe(1);
    for (let n = 0; n < 9; n += 1) await node(n).refund([countFor(client)]);
    expect(await takeMany(client, 20)).toBe(5);
  });

  it('answer in the order in which a node was asked', async () => {
    const client = newClient();
    const limits = node(0);
    const [first, , again] = await Promise.all([
      Promise.all(Array.from({ length: 5 }, () => limits.take([countFor(client)]))),
      limits.refund([countFor(client)]),
      limits.take([countFor(client)]),
    ]);
    expect([first.every(isAllowed), isAllowed(again)]).toEqual([true, true]);
  });

  it('allow another call when the interval has passed', async () => {
    const quick: LimitCount = {
      name: 'quick',
      rule: { limit: 1, windowSeconds: 1, burst: 1 },
      client: newClient(),
    };
    expect(isAllowed(await node(0).take([quick]))).toBe(true);
    const [waitMs = 0] = await node(1).take([quick]);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(1_000);
    await until('the next call is allowed', async () => isAllowed(await node(2).take([quick])));
  });

  it('shut nobody out for longer than an interval when the server’s clock was set back', async () => {
    const client = newClient();
    await takeMany(client, 5);
    await pair.primary.ask('UPDATE limits SET whole_at = whole_at + 86400000000');
    const [waitMs = 0] = await node(0).take([countFor(client)]);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(intervalMs);
  });

  it('P18: keep no client’s name, and the same hash on every node', async () => {
    const client = newClient();
    await pair.primary.ask('DELETE FROM limits');
    await Promise.all(nodes.map((each) => each.take([countFor(client)])));
    const rows = await pair.primary.ask<{ client: Buffer }>('SELECT client FROM limits');
    expect(rows.map((row) => row.client.length)).toEqual([16]);
    const other = createSharedLimits(engines[0] as (typeof engines)[number], new Uint8Array(32).fill(8));
    await other.take([countFor(client)]);
    expect(await pair.primary.ask('SELECT FROM limits')).toHaveLength(2);
  });

  it('forget clients whose allowance is whole again', async () => {
    let nowMs = 0;
    const engine = engines[0] as (typeof engines)[number];
    const limits = createSharedLimits(engine, key, () => nowMs);
    const [kept, whole] = [newClient(), newClient()];
    await limits.take([countFor(kept)]);
    await limits.peek([countFor(whole)]);
    nowMs += 60_000;
    await limits.take([countFor(kept)]);
    await until('none is left that is whole', async () => {
      const left = await pair.primary.ask('SELECT FROM limits WHERE whole_at = 0');
      return left.length === 0;
    });
    expect(await takeMany(kept, 10)).toBe(3);
  });

  it('P23: wait for no standby', async () => {
    const client = newClient();
    pair.freezeStandby();
    try {
      expect(await takeMany(client, 30)).toBe(5);
    } finally {
      pair.thawStandby();
    }
  });

  it('never deadlock, whatever clients are asked for together', async () => {
    const all = Array.from({ length: 12 }, newClient);
    const takes = Array.from({ length: 300 }, (_, n) => {
      const [one = '', other = ''] = [all[(n * 7) % 12], all[(n * 5 + 1) % 12]];
      return node(n).take([countFor(one, 'a'), countFor(other, 'b')]);
    });
    expect((await Promise.all(takes)).flat().every((waitMs) => waitMs >= 0)).toBe(true);
    const [{ deadlocks } = { deadlocks: '1' }] = await pair.primary.ask<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(Number(deadlocks)).toBe(0);
  });
});
