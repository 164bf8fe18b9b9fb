/** What nodes do between them, each thing once; and what catches it if they do not. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../../src/core/errors.ts';
import type { DueNotice } from '../../../src/core/ports/mail.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import { createDomainChecks } from '../../../src/core/share-domains/check.ts';
import type { Engine, Values } from '../../../src/store/postgres/engine.ts';
import { createSweepStore } from '../../../src/store/postgres/sweep.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { newAccount, newToken } from '../conformance/account-fixtures.ts';
import { limits } from '../conformance/attempt-fixtures.ts';
import { countOf, newRecord, ttlSeconds } from '../conformance/check.ts';
import { domainOf } from '../conformance/domain-fixtures.ts';
import { holding, openNodes, replacing, untilWaiting } from './seeded-nodes.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

type Nodes = Awaited<ReturnType<typeof openNodes>>;
type Node = Nodes['nodes'][number];

const client = new Uint8Array(randomBytes(16));

function firstOf({ nodes }: Nodes): Node {
  const [node] = nodes;
  if (node === undefined) throw new Error('there are no nodes');
  return node;
}

async function putNew(node: Node, changes: Partial<NewRecord> = {}, kid = 1): Promise<NewRecord> {
  const record = newRecord(node.now(), changes, kid);
  await node.put(record);
  return record;
}

async function ownerIn(node: Node): Promise<NewRecord['owner']> {
  return (await node.createAccount(newAccount('ann@example.org'), newToken()))?.id ?? null;
}

/** Reads of all nodes have seen the same before the first of them goes on. */
function meetingAtFirstRead(parties: number): (engine: Engine) => Engine {
  const all = Promise.withResolvers<void>();
  let met = 0;
  return (engine) => {
    let isFirst = true;
    return {
      ...engine,
      async read<Row>(...asked: Parameters<Engine['read']>): Promise<readonly Row[]> {
        const rows = await engine.read<Row>(...asked);
        if (isFirst) {
          isFirst = false;
          met += 1;
          if (met === parties) all.resolve();
          await all.promise;
        }
        return rows;
      },
    };
  };
}

/** How many of the guesses through three nodes at once are allowed to one client. */
async function guessThroughThree(seed: (engine: Engine) => Engine): Promise<number> {
  const meet = meetingAtFirstRead(3);
  await using opened = await openNodes(server, 3, (engine) => meet(seed(engine)));
  const id = newRecord(0).secretId;
  const guesses = opened.nodes.flatMap((node) =>
    Array.from({ length: 40 }, () => node.reserve(id, client, limits)),
  );
  const outcomes = (await Promise.all(guesses)).map(({ outcome }) => outcome);
  return countOf(outcomes, 'reserved');
}

describe('guesses through several nodes', () => {
  it('P14: are counted together, however many come at once', async () => {
    expect(await guessThroughThree((engine) => engine)).toBe(limits.perClient);
  });

  it('P14: are allowed too often when a count replaces another that was made meanwhile', async () => {
    const careless = 'WHERE $4::bigint IS NOT NULL';
    const allowed = guessThroughThree((engine) =>
      replacing(engine, 'WHERE attempts.last_number = $4', careless),
    );
    expect(await allowed).toBeGreaterThan(limits.perClient);
  });

  it('P14: take one read and one write for all that a node asks about a secret at once', async () => {
    let asked = 0;
    const counting = (engine: Engine): Engine => ({
      ...engine,
      read: (...given) => {
        asked += 1;
        return engine.read(...given);
      },
    });
    await using opened = await openNodes(server, 1, counting);
    const id = newRecord(0).secretId;
    await Promise.all(Array.from({ length: 200 }, () => firstOf(opened).reserve(id, client, limits)));
    expect(asked).toBeLessThanOrEqual(3);
  });

  it('P23: are answered in the time of one call, whatever they wait for and however often they are decided', async () => {
    const deadlines: unknown[] = [];
    const seed = (engine: Engine): Engine => ({
      ...engine,
      read<Row>(...[given, values, askedAtMs]: Parameters<Engine['read']>): Promise<readonly Row[]> {
        deadlines.push(askedAtMs);
        return engine.read<Row>(given, values, askedAtMs);
      },
      async decide<Row>(
        ...[given, values, askedAtMs]: Parameters<Engine['decide']>
      ): Promise<readonly Row[]> {
        deadlines.push(askedAtMs);
        const rows = await engine.decide<Row>(given, values, askedAtMs);
        // As if another node had come first, the first time.
        return deadlines.length === 2 ? [] : rows;
      },
    });
    await using opened = await openNodes(server, 1, seed);
    const asking = performance.now();
    const first = firstOf(opened).reserve(newRecord(0).secretId, client, limits);
    const asked = performance.now();
    expect((await first).outcome).toBe('reserved');
    expect(new Set(deadlines).size).toBe(1);
    expect(deadlines).toHaveLength(4);
    expect(Number(deadlines[0])).toBeGreaterThanOrEqual(asking);
    expect(Number(deadlines[0])).toBeLessThanOrEqual(asked);
  });

  it('P14: a refund that comes after its count was swept gives nothing of a later count back', async () => {
    await using opened = await openNodes(server, 1);
    const node = firstOf(opened);
    const { secretId } = newRecord(0);
    const early = await node.reserve(secretId, client, limits);
    opened.clock.advance(limits.windowSeconds);
    await node.sweep(10);
    const counts = Promise.all(
      Array.from({ length: limits.perClient }, () => node.reserve(secretId, client, limits)),
    );
    expect((await counts).every(({ outcome }) => outcome === 'reserved')).toBe(true);
    if (early.outcome === 'reserved') await node.refund(secretId, early.attempt);
    expect((await node.reserve(secretId, client, limits)).outcome).toBe('exhausted');
  });
});

/** Notices of 20 secrets that two nodes take while both have seen all of them due. */
async function takeThroughTwo(seed: (engine: Engine) => Engine): Promise<DueNotice[]> {
  await using opened = await openNodes(server, 2, seed);
  const node = firstOf(opened);
  const owner = await ownerIn(node);
  for (let n = 0; n < 20; n += 1) await putNew(node, { owner, noticeDueAt: node.now() + 1 });
  opened.clock.advance(1);
  const release = await holding(
    server,
    opened.schema,
    'SELECT FROM records ORDER BY position LIMIT 1 FOR UPDATE',
  );
  const taking = Promise.all(opened.nodes.map((each) => each.takeDueNotices(100)));
  // Those that wait for the row have seen it as it is now; the others take what is free.
  await untilWaiting(server, 2, taking);
  await release();
  return [...(await taking).flat(), ...(await node.takeDueNotices(100))];
}

describe('notices', () => {
  it('are each given to one of the nodes that take them at once', async () => {
    expect(await takeThroughTwo((engine) => engine)).toHaveLength(20);
  });

  it('are given twice when nodes take them without locking what they have seen', async () => {
    const careless = (engine: Engine) =>
      replacing(engine, 'LIMIT $3 FOR NO KEY UPDATE OF r SKIP LOCKED', 'LIMIT $3');
    expect((await takeThroughTwo(careless)).length).toBeGreaterThan(20);
  });
});

/** How often the DNS is asked for each of 20 domains that two nodes find due at once. */
async function checkThroughTwo(seed: (engine: Engine) => Engine): Promise<number[]> {
  await using opened = await openNodes(server, 2, seed);
  const node = firstOf(opened);
  const owner = await ownerIn(node);
  if (owner === null) throw new Error('the account was not made');
  const names = Array.from({ length: 20 }, (_, n) => `secrets${n}.example.org`);
  for (const name of names) await domainOf(node, owner, name, { state: 'verified' });
  const asked: string[] = [];
  const none = async () => ({ outcome: 'none' }) as const;
  const txt = async (host: string) => {
    asked.push(host);
    return none();
  };
  const resolver = { txt, cname: none, addresses: none };
  const rest = { resolver, target: 'mayfly.example', events: () => {} };
  const checks = opened.nodes.map((store) => createDomainChecks({ store, ...rest }));
  await Promise.all(checks.map((each) => each.checkDue()));
  return names.map((name) => asked.filter((host) => host.endsWith(`.${name}`)).length);
}

describe('share domains', () => {
  it('are each checked by one of the nodes that find them due', async () => {
    expect(await checkThroughTwo((engine) => engine)).toEqual(Array(20).fill(1));
  });

  it('are checked several times when a node takes them without a lease', async () => {
    const careless = (engine: Engine) =>
      replacing(
        engine,
        'SET leased_until = (SELECT now FROM clock) + $5',
        'SET leased_until = $5::bigint * 0',
      );
    expect(Math.max(...(await checkThroughTwo(careless)))).toBeGreaterThan(1);
  });
});

describe('a sweep', () => {
  it('P10: by several nodes at once takes each thing once and nothing that lives', async () => {
    await using opened = await openNodes(server, 3);
    const node = firstOf(opened);
    const living = { expiresAt: node.now() + 4 * ttlSeconds, receiptExpiresAt: node.now() + 8 * ttlSeconds };
    const records = await Promise.all(
      Array.from({ length: 300 }, (_, n) => putNew(node, n % 3 === 0 ? living : {})),
    );
    opened.clock.advance(ttlSeconds);
    const touched = await Promise.all(opened.nodes.flatMap((each) => [each.sweep(150), each.sweep(150)]));
    expect(touched.reduce((sum, each) => sum + each, 0)).toBe(200);
    expect(await opened.ask('SELECT 1 FROM records WHERE sealed_secret IS NOT NULL')).toHaveLength(100);
    opened.clock.advance(ttlSeconds);
    while ((await node.sweep(150)) > 0);
    expect(await opened.ask('SELECT 1 FROM records')).toHaveLength(100);
    for (const { secretId, expiresAt } of records)
      if (expiresAt === living.expiresAt) expect(await node.findSecret(secretId)).not.toBeNull();
  });

  it('P23: neither waits for a row that another transaction holds nor misses the others', async () => {
    await using opened = await openNodes(server, 1);
    const node = firstOf(opened);
    for (let n = 0; n < 10; n += 1) await putNew(node);
    opened.clock.advance(ttlSeconds);
    const release = await holding(
      server,
      opened.schema,
      'SELECT FROM records ORDER BY position LIMIT 1 FOR UPDATE',
    );
    expect(await node.sweep(100)).toBe(9);
    await release();
    expect(await node.sweep(100)).toBe(1);
  });

  it('P5: takes nothing that waits, whatever is noted of when to look at it', async () => {
    await using opened = await openNodes(server, 1);
    const node = firstOf(opened);
    const { secretId } = await putNew(node);
    await opened.ask('UPDATE records SET sweep_at = 0');
    expect([await node.sweep(10), await node.sweep(10)]).toEqual([1, 0]);
    expect(await node.findSecret(secretId)).not.toBeNull();
    opened.clock.advance(ttlSeconds);
    expect(await node.sweep(10)).toBe(1);
    expect(await opened.ask('SELECT 1 FROM records WHERE sealed_secret IS NOT NULL')).toEqual([]);
  });
});

describe('a sweep of a store that is slow', () => {
  it('P10: takes less at once until it is done in time, and then more again', async () => {
    const asked: number[] = [];
    let left = 2_000;
    const decide = async (_statement: unknown, [limit]: Values): Promise<never[]> => {
      asked.push(Number(limit));
      if (Number(limit) > 100) throw new ServiceError('unavailable', 'PostgreSQL did not answer in time.');
      const touched = Math.min(left, Number(limit));
      left -= touched;
      return [{ touched }] as never[];
    };
    const { sweep } = createSweepStore({ decide });
    for (let tries = 0; tries < 3; tries += 1) await expect(sweep(500)).rejects.toBeInstanceOf(ServiceError);
    expect(await sweep(300)).toBe(300);
    expect(asked).toEqual([500, 250, 125, 62, 72, 82, 84]);
  });
});

/** Waits at the end of storing a record with this id. */
const sameRecord = (id: Uint8Array): string => `
  INSERT INTO records (secret_id, receipt_id, created_at, expires_at, receipt_expires_at, sweep_at, marks, share_domain)
  VALUES ('\\x${Buffer.from(id).toString('hex')}', '', 0, 0, 1, 0, 0, '')`;

/** The records under root 1 that a rotation finds, when the second of two was being stored while that root was closed. */
async function closeDuringPut(seed: (engine: Engine) => Engine): Promise<number> {
  await using opened = await openNodes(server, 2, seed);
  const [one, two] = opened.nodes;
  if (one === undefined || two === undefined) throw new Error('there are two nodes');
  await putNew(one);
  const record = newRecord(one.now());
  const release = await holding(server, opened.schema, sameRecord(record.secretId));
  const putting = one.put(record);
  await untilWaiting(server, 1);
  const listing = two.closeRootsBefore(2).then(() => two.listUnderOlderRoots(2, null, 100));
  await untilWaiting(server, 2, listing);
  await release();
  await putting;
  return (await listing).secretIds.length;
}

describe('the closing of a root', () => {
  it('P12: waits for what is being stored under it, so that a rotation finds all of it', async () => {
    expect(await closeDuringPut((engine) => engine)).toBe(2);
  });

  it('P12: misses a record when storing does not lock the floor of the roots', async () => {
    const careless = (engine: Engine) =>
      replacing(engine, 'WHERE only_row = 1 FOR SHARE', 'WHERE only_row = 1');
    expect(await closeDuringPut(careless)).toBe(1);
  });
});

describe('the roots in use', () => {
  it('P12: hold a closed one until nothing is under it, however many records there are before', async () => {
    await using opened = await openNodes(server, 1);
    const node = firstOf(opened);
    await putNew(node);
    await opened.ask(`
      INSERT INTO records (secret_id, receipt_id, state, created_at, expires_at, receipt_expires_at, sweep_at, marks, share_domain)
      SELECT uuid_send(gen_random_uuid()), uuid_send(gen_random_uuid()), 'r', 0, 1, 2, 1, 0, '' FROM generate_series(1, 12000)`);
    const last = await putNew(node, {}, 3);
    await node.closeRootsBefore(4);
    expect(await node.rootKidsInUse()).toEqual([1, 3]);
    expect(await node.burn(last.receiptId, () => false)).not.toBeNull();
    expect(await node.rootKidsInUse()).toEqual([1]);
  });
});

describe('the first key file', () => {
  it('P12: may be made by one of all nodes that ask, at once or later', async () => {
    await using opened = await openNodes(server, 3);
    const asked = opened.nodes.flatMap((node) => Array.from({ length: 5 }, () => node.mayMakeRoots()));
    expect(countOf(await Promise.all(asked), true)).toBe(1);
    expect(await firstOf(opened).mayMakeRoots()).toBe(false);
  });
});
