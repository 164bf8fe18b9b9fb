/** The demo of PostgreSQL shows what it promises to show, and leaves nothing behind. */
import { expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { makeDataDir, repositoryRoot } from '../support/started-server.ts';

const limitMs = 120_000;

/** Runs the demo in a folder of its own for temporary files; what it printed, and the files it left. */
async function runDemo(args: readonly string[], onWords: (said: string, demo: ChildProcess) => void) {
  const folder = await makeDataDir();
  try {
    const { PATH = '', HOME = '' } = process.env;
    const demo = spawn(process.execPath, ['scripts/demo-postgres.ts', ...args], {
      cwd: repositoryRoot,
      env: { PATH, HOME, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [said, faults] = ['', ''];
    demo.stdout.on('data', (part: Buffer) => {
      said += part.toString('utf8');
      onWords(said, demo);
    });
    demo.stderr.on('data', (part: Buffer) => {
      faults += part.toString('utf8');
    });
    const code = await new Promise<number | null>((resolve) => demo.once('close', resolve));
    return { code, said, faults, left: readdirSync(folder) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isAlive(port: string): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`).then(
    () => true,
    () => false,
  );
}

test(
  'P1, P5: npm run demo:postgres kills a primary under load, prints a ledger without fault, ends with 0 and leaves no file',
  async () => {
    const { code, said, faults, left } = await runDemo(['--kills', '1'], () => {});
    expect(said).not.toContain('BROKEN');
    expect([code, faults, left]).toEqual([0, '', []]);
    const told = [
      /a synchronous standby on port \d+/,
      /Kill 1 of 1/,
      /secrets were acknowledged/,
      / 0 double/,
      / 0 lost/,
    ].map((words) => said.search(words));
    expect(told[0]).toBeGreaterThan(0);
    expect(told).toEqual([...told].sort((a, b) => a - b));
  },
  limitMs,
);

test(
  'npm run demo:postgres ends at once when it is told to, with its servers and its nodes',
  async () => {
    let isTold = false;
    const { code, said, faults, left } = await runDemo(['--kills', '1000'], (words, demo) => {
      if (isTold || !words.includes('Kill 1 of')) return;
      isTold = true;
      demo.kill('SIGTERM');
    });
    expect([code, faults, left]).toEqual([0, '', []]);
    const ports = /three nodes, on ports ([\d, ]+)/.exec(said)?.[1]?.split(', ') ?? [];
    expect(await Promise.all(ports.map(isAlive))).toEqual([false, false, false]);
  },
  limitMs,
);
