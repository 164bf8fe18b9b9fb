/** The sync of a commit waits neither for slow hashes nor for look-ups of names, which fill the runtime's pool of threads. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildShim, type Shim } from './shim.ts';

let shim: Shim;
beforeAll(async () => {
  shim = await buildShim();
});
afterAll(() => shim[Symbol.asyncDispose]());

async function atPut(name: string, defect: string): Promise<{ hashing: number; resolving: number } | null> {
  const directory = join(shim.folder, name);
  mkdirSync(directory);
  const flag = `${directory}-names`;
  const printed = await shim.run('pool-child.ts', [directory, flag, defect], { SHIM_NAMES_FLAG: flag });
  return JSON.parse(printed);
}

describe('with 200 guesses under way and 32 names that hang', () => {
  it('P5 P24: a put is acknowledged while all names still hang', async () => {
    const seen = await atPut('thread', '');
    expect(seen?.resolving).toBe(32);
    expect(seen?.hashing).toBeGreaterThan(0);
  }, 60_000);

  it('P5 P24: none is where the runtime’s pool syncs', async () => {
    expect(await atPut('pool', 'the runtime’s pool syncs')).toBeNull();
  }, 60_000);
});
