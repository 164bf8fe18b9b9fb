/**
 * Account deletion in the embedded store: no byte of the account's data is left in the files, and the deletion and a
 * claim through another handle on the folder exclude each other.
 */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId } from '../../src/core/account.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import {
  accountNamed,
  deleteWhole,
  logIn,
  newPassword,
  newSession,
  newTicket,
  newToken,
  noTicketLimits,
} from './conformance/account-fixtures.ts';
import { clientStays, createSettableClock, found, putNew, recentOf } from './conformance/check.ts';
import { testBallastBytes } from './subjects.ts';

const wallClock = createSettableClock();
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () => openSqliteStore({ directory, clock: wallClock, ballastBytes: testBallastBytes });

/** Bytes in which every 16-byte run is a mark of `name`. */
const marked = (name: string, length: number): Uint8Array => {
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return new Uint8Array(Buffer.from(mark.repeat(Math.ceil(length / 16))).subarray(0, length));
};

/** The `names` whose marked bytes are in the files, leaving out the ballast, which is random. */
function remainsAmong(names: readonly string[]): string[] {
  const files = readdirSync(directory).filter((name) => name !== 'ballast');
  const text = files.map((name) => readFileSync(join(directory, name), 'latin1')).join('\n');
  return names.filter((name) => text.includes(Buffer.from(marked(name, 16)).toString('latin1')));
}

const parts = ['sealed', 'recent', 'memo'] as const;

/** Secrets whose sealed bytes and boxes are marked `<part> <name> <n>`, with a plain details box. */
async function putMarked(store: Store, owner: AccountId, name: string, count: number) {
  const puts = Array.from({ length: count }, (_, n) =>
    putNew(store, {
      owner,
      sealedSecret: marked(`sealed ${name} ${n}`, 200 + 37 * (n % 40)),
      recentBox: marked(`recent ${name} ${n}`, 120),
      memoBox: marked(`memo ${name} ${n}`, 304),
      detailsBox: new Uint8Array(60).fill(1),
    }),
  );
  return Promise.all(puts);
}

const marksOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => parts.map((part) => `${part} ${name} ${n}`)).flat();

const count = 300;

/** A password, a token and a session of the account, each with its data key marked. */
async function fillAccount(store: Store, name: string): Promise<AccountId> {
  const username = `${name}@example.org`;
  const token = { ...newToken(), wrappedDataKey: marked(`token ${name}`, 76) };
  const account = await accountNamed(store, username, token);
  const password = { ...newPassword(), wrappedDataKey: marked(`password ${name}`, 76) };
  const ticket = newTicket('reset', username);
  await store.addTicket(ticket, noTicketLimits);
  await store.redeemReset(ticket.ticketHash, password, 'keep');
  const session = { ...newSession(), wrappedDataKey: marked(`session ${name}`, 76) };
  await logIn(store, { account, password }, session);
  await store.addTicket(
    { ...newTicket('reset', username), ticketHash: marked(`ticket ${name}`, 32) },
    noTicketLimits,
  );
  return account.id;
}

const accountMarksOf = (name: string): string[] =>
  ['token', 'password', 'session', 'ticket'].map((kind) => `${kind} ${name}`);

describe('the end of an account in the embedded store', () => {
  it('P10: leaves no byte of its secrets, boxes and keys in the files after a scrub, and all of others’', async () => {
    await using store = await open();
    const [ann, bob] = [await fillAccount(store, 'ann'), await fillAccount(store, 'bob')];
    // Interleaved, so that erased data lies beside data that stays.
    const [records] = await Promise.all([
      putMarked(store, ann, 'ann', count),
      putMarked(store, bob, 'bob', count),
    ]);
    const [own, foreign] = [
      [...marksOf('ann', count), ...accountMarksOf('ann')],
      [...marksOf('bob', count), ...accountMarksOf('bob')],
    ];
    expect(await store.scrub()).toBe(true);
    expect(remainsAmong(own)).toEqual(own);
    for (const { secretId } of records.slice(0, 10))
      await store.claim(await found(store, secretId), clientStays);
    expect(await deleteWhole(store, ann)).toBe(count - 10);
    expect(await store.scrub()).toBe(true);
    expect(remainsAmong(own)).toEqual([]);
    expect(remainsAmong(foreign)).toEqual(foreign);
    // Apart from what is erased, the receipts are unchanged.
    const receipts = await Promise.all(records.map(({ receiptId }) => store.findReceipt(receiptId)));
    expect(new Set(receipts.map((each) => each?.detailsBox?.toHex()))).toEqual(new Set(['01'.repeat(60)]));
  });

  it('P10: leaves recent boxes and memos, as the scan above would notice, when the secrets are only burned', async () => {
    await using store = await open();
    const ann = await fillAccount(store, 'ann');
    await putMarked(store, ann, 'ann', count);
    for (const { receiptId } of await recentOf(store, ann, count)) await store.burn(receiptId, clientStays);
    expect(await store.scrub()).toBe(true);
    const left = marksOf('ann', count).filter((name) => /^(recent|memo) /.test(name));
    expect(remainsAmong(marksOf('ann', count))).toEqual(left);
    expect(remainsAmong(accountMarksOf('ann'))).toEqual(accountMarksOf('ann'));
  });

  it('P7: and claims through another opening of the folder exclude each other', async () => {
    await using one = await open();
    await using other = await open();
    const { id } = await accountNamed(one, 'ann@example.org');
    const records = await Promise.all(Array.from({ length: 60 }, () => putNew(one, { owner: id })));
    const secrets = await Promise.all(records.map(({ secretId }) => found(one, secretId)));
    const claims: Promise<string>[] = [];
    let deletion: Promise<number | null> | null = null;
    // In sequence, so that the deletion falls in between.
    for (const [n, secret] of secrets.entries()) {
      if (n === 20) deletion = deleteWhole(other, id);
      claims.push(one.claim(secret, clientStays));
      if (n % 10 === 0) await claims[n];
    }
    const won = (await Promise.all(claims)).filter((each) => each === 'won').length;
    expect(won + ((await deletion) ?? 0)).toBe(records.length);
    expect(won).toBeGreaterThanOrEqual(11);
    const receipts = await Promise.all(records.map(({ receiptId }) => one.findReceipt(receiptId)));
    expect(receipts.filter((each) => each?.state === 'received')).toHaveLength(won);
    expect(receipts.filter((each) => each?.state === 'burned')).toHaveLength(records.length - won);
    expect(await one.findAccountById(id)).toBeNull();
  });
});
