/** Where a value or a link goes instead of standard output: files, the clipboard, a picture; and what failure costs. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import decodeQR from 'qr/decode.js';
import { repositoryRoot, type StartedServer, startServer, watch } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

const value = 'canary-4f1d\nof two lines\n';

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

async function share(text = value): Promise<string> {
  return (await mayfly(['share', '--exact', '--quiet'], env, text)).out.trim();
}

async function isWaiting(link: string): Promise<boolean> {
  return (await mayfly(['status', link], env)).code === 0;
}

/** A program named as one for the clipboard, which keeps what it got. */
async function fakeProgram(name: string, script: string): Promise<Record<string, string>> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { ...env, PATH: `${bin}:/usr/bin:/bin`, DISPLAY: ':7', KEPT: join(bin, 'kept') };
}

describe('reveal --out', () => {
  it('writes the value, byte for byte, to a new file that only its owner can read', async () => {
    const file = join(folder, 'new');
    const { code, out, err } = await mayfly(['reveal', await share(), '--out', file], env);
    expect([code, out, err]).toEqual([0, '', `Saved the value in ${file}, readable only by you.\n`]);
    expect(await readFile(file, 'utf8')).toBe(value);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('never touches a file that is there, and then reads nothing (P1)', async () => {
    const file = join(folder, 'there');
    await writeFile(file, 'mine');
    await symlink(join(folder, 'nowhere'), join(folder, 'dangling'));
    const link = await share();
    for (const path of [file, join(folder, 'dangling')]) {
      const { code, err } = await mayfly(['reveal', link, '--out', path], env);
      expect([code, err]).toEqual([
        1,
        `${path} already exists: choose another name, or replace it with --force. Nothing was read.\n`,
      ]);
    }
    expect([await readFile(file, 'utf8'), await isWaiting(link)]).toEqual(['mine', true]);
  });

  it('with --force replaces a file, as its owner’s alone, and follows a link to it', async () => {
    const file = join(folder, 'replaced');
    await writeFile(file, 'old', { mode: 0o644 });
    await symlink(file, join(folder, 'alias'));
    const { code } = await mayfly(['reveal', await share(), '--out', join(folder, 'alias'), '--force'], env);
    expect([code, await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual([0, value, 0o600]);
  });

  it('says what is wrong with a place that cannot be written, before anything is read', async () => {
    const link = await share();
    for (const [path, problem] of [
      [join(folder, 'none', 'x'), 'is in a folder that does not exist'],
      [folder, 'is a folder'],
      ['/dev/null', 'cannot be written (no regular file)'],
    ] as const) {
      const { code, out, err } = await mayfly(['reveal', link, '--out', path, '--force', '--json'], env);
      expect([code, out, err]).toEqual([
        1,
        '{"error":"not_written"}\n',
        `${path} ${problem}. Nothing was read.\n`,
      ]);
    }
    expect(await isWaiting(link)).toBe(true);
  });

  it('leaves no file when the secret is gone', async () => {
    const place = await mkdtemp(join(folder, 'gone-'));
    const link = await share();
    await mayfly(['reveal', link], env);
    const { code } = await mayfly(['reveal', link, '--out', join(place, 'x')], env);
    expect([code, await readdir(place)]).toEqual([1, []]);
  });

  it('prints the value when the file cannot take it after all, and leaves no part of it behind', async () => {
    const place = await mkdtemp(join(folder, 'small-'));
    const link = await share();
    // No file of this process may have a byte (setrlimit(2)); the signal of that is ignored.
    const limited = `trap '' XFSZ; ulimit -f 0; exec "$0" src/main.ts reveal "$1" --out "$2"`;
    const child = spawn('sh', ['-c', limited, process.execPath, link, join(place, 'x')], {
      cwd: repositoryRoot,
      env: { PATH: process.env.PATH ?? '', ...env },
    });
    const { stdout, stderr, exited } = watch(child);
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(stdout()).toBe(value);
    expect(stderr()).toBe(
      `${join(place, 'x')} could not be written (EFBIG). The value was printed instead, because it opens only once.\n`,
    );
    expect(await readdir(place)).toEqual([]);
  });
});

describe('--copy', () => {
  it('gives the value to the clipboard’s program on its standard input, and not in its arguments (P18)', async () => {
    const given = await fakeProgram('xclip', `cat > "$KEPT"; echo "$@" > "$KEPT.args"`);
    const { code, out, err } = await mayfly(['reveal', await share(), '--copy'], given);
    expect([code, out, err]).toEqual([0, '', 'Value copied.\n']);
    expect(await readFile(given.KEPT ?? '', 'utf8')).toBe(value);
    expect(await readFile(`${given.KEPT}.args`, 'utf8')).toBe('-selection clipboard\n');
  });

  it('prints the value when the program fails', async () => {
    const given = await fakeProgram('xsel', 'exit 3');
    const { code, out, err } = await mayfly(['reveal', await share(), '--copy'], given);
    expect([code, out]).toEqual([1, value]);
    expect(err).toStartWith('The value could not be copied. The value was printed instead');
  });

  it('reads and shares nothing where there is no clipboard, as over SSH with no terminal', async () => {
    const given = {
      ...(await fakeProgram('xclip', 'cat > "$KEPT"')),
      SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22',
    };
    const link = await share();
    for (const nowhere of [given, { ...env, DISPLAY: '' }]) {
      const { code, out, err } = await mayfly(['reveal', link, '--copy', '--json'], nowhere);
      expect([code, out]).toEqual([1, '{"error":"no_clipboard"}\n']);
      expect(err).toEndWith('Nothing was read.\n');
      const shared = await mayfly(['share', '--copy'], nowhere, value);
      expect([shared.code, shared.out]).toEqual([1, '']);
    }
    expect(await isWaiting(link)).toBe(true);
  });

  it('of share copies the link that is printed', async () => {
    const given = await fakeProgram('xclip', 'cat > "$KEPT"');
    const { code, out } = await mayfly(['share', '--copy'], given, value);
    expect([code, `${await readFile(given.KEPT ?? '', 'utf8')}\n`]).toEqual([0, out]);
  });
});

/** What a camera sees of a picture of half blocks: each cell is two modules. */
function readPicture(text: string): string {
  const cells = text
    .split('\n')
    .map((line) => [...line.matchAll(/38;5;(\d+);48;5;(\d+)m▀/g)].map(([, upper, lower]) => [upper, lower]));
  const lines = cells.filter((line) => line.length > 0);
  const rows = lines.flatMap((line) => [line.map(([upper]) => upper), line.map(([, lower]) => lower)]);
  const [scale, width] = [4, lines[0]?.length ?? 0];
  const data = new Uint8ClampedArray(width * width * scale * scale * 4).fill(255);
  for (let y = 0; y < width * scale; y += 1)
    for (let x = 0; x < width * scale; x += 1)
      if (rows[Math.floor(y / scale)]?.[Math.floor(x / scale)] === '16')
        data.fill(0, (y * width * scale + x) * 4, (y * width * scale + x) * 4 + 3);
  return decodeQR({ width: width * scale, height: width * scale, data });
}

describe('--qr', () => {
  it('draws the link on standard error, black on white whatever the terminal’s colours, with --quiet too', async () => {
    for (const args of [
      ['share', '--qr'],
      ['generate', '--qr', '--quiet'],
    ]) {
      const { code, out, err } = await mayfly(args, env, value);
      expect([code, readPicture(err)]).toEqual([0, out.trim().split('\n').at(-1) ?? '']);
    }
  });
});

describe('--quiet', () => {
  it('leaves the link alone on standard output and says nothing', async () => {
    const { code, out, err } = await mayfly(['share', '--quiet', '--ttl', '30d'], env, value);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^http\S+\n$/);
  });

  it('keeps errors', async () => {
    const { code, err } = await mayfly(['reveal', 'x', '--quiet'], env);
    expect([code, err.length > 0]).toEqual([1, true]);
  });
});
