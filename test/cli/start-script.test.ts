/** `scripts/start.sh`: what runs is what the sources say, from an executable where that is possible, and whatever happened to it. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, repositoryRoot, watch } from '../support/started-server.ts';

setDefaultTimeout(120_000);

const copied = [
  'src',
  'sdk',
  'docs',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'bunfig.toml',
];

/**
 * A checkout of its own, with the installed packages. All but the runtime are shared: its change time decides whether to build,
 * and a hard link that another test makes to it would change that.
 */
async function makeCheckout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-start-'));
  for (const name of copied) await cp(join(repositoryRoot, name), join(folder, name), { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  const modules = await readdir(join(repositoryRoot, 'node_modules'));
  for (const name of modules.filter((each) => each !== '.cache' && each !== 'bun'))
    await symlink(join(repositoryRoot, 'node_modules', name), join(folder, 'node_modules', name));
  const runtime = join('node_modules', 'bun', 'bin', 'bun.exe');
  await cp(join(repositoryRoot, runtime), join(folder, runtime));
  return folder;
}

let checkout = '';
let cache = '';
beforeAll(async () => {
  checkout = await makeCheckout();
  cache = join(checkout, 'node_modules', '.cache', 'mayfly');
});
afterAll(() => rm(checkout, { recursive: true }));

async function spawnHere(command: string, args: readonly string[], detached = false) {
  const { PATH = '', HOME = '' } = process.env;
  const data = await mkdtemp(join(checkout, 'data-'));
  const settings = { HOST: '127.0.0.1', PORT: String(await freePort()), MAYFLY_DATA_DIR: data };
  const env = { PATH, HOME, ...settings, BUN_JSC_dumpOptions: '1' };
  return spawn(command, [...args], { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'], detached });
}

/** Resolves with everything said up to the words; rejects when the process ends first. */
function saying(child: ChildProcess, words: string): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (part: Buffer) => {
      said += part.toString('utf8');
      if (said.includes(words)) resolve(said);
    });
    child.once('close', () => reject(new Error(`it ended: ${said}`)));
  });
}

/** What a server says at its start, and the file that it runs from. */
async function startOnce(): Promise<{ words: string; runsFrom: string }> {
  const child = await spawnHere('scripts/start.sh', ['serve']);
  const { exited } = watch(child);
  try {
    const words = await saying(child, 'API ');
    return { words, runsFrom: await readlink(`/proc/${child.pid}/exe`) };
  } finally {
    child.kill('SIGTERM');
    expect(await exited).toEqual({ code: 0, signal: null });
  }
}

const fromTheSources = 'starts from its sources';
/** As the runtime says its options. */
const withoutLastTier = 'useFTLJIT=false';
const programs = async () => (await readdir(cache)).filter((name) => name.startsWith('program-'));

describe('the start script', () => {
  it('is replaced by an executable, which it builds once', async () => {
    const first = await startOnce();
    const made = await programs();
    expect(first.words).not.toContain(fromTheSources);
    expect(made).toHaveLength(1);
    expect(first.runsFrom).toBe(join(cache, made[0] ?? ''));
    expect((await startOnce()).runsFrom).toBe(first.runsFrom);
    expect(await programs()).toEqual(made);
  });

  it('serves without the last tier of the compiler, which other commands keep', async () => {
    expect((await startOnce()).words).toContain(withoutLastTier);
    const { exited, stderr } = watch(await spawnHere('scripts/start.sh', ['version']));
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(stderr()).toContain('JSC options');
    expect(stderr()).not.toContain(withoutLastTier);
  });

  it('runs what was changed, also when size and time of the change are those of before', async () => {
    const path = join(checkout, 'package.json');
    const text = await readFile(path, 'utf8');
    const aTime = new Date('2026-01-01');
    await utimes(path, aTime, aTime);
    await startOnce();
    await writeFile(path, text.replace('"version": "0.1.0"', '"version": "9.9.9"'));
    await utimes(path, aTime, aTime);
    expect((await startOnce()).words).toContain('Mayfly 9.9.9 is ready');
  });

  it('builds anew where the executable is damaged', async () => {
    const { runsFrom } = await startOnce();
    await writeFile(runsFrom, 'damaged');
    const again = await startOnce();
    expect(again.words).not.toContain(fromTheSources);
    expect(again.runsFrom).not.toBe(runsFrom);
  });

  it('serves all of several starts at once, each whole', async () => {
    await rm(cache, { recursive: true });
    const all = await Promise.all([startOnce(), startOnce(), startOnce()]);
    expect(all.map(({ words }) => words.includes(fromTheSources))).toEqual([false, false, false]);
    expect(await programs()).toContain((await startOnce()).runsFrom.split('/').at(-1) ?? '');
  });

  it('serves from the sources, and says so, where nothing can be built or kept', async () => {
    await rm(cache, { recursive: true });
    await writeFile(cache, 'in the way');
    const kept = await startOnce();
    expect(kept.words).toContain(fromTheSources);
    expect(kept.words).toContain('is ready');
    expect(kept.words).toContain(withoutLastTier);
    await rm(cache);
    await writeFile(
      join(checkout, 'scripts', 'build.mjs'),
      'console.log("no build today"); process.exit(1);',
    );
    expect((await startOnce()).words).toContain('no build today');
  });
});

describe('npm start', () => {
  it('ends with npm, even when npm is killed', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const npm = await spawnHere('npm', ['start'], true);
      // Closed once every process that holds the output has ended.
      const { exited, stdout } = watch(npm);
      try {
        await saying(npm, 'API ');
        npm.kill(signal);
        await exited;
        expect(stdout()).toContain('"event":"stopped"');
      } finally {
        try {
          process.kill(-(npm.pid ?? 0), 'SIGKILL');
        } catch {
          // The whole group has ended.
        }
      }
    }
  });
});
