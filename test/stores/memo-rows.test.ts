/**
 * What the embedded store keeps of memos beside its records: together with them, no longer than they, and without a byte
 * of what was removed.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { clientStays, createSettableClock, found, putNew, ttlSeconds } from './conformance/check.ts';
import { testBallastBytes } from './subjects.ts';

let directory = '';
let wallClock = createSettableClock();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  wallClock = createSettableClock();
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () => openSqliteStore({ directory, clock: wallClock, ballastBytes: testBallastBytes });

/** How many rows the query finds, in the files as they are. */
function countOf(what: string): number {
  const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
  const row = db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${what}`).get();
  db.close();
  return row?.n ?? 0;
}

/** A sealed memo's worth of bytes that name what they are of. */
const marked = (name: string): Uint8Array =>
  new Uint8Array(Buffer.from(`<${name}>`.padEnd(16, '.').repeat(19)));

function isInFiles(name: string): boolean {
  const files = readdirSync(directory).filter((each) => each !== 'ballast');
  return files.some((each) => readFileSync(join(directory, each), 'latin1').includes(`<${name}>`));
}

const count = 200;
const namesOf = (kind: string) => Array.from({ length: count }, (_, n) => `${kind} ${n}`);

describe('what is kept of a memo', () => {
  it('is nothing where there is none', async () => {
    await using store = await open();
    const record = await putNew(store);
    await store.claim(await found(store, record.secretId), clientStays);
    await store.setMemo(record.receiptId, null);
    expect(countOf('memos')).toBe(0);
  });

  it('goes with its record, also where the record itself has to wait', async () => {
    await using store = await open();
    for (const name of namesOf('memo')) await putNew(store, { memoBox: marked(name) });
    wallClock.advance(2 * ttlSeconds);
    // One lives on, so that rows near it wait and are only overwritten.
    await putNew(store);
    while ((await store.sweep(100)) === 100);
    expect(countOf('memos')).toBe(0);
    expect(countOf('records')).toBeGreaterThan(100);
    expect(await store.scrub()).toBe(true);
    expect(namesOf('memo').filter(isInFiles)).toEqual([]);
  });

  it('P10: is no byte of what was changed or removed, and all of the others', async () => {
    await using store = await open();
    const records = await Promise.all(
      namesOf('first').map((name) => putNew(store, { memoBox: marked(name) })),
    );
    expect(await store.scrub()).toBe(true);
    expect(namesOf('first').filter(isInFiles)).toHaveLength(count);
    for (const [n, { receiptId }] of records.entries()) {
      if (n % 3 === 0) await store.setMemo(receiptId, null);
      if (n % 3 === 1) await store.setMemo(receiptId, marked(`second ${n}`));
    }
    expect(await store.scrub()).toBe(true);
    expect(namesOf('first').filter(isInFiles)).toEqual(namesOf('first').filter((_, n) => n % 3 === 2));
    expect(namesOf('second').filter(isInFiles)).toEqual(namesOf('second').filter((_, n) => n % 3 === 1));
  });

  it('leaves the record itself as it was', async () => {
    await using store = await open();
    const { receiptId } = await putNew(store);
    const row = () => {
      const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
      const values = db.query('SELECT * FROM records').values();
      db.close();
      return values;
    };
    const before = row();
    for (const memoBox of [marked('one'), null]) {
      await store.setMemo(receiptId, memoBox);
      expect(row()).toEqual(before);
    }
  });
});

describe('several openings of one folder', () => {
  it('tell the memo that the other has set', async () => {
    await using one = await open();
    await using other = await open();
    const { receiptId } = await putNew(one, { memoBox: marked('one') });
    expect(await other.setMemo(receiptId, marked('other'))).toBe(true);
    expect((await one.findReceipt(receiptId))?.memoBox).toEqual(marked('other'));
  });
});
