import { expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSettableClock, newRecord } from '../../../test/stores/conformance/check.ts';
import type { AccountId } from '../../core/account.ts';
import { createRecentRows, hintOf } from './locator.ts';
import { hintIn, hintSpan } from './looks.ts';
import { openSqliteStore } from './store.ts';

it('a hint is the first 47 bits of an id, a non-negative integer that SQLite keeps in 6 bytes', () => {
  expect(hintOf(new Uint8Array(16))).toBe(0);
  expect(hintOf(new Uint8Array(16).fill(255))).toBe(2 ** 47 - 1);
  expect(hintOf(Uint8Array.of(0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07))).toBe(0x010203040506);
  expect(hintOf(Uint8Array.of(0x80, 0, 0, 0, 0, 1))).toBe(1);
});

it('the hint of a look is the first 24 bits of its tag', () => {
  expect(hintIn(Uint8Array.of(1, 2, 3, 4))).toBe(0x010203);
  expect(hintIn(Uint8Array.of(1, 2, 3, 4), 1)).toBe(0x020304);
  expect(hintIn(new Uint8Array(16).fill(255))).toBe(hintSpan - 1);
});

it('P5: finds the last of many rows that another process has stored since the last look', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const open = () => openSqliteStore({ directory, clock: createSettableClock(), ballastBytes: 64 * 1024 });
  try {
    await using reader = await open();
    await using writer = await open();
    // More than one statement takes in.
    const records = Array.from({ length: 1_100 }, () => newRecord(writer.now()));
    await Promise.all(records.map((record) => writer.put(record)));
    const last = records.at(-1);
    expect(last !== undefined && (await reader.findSecret(last.secretId))).not.toBeNull();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

const owner = 9 as AccountId;

it('recent rows are found by either hint and by owner, several to each, until they are all in the indexes', () => {
  const rows = createRecentRows();
  rows.add(1, { secretHint: 100, receiptHint: 200, owner });
  rows.add(2, { secretHint: 100, receiptHint: 201, owner });
  rows.add(2, { secretHint: 100, receiptHint: 201, owner });
  expect(rows.ofSecret(100).toSorted()).toEqual([1, 2]);
  expect(rows.ofReceipt(201)).toEqual([2]);
  expect(rows.ofSecret(200)).toEqual([]);
  expect(rows.ofOwner(owner)).toEqual([2, 1]);
  expect(rows.ofOwner(8 as AccountId)).toEqual([]);
  rows.forget(1);
  expect(rows.ofReceipt(200)).toEqual([1]);
  rows.forget(2);
  expect(rows.ofReceipt(200)).toEqual([]);
  expect(rows.ofOwner(owner)).toEqual([]);
});

it('recent rows of 100,000 puts take no more room than those that wait', () => {
  const rows = createRecentRows();
  for (let position = 1; position <= 100_000; position += 1) {
    rows.add(position, { secretHint: position, receiptHint: -position, owner });
    if (position % 1_000 === 0) rows.forget(position - 40_000);
  }
  expect(rows.ofSecret(10_000)).toEqual([]);
  expect(rows.ofSecret(70_000)).toEqual([70_000]);
  expect(rows.ofReceipt(-100_000)).toEqual([100_000]);
  expect(rows.ofOwner(owner).at(0)).toBe(100_000);
  expect(rows.ofOwner(owner).at(-1)).toBeGreaterThan(40_000);
});
