/**
 * A batch as one transaction: what fails by itself, what fails the whole batch, and that the index grows with the
 * batches.
 */

import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRecord } from '../../../test/stores/conformance/check.ts';
import { batchTimeAt } from '../../../test/support/clocks.ts';
import type { NewRecord } from '../../core/secret.ts';
import { migrate, openConnection, writerSettings } from './database.ts';
import { openWritingConnection, rollBack, transact, type WritingConnection } from './engine.ts';
import { prepareFolder } from './files.ts';
import { FrameSink } from './frames.ts';
import { IndexMerge } from './index-merge.ts';
import { type Batch, frameOutcome } from './decisions.ts';

const now = 1_800_000_000;
let directory = '';
let connection: WritingConnection;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const { database } = prepareFolder(directory);
  const migrating = openConnection(database, writerSettings);
  migrate(migrating);
  migrating.close();
  connection = openWritingConnection(database, writerSettings, 1_000_000);
});

afterEach(() => {
  connection.db.close();
  rmSync(directory, { recursive: true });
});

function batchOf(records: readonly NewRecord[], asks: Batch['asks'] = []): Batch {
  const sink = new FrameSink();
  for (const record of records) sink.put(record);
  return { time: batchTimeAt(now), frames: sink.take(), frameCount: records.length, asks };
}

const keepTime = { name: 'keepTime', args: [] } as const;
const countOf = (what: string): number =>
  connection.db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${what}`).get()?.n ?? -1;

/** A connection on which every decision throws `error`. */
const failing = (error: unknown): WritingConnection => ({
  ...connection,
  decide: () => {
    throw error;
  },
});

describe('a decision that throws', () => {
  it('P2: fails its whole batch, of which nothing stays, unless a constraint has refused it', () => {
    for (const fault of [
      new TypeError('a fault of the program'),
      Object.assign(new Error('the disk is gone'), { code: 'SQLITE_IOERR_WRITE' }),
    ]) {
      expect(() => transact(failing(fault), batchOf([newRecord(now)], [keepTime]), true)).toThrow(fault);
      rollBack(connection);
      expect([connection.db.inTransaction, countOf('records')]).toEqual([false, 0]);
    }
  });

  it('is refused alone when a constraint has refused it, and undone', () => {
    const refusing: WritingConnection = {
      ...connection,
      decide() {
        connection.db.run('INSERT INTO root_checks VALUES (7, zeroblob(1))');
        connection.db.run('INSERT INTO root_checks VALUES (7, zeroblob(1))');
      },
    };
    const { frameOutcomes, answers } = transact(refusing, batchOf([newRecord(now)], [keepTime]), true);
    expect([...frameOutcomes]).toEqual([frameOutcome.done]);
    expect(answers).toEqual([{ refused: expect.stringContaining('UNIQUE') }]);
    expect([countOf('records'), countOf('root_checks')]).toEqual([1, 0]);
  });
});

describe('batches of new rows', () => {
  const merging = (perPut = 8): WritingConnection => ({
    ...connection,
    merge: new IndexMerge(connection.db, { mergeRows: 8, perPut, leastPerBatch: 3 }),
  });
  const put = (on: WritingConnection, rows: number) =>
    transact(on, batchOf(Array.from({ length: rows }, () => newRecord(now))), true);

  it('say where the rows are, one after the other', () => {
    const positions = [3, 1, 5].map((rows) => put(connection, rows).firstPosition);
    expect(positions).toEqual([1, 4, 5]);
    expect(transact(connection, batchOf([], [keepTime]), true).firstPosition).toBe(0);
  });

  it.each([
    ['in two batches', 8, 120],
    ['in several, while rows arrive', 2, 60],
  ])('bring the rows before them into the index %s, and say how far', (_how, perPut, least) => {
    const on = merging(perPut);
    let upto = 0;
    for (let stored = 4; stored <= 160; stored += 4) {
      const { indexedUpto } = put(on, 4);
      if (indexedUpto === upto) continue;
      expect([indexedUpto > upto, indexedUpto <= stored]).toEqual([true, true]);
      upto = indexedUpto;
      expect([countOf('secret_index'), countOf('receipt_index')]).toEqual([upto, upto]);
    }
    expect(upto).toBeGreaterThanOrEqual(least);
  });

  it('bring nothing into it for what stores no row', () => {
    const on = merging();
    const before = put(on, 100).indexedUpto;
    for (let n = 0; n < 40; n += 1) transact(on, batchOf([], [keepTime]), true);
    expect(on.merge.upto()).toBe(before);
  });
});
