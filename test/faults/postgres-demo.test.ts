/** The demo of PostgreSQL shows what it promises to show, and leaves nothing behind. */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { makeDataDir, runProduct } from '../support/started-server.ts';

test('P1, P5: npm run demo:postgres kills a primary under load, prints a ledger without fault, ends with 0 and leaves no file', async () => {
  const folder = await makeDataDir();
  try {
    const args = ['scripts/demo-postgres.ts', '--kills', '1'];
    const { code, stdout, stderr } = await runProduct(args, { TMPDIR: folder }, 90_000);
    expect([code, stderr]).toEqual([0, '']);
    const told = [
      /a synchronous standby on port \d+/,
      /Kill 1 of 1/,
      /secrets were acknowledged/,
      / 0 double/,
      / 0 lost/,
    ];
    const places = told.map((words) => stdout.search(words));
    expect(places[0]).toBeGreaterThan(0);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
