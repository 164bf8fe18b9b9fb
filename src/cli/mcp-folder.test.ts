import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from './command.ts';
import { openFolder } from './mcp-folder.ts';

const canary = 'canary-outside-the-folder';

let base = '';
let root = '';
let outside = '';

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'mayfly-mcp-'));
  root = join(base, 'root');
  outside = join(base, 'outside');
  for (const path of [root, outside, join(root, 'sub'), join(root, 'sub', 'deep')]) mkdirSync(path);
  writeFileSync(join(outside, 'secret.txt'), canary);
  writeFileSync(join(root, 'own.txt'), 'own');
});
afterEach(() => rmSync(base, { recursive: true }));

/** The sentence of the refusal. Anything else fails the test. */
async function refused(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Refusal)) throw new Error(`not refused: ${String(error)}`);
  return error.message;
}

describe('the folder of an agent', () => {
  it('writes a new file that only this user can read, also in a folder below', async () => {
    const folder = await openFolder(root);
    for (const path of ['db.txt', 'sub/deep/db 2.txt', 'Schlüssel.txt']) {
      await (await folder.create(path)).keep(`content of ${path}`);
      expect(readFileSync(join(root, path), 'utf8')).toBe(`content of ${path}`);
      expect(statSync(join(root, path)).mode & 0o777).toBe(0o600);
    }
    expect(await folder.read('db.txt')).toEqual({
      name: 'db.txt',
      bytes: new TextEncoder().encode('content of db.txt'),
    });
  });

  it('may itself be named through a link, which is followed once, at the start', async () => {
    symlinkSync(root, join(base, 'link'));
    const folder = await openFolder(join(base, 'link'));
    await (await folder.create('db.txt')).keep('value');
    expect(readFileSync(join(root, 'db.txt'), 'utf8')).toBe('value');
  });

  it('never replaces a file, and removes only what it made', async () => {
    const folder = await openFolder(root);
    expect(await refused(folder.create('own.txt'))).toContain('already');
    expect(readFileSync(join(root, 'own.txt'), 'utf8')).toBe('own');
    await (await folder.create('new.txt')).drop();
    expect(readdirSync(root).sort()).toEqual(['own.txt', 'sub']);
    const file = await folder.create('moved.txt');
    rmSync(join(root, 'moved.txt'));
    writeFileSync(join(root, 'moved.txt'), 'of another program');
    await file.drop();
    expect(readFileSync(join(root, 'moved.txt'), 'utf8')).toBe('of another program');
  });

  const escapes = [
    ...[
      '',
      '.',
      '..',
      '/',
      '../outside/secret.txt',
      'sub/../../outside/secret.txt',
      'sub/./x.txt',
      'sub//x.txt',
    ],
    ...[
      '/etc/passwd',
      '/dev/stdout',
      '/proc/self/fd/1',
      '~/x.txt',
      'sub/',
      '/',
      './x.txt',
      'own.txt/',
      '-x.txt',
    ],
    ...[
      '..\\outside\\secret.txt',
      'C:\\x.txt',
      'C:x.txt',
      'x.txt:stream',
      '\\\\host\\share\\x',
      'NUL',
      'con.txt',
    ],
    ...[
      '.env',
      '.git/hooks/x',
      'sub/.hidden',
      'x.txt.',
      'x.txt ',
      ' x.txt',
      'a\0b.txt',
      'a\nb.txt',
      'a\u202eb.txt',
    ],
    ...[
      '%2e%2e/x.txt',
      'file:///x.txt',
      'https://x.example/x',
      'a'.repeat(101),
      'a/'.repeat(251),
      '*',
      'a?b',
      '|id',
    ],
  ];
  it.each(escapes.map((path) => [path]))('refuses %j as a path, before it touches a file', async (path) => {
    const folder = await openFolder(root, () => Promise.reject(new Error('opened')));
    for (const work of [folder.create(path), folder.read(path)])
      expect(await refused(work)).toContain('relative to the folder');
  });

  it('follows no link, wherever one is in the path', async () => {
    symlinkSync(join(outside, 'secret.txt'), join(root, 'link.txt'));
    symlinkSync(join(root, 'own.txt'), join(root, 'inner.txt'));
    symlinkSync(join(outside, 'new.txt'), join(root, 'dangling.txt'));
    symlinkSync(outside, join(root, 'dir'));
    symlinkSync('..', join(root, 'sub', 'up'));
    symlinkSync('/proc/self/fd', join(root, 'fd'));
    const folder = await openFolder(root);
    for (const path of ['link.txt', 'inner.txt', 'dir/secret.txt', 'sub/up/own.txt', 'fd/0'])
      await refused(folder.read(path));
    for (const path of ['link.txt', 'dangling.txt', 'dir/new.txt', 'sub/up/new.txt', 'fd/new.txt'])
      await refused(folder.create(path));
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  });

  it('reads no file with a second name, no folder, no pipe, and nothing over its limit', async () => {
    linkSync(join(outside, 'secret.txt'), join(root, 'hard.txt'));
    spawnSync('mkfifo', [join(root, 'pipe')]);
    writeFileSync(join(root, 'large.txt'), '');
    truncateSync(join(root, 'large.txt'), 32 * 1024 * 1024 + 1);
    const folder = await openFolder(root);
    for (const path of [
      'hard.txt',
      'pipe',
      'sub',
      'large.txt',
      'missing.txt',
      'missing/x.txt',
      'own.txt/x.txt',
    ])
      expect(await refused(folder.read(path))).not.toContain(canary);
  });

  /** Each time between the check of a path and its opening, and back right after it. */
  const swaps = ['once', 'back again'] as const;
  it.each(swaps)('notices a folder that turns into a link after the check (%s)', async (swap) => {
    const sub = join(root, 'sub');
    const aside = join(root, 'aside');
    const folder = await openFolder(root, async (...args) => {
      renameSync(sub, aside);
      symlinkSync(outside, sub);
      const handle = await open(...args);
      if (swap === 'once') return handle;
      rmSync(sub);
      renameSync(aside, sub);
      return handle;
    });
    const restore = () => {
      if (!lstatSync(sub).isSymbolicLink()) return;
      rmSync(sub);
      renameSync(aside, sub);
    };
    await refused(folder.read('sub/secret.txt'));
    restore();
    await refused(folder.create('sub/new.txt'));
    restore();
    // An empty file is all that such a race can leave.
    expect(readFileSync(join(outside, 'new.txt'), 'utf8')).toBe('');
  });

  it('notices that itself was replaced by a link', async () => {
    const folder = await openFolder(root);
    renameSync(root, join(base, 'before'));
    symlinkSync(outside, root);
    await refused(folder.read('secret.txt'));
    await refused(folder.create('new.txt'));
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  });
});
