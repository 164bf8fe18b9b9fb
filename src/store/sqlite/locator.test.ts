import { expect, it } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSettableClock, newRecord } from '../../../test/stores/conformance/check.ts';
import { openSqliteStore } from './store.ts';

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
