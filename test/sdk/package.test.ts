/** The client as a developer gets it: packed, installed in an empty project without a network, and run in each runtime. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { deno, loadProgram, newerNode } from '../support/registry-program.ts';
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

const entries = [
  { path: '.', name: 'mayfly', usual: '7.0 kB' },
  { path: './domains', name: 'domains', usual: '4.0 kB' },
] as const;

/** What each loads when it first needs it. */
const loadedLater = ['sharing', 'asking', 'stretch', 'hpke'];

/** A text without the comments that name files, and without empty lines. */
function bare(text: string): string {
  return text.replace(/^\/\/.*\n/gm, '').replace(/\n\n+/g, '\n');
}

/** What a program's bundler takes at once. @param shared what it takes from elsewhere */
async function bundle(name: string, shared: readonly string[] = []): Promise<string> {
  const apart = [...loadedLater, ...shared].filter((other) => other !== name);
  const external = apart.flatMap((other) => ['--external', `*/${other}.js`]);
  const entry = join(installed, `${name}.js`);
  const args = ['build', '--target=browser', '--format=esm', ...external, entry];
  return bare(await succeed(process.execPath, args, folder));
}

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
  const [started, packed] = await Promise.all([
    startServer({ env: { MAYFLY_REQUESTS: 'anyone' } }),
    buildAndPack('first'),
    mkdir(project),
  ]);
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

  it('holds modules, their types and what a developer reads, and needs no other package', async () => {
    const names = await readdir(installed);
    const others = names.filter((name) => !/\.d\.ts$|\.js$/.test(name));
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json', 'protocol']);
    const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    const main = await read(join(repositoryRoot, 'package.json'));
    const manifest = await read(join(installed, 'package.json'));
    const { version, license } = main;
    const wanted = { name: '@mayfly/client', version, license, type: 'module', sideEffects: false };
    expect(manifest).toMatchObject({ ...wanted, engines: { node: '>=20' } });
    expect(Object.keys(manifest.exports as object)).toEqual(entries.map(({ path }) => path));
    expect(Object.keys(manifest).filter((name) => /dependencies|scripts|bin/i.test(name))).toEqual([]);
    expect((await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
      '@mayfly',
    ]);
  });

  for (const { path, name, usual } of entries)
    it(`is smaller than 7 kB compressed as ${path} (${usual} when this was written)`, async () => {
      const bundled = await bundle(name);
      expect(gzipSync(bundled, { level: 9 }).length).toBeWithin(1_000, 7_000);
    });

  it('loads what seals, asks and stretches only when it is needed, and is small even then', async () => {
    const sizes = loadedLater.map(async (name) => {
      const bundled = await bundle(name);
      return gzipSync(bundled, { level: 9 }).length;
    });
    const [sharing, asking, stretch, hpke] = await Promise.all(sizes);
    expect(sharing).toBeWithin(1_000, 10_500);
    expect(asking).toBeWithin(1_000, 11_000);
    expect(stretch).toBeWithin(1_000, 14_000);
    expect(hpke).toBeWithin(1_000, 8_000);
    for (const { name } of entries) {
      const bundled = await bundle(name);
      expect([name, /AES-GCM|WebAssembly|X25519/.test(bundled)]).toEqual([name, false]);
    }
  });

  it('brings nothing of another entry with one', async () => {
    const markOf = { mayfly: 'createClient', domains: 'createDomainClient' };
    for (const { name } of entries) {
      const bundled = await bundle(name);
      const found = Object.values(markOf).filter((mark) => bundled.includes(`function ${mark}(`));
      expect(found).toEqual([markOf[name]]);
    }
  });

  it('has one class of errors for all entries', async () => {
    const modules = entries.map(({ name }) => import(join(installed, `${name}.js`)));
    const classes = (await Promise.all(modules)).map((entry: { MayflyError: unknown }) => entry.MayflyError);
    expect(new Set(classes).size).toBe(1);
    expect(typeof classes[0]).toBe('function');
  });
});

/** What `scenario` tells in every runtime. */
const told = {
  hasPassphrase: true,
  wrong: { code: 'incorrect_passphrase', status: 422, hasRequestId: true },
  value: 'open sesame',
  printed: expect.stringMatching(
    /^\{"secretKey":"[0-9a-z]{31}","value":"\[sensitive\]","file":null\}\[object Object\]$/,
  ),
  second: { code: 'unknown_secret', status: 404, hasRequestId: true },
  gone: null,
  generatedLength: 20,
  isSame: true,
  file: ['x.bin', 'x/y', '0,255,10'],
  sealed: [true, false, 'plain'],
  asked: ['The password', 'rosemary'],
  aborted: 'aborted',
  betweenTries: 'aborted',
  timedOut: 'timed_out',
};

describe('the modules that the server offers', () => {
  // How a line of imports is broken differs, and how often the errors are imported, under which names.
  const flat = (text: string) =>
    text
      .replace(/import \{[^}]*\} from "\.\/error\.js";/g, 'from errors;')
      .replace(/\b(MayflyError|invalid)\d+/g, '$1')
      .replace(/(from errors;\s*)+/g, 'from errors; ')
      .replace(/\s+/g, ' ');
  const wanted = ['error', 'mayfly', ...loadedLater].flatMap((name) =>
    ['gzip', 'identity'].map((encoding) => ({ name, encoding })),
  );
  it('are the packed main entry, its errors, and those that it loads; caches keep them for an hour', async () => {
    for (const { name, encoding } of wanted) {
      // There is one class of errors for what is loaded later too.
      const packed = await bundle(name, ['error']);
      const headers = { 'accept-encoding': encoding };
      const answer = await fetch(`http://127.0.0.1:${server.port}/sdk/${name}.js`, { headers });
      const served = bare(await answer.text());
      expect([answer.status, flat(served)]).toEqual([200, flat(packed)]);
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
  const runtimes: Readonly<Record<string, () => Promise<readonly [string, ...string[]]>>> = {
    'the Node of this machine': async () => ['node'],
    'Node 26': async () => [await loadProgram(newerNode)],
    Bun: async () => [process.execPath],
    Deno: async () => [await loadProgram(deno), 'run', '--no-remote', '--allow-net=127.0.0.1'],
  };

  for (const [runtime, find] of Object.entries(runtimes)) {
    it(`installed, in ${runtime}`, async () => {
      const [command, ...flags] = await find();
      await using hanging = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () => new Promise<Response>(() => {}),
      });
      const program = `
        import * as sdk from '@mayfly/client';
        import process from 'node:process';
        const [, , server, hanging] = process.argv;
        const { revealed, told } = await (${scenario})(sdk, server, hanging);
        console.error(revealed, [revealed]);
        console.log(JSON.stringify({ ...told, version: process.version }));`;
      await writeFile(join(project, 'scenario.js'), program);
      const args = ['scenario.js', `http://127.0.0.1:${server.port}`, `http://127.0.0.1:${hanging.port}`];
      const { code, stdout, stderr } = await run(command, [...flags, ...args], project);
      if (code !== 0) throw new Error(stderr);
      expect([code, stderr.match(/\[sensitive\]/g)?.length, stderr.includes('open sesame')]).toEqual([
        0,
        2,
        false,
      ]);
      const { version, ...seen } = JSON.parse(stdout);
      expect(seen).toEqual(told);
      if (runtime === 'Node 26') expect(version).toBe(`v${newerNode.version}`);
    });
  }

  it('in a browser, loaded by a page of the same origin that lets it compile argon2id', async () => {
    const browser = await launchBrowser();
    try {
      await using visitor = await openVisitor(browser, { baseUrl: origin }, { scripts: true });
      const { page, violations } = visitor;
      await page.route(`${origin}/hanging/**`, () => {});
      for (const [path, script] of [
        ['strict-page', "'self'"],
        ['own-page', "'self' 'wasm-unsafe-eval'"],
      ])
        await page.route(`${origin}/${path}`, (route) =>
          route.fulfill({
            contentType: 'text/html',
            headers: { 'content-security-policy': `default-src 'self'; script-src ${script}` },
            body: '<!doctype html><title>own</title>',
          }),
        );
      await page.goto(`${origin}/strict-page`);
      const blocked =
        await page.evaluate(`import('/sdk/mayfly.js').then(async ({ createClient, MayflyError }) => {
        const mayfly = createClient({ server: '${origin}' });
        const { link } = await mayfly.conceal({ value: 'x' });
        const { value } = await mayfly.reveal(link);
        const error = await mayfly.conceal({ value: 'x', passphrase: 'p' }).catch((thrown) => thrown);
        return [value, error instanceof MayflyError, error.code];
      })`);
      expect(blocked).toEqual(['x', true, 'not_loaded']);
      await page.goto(`${origin}/own-page`);
      const inPage = `import('/sdk/mayfly.js').then((sdk) => (${scenario})(sdk, '${origin}', '${origin}/hanging'))`;
      const { told: seen } = (await page.evaluate(inPage)) as Awaited<ReturnType<typeof scenario>>;
      expect([seen as unknown, [...new Set(violations)]]).toEqual([
        told,
        ['securitypolicyviolation script-src wasm-eval'],
      ]);
    } finally {
      await browser.close();
    }
  });
});

describe('the packed types', () => {
  const compileAs = (settings: readonly string[], ...files: string[]) =>
    run(
      join(repositoryRoot, 'node_modules', '.bin', 'tsc'),
      ['--strict', '--noEmit', ...settings, ...files],
      project,
    );
  const compile = (...files: string[]) => compileAs(['--module', 'nodenext'], ...files);

  /** A program of ours that uses every export of an entry, as a developer would have it. */
  async function writeConsumer(name: string, entry: string): Promise<string> {
    const source = await readFile(join(import.meta.dir, `${name}.ts`), 'utf8');
    const consumer = source.replace(/'\.\.\/\.\.\/sdk\/\w+\.ts'/, `'${entry}'`);
    expect(consumer).toContain(`from '${entry}'`);
    await writeFile(join(project, `${name}.ts`), consumer);
    return consumer;
  }

  const consumers = { mayfly: 'consumer', domains: 'consumer-domains' };

  for (const { path, name } of entries)
    it(`have a program that uses every export of ${path}`, async () => {
      const consumer = await writeConsumer(consumers[name], `@mayfly/client${path.slice(1)}`);
      const names = await exportsOf(name);
      expect(names).toContain('MayflyError');
      expect(names.filter((each) => !new RegExp(`\\b${each}\\b`).test(consumer))).toEqual([]);
    });

  for (const settings of [
    ['--module', 'nodenext'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ['--module', 'nodenext', '--exactOptionalPropertyTypes', '--lib', 'es2022,dom', '--types', ''],
  ])
    it(`check these programs with ${settings.join(' ')}`, async () => {
      const files = Object.values(consumers).map((name) => `${name}.ts`);
      expect(await compileAs(settings, ...files)).toEqual({ code: 0, stdout: '', stderr: '' });
    });

  async function exportsOf(name: string): Promise<string[]> {
    const declared = await readFile(join(installed, `${name}.d.ts`), 'utf8');
    const lists = [...declared.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
      names.split(',').map((each) => each.replace('type ', '').trim()),
    );
    const own = [...declared.matchAll(/^export (?:declare )?(?:interface|type|function) (\w+)/gm)];
    return [...lists, ...own.map(([, each = '']) => each)].filter((each) => each !== '');
  }

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

  const used = "import { createClient } from '@mayfly/client';";
  const readBack =
    "console.log((await createClient({ server: 'http://localhost:3000' }).reveal(link)).value);";
  const documents: readonly (readonly [
    string,
    () => string,
    (text: string) => string,
    readonly unknown[],
  ])[] = [
    [
      "the package's README",
      () => join(installed, 'README.md'),
      (text) => {
        const [example = '', ...rest] = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, found]) => found);
        expect(rest).toEqual([]);
        return example;
      },
      ['still waiting', 'open sesame', 'unknown_secret', expect.stringMatching(/^404 null [0-9a-f]{20}$/)],
    ],
    [
      'the README',
      () => join(repositoryRoot, 'README.md'),
      (text) => [used, /^\| TypeScript \| `(.+)` \|$/m.exec(text)?.[1] ?? '', readBack].join('\n'),
      ['open sesame'],
    ],
  ];
  for (const [document, path, programIn, printed] of documents) {
    it(`agree with the example in ${document}, which runs`, async () => {
      const example = programIn(await readFile(path(), 'utf8'));
      const address = /https:\/\/secrets\.example\.org|http:\/\/localhost:3000/g;
      const program = example.replace(address, `http://127.0.0.1:${server.port}`);
      expect(program).not.toBe(example);
      for (const name of ['readme.ts', 'readme.js']) await writeFile(join(project, name), program);
      expect(await compile('readme.ts')).toEqual({ code: 0, stdout: '', stderr: '' });
      const { stdout, stderr } = await run('node', ['readme.js'], project);
      expect([stderr, stdout.trim().split('\n') as unknown]).toEqual(['', printed]);
    });
  }
});
