/** `mayfly run` as a process, against a started server: where the values go, and how it ends. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, type StartedServer, startServer, watch } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

let server: StartedServer;
let folder = '';
let env: Record<string, string> = {};
beforeAll(async () => {
  server = await startServer();
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  env = { MAYFLY_SERVER: `http://127.0.0.1:${server.port}` };
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const base = () => ({ PATH: process.env.PATH ?? '', HOME: folder, ...env });

async function share(value: string, ...options: readonly string[]): Promise<string> {
  return (await mayfly(['share', '--exact', ...options], env, value)).out.trim();
}

async function isWaiting(link: string): Promise<boolean> {
  return (await mayfly(['status', link], env)).code === 0;
}

function start(args: readonly string[], settings = env): ChildProcess {
  return spawn(process.execPath, ['src/main.ts', 'run', ...args], {
    cwd: repositoryRoot,
    env: { ...base(), ...settings },
    stdio: 'pipe',
  });
}

/** Resolves with what the command printed once that has a whole line. */
function firstLine(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (part: Buffer) => {
      printed += part.toString('utf8');
      if (printed.includes('\n')) resolve(printed);
    });
    child.once('close', () => reject(new Error(`it ended: ${printed}`)));
  });
}

describe('the command', () => {
  it('gets the values, and otherwise the environment that mayfly was given', async () => {
    const links = [await share('one two'), await share('{"a":\n"b"}\n')] as const;
    const print = 'console.log(JSON.stringify(process.env))';
    const secrets = ['--secret', `ONE=${links[0]}`, '--secret', `TWO=${links[1]}`];
    const { code, out, err } = await mayfly(['run', ...secrets, '--', process.execPath, '-e', print], {
      ...env,
      MAYFLY_PASSPHRASE: 'for others',
      OWN: 'kept',
    });
    const { PATH = '', HOME = '' } = process.env;
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual({
      ...{ PATH, HOME, ...env },
      ...{ MAYFLY_PASSPHRASE: 'for others', OWN: 'kept' },
      ...{ ONE: 'one two', TWO: '{"a":\n"b"}\n' },
    });
    expect(await Promise.all(links.map(isWaiting))).toEqual([false, false]);
  });

  it('gets a value with its last line break only with --exact', async () => {
    for (const [options, printed] of [
      [[], '[key]'],
      [['--exact'], '[key\n]'],
    ] as const) {
      const secret = ['--secret', `KEY=${await share('key\n')}`];
      const { out } = await mayfly(['run', ...secret, ...options, '--', 'sh', '-c', 'printf "[$KEY]"'], env);
      expect(out).toBe(printed);
    }
  });

  it('has the standard input, and both outputs', async () => {
    const secret = ['--secret', `A=${await share('x')}`];
    const script = 'cat; echo to stderr >&2';
    const run = await mayfly(['run', ...secret, '--', 'sh', '-c', script], env, 'from stdin\n');
    expect(run).toEqual({ code: 0, out: 'from stdin\n', err: 'to stderr\n' });
  });

  it('takes links from a file, with the passphrase of another', async () => {
    const file = join(folder, 'links.txt');
    const passphrase = join(folder, 'passphrase');
    await writeFile(passphrase, 'correct horse\n');
    const locked = await share('locked', '--passphrase-file', passphrase);
    await writeFile(file, `# links\nA=${await share('free')}\nB=${locked}\n`);
    const options = ['--secrets-file', file, '--passphrase-file', passphrase];
    const { out } = await mayfly(['run', ...options, '--', 'sh', '-c', 'echo "$A $B"'], env);
    expect(out).toBe('free locked\n');
  });
});

describe('the lines that share --env-file prints', () => {
  it('are those that run takes: what was in the file is in the environment', async () => {
    const text = 'export ONE="a\\n\\"b\\""\nTWO=\'$c # d\'\nTHREE=e\n';
    const shared = await mayfly(['share', '--env-file', '-', '--ttl', '1h'], env, text);
    expect(shared.out).toMatch(/^(?:(?:ONE|TWO|THREE)=http:\/\/\S+\n){3}$/);
    const print = 'const { ONE, TWO, THREE } = process.env; console.log(JSON.stringify([ONE, TWO, THREE]))';
    const command = ['--secrets-file', '-', '--', process.execPath, '-e', print];
    const { code, out, err } = await mayfly(['run', ...command], env, shared.out);
    expect([code, JSON.parse(out), err]).toEqual([0, ['a\n"b"', '$c # d', 'e'], '']);
  });

  it('are printed for what was shared before a value that the server refuses', async () => {
    const text = `A=one\nB=${'x'.repeat(120_000)}\nC=three\n`;
    const { code, out, err } = await mayfly(['share', '--env-file', '-'], env, text);
    expect(code).toBe(1);
    expect(out).toMatch(/^A=http:\S+\n$/);
    expect(err).toEndWith('1 of 3 were shared: not B and those after it.\n');
    expect(await isWaiting(out.trim().slice('A='.length))).toBe(true);
  });
});

describe('the values', () => {
  /** What everybody on the machine, or every process of this user, may read of a process. */
  function shownBy(pid: number): string {
    return ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')).join();
  }

  it('are in no argument, and in the environment of the command alone (P18)', async () => {
    const canary = 'canary-of-mayfly-run';
    const script = `
      process.on('SIGHUP', () => console.log('passed on'));
      process.stdin.resume().on('end', () => process.exit(0));
      console.log(process.pid, process.ppid);`;
    const child = start(['--secret', `A=${await share(canary)}`, '--', process.execPath, '-e', script]);
    const { stdout, exited } = watch(child);
    const [command = 0, parent] = (await firstLine(child)).split(' ').map(Number);
    // Nothing in between, whose arguments would have to be looked at too.
    expect(parent).toBe(child.pid);
    // Mayfly does this only once it waits, with everything else behind it.
    child.kill('SIGHUP');
    await firstLine(child);
    expect(stdout()).toEndWith('passed on\n');
    expect(shownBy(child.pid ?? 0)).toContain('MAYFLY_SERVER');
    expect(shownBy(child.pid ?? 0)).not.toContain(canary);
    expect(readFileSync(`/proc/${command}/cmdline`, 'utf8')).not.toContain(canary);
    // Self-test: where it is, it is found.
    expect(shownBy(command)).toContain(canary);
    const dumped = (pid: number | undefined) => Number(readFileSync(`/proc/${pid}/coredump_filter`, 'utf8'));
    expect([dumped(child.pid), dumped(command)]).toEqual([0, dumped(process.pid)]);
    expect(dumped(process.pid)).not.toBe(0);
    child.stdin?.end();
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  it('are left out of core files from before the first is read (P18)', async () => {
    const asked = Promise.withResolvers<void>();
    const end = Promise.withResolvers<Response>();
    const slow = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch() {
        asked.resolve();
        return end.promise;
      },
    });
    const settings = { MAYFLY_SERVER: `http://127.0.0.1:${slow.port}` };
    const child = start(['--secret', `A=${'a'.repeat(31)}`, '--', 'env'], settings);
    const { exited } = watch(child);
    await asked.promise;
    expect(Number(readFileSync(`/proc/${child.pid}/coredump_filter`, 'utf8'))).toBe(0);
    end.resolve(new Response('', { status: 500 }));
    expect((await exited).code).toBe(1);
    await slow.stop(true);
  });

  it('are in no message when they cannot be handed on (P18)', async () => {
    const links = [await share('canary\0value'), await share('x')] as const;
    const secrets = ['--secret', `A=${links[0]}`, '--secret', `B=${links[1]}`];
    expect(await mayfly(['run', ...secrets, '--', 'env'], env)).toEqual({
      code: 1,
      out: '',
      err:
        'A contains a NUL byte, which environment variables cannot hold.\n' +
        'The command was not started. A was read and lost.\n',
    });
    expect(await isWaiting(links[1])).toBe(true);
  });
});

describe('a secret', () => {
  it('is not consumed when another one was read already (P3)', async () => {
    const links = [await share('one'), await share('two'), await share('three')] as const;
    await mayfly(['reveal', links[1]], env);
    const secrets = links.flatMap((link, at) => ['--secret', `N${at}=${link}`]);
    const { code, out, err } = await mayfly(['run', ...secrets, '--', 'env'], env);
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe(
      'N1: There is no such secret: it was read, burned or has expired, or the link is wrong.\n' +
        'The command was not started. Nothing was read.\n',
    );
    expect(await Promise.all(links.map(isWaiting))).toEqual([true, false, true]);
  });

  it('is not consumed by a command that does not exist, may not be executed, or is a folder (P3)', async () => {
    const link = await share('still here');
    const file = join(folder, 'not-executable');
    await writeFile(file, '#!/bin/sh\n');
    for (const command of ['no-such-command', file, folder, join(folder, 'nothing')]) {
      const { code, out, err } = await mayfly(['run', '--secret', `A=${link}`, '--', command], env);
      expect([code, out]).toEqual([1, '']);
      expect(err).toBe(`Command not found: ${command}.\nThe command was not started. Nothing was read.\n`);
    }
    expect(await isWaiting(link)).toBe(true);
  });

  it('is said to be lost when its command cannot be started after all', async () => {
    const file = join(folder, 'no-interpreter');
    await writeFile(file, '#!/no/such/interpreter\n', { mode: 0o755 });
    const { code, err } = await mayfly(['run', '--secret', `A=${await share('x')}`, '--', file], env);
    expect([code, err]).toEqual([
      1,
      `${file} could not be started (ENOENT).\nThe command was not started. A was read and lost.\n`,
    ]);
  });
});

describe('the end of the command', () => {
  it('is the end of mayfly: its exit code, or 128 and the number of its signal', async () => {
    for (const [script, code] of [
      ['exit 0', 0],
      ['exit 2', 2],
      ['exit 255', 255],
      ['kill -TERM $$', 128 + 15],
      ['kill -KILL $$', 128 + 9],
    ] as const) {
      const secret = ['--secret', `A=${await share('x')}`];
      const run = await mayfly(['run', ...secret, '--', 'sh', '-c', script], env);
      expect([script, run]).toEqual([script, { code, out: '', err: '' }]);
    }
  });

  const signals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

  it.each(signals)('follows %s, which is passed on, as the command decides', async (signal) => {
    const handle = `process.on('${signal}', () => process.exit(42)); console.log('ready'); setInterval(() => {}, 1e6)`;
    const child = start(['--secret', `A=${await share('x')}`, '--', process.execPath, '-e', handle]);
    const { exited } = watch(child);
    await firstLine(child);
    child.kill(signal);
    expect(await exited).toEqual({ code: 42, signal: null });
  });

  it.each(signals)('follows %s, which ends a command that does not handle it', async (signal) => {
    const script = 'ulimit -c 0; echo ready; exec cat';
    const child = start(['--secret', `A=${await share('x')}`, '--', 'sh', '-c', script]);
    const { exited } = watch(child);
    await firstLine(child);
    child.kill(signal);
    expect(await exited).toEqual({ code: 128 + constants.signals[signal], signal: null });
  });

  it('follows Ctrl-C at a terminal, which arrives once', async () => {
    const link = await share('x');
    let printed = '';
    const waiters: { words: string; resolve: () => void }[] = [];
    const said = (words: string) =>
      new Promise<void>((resolve) => {
        if (printed.includes(words)) resolve();
        else waiters.push({ words, resolve });
      });
    const count = `
      let count = 0;
      process.on('SIGINT', () => console.log('interrupted ' + ++count));
      process.on('SIGTERM', () => process.exit(40 + count));
      console.log('ready');
      setInterval(() => {}, 1e6);`;
    const args = ['src/main.ts', 'run', '--secret', `A=${link}`, '--', process.execPath, '-e', count];
    const child = Bun.spawn([process.execPath, ...args], {
      cwd: repositoryRoot,
      env: base(),
      terminal: {
        data: (_terminal, bytes) => {
          printed += new TextDecoder().decode(bytes);
          for (const { words, resolve } of waiters) if (printed.includes(words)) resolve();
        },
      },
    });
    await said('ready');
    child.terminal?.write('\x03');
    await said('interrupted 1');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(41);
  });
});
