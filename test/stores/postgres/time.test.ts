/**
 * Store time as a lease (P8), by nodes on machines of their own: a server's clock that is wrong, another server's after a failover,
 * and nodes that start meanwhile.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import pg from 'pg';
import type { MachineClock } from '../../../src/core/time.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { createPostgresStore, type PostgresStore } from '../../../src/store/postgres/store.ts';
import { createServerClock, leaseSeconds, type ServerClock } from '../../../src/store/postgres/time.ts';
import { type PostgresPair, type PostgresServer, startPair, startPostgres } from '../../support/postgres.ts';
import {
  clientStays,
  createSettableClock,
  found,
  putNew,
  type SettableClock,
  ttlSeconds,
} from '../conformance/check.ts';

const hourSeconds = 3_600;
const daySeconds = 86_400;

interface Node {
  readonly engine: Engine;
  readonly store: PostgresStore;
}

interface Scene extends AsyncDisposable {
  /** The server's clock, as all nodes read it, and the time that passes. */
  readonly clock: SettableClock;
  readonly schema: string;
  /** A node on a machine of its own. */
  start(): Promise<Node>;
  ask: PostgresServer['ask'];
}

let machines = 0;

/** A machine that nothing is known of but the time that passes on it. */
function machineWith(clock: SettableClock): ServerClock {
  machines += 1;
  const { wall, sinceBoot } = clock;
  return { wall, sinceBoot, bootId: `machine ${machines}`, hear() {} };
}

let schemas = 0;

async function openScene(
  server: Pick<PostgresServer, 'url' | 'ask'>,
  durability: 'single' | 'synchronous' = 'single',
): Promise<Scene> {
  schemas += 1;
  const schema = `time_${schemas}`;
  await server.ask(`CREATE SCHEMA ${schema}`);
  const clock = createSettableClock();
  const nodes: Node[] = [];
  return {
    clock,
    schema,
    ask: (sql, values) => server.ask(sql.replaceAll('SCHEMA', schema), values),
    async start() {
      const { url } = server;
      const engine = await openEngine({
        ...{ url, schema, durability },
        clock: machineWith(clock),
        poolSize: 3,
      });
      const node = { engine, store: createPostgresStore(engine) };
      nodes.push(node);
      return node;
    },
    async [Symbol.asyncDispose]() {
      for (const { engine } of nodes) await engine.close();
    },
  };
}

const isUnavailable = (asking: Promise<unknown>) =>
  expect(asking).rejects.toMatchObject({ code: 'unavailable' });

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a server’s clock that is a day ahead', () => {
  it('P8: loses nothing and moves nobody’s time, on nodes that run and on those that start', async () => {
    await using scene = await openScene(server);
    const [one, other] = [await scene.start(), await scene.start()];
    const { secretId } = await putNew(one.store);
    const before = one.store.now();
    scene.clock.jump(daySeconds);
    for (const { engine } of [one, other]) await engine.time.tick();
    const third = await scene.start();
    for (const { store } of [one, other, third]) {
      expect(store.clock().verdict).toBe('disputed');
      // Each dispute begins with a second of its own, and the nodes have one between them.
      expect(store.now() - before).toBeLessThanOrEqual(leaseSeconds);
      expect(await store.sweep(100)).toBe(0);
      await isUnavailable(store.findSecret(secretId));
      const during = await putNew(store);
      for (const each of [one, other, third]) await found(each.store, during.secretId);
    }
    scene.clock.jump(-daySeconds);
    for (const { engine } of [one, other, third]) await engine.time.tick();
    expect(await third.store.claim(await found(third.store, secretId), clientStays)).toBe('won');
  });

  it('P8: is noticed as one dispute, however many nodes there are', async () => {
    await using scene = await openScene(server);
    const nodes = await Promise.all(Array.from({ length: 6 }, () => scene.start()));
    const before = nodes[0]?.store.now() ?? 0;
    scene.clock.jump(daySeconds);
    for (const { engine } of nodes) await engine.time.tick();
    expect(nodes.map(({ store }) => store.now())).toEqual(nodes.map(() => before + 1));
    const disputes = nodes.map(({ engine }) => engine.time.anchor()?.dispute?.since);
    expect(new Set(disputes)).toEqual(new Set([before + 1]));
  });

  it('P8: is not believed by a node that starts before another has noticed it, once that has', async () => {
    await using scene = await openScene(server);
    const one = await scene.start();
    const { secretId } = await putNew(one.store);
    const before = one.store.now();
    scene.clock.jump(daySeconds);
    const late = await scene.start();
    expect(late.store.clock().verdict).toBe('unproven');
    expect(await late.store.sweep(100)).toBe(0);
    await isUnavailable(late.store.findSecret(secretId));
    scene.clock.advance(1);
    await one.engine.time.tick();
    await late.engine.time.tick();
    expect(late.store.clock().verdict).toBe('disputed');
    expect(late.store.now()).toBe(before + 2);
    scene.clock.jump(-daySeconds);
    await found(late.store, secretId);
  });

  it('P8: would be believed if the server’s clock were not kept with the time, as the checks above notice', async () => {
    await using scene = await openScene(server);
    const one = await scene.start();
    await putNew(one.store);
    scene.clock.jump(daySeconds);
    await one.engine.time.tick();
    await scene.ask('UPDATE SCHEMA.store_time SET server_clock = seconds');
    expect((await scene.start()).store.clock().verdict).toBe('unproven');
  });

  it('P8: is the time that has passed where no node was there to know better', async () => {
    await using scene = await openScene(server);
    const one = await scene.start();
    await putNew(one.store);
    await one.engine.close();
    scene.clock.advance(ttlSeconds - 10);
    const next = await scene.start();
    expect(next.store.clock().verdict).toBe('agreed');
    expect(next.store.now()).toBe(scene.clock.read());
  });
});

describe('a node', () => {
  it('P8: that starts is behind no decision, though the server’s clock is behind by an hour', async () => {
    await using scene = await openScene(server);
    const one = await scene.start();
    const record = await putNew(one.store, { expiresAt: one.store.now() + leaseSeconds });
    // Within the lease nobody keeps it.
    scene.clock.advance(leaseSeconds);
    expect(await one.store.findSecret(record.secretId)).toBeNull();
    const decided = await one.store.burn((await putNew(one.store)).receiptId, clientStays);
    await one.engine.close();
    scene.clock.jump(-hourSeconds);
    const next = await scene.start();
    expect(next.store.now()).toBeGreaterThanOrEqual(decided as number);
    expect(next.store.now()).toBeLessThanOrEqual((decided as number) + leaseSeconds + 1);
    expect(await next.store.findSecret(record.secretId)).toBeNull();
  });

  it('P8: would be behind one if it began with what is kept and not with the end of the lease', async () => {
    await using scene = await openScene(server);
    const one = await scene.start();
    const record = await putNew(one.store, { expiresAt: one.store.now() + leaseSeconds });
    scene.clock.advance(leaseSeconds);
    expect(await one.store.findSecret(record.secretId)).toBeNull();
    await one.engine.close();
    await scene.ask('UPDATE SCHEMA.store_time SET used_until = seconds');
    scene.clock.jump(-hourSeconds);
    await found((await scene.start()).store, record.secretId);
  });

  it('P8: decides nothing later than the lease while the time cannot be kept', async () => {
    await using scene = await openScene(server);
    const { store } = await scene.start();
    const records = [await putNew(store), await putNew(store)];
    const hand = new pg.Client(server.url);
    await hand.connect();
    await hand.query(`BEGIN; SELECT FROM ${scene.schema}.store_time FOR UPDATE`);
    scene.clock.advance(leaseSeconds);
    expect(await store.burn(records[0]?.receiptId as never, clientStays)).toBe(scene.clock.read());
    scene.clock.advance(1);
    await isUnavailable(store.burn(records[1]?.receiptId as never, clientStays));
    await hand.end();
    expect(await store.burn(records[1]?.receiptId as never, clientStays)).toBe(scene.clock.read());
  });

  it('P8: that knows less of the time than another does not set it back', async () => {
    await using scene = await openScene(server);
    const [one, other] = [await scene.start(), await scene.start()];
    await putNew(one.store);
    scene.clock.advance(60);
    const { receiptId } = await putNew(one.store);
    await scene.ask('UPDATE SCHEMA.store_time SET seconds = seconds + 30, used_until = used_until + 30');
    const decided = await other.store.burn(receiptId, clientStays);
    expect(decided).toBe(scene.clock.read() + 30);
    expect(other.store.now()).toBe(scene.clock.read() + 30);
  });

  it('does not keep the time that another has just kept', async () => {
    await using scene = await openScene(server);
    const nodes = await Promise.all([scene.start(), scene.start(), scene.start()]);
    const countWrites = async () =>
      (await scene.ask<{ xmin: string }>('SELECT xmin::text FROM SCHEMA.store_time'))[0]?.xmin;
    const seen = new Set([await countWrites()]);
    for (let second = 0; second < 12; second += 1) {
      scene.clock.advance(1);
      for (const { engine } of nodes) {
        await engine.time.tick();
        seen.add(await countWrites());
      }
    }
    // Every two seconds, by the node that comes first.
    expect(seen.size).toBe(1 + 6);
  });
});

describe('a failover', () => {
  let pair: PostgresPair;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(() => pair[Symbol.asyncDispose]());

  it('P8: to a server whose clock is an hour behind brings nothing back, and time goes on', async () => {
    const { ask } = pair.primary;
    await using scene = await openScene({ url: pair.url, ask }, 'synchronous');
    const [one, other] = [await scene.start(), await scene.start()];
    const [short, long] = [
      await putNew(one.store),
      await putNew(one.store, {
        expiresAt: one.store.now() + daySeconds,
        receiptExpiresAt: one.store.now() + 2 * daySeconds,
      }),
    ];
    scene.clock.advance(ttlSeconds);
    for (const { store } of [one, other]) expect(await store.findSecret(short.secretId)).toBeNull();
    const decided = await one.store.burn((await putNew(one.store)).receiptId, clientStays);
    await pair.killPrimary();
    await pair.promote();
    await pair.addStandby();
    scene.clock.jump(-hourSeconds);
    const started = await scene.start();
    for (const { store, engine } of [one, other, started]) {
      await engine.time.tick();
      expect(store.now()).toBeGreaterThanOrEqual(decided as number);
      expect(store.now()).toBeLessThanOrEqual((decided as number) + leaseSeconds + 1);
      expect(await store.findSecret(short.secretId)).toBeNull();
      await found(store, long.secretId);
    }
    const before = started.store.now();
    scene.clock.advance(60);
    for (const { store, engine } of [one, other, started]) {
      await engine.time.tick();
      expect(store.now()).toBe(before + 60);
    }
  }, 60_000);
});

describe('a server’s clock as a node knows it', () => {
  it('goes on by the node’s own time, a suspension of its machine included', () => {
    let [nowMs, sinceBoot] = [1_000, 50];
    const own: MachineClock = { wall: () => 0, sinceBoot: () => sinceBoot, bootId: null };
    const clock = createServerClock(own, () => nowMs);
    clock.hear(1_800_000_000.75);
    expect(clock.wall()).toBe(1_800_000_000);
    [nowMs, sinceBoot] = [nowMs + 250, sinceBoot];
    expect(clock.wall()).toBe(1_800_000_001);
    // Its own milliseconds stood still for an hour.
    sinceBoot += hourSeconds;
    expect(clock.wall()).toBe(1_800_000_000 + hourSeconds - 1);
    clock.hear(1_800_003_700);
    expect(clock.wall()).toBe(1_800_003_700);
  });
});
