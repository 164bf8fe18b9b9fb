/** Storing records in PostgreSQL: what a record must not outlive waits for it, and is met by it. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { CreationHold, CreationId, NewRecord } from '../../../src/core/secret.ts';
import { createRootStore } from '../../../src/store/postgres/roots.ts';
import { createSecretStore } from '../../../src/store/postgres/secrets.ts';
import { type PostgresServer, startPostgres, until } from '../../support/postgres.ts';
import { newRecord, refusalOf } from '../conformance/check.ts';
import { engineOn, type Nodes, openNodes } from './record-nodes.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

/** A node, and another whose statements stay uncommitted until `commit`. */
async function openSlow(nodes: Nodes) {
  const node = await nodes.open();
  const client = await nodes.connect();
  await client.query('BEGIN');
  const { put } = createSecretStore(engineOn(client, node.engine));
  return { node, put, client, commit: () => client.query('COMMIT') };
}

const someoneWaits = async () => {
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  await until('a statement waits for a lock', async () => (await server.ask(waiting)).length > 0);
};

describe('a put', () => {
  it('P12: that has not ended yet is met by what closes its root', async () => {
    await using nodes = await openNodes(server);
    const { node, put, commit } = await openSlow(nodes);
    const record = newRecord(node.store.now());
    const roots = createRootStore(node.engine);
    await put(record);
    const closing = roots.closeRootsBefore(2);
    await someoneWaits();
    await commit();
    await closing;
    expect((await roots.listUnderOlderRoots(2, null, 10)).secretIds).toEqual([record.secretId]);
  });

  it('P12: waits for what closes its root, and then stores nothing', async () => {
    await using nodes = await openNodes(server);
    const node = await nodes.open();
    const closer = await nodes.connect();
    await closer.query('BEGIN');
    await createRootStore(engineOn(closer, node.engine)).closeRootsBefore(2);
    const late = newRecord(node.store.now());
    const putting = refusalOf(node.store.put(late), 'a record was stored under a closed root');
    await someoneWaits();
    await closer.query('COMMIT');
    await putting;
    expect(await node.store.findSecret(late.secretId)).toBeNull();
  });

  async function reserve(nodes: Nodes): Promise<CreationHold> {
    const client = await nodes.connect();
    const hold = {
      id: new Uint8Array(randomBytes(16)) as CreationId,
      wrappedSeed: new Uint8Array(randomBytes(83)),
    };
    await client.query(
      `WITH account AS (INSERT INTO accounts (username, plan, created_at) VALUES ('ann', 'free', 0) RETURNING id),
       token AS (
         INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, scopes, created_at)
         SELECT id, 'hash', 'name', 'key', 0, 0 FROM account RETURNING token_id)
       SELECT 1`,
    );
    await client.query(
      `INSERT INTO creations (creation_id, token_id, seed, body_mac, reserved_at, ends_at)
       SELECT $1, token_id, $2, 'mac', 0, 2000000000 FROM tokens`,
      [hold.id, hold.wrappedSeed],
    );
    return hold;
  }

  it('P5: of two for one reservation, on two nodes at once, waits for the other and stores nothing', async () => {
    await using nodes = await openNodes(server);
    const { node, put, commit } = await openSlow(nodes);
    const hold = await reserve(nodes);
    const [first, second] = [1, 2].map(() => newRecord(node.store.now(), { hold })) as [NewRecord, NewRecord];
    await put(first);
    const putting = refusalOf(node.store.put(second), 'two records were stored for one reservation');
    await someoneWaits();
    await commit();
    await putting;
    expect(await node.store.findSecret(first.secretId)).not.toBeNull();
    expect(await node.store.findSecret(second.secretId)).toBeNull();
  });

  it('P5: that is refused leaves its reservation, and what is stored with it', async () => {
    await using nodes = await openNodes(server);
    const node = await nodes.open();
    const hold = await reserve(nodes);
    await createRootStore(node.engine).closeRootsBefore(2);
    const now = node.store.now();
    const [refused, kept] = [newRecord(now, { hold }), newRecord(now, {}, 2)];
    const [, storing] = await Promise.all([
      refusalOf(node.store.put(refused), 'a record was stored under a closed root'),
      node.store.put(kept),
    ]);
    expect(storing).toBeUndefined();
    expect(await node.store.findSecret(kept.secretId)).not.toBeNull();
    await node.store.put(newRecord(now, { hold }, 2));
  });
});
