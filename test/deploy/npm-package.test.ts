/** The npm package as its user gets it: `npx` in an empty folder, with Node, npm and a registry. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, repositoryRoot, watch } from '../support/started-server.ts';
import { startRegistry } from './registry.ts';

setDefaultTimeout(120_000);

let folder = '';
let tarball = '';
const registry = startRegistry();

/** Without the settings that npm hands to what it runs. */
function start(command: string, args: readonly string[], cwd: string, more: Record<string, string> = {}) {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: registry.url.href,
    npm_config_update_notifier: 'false',
    ...more,
  };
  const child = spawn(command, [...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  return { child, ...watch(child) };
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  more?: Record<string, string>,
  input = '',
) {
  const { child, stdout, stderr, exited } = start(command, args, cwd, more);
  child.stdin.end(input);
  const { code } = await exited;
  return { code, stdout: stdout(), stderr: stderr() };
}

function emptyFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-npx-'));
  const script = `import { makeNpmPackages } from '${repositoryRoot}/scripts/npm-package.mjs';
    await makeNpmPackages('${folder}/made');`;
  const made = await run('node', ['--input-type=module', '--eval', script], folder);
  expect(made).toMatchObject({ code: 0 });
  tarball = join(folder, 'made', 'mayfly.tgz');
});
afterAll(async () => {
  await registry.stop(true);
  rmSync(folder, { recursive: true });
});

describe('the npm package', () => {
  it('holds the program, its launcher, its papers and the package of the client, in less than two megabytes', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball], folder);
    const names = stdout.trim().split('\n');
    const papers = ['CHANGELOG.md', 'LICENSE', 'LICENSES.txt', 'README.md', 'package.json'];
    const others = names
      .map((name) => name.replace('package/', ''))
      .filter((name) => !/^lib\/[\w-]+\.js$/.test(name));
    const programs = ['bunfig.toml', 'lib/client.tgz', 'mayfly.mjs', 'pass-through.mjs'];
    expect(others.sort()).toEqual([...papers, ...programs].sort());
    expect(statSync(tarball).size).toBeWithin(500_000, 1_900_000);
  });

  it('says in its README what works where it is installed, and links to nothing that it lacks', async () => {
    const { stdout } = await run('tar', ['-xzOf', tarball, 'package/README.md'], folder);
    expect(stdout).toContain('\nmayfly serve\n');
    expect(stdout).not.toMatch(/\]\((?!https?:)|npm (?:start|run)/);
  });

  it('asks for the runtime and the native part at exact versions, and has no script', async () => {
    const { stdout } = await run('tar', ['-xzOf', tarball, 'package/package.json'], folder);
    const manifest = JSON.parse(stdout) as Record<string, Record<string, string>>;
    const own = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
    expect(Object.keys(manifest)).not.toContain('scripts');
    expect(manifest.dependencies).toEqual({ '@node-rs/argon2': own.dependencies['@node-rs/argon2'] });
    expect(new Set(Object.values(manifest.optionalDependencies ?? {}))).toEqual(
      new Set([own.dependencies.bun]),
    );
  });

  it('names the works of others in it', async () => {
    const { stdout } = await run('tar', ['-xzOf', tarball, 'package/LICENSES.txt'], folder);
    for (const name of ['hono', 'zod', 'pino', 'nodemailer', 'bun', '@node-rs/argon2'])
      expect(stdout).toMatch(new RegExp(`^${name} \\d+\\.\\d+`, 'm'));
    expect(stdout).toContain('display.woff2 is Fraunces');
    expect(stdout).toContain('SIL OPEN FONT LICENSE');
  });
});

/** As the runtime says its options. */
const withoutLastTier = 'useFTLJIT=false';

describe('npx in an empty folder', () => {
  it('serves from ./data, shares and reveals once at the address it came from, runs no script to install anything, and ends as asked', async () => {
    const cwd = emptyFolder('empty');
    copyFileSync(tarball, join(cwd, 'mayfly.tgz'));
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const server = start('npx', ['--yes', './mayfly.tgz', 'serve'], cwd, {
      PORT: String(port),
      MAYFLY_BASE_URL: `${origin}/drop`,
      npm_config_ignore_scripts: 'true',
      BUN_JSC_dumpOptions: '1',
    });
    const ready = Promise.withResolvers<void>();
    server.child.stderr.on('data', () => server.stderr().includes('is ready') && ready.resolve());
    await Promise.race([ready.promise, server.exited]);
    expect(server.stderr()).toContain(`is ready: ${origin}/drop`);
    expect(server.stderr()).toContain(withoutLastTier);

    // It packs itself again into the very bytes that it was installed from, without what else is in its folder.
    for (const folderOfIt of new Bun.Glob('cache/_npx/*/node_modules/mayfly').scanSync({
      cwd: folder,
      onlyFiles: false,
    })) {
      mkdirSync(join(folder, folderOfIt, 'data'));
      for (const name of ['data/keys.json', 'lib/keys.json', 'keys.json'])
        writeFileSync(join(folder, folderOfIt, name), 'canary');
    }
    for (const name of ['mayfly.tgz', 'client.tgz']) {
      const served = await (await fetch(`${origin}/drop/${name}`)).bytes();
      expect([name, readFileSync(join(folder, 'made', name)).equals(served)]).toEqual([name, true]);
    }

    // The address is all that the command is told of the server.
    const away = emptyFolder('away');
    writeFileSync(join(away, 'report.txt'), 'open sesame');
    const options = { BUN_JSC_dumpOptions: '1' };
    const npx = (...args: string[]) =>
      run('npx', ['--yes', `${origin}/drop/mayfly.tgz`, ...args], away, options);
    const shared = await npx('share', 'report.txt');
    const link = shared.stdout.trim();
    expect(shared.stderr).toContain('JSC options');
    expect(shared.stderr).not.toContain(withoutLastTier);
    expect([shared.code, link]).toEqual([0, expect.stringContaining(`${origin}/drop/secret/`)]);
    expect(await npx('reveal', '--out', '-', link)).toMatchObject({ code: 0, stdout: 'open sesame' });
    expect((await npx('reveal', '--out', '-', link)).code).toBe(1);
    expect(await run('npm', ['install', `${origin}/drop/client.tgz`], away)).toMatchObject({ code: 0 });
    const program = `import { createClient } from '@mayfly/client';
      const mayfly = createClient({ server: '${origin}/drop' });
      console.log((await mayfly.reveal((await mayfly.conceal({ value: 'by the client' })).link)).value);`;
    const ended = await run('node', ['--input-type=module', '--eval', program], away);
    expect(ended).toMatchObject({ code: 0, stdout: 'by the client\n' });
    const body = new URLSearchParams({ secret: 'thyme is needed', passphrase: 'thyme' });
    const made = await fetch(`${origin}/drop/api/v1/share`, { method: 'POST', body });
    expect(made.status).toBe(200);

    server.child.kill('SIGTERM');
    await server.exited;
    expect(readdirSync(cwd).sort()).toEqual(['data', 'mayfly.tgz']);
  });

  it('says what is missing where npm was told to leave the runtime out', async () => {
    const cwd = emptyFolder('bare');
    const flags = ['--omit=optional', '--no-audit', '--no-fund'];
    expect(await run('npm', ['install', tarball, ...flags], cwd)).toMatchObject({ code: 0 });
    const { code, stderr } = await run(join(cwd, 'node_modules', '.bin', 'mayfly'), ['version'], cwd);
    expect(code).toBe(1);
    expect(stderr).toContain('needs the package @oven/bun-');
    expect(stderr).toContain('--omit=optional');
  });
});
