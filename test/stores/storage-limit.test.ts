/**
 * The embedded store's size limit: once reached, creations are refused and nothing is evicted for them.
 */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../src/core/errors.ts';
import type { CreationId, NewRecord } from '../../src/core/secret.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { ownerIn } from './conformance/account-fixtures.ts';
import { limits } from './conformance/attempt-fixtures.ts';
import {
  clientStays,
  createSettableClock,
  found,
  newRecord,
  putNew,
  ttlSeconds,
} from './conformance/check.ts';
import { answer, stored as answerRow, ask, newAnswer, newRequest } from './conformance/request-fixtures.ts';
import { testBallastBytes } from './subjects.ts';

const maxBytes = 2 * 1024 * 1024;
/** A batch let in below the limit may end above it. */
const oneBatchBytes = 256 * 1024;

let directory = '';
let wallClock = createSettableClock();

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mayfly-'));
  wallClock = createSettableClock();
});

afterEach(() => rm(directory, { recursive: true }));

const open = (limit: number | null = maxBytes) =>
  openSqliteStore({
    directory,
    clock: wallClock,
    ballastBytes: testBallastBytes,
    maxStorageBytes: limit,
  });

const outcomeOf = (deed: Promise<unknown>): Promise<string> =>
  deed.then(
    () => 'done',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );

const largeRecord = (store: SqliteStore, sealedBytes = 10_000): NewRecord =>
  newRecord(store.now(), { sealedSecret: crypto.getRandomValues(new Uint8Array(sealedBytes)) });

/** Stores secrets, `together` at a time, until one is refused. */
async function fillUp(
  stores: readonly [SqliteStore, ...SqliteStore[]],
  together = 8,
  sealedBytes = 10_000,
): Promise<NewRecord[]> {
  const stored: NewRecord[] = [];
  for (let round = 0; round < 1_000; round++) {
    const store = stores[round % stores.length] ?? stores[0];
    const records = Array.from({ length: together }, () => largeRecord(store, sealedBytes));
    const outcomes = await Promise.all(records.map((record) => outcomeOf(store.put(record))));
    stored.push(...records.filter((_, n) => outcomes[n] === 'done'));
    if (outcomes.includes('storage_full')) return stored;
    expect(new Set(outcomes)).toEqual(new Set(['done']));
  }
  throw new Error('the store was never full');
}

describe('a store that has reached its limit', () => {
  it('reserves no creation, and still finds those it has (P21)', async () => {
    await using store = await open();
    const [token] = await store.listTokens(await ownerIn(store));
    const creation = (id: number) => ({
      id: new Uint8Array(16).fill(id) as CreationId,
      tokenId: token?.tokenId ?? 0,
      wrappedSeed: new Uint8Array(83),
      bodyMac: new Uint8Array(32),
    });
    expect(await store.reserveCreation(creation(1))).toBe('reserved');
    await fillUp([store]);
    expect(await outcomeOf(store.reserveCreation(creation(2)))).toBe('storage_full');
    expect(await store.findCreation(creation(1).id)).toMatchObject({ isDone: false });
    await store.releaseCreation(creation(1));
    expect(await store.findCreation(creation(1).id)).toBeNull();
  });

  it('takes no request and no answer, and still ends, discards and finds those it has (P21)', async () => {
    await using store = await open();
    const request = await ask(store, { places: 2 });
    const sent = await answer(store, request);
    await fillUp([store]);
    expect(await outcomeOf(store.putRequest(newRequest(store), null))).toBe('storage_full');
    expect(await outcomeOf(store.putAnswer(newAnswer(store, request)))).toBe('storage_full');
    expect(await store.listAnswers(request.id)).toEqual([answerRow(sent)]);
    expect(await store.discardAnswer(request.id, sent.id)).toBe(true);
    expect(await store.changeRequest(request.id, { close: true }, null)).toBe('changed');
    expect(await store.findRequest(request.id)).toMatchObject({ isEnded: true, answered: 1, taken: 0 });
  });

  it('answers "full" when asked for room, until a sweep frees some (P21 P23)', async () => {
    await using store = await open();
    expect(await outcomeOf(store.assertRoom())).toBe('done');
    await fillUp([store]);
    expect(await outcomeOf(store.assertRoom())).toBe('storage_full');
    for (let life = 0; life < 2; life++) {
      wallClock.advance(ttlSeconds);
      while ((await store.sweep(500)) > 0);
    }
    expect(await outcomeOf(store.assertRoom())).toBe('done');
  });

  it('refuses new secrets, evicts none, and still reveals, burns, counts guesses and keeps sessions (P21)', async () => {
    await using store = await open();
    const stored = await fillUp([store]);
    expect(stored.length).toBeGreaterThan(100);
    const used = await store.usedBytes();
    expect(used).toBeGreaterThanOrEqual(maxBytes);
    expect(used).toBeLessThan(maxBytes + oneBatchBytes);
    expect(await outcomeOf(store.put(newRecord(store.now())))).toBe('storage_full');
    for (const [n, record] of stored.entries()) {
      const secret = await found(store, record.secretId);
      expect(secret.sealedSecret).toEqual(record.sealedSecret);
      const code = { lookTag: new Uint8Array(16), codeTag: new Uint8Array(16) };
      if (n < 5) expect(await store.putCode(record.secretId, code)).toBe(store.now());
      if (n % 2 === 0) expect(await store.claim(secret, clientStays)).toBe('won');
      else expect(await store.burn(record.receiptId, clientStays)).not.toBeNull();
    }
    const guessed = stored[0]?.secretId ?? new Uint8Array(16);
    expect((await store.reserve(guessed as never, new Uint8Array(16), limits)).outcome).toBe('reserved');
    const token = { tokenHash: new Uint8Array(32), name: 'x', wrappedDataKey: new Uint8Array(60) };
    const account = { username: 'jo@example.org', plan: 'basic', createdAt: store.now() } as const;
    const made = store.createAccount(account, {
      ...{ ...token, scopes: [], createdAt: store.now(), expiresAt: null },
    });
    expect(await outcomeOf(made)).toBe('done');
  });

  it('refuses memos too, changes none, and still removes them (P21)', async () => {
    await using store = await open();
    const memoBox = new Uint8Array(304).fill(7);
    const { receiptId } = await putNew(store, { memoBox });
    const stored = await fillUp([store]);
    const used = await store.usedBytes();
    const tries = [receiptId, ...stored.map((each) => each.receiptId)];
    for (const id of tries)
      expect(await outcomeOf(store.setMemo(id, new Uint8Array(2_096).fill(1)))).toBe('storage_full');
    expect(await store.usedBytes()).toBe(used);
    expect((await store.findReceipt(receiptId))?.memoBox).toEqual(memoBox);
    expect(await store.setMemo(receiptId, null)).toBe(true);
    expect((await store.findReceipt(receiptId))?.memoBox).toBeNull();
    for (const [n, record] of stored.entries())
      if (n < 5) expect(await store.claim(await found(store, record.secretId), clientStays)).toBe('won');
  });

  for (const sealedBytes of [400, 10_000]) {
    it(`accepts secrets of ${sealedBytes} bytes again once a sweep has freed the room of expired ones (P21)`, async () => {
      await using store = await open();
      const first = await fillUp([store], 32, sealedBytes);
      wallClock.advance(ttlSeconds);
      // Expired secrets are overwritten in place; their room is freed with the receipts.
      while ((await store.sweep(500)) > 0);
      expect(await outcomeOf(store.put(largeRecord(store)))).toBe('storage_full');
      wallClock.advance(ttlSeconds);
      while ((await store.sweep(500)) > 0);
      expect(await store.usedBytes()).toBeLessThan(maxBytes / 4);
      const second = await fillUp([store], 32, sealedBytes);
      expect(second.length).toBeGreaterThan(0.8 * first.length);
      for (const { secretId } of second) expect(await store.findSecret(secretId)).not.toBeNull();
    });
  }

  it('refuses from the start when it is opened full, and accepts with a higher limit (P21)', async () => {
    {
      await using store = await open();
      await fillUp([store]);
    }
    {
      await using store = await open();
      expect(await outcomeOf(store.put(newRecord(store.now())))).toBe('storage_full');
    }
    await using store = await open(2 * maxBytes);
    await putNew(store);
  });

  it('counts what another process on the same folder has stored (P21)', async () => {
    await using store = await open();
    await using other = await open();
    await fillUp([store, other], 1);
    // Neither checks at every creation, so each may go over by a sixteenth of the limit.
    expect(await store.usedBytes()).toBeLessThan(maxBytes + maxBytes / 8 + oneBatchBytes);
    for (const each of [store, other]) {
      const tries = await Promise.all(
        Array.from({ length: 50 }, () => outcomeOf(each.put(largeRecord(each)))),
      );
      expect(tries).toContain('storage_full');
    }
  });

  it('has no limit where none is set', async () => {
    await using store = await open(null);
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 20 }, () => store.put(largeRecord(store))));
    }
    expect(await store.usedBytes()).toBeGreaterThan(maxBytes);
  });
});
