/**
 * A store that is moved into another: nothing is lost, and nothing opens twice.
 */
import { describe, expect, it } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountId } from '../../src/core/account.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { tableNamed } from '../../src/store/move/tables.ts';
import { backUpStore, restoreStore } from '../../src/store/sqlite/backup.ts';
import { openSqliteSource, openSqliteTarget } from '../../src/store/sqlite/moving.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { accountNamed, deleteWhole, ownerIn, personNamed } from './conformance/account-fixtures.ts';
import {
  clientStays,
  createSettableClock,
  found,
  putNew,
  recentOf,
  startOfTest,
} from './conformance/check.ts';
import { domainOf, newLogo } from './conformance/domain-fixtures.ts';
import { askAgain, lookOf, newTag, opened } from './conformance/look-fixtures.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { contentsOf, fill, moveBetween, runMove } from './move-fixtures.ts';
import { clock, contentsAt, from, pairs, refusalAt, to, usePlaces, watched } from './move-pairs.ts';

const outcomeOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.catch((error: { code?: string }) => error.code ?? error);

describe.each(pairs)('a store that is moved from %s to %s', (...kinds) => {
  usePlaces(...kinds);

  it('P5 P6: holds there all that it held here, with the same ids, states and ciphertext', async () => {
    // As its callers see it, too: a column that is missing from what is moved is in neither of the contents.
    const codesIn = async (store: Store): Promise<unknown[]> => {
      const accounts = await store.listAccounts();
      const receipts = (await Promise.all(accounts.map(({ id }) => recentOf(store, id)))).flat();
      return Promise.all(receipts.map(({ secretId }) => store.listCodes(secretId)));
    };
    const seenIn = async (store: Store): Promise<unknown[]> => [
      await codesIn(store),
      await store.listAccounts(),
      await Promise.all((await store.listAccounts()).map(({ id }) => store.listTokens(id))),
      await Promise.all((await store.listAccounts()).map(({ id }) => store.listDomains(id))),
      await store.listRequests(10, null),
      await Promise.all((await store.listRequests(10, null)).map(({ id }) => store.listAnswers(id))),
    ];
    let seen: unknown[] = [];
    {
      await using store = await from.open();
      await fill(store);
      seen = await seenIn(store);
    }
    const before = await contentsAt(from);
    await runMove(from, to);
    expect(await contentsAt(to)).toEqual(before);
    expect(new Set([...before.keys()].map((key) => key.split(' ')[0])).size).toBe(15);
    await using there = await to.open();
    expect(await seenIn(there)).toEqual(seen);
  });

  it('P1: opens there once, and the store that it came from opens nothing and says why', async () => {
    const store = await from.open();
    const record = await putNew(store);
    const secret = await found(store, record.secretId);
    await runMove(from, to);
    expect(await outcomeOf(store.findSecret(record.secretId))).toBe('unavailable');
    expect(await outcomeOf(store.findReceipt(record.receiptId))).toBe('unavailable');
    expect(await outcomeOf(store.claim(secret, clientStays))).toBe('unavailable');
    expect(await outcomeOf(store.burn(record.receiptId, clientStays))).toBe('unavailable');
    expect(await outcomeOf(putNew(store))).toBe('unavailable');
    await store[Symbol.asyncDispose]();
    expect(await refusalAt(from)).toContain('closed by mayfly migrate-store');
    await using other = await to.open();
    const there = await found(other, record.secretId);
    expect(there).toEqual(secret);
    expect(await other.claim(there, clientStays)).toBe('won');
    expect(await other.claim(there, clientStays)).toBe('gone');
  });

  it('P1: gives the second look there to whom it was given here', async () => {
    const store = await from.open();
    const claimed = await opened(store);
    const look = await lookOf(store, claimed);
    await store[Symbol.asyncDispose]();
    await runMove(from, to);
    await using other = await to.open();
    expect(look).not.toBeNull();
    expect(await lookOf(other, claimed)).toEqual(look);
    expect(await lookOf(other, { ...claimed, tag: newTag() })).toBeNull();
    expect(await askAgain(other, claimed)).toBe('answered');
  });

  it('P10: keeps no sealed value where it came from', async () => {
    {
      await using store = await from.open();
      await fill(store);
    }
    await runMove(from, to);
    const at = tableNamed('records').columns.findIndex(({ name }) => name === 'sealed_secret');
    const left = [...(await contentsAt(from))].filter(([key]) => key.startsWith('records '));
    const sealed = left.map(([, row]) => row[at]).filter((cell) => cell instanceof Uint8Array);
    expect(sealed.flatMap((bytes) => [...bytes]).filter((byte) => byte !== 0)).toEqual([]);
  });

  it('P5 P10: takes the keys of epochs along, also past the end of one, and leaves none', async () => {
    await using store = await from.open();
    const [past, next, last] = await Promise.all(
      [0, 1, 2].map((n) => store.epochFor(store.now() + n * 86_400)),
    );
    if (past === undefined || next === undefined || last === undefined) throw new Error('no keys');
    await runMove(from, to, { isFinishing: false });
    clock.set(next.epoch * 86_400);
    await store.sweep(100);
    const late = await store.epochFor(store.now() + 9 * 86_400);
    await runMove(from, to);
    await using other = await to.open();
    for (const each of [next, last, late])
      expect(Buffer.from((await other.findEpochKey(each.epoch)) ?? []).equals(each.key)).toBe(true);
    expect(await other.epochFor(last.epoch * 86_400)).toEqual(last);
    await other.sweep(100);
    expect(await other.findEpochKey(past.epoch)).toBeNull();
    expect([...(await contentsAt(from)).keys()].filter((key) => key.startsWith('epochs '))).toEqual([]);
  });

  it('P8: has a time there that is not earlier', async () => {
    {
      await using store = await from.open();
      await fill(store);
    }
    clock.jump(-250);
    await runMove(from, to);
    await using store = await to.open();
    expect(store.now()).toBeGreaterThanOrEqual(1_800_000_000);
  });

  it('gives no id there that it has given here', async () => {
    let last = 0 as AccountId;
    {
      await using store = await from.open();
      await accountNamed(store, 'kept@example.org');
      last = (await accountNamed(store, 'gone@example.org')).id;
      await deleteWhole(store, last);
    }
    await runMove(from, to);
    await using store = await to.open();
    expect((await accountNamed(store, 'new@example.org')).id).toBeGreaterThan(last);
  });

  it('is found there by its owner, and its roots are in use there', async () => {
    let owner = 0 as AccountId;
    let receipts: Uint8Array[] = [];
    {
      await using store = await from.open();
      owner = await ownerIn(store);
      for (let n = 0; n < 8; n += 1) receipts = [(await putNew(store, { owner }, 3)).receiptId, ...receipts];
      await store.closeRootsBefore(2);
    }
    await runMove(from, to);
    await using store = await to.open();
    const listed = await store.listReceipts(owner, { limit: 20, after: null });
    expect(listed?.map(({ receiptId }) => receiptId)).toEqual(receipts as never);
    expect(await store.rootKidsInUse()).toEqual([3]);
    expect(await store.findFirstOpenRoot()).toBe(2);
  });
});

/** A name that goes from one account to another. */
async function passOn(store: Store, draw: () => number): Promise<void> {
  const name = 'contested.example.org';
  const owners = [await ownerIn(store, 'a@example.org'), await ownerIn(store, 'b@example.org')] as const;
  for (const owner of owners)
    if ((await store.findDomain(owner, name)) === null) {
      await domainOf(store, owner, name);
      await store.setDomainLogo(owner, name, newLogo());
    }
  const check = (owner: AccountId, state: 'verified' | 'lost') =>
    store.noteDomainCheck(owner, name, { state, finding: null });
  const [first, second] = draw() < 0.5 ? owners : owners.toReversed();
  if (first === undefined || second === undefined) return;
  await check(first, 'lost');
  await check(second, 'verified');
}

/** What happens to secrets and accounts, in an order that the numbers give. */
async function live(store: Store, draw: () => number, older: NewRecord[]): Promise<void> {
  if (draw() < 0.5) await passOn(store, draw);
  const waiting: Awaited<ReturnType<typeof putNew>>[] = [];
  for (let n = 0; n < 3; n += 1) waiting.push(await putNew(store));
  const [one, two, three] = waiting;
  if (one === undefined || two === undefined || three === undefined) return;
  if (draw() < 0.5) await store.claim(await found(store, one.secretId), clientStays);
  if (draw() < 0.5) await store.burn(two.receiptId, clientStays);
  // A code may be copied before its record changes.
  await store.putCode(three.secretId, { lookTag: new Uint8Array(16), codeTag: new Uint8Array(16) });
  if (older.push(three) > 4)
    for (const { receiptId } of older.splice(0, 1)) await store.burn(receiptId, clientStays);
  if (draw() < 0.3) await store.setMemo(three.receiptId, new Uint8Array(300).fill(7));
  if (draw() < 0.3) {
    const { id } = await accountNamed(store, `${draw()}@example.org`);
    const record = await putNew(store, { owner: id });
    if (draw() < 0.5) await deleteWhole(store, id);
    else await store.markViewed(record.receiptId);
  }
  if (draw() < 0.2) {
    const known = await store.findAccount('again@example.org');
    if (known !== null) await deleteWhole(store, known.id);
    else await personNamed(store, 'again@example.org');
  }
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe.each(pairs)('a move from %s to %s while the store serves', (...kinds) => {
  usePlaces(...kinds);

  const seeds = kinds.includes('PostgreSQL') ? [1] : [1, 2, 3];

  it.each(seeds)('P1 P5 P6: misses nothing that changes between its steps (seed %d)', async (seed) => {
    const draw = seeded(seed);
    const older: NewRecord[] = [];
    await using store = await from.open();
    await fill(store);
    let isClosed = false;
    let atClose = new Map();
    let steps = 0;
    await using source = await from.source();
    await using target = await to.target();
    const step = async () => {
      steps += 1;
      if (!isClosed && steps < 60) await live(store, draw, older);
    };
    const spied = watched(
      source,
      (name) => {
        if (name === 'close') isClosed = true;
        return step();
      },
      async (name) => {
        if (name === 'close') atClose = await contentsOf(source);
      },
    );
    await moveBetween(spied, watched(target, step));
    expect(steps).toBeGreaterThan(30);
    expect(await contentsAt(to)).toEqual(atClose);
  });

  it('only copies when it is not to finish: the store serves on, and the other does not', async () => {
    await using store = await from.open();
    await fill(store);
    expect((await runMove(from, to, { isFinishing: false })).outcome).toBe('copied');
    const record = await putNew(store);
    expect(await store.claim(await found(store, record.secretId), clientStays)).toBe('won');
    expect(await refusalAt(to)).toContain('not whole yet');
    expect((await runMove(from, to)).outcome).toBe('moved');
    await using other = await to.open();
    expect((await other.findReceipt(record.receiptId))?.state).toBe('received');
  });
});

describe('a backup that was taken during a move', () => {
  it('P1: is restored as a store of which no move is under way, so that the copy that was begun is never completed by it', async () => {
    const [source, other, copy] = [makeMemoryFolder(), makeMemoryFolder(), makeMemoryFolder()];
    const ended = join(source, 'backup.db');
    const move = async (directory: string, isFinishing: boolean) => {
      await using from = openSqliteSource(directory, createSettableClock());
      await using to = openSqliteTarget(copy);
      return await moveBetween(from, to, { isFinishing });
    };
    try {
      {
        await using store = await openSqliteStore({ directory: source, clock: createSettableClock() });
        await fill(store);
      }
      await move(source, false);
      expect((await backUpStore(source, ended, () => {})).outcome).toBe('done');
      expect((await restoreStore(ended, other, startOfTest, () => {})).outcome).toBe('done');
      await expect(move(other, true)).rejects.toThrow('There is a store in');
    } finally {
      for (const folder of [source, other, copy]) rmSync(folder, { recursive: true, force: true });
    }
  });
});
