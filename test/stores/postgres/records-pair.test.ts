/** Claims over a primary and a synchronous standby: what is in doubt is neither released nor called gone, and ends once. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import type { NewRecord } from '../../../src/core/secret.ts';
import { type PostgresPair, startPair, until } from '../../support/postgres.ts';
import { clientStays, countOf, newRecord, refusalOf } from '../conformance/check.ts';
import { does, type Node, openNodes } from './record-nodes.ts';

let pair: PostgresPair;

beforeAll(async () => {
  pair = await startPair();
});

afterAll(() => pair[Symbol.asyncDispose]());

const open = () => openNodes({ url: pair.url, ask: (sql) => pair.primary.ask(sql) });
const synchronous = { durability: 'synchronous' } as const;

async function putNew(node: Node): Promise<NewRecord> {
  const record = newRecord(node.store.now());
  await node.store.put(record);
  return record;
}

async function found(node: Node, { secretId }: NewRecord) {
  const secret = await node.store.findSecret(secretId);
  if (secret === null) throw new Error('a live secret was not found');
  return secret;
}

/** Backends whose commit waits for the standby. */
const waiting = () =>
  pair.primary.ask<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
const commitWaits = () => until('a commit waits for the standby', async () => (await waiting()).length > 0);

const asking = ({ store }: Node, { secretId, receiptId }: NewRecord) => [
  store.findSecret(secretId),
  store.findReceipt(receiptId),
  store.burn(receiptId, clientStays),
  store.claim({ secretId, rowVersion: 1, createdAt: 0, expiresAt: 2 ** 40 }, clientStays),
];

describe('while the standby is not heard', () => {
  it('P2 P3: a claim whose wait was cancelled is undone, and won by one when the standby is back', async () => {
    await using nodes = await open();
    const [node, other] = [await nodes.open(synchronous), await nodes.open(synchronous)];
    const record = await putNew(node);
    const secret = await found(node, record);
    pair.freezeStandby();
    try {
      await refusalOf(node.store.claim(secret, clientStays), 'a claim without the standby was answered');
    } finally {
      pair.thawStandby();
    }
    await until('the undo', async () => node.count(does.undo) > 0);
    expect(await found(other, record)).toEqual(secret);
    expect((await other.store.findReceipt(record.receiptId))?.state).toBe('waiting');
    const claims = await Promise.all([node, other].map(({ store }) => store.claim(secret, clientStays)));
    expect(claims.sort()).toEqual(['gone', 'won']);
  });

  it('P2 P6: what another’s unconfirmed claim holds is told as neither gone nor received', async () => {
    await using nodes = await open();
    const [node, other] = [await nodes.open(synchronous), await nodes.open(synchronous)];
    const record = await putNew(node);
    // A copy: what it takes is not known to its node, so nothing puts it back, as after a crash of the node.
    const target = { ...(await found(node, record)) };
    pair.freezeStandby();
    try {
      await refusalOf(node.store.claim(target, clientStays), 'a claim without the standby was answered');
      await until('the claim is visible', async () => {
        const rows = await pair.primary.ask(`SELECT 1 FROM ${nodes.schema}.records WHERE state = 'r'`);
        return rows.length === 1;
      });
      const refused = asking(other, record).map((each) => refusalOf(each, 'an unconfirmed claim was told'));
      await Promise.all(refused);
    } finally {
      pair.thawStandby();
    }
    await until('confirmed writes', async () =>
      other.store.burn(record.receiptId, clientStays).then(
        (at) => at === null,
        () => false,
      ),
    );
    const [secret, receipt, burned, claimed] = await Promise.all(asking(other, record));
    expect([secret, burned, claimed]).toEqual([null, null, 'gone']);
    expect(receipt).toMatchObject({ state: 'received' });
  });

  it('P2 P3: a claim whose connection was cut at its commit is undone', async () => {
    await using nodes = await open();
    const [node, other] = [await nodes.open(synchronous), await nodes.open(synchronous)];
    const record = await putNew(node);
    const secret = await found(node, record);
    pair.freezeStandby();
    try {
      const claim = refusalOf(node.store.claim(secret, clientStays), 'a claim that was cut was answered');
      await commitWaits();
      for (const { pid } of await waiting()) await pair.primary.ask('SELECT pg_terminate_backend($1)', [pid]);
      await claim;
    } finally {
      pair.thawStandby();
    }
    await until('the undo', async () => node.count(does.undo) > 0);
    expect(await found(other, record)).toEqual(secret);
    expect(await other.store.claim(secret, clientStays)).toBe('won');
  });

  it('P1 P2: of many claims of many secrets each ends as one that won or none that took it', async () => {
    await using nodes = await open();
    const opened = [await nodes.open(synchronous), await nodes.open(synchronous)] as const;
    const records = await Promise.all(Array.from({ length: 60 }, () => putNew(opened[0])));
    const secrets = await Promise.all(
      opened.map((node) => Promise.all(records.map((record) => found(node, record)))),
    );
    pair.freezeStandby();
    const claims = opened.flatMap(({ store }, n) =>
      (secrets[n] ?? []).map((secret) => store.claim(secret, clientStays).catch(() => 'doubt' as const)),
    );
    const outcomes = await Promise.all(claims);
    pair.thawStandby();
    expect(countOf(outcomes, 'doubt')).toBe(120);
    // Looked at by nobody who would have to be told: what is told is final.
    const waits = `SELECT 1 FROM ${nodes.schema}.records WHERE state = 'w'`;
    await until('every secret waits again', async () => (await pair.primary.ask(waits)).length === 60);
    const again = opened.flatMap(({ store }, n) =>
      (secrets[n] ?? []).map((each) => store.claim(each, clientStays)),
    );
    const ends = await Promise.all(again);
    expect([countOf(ends, 'won'), countOf(ends, 'gone')]).toEqual([60, 60]);
  });
});
