/** `npm run build` and `npm run release`: the same bytes from the same sources, for the system that was asked for. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { targets } from '../../scripts/targets.mjs';
import { isLongRun, limitMs } from '../support/counts.ts';
import { buildExecutable } from '../support/executable.ts';
import { repositoryRoot } from '../support/started-server.ts';
import { nativePartsOf, systemOf } from './program-file.ts';

setDefaultTimeout(120_000);

/** What an executable is made of, and npm's record of what is installed. */
const inputs = [
  'src',
  'sdk',
  'docs',
  'scripts',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'tsconfig.json',
  'bunfig.toml',
  'LICENSE',
  'CHANGELOG.md',
];

const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
  version: string;
};

let folder = '';
let executable = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-build-'));
  executable = join(folder, 'mayfly');
  await buildExecutable(executable, []);
});
afterAll(() => rmSync(folder, { recursive: true }));

function node(args: readonly string[], env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const { status, stdout, stderr } = spawnSync('node', [...args], {
    env: { PATH, HOME, ...env },
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
  return { code: status, stdout, stderr };
}

/** By hard links where they can be made: nothing is changed in the copy, and 300 MB take seconds. */
function copyTo(other: string, names: readonly string[]): number | null {
  const whole = names.map((name) => join(repositoryRoot, name));
  const { status } = spawnSync('cp', ['-al', ...whole, other]);
  return status === 0 ? status : spawnSync('cp', ['-a', '--remove-destination', ...whole, other]).status;
}

const inScripts = (name: string) => join(repositoryRoot, 'scripts', name);

function nativePartOf(name: string): string {
  const { native = '' } = targets.find((target) => target.name === name) ?? {};
  return native.replace('@node-rs/argon2-', '');
}

describe('the executable', () => {
  it('has the same bytes when the sources are in another folder, and does not name either', () => {
    const other = join(folder, 'another folder, of another length');
    mkdirSync(other);
    expect(copyTo(other, [...inputs, 'node_modules'])).toBe(0);
    const again = join(folder, 'again');
    expect(node([join(other, 'scripts', 'build.mjs'), again])).toMatchObject({ code: 0 });
    const [first, second] = [readFileSync(executable), readFileSync(again)];
    expect(first.equals(second)).toBe(true);
    expect([first.includes(repositoryRoot), first.includes(folder)]).toEqual([false, false]);
  });

  it('is for this system, and holds the native part of this system, whole, and of no other', () => {
    const system = systemOf(executable);
    expect(nativePartsOf(executable)).toEqual([nativePartOf(system)]);
    const part = join(repositoryRoot, 'node_modules', '@node-rs', `argon2-${nativePartOf(system)}`);
    const name = readdirSync(part).find((each) => each.endsWith('.node')) ?? '';
    expect(readFileSync(executable).includes(readFileSync(join(part, name)))).toBe(true);
  });

  it('self-test: other systems and other native parts are told apart', () => {
    const path = join(folder, 'other');
    const elf = Buffer.alloc(128);
    elf.write('\x7fELF', 'latin1');
    elf.writeUInt16LE(183, 18);
    writeFileSync(path, elf);
    expect(systemOf(path)).toBe('linux-arm64');
    const windows = Buffer.alloc(128);
    windows.write('MZ');
    windows.writeUInt32LE(64, 60);
    windows.writeUInt16LE(43_620, 68);
    writeFileSync(path, windows);
    expect(systemOf(path)).toBe('windows-arm64');
    writeFileSync(path, 'root/argon2.linux-x64-gnu.node root/argon2.win32-x64-msvc.node');
    expect(nativePartsOf(path)).toEqual(['linux-x64-gnu', 'win32-x64-msvc']);
  });
});

describe('the commands', () => {
  for (const script of ['build.mjs', 'release.mjs'])
    it(`${script} explains itself, and refuses what it does not know without building anything`, () => {
      const help = node([inScripts(script), '--help']);
      expect([help.code, help.stderr]).toEqual([0, '']);
      expect(help.stdout).toContain('--target');
      for (const [args, words] of [
        [['--target', 'solaris-x64'], 'There is no target solaris-x64'],
        [['--targets'], "Unknown option '--targets'"],
        [['one', 'two'], 'What is two?'],
      ] as const) {
        const { code, stdout, stderr } = node([inScripts(script), ...args]);
        expect([code, stdout]).toEqual([2, '']);
        expect(stderr).toContain(words);
        expect(stderr).toContain('--target');
      }
    });

  it('list only targets whose runtime and native part are in package-lock.json', () => {
    const lock = readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8');
    for (const { native } of targets) expect(lock).toContain(`"node_modules/${native}"`);
  });
});

describe('what a release says of itself', () => {
  const seconds = 1_795_300_000;
  const write = (name: string) => {
    const path = join(folder, name);
    const script = `import { writeSbom } from '${inScripts('inventory.mjs')}'; writeSbom('${path}', ${seconds});`;
    expect(node(['--input-type=module', '--eval', script])).toMatchObject({ code: 0, stderr: '' });
    return readFileSync(path, 'utf8');
  };

  it('is an SBOM of every package that is shipped and of no other, the same each time', () => {
    const text = write('first.json');
    expect(write('second.json')).toBe(text);
    const sbom = JSON.parse(text);
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      serialNumber: expect.stringMatching(
        /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      metadata: { timestamp: '2026-11-21T22:26:40.000Z', component: { name: 'mayfly' } },
    });
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(repositoryRoot, 'package.json'), 'utf8'),
    );
    const listed = new Set(
      (sbom.components as { group?: string; name: string }[]).map(({ name, group }) =>
        group === undefined || name.startsWith('@') ? name : `${group}/${name}`,
      ),
    );
    expect(Object.keys(dependencies).filter((name) => !listed.has(name))).toEqual([]);
    expect(Object.keys(devDependencies).filter((name) => listed.has(name))).toEqual([]);
  });

  it('is checksums that sha256sum checks, and that a changed file fails', () => {
    const made = join(folder, 'sums');
    mkdirSync(made);
    copyFileSync(join(repositoryRoot, 'LICENSE'), join(made, 'LICENSE'));
    writeFileSync(join(made, 'mayfly'), 'program');
    const script = `import { writeSums } from '${inScripts('inventory.mjs')}'; writeSums('${made}');`;
    expect(node(['--input-type=module', '--eval', script])).toMatchObject({ code: 0 });
    const check = () => spawnSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: made }).status;
    expect(check()).toBe(0);
    writeFileSync(join(made, 'mayfly'), 'another program');
    expect(check()).toBe(1);
  });
});

/** A target takes ten seconds, and most of its packages are not here yet, so the usual run makes one: of another libc. */
const released = isLongRun ? targets : targets.filter(({ name }) => name === 'linux-x64-musl');

describe(`a release for ${released.length} of ${targets.length} systems`, () => {
  const outdir = () => join(folder, 'release');

  it(
    'is made in one command, and its checksums are right',
    () => {
      const flags = released.flatMap(({ name }) => ['--target', name]);
      expect(node([inScripts('release.mjs'), outdir(), ...flags])).toMatchObject({ code: 0 });
      expect(spawnSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: outdir() }).status).toBe(0);
      const [kinds, debian] = [['.cdx.json', '.tgz', '.txt'], isLongRun ? 2 : 0];
      const names = readdirSync(outdir());
      for (const kind of kinds) expect(names.filter((name) => name.endsWith(kind))).not.toEqual([]);
      expect(names.filter((name) => name.endsWith('.deb'))).toHaveLength(debian);
    },
    limitMs(120_000),
  );

  it('has the npm packages, which every executable of the same sources holds, to serve them byte for byte', () => {
    const paths = released.map(({ name, suffix }) => join(outdir(), `mayfly-${version}-${name}${suffix}`));
    for (const path of [executable, ...paths]) {
      const program = readFileSync(path);
      for (const name of [`mayfly-${version}.tgz`, `mayfly-client-${version}.tgz`])
        expect([path, name, program.includes(readFileSync(join(outdir(), name)))]).toEqual([
          path,
          name,
          true,
        ]);
    }
  });

  it('has an executable for each of them, with its own native part and no other', () => {
    const found = released.map(({ name, suffix }) => {
      const path = join(outdir(), `mayfly-${version}-${name}${suffix}`);
      return [systemOf(path), nativePartsOf(path)];
    });
    expect(found).toEqual(released.map(({ name }) => [name, [nativePartOf(name)]]));
  });
});
