/** The three calls that the API page starts with, pasted as they are shown, against a started server. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, repositoryRoot, type StartedServer, startServer } from '../support/started-server.ts';

setDefaultTimeout(60_000);

/** The program that the calls use; it must be installed. */
const tool = 'curl';
const shell = 'sh';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  const installed = join(folder, 'node_modules', '@mayfly');
  await mkdir(installed, { recursive: true });
  const built = run('node', [join(repositoryRoot, 'scripts', 'build-sdk.mjs'), join(installed, 'client')]);
  if (built.status !== 0) throw new Error(built.stderr);
});
afterAll(() => rm(folder, { recursive: true }));

function run(command: string, args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(command, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } });
}

/** The code of the three calls of a kind, as a person copies it from the page. */
async function callsOf(server: StartedServer, kind: string): Promise<string[]> {
  const html = await (await fetch(`http://127.0.0.1:${server.port}/api/docs`)).text();
  const found = html.matchAll(new RegExp(`<code id="call-${kind}-\\d">(.*?)</code>`, 'gs'));
  return Array.from(found, ([, code = '']) =>
    code
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
}

/** Pasted into one shell, with `mayfly` as in a checkout; the answers by call. */
function paste(calls: readonly string[]): string[] {
  const main = join(repositoryRoot, 'src', 'main.ts');
  const mayfly = `mayfly() { '${process.execPath}' '${main}' "$@"; }`;
  const script = [mayfly, ...calls].join('\necho ---\n');
  const { stdout, stderr } = run(shell, ['-c', script], { MAYFLY_SERVER: '' });
  const [, ...answers] = stdout.split('---\n');
  if (answers.length !== calls.length) throw new Error(stderr);
  return answers.map((answer) => answer.trim());
}

describe('the three calls of the API page', () => {
  for (const revealed of ['documented', 'upstream'] as const) {
    it(`work when they are pasted into a shell, with curl: ${revealed}`, async () => {
      await using server = await startServer({ env: { MAYFLY_V2_DIALECT: revealed } });
      const calls = await callsOf(server, 'curl');
      expect(calls.map((call) => call.includes(`${tool} -sS`))).toEqual([true, true, true]);
      const [link, status = '', opened = '', again = ''] = paste([...calls, calls[2] ?? '']);
      expect(link).toMatch(new RegExp(`^http://localhost:${server.port}/secret/[0-9a-z]{31}$`));
      expect(JSON.parse(status)).toMatchObject({ record: { state: 'new', lifespan: 3_600 } });
      expect(JSON.parse(opened)).toMatchObject({ record: { secret_value: 'open sesame' } });
      expect(JSON.parse(again)).toMatchObject({ error: 'unknown_secret' });
    });
  }

  it('work when they are pasted into a shell, with the command', async () => {
    await using server = await startServer();
    const [link, status, opened] = paste(await callsOf(server, 'command'));
    expect(link).toMatch(new RegExp(`^http://localhost:${server.port}/secret/[0-9a-z]{31}#[\\w-]{22}$`));
    expect(status).toStartWith('Not opened yet');
    expect(opened).toBe('open sesame');
  });

  it('are plain, and say so, where the address is neither https nor this machine', async () => {
    for (const [address, isPlain] of [
      ['http://secrets.example.org', true],
      ['https://secrets.example.org', false],
    ] as const) {
      await using server = await startServer({ env: { MAYFLY_BASE_URL: address } });
      const [[command = ''], [typescript = '']] = [
        (await callsOf(server, 'command')) as [string],
        (await callsOf(server, 'typescript')).slice(0, 1) as [string],
      ];
      expect([command.includes(' --plain '), typescript.includes('plain: true')]).toEqual([isPlain, isPlain]);
    }
  });

  it('are a program in TypeScript that Node runs with the package', async () => {
    await using server = await startServer();
    const calls = await callsOf(server, 'typescript');
    await writeFile(join(folder, 'calls.mjs'), calls.join('\n'));
    const { stdout, stderr } = run('node', ['calls.mjs']);
    const link = expect.stringMatching(/\/secret\/[0-9a-z]{31}#[\w-]{22}$/);
    expect([stderr, stdout.trim().split('\n') as unknown]).toEqual(['', [link, 'it waits', 'open sesame']]);
  });

  it('work with an account where sharing needs one', async () => {
    await using server = await startServer({ env: { MAYFLY_ANONYMOUS: 'read' } });
    const { token } = await createAccount(server.dataDir, 'you@example.com');
    const withToken = async (kind: string) =>
      (await callsOf(server, kind)).map((call) => call.replace('API_TOKEN', token));
    for (const kind of ['curl', 'command']) expect(paste(await withToken(kind))[2]).toContain('open sesame');
    await writeFile(join(folder, 'calls.mjs'), (await withToken('typescript')).join('\n'));
    expect(run('node', ['calls.mjs']).stdout).toEndWith('open sesame\n');
  });
});
