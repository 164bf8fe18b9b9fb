/**
 * The second look in the files of the embedded store: an ended one leaves no bytes, its row keeps its size, and it holds no other row
 * up for longer than it lives.
 */
import { Database } from 'bun:sqlite';
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookRow } from '../../src/core/ports/looks.ts';
import type { SqliteStore } from '../../src/store/sqlite/store.ts';
import { announceSeed, createDice } from '../support/run-seed.ts';
import { personNamed } from './conformance/account-fixtures.ts';
import { clientStays, found, putNew, ttlSeconds } from './conformance/check.ts';
import {
  askAgain,
  claimWithLook,
  lookOf,
  newLook,
  newTag,
  type Opened,
} from './conformance/look-fixtures.ts';
import { useStoreFolder } from './store-folder.ts';

const { current, open, valuesOf } = useStoreFolder();

/** Bytes in which every 16-byte run is their mark. */
function marked(what: string, length: number): Uint8Array {
  const mark = createHash('sha256').update(what).digest('hex').slice(0, 16);
  return new Uint8Array(Buffer.from(mark.repeat(Math.ceil(length / 16))).subarray(0, length));
}

/** Everything in the folder except the ballast, which is random. */
function filesAsText(): string {
  const { directory } = current;
  const names = readdirSync(directory).filter((name) => name !== 'ballast');
  return names.map((name) => readFileSync(join(directory, name), 'latin1')).join('\n');
}

const headBytes = lookRow.tagAt + lookRow.tagBytes;

/** A record of this number, claimed with a look in which only the head is not its mark. */
async function openedAs(
  store: SqliteStore,
  n: number,
  length: number,
  owner: number | null = null,
): Promise<Opened> {
  const sealedSecret = new Uint8Array([2, 0, 1, ...marked(`secret ${n}`, length - 3)]);
  const record = await putNew(store, { sealedSecret, owner: owner as never });
  const secret = await found(store, record.secretId);
  const tag = newTag();
  const look = newLook(secret, store.now(), tag);
  look.sealedLook.set(marked(`look ${n}`, length - headBytes), headBytes);
  expect(await store.claim(secret, clientStays, look)).toBe('won');
  return { record, tag, look };
}

/** Which of these texts are in the files. */
const remaining = (what: readonly string[]): string[] => {
  const text = filesAsText();
  return what.filter((each) => text.includes(Buffer.from(marked(each, 16)).toString('latin1')));
};

describe('a second look in the files', () => {
  it('P10: takes the place of the secret, of which no byte is left', async () => {
    await using store = await open();
    for (const [n, length] of [300, 5_000, 20_000].entries()) await openedAs(store, n, length);
    expect(await store.scrub()).toBe(true);
    expect(remaining(['secret 0', 'secret 1', 'secret 2'])).toEqual([]);
    expect(remaining(['look 0', 'look 1', 'look 2'])).toEqual(['look 0', 'look 1', 'look 2']);
  });

  const ends: readonly [string, (store: SqliteStore, opener: Opened, owner: number) => Promise<unknown>][] = [
    ['done', (store, { record, tag }) => store.endLook(record.secretId, tag)],
    ['a burn', (store, { record }) => store.burn(record.receiptId, clientStays)],
    ['the burning of everything', (store) => store.burnAll(null, 100)],
    [
      'its last answer',
      async (store, opener) => {
        for (let n = 0; n < 2; n += 1) expect(await askAgain(store, opener)).toBe('answered');
      },
    ],
    [
      'the deletion of its account',
      async (store, _opener, owner) => {
        await store.deleteAccount(owner as never);
        await store.continueDeletion(owner as never, 100);
      },
    ],
    [
      'the sweep after its minute',
      async (store) => {
        current.wallClock.advance(60);
        expect(await store.sweep(100)).toBe(2);
      },
    ],
    [
      'a time that is set back',
      async (store) => {
        current.wallClock.jump(-ttlSeconds);
        await store.setTime();
      },
    ],
  ];
  it.each(ends)('P10: leaves no byte after %s', async (_what, end) => {
    await using store = await open();
    const { account } = await personNamed(store, 'ann@example.org');
    const openers = [await openedAs(store, 1, 300, account.id), await openedAs(store, 2, 20_000, account.id)];
    expect(await store.scrub()).toBe(true);
    expect(remaining(['look 1', 'look 2'])).toHaveLength(2);
    for (const opener of openers) {
      if ((await lookOf(store, opener)) !== null) await end(store, opener, account.id);
      expect(await lookOf(store, opener)).toBeNull();
    }
    expect(await store.scrub()).toBe(true);
    expect(remaining(['look 1', 'look 2', 'secret 1', 'secret 2'])).toEqual([]);
  });

  const seed = announceSeed('looks in the files');
  it('P10: leaves none after any order of claims, answers, ends and sweeps, and its row keeps its size', async () => {
    await using store = await open();
    const dice = createDice(seed);
    const openers: (Opened & { readonly n: number; readonly length: number })[] = [];
    for (let n = 0; n < 500; n += 1) {
      const length = dice(20) === 0 ? 9_000 : 64 + dice(1_200);
      openers.push({ n, length, ...(await openedAs(store, n, length)) });
      const chosen = openers[dice(openers.length)];
      if (chosen === undefined) continue;
      const deed = dice(6);
      if (deed < 3) await askAgain(store, chosen);
      if (deed === 3) await store.endLook(chosen.record.secretId, chosen.tag);
      if (deed === 4) await store.burn(chosen.record.receiptId, clientStays);
      if (dice(5) === 0) current.wallClock.advance(1 + dice(20));
      if (n % 40 === 0) await store.sweep(200);
    }
    await store.sweep(1_000);
    expect(await store.scrub()).toBe(true);
    const alive: string[] = [];
    for (const each of openers) if ((await lookOf(store, each)) !== null) alive.push(`look ${each.n}`);
    expect(alive.length).toBeGreaterThan(3);
    expect(alive.length).toBeLessThan(200);
    expect(remaining(openers.map(({ n }) => `look ${n}`))).toEqual(alive);
    expect(remaining(openers.map(({ n }) => `secret ${n}`))).toEqual([]);
    const lengths = valuesOf('SELECT length(sealed_secret) FROM records ORDER BY position').flat();
    expect(lengths).toEqual(openers.map(({ length }) => length));
    current.wallClock.advance(60);
    while ((await store.sweep(500)) === 500);
    expect(await store.scrub()).toBe(true);
    expect(remaining(openers.map(({ n }) => `look ${n}`))).toEqual([]);
  });

  it('is counted in its one byte, and ends in zeros', async () => {
    await using store = await open();
    const opener = await openedAs(store, 1, 9_000);
    const bytes = () => valuesOf('SELECT sealed_secret FROM records')[0]?.[0] as Uint8Array;
    expect(bytes()).toEqual(opener.look.sealedLook);
    await askAgain(store, opener);
    const once = new Uint8Array(opener.look.sealedLook);
    once[lookRow.answersAt] = 1;
    expect(bytes()).toEqual(once);
    await askAgain(store, opener);
    expect(bytes()).toEqual(new Uint8Array(9_000));
  });

  it('keeps a dead receipt beside it from being deleted, as a waiting secret does, and only while it lives', async () => {
    const { wallClock } = current;
    await using store = await open();
    const dead = await putNew(store, { expiresAt: store.now() + 10, receiptExpiresAt: store.now() + 40 });
    const counted = () => valuesOf('SELECT position FROM records ORDER BY position').flat();
    wallClock.advance(20);
    const opener = await openedAs(store, 2, 300);
    const read = await putNew(store);
    expect(await store.claim(await found(store, read.secretId), clientStays)).toBe('won');
    wallClock.advance(20);
    await store.sweep(100);
    expect(counted()).toEqual([1, 2, 3]);
    expect(await store.findReceipt(dead.receiptId)).toBeNull();
    expect(await lookOf(store, opener)).not.toBeNull();
    wallClock.advance(60 + 60);
    await store.sweep(100);
    await store.sweep(100);
    expect(counted()).toEqual([2, 3]);
  });

  it('P17: is found by bits of its tag beside it, so that another’s nonce need not look at its bytes', async () => {
    await using store = await open();
    const opener = await openedAs(store, 1, 300);
    const [tagged, created] = [valuesOf('SELECT delivery_at FROM records')[0]?.[0], opener.record.createdAt];
    expect(Number(tagged) % 2 ** 24).toBe(Buffer.from(opener.tag).readUIntBE(0, 3));
    // As wide as the time that was there: see 001-records.sql.
    expect(Math.floor(Number(tagged) / 2 ** 24)).toBe(Math.floor(created / 2 ** 24));
    using db = new Database(join(current.directory, 'mayfly.db'), { readwrite: true });
    db.run('UPDATE records SET delivery_at = delivery_at + 1');
    expect(await lookOf(store, opener)).toBeNull();
    expect(await askAgain(store, opener)).toBe('gone');
    await store.endLook(opener.record.secretId, opener.tag);
    db.run('UPDATE records SET delivery_at = delivery_at - 1');
    expect(await lookOf(store, opener)).not.toBeNull();
  });

  it('leaves what became of the mail as it was', async () => {
    await using store = await open();
    for (const deliveryStaleAt of [null, store.now() + 60]) {
      const record = await putNew(store, { deliveryStaleAt });
      const before = await store.findReceipt(record.receiptId);
      await claimWithLook(store, record);
      expect((await store.findReceipt(record.receiptId))?.delivery).toEqual(before?.delivery ?? null);
    }
  });

  it('is found through the row’s own number: no index leads to its sealed bytes', async () => {
    await using store = await open();
    await openedAs(store, 1, 300);
    using db = new Database(join(current.directory, 'mayfly.db'), { readwrite: true });
    const indexed = db
      .query("SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'records'")
      .values();
    expect(JSON.stringify(indexed)).not.toContain('sealed_secret');
  });
});
