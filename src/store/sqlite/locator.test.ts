import { expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSettableClock, newRecord } from '../../../test/stores/conformance/check.ts';
import { hintOf } from './locator.ts';
import { openSqliteStore } from './store.ts';

it('a hint is the first 47 bits of an id, a non-negative integer that SQLite keeps in 6 bytes', () => {
  expect(hintOf(new Uint8Array(16))).toBe(0);
  expect(hintOf(new Uint8Array(16).fill(255))).toBe(2 ** 47 - 1);
  expect(hintOf(Uint8Array.of(0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07))).toBe(0x010203040506);
  expect(hintOf(Uint8Array.of(0x80, 0, 0, 0, 0, 1))).toBe(1);
});

it('P5: finds the last of many rows that another process has stored since the last look', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const open = () => openSqliteStore({ directory, clock: createSettableClock(), ballastBytes: 64 * 1024 });
  try {
    await using reader = await open();
    await using writer = await open();
    // More than are taken in by one statement.
    const records = Array.from({ length: 1_100 }, () => newRecord(writer.now()));
    await Promise.all(records.map((record) => writer.put(record)));
    const last = records.at(-1);
    expect(last !== undefined && (await reader.findSecret(last.secretId))).not.toBeNull();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
