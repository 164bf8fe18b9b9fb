import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSettableClock } from '../../test/stores/conformance/check.ts';
import { createMemoryStore } from '../../test/stores/memory.ts';
import type { RootStore } from '../core/root-store.ts';
import { createKeyRing, type KeyRing, rootCheck } from '../crypto/keyring.ts';
import { makeRootKeys, readRootKeys } from './root-key-file.ts';
import { compareRoots, openRootKeys } from './root-keys.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  path = join(folder, 'keys.json');
});
afterEach(() => rm(folder, { recursive: true }));

let draws = 0;
const deps = {
  random: (length: number) => new Uint8Array(length).fill(++draws),
  wallClockMs: () => 1_800_000_000_000,
};

function checkStore(inUse: readonly number[] = []): RootStore & { readonly checks: Map<number, Uint8Array> } {
  const checks = new Map<number, Uint8Array>();
  return {
    checks,
    findRootCheck: async (kid) => checks.get(kid) ?? null,
    async addRootCheck(kid, check) {
      const kept = checks.get(kid) ?? check;
      checks.set(kid, kept);
      return kept;
    },
    rootKidsInUse: async () => [...inUse],
    findFirstOpenRoot: async () => 0,
    mayMakeRoots: async () => true,
  };
}

async function open(store: RootStore): Promise<{ ring: KeyRing; isNew: boolean }> {
  const opened = await openRootKeys(path, store, deps);
  if (opened.outcome === 'refused') throw new Error(opened.problem);
  return opened;
}

async function problem(store: RootStore): Promise<string> {
  const opened = await openRootKeys(path, store, deps);
  return opened.outcome === 'refused' ? opened.problem : '';
}

describe('the key file', () => {
  it('is made once for a store that has never served, readable by its owner alone', async () => {
    const store = checkStore();
    const first = await open(store);
    expect(first.isNew).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['keys.json']);
    const second = await open(store);
    expect(second.isNew).toBe(false);
    expect(second.ring.current).toEqual(first.ring.current);
    const file = JSON.parse(await readFile(path, 'utf8'));
    expect(Object.keys(file)).toEqual(['version', 'roots']);
    expect(file.roots[0]).toMatchObject({ kid: 1, created: '2027-01-15T08:00:00.000Z' });
  });

  it('keeps what another process made in the meantime', async () => {
    makeRootKeys(path, deps);
    const before = await readFile(path, 'utf8');
    expect(makeRootKeys(path, deps).outcome).toBe('read');
    expect(await readFile(path, 'utf8')).toBe(before);
    expect(await readdir(folder)).toEqual(['keys.json']);
  });

  it('keeps a check of its root in the store before it is used', async () => {
    const store = checkStore();
    const { ring } = await open(store);
    expect(store.checks.get(1)).toEqual(rootCheck(ring.current));
  });

  it('stops the start when others may read it (P12)', async () => {
    makeRootKeys(path, deps);
    await chmod(path, 0o640);
    expect(await problem(checkStore())).toBe(
      `The key file ${path} can be read by other users of this machine: run chmod 600 ${path}`,
    );
  });

  it('stops the start when it is missing for a store that has served (P12)', async () => {
    const store = checkStore();
    await open(store);
    await rm(path);
    expect(await problem(store)).toContain(
      'is missing. Restore it from your backup, or the secrets stored so far',
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('stops the start when its root is not the one the store was written with (P12)', async () => {
    const store = checkStore([1]);
    makeRootKeys(path, deps);
    store.checks.set(1, rootCheck({ kid: 1, key: new Uint8Array(32).fill(0xee) }));
    expect(await problem(store)).toContain(
      'root 1 is not the one that this store was written with. Restore it',
    );
  });

  it('stops the start when it lacks a root that secrets are wrapped under (P12)', async () => {
    makeRootKeys(path, deps);
    expect(await problem(checkStore([2]))).toContain('lacks root 2, which stored secrets are wrapped under');
  });

  it('stops the start when secrets are wrapped under a root that the store kept no check of (P12)', async () => {
    makeRootKeys(path, deps);
    expect(await problem(checkStore([1]))).toContain('the store has secrets under root 1 and no check of it');
  });

  const key = Buffer.alloc(32, 9).toString('base64url');
  const root = { kid: 1, key };
  const file = (roots: unknown, version: unknown = 1) => JSON.stringify({ version, roots });
  const aKey = 'must be 32 bytes in base64url: 43 characters';
  const someRoots = 'roots must be a list of at least one root, each with a kid of its own';
  const damaged: readonly (readonly [string, string, string])[] = [
    ['no JSON', '{', 'it must be a JSON object of version, roots'],
    ['empty', '', 'it must be a JSON object of version, roots'],
    ['of a later version', file([root], 2), 'version must be 1'],
    ['without roots', file([]), someRoots],
    ['of a root that is a key alone', file([key]), 'roots[0] must be an object of kid, key'],
    ['with a short key', file([root, { kid: 2, key: key.slice(1) }]), `roots[1].key ${aKey}`],
    [
      'with a second spelling of a key',
      file([{ kid: 1, key: `${key.slice(0, -1)}l` }]),
      `roots[0].key ${aKey}`,
    ],
    ['with padding', file([{ kid: 1, key: `${key}=` }]), `roots[0].key ${aKey}`],
    ['with the same key id twice', file([root, root]), someRoots],
    ['with key id 0', file([{ kid: 0, key }]), 'roots[0].kid must be a whole number from 1 to 65535'],
    [
      'wrong twice',
      file([{ key: 7, kid: '1' }]),
      `roots[0].key ${aKey}, and roots[0].kid must be a whole number from 1 to 65535`,
    ],
  ];
  it.each(damaged)('stops the start when it is %s', async (_name, text, what) => {
    await writeFile(path, text, { mode: 0o600 });
    const sentence = await problem(checkStore());
    expect(sentence).toContain(`is damaged: ${what}. Restore it from your backup`);
    expect(sentence).not.toContain(key.slice(1, -1));
  });

  it('stops the start when it cannot be read', async () => {
    path = folder;
    await chmod(folder, 0o700);
    expect(await problem(checkStore())).toContain('cannot be read (EISDIR)');
  });

  it('may hold several roots, of which the newest wraps', async () => {
    const roots = [1, 2].map((kid) => ({ kid, key: Buffer.alloc(32, kid).toString('base64url') }));
    await writeFile(path, JSON.stringify({ version: 1, roots }), { mode: 0o600 });
    const store = checkStore([1]);
    store.checks.set(1, rootCheck({ kid: 1, key: new Uint8Array(32).fill(1) }));
    const { ring } = await open(store);
    expect(ring.current.kid).toBe(2);
    expect([...store.checks.keys()]).toEqual([1, 2]);
  });

  it('of two nodes that start at once on an empty store with fresh files of their own, one refuses (P12)', async () => {
    for (const store of [checkStore(), createMemoryStore({ clock: createSettableClock() })]) {
      const paths = ['one', 'other'].map((name) => join(folder, `${++draws} ${name}.json`));
      for (const each of paths) makeRootKeys(each, deps);
      const opened = await Promise.all(paths.map((each) => openRootKeys(each, store, deps)));
      expect(opened.map((each) => each.outcome).sort()).toEqual(['open', 'refused']);
      const [winner, loser] = opened[0]?.outcome === 'open' ? opened : opened.toReversed();
      if (winner?.outcome !== 'open' || loser?.outcome !== 'refused') throw new Error('not one of each');
      expect(loser.problem).toContain('root 1 is not the one that this store was written with');
      expect(await store.findRootCheck(1)).toEqual(rootCheck(winner.ring.current));
    }
  });

  it('serves under two roots when what the store keeps is not read again (self-test)', async () => {
    const store = checkStore();
    const forgetful = {
      ...store,
      async addRootCheck(kid: number, check: Uint8Array) {
        await store.addRootCheck(kid, check);
        return check;
      },
    };
    const paths = ['one', 'other'].map((name) => join(folder, `${name}.json`));
    for (const each of paths) makeRootKeys(each, deps);
    const opened = await Promise.all(paths.map((each) => openRootKeys(each, forgetful, deps)));
    expect(opened.map((each) => each.outcome)).toEqual(['open', 'open']);
  });

  it('is made by the first of the nodes that share a store, and by no other (P12)', async () => {
    const store = createMemoryStore({ clock: createSettableClock(), isShared: true });
    const paths = ['one', 'other', 'third'].map((name) => join(folder, name, 'keys.json'));
    const opened = await Promise.all(paths.map((each) => openRootKeys(each, store, deps)));
    expect(opened.map((each) => each.outcome).sort()).toEqual(['open', 'refused', 'refused']);
    const problems = opened.flatMap((each) => (each.outcome === 'refused' ? [each.problem] : []));
    for (const each of problems) expect(each).toContain('copy that node’s key file here');
    expect((await readdir(folder)).length).toBe(1);
  });

  it('is compared without changing anything', async () => {
    const store = checkStore();
    const ring = createKeyRing([{ kid: 1, key: new Uint8Array(32) }]);
    expect(await compareRoots(ring, path, store)).toEqual({ outcome: 'same' });
    expect(await compareRoots(null, path, store)).toEqual({ outcome: 'same' });
    expect(store.checks.size).toBe(0);
    expect(readRootKeys(path).outcome).toBe('missing');
  });
});
