/**
 * What has ended is told only when the end is on the disk (P2): each way to tell of an end, for each way to end, of this process and of
 * another one on the folder, while the disk holds the syncs back.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildShim, type Shim } from './shim.ts';
import type { Told } from './told-child.ts';
import { toldDefects } from './told-defects.ts';
import { toldOf } from './told-ends.ts';

let shim: Shim;
beforeAll(async () => {
  shim = await buildShim();
});
afterAll(() => shim[Symbol.asyncDispose]());

async function tellWith(defect: string): Promise<Told[]> {
  const home = join(shim.folder, defect.replaceAll(' ', '-') || 'none');
  const directory = join(home, 'data');
  mkdirSync(directory, { recursive: true });
  const printed = await shim.run('told-child.ts', [directory, join(home, 'other'), defect], {
    SHIM_ROOT: directory,
    SHIM_HOLD_FLAG: join(home, 'own'),
  });
  return JSON.parse(printed);
}

describe('while the sync of an end is held back', () => {
  it('P1 P2: nothing tells of it, a waiting secret is found at once, and after it all do', async () => {
    const told = await tellWith('');
    expect(told.length).toBe(24);
    for (const { whose, end, early, isWaitingFoundEarly, late } of told)
      expect({ whose, end, early, isWaitingFoundEarly, late }).toEqual({
        whose,
        end,
        early: [],
        isWaitingFoundEarly: end !== 'the burn of everything',
        late: toldOf(end),
      });
  }, 60_000);

  for (const defect of Object.keys(toldDefects))
    it(`P2: is told early where ${defect}`, async () => {
      const early = (await tellWith(defect)).flatMap(({ early }) => early);
      expect(early.length).toBeGreaterThan(0);
    }, 60_000);
});
