/** The single executable serves exactly what a checkout serves, without Node, packages or sources next to it. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buildExecutable,
  type EndedExecutable,
  runExecutable,
  serveExecutable,
} from '../support/executable.ts';
import { agentOfProcess } from './mcp-agent.ts';

setDefaultTimeout(120_000);

let folder: string;
let executable: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  executable = join(folder, 'mayfly');
  await buildExecutable(executable, []);
});
afterAll(() => rmSync(folder, { recursive: true }));

function done({ code, stdout, stderr }: EndedExecutable): string {
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trim();
}

describe('the executable, alone in an empty folder, without Node', () => {
  it('serves, shares, reveals, backs up and restores', async () => {
    const cwd = mkdtempSync(join(folder, 'empty-'));
    writeFileSync(join(cwd, 'passphrase'), 'thyme\n');
    await using server = await serveExecutable(executable, { cwd });
    const env = { MAYFLY_SERVER: server.origin };
    const run = (args: readonly string[], input = '') => runExecutable(executable, args, { cwd, env, input });

    const link = done(await run(['share', '--passphrase-file', 'passphrase'], 'open sesame\n'));
    expect(done(await run(['reveal', link, '--passphrase-file', 'passphrase']))).toBe('open sesame');
    expect((await run(['reveal', link, '--passphrase-file', 'passphrase'])).code).toBe(1);
    const waiting = done(await run(['share'], 'in the backup'));

    for (const [name, mark] of [
      ['mayfly', 'createClient,'],
      ['sharing', 'AES-GCM'],
      ['asking', 'AES-GCM'],
      ['stretch', 'WebAssembly'],
      ['hpke', 'X25519'],
    ] as const) {
      const module = await fetch(`${server.origin}/sdk/${name}.js`);
      expect([module.status, await module.text()]).toEqual([200, expect.stringContaining(mark)]);
    }
    expect((await fetch(`${server.origin}/`)).status).toBe(200);
    expect(await (await fetch(`${server.origin}/docs/command`)).text()).toContain('<h1>The command</h1>');

    const inFolder = (args: readonly string[], dataDir: string) =>
      runExecutable(executable, args, { cwd, env: { MAYFLY_DATA_DIR: dataDir } });
    done(await inFolder(['backup', 'backup.db'], 'data'));
    done(await inFolder(['restore', 'backup.db', '--yes'], 'restored'));
    await server.stop();
    expect(readdirSync(cwd).sort()).toEqual(['backup.db', 'data', 'passphrase', 'restored']);

    copyFileSync(join(cwd, 'data', 'keys.json'), join(cwd, 'restored', 'keys.json'));
    const restored = await serveExecutable(executable, { cwd, env: { MAYFLY_DATA_DIR: 'restored' } });
    await using _ = restored;
    const again = await runExecutable(
      executable,
      ['reveal', waiting.replace(server.origin, restored.origin)],
      {
        cwd,
        env: { MAYFLY_SERVER: restored.origin },
      },
    );
    expect([again.code, again.stdout]).toEqual([1, '']);
    await restored.stop();
  });

  it('serves tools to an agent', async () => {
    const agent = await agentOfProcess([mkdtempSync(join(folder, 'agent-'))], {}, [executable]);
    const { result } = await agent.request('tools/list');
    expect(result?.tools).toBeArrayOfSize(5);
    expect(await agent.call('fetch', { link: 'x', into: 'x.txt' })).toMatchObject({ isError: true });
    await agent.close();
  });

  it('serves the packages of its command and client, once they are asked for', async () => {
    await using server = await serveExecutable(executable, {
      cwd: mkdtempSync(join(folder, 'serving-')),
      env: { MAYFLY_BASE_URL: 'http://localhost:3000/drop' },
    });
    for (const [name, manifest] of [
      ['mayfly.tgz', { name: 'mayfly', bin: { mayfly: 'mayfly.mjs' } }],
      ['client.tgz', { name: '@mayfly/client' }],
    ] as const) {
      const address = `${server.origin}/drop/${name}`;
      const [head, got] = [await fetch(address, { method: 'HEAD' }), await fetch(address)];
      const bytes = await got.bytes();
      expect([head.status, got.status, got.headers.get('content-type')]).toEqual([
        200,
        200,
        'application/gzip',
      ]);
      for (const { headers } of [head, got])
        expect([headers.get('content-length'), headers.get('etag')]).toEqual([
          `${bytes.length}`,
          `"${createHash('sha256').update(bytes).digest('hex')}"`,
        ]);
      const files = await new Bun.Archive(bytes).files();
      expect(JSON.parse((await files.get('package/package.json')?.text()) ?? '{}')).toMatchObject(manifest);
      const page = await (
        await fetch(`${server.origin}/drop/docs/${name === 'mayfly.tgz' ? 'command' : 'client'}`)
      ).text();
      expect(page).toContain(`http://localhost:3000/drop/${name}`);
    }
    await server.stop();
  });

  it('serves none of them with MAYFLY_DOWNLOADS=off, and says so', async () => {
    const env = { MAYFLY_DOWNLOADS: 'off' };
    const cwd = mkdtempSync(join(folder, 'off-'));
    await using server = await serveExecutable(executable, { cwd, env });
    for (const name of ['mayfly.tgz', 'client.tgz'])
      expect((await fetch(`${server.origin}/${name}`)).status).toBe(404);
    const page = await (await fetch(`${server.origin}/docs/command`)).text();
    expect(page).toContain('This installation does not serve <code>mayfly.tgz</code>');
    await server.stop();
  });
});
