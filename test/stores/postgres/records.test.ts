/** Claims in PostgreSQL: what crosses waits in one order, and what is in doubt comes back or is gone, and never both. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import type { AccountId } from '../../../src/core/account.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import { createCodeStore } from '../../../src/store/postgres/codes.ts';
import { createMailStore } from '../../../src/store/postgres/mail.ts';
import { createRootStore, createRootUses, createWrappings } from '../../../src/store/postgres/roots.ts';
import { createSecretStore } from '../../../src/store/postgres/secrets.ts';
import { type PostgresServer, startPostgres, until } from '../../support/postgres.ts';
import { clientStays, countOf, newRecord, refusalOf } from '../conformance/check.ts';
import { newLook, newTag } from '../conformance/look-fixtures.ts';
import { does, engineOn, type Node, type Nodes, openNodes } from './record-nodes.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ config: { deadlock_timeout: "'50ms'" } });
});

afterAll(() => server[Symbol.asyncDispose]());

async function putNew(node: Node, changes: Partial<NewRecord> = {}): Promise<NewRecord> {
  const record = newRecord(node.store.now(), changes);
  await node.store.put(record);
  return record;
}

async function found(node: Node, { secretId }: NewRecord) {
  const secret = await node.store.findSecret(secretId);
  if (secret === null) throw new Error('a live secret was not found');
  return secret;
}

const byId = (a: NewRecord, b: NewRecord) => Buffer.compare(a.secretId, b.secretId);

describe('batches of claims', () => {
  it('P1: that cross on three nodes have one winner for each secret', async () => {
    await using nodes = await openNodes(server);
    const opened = [await nodes.open(), await nodes.open(), await nodes.open()] as const;
    const records = await Promise.all(Array.from({ length: 300 }, () => putNew(opened[0])));
    const seen = await Promise.all(
      opened.map((node) => Promise.all(records.map((record) => found(node, record)))),
    );
    const claims = opened.flatMap((node, n) => {
      const secrets = n === 1 ? seen[n]?.reverse() : seen[n];
      return (secrets ?? []).map((secret) => node.store.claim(secret, clientStays));
    });
    const outcomes = await Promise.all(claims);
    expect([countOf(outcomes, 'won'), countOf(outcomes, 'gone')]).toEqual([300, 600]);
  });

  /** Two statements that want the same three rows, of which a third caller holds the middle one until both wait. */
  async function cross(nodes: Nodes, order: { readonly ofSecond: 'ASC' | 'DESC' }) {
    const node = await nodes.open();
    const records = await Promise.all(Array.from({ length: 3 }, () => putNew(node)));
    const secrets = await Promise.all(records.sort(byId).map((record) => found(node, record)));
    const [holder, one, two] = [await nodes.connect(), await nodes.connect(), await nodes.connect()];
    await holder.query('BEGIN');
    await holder.query('SELECT FROM records WHERE secret_id = $1 FOR UPDATE', [secrets[1]?.secretId]);
    const claimAll = (client: typeof one, direction: string) => {
      const engine = engineOn(client, node.engine);
      const inDirection: typeof engine = {
        ...engine,
        decide: ({ name, text }, values) =>
          engine.decide({ name, text: text.replace('ORDER BY secret_id', `$& ${direction}`) }, values),
      };
      const { claim } = createSecretStore(inDirection);
      return Promise.allSettled(secrets.map((secret) => claim(secret, clientStays)));
    };
    const claims = [claimAll(one, 'ASC'), claimAll(two, order.ofSecond)];
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    await until('both wait', async () => (await server.ask(waiting)).length === 2);
    await holder.query('COMMIT');
    return (await Promise.all(claims)).flat();
  }

  it('P1: that want the same rows wait for each other in one order', async () => {
    await using nodes = await openNodes(server);
    const settled = await cross(nodes, { ofSecond: 'ASC' });
    const outcomes = settled.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'));
    expect([countOf(outcomes, 'won'), countOf(outcomes, 'gone')]).toEqual([3, 3]);
  });

  it('P1: that locked in two orders would wait in a circle', async () => {
    await using nodes = await openNodes(server);
    const settled = await cross(nodes, { ofSecond: 'DESC' });
    const failures = settled.filter((each) => each.status === 'rejected');
    expect(failures.map(({ reason }) => reason.code)).toEqual(['40P01', '40P01', '40P01']);
  });

  it('touch no index of the records, with a look or without', async () => {
    const updates = async (withIndex: boolean) => {
      await using nodes = await openNodes(server);
      const node = await nodes.open();
      const client = await nodes.connect();
      if (withIndex) await client.query('CREATE INDEX ON records (state)');
      const records = await Promise.all(Array.from({ length: 100 }, () => putNew(node)));
      const secrets = await Promise.all(records.map((record) => found(node, record)));
      const [plain, opened] = [secrets.slice(0, 50), secrets.slice(50)];
      await Promise.all(plain.map((secret) => node.store.claim(secret, clientStays)));
      // A look is as long as its secret: at once, more of them than a page has room for would be moved.
      for (const secret of opened)
        await node.store.claim(secret, clientStays, newLook(secret, node.store.now(), newTag()));
      // The statistics are complete when the connections have ended.
      await node.engine.close();
      const read = async () =>
        (
          await client.query(
            'SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relid = $1::regclass',
            ['records'],
          )
        ).rows[0];
      await until('the statistics', async () => (await read()).all >= 100);
      return await read();
    };
    expect(await updates(false)).toEqual({ all: 100, hot: 100 });
    expect(await updates(true)).toEqual({ all: 100, hot: 0 });
  });
});

describe('a claim in doubt', () => {
  /** A claim that is made, and of which its node hears nothing. */
  async function claimInDoubt(node: Node, record: NewRecord, tag: Uint8Array | null = null) {
    const secret = await found(node, record);
    node.loseNextReply(does.claim);
    const look = tag === null ? null : newLook(secret, node.store.now(), tag);
    await refusalOf(node.store.claim(secret, clientStays, look), 'a claim in doubt was answered');
    return secret;
  }

  const undoneBy = (node: Node) => until('an undo', async () => node.count(does.undo) > 0);
  const stateOf = async ({ store }: Node, { receiptId }: NewRecord) => {
    const { state, endedAt } = (await store.findReceipt(receiptId)) ?? {};
    return { state, endedAt };
  };

  for (const withLook of [false, true]) {
    it(`P3: is undone by its own node, and the secret is as it was${withLook ? ', without the look' : ''}`, async () => {
      await using nodes = await openNodes(server);
      const [node, other] = [await nodes.open(), await nodes.open()];
      const record = await putNew(node);
      const client = await nodes.connect();
      await client.query("UPDATE records SET delivery_address_box = 'sealed'");
      const secret = await claimInDoubt(node, record, withLook ? newTag() : null);
      await undoneBy(node);
      expect(await found(other, record)).toEqual(secret);
      expect(await stateOf(other, record)).toEqual({ state: 'waiting', endedAt: null });
      const { rows } = await client.query(`
        SELECT delivery_address_box::text AS address, sweep_at::int AS at, claim_token, look_until, look_tag FROM records`);
      const nothing = { claim_token: null, look_until: null, look_tag: null };
      expect(rows).toEqual([{ address: '\\x7365616c6564', at: record.expiresAt, ...nothing }]);
      const outcomes = await Promise.all([node, other].map(({ store }) => store.claim(secret, clientStays)));
      expect(outcomes.sort()).toEqual(['gone', 'won']);
    });
  }

  interface Scene {
    readonly nodes: Nodes;
    readonly other: Node;
    readonly record: NewRecord;
    readonly tag: Uint8Array;
  }

  /** What ends a secret for good while the undo of a claim in doubt is under way. */
  const finals: readonly { readonly name: string; end(scene: Scene): unknown }[] = [
    {
      name: 'once somebody was told that the secret is gone',
      end: async ({ other, record }) => expect(await other.store.findSecret(record.secretId)).toBeNull(),
    },
    {
      name: 'once another claim was told so',
      async end({ other, record }) {
        const target = { ...record, rowVersion: 1 };
        expect(await other.store.claim(target, clientStays)).toBe('gone');
      },
    },
    {
      name: 'once its receipt was read',
      end: async ({ other, record }) => expect((await stateOf(other, record)).state).toBe('received'),
    },
    {
      name: 'once its creator was told that there is nothing to burn',
      end: async ({ other, record }) =>
        expect(await other.store.burn(record.receiptId, clientStays)).toBeNull(),
    },
    {
      name: 'once its opener has had the answer',
      end: async ({ other, record, tag }) =>
        expect(await other.store.takeAnswer(record.secretId, tag, clientStays)).toBe('answered'),
    },
    {
      name: 'once its opener has ended the look',
      end: ({ other, record, tag }) => other.store.endLook(record.secretId, tag),
    },
    {
      name: 'once its creator was told that it is too late for a mail',
      async end({ other, record: { receiptId, expiresAt: staleAt } }) {
        const mail = { staleAt, noteBox: null, addressBox: null };
        expect(await createMailStore(other.engine).queueDelivery(receiptId, mail)).toBe('gone');
      },
    },
    {
      name: 'once somebody was told that no code is mailed for it',
      async end({ other, record, tag }) {
        const code = { lookTag: tag, codeTag: tag };
        expect(await createCodeStore(other.engine).putCode(record.secretId, code)).toBeNull();
      },
    },
    { name: 'once everything was burned', end: ({ other }) => other.store.burnAll(null, 10) },
    {
      name: 'once its root was closed',
      end: ({ other }) => createRootStore(other.engine).closeRootsBefore(2),
    },
    { name: 'after its time', end: ({ nodes }) => nodes.clock.advance(8) },
  ];

  for (const { name, end } of finals) {
    it(`P1: is not undone any more ${name}`, async () => {
      await using nodes = await openNodes(server);
      const [node, other] = [await nodes.open(), await nodes.open()];
      const [record, tag] = [await putNew(node), newTag()];
      const release = node.hold(does.undo);
      await claimInDoubt(node, record, tag);
      await end({ nodes, other, record, tag });
      release();
      await undoneBy(node);
      expect(await other.store.findSecret(record.secretId)).toBeNull();
      expect(await stateOf(other, record)).toEqual({ state: 'received', endedAt: record.createdAt });
    });
  }

  it('P3: is told as gone by no node that is undoing it', async () => {
    await using nodes = await openNodes(server);
    const node = await nodes.open();
    const record = await putNew(node);
    const release = node.hold(does.undo);
    const secret = await claimInDoubt(node, record);
    const asked = [
      node.store.findSecret(record.secretId),
      node.store.findReceipt(record.receiptId),
      node.store.claim(secret, clientStays),
      node.store.burn(record.receiptId, clientStays),
    ];
    await Promise.all(asked.map((each) => refusalOf(each, 'a claim that is being undone was told')));
    release();
    await undoneBy(node);
    expect(await found(node, record)).toEqual(secret);
  });

  it('P1: is not undone for an account that is gone', async () => {
    await using nodes = await openNodes(server);
    const [node, other] = [await nodes.open(), await nodes.open()];
    const client = await nodes.connect();
    const { rows } = await client.query(
      "INSERT INTO accounts (username, plan, created_at) VALUES ('ann', 'free', 0) RETURNING id::int",
    );
    const record = await putNew(node, { owner: rows[0]?.id as AccountId });
    const release = node.hold(does.undo);
    await claimInDoubt(node, record);
    await client.query('DELETE FROM accounts');
    release();
    await undoneBy(node);
    expect(await other.store.findSecret(record.secretId)).toBeNull();
  });

  it('P3: puts back only what it has erased', async () => {
    await using nodes = await openNodes(server);
    const [node, other] = [await nodes.open(), await nodes.open()];
    const record = await putNew(node);
    const secret = await found(node, record);
    const change = {
      ...record,
      expiresAt: record.expiresAt + 60,
      sealedSecret: record.sealedSecret.toReversed(),
    };
    change.sealedSecret.set(record.sealedSecret.subarray(0, 3));
    expect(await node.store.setExpiry(record.receiptId, record.expiresAt, change)).toBe(true);
    node.loseNextReply(does.claim);
    await refusalOf(node.store.claim(secret, clientStays), 'a claim in doubt was answered');
    await undoneBy(node);
    expect(await other.store.findSecret(record.secretId)).toBeNull();
  });

  it('P3: knows what it has erased by a number that only grows', async () => {
    await using nodes = await openNodes(server);
    const node = await nodes.open();
    const client = await nodes.connect();
    const versionOf = async () => (await client.query('SELECT sealed_version AS n FROM records')).rows[0]?.n;
    const record = await putNew(node);
    const to = record.sealedSecret.toReversed();
    to.set(record.sealedSecret.subarray(0, 3));
    const before = await versionOf();
    const change = { ...record, sealedSecret: to };
    expect(await node.store.setExpiry(record.receiptId, record.expiresAt, change)).toBe(true);
    expect(await versionOf()).toBe(before + 1);
    const replaceWrapping = createWrappings(node.engine, createRootUses(node.engine));
    expect(await replaceWrapping(record.secretId, to, record.sealedSecret)).toBe(true);
    expect(await versionOf()).toBe(before + 2);
  });

  it('P1: whose undo is in doubt itself is undone once', async () => {
    await using nodes = await openNodes(server);
    const [node, other] = [await nodes.open(), await nodes.open()];
    const record = await putNew(node);
    node.loseNextReply(does.undo);
    const secret = await claimInDoubt(node, record);
    await undoneBy(node);
    expect(await other.store.claim(secret, clientStays)).toBe('won');
    await until('the next try', async () => node.count(does.undo) > 1);
    expect(await other.store.findSecret(record.secretId)).toBeNull();
  });

  it('P6: is told as neither waiting nor received where its undo comes between', async () => {
    await using nodes = await openNodes(server);
    const [node, ...others] = [await nodes.open(), await nodes.open(), await nodes.open()];
    const record = await putNew(node);
    const undo = node.hold(does.undo);
    const settles = others.map((other) => other.hold(does.settle));
    await claimInDoubt(node, record);
    const asked = [
      others[0]?.store.findSecret(record.secretId),
      others[1]?.store.findReceipt(record.receiptId),
    ].map((each) => refusalOf(Promise.resolve(each), 'a claim that was undone was told'));
    await until('both have read', async () => others.every((other) => other.heldCount(does.settle) === 1));
    undo();
    await undoneBy(node);
    for (const settle of settles) settle();
    await Promise.all(asked);
    expect(await stateOf(node, record)).toEqual({ state: 'waiting', endedAt: null });
  });
});
