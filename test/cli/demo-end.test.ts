/** A demo ends with the npm that started it: its servers free their ports, however it is ended. */
import { describe, expect, it, setDefaultTimeout } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { freePort, repositoryRoot } from '../support/started-server.ts';

setDefaultTimeout(60_000);

const limitMs = 20_000;

/** Each demo with its arguments, what it prints once it serves, and the ports it then uses. */
async function demos() {
  const [mail, dns, router] = [await freePort(), await freePort(), await freeRun(3)];
  return [
    { name: 'mail', args: ['--port', `${mail}`], says: 'MAYFLY_SMTP_URL', ports: [mail] },
    { name: 'dns', args: ['a.example', 'TXT', 'x', '--port', `${dns}`], says: 'MAYFLY_DNS', ports: [dns] },
    {
      name: 'regions',
      args: ['--port', `${router}`],
      says: 'Ctrl-C ends',
      ports: [router, router + 1, router + 2],
    },
  ];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** The first of `count` consecutive free ports. */
async function freeRun(count: number): Promise<number> {
  for (let tries = 0; tries < 50; tries += 1) {
    const first = await freePort();
    const others = Array.from({ length: count - 1 }, (_, at) => isFree(first + 1 + at));
    if ((await Promise.all(others)).every(Boolean)) return first;
  }
  throw new Error('no free ports found');
}

function saying(child: ChildProcess, words: string): Promise<void> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (part: Buffer) => {
      said += part.toString('utf8');
      if (said.includes(words)) resolve();
    });
    child.once('close', () => reject(new Error(`the demo ended: ${said}`)));
  });
}

/** Resolves when every process that holds the demo's output has ended; `false` when that takes too long. */
function closed(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    child.once('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

async function endsBy(end: (npm: number) => void): Promise<void> {
  for (const { name, args, says, ports } of await demos()) {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn('npm', ['run', `demo:${name}`, '--', ...args], {
      cwd: repositoryRoot,
      env: { PATH, HOME },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, as a shell gives each of its jobs.
      detached: true,
    });
    const npm = child.pid ?? 0;
    try {
      await saying(child, says);
      const ending = closed(child);
      end(npm);
      expect([name, await ending]).toEqual([name, true]);
      expect([name, await Promise.all(ports.map(isFree))]).toEqual([name, ports.map(() => true)]);
    } finally {
      try {
        process.kill(-npm, 'SIGKILL');
      } catch {
        // The whole group has ended.
      }
    }
  }
}

describe('a demo that npm runs', () => {
  it('ends when npm is ended', () => endsBy((npm) => void process.kill(npm, 'SIGTERM')));
  it('ends by Ctrl-C, which reaches all of its processes', () =>
    endsBy((npm) => void process.kill(-npm, 'SIGINT')));
});
