/**
 * What a sweep does to single rows: which it erases in place, which it deletes at once, and whose index entries go.
 */
import { describe, expect, it } from 'bun:test';
import { readFileSync } from 'node:fs';
import { newRecord } from '../../../test/stores/conformance/check.ts';
import { useSqlite } from '../../../test/support/sqlite-folder.ts';
import type { NewRecord } from '../../core/secret.ts';
import { createClaimWrites } from './claims.ts';
import { IndexMerge } from './index-merge.ts';
import { createLocator } from './locator.ts';
import { createRootUses } from './roots.ts';
import { createSecretWrites } from './secrets.ts';
import { createSweep } from './sweep.ts';

const start = 1_800_000_000;
const boxes = ['sealedSecret', 'detailsBox', 'recentBox'] as const;

const current = useSqlite();

/** Stores the records at positions from 1 on, and returns the statements that stored them. */
function putAll(records: readonly NewRecord[]) {
  const roots = createRootUses(current.db);
  const { put } = createSecretWrites(current.db, roots);
  for (const record of records) put(record);
  return createClaimWrites(current.db, roots);
}

/** A record that lives for `seconds`; its receipt lives twice as long. */
const living = (seconds: number, changes: Partial<NewRecord> = {}) =>
  newRecord(start, { expiresAt: start + seconds, receiptExpiresAt: start + 2 * seconds, ...changes });

const positions = () =>
  current.db
    .query<{ position: number }, []>('SELECT position FROM records ORDER BY position')
    .all()
    .map((row) => row.position);

const markOf = (box: string): string => `${box} in the clear.`;
const marked = (box: string) => new Uint8Array(Buffer.from(markOf(box).repeat(4)));

/** The boxes whose bytes are still in the file. */
function boxesInFile(): string[] {
  current.db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  const text = readFileSync(current.database, 'latin1');
  return boxes.filter((box) => text.includes(markOf(box)));
}

describe('a dead receipt beside a living secret', () => {
  const dying = () => living(100, Object.fromEntries(boxes.map((box) => [box, marked(box)])));

  it('P10: keeps none of its boxes, whether or not a sweep came between its secret’s end and its own', () => {
    for (const sweepsBefore of [[], [start + 100]]) {
      putAll([dying(), living(1_000)]);
      expect(boxesInFile()).toEqual([...boxes]);
      const sweep = createSweep(current.db);
      for (const now of [...sweepsBefore, start + 200]) sweep(now, 10);
      expect(positions()).toEqual([1, 2]);
      expect(boxesInFile()).toEqual([]);
      current.db.run('DELETE FROM records');
    }
  });

  it('P10: keeps the boxes of the receipt until the receipt ends', () => {
    putAll([dying(), living(1_000)]);
    createSweep(current.db)(start + 199, 10);
    expect(boxesInFile()).toEqual(['detailsBox', 'recentBox']);
  });

  it('has no box where it had none', () => {
    putAll([living(100), living(1_000)]);
    createSweep(current.db)(start + 200, 10);
    const row = current.db.query('SELECT details_box, recent_box FROM records WHERE position = 1').get();
    expect(row).toEqual({ details_box: null, recent_box: null });
  });

  it('is deleted when that secret has ended and been erased', () => {
    putAll([living(100), living(1_000), living(5_000)]);
    const sweep = createSweep(current.db, 1);
    sweep(start + 200, 10);
    expect(positions()).toEqual([1, 2, 3]);
    sweep(start + 1_000, 10);
    sweep(start + 1_060, 10);
    expect(positions()).toEqual([2, 3]);
  });
});

describe('a dead receipt that no sealed bytes are near', () => {
  it('is deleted at once among secrets that were read, burned, or erased at their end', () => {
    const [read, burned, erased] = [living(1_000), living(1_000), living(150)];
    const writes = putAll([read, living(100), burned, living(100), erased, living(5_000)]);
    writes.claim(start, { position: 1, secretId: read.secretId, rowVersion: 1 });
    writes.burn(start, { position: 3, id: burned.receiptId });
    const sweep = createSweep(current.db, 1);
    sweep(start + 200, 10);
    expect(positions()).toEqual([1, 3, 5, 6]);
  });

  it('stays while it is the newest, so that its position is given to no other', () => {
    putAll([living(100), living(100)]);
    const sweep = createSweep(current.db);
    for (const now of [start + 100, start + 200]) sweep(now, 10);
    expect(positions()).toEqual([2]);
    putAll([living(1)]);
    expect(positions()).toEqual([2, 3]);
  });
});

describe('the index entries of a row that is deleted', () => {
  it('P5: are removed without those of another row with the same hint', () => {
    const [first, second, last] = [living(100), living(50_000), living(50_000)];
    // The ids differ in a byte that is not part of the hint.
    const twin = {
      ...second,
      secretId: first.secretId.slice(),
      receiptId: first.receiptId.slice(),
    } as NewRecord;
    for (const id of [twin.secretId, twin.receiptId]) id[15] = (id[15] ?? 0) ^ 1;
    putAll([first, twin, last]);
    new IndexMerge(current.db).finish();
    createSweep(current.db, 0)(start + 200, 10);
    expect(positions()).toEqual([2, 3]);
    for (const kind of ['secret', 'receipt'])
      expect(current.db.query(`SELECT position FROM ${kind}_index ORDER BY position`).values()).toEqual([
        [2],
        [3],
      ]);
    const locator = createLocator(current.db);
    expect([locator.ofSecret(twin.secretId), locator.ofReceipt(twin.receiptId)]).toEqual([2, 2]);
    expect([locator.ofSecret(first.secretId), locator.ofReceipt(first.receiptId)]).toEqual([null, null]);
  });
});
