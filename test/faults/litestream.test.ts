/** Litestream beside a server, and a store from its copy: what waited in it opens nowhere, as after any restore (P1). */
import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { litestream, loadProgram } from '../support/registry-program.ts';
import { createAccount, makeDataDir, runProduct, startServer, watch } from '../support/started-server.ts';

interface Made {
  readonly secret: string;
  readonly receipt: string;
}

const at = (port: number, path: string) => `http://127.0.0.1:${port}/api/${path}`;

async function share(port: number, secret: string): Promise<Made> {
  const body = JSON.stringify({ secret: { secret } });
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(at(port, 'v2/secret/conceal'), { method: 'POST', headers, body });
  const { record } = (await answer.json()) as { record: Record<'metadata' | 'secret', { key: string }> };
  return { secret: record.secret.key, receipt: record.metadata.key };
}

const reveal = async (port: number, { secret }: Made): Promise<number> =>
  (await fetch(at(port, `v2/secret/${secret}/reveal`), { method: 'POST' })).status;

async function stateOf(port: number, { receipt }: Made, basic: string): Promise<string> {
  const headers = { Authorization: basic };
  const answer = await fetch(at(port, `v1/private/${receipt}`), { headers });
  return ((await answer.json()) as { state: string }).state;
}

/** Resolves once a first copy is whole. Told to end, it copies what is left. */
async function replicate(program: string, config: string) {
  const child = spawn(program, ['replicate', '-config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const { exited } = watch(child);
  await new Promise<void>((resolve) => {
    let output = '';
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
      if (output.includes('snapshot written')) resolve();
    });
    void exited.then(() => resolve());
  });
  return async () => {
    child.kill('SIGTERM');
    return await exited;
  };
}

test('P1: a store from Litestream’s copy opens nothing that waited, read since or not', async () => {
  const program = await loadProgram(litestream);
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-litestream-'));
  const [dataDir, other] = [await makeDataDir(), await makeDataDir()];
  const [database, config, copy] = [
    join(dataDir, 'mayfly.db'),
    join(folder, 'config.yml'),
    join(folder, 'copy.db'),
  ];
  try {
    const { basic } = await createAccount(dataDir, 'jo@example.org');
    await using server = await startServer({ dataDir });
    const { port } = server;
    await writeFile(config, `dbs:\n  - path: ${database}\n    replicas:\n      - path: ${folder}/replica\n`);
    const end = await replicate(program, config);
    const made = await Promise.all(Array.from({ length: 12 }, (_, n) => share(port, `value ${n}`)));
    const [before, after] = [made.slice(0, 4), made.slice(4, 8)];
    for (const each of before) expect(await reveal(port, each)).toBe(200);
    expect((await end()).code).toBe(0);
    for (const each of after) expect(await reveal(port, each)).toBe(200);
    server.kill('SIGKILL');
    await server.exited;

    const restoring = spawn(program, ['restore', '-config', config, '-o', copy, database]);
    expect((await watch(restoring).exited).code).toBe(0);
    await copyFile(join(dataDir, 'keys.json'), join(other, 'keys.json'));
    const words = ['src/main.ts', 'restore', copy, '--yes', '--json'];
    const restored = await runProduct(words, { MAYFLY_DATA_DIR: other });
    expect([restored.code, JSON.parse(restored.stdout).burned]).toEqual([0, 8]);

    await using again = await startServer({ dataDir: other });
    for (const each of made) expect(await reveal(again.port, each)).toBe(404);
    const states = await Promise.all(made.map((each) => stateOf(again.port, each, basic)));
    expect(states).toEqual(made.map((each) => (before.includes(each) ? 'received' : 'burned')));
  } finally {
    for (const path of [dataDir, other, folder]) await rm(path, { recursive: true, force: true });
  }
}, 120_000);
