/** What a server that others are to use says at its starts, as a process: less each time something is done. */
import { expect, it } from 'bun:test';
import { rm } from 'node:fs/promises';
import { makeDataDir, startServer } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

interface Start {
  /** The numbered steps. */
  readonly steps: readonly string[];
  readonly said: string;
  /** As the log names them. */
  readonly logged: readonly string[] | null;
}

async function start(dataDir: string, env: Readonly<Record<string, string>>): Promise<Start> {
  await using server = await startServer({ dataDir, env: { MAYFLY_LOG_LEVEL: 'info', ...env } });
  server.kill('SIGTERM');
  await server.exited;
  const said = server.stderr();
  const lines = server
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const logged = lines.find(({ event }) => event === 'setup_open')?.steps ?? null;
  return { steps: said.match(/^ {2}\d\. \S.*$/gm) ?? [], said, logged };
}

it('a start says what is open, until it is done, and never on localhost', async () => {
  const dataDir = await makeDataDir();
  try {
    const env = { MAYFLY_BASE_URL: 'https://secrets.example.com' };
    const first = await start(dataDir, env);
    expect(first.logged).toEqual(['proxy', 'mail', 'keys', 'account']);
    expect(first.steps).toHaveLength(4);
    // What stays in a log must open nothing.
    expect(first.said).not.toMatch(/[0-9a-f]{64}/);
    expect((await start(dataDir, env)).logged).toEqual(['proxy', 'mail', 'keys', 'account']);
    const created = await mayfly(['account', 'create', 'you@example.com', '--link'], {
      ...env,
      MAYFLY_DATA_DIR: dataDir,
    });
    expect(created.out).toStartWith('https://secrets.example.com/reset/');
    const done = { MAYFLY_TRUSTED_PROXIES: '127.0.0.1', MAYFLY_SMTP_URL: 'smtp://127.0.0.1:1' };
    expect((await start(dataDir, env)).logged).toEqual(['proxy', 'mail']);
    const last = await start(dataDir, { ...env, ...done });
    expect([last.steps, last.logged]).toEqual([[], null]);
    expect(last.said).not.toContain('Next:');
    const here = await start(dataDir, {});
    expect([here.steps, here.logged]).toEqual([[], null]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
