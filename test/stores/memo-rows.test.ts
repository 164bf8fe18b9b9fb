/**
 * The embedded store keeps memos in rows beside its records, no longer than those, and without a byte of what was
 * removed.
 */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientStays, found, putNew, ttlSeconds } from './conformance/check.ts';
import { useStoreFolder } from './store-folder.ts';

const { current, open, countOf, valuesOf } = useStoreFolder();

/** As many bytes as a sealed memo, all marked with `name`. */
const marked = (name: string): Uint8Array =>
  new Uint8Array(Buffer.from(`<${name}>`.padEnd(16, '.').repeat(19)));

function isInFiles(name: string): boolean {
  const files = readdirSync(current.directory).filter((each) => each !== 'ballast');
  return files.some((each) => readFileSync(join(current.directory, each), 'latin1').includes(`<${name}>`));
}

const count = 200;
const namesOf = (kind: string) => Array.from({ length: count }, (_, n) => `${kind} ${n}`);

describe('the rows of memos', () => {
  it('are absent without a memo', async () => {
    await using store = await open();
    const record = await putNew(store);
    await store.claim(await found(store, record.secretId), clientStays);
    await store.setMemo(record.receiptId, null);
    expect(countOf('memos')).toBe(0);
  });

  it('go with their record, even where the record itself has to wait', async () => {
    await using store = await open();
    for (const name of namesOf('memo')) await putNew(store, { memoBox: marked(name) });
    current.wallClock.advance(2 * ttlSeconds);
    // One record stays live, so rows near it are only overwritten for now.
    await putNew(store);
    while ((await store.sweep(100)) === 100);
    expect(countOf('memos')).toBe(0);
    expect(countOf('records')).toBeGreaterThan(100);
    expect(await store.scrub()).toBe(true);
    expect(namesOf('memo').filter(isInFiles)).toEqual([]);
  });

  it('P10: hold no byte of what was changed or removed, and all of the others', async () => {
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

  it('leave the record itself as it was', async () => {
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
