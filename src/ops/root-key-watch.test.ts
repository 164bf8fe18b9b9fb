/** Proves that a running server takes a new root from the key file, and nothing that it could not have started with. */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { chmod, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSettableClock, putNew } from '../../test/stores/conformance/check.ts';
import { createMemoryStore } from '../../test/stores/memory.ts';
import type { RootStore } from '../core/ports/roots.ts';
import { type KeyRing, type RootKey, rootCheck } from '../crypto/keyring.ts';
import type { LogLine } from './log-lines.ts';
import { readRootKeys } from './root-key-file.ts';
import { type RootKeyWatch, rootKeysPollMs, watchRootKeys } from './root-key-watch.ts';
import { addRoot, openRootKeys } from './root-keys.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  path = join(folder, 'keys.json');
});
const watches: RootKeyWatch[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) await watch.stop();
  await rm(folder, { recursive: true });
});

let draws = 0;
const deps = {
  random: (length: number) => new Uint8Array(length).fill(++draws),
  wallClockMs: () => 1_800_000_000_000,
  isShared: false,
};

/** Puts a file of these roots in place as a whole, as every command does. */
async function file(roots: readonly RootKey[], mode = 0o600): Promise<void> {
  const texts = roots.map(({ kid, key }) => ({ kid, key: Buffer.from(key).toString('base64url') }));
  await place(JSON.stringify({ version: 1, roots: texts }), mode);
}

async function place(text: string, mode = 0o600): Promise<void> {
  const beside = join(folder, 'beside');
  await writeFile(beside, text, { mode });
  await rename(beside, path);
}

const rootOf = (kid: number, byte = kid): RootKey => ({ kid, key: new Uint8Array(32).fill(byte) });

/** A server that has started with a file of root 1, and whose looks at the file are made by hand. */
async function serve(over: (store: RootStore) => Partial<RootStore> = () => ({})) {
  const memory = createMemoryStore({ clock: createSettableClock() });
  const one = rootOf(1, 0xa1);
  await file([one]);
  const opened = await openRootKeys(path, memory, deps);
  if (opened.outcome === 'refused') throw new Error(opened.problem);
  await putNew(memory, {}, 1);
  const lines: LogLine[] = [];
  let timer: { readonly milliseconds: number; readonly run: () => void } | null = null;
  const disk = { read: readRootKeys };
  const watch = watchRootKeys({
    readFile: (at) => disk.read(at),
    ...{ path, ring: opened.ring, store: { ...memory, ...over(memory) } },
    log: (line) => lines.push(line),
    after(milliseconds, run) {
      timer = { milliseconds, run };
      return () => {
        timer = null;
      };
    },
  });
  watches.push(watch);
  const waiting = () => timer;
  async function look(): Promise<void> {
    const due = waiting();
    if (due === null) throw new Error('nothing is due');
    timer = null;
    due.run();
    while (waiting() === null) await new Promise((turn) => setImmediate(turn));
  }
  return { memory, one, ring: watch.ring, stop: watch.stop, lines, waiting, look, disk };
}

const kidsOf = (ring: KeyRing) => [ring.current.kid, ...ring.all.map(({ kid }) => kid)];
const taken = (kid: number) => ({ event: 'root_taken', kid }) as const;
const refusedLine = { event: 'root_keys_refused' } as const;

describe('a running server', () => {
  it('P12: wraps under a new root from its next look on, and finds the older one as before', async () => {
    const { memory, one, ring, lines, look, waiting } = await serve();
    expect(waiting()?.milliseconds).toBe(rootKeysPollMs);
    await addRoot(path, memory, deps);
    expect(ring.current.kid).toBe(1);
    await look();
    expect([ring.current.kid, ring.find(1)]).toEqual([2, one]);
    expect(await memory.findRootCheck(2)).toEqual(rootCheck(ring.current));
    await look();
    expect(lines).toEqual([taken(2)]);
    expect(kidsOf(ring)).toEqual([2, 1, 2]);
  });

  it('P3: finds a root that was added since its last look, and wraps nothing under it yet', async () => {
    const { memory, ring, lines, look } = await serve();
    expect(ring.find(2)).toBeNull();
    await addRoot(path, memory, deps);
    expect(ring.find(2)?.kid).toBe(2);
    expect([ring.current.kid, lines]).toEqual([1, []]);
    expect(ring.find(3)).toBeNull();
    await look();
    expect([ring.current, lines]).toEqual([ring.find(2) ?? rootOf(9), [taken(2)]]);
  });

  it('P12: wraps nothing under a root before the store keeps its check', async () => {
    const hooks = { currentAtCheck: [] as number[], current: () => 0 };
    const { memory, one, ring, look } = await serve((store) => ({
      async addRootCheck(...given) {
        hooks.currentAtCheck.push(hooks.current());
        return store.addRootCheck(...given);
      },
    }));
    hooks.current = () => ring.current.kid;
    await file([one, rootOf(2)]);
    await look();
    expect(hooks.currentAtCheck).toEqual([1, 1]);
    expect(await memory.findRootCheck(2)).toEqual(rootCheck(rootOf(2)));
    expect(ring.current.kid).toBe(2);
  });

  it('P3: still finds a root that was removed from the file: a reader may have been given a record under it', async () => {
    const { memory, one, ring, look } = await serve();
    await addRoot(path, memory, deps);
    await look();
    const { current } = ring;
    await memory.burnAll(null, 10);
    await file([current]);
    await look();
    expect([ring.current.key, ring.find(1)]).toEqual([current.key, one]);
  });

  it('takes a change that comes while it takes another', async () => {
    const hooks = { meanwhile: async () => {} };
    const { one, ring, lines, look } = await serve((store) => ({
      async addRootCheck(...given) {
        const { meanwhile } = hooks;
        hooks.meanwhile = async () => {};
        await meanwhile();
        return store.addRootCheck(...given);
      },
    }));
    hooks.meanwhile = () => file([one, rootOf(2), rootOf(3)]);
    await file([one, rootOf(2)]);
    await look();
    await look();
    expect([ring.current.kid, lines]).toEqual([3, [taken(2), taken(3)]]);
  });

  it('tries again at its next look when the store does not answer', async () => {
    const hooks = { isDown: true };
    const down = new Error('the store does not answer');
    const { memory, ring, lines, look } = await serve((store) => ({
      rootKidsInUse: () => (hooks.isDown ? Promise.reject(down) : store.rootKidsInUse()),
    }));
    await addRoot(path, memory, deps);
    await look();
    await look();
    const fault = { event: 'fault', where: 'keys', error: down } as const;
    expect([ring.current.kid, lines]).toEqual([1, [fault, fault]]);
    hooks.isDown = false;
    await look();
    expect([ring.current.kid, lines]).toEqual([2, [fault, fault, taken(2)]]);
  });

  it('looks no more once it is stopped, and ends what it has begun', async () => {
    const answer = Promise.withResolvers<void>();
    const { memory, ring, stop, waiting } = await serve((store) => ({
      async rootKidsInUse() {
        await answer.promise;
        return store.rootKidsInUse();
      },
    }));
    await addRoot(path, memory, deps);
    waiting()?.run();
    const stopping = stop();
    answer.resolve();
    await stopping;
    expect([ring.current.kid, waiting()]).toEqual([2, null]);
  });
});

type Server = Awaited<ReturnType<typeof serve>>;

const unfit: readonly (readonly [string, (server: Server) => Promise<void>])[] = [
  ['is damaged', () => place('{"version":1')],
  ['is missing', () => rm(path)],
  ['can be read by others', ({ one }) => file([one, rootOf(2)], 0o644)],
  ['cannot be looked at', () => rm(path).then(() => symlink(path, path))],
  ['lacks a root in use', () => file([rootOf(2)])],
  ['has another root in the place of one', () => file([rootOf(1, 0xee), rootOf(2)])],
  [
    'has a root that another node has another of',
    async ({ memory, one }) => {
      await memory.addRootCheck(2, rootCheck(rootOf(2, 0xee)));
      await file([one, rootOf(2)]);
    },
  ],
  [
    'is a copy from before a rotation',
    async ({ memory, one }) => {
      await memory.closeRootsBefore(2);
      await file([one]);
    },
  ],
];

describe('a running server whose key file', () => {
  it.each(unfit)('P12: %s goes on with its roots, and logs it once', async (_name, spoil) => {
    const server = await serve();
    const { one, ring, lines, look } = server;
    await spoil(server);
    for (let looks = 0; looks < 3; looks += 1) await look();
    expect([ring.current, ring.find(1), ring.find(9), lines]).toEqual([one, one, null, [refusedLine]]);
    await place('damaged otherwise');
    await look();
    expect(lines).toEqual([refusedLine, refusedLine]);
    const next = rootOf(3);
    await file([one, next]);
    await look();
    expect([ring.current, lines.at(-1)]).toEqual([next, taken(3)]);
  });

  it('P12: had a wrong root keeps nothing of it once the right file is there', async () => {
    const { memory, one, ring, look } = await serve();
    const [right, wrong] = [rootOf(2), rootOf(2, 0xee)];
    await memory.addRootCheck(2, rootCheck(right));
    await file([one, wrong]);
    await look();
    expect(ring.find(2)).toEqual(wrong);
    await file([one, right]);
    await look();
    expect([ring.current, ring.find(2)]).toEqual([right, right]);
    expect(ring.all).toEqual([one, right]);
  });

  it('P12: could not be read for a moment takes it at its next look', async () => {
    const { memory, ring, lines, look, disk } = await serve();
    await addRoot(path, memory, deps);
    disk.read = () => ({ outcome: 'refused', problem: 'There are too many open files.' });
    await look();
    expect(ring.find(2)).toBeNull();
    disk.read = readRootKeys;
    expect(ring.find(2)?.kid).toBe(2);
    await look();
    expect([ring.current.kid, lines]).toEqual([2, [refusedLine, taken(2)]]);
  });

  it('could be read by others takes it once that is cured as the message says', async () => {
    const { one, ring, lines, look } = await serve();
    await file([one, rootOf(2)], 0o644);
    await look();
    await chmod(path, 0o600);
    await look();
    expect([ring.current.kid, lines]).toEqual([2, [refusedLine, taken(2)]]);
  });
});
