/** The client as a developer gets it: packed, installed in an empty project without a network, and run in each runtime. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { repositoryRoot, type StartedServer, startServer, watch } from '../support/started-server.ts';
import { launchBrowser, openVisitor } from '../web/browser.ts';
import { scenario } from './scenario.ts';

setDefaultTimeout(120_000);

let folder: string;
/** Of a developer: nothing in it but the installed package. */
let project: string;
let installed: string;
let tarball: string;
let server: StartedServer;
let origin: string;

/** Without the settings that npm hands to what it runs. */
async function run(command: string, args: readonly string[], cwd: string) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, npm_config_cache: join(folder, 'cache') };
  const child = spawn(command, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr, exited } = watch(child);
  const { code } = await exited;
  return { code, stdout: stdout(), stderr: stderr() };
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const ended = await run(command, args, cwd);
  if (ended.code !== 0) throw new Error(`${command} ${args.join(' ')}: ${ended.stderr}${ended.stdout}`);
  return ended.stdout;
}

/** @returns the tarball */
async function buildAndPack(name: string): Promise<string> {
  const outdir = join(folder, name);
  await succeed('node', [join(repositoryRoot, 'scripts', 'build-sdk.mjs'), outdir], folder);
  const packed = await succeed('npm', ['pack', '--silent', '--offline'], outdir);
  return join(outdir, packed.trim());
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  project = join(folder, 'project');
  installed = join(project, 'node_modules', '@mayfly', 'client');
  const [started, packed] = await Promise.all([startServer(), buildAndPack('first'), mkdir(project)]);
  [server, tarball] = [started, packed];
  origin = `http://localhost:${server.port}`;
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  await succeed('npm', ['install', tarball, '--offline', '--no-audit', '--no-fund'], project);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe('the package', () => {
  it('has the same bytes in every build', async () => {
    const again = await buildAndPack('second');
    expect((await readFile(again)).equals(await readFile(tarball))).toBe(true);
  });

  it('holds one module, its types and what a developer reads, and needs no other package', async () => {
    const names = await readdir(installed);
    const others = ['LICENSE', 'README.md', 'mayfly.js', 'package.json'];
    expect(names.filter((name) => !name.endsWith('.d.ts')).sort()).toEqual(others);
    const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    const main = await read(join(repositoryRoot, 'package.json'));
    const manifest = await read(join(installed, 'package.json'));
    const { version, license } = main;
    const wanted = { name: '@mayfly/client', version, license, type: 'module', sideEffects: false };
    expect(manifest).toMatchObject({ ...wanted, engines: { node: '>=20' } });
    expect(Object.keys(manifest).filter((name) => /dependencies|scripts|bin/i.test(name))).toEqual([]);
    expect((await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
      '@mayfly',
    ]);
  });

  it('is smaller than 6 kB compressed (4.9 kB when this was written)', async () => {
    const module = await readFile(join(installed, 'mayfly.js'));
    expect(gzipSync(module, { level: 9 }).length).toBeWithin(1_000, 6_000);
  });
});

/** What `scenario` tells in every runtime. */
const told = {
  hasPassphrase: true,
  wrong: { code: 'incorrect_passphrase', status: 422, hasRequestId: true },
  value: 'open sesame',
  printed: expect.stringMatching(/^\{"secretKey":"[0-9a-z]{31}","value":"\[sensitive\]"\}\[object Object\]$/),
  second: { code: 'unknown_secret', status: 404, hasRequestId: true },
  gone: null,
  generatedLength: 20,
  isSame: true,
  aborted: 'aborted',
  betweenTries: 'aborted',
  timedOut: 'timed_out',
};

describe('the module that the server offers', () => {
  it('is the packed one, which caches keep for an hour', async () => {
    const packed = await readFile(join(installed, 'mayfly.js'), 'utf8');
    for (const encoding of ['gzip', 'identity']) {
      const headers = { 'accept-encoding': encoding };
      const answer = await fetch(`http://127.0.0.1:${server.port}/sdk/mayfly.js`, { headers });
      expect([answer.status, await answer.text()]).toEqual([200, packed]);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      });
    }
  });
});

describe('the client works', () => {
  for (const [runtime, command] of [
    ['Node', 'node'],
    ['Bun', process.execPath],
  ] as const) {
    it(`installed, in ${runtime}`, async () => {
      await using hanging = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () => new Promise<Response>(() => {}),
      });
      const program = `
        import * as sdk from '@mayfly/client';
        const [, , server, hanging] = process.argv;
        const { revealed, told } = await (${scenario})(sdk, server, hanging);
        console.error(revealed, [revealed]);
        console.log(JSON.stringify(told));`;
      await writeFile(join(project, 'scenario.js'), program);
      const args = ['scenario.js', `http://127.0.0.1:${server.port}`, `http://127.0.0.1:${hanging.port}`];
      const { code, stdout, stderr } = await run(command, args, project);
      expect([code, stderr.match(/\[sensitive\]/g)?.length, stderr.includes('open sesame')]).toEqual([
        0,
        2,
        false,
      ]);
      expect(JSON.parse(stdout)).toEqual(told);
    });
  }

  it("in a browser, loaded by a page of the server under the page's policy", async () => {
    const browser = await launchBrowser();
    try {
      await using visitor = await openVisitor(browser, { baseUrl: origin }, { scripts: true });
      const { page, violations } = visitor;
      await page.route(`${origin}/hanging/**`, () => {});
      await page.goto(`${origin}/about`);
      const inPage = `import('/sdk/mayfly.js').then((sdk) => (${scenario})(sdk, '${origin}', '${origin}/hanging'))`;
      const { told: seen } = (await page.evaluate(inPage)) as Awaited<ReturnType<typeof scenario>>;
      expect([seen as unknown, violations]).toEqual([told, []]);
    } finally {
      await browser.close();
    }
  });
});

describe('the packed types', () => {
  const compile = (...files: string[]) =>
    run(
      join(repositoryRoot, 'node_modules', '.bin', 'tsc'),
      ['--module', 'nodenext', '--strict', '--noEmit', ...files],
      project,
    );

  it('check a program that uses every export', async () => {
    const source = await readFile(join(import.meta.dir, 'consumer.ts'), 'utf8');
    const consumer = source.replace("'../../sdk/mayfly.ts'", "'@mayfly/client'");
    expect(consumer).toContain("from '@mayfly/client'");
    await writeFile(join(project, 'consumer.ts'), consumer);
    expect(await compile('consumer.ts')).toEqual({ code: 0, stdout: '', stderr: '' });
    const declared = await readFile(join(installed, 'mayfly.d.ts'), 'utf8');
    const lists = [...declared.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.replace('type ', '').trim()),
    );
    const own = [...declared.matchAll(/^export (?:declare )?(?:interface|type|function) (\w+)/gm)];
    const names = [...lists, ...own.map(([, name = '']) => name)].filter((name) => name !== '');
    expect(names).toContain('Revealed');
    expect(names).toContain('createClient');
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(consumer))).toEqual([]);
  });

  it('refuse a wrong use', async () => {
    const wrong = [
      `import { createClient } from '@mayfly/client';`,
      `const mayfly = createClient({ server: 'https://x.example' });`,
      'const { value } = await mayfly.reveal(5);',
      'export const length: number = value;',
      '',
    ];
    await writeFile(join(project, 'wrong.ts'), wrong.join('\n'));
    const { code, stdout } = await compile('wrong.ts');
    const found = [...stdout.matchAll(/\((\d+),\d+\): error TS(\d+)/g)].map(([, line, fault]) => [
      line,
      fault,
    ]);
    expect(code).not.toBe(0);
    expect(found).toEqual([
      ['3', '2345'],
      ['4', '2322'],
    ]);
  });

  const documents: readonly (readonly [string, () => string, string, readonly unknown[]])[] = [
    [
      "the package's README",
      () => join(installed, 'README.md'),
      'https://secrets.example.org',
      ['still waiting', 'open sesame', 'unknown_secret', expect.stringMatching(/^404 null [0-9a-f]{20}$/)],
    ],
    ['the README', () => join(repositoryRoot, 'README.md'), 'http://localhost:3000', ['open sesame']],
  ];
  for (const [document, path, address, printed] of documents) {
    it(`agree with the example in ${document}, which runs`, async () => {
      const text = await readFile(path(), 'utf8');
      const [example = '', ...rest] = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, found]) => found);
      expect([rest, example.includes(address)]).toEqual([[], true]);
      const program = example.replace(address, `http://127.0.0.1:${server.port}`);
      for (const name of ['readme.ts', 'readme.js']) await writeFile(join(project, name), program);
      expect(await compile('readme.ts')).toEqual({ code: 0, stdout: '', stderr: '' });
      const { stdout, stderr } = await run('node', ['readme.js'], project);
      expect([stderr, stdout.trim().split('\n') as unknown]).toEqual(['', printed]);
    });
  }
});
