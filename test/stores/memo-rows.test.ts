/**
 * What the embedded store keeps of memos beside its records: together with them, no longer than they, and without a byte
 * of what was removed.
 */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientStays, found, putNew, ttlSeconds } from './conformance/check.ts';
import { useStoreFolder } from './store-folder.ts';

const { current, open, countOf, valuesOf } = useStoreFolder();

/** A sealed memo's worth of bytes that name what they are of. */
const marked = (name: string): Uint8Array =>
  new Uint8Array(Buffer.from(`<${name}>`.padEnd(16, '.').repeat(19)));

function isInFiles(name: string): boolean {
  const files = readdirSync(current.directory).filter((each) => each !== 'ballast');
  return files.some((each) => readFileSync(join(current.directory, each), 'latin1').includes(`<${name}>`));
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
    current.wallClock.advance(2 * ttlSeconds);
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
    const row = () => valuesOf('SELECT * FROM records');
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
