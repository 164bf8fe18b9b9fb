/** The keys of epochs on a real PostgreSQL: what is left of erased bytes in its files opens to nobody once their day is over (P10). */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { anonymous } from '../../../src/core/account.ts';
import { epochOf } from '../../../src/core/ports/epochs.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import { rewrapOlder } from '../../../src/core/secrets/rewrap.ts';
import { createService } from '../../../src/core/secrets/service.ts';
import { epochIn, open, proveKeys, unwrapSecret } from '../../../src/crypto/envelope.ts';
import { createKeyRing } from '../../../src/crypto/keyring.ts';
import type { SecretContext } from '../../../src/crypto/row.ts';
import { openEngine } from '../../../src/store/postgres/engine.ts';
import { putUpFence } from '../../../src/store/postgres/fence.ts';
import { openMoveSession } from '../../../src/store/postgres/move-session.ts';
import { acceptRestore } from '../../../src/store/postgres/moving.ts';
import { createPostgresStore } from '../../../src/store/postgres/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { type PostgresServer, startPair, startPostgres, until } from '../../support/postgres.ts';
import { asOwner } from '../../support/receipts.ts';
import { createBench, guess, readBy } from '../../support/service-bench.ts';
import { clientStays, createSettableClock, putNew } from '../conformance/check.ts';
import { ask, newAnswer } from '../conformance/request-fixtures.ts';
import { openDriven } from '../subjects.ts';

const day = 86_400;
let server: PostgresServer;
let schemas = 0;
beforeAll(async () => {
  // So that nothing is tidied up by chance.
  server = await startPostgres({ config: { autovacuum: 'off' } });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Two nodes, and another hand on their tables. */
async function openNodes(on = server) {
  schemas += 1;
  const schema = `epochs_${schemas}`;
  await on.ask(`CREATE SCHEMA ${schema}`);
  const clock = createSettableClock();
  const [one, other] = [await openDriven(on, schema, clock), await openDriven(on, schema, clock)];
  const hand = new pg.Client({ connectionString: on.url, options: `-c search_path=${schema}` });
  hand.on('error', () => {});
  await hand.connect();
  const ask = async (sql: string) => (await hand.query(sql)).rows;
  return {
    ...{ one, other, clock, schema, ask },
    async [Symbol.asyncDispose]() {
      await hand.end().catch(() => {});
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

/** All that the database has in its files: pages, TOAST, indexes, whatever is in them. The log is a folder beside it. */
async function filesOf({ folder, ask }: PostgresServer): Promise<Buffer> {
  await ask('CHECKPOINT');
  const [{ oid } = { oid: 0 }] = await ask<{ oid: number }>(
    'SELECT oid::int FROM pg_database WHERE datname = current_database()',
  );
  const base = join(folder, 'data/base', String(oid));
  return Buffer.concat(readdirSync(base).map((name) => readFileSync(join(base, name))));
}

interface Kept {
  readonly secretKey: string;
  readonly context: SecretContext;
  readonly row: Uint8Array;
}

/** A service on a store, and every row that it ever gave to it, with the link and what it is bound to. */
function serviceOn(store: Store, seed: string) {
  const rows: Kept[] = [];
  const records = new Map<string, NewRecord>();
  const links = new Map<string, string>();
  const bench = createBench({
    seed,
    deps: {
      store: {
        ...store,
        async put(record) {
          records.set(record.receiptId.toHex(), record);
          await store.put(record);
        },
        async setExpiry(id, from, to) {
          const [record, secretKey] = [records.get(id.toHex()), links.get(id.toHex())];
          if (record !== undefined && secretKey !== undefined)
            rows.push({
              secretKey,
              context: { ...record, expiresAt: to.expiresAt },
              row: to.sealedSecret.slice(),
            });
          return store.setExpiry(id, from, to);
        },
      },
    },
  });
  const share: typeof bench.share = async (value, options) => {
    const before = new Set(records.keys());
    const made = await bench.share(value, options);
    const [id = ''] = [...records.keys()].filter((each) => !before.has(each));
    const record = records.get(id);
    if (record === undefined) throw new Error('nothing was stored');
    links.set(id, made.secretKey);
    rows.push({ secretKey: made.secretKey, context: record, row: record.sealedSecret.slice() });
    return made;
  };
  return {
    bench,
    share,
    rows,
    read: async (key: string) => readBy(await bench.service.reveal(guess(key), anonymous)),
  };
}

/** How many rows open with link, roots and any of these keys. */
function openedWith(
  rows: readonly Kept[],
  ring: ReturnType<typeof createKeyRing>,
  keys: readonly Uint8Array[],
) {
  return rows.filter(({ secretKey, context, row }) =>
    keys.some((key) => {
      const unwrapped = unwrapSecret(row, context, ring, key);
      if (unwrapped.outcome !== 'unwrapped') return false;
      const proven = proveKeys(unwrapped.secret, secretKey, null);
      return proven !== null && open(unwrapped.secret, proven).length > 0;
    }),
  ).length;
}

const keysIn = async (ask: (sql: string) => Promise<unknown[]>): Promise<Uint8Array[]> =>
  ((await ask('SELECT key FROM epochs WHERE key IS NOT NULL')) as { key: Buffer }[]).map(({ key }) => key);

describe('after the end of an epoch', () => {
  it('P10: neither pages, TOAST nor dead rows open with link, roots and all that the database has, and what lives opens', async () => {
    await using nodes = await openNodes();
    const { one, other, clock } = nodes;
    const { bench, share, rows, read } = serviceOn(one, 'erasure');
    const caller = await bench.signUp('jo@example.org');
    const short = { ttlSeconds: 3_600, caller };
    const small: Awaited<ReturnType<typeof share>>[] = [];
    for (let n = 0; n < 12; n += 1) small.push(await share(`small ${n}`, short));
    const large = [await share('l'.repeat(6_000), short), await share('m'.repeat(6_000), short)];
    const ended = [...small, ...large];
    const moved = await share('brought forward', { ttlSeconds: 5 * day, caller });
    await bench.service.change({ ...asOwner(moved.metadataKey), memo: undefined, ttlSeconds: 3_600 }, caller);
    const living = await share('lives on', { ttlSeconds: 3 * day, caller });
    // Read, read with a second look, burned, and left to expire.
    for (const { secretKey } of ended.slice(0, 4)) await read(secretKey);
    const look = new Uint8Array(randomBytes(16));
    await bench.service.reveal({ ...guess(ended[4]?.secretKey ?? ''), look }, anonymous);
    for (const each of [ended[5], large[0]])
      await bench.service.burn(
        { ...asOwner(each?.metadataKey ?? ''), proof: null, isAbandoned: clientStays },
        caller,
      );
    const epoch = epochOf(one.now());
    const key = await one.findEpochKey(epoch);
    const ofToday = rows.filter(({ row }) => epochIn(row) === epoch);
    expect(ofToday).toHaveLength(ended.length + 1);
    clock.advance(7_200);
    for (const node of [one, other]) await node.sweep(1_000);
    // All is erased, and yet the files have what was, and the key of it.
    const before = await filesOf(server);
    const remains = (files: Buffer) => ofToday.filter(({ row }) => files.includes(row.subarray(13, 413)));
    const ofLength = (least: number) => remains(before).filter(({ row }) => row.length > least).length;
    expect(ofLength(6_000)).toBe(2);
    expect(ofLength(0)).toBeGreaterThan(2);
    expect(key && before.includes(key)).toBe(true);
    expect(openedWith(ofToday, bench.deps.ring, await keysIn(nodes.ask))).toBe(ofToday.length);

    clock.set((epoch + 1) * day);
    for (const node of [other, one]) await node.sweep(1_000);
    const after = await filesOf(server);
    expect(remains(after).length).toBeGreaterThan(2);
    expect(key && after.includes(key)).toBe(false);
    expect(openedWith(ofToday, bench.deps.ring, await keysIn(nodes.ask))).toBe(0);
    for (const node of [one, other]) expect(await node.findEpochKey(epoch)).toBeNull();
    expect(await read(living.secretKey)).toBe('lives on');
    expect(await read(moved.secretKey)).toBe('unknown');
  });

  it('P10: what was under it opens by no other way either: a rotation, another lifetime and both nodes keep to their keys', async () => {
    await using nodes = await openNodes();
    const { one, other, clock } = nodes;
    const { bench, share, read } = serviceOn(one, 'rotation');
    const caller = await bench.signUp('jo@example.org');
    const made = await Promise.all(
      [0, 1, 2, 3].map((n) => share(`value ${n}`, { ttlSeconds: 2 * day, caller })),
    );
    const [longer, gone] = [made[0], made[1]];
    await bench.service.change(
      { ...asOwner(longer?.metadataKey ?? ''), memo: undefined, ttlSeconds: 6 * day },
      caller,
    );
    const newer = { kid: 2, key: new Uint8Array(randomBytes(32)) };
    const ring = createKeyRing([bench.deps.ring.current, newer]);
    expect((await rewrapOlder({ store: other, ring, random: bench.deps.random }, () => {})).rewrapped).toBe(
      4,
    );
    const after = createService({ ...bench.deps, store: other, ring: createKeyRing([newer]) });
    expect(readBy(await after.reveal(guess(gone?.secretKey ?? ''), anonymous))).toBe('value 1');
    clock.advance(4 * day);
    for (const node of [one, other]) await node.sweep(1_000);
    expect(readBy(await after.reveal(guess(longer?.secretKey ?? ''), anonymous))).toBe('value 0');
    expect(await read(made[2]?.secretKey ?? '')).toBe('unknown');
    expect(await keysIn(nodes.ask)).toHaveLength(1);
  });
});

describe('the end of an epoch', () => {
  /** At the turn of a day, with the keys of that day and the next in both nodes. */
  async function atTheTurn(nodes: Awaited<ReturnType<typeof openNodes>>) {
    const { one, other, clock } = nodes;
    const next = await one.epochFor(one.now() + day);
    const past = await other.epochFor(one.now());
    for (const node of [one, other])
      for (const { epoch } of [past, next]) expect(await node.findEpochKey(epoch)).not.toBeNull();
    clock.set(next.epoch * day);
    return { past, next };
  }
  const destroy = (epoch: number) => `SELECT destroy_epochs(${epoch}) AS is_done`;

  it('P24: keeps nobody waiting who shares, reads or burns meanwhile', async () => {
    await using nodes = await openNodes();
    const { one, other } = nodes;
    const { bench, share, read } = serviceOn(one, 'meanwhile');
    const { next } = await atTheTurn(nodes);
    const living = await share('there before', { ttlSeconds: 3_600 });
    await nodes.ask('BEGIN');
    expect(await nodes.ask(destroy(next.epoch))).toEqual([{ is_done: true }]);
    // As long as that is not committed, nobody else gets at the table: it is enough that nobody needs to.
    expect(await read(living.secretKey)).toBe('there before');
    const fresh = await share('made meanwhile', { ttlSeconds: 3_600 });
    expect(await read(fresh.secretKey)).toBe('made meanwhile');
    const burned = await putNew(other);
    expect(await other.burn(burned.receiptId, clientStays)).not.toBeNull();
    await nodes.ask('COMMIT');
    expect(await read((await share('made later', { ttlSeconds: 3_600 })).secretKey)).toBe('made later');
    expect(bench.events.some(({ event }) => event === 'record_damaged')).toBe(false);
  });

  it('P24: gives way to who has the table, such as a dump, and lets nobody wait behind it', async () => {
    await using nodes = await openNodes();
    const { past, next } = await atTheTurn(nodes);
    await nodes.ask('BEGIN');
    await nodes.ask('LOCK TABLE epochs IN ACCESS SHARE MODE');
    await nodes.one.sweep(1_000);
    expect(await nodes.ask(`SELECT epoch FROM epochs WHERE key IS NOT NULL ORDER BY epoch`)).toEqual([
      { epoch: past.epoch },
      { epoch: next.epoch },
    ]);
    expect((await nodes.other.epochFor((next.epoch + 5) * day)).epoch).toBe(next.epoch + 5);
    await nodes.ask('COMMIT');
    for (const node of [nodes.one, nodes.other]) await node.sweep(1_000);
    expect(await nodes.other.findEpochKey(past.epoch)).toBeNull();
    expect(await keysIn(nodes.ask)).toHaveLength(2);
  });

  /** A key that is being kept, by another hand, while a node destroys: how many are there afterwards. */
  async function keptMeanwhile(nodes: Awaited<ReturnType<typeof openNodes>>): Promise<number> {
    const { next } = await atTheTurn(nodes);
    await nodes.ask('BEGIN');
    await nodes.ask(`INSERT INTO epochs VALUES (${next.epoch + 9}, sha256('fresh'))`);
    let hasEnded = false;
    const sweeping = nodes.one.sweep(1_000).finally(() => {
      hasEnded = true;
    });
    sweeping.catch(() => {});
    const isWaiting = async () =>
      (await server.ask("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length > 0;
    await until('the sweep ends or waits', async () => hasEnded || (await isWaiting()));
    await nodes.ask('COMMIT');
    await sweeping;
    return (await nodes.ask(`SELECT FROM epochs WHERE epoch = ${next.epoch + 9}`)).length;
  }

  it('P5: loses no key that is kept meanwhile', async () => {
    await using nodes = await openNodes();
    expect(await keptMeanwhile(nodes)).toBe(1);
  });

  it('P5: would lose it without the lock (self-test)', async () => {
    await using nodes = await openNodes();
    const [found] = await nodes.ask("SELECT pg_get_functiondef('destroy_epochs'::regproc) AS text");
    const { text } = found as { text: string };
    const lock = 'LOCK TABLE epochs IN ACCESS EXCLUSIVE MODE NOWAIT;';
    expect(text).toContain(lock);
    await nodes.ask(text.replace(lock, ''));
    expect(await keptMeanwhile(nodes)).toBe(0);
  });

  it('P5: comes for both nodes at once, with keys asked for at the same time, and all of those stay', async () => {
    await using nodes = await openNodes();
    const { one, other, clock } = nodes;
    for (let turn = 0; turn < 12; turn += 1) {
      const past = await one.epochFor(one.now());
      clock.set((past.epoch + 1) * day);
      const asked = Array.from({ length: 10 }, (_, n) => (past.epoch + 1 + n + turn * 10) * day);
      const [given] = await Promise.all([
        Promise.all(asked.map((at, n) => (n % 2 === 0 ? one : other).epochFor(at))),
        ...[one, other, one].map((node) => node.sweep(1_000)),
      ]);
      for (const node of [one, other]) await node.sweep(1_000);
      for (const { epoch, key } of given)
        for (const node of [one, other])
          expect(Buffer.from((await node.findEpochKey(epoch)) ?? []).equals(key)).toBe(true);
      expect(await other.findEpochKey(past.epoch)).toBeNull();
    }
  });

  it('P5: leaves all keys where the server dies in the middle of it, and none too many where it dies after it', async () => {
    await using own = await startPostgres();
    const schema = await (async () => {
      await using nodes = await openNodes(own);
      const { past, next } = await atTheTurn(nodes);
      await nodes.ask('BEGIN');
      await nodes.ask(destroy(next.epoch));
      await own.kill('SIGKILL');
      return { name: nodes.schema, clock: nodes.clock, past, next };
    })();
    const { past, next, clock } = schema;
    const keyOf = async (node: Store, epoch: number) => Buffer.from((await node.findEpochKey(epoch)) ?? []);
    await own.restart();
    {
      await using node = await openDriven(own, schema.name, clock);
      for (const each of [past, next]) expect((await keyOf(node, each.epoch)).equals(each.key)).toBe(true);
      await node.sweep(1_000);
      await own.kill('SIGKILL');
    }
    await own.restart();
    await using node = await openDriven(own, schema.name, clock);
    expect(await node.findEpochKey(past.epoch)).toBeNull();
    expect((await keyOf(node, next.epoch)).equals(next.key)).toBe(true);
    expect(Buffer.from(await filesOf(own)).includes(past.key)).toBe(false);
  });
});

describe('a standby', () => {
  it('P10: has a destroyed key in its files no longer than the primary', async () => {
    await using pair = await startPair();
    const { primary, standby } = pair;
    if (standby === null) throw new Error('there is no standby');
    await primary.ask('CREATE SCHEMA pair');
    const clock = createSettableClock();
    const engine = await openEngine({
      url: pair.url,
      schema: 'pair',
      clock,
      durability: 'synchronous',
      poolSize: 4,
    });
    await using node = createPostgresStore(engine);
    const past = await node.epochFor(node.now());
    const next = await node.epochFor(node.now() + day);
    const isReplayed = async () => {
      const [{ lsn = '' } = {}] = await primary.ask('SELECT pg_current_wal_lsn()::text AS lsn');
      const [{ is_there: isThere = false } = {}] = await standby.ask(
        `SELECT pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn AS is_there`,
      );
      return isThere;
    };
    const has = async (key: Uint8Array) => {
      await primary.ask('CHECKPOINT');
      await until('the standby has replayed it', isReplayed);
      return (await filesOf(standby)).includes(key);
    };
    expect([await has(past.key), await has(next.key)]).toEqual([true, true]);
    clock.set(next.epoch * day);
    await node.sweep(1_000);
    expect([await has(past.key), await has(next.key)]).toEqual([false, true]);
  });
});

describe('the keys of a store that was restored', () => {
  it('P5: are used by no node that has them from before: it is refused once, and then seals under a key that is kept', async () => {
    await using nodes = await openNodes();
    const { one, other } = nodes;
    const before = await one.epochFor(one.now() + day);
    {
      await using session = await openMoveSession({ url: server.url, schema: nodes.schema });
      await session.write(async () => {
        await putUpFence(session.ask);
        await session.ask(
          "INSERT INTO mayfly_store.move (only_row, id, phase, run) VALUES (1, '', 'restored', 0)",
        );
      });
      await acceptRestore(session);
    }
    const row = new Uint8Array([
      4,
      ...randomBytes(10),
      before.epoch >> 8,
      before.epoch & 255,
      ...randomBytes(200),
    ]);
    expect(await putNew(one, { sealedSecret: row }).catch((error: { code?: string }) => error.code)).toBe(
      'unavailable',
    );
    const after = await one.epochFor(one.now() + day);
    expect(Buffer.from(after.key).equals(before.key)).toBe(false);
    const sent = newAnswer(other, await ask(one), { sealedSecret: row });
    expect(await other.putAnswer(sent).catch((error: { code?: string }) => error.code)).toBe('unavailable');
    expect(await other.epochFor(one.now() + day)).toEqual(after);
    expect(await keysIn(nodes.ask)).toEqual([Buffer.from(after.key)]);
  });
});
