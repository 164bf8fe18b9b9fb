/**
 * The end of an account through two nodes on one PostgreSQL: it excludes what is stored and claimed at that moment, and whatever
 * becomes of the node that began it, another finishes it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AccountId } from '../../../src/core/account.ts';
import { finishDeletion, finishDeletions } from '../../../src/core/accounts/deletion.ts';
import type { ServiceEvent } from '../../../src/core/events.ts';
import type { DeletionStep } from '../../../src/core/ports/deletion.ts';
import { type PostgresServer, startPostgres, until } from '../../support/postgres.ts';
import { accountNamed, deleteWhole } from '../conformance/account-fixtures.ts';
import { clientStays, found, newRecord, putNew } from '../conformance/check.ts';
import { countWhere, type Nodes, openNodes, racers } from './two-nodes.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

const annIn = async ({ one }: Nodes): Promise<AccountId> => (await accountNamed(one, 'ann@example.org')).id;

/** As many waiting secrets of an account. */
const fill = ({ ask, one }: Nodes, owner: AccountId, records: number) =>
  ask(
    `INSERT INTO records (secret_id, receipt_id, owner, created_at, expires_at, receipt_expires_at, sweep_at, marks, share_domain,
       sealed_secret, recent_box, memo_box, notice_due_at)
     SELECT decode(md5('secret' || $1::bigint || n), 'hex'), decode(md5('receipt' || $1::bigint || n), 'hex'), $1::bigint, $2::bigint, $2 + 3600, $2 + 7200, $2 + 3600, 2,
       '', decode(repeat(md5(n::text), 10), 'hex'), '\\x01', '\\x02', $2 + 1800
     FROM generate_series(1, $3::int) n`,
    [owner, one.now(), records],
  );

const waiting = "records WHERE state = 'w'";
const kept =
  'records WHERE sealed_secret IS NOT NULL OR recent_box IS NOT NULL OR memo_box IS NOT NULL OR notice_due_at IS NOT NULL';

/** How many of an account's secrets wait after its deletion, when one is being stored while it begins. */
async function waitingAfter(nodes: Nodes, lock: string): Promise<number> {
  const ann = await annIn(nodes);
  const { secretId, receiptId, createdAt, expiresAt, receiptExpiresAt } = newRecord(nodes.one.now());
  const insert = `
    INSERT INTO records (secret_id, receipt_id, owner, created_at, expires_at, receipt_expires_at, sweep_at, marks, share_domain, sealed_secret)
    VALUES ($1, $2, $3, $4, $5, $6, $5, 0, '', '\\x02')`;
  const values = [secretId, receiptId, ann, createdAt, expiresAt, receiptExpiresAt];
  await nodes.during(
    [
      [`SELECT FROM accounts WHERE id = $1 ${lock}`, [ann]],
      [insert, values],
    ],
    () => deleteWhole(nodes.other, ann),
  );
  return countWhere(nodes, waiting);
}

describe('the end of an account over PostgreSQL', () => {
  it('P10: a secret that is stored at the very moment is burned with it', async () => {
    await using nodes = await openNodes(server);
    expect(await waitingAfter(nodes, 'FOR KEY SHARE')).toBe(0);
  });

  it('the check above notices a secret that is stored without a lock of its account', async () => {
    await using nodes = await openNodes(server);
    expect(await waitingAfter(nodes, '')).toBe(1);
  });

  it('P10: of a hundred secrets stored while it is deleted each is refused or burned, and counted once', async () => {
    await using nodes = await openNodes(server);
    const ann = await annIn(nodes);
    const put = (n: number) => putNew(nodes.node(n), { owner: ann });
    const before = Array.from({ length: racers / 2 }, (_, n) => put(n));
    const deleted = deleteWhole(nodes.other, ann, 10);
    const after = Array.from({ length: racers / 2 }, (_, n) => put(n));
    const stored = (await Promise.allSettled([...before, ...after])).filter(
      (each) => each.status === 'fulfilled',
    );
    expect(await deleted).toBe(stored.length);
    expect([await countWhere(nodes, waiting), await countWhere(nodes, 'records')]).toEqual([
      0,
      stored.length,
    ]);
    await expect(put(0)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('P10: is not held up by secrets that are stored without a pause, and burns each of them', async () => {
    await using nodes = await openNodes(server);
    const ann = await annIn(nodes);
    let stored = 0;
    const storeUntilRefused = async (n: number) => {
      for (;;) {
        const isStored = await putNew(nodes.node(n), { owner: ann }).then(
          () => true,
          () => false,
        );
        if (!isStored) return;
        stored += 1;
      }
    };
    const storing = Array.from({ length: racers }, (_, n) => storeUntilRefused(n));
    await until('secrets are stored', async () => stored >= racers);
    expect(await deleteWhole(nodes.other, ann)).toBe(await countWhere(nodes, 'records'));
    await Promise.all(storing);
    expect([await countWhere(nodes, waiting), await countWhere(nodes, 'records')]).toEqual([0, stored]);
  });

  it('P7: a deletion and a hundred claims on another node exclude each other', async () => {
    await using nodes = await openNodes(server);
    const ann = await annIn(nodes);
    const records = await Promise.all(
      Array.from({ length: racers }, (_, n) => putNew(nodes.node(n), { owner: ann })),
    );
    const secrets = await Promise.all(records.map(({ secretId }) => found(nodes.one, secretId)));
    const claims: Promise<string>[] = [];
    let deletion: Promise<number | null> = Promise.resolve(null);
    for (const [n, secret] of secrets.entries()) {
      if (n === racers / 5) deletion = deleteWhole(nodes.other, ann, 7);
      claims.push(nodes.one.claim(secret, clientStays));
      if (n % 10 === 0) await claims[n];
    }
    const outcomes = await Promise.all(claims);
    const won = outcomes.filter((each) => each === 'won').length;
    expect(won + ((await deletion) ?? 0)).toBe(racers);
    const receipts = await Promise.all(records.map(({ receiptId }) => nodes.other.findReceipt(receiptId)));
    expect(receipts.map((each) => each?.state as string)).toEqual(
      outcomes.map((each) => (each === 'won' ? 'received' : 'burned')),
    );
  });

  it('P10: nodes that go on with one deletion at once burn each secret once, and one of them finishes it', async () => {
    await using nodes = await openNodes(server);
    const ann = await annIn(nodes);
    await fill(nodes, ann, 1_000);
    expect(await nodes.one.deleteAccount(ann)).toBe(true);
    const steps: (DeletionStep | null)[] = [];
    const go = async (n: number) => {
      for (;;) {
        const step = await nodes.node(n).continueDeletion(ann, 30);
        steps.push(step);
        if (step?.outcome !== 'more') return step?.burned;
      }
    };
    expect(await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(go))).toEqual(
      Array.from({ length: 8 }, () => 1_000),
    );
    expect(steps.filter((step) => step?.outcome === 'finished')).toHaveLength(1);
    expect(steps.filter((step) => step?.outcome === 'more')).toHaveLength(33);
    expect([await countWhere(nodes, waiting), await countWhere(nodes, kept)]).toEqual([0, 0]);
  });

  it('P10: an account with 100,000 secrets whose node is killed half-way is deleted by another', async () => {
    await using nodes = await openNodes(server);
    const { one, other, schema } = nodes;
    const [ann, bob] = [await annIn(nodes), (await accountNamed(one, 'bob@example.org')).id];
    await fill(nodes, ann, 100_000);
    await fill(nodes, bob, 10);
    const words = [join(import.meta.dir, 'deleting-node.ts'), server.url, schema, String(ann)];
    const dying = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(dying.stdout)) if (Number(line) >= 30_000) break;
    dying.kill('SIGKILL');
    await once(dying, 'exit');
    expect(await one.listDeletions(10)).toEqual([ann]);
    expect(await one.findAccountById(ann)).toBeNull();
    expect(await countWhere(nodes, waiting)).toBeGreaterThan(10);
    const events: ServiceEvent[] = [];
    const core = (store: typeof one) => ({ store, events: (event: ServiceEvent) => events.push(event) });
    await Promise.all([one, other].map((store) => finishDeletions(core(store), () => true)));
    expect(events).toEqual([{ event: 'account_deleted', account: ann, burned: 100_000 }]);
    expect(await finishDeletion(core(other), ann)).toBe(100_000);
    expect(await one.listDeletions(10)).toEqual([]);
    expect(await countWhere(nodes, `${waiting} AND owner = ${ann}`)).toBe(0);
    expect(await countWhere(nodes, kept)).toBe(10);
    expect(await countWhere(nodes, `records WHERE state = 'b' AND owner = ${ann}`)).toBe(100_000);
  });
});
