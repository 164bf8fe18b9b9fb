/** Proves what `mayfly keys` does and says, on a real key file and real secrets; each command's JSON beside its words. */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRecord } from '../../test/stores/conformance/check.ts';
import type { MemoryStore } from '../../test/stores/memory.ts';
import { fakeWorld } from '../../test/support/cli-world.ts';
import { createOldRecords } from '../../test/support/old-records.ts';
import { createBench, guess, readBy, startOfTime } from '../../test/support/service-bench.ts';
import { readConfig } from '../config/read.ts';
import { anonymous } from '../core/account.ts';
import { createService } from '../core/secrets/service.ts';
import { rootCheck } from '../crypto/keyring.ts';
import { readRootKeys } from '../ops/root-key-file.ts';
import { openRootKeys } from '../ops/root-keys.ts';
import { sections } from './commands.ts';
import { runCommand } from './run.ts';

const firstInUse =
  'Secrets are stored under root 1: mayfly keys rotate re-wraps them or says when they expire. ' +
  'A secret created with an Idempotency-Key needs its root for 24 hours.\n';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  path = join(folder, 'keys.json');
});
afterEach(() => rm(folder, { recursive: true }));

interface Circumstances {
  /** What is typed at a question; nobody is there when absent. */
  readonly answer?: string;
  /** What happens while the command waits; it must not wait when absent. */
  readonly meanwhile?: (milliseconds: number) => Promise<unknown>;
  /** Since the key file was changed; a minute when absent. */
  readonly fileAgeMs?: number;
  readonly over?: Partial<MemoryStore>;
}

const dayOf2027 = '2027-01-15T08:00:00.000Z';

/** An installation that has served: its key file has root 1. */
async function installation(options: Parameters<typeof createBench>[0] = {}) {
  const bench = createBench(options);
  const one = bench.deps.ring.current;
  const store: MemoryStore = { ...bench.memory, findSecret: bench.deps.store.findSecret };
  await writeRoots([{ ...one, created: '2026-01-01T00:00:00.000Z' }]);
  await store.addRootCheck(1, rootCheck(one));

  async function writeRoots(roots: readonly { kid: number; key: Uint8Array; created?: string }[]) {
    const texts = roots.map((root) => ({ ...root, key: Buffer.from(root.key).toString('base64url') }));
    await writeFile(path, JSON.stringify({ version: 1, roots: texts }), { mode: 0o600 });
  }

  async function keys(args: string, { answer, meanwhile, fileAgeMs = 60_000, over }: Circumstances = {}) {
    const changedMs = await stat(path).then(
      ({ ctimeMs }) => ctimeMs,
      () => 0,
    );
    const { world, written } = fakeWorld({
      readConfig: async () => readConfig({ MAYFLY_ROOT_KEYS_FILE: path }),
      openAccounts: async () => ({
        outcome: 'open',
        accounts: { store: { ...store, ...over }, random: bench.deps.random, close: async () => {} },
      }),
      wallClockMs: () => (args.startsWith('add') ? Date.parse(dayOf2027) : changedMs + fileAgeMs),
      sleep: async (milliseconds) => {
        if (meanwhile === undefined) throw new Error('it waits');
        await meanwhile(milliseconds);
      },
    });
    const ask = async (question: string) => {
      if (answer !== undefined) world.terminal.err(question);
      return answer ?? null;
    };
    const code = await runCommand(['keys', ...args.split(' ')], sections, {
      ...world,
      terminal: { ...world.terminal, ask },
    });
    return { code, ...written };
  }

  /** The value, for a server that starts now. */
  async function read(secretKey: string): Promise<string> {
    const { random } = bench.deps;
    const opened = await openRootKeys(path, store, { random, wallClockMs: Date.now, isShared: false });
    if (opened.outcome === 'refused') throw new Error(opened.problem);
    const service = createService({ ...bench.deps, ring: opened.ring });
    return readBy(await service.reveal(guess(secretKey), anonymous));
  }

  return { bench, one, store, writeRoots, keys, read, share: bench.share };
}

type Run = {
  readonly code: Awaited<ReturnType<typeof runCommand>>;
  readonly out: string;
  readonly err: string;
};
const said = (code: 0 | 1, err: string): Run => ({ code, out: '', err });
const printed = (json: unknown): Run => ({ code: 0, out: `${JSON.stringify(json)}\n`, err: '' });

function kidsInFile(): readonly number[] {
  const reading = readRootKeys(path);
  return reading.outcome === 'read' ? reading.ring.all.map(({ kid }) => kid) : [];
}

describe('mayfly keys list', () => {
  it('shows each root, when it was made, which one wraps, and which are in use', async () => {
    const { keys, share, one, writeRoots } = await installation();
    await share('the value');
    await writeRoots([one, { kid: 2, key: new Uint8Array(32), created: dayOf2027 }]);
    expect(await keys('list')).toEqual({
      code: 0,
      out: '1\t-\tolder\tin use\n2\t2027-01-15T08:00:00Z\tcurrent\tnot in use\n',
      err: '',
    });
    expect(await keys('list --json')).toEqual(
      printed([
        { kid: 1, created: null, current: false, in_use: true },
        { kid: 2, created: dayOf2027, current: true, in_use: false },
      ]),
    );
  });
});

describe('mayfly keys add', () => {
  it('adds a root and says what comes next', async () => {
    const { keys } = await installation();
    expect(await keys('add')).toEqual(
      said(
        0,
        `Added root 2 to ${path}. Back up the file, separately from the store.\n` +
          'Running servers wrap new secrets under it within 4 seconds.\n' +
          'Next: mayfly keys rotate re-wraps the secrets under older roots.\n',
      ),
    );
    expect((await keys('list')).out).toContain('2\t2027-01-15T08:00:00Z\tcurrent');
    expect(await keys('add --json')).toEqual(printed({ added: 3, roots: [1, 2, 3] }));
  });

  it('is refused while another command changes the file', async () => {
    const { keys } = await installation();
    await writeFile(`${path}.lock`, '');
    const words = `Another command is changing the key file ${path}. If none is, remove ${path}.lock.\n`;
    expect(await keys('add')).toEqual(said(1, words));
    expect(await keys('add --json')).toEqual({ code: 1, out: '{"error":"keys"}\n', err: words });
    expect(kidsInFile()).toEqual([1]);
  });

  it('is refused where the file cannot be changed', async () => {
    const { keys } = await installation();
    const long = join(folder, 'k'.repeat(252));
    await rename(path, long);
    path = long;
    expect(await keys('add')).toEqual(
      said(1, `The key file ${path} cannot be changed (ENAMETOOLONG): let this user write to its folder.\n`),
    );
  });
});

describe('mayfly keys rotate', () => {
  it('re-wraps everything that waits, which opens afterwards', async () => {
    const { keys, share, read, store } = await installation();
    const [one, other] = [await share('one'), await share('other'), await keys('add')];
    const next = 'Next: mayfly keys retire removes the older roots from the key file.\n';
    const [kidsAtScrub, forgotten]: (readonly number[])[][] = [[], []];
    const scrub = async () => {
      kidsAtScrub?.push(await store.rootKidsInUse());
      return store.scrub();
    };
    const forgetRoots = async (kids: readonly number[]) => void forgotten?.push(kids);
    const rotated = await keys('rotate', { over: { scrub, forgetRoots } });
    expect(rotated).toEqual(said(0, `Done. 2 secrets re-wrapped under root 2.\n${next}`));
    // P10: the older wrappings are erased from the files too.
    expect([kidsAtScrub, forgotten]).toEqual([[[2]], [[1]]]);
    expect(await read(one.secretKey)).toBe('one');
    expect(await keys('rotate')).toEqual(said(0, `Nothing to re-wrap under root 2.\n${next}`));
    expect(await keys('rotate --json')).toEqual(
      printed({ root: 2, rewrapped: 0, fixed: 0, fixed_until: null, damaged: 0 }),
    );
    expect(await read(other.secretKey)).toBe('other');
  });

  it('asks for another root when there is one alone', async () => {
    const { keys, share } = await installation();
    await share('the value');
    const words = 'Root 1 is the only one: run mayfly keys add first.\n';
    expect(await keys('rotate', { fileAgeMs: 0 })).toEqual(said(0, words));
  });

  it('waits until servers have taken the root, and re-wraps what they stored until then', async () => {
    const { keys, share, read, store } = await installation();
    await share('first');
    await keys('add');
    const late: { readonly secretKey: string }[] = [];
    const waits: number[] = [];
    const rotated = await keys('rotate', {
      fileAgeMs: 1_000,
      async meanwhile(milliseconds) {
        waits.push(milliseconds);
        late.push(await share('late'));
      },
    });
    expect(waits).toEqual([3_000]);
    expect(rotated.err).toStartWith(
      'Waiting up to 4 seconds for servers to use root 2.\nDone. 2 secrets re-wrapped under root 2.\n',
    );
    expect(await store.findFirstOpenRoot()).toBe(2);
    await expect(share('too late')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await Promise.all(late.map(({ secretKey }) => read(secretKey)))).toEqual(['late']);
  });

  it('says nothing but the result with --json, while it waits too', async () => {
    const { keys, share } = await installation();
    await share('the value');
    await keys('add');
    const rotated = await keys('rotate --json', { fileAgeMs: 0, meanwhile: async () => {} });
    expect(rotated).toEqual(printed({ root: 2, rewrapped: 1, fixed: 0, fixed_until: null, damaged: 0 }));
  });

  it('shows how far it is in a large store', async () => {
    const { keys, share, bench } = await installation();
    await share('the value');
    await keys('add');
    const [record] = bench.records;
    if (record === undefined) throw new Error('nothing was stored');
    const large = (): Partial<MemoryStore> => {
      let batches = 0;
      return {
        countExpiringBy: async () => 41_000,
        replaceWrapping: async () => true,
        async listUnderOlderRoots() {
          batches += 1;
          const secretIds = batches > 82 ? [] : Array.from({ length: 500 }, () => record.secretId);
          return { secretIds, next: batches > 81 ? null : String(batches) };
        },
      };
    };
    expect((await keys('rotate', { over: large() })).err).toStartWith(
      '20000 of 41000\n40000 of 41000\nDone. 41000 secrets re-wrapped under root 2.\n',
    );
    expect((await keys('rotate --json', { over: large() })).err).toBe('');
  });

  it('says what stays under the older roots, why and until when', async () => {
    const { wrap, turnOld } = createOldRecords();
    const { bench, keys, share, store } = await installation({ wrap });
    const old = await share('-', { ttlSeconds: 86_400 });
    turnOld(bench, { ...old, value: 'of before', address: '' });
    await store.put(newRecord(store.now(), {}, 1));
    await share('new');
    await keys('add');
    expect(await keys('rotate')).toEqual(
      said(
        0,
        'Done. 1 secret re-wrapped under root 2.\n' +
          '1 secret from an earlier version of Mayfly cannot be re-wrapped. Keep the older roots until it is read, ' +
          'burned or expired: 2026-09-22T14:13:20Z at the latest.\n' +
          '1 damaged secret cannot be opened under any root and will expire unread.\n',
      ),
    );
    const json = { root: 2, rewrapped: 0, fixed: 1, fixed_until: startOfTime + 86_400, damaged: 1 };
    expect(await keys('rotate --json')).toEqual(printed(json));
    expect(await keys('retire --yes')).toEqual(said(1, firstInUse));
  });

  it('P12: keeps the check of a root that was put into the file by hand, so that the next start serves', async () => {
    const { keys, share, read, one, writeRoots } = await installation();
    const { secretKey } = await share('the value');
    await writeRoots([one, { kid: 2, key: new Uint8Array(32).fill(7) }]);
    expect((await keys('rotate')).code).toBe(0);
    expect(await read(secretKey)).toBe('the value');
  });

  it('P12: is refused for another root than the store knows, and touches nothing', async () => {
    const { keys, share, read, store, one, writeRoots } = await installation();
    const { secretKey } = await share('the value');
    await store.addRootCheck(2, new Uint8Array(32));
    await writeRoots([one, { kid: 2, key: new Uint8Array(32).fill(7) }]);
    const { code, err } = await keys('rotate');
    expect([code, err]).toEqual([1, expect.stringContaining('root 2 is not the one that this store')]);
    expect([await store.rootKidsInUse(), await store.findFirstOpenRoot()]).toEqual([[1], 0]);
    await writeRoots([one]);
    expect(await read(secretKey)).toBe('the value');
  });
});

describe('mayfly keys retire', () => {
  const facts = () =>
    `No secret is stored under root 1. Once removed from ${path}, it exists only in your copies of the file.\n`;

  async function rotated() {
    const made = await installation();
    const { secretKey } = await made.share('the value');
    await made.keys('add');
    await made.keys('rotate');
    return { ...made, secretKey };
  }

  it('says what it means and asks, and removes nothing without a yes', async () => {
    const { keys } = await rotated();
    for (const answer of ['', 'n', 'no', 'both']) {
      expect(await keys('retire', { answer })).toEqual(
        said(1, `${facts()}Remove root 1? [y/N] Nothing was changed.\n`),
      );
    }
    expect(await keys('retire --json')).toEqual({
      code: 1,
      out: '{"error":"not_confirmed"}\n',
      err: `${facts()}No terminal to ask for confirmation: add --yes.\n`,
    });
    expect(kidsInFile()).toEqual([1, 2]);
  });

  it('removes what is not in use after a yes, or with --yes', async () => {
    const done = `Done. PATH now has root 2. Replace your copies of it.\n`;
    for (const [args, answer, words] of [
      ['retire', 'y\n', 'Remove root 1? [y/N] '],
      ['retire', 'YES', 'Remove root 1? [y/N] '],
      ['retire --yes', undefined, ''],
    ] as const) {
      const { keys, read, secretKey } = await rotated();
      const retired = await keys(args, answer === undefined ? {} : { answer });
      expect(retired).toEqual(said(0, `${facts()}${words}${done.replace('PATH', path)}`));
      expect(kidsInFile()).toEqual([2]);
      expect(await read(secretKey)).toBe('the value');
      expect(await keys('retire')).toEqual(said(0, 'Root 2 is the only one: nothing to do.\n'));
      expect(await keys('retire --json')).toEqual(printed({ retired: [], roots: [2] }));
    }
  });

  it('with --json prints what was removed and what is left', async () => {
    const { keys, store } = await rotated();
    await keys('add');
    await keys('add');
    expect(await store.rootKidsInUse()).toEqual([2]);
    const { code, out, err } = await keys('retire --yes --json');
    expect([code, JSON.parse(out)]).toEqual([0, { retired: [1, 3], roots: [2, 4] }]);
    expect(err).toStartWith('No secret is stored under roots 1 and 3. Once removed from ');
    expect(err.split('\n').length).toBe(2);
  });

  it('is refused while secrets wait under every older root', async () => {
    const { keys, share } = await installation();
    await share('the value');
    await keys('add');
    expect(await keys('retire --yes')).toEqual(said(1, firstInUse));
    expect(await keys('retire --yes --json')).toEqual({
      code: 1,
      out: '{"error":"in_use"}\n',
      err: firstInUse,
    });
    expect(kidsInFile()).toEqual([1, 2]);
  });

  it('P12: waits until servers have taken the current root, and keeps what they used until then', async () => {
    const { keys, share, read } = await installation();
    await keys('add');
    const late: { readonly secretKey: string }[] = [];
    const meanwhile = async () => late.push(await share('late'));
    const retired = await keys('retire --yes', { fileAgeMs: 0, meanwhile });
    const waiting = `${facts()}Waiting up to 4 seconds for servers to use root 2.\n`;
    expect(retired).toEqual(said(1, waiting + firstInUse));
    expect(kidsInFile()).toEqual([1, 2]);
    expect(await Promise.all(late.map(({ secretKey }) => read(secretKey)))).toEqual(['late']);
  });

  it('leaves the file as it was when it cannot be written', async () => {
    const { keys, read, secretKey } = await rotated();
    const long = join(folder, 'k'.repeat(245));
    await rename(path, long);
    path = long;
    expect(await keys('retire --yes')).toEqual(
      said(
        1,
        `${facts()}The key file ${path} could not be written (ENAMETOOLONG): mayfly keys list shows its content.\n`,
      ),
    );
    expect(kidsInFile()).toEqual([1, 2]);
    expect(await read(secretKey)).toBe('the value');
  });
});

describe('mayfly keys', () => {
  const commands = ['list', 'add', 'rotate', 'retire --yes'];

  it.each(commands)('%s says what is wrong with the key file, and changes nothing', async (command) => {
    const { keys, share, store } = await installation();
    await rm(path);
    expect((await keys(command)).err).toStartWith(`The key file ${path} is missing. Restore it`);
    await share('the value');
    for (const [text, mode, words] of [
      ['{', 0o600, 'is damaged: it must be a JSON object of version, roots.'],
      ['{}', 0o644, `can be read by other users of this machine: run chmod 600 ${path}`],
    ] as const) {
      await rm(path, { force: true });
      await writeFile(path, text, { mode });
      const { code, out, err } = await keys(`${command} --json`);
      expect([code, out, err]).toEqual([1, '{"error":"keys"}\n', expect.stringContaining(words)]);
      expect(await readFile(path, 'utf8')).toBe(text);
    }
    expect([await store.rootKidsInUse(), await store.findFirstOpenRoot()]).toEqual([[1], 0]);
  });

  it.each(commands)('%s asks for a start of the server when nothing was ever served', async (command) => {
    const { keys } = await installation();
    await rm(path);
    const fresh = { findRootCheck: async () => null };
    const words = `There is no key file ${path} yet: start Mayfly once.\n`;
    expect(await keys(command, { over: fresh })).toEqual(said(1, words));
  });

  it.each(commands)('%s says so when there is no store, or wrong settings', async (command) => {
    const { world, written } = fakeWorld({
      openAccounts: async () => ({ outcome: 'no_store', problem: 'There is no store here.' }),
    });
    const run = (args: readonly string[], over = {}) => runCommand(args, sections, { ...world, ...over });
    const args = ['keys', ...command.split(' ')];
    expect([await run([...args, '--json']), written]).toEqual([
      1,
      { out: '{"error":"no_store"}\n', err: 'There is no store here.\n' },
    ]);
    const wrong = { readConfig: async () => readConfig({ PORT: 'x' }) };
    expect(await run(args, wrong)).toBe(2);
    expect(written.err).toContain('PORT is "x"');
  });
});
