/** `scripts/install.mjs`: the runtime that Mayfly runs on is one whose hash npm has compared with the lock (P27). */
import { afterEach, describe, expect, it } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o755 });
}

const here = 'node_modules/@oven/bun-here';
const runtime = { 'node_modules/bun': { version: '1.0.0', integrity: 'sha512-bun' } };
const locked = { ...runtime, [here]: { version: '1.0.0', integrity: 'sha512-right', optional: true } };
/** A program, and as large as one. */
const program = (words: string) => `#!/bin/sh\necho ${words}\nexit 0\n${'#'.repeat(1_100_000)}\n`;
const placeholder = 'no runtime yet\n';

interface Unpacked {
  /** As npm notes them. */
  readonly packages: object;
  readonly files: Readonly<Record<string, string>>;
}

/** A checkout whose npm unpacks this, and what is in it before. */
function makeCheckout(unpacked: Unpacked, before: Unpacked | null = null): string {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-install-'));
  folders.push(folder);
  mkdirSync(join(folder, 'scripts'));
  copyFileSync(join(repositoryRoot, 'scripts/install.mjs'), join(folder, 'scripts/install.mjs'));
  write(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...locked } }));
  const lay = (at: string, { packages, files }: Unpacked) => {
    for (const [path, text] of Object.entries(files)) write(join(folder, at, path), text);
    write(join(folder, at, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  };
  lay('unpacked', unpacked);
  if (before !== null) lay('.', before);
  const copying = 'echo "$@" >>npm-calls; rm -rf node_modules; cp -R unpacked/node_modules node_modules';
  write(join(folder, 'bin/npm'), `#!/bin/sh\n${copying}\n`);
  chmodSync(join(folder, 'bin/npm'), 0o755);
  return folder;
}

function install(folder: string) {
  const { npm_execpath: _own, ...env } = process.env;
  const { status, stderr } = spawnSync('node', [join(folder, 'scripts/install.mjs')], {
    ...{ cwd: folder, encoding: 'utf8' },
    env: { ...env, PATH: `${join(folder, 'bin')}:${env.PATH}` },
  });
  const calls = join(folder, 'npm-calls');
  return {
    status,
    stderr,
    npm: existsSync(calls) ? readFileSync(calls, 'utf8') : '',
    runs: readFileSync(join(folder, 'node_modules/bun/bin/bun.exe'), 'utf8').split('\n', 2)[1] ?? '',
  };
}

const right: Unpacked = {
  packages: locked,
  files: {
    'node_modules/bun/bin/bun.exe': placeholder,
    'node_modules/bun/install.js': "require('node:fs').writeFileSync('install-script', '')",
    [`${here}/bin/bun`]: program('checked'),
  },
};
/** As the runtime's own script leaves it where npm has unpacked none. */
const downloaded: Unpacked = {
  packages: runtime,
  files: { 'node_modules/bun/bin/bun.exe': program('downloaded') },
};
const tampered: Unpacked = {
  ...right,
  packages: { ...locked, [here]: { ...locked[here], integrity: 'sha512-other' } },
};

describe('an installation', () => {
  it('runs the binary that npm has compared with the lock, and no install script', () => {
    const folder = makeCheckout(right);
    expect(install(folder)).toMatchObject({ status: 0, runs: 'echo checked' });
    expect(existsSync(join(folder, 'install-script'))).toBe(false);
    expect(install(folder).npm.split('\n')).toHaveLength(2);
  });

  it('by npm ci is completed without another', () => {
    expect(install(makeCheckout(right, right))).toMatchObject({ status: 0, npm: '', runs: 'echo checked' });
  });

  it('is refused without such a binary, or with one of another hash', () => {
    for (const unpacked of [downloaded, tampered]) {
      const { status, stderr } = install(makeCheckout(unpacked));
      expect(status).toBe(1);
      expect(stderr).toContain('npm installed no runtime for this system');
    }
  });

  it('with a runtime that was downloaded without a hash is made anew', () => {
    for (const before of [downloaded, tampered])
      expect(install(makeCheckout(right, before))).toMatchObject({ status: 0, runs: 'echo checked' });
  });

  it('by hand runs no script either: the checkout tells npm so', () => {
    expect(readFileSync(join(repositoryRoot, '.npmrc'), 'utf8')).toContain('ignore-scripts=true\n');
  });
});
