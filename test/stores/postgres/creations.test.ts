/** Creations that may be repeated, through several nodes. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../../src/core/errors.ts';
import type { NewIdempotentCreation } from '../../../src/core/ports/creations.ts';
import type { CreationId } from '../../../src/core/secret.ts';
import type { Engine } from '../../../src/store/postgres/engine.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { newAccount, newToken } from '../conformance/account-fixtures.ts';
import { countOf, newRecord } from '../conformance/check.ts';
import { openNodes } from './seeded-nodes.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

const bytes = (length: number) => new Uint8Array(randomBytes(length));

async function tokenIn(store: PostgresStore): Promise<number> {
  const account = await store.createAccount(newAccount('ann@example.org'), newToken());
  if (account === null) throw new Error('the account was not made');
  return (await store.addToken(account.id, newToken())).tokenId;
}

const newCreation = (tokenId: number, id = bytes(16) as CreationId): NewIdempotentCreation => ({
  id,
  tokenId,
  wrappedSeed: bytes(83),
  bodyMac: bytes(32),
});

describe('creations that may be repeated', () => {
  it('P5: are reserved once each when three nodes reserve the same hundred in other orders', async () => {
    await using opened = await openNodes(server, 3);
    const [first] = opened.nodes;
    if (first === undefined) throw new Error('there are three nodes');
    const tokenId = await tokenIn(first);
    const ids = Array.from({ length: 100 }, () => bytes(16) as CreationId);
    const orders = [ids, ids.toReversed(), ids.toSorted((a, b) => Buffer.compare(a, b))];
    const asked = opened.nodes.flatMap((node, n) =>
      (orders[n] ?? ids).map((id) => node.reserveCreation(newCreation(tokenId, id))),
    );
    expect(countOf(await Promise.all(asked), 'reserved')).toBe(ids.length);
  });

  it('are reserved and looked up together, and each who asks for one finds it', async () => {
    let statements = 0;
    const counting = (engine: Engine): Engine => ({
      ...engine,
      read<Row>(...asked: Parameters<Engine['read']>): Promise<readonly Row[]> {
        statements += 1;
        return engine.read<Row>(...asked);
      },
      decide<Row>(...asked: Parameters<Engine['decide']>): Promise<readonly Row[]> {
        statements += 1;
        return engine.decide<Row>(...asked);
      },
    });
    await using opened = await openNodes(server, 1, counting);
    const [node] = opened.nodes;
    if (node === undefined) throw new Error('there is a node');
    const tokenId = await tokenIn(node);
    const creations = Array.from({ length: 100 }, () => newCreation(tokenId));
    statements = 0;
    const reserved = await Promise.all(creations.map((each) => node.reserveCreation(each)));
    expect([countOf(reserved, 'reserved'), statements]).toEqual([100, 1]);
    const twice = [...creations, ...creations];
    const found = await Promise.all(twice.map(({ id }) => node.findCreation(id)));
    expect(found.map((each) => each?.wrappedSeed)).toEqual(twice.map(({ wrappedSeed }) => wrappedSeed));
    expect(statements).toBe(2);
  });

  it('P5: are told as done only when that is durable, and as reserved before', async () => {
    let isDurable = true;
    const doubting = (engine: Engine): Engine => ({
      ...engine,
      async prove(seen, since) {
        if (!isDurable) throw new ServiceError('unavailable', 'It may be lost in a failover.');
        await engine.prove(seen, since);
      },
    });
    await using opened = await openNodes(server, 1, doubting);
    const [node] = opened.nodes;
    if (node === undefined) throw new Error('there is a node');
    const creation = newCreation(await tokenIn(node));
    await node.reserveCreation(creation);
    isDurable = false;
    expect((await node.findCreation(creation.id))?.isDone).toBe(false);
    await node.put(newRecord(node.now(), { hold: creation }));
    await expect(node.findCreation(creation.id)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(node.reserveCreation(newCreation(creation.tokenId, creation.id))).rejects.toMatchObject({
      code: 'unavailable',
    });
    isDurable = true;
    expect((await node.findCreation(creation.id))?.isDone).toBe(true);
  });
});
