/** The PostgreSQL store as it was before it had its own schema (test/upgrade/README.md). Its errors are told by their codes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { openPostgresStore } from '../../src/store/postgres/store.ts';

type Open = typeof openPostgresStore;

export async function loadEarlierStore(): Promise<Open> {
  const packed = readFileSync(join(import.meta.dir, '../upgrade/postgres-store-6.js.gz'));
  const driver = fileURLToPath(import.meta.resolve('pg'));
  const text = gunzipSync(packed)
    .toString()
    .replaceAll('from"pg"', `from${JSON.stringify(driver)}`);
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-earlier-'));
  try {
    const file = join(folder, 'store.js');
    writeFileSync(file, text);
    return (await import(file)).openPostgresStore as Open;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
