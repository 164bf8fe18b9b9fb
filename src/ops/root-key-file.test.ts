/** Proves that the key file changes as a whole, for one command at a time, and stays its owner's alone. */
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import {
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeRootKeys } from '../../test/support/root-keys.ts';
import {
  ageOfFileMs,
  changeRootKeys,
  type FiledRoot,
  newRoot,
  readRootKeys,
  refused,
  versionOfFile,
} from './root-key-file.ts';

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

/** Adds this root, once `until` is over. */
const add = (kid: number, at = path, until: Promise<unknown> = Promise.resolve()) =>
  changeRootKeys(at, deps, async ({ roots }) => {
    await until;
    return { outcome: 'changed', roots: [...roots, newRoot(kid, deps)] };
  });

function rootsIn(file = path): readonly FiledRoot[] {
  const reading = readRootKeys(file);
  return reading.outcome === 'read' ? reading.roots : [];
}
const kidsIn = (file = path) => rootsIn(file).map(({ kid }) => kid);

/** Makes a key file whose name is so long; a file system takes 255. */
async function makeLongNamed(length: number): Promise<void> {
  makeRootKeys(path, deps);
  const long = join(folder, 'k'.repeat(length));
  await rename(path, long);
  path = long;
}

describe('a change of the key file', () => {
  it('keeps what else the file has, byte for byte', async () => {
    const byHand = { kid: 7, key: Buffer.alloc(32, 9).toString('base64url') };
    const made = { ...byHand, kid: 8, created: '2026-01-01T00:00:00.000Z' };
    await writeFile(path, JSON.stringify({ version: 1, roots: [byHand, made] }), { mode: 0o600 });
    expect((await add(9)).outcome).toBe('changed');
    const { version, roots } = JSON.parse(await readFile(path, 'utf8'));
    expect([version, roots.slice(0, 2), roots[2].kid]).toEqual([1, [byHand, made], 9]);
    expect(await readdir(folder)).toEqual(['keys.json']);
  });

  it('P12: comes as a whole: who has begun to read the file reads all of it as it was', async () => {
    makeRootKeys(path, deps);
    const before = await readFile(path, 'utf8');
    const reader = await openFile(path);
    await add(2);
    expect(await reader.readFile('utf8')).toBe(before);
    await reader.close();
    expect(kidsIn()).toEqual([1, 2]);
  });

  it('keeps the owner, and nobody else may read the file', async () => {
    makeRootKeys(path, deps);
    const { uid, gid } = await stat(path);
    // An operator who is root changes the file of a server that is not.
    const owner = uid === 0 ? { uid: 12_345, gid: 23_456 } : { uid, gid };
    await chown(path, owner.uid, owner.gid);
    const before = process.umask(0);
    await add(2).finally(() => process.umask(before));
    const { mode, ...after } = await stat(path);
    expect([after.uid, after.gid, mode & 0o777]).toEqual([owner.uid, owner.gid, 0o600]);
    expect(kidsIn()).toEqual([1, 2]);
  });

  it('goes through a link, which stays', async () => {
    const target = join(folder, 'secrets', 'mayfly.json');
    makeRootKeys(target, deps);
    await symlink(target, path);
    expect((await add(2)).outcome).toBe('changed');
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(kidsIn(target)).toEqual([1, 2]);
    expect(await readdir(dirname(target))).toEqual(['mayfly.json']);
    expect((await readdir(folder)).length).toBe(2);
  });

  it('P12: is refused while another one is under way, so that no root is lost', async () => {
    makeRootKeys(path, deps);
    const link = join(folder, 'link.json');
    await symlink(path, link);
    const end = Promise.withResolvers<void>();
    const first = add(2, path, end.promise);
    for (const name of [path, link]) {
      expect(await add(3, name)).toEqual({
        outcome: 'refused',
        problem: `Another command is changing the key file ${name}. If none is, remove ${path}.lock.`,
      });
    }
    end.resolve();
    expect((await first).outcome).toBe('changed');
    expect((await add(3, link)).outcome).toBe('changed');
    expect(kidsIn()).toEqual([1, 2, 3]);
  });

  it('is refused where a command was killed, until its lock is removed', async () => {
    makeRootKeys(path, deps);
    await writeFile(`${path}.lock`, '');
    expect(await add(2)).toMatchObject({ outcome: 'refused' });
    expect((await readdir(folder)).sort()).toEqual(['keys.json', 'keys.json.lock']);
    await rm(`${path}.lock`);
    await add(2);
    expect(kidsIn()).toEqual([1, 2]);
  });

  it('P12: removes what a command left that was killed before its file had the name', async () => {
    makeRootKeys(path, deps);
    const left = `${path}.0123456789abcdef.new`;
    const others = [`${path}.new`, join(folder, 'other.json.0123456789abcdef.new')];
    for (const each of [left, ...others]) await writeFile(each, '', { mode: 0o600 });
    await add(2);
    expect((await readdir(folder)).sort()).toEqual([path, ...others].map((each) => basename(each)).sort());
  });

  it('leaves no lock behind, whatever came of it', async () => {
    makeRootKeys(path, deps);
    const text = await readFile(path, 'utf8');
    expect(await changeRootKeys(path, deps, async () => refused('No.'))).toEqual(refused('No.'));
    const fault = new Error('the store does not answer');
    await expect(changeRootKeys(path, deps, () => Promise.reject(fault))).rejects.toBe(fault);
    expect([await readdir(folder), await readFile(path, 'utf8')]).toEqual([['keys.json'], text]);
  });

  it('is refused for a file that is missing, damaged or open to others, which stays as it is', async () => {
    const unasked = () => Promise.reject(new Error('it was asked for a change'));
    const problemOf = async () => {
      const changed = await changeRootKeys(path, deps, unasked);
      return changed.outcome === 'refused' ? changed.problem : '';
    };
    expect(await problemOf()).toStartWith(`The key file ${path} is missing. Restore it`);
    await writeFile(path, '{', { mode: 0o600 });
    expect(await problemOf()).toContain(' is damaged: ');
    await chmod(path, 0o644);
    expect(await problemOf()).toContain('can be read by other users');
    expect(await readFile(path, 'utf8')).toBe('{');
    expect(await readdir(folder)).toEqual(['keys.json']);
  });

  it('is refused where its folder cannot be written', async () => {
    // For root no folder is read-only; a name that leaves no room for the lock's is as good.
    await makeLongNamed(252);
    expect(await add(2)).toEqual({
      outcome: 'refused',
      problem: `The key file ${path} cannot be changed (ENAMETOOLONG): let this user write to its folder.`,
    });
    expect(kidsIn()).toEqual([1]);
  });

  it('leaves the file as it was when it cannot be written', async () => {
    await makeLongNamed(245);
    expect(await add(2)).toEqual({
      outcome: 'refused',
      problem: `The key file ${path} could not be written (ENAMETOOLONG): mayfly keys list shows its content.`,
    });
    expect([kidsIn(), (await readdir(folder)).length]).toEqual([[1], 1]);
  });
});

describe('the version of the key file', () => {
  it('is another after each change of its text, its place or its mode', async () => {
    const versions = [versionOfFile(path)];
    const note = () => versions.push(versionOfFile(path));
    makeRootKeys(path, deps);
    note();
    await add(2);
    note();
    await chmod(path, 0o644);
    note();
    await copyFile(path, join(folder, 'copy'));
    await rename(join(folder, 'copy'), path);
    note();
    await rm(path);
    await mkdir(path);
    note();
    expect(new Set(versions).size).toBe(versions.length);
    expect(versionOfFile(path)).toBe(versions.at(-1) ?? '');
  });

  it('is known of what cannot be looked at, too', async () => {
    expect(versionOfFile(path)).toBe('ENOENT');
    await symlink(path, path);
    expect(versionOfFile(path)).toBe('ELOOP');
  });
});

describe('the age of the key file', () => {
  it('counts from when it came here, not from when it was written', async () => {
    makeRootKeys(path, deps);
    // As a copy that keeps its times.
    await utimes(path, 1, 1);
    const { ctimeMs } = await stat(path);
    expect(ageOfFileMs(path, () => ctimeMs + 1_500)).toBe(1_500);
    expect(ageOfFileMs(path, () => ctimeMs - 1_500)).toBe(0);
    expect(ageOfFileMs(join(folder, 'none'), () => ctimeMs)).toBe(0);
  });
});
