/**
 * A disk whose syncs are slow, and one whose syncs fail.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildShim, type Shim } from './shim.ts';

let shim: Shim;
beforeAll(async () => {
  shim = await buildShim();
});
afterAll(() => shim[Symbol.asyncDispose]());

async function runChild(
  deed: string,
  brokenFlag: string,
  variables: Record<string, string>,
): Promise<unknown> {
  const directory = join(shim.folder, deed);
  mkdirSync(directory);
  const printed = await shim.run('shim-child.ts', [directory, deed, brokenFlag], {
    SHIM_ROOT: directory,
    ...variables,
  });
  return JSON.parse(printed);
}

describe('a sync that takes 150 ms', () => {
  const onSlowDisk = (deed: 'slow' | 'inline') =>
    runChild(deed, '', { SHIM_DELAY_MS: '150' }) as Promise<{ longestAbsenceMs: number; putMs: number }>;

  it('P24: delays its own commit and blocks the event loop for less than 50 ms', async () => {
    const seen = await onSlowDisk('slow');
    expect(seen.putMs).toBeGreaterThan(150);
    expect(seen.longestAbsenceMs).toBeLessThan(50);
  }, 30_000);

  it('P24: blocks the event loop if the commit is made on it', async () => {
    expect((await onSlowDisk('inline')).longestAbsenceMs).toBeGreaterThan(100);
  }, 30_000);
});

describe('a sync that fails', () => {
  it('P2 P23: releases nothing, is reported at once, and the store recovers with the disk', async () => {
    const flag = join(shim.folder, 'broken-flag');
    const seen = (await runChild('broken', flag, { SHIM_FAIL_FLAG: flag })) as Record<string, unknown>;
    expect(seen).toMatchObject({
      broken: ['unavailable', 'unavailable'],
      next: 'unavailable',
      readMeanwhile: true,
      afterwards: 'done',
    });
    expect(seen.toldWithinMs).toBeLessThan(50);
    // The claim was not confirmed, so it may or may not hold; the burn was refused before it began.
    expect(seen.states).toEqual([expect.stringMatching(/^(waiting|received)$/), 'waiting']);
  }, 30_000);
});
