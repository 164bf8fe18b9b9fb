/** The demo of regions shows what it promises to show, and leaves nothing behind. */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { makeDataDir, runProduct } from '../support/started-server.ts';

test('npm run demo:regions -- --once shows, in this order, what a router does, ends with 0 and leaves no file', async () => {
  const folder = await makeDataDir();
  try {
    const args = ['scripts/demo-regions.ts', '--once'];
    const { code, stdout, stderr } = await runProduct(args, { TMPDIR: folder }, 90_000);
    expect([code, stderr]).toEqual([0, '']);
    const told = [
      /made in us, and its link says so: http:\/\/localhost:\d+\/secret\//,
      /read once/,
      /read again: 404/,
      /new secrets are made in eu/,
      /answered 503, to be tried again in \d+ s/,
      /its secret was kept/,
    ].map((words) => stdout.search(words));
    expect(told[0]).toBeGreaterThan(0);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
