/** The first key file of a store that several nodes share (P12). */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSettableClock } from '../../test/stores/conformance/check.ts';
import { createMemoryStore } from '../../test/stores/memory.ts';
import { systemRandom } from '../crypto/random.ts';
import { createRoots, openRootKeys } from './root-keys.ts';

const deps = { random: systemRandom, wallClockMs: Date.now, isShared: true };

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  path = join(folder, 'keys.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const sharedStore = () => createMemoryStore({ clock: createSettableClock(), isShared: true });

describe('the key file of a shared store', () => {
  it('is made by the first of the nodes that share a store, and by no other (P12)', async () => {
    const store = sharedStore();
    const paths = ['one', 'other', 'third'].map((name) => join(folder, name, 'keys.json'));
    const opened = await Promise.all(paths.map((each) => openRootKeys(each, store, deps)));
    expect(opened.map((each) => each.outcome).sort()).toEqual(['open', 'refused', 'refused']);
    const problems = opened.flatMap((each) => (each.outcome === 'refused' ? [each.problem] : []));
    for (const each of problems) expect(each).toContain('copy that node’s key file here');
    const made = await Promise.all(paths.map((each) => readdir(dirname(each))));
    expect(made.flat()).toEqual(['keys.json']);
  });

  it('is still to be made by a first node that could not write it, once it can (P12)', async () => {
    const store = sharedStore();
    await writeFile(join(folder, 'taken'), '');
    const inFile = await openRootKeys(join(folder, 'taken', 'keys.json'), store, deps);
    expect(inFile.outcome).toBe('refused');
    expect(await openRootKeys(path, store, deps)).toMatchObject({ outcome: 'open', isNew: true });
  });

  it('is created on the operator’s word for a store that never served, and no node makes another (P12)', async () => {
    const store = sharedStore();
    expect(await createRoots(path, store, deps)).toEqual({ outcome: 'made' });
    const without = await openRootKeys(join(folder, 'other', 'keys.json'), store, deps);
    expect(without).toMatchObject({ outcome: 'refused' });
    expect(await openRootKeys(path, store, deps)).toMatchObject({ outcome: 'open', isNew: false });
    expect(await createRoots(path, store, deps)).toMatchObject({
      problem: expect.stringContaining('already'),
    });
    expect(await createRoots(join(folder, 'new.json'), store, deps)).toMatchObject({
      problem: expect.stringContaining('was served with a key file that is missing here'),
    });
  });

  it('is created after a first node was lost before it had one (P12)', async () => {
    const store = sharedStore();
    await store.mayMakeRoots();
    expect(await openRootKeys(path, store, deps)).toMatchObject({
      problem: expect.stringContaining('run mayfly keys create on one of them'),
    });
    expect(await createRoots(path, store, deps)).toEqual({ outcome: 'made' });
    expect(await openRootKeys(path, store, deps)).toMatchObject({ outcome: 'open' });
  });
});
