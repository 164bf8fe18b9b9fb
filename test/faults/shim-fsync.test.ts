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

let runs = 0;
async function runChild(
  deed: string,
  fault: 'SHIM_SLOW_FLAG' | 'SHIM_FAIL_FLAG',
  defect = '',
): Promise<unknown> {
  const directory = join(shim.folder, String(runs++));
  mkdirSync(directory);
  const flag = `${directory}-flag`;
  const printed = await shim.run('shim-child.ts', [directory, deed, flag, defect], {
    SHIM_ROOT: directory,
    [fault]: flag,
  });
  return JSON.parse(printed);
}

describe('a sync that takes 150 ms', () => {
  interface Seen {
    readonly longestAbsenceMs: number;
    readonly putMs: number;
    /** Syncs of the event loop. */
    readonly onLoop: number;
  }
  const onSlowDisk = (deed: string, defect = '') => runChild(deed, 'SHIM_SLOW_FLAG', defect) as Promise<Seen>;

  it('P24: delays its own commit and blocks the event loop for less than 50 ms', async () => {
    const seen = await onSlowDisk('three puts');
    expect(seen.putMs).toBeGreaterThan(150);
    expect(seen.longestAbsenceMs).toBeLessThan(50);
    expect(seen.onLoop).toBe(0);
  }, 60_000);

  for (const deed of [
    'a put after a scrub',
    'a put that has the log written out',
    'a put after one that had the log written out',
  ])
    it(`P24: is never the event loop's: ${deed}`, async () => {
      expect((await onSlowDisk(deed)).onLoop).toBe(0);
    }, 60_000);

  it('P24: is the event loop’s where a log has no first commit in the thread', async () => {
    const defect = 'a log has no first commit in the thread';
    expect((await onSlowDisk('a put after a scrub', defect)).onLoop).toBeGreaterThan(0);
  }, 60_000);

  it('P24: blocks the event loop if it is made on it', async () => {
    const seen = await onSlowDisk('three puts', 'inline');
    expect(seen.longestAbsenceMs).toBeGreaterThan(100);
    expect(seen.onLoop).toBeGreaterThan(0);
  }, 30_000);
});

describe('a sync that fails', () => {
  it('P2 P23: releases nothing, is reported at once, and the store recovers with the disk', async () => {
    const seen = (await runChild('broken', 'SHIM_FAIL_FLAG')) as Record<string, unknown>;
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

  const inDoubt = {
    claim: 'unavailable',
    told: ['unavailable', 'unavailable', 'unavailable', 'unavailable'],
    back: [true, 'done'],
  };

  it('P2: leaves what it was to keep in doubt, whatever later syncs say, until the log was written anew', async () => {
    expect(await runChild('doubted', 'SHIM_FAIL_FLAG')).toEqual(inDoubt);
  }, 30_000);

  it('P2: is noticed to be forgotten where a later sync is believed', async () => {
    expect(await runChild('doubted', 'SHIM_FAIL_FLAG', 'a sync after a failed one is believed')).not.toEqual(
      inDoubt,
    );
  }, 30_000);
});
