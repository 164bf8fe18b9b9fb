/**
 * A batch as one transaction: what fails by itself, what fails the whole batch, and that the index grows with the
 * batches.
 */

import { beforeEach, describe, expect, it } from 'bun:test';
import { newRecord } from '../../../test/stores/conformance/check.ts';
import { batchTimeAt } from '../../../test/support/clocks.ts';
import { useSqlite } from '../../../test/support/sqlite-folder.ts';
import type { Ask } from './decisions.ts';
import { createWrites, transact, type Writes } from './engine.ts';
import { FilesMoved } from './files.ts';
import { IndexMerge } from './index-merge.ts';

const now = 1_800_000_000;
const current = useSqlite();
let writes: Writes;

beforeEach(() => {
  writes = createWrites(current.db);
});

const keepTime: Ask = { name: 'keepTime', args: [] };
const puts = (count: number): Ask[] =>
  Array.from({ length: count }, () => ({ name: 'put', args: [newRecord(now)] }));
const take = (on: Writes, asks: readonly Ask[], isStore = true) =>
  transact(on, { time: batchTimeAt(now), asks, bytes: 0 }, true, () => isStore).answers;
const countOf = (what: string): number =>
  writes.db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${what}`).get()?.n ?? -1;

/** Writes of which each `keepTime` does this. */
const keepingTime = (deed: () => void): Writes => ({
  ...writes,
  decide: (...args) => (args[1].name === 'keepTime' ? deed() : writes.decide(...args)),
});

describe('a decision that throws', () => {
  it('P2: fails its whole batch, of which nothing stays, unless a constraint has refused it', () => {
    for (const fault of [
      new TypeError('a fault of the program'),
      Object.assign(new Error('the disk is gone'), { code: 'SQLITE_IOERR_WRITE' }),
    ]) {
      const failing = keepingTime(() => {
        throw fault;
      });
      expect(() => take(failing, [...puts(1), keepTime])).toThrow(fault);
      expect([writes.db.inTransaction, countOf('records')]).toEqual([false, 0]);
    }
  });

  it('is refused alone when a constraint has refused it, and undone', () => {
    const refusing = keepingTime(() => {
      for (let n = 0; n < 2; n += 1) writes.db.run('INSERT INTO root_checks VALUES (7, zeroblob(1))');
    });
    const [put] = puts(1) as [Ask];
    // SQLite takes it for NULL: the first is one statement, which undoes itself, the other has stored its row before.
    const without = ['createdAt', 'noticeDueAt'].map((name) => ({
      name: 'put' as const,
      args: [newRecord(now, { [name]: Number.NaN })],
    }));
    const refusedFor = (what: string) => ({ refused: expect.stringContaining(what) });
    expect(take(refusing, [...without, put, keepTime])).toEqual([
      refusedFor('created_at'),
      refusedFor('due_at'),
      { answer: 1 },
      refusedFor('UNIQUE'),
    ]);
    expect(['records', 'root_checks', 'root_uses'].map(countOf)).toEqual([1, 0, 1]);
  });
});

it('P5: a store that was closed by a move decides nothing', () => {
  expect(() => take(writes, puts(1), false)).toThrow(FilesMoved);
  expect([writes.db.inTransaction, countOf('records')]).toEqual([false, 0]);
});

describe('batches of new rows', () => {
  const merging = (perPut = 8): Writes => ({
    ...writes,
    merge: new IndexMerge(writes.db, { mergeRows: 8, perPut, leastPerBatch: 3 }),
  });

  it('say where the rows are, one after the other', () => {
    const positions = [3, 1, 5].map((rows) =>
      take(writes, puts(rows)).map((each) => 'answer' in each && each.answer),
    );
    expect(positions).toEqual([[1, 2, 3], [4], [5, 6, 7, 8, 9]]);
  });

  it.each([
    ['in two batches', 8, 120, null],
    ['in several, while rows arrive', 2, 60, null],
    ['also where another process holds the lock before each', 2, 60, { step: 'begin', every: 4 }],
    ['also where some of them are rolled back', 8, 60, { step: 'commit', every: 12 }],
  ])('bring the rows before them into the index %s, and say how far', (_how, perPut, least, fault) => {
    const on = merging(perPut);
    const fail = () => {
      throw new Error('not now');
    };
    let upto = 0;
    for (let stored = 4; stored <= 160; stored += 4) {
      if (fault !== null && stored % fault.every === 0)
        expect(() => take({ ...on, [fault.step]: fail }, puts(4))).toThrow('not now');
      take(on, puts(4));
      if (on.merge.upto() === upto) continue;
      expect([on.merge.upto() > upto, on.merge.upto() <= stored]).toEqual([true, true]);
      upto = on.merge.upto();
      expect([countOf('secret_index'), countOf('receipt_index')]).toEqual([upto, upto]);
    }
    expect(upto).toBeGreaterThanOrEqual(least);
  });

  it('bring nothing into it for what stores no row', () => {
    const on = merging();
    take(on, puts(100));
    const before = on.merge.upto();
    for (let n = 0; n < 40; n += 1) take(on, [keepTime]);
    expect(on.merge.upto()).toBe(before);
  });
});
