import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSettableClock, newRecord, putNew } from '../../test/stores/conformance/check.ts';
import { createMemoryStore, type MemoryStore } from '../../test/stores/memory.ts';
import { makeRootKeys } from '../../test/support/root-keys.ts';
import type { RootStore } from '../core/ports/roots.ts';
import { createKeyRing, type KeyRing, rootCheck } from '../crypto/keyring.ts';
import { newRoot, readRootKeys } from './root-key-file.ts';
import { addRoot, compareRoots, openRootKeys, retireRoots } from './root-keys.ts';

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
  isShared: false,
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
    expect(await problem(checkStore([1]))).toContain(
      'the store has secrets under root 1 but no check for it',
    );
  });

  const key = Buffer.alloc(32, 9).toString('base64url');
  const root = { kid: 1, key };
  const file = (roots: unknown, version: unknown = 1) => JSON.stringify({ version, roots });
  const aKey = 'must be 32 bytes in base64url: 43 characters';
  const someRoots = 'roots must be a list of roots, at least one, with different kids';
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

  it('is compared without changing anything', async () => {
    const store = checkStore();
    const ring = createKeyRing([{ kid: 1, key: new Uint8Array(32) }]);
    expect(await compareRoots(ring, path, store)).toEqual({ outcome: 'same' });
    expect(await compareRoots(null, path, store)).toEqual({ outcome: 'same' });
    expect(store.checks.size).toBe(0);
    expect(readRootKeys(path).outcome).toBe('missing');
  });
});

function kidsInFile(file = path): readonly number[] {
  const reading = readRootKeys(file);
  return reading.outcome === 'read' ? reading.ring.all.map(({ kid }) => kid) : [];
}

/** A key file with roots up to `kid`, and the store that knows them. */
async function installation(kid: number): Promise<MemoryStore> {
  const store = createMemoryStore({ clock: createSettableClock() });
  await open(store);
  while ((kidsInFile().at(-1) ?? 0) < kid) await addRoot(path, store, deps);
  return store;
}

async function addProblem(store: RootStore, file = path): Promise<string> {
  const added = await addRoot(file, store, deps);
  return added.outcome === 'refused' ? added.problem : '';
}

describe('another root', () => {
  it('P12: is in the file once the store keeps its check, and not before', async () => {
    const store = await installation(1);
    const kidsAtCheck: number[] = [];
    const added = await addRoot(
      path,
      {
        ...store,
        async addRootCheck(...given) {
          kidsAtCheck.push(...kidsInFile());
          return store.addRootCheck(...given);
        },
      },
      deps,
    );
    expect([added.outcome, kidsAtCheck, kidsInFile()]).toEqual(['changed', [1], [1, 2]]);
    const { ring } = await open(store);
    expect(await store.findRootCheck(2)).toEqual(rootCheck(ring.current));
  });

  it('P12: of two that are added at once one is refused, and none is lost', async () => {
    const store = await installation(1);
    const added = await Promise.all([1, 2].map(() => addRoot(path, store, deps)));
    expect(added.map(({ outcome }) => outcome).sort()).toEqual(['changed', 'refused']);
    expect(kidsInFile()).toEqual([1, 2]);
    await addRoot(path, store, deps);
    expect(kidsInFile()).toEqual([1, 2, 3]);
    expect((await open(store)).ring.current.kid).toBe(3);
  });

  it('P12: has no key id that another node has given to a root of its own', async () => {
    const store = await installation(1);
    const other = join(folder, 'other.json');
    await writeFile(other, await readFile(path), { mode: 0o600 });
    await addRoot(other, store, deps);
    await addRoot(path, store, deps);
    expect([kidsInFile(other), kidsInFile()]).toEqual([
      [1, 2],
      [1, 3],
    ]);
  });

  it('is not added to a file that does not fit the store', async () => {
    expect(await addProblem(checkStore([1]))).toContain('is missing. Restore it');
    makeRootKeys(path, deps);
    expect(await addProblem(checkStore([1]))).toContain('no check for it');
    expect(await addProblem(checkStore([2]))).toContain('lacks root 2');
    expect(kidsInFile()).toEqual([1]);
  });

  it('is refused when there is no key id left', async () => {
    const { key } = newRoot(1, deps);
    const roots = [{ kid: 65_535, key: Buffer.from(key).toString('base64url') }];
    await writeFile(path, JSON.stringify({ version: 1, roots }), { mode: 0o600 });
    expect(await addProblem(checkStore())).toBe('No key id is left: 65535 is the last.');
  });
});

/** Whether each secret that waits is under a root that the file has. */
async function isServable(store: MemoryStore): Promise<boolean> {
  const kids = kidsInFile();
  return (await store.rootKidsInUse()).every((kid) => kids.includes(kid));
}

/** Runs `before` ahead of each call that retiring makes. */
function beforeCalls(store: MemoryStore, before: () => Promise<void>): MemoryStore {
  const names = [
    'findFirstOpenRoot',
    'findRootCheck',
    'rootKidsInUse',
    'closeRootsBefore',
    'forgetRoots',
  ] as const;
  const calls = names.map((name) => [
    name,
    async (...given: unknown[]) => {
      await before();
      return Reflect.apply(store[name], store, given);
    },
  ]);
  return { ...store, ...Object.fromEntries(calls) };
}

describe('retiring older roots', () => {
  it('P12: removes those that nothing waits under, and keeps the others', async () => {
    const store = await installation(4);
    await putNew(store, {}, 2);
    const retired = await retireRoots(path, store, deps);
    expect([retired.outcome, kidsInFile()]).toEqual(['changed', [2, 4]]);
    const { ring } = await open(store);
    expect([ring.current.kid, ring.find(1), ring.find(3)]).toEqual([4, null, null]);
    await expect(putNew(store, {}, 3)).rejects.toMatchObject({ code: 'unavailable' });
    await retireRoots(path, store, deps);
    expect(kidsInFile()).toEqual([2, 4]);
  });

  it('P12: keeps a root that a server stores something under meanwhile, whenever it does', async () => {
    const outcomes = new Set<string>();
    for (let at = 0; at < 9; at += 1) {
      await rm(path, { force: true });
      const store = await installation(2);
      let calls = 0;
      let stored = 'nothing';
      const racing = beforeCalls(store, async () => {
        calls += 1;
        if (calls !== at) return;
        stored = await store.put(newRecord(store.now(), {}, 1)).then(
          () => 'stored',
          () => 'refused',
        );
      });
      await retireRoots(path, racing, deps);
      expect([at, await isServable(store)]).toEqual([at, true]);
      expect(kidsInFile()).toEqual(stored === 'stored' ? [1, 2] : [2]);
      outcomes.add(stored);
    }
    expect(outcomes).toEqual(new Set(['nothing', 'stored', 'refused']));
  });

  it('P12: may end anywhere: a start with the file as it is serves, and the next run ends it', async () => {
    const dead = new Error('the process has ended');
    for (let at = 1; ; at += 1) {
      await rm(path, { force: true });
      const store = await installation(3);
      await putNew(store, {}, 3);
      let calls = 0;
      const dying = beforeCalls(store, async () => {
        calls += 1;
        if (calls === at) throw dead;
      });
      const end = await retireRoots(path, dying, deps).catch((error: unknown) => error);
      if (end !== dead) {
        expect([calls, kidsInFile()]).toEqual([at - 1, [3]]);
        break;
      }
      expect([at, kidsInFile()]).toEqual([at, [1, 2, 3]]);
      expect((await open(store)).ring.current.kid).toBe(3);
      await putNew(store, {}, 3);
      await retireRoots(path, store, deps);
      expect(kidsInFile()).toEqual([3]);
    }
  });

  it('P12: that cannot write the file has only closed what nothing waits under', async () => {
    const store = await installation(2);
    await putNew(store, {}, 2);
    // So long that a file beside it cannot be named.
    const short = path;
    path = join(folder, 'k'.repeat(245));
    await rename(short, path);
    expect(await retireRoots(path, store, deps)).toMatchObject({ outcome: 'refused' });
    expect(kidsInFile()).toEqual([1, 2]);
    expect((await open(store)).ring.current.kid).toBe(2);
    await putNew(store, {}, 2);
    await rename(path, short);
    path = short;
    await retireRoots(path, store, deps);
    expect(kidsInFile()).toEqual([2]);
  });

  it('P12: closes nothing for a file that does not fit the store', async () => {
    const store = await installation(1);
    await store.addRootCheck(2, new Uint8Array(32));
    const { key } = newRoot(1, deps);
    const file = JSON.parse(await readFile(path, 'utf8'));
    file.roots.push({ kid: 2, key: Buffer.from(key).toString('base64url') });
    await writeFile(path, JSON.stringify(file), { mode: 0o600 });
    expect(await retireRoots(path, store, deps)).toMatchObject({ outcome: 'refused' });
    expect(await store.findFirstOpenRoot()).toBe(0);
    await putNew(store, {}, 1);
  });

  it('P12: makes an older copy of the file stop the start, even when nothing waits', async () => {
    const store = await installation(1);
    const copy = await readFile(path);
    await addRoot(path, store, deps);
    await retireRoots(path, store, deps);
    await writeFile(path, copy);
    expect(await problem(store)).toBe(
      `The key file ${path} is an old copy: its roots were rotated since, and the store takes no secret under them. ` +
        'Restore the newest copy, or run mayfly keys add.',
    );
    await addRoot(path, store, deps);
    expect((await open(store)).ring.current.kid).toBe(3);
    await putNew(store, {}, 3);
  });
});
