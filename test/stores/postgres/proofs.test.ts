/**
 * Nodes that an old primary still answers, after its standby was promoted: what they read there is not given out as true, also when
 * their address leads to the new primary by the time that it is proven.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import type { AccountId } from '../../../src/core/account.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ReceiptId } from '../../../src/core/keys.ts';
import type { CreationId, NewRecord, StoredSecret } from '../../../src/core/secret.ts';
import { createMachineClock } from '../../../src/ops/machine-clock.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/store.ts';
import { type PostgresPair, type PostgresServer, startPair, until } from '../../support/postgres.ts';
import { openTcpLink, type TcpLink } from '../../support/tcp-link.ts';
import { accountNamed, newToken } from '../conformance/account-fixtures.ts';
import { clientStays, found, newSecretId, putNew } from '../conformance/check.ts';

/** A node that reaches its server by a link of its own. */
interface Node extends AsyncDisposable {
  readonly store: PostgresStore;
  readonly link: TcpLink;
}

async function openNode(port: number): Promise<Node> {
  const link = await openTcpLink(port);
  const url = `postgres://mayfly@127.0.0.1:${link.port}/mayfly`;
  const store = await openPostgresStore({ url, clock: createMachineClock(), poolSize: 5 });
  return {
    store,
    link,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
    },
  };
}

/** The code of a refusal, or what it answered. */
const outcomeOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    (answer) => answer ?? 'nothing',
    (error: unknown) => (error instanceof ServiceError ? error.code : error),
  );

const isRefused = async (asking: Promise<unknown>) => (await outcomeOf(asking)) === 'unavailable';

const token = newToken();
let pair: PostgresPair;
let old: PostgresServer;
/** On the new primary. */
let moved: Node;
/** Left at the old one: one for each test that lets it move. */
let left: readonly [Node, Node, Node];
let owner: AccountId;
let before: readonly StoredSecret[];
let receipts: readonly ReceiptId[];

beforeAll(async () => {
  pair = await startPair();
  old = pair.primary;
  const open = () => openNode(old.port);
  left = [await open(), await open(), await open()];
  moved = await open();
  owner = (await accountNamed(moved.store, 'ann@example.org', token)).id;
  const records = [];
  for (let n = 0; n < 8; n += 1) records.push(await putNew(moved.store, { owner }));
  receipts = records.map(({ receiptId }) => receiptId);
  before = await Promise.all(records.map(({ secretId }) => found(moved.store, secretId)));
  pair.freezeStandby();
  await pair.promote();
  await pair.addStandby();
  moved.link.pointTo(pair.primary.port);
  await until('the new primary', async () => !(await isRefused(moved.store.hasAccounts())));
  // For so long it may still be the one that decides.
  await until('too old a confirmation', () => isRefused(left[0].store.findSecret(newSecretId())));
}, 60_000);

afterAll(async () => {
  for (const node of [...left, moved]) await node[Symbol.asyncDispose]();
  await pair[Symbol.asyncDispose]();
});

/** Until a proof waits for the old primary's standby, in vain. */
const untilProving = () =>
  until('a proof that waits', async () => {
    const waiting = "wait_event = 'SyncRep' AND query ~ 'UPDATE mayfly_store.store_time'";
    return (await old.ask(`SELECT 1 FROM pg_stat_activity WHERE ${waiting}`)).length > 0;
  });

/** As burns do whose wait for the standby was cancelled: the old primary alone has them, and shows them. */
async function burnAtOld(ids: readonly ReceiptId[]): Promise<void> {
  const burning = old.ask(
    `UPDATE mayfly_store.records SET state = 'b', burned_by = 'creator', sealed_secret = NULL,
       ended_at = (SELECT seconds FROM mayfly_store.store_time) WHERE receipt_id = ANY ($1)`,
    [ids],
  );
  await until('a burn that waits', async () => {
    const waiting = "wait_event = 'SyncRep' AND query ~ 'burned_by'";
    return (await old.ask(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${waiting}`)).length > 0;
  });
  await burning;
}

/** Until the old primary has answered a read that was begun since. */
async function untilRead<Answer>(ask: () => Answer): Promise<Answer> {
  const [now] = await old.ask<{ at: string }>('SELECT clock_timestamp()::text AS at');
  const asked = ask();
  await until('a read', async () => {
    const isDone = "application_name = 'mayfly' AND state = 'idle' AND state_change > $1::timestamptz";
    return (await old.ask(`SELECT 1 FROM pg_stat_activity WHERE ${isDone}`, [now?.at])).length > 0;
  });
  return asked;
}

/** What `asks` answer that were read from the old primary, and whose proof is made after the node has moved. */
async function askThenMove(node: Node, asks: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const [first, ...others] = asks;
  const began = outcomeOf(first?.() ?? Promise.resolve());
  await untilProving();
  const answers = await untilRead(() => others.map((ask) => outcomeOf(ask())));
  node.link.pointTo(pair.primary.port);
  return Promise.all([began, ...answers]);
}

const later = (count: number) =>
  Promise.all(Array.from({ length: count }, () => putNew(moved.store, { owner })));

const burnedOrNothing = (answer: unknown): boolean =>
  answer === 'nothing' || (answer as { state?: string }).state === 'burned';

describe('a node whose address leads to the new primary between what it read and the proof', () => {
  it('P5: calls nothing absent that the old primary did not have', async () => {
    const records = await later(10);
    const asks = records.map(
      ({ secretId }) =>
        () =>
          left[0].store.findSecret(secretId),
    );
    expect(await askThenMove(left[0], asks)).not.toContain('nothing');
    for (const { secretId } of records)
      expect(await moved.store.claim(await found(moved.store, secretId), clientStays)).toBe('won');
  });

  it('P6: calls nothing burned, and no burned secret gone, that the old primary alone has burned', async () => {
    const { store } = left[1];
    const [one, two] = receipts.slice(0, 2) as [ReceiptId, ReceiptId];
    await burnAtOld([one, two]);
    const { secretId } = before[1] as StoredSecret;
    const asks = [
      () => store.findReceipt(one),
      () => store.findReceipt(one),
      () => store.findReceipt(two),
      () => store.findLives([two]).then(([life]) => life),
      () => store.findSecret(secretId),
    ];
    expect((await askThenMove(left[1], asks)).filter(burnedOrNothing)).toEqual([]);
    expect((await found(moved.store, secretId)).secretId).toEqual(secretId);
  });
});

describe('a node that is left at the old primary', () => {
  it('P5, P6, P16: answers nothing from it, neither what is there nor what is not, once it cannot confirm', async () => {
    const { store } = left[2];
    const [record] = (await later(1)) as [NewRecord];
    const secret = await found(moved.store, record.secretId);
    for (const target of before.slice(2)) expect(await moved.store.claim(target, clientStays)).toBe('won');
    await moved.store.lockAccount(owner);
    const [read] = before.slice(2) as [StoredSecret];
    const { tokenHash } = token;
    const id = record.receiptId;
    const asks: Record<string, () => Promise<unknown>> = {
      'a secret that was read since': () => store.findSecret(read.secretId),
      'its receipt': () => store.findReceipt(receipts[2] as ReceiptId),
      'what became of it': () => store.findLives([receipts[2] as ReceiptId]),
      'the list of receipts': () => store.listReceipts(owner, { limit: 10, after: null }),
      'a token of an account that is locked': () => store.findToken(tokenHash),
      'its tokens': () => store.listTokens(owner),
      'the account': () => store.findAccountById(owner),
      'its name': () => store.findAccount('ann@example.org'),
      'all accounts': () => store.listAccounts(),
      'whether there are accounts': () => store.hasAccounts(),
      'what it owns': () => store.countOwned(owner),
      'a session': () => store.findSession(tokenHash),
      'its sessions': () => store.listSessions(owner),
      'a ticket': () => store.findTicket('reset', tokenHash),
      'a password': () => store.findPassword('ann@example.org'),
      'a domain': () => store.findVerifiedDomain('share.example.org'),
      'a creation': () => store.findCreation(tokenHash.slice(16) as CreationId),
      'a look': () => store.findLook(secret.secretId, tokenHash.slice(0, 8)),
      'deletions that are not finished': () => store.listDeletions(10),
      'the first open root': () => store.findFirstOpenRoot(),
      'a secret that was stored since': () => store.findSecret(secret.secretId),
      'its claim': () => store.claim(secret, clientStays),
      'its burn by the recipient': () => store.burnFound(secret, clientStays),
      'its burn by the creator': () => store.burn(id, clientStays),
      'its view': () => store.markViewed(id),
      'its memo': () => store.setMemo(id, null),
      'an answer of its look': () => store.takeAnswer(secret.secretId, tokenHash.slice(0, 8), clientStays),
      'the end of a session': () => store.endSession(owner, 1),
      'a token that is not there': () => store.revokeToken(owner, 1_000),
      'an unlocked account': () => store.unlockAccount(1_000 as AccountId),
    };
    const outcomes = await Promise.all(
      Object.entries(asks).map(async ([what, ask]) => [what, await outcomeOf(ask())]),
    );
    expect(outcomes).toEqual(Object.keys(asks).map((what) => [what, 'unavailable']));
  });

  it('P23: answers again once its address leads to the new primary', async () => {
    left[2].link.pointTo(pair.primary.port);
    const { secretId } = before[2] as StoredSecret;
    await until('an answer', async () => !(await isRefused(left[2].store.findSecret(secretId))));
    expect(await left[2].store.findSecret(secretId)).toBeNull();
    expect((await left[2].store.findToken(token.tokenHash))?.account.lockedAt).toBeNumber();
  });
});
