/**
 * Texts and files end to end with the command: they come out as they went in, nothing is lost that a person can still get, and neither
 * server nor sender gets more than is theirs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../sdk/mayfly.ts';
import { localName, numbered } from '../../src/cli/reveal.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { fakeWorld, runCli, type WholeWorld } from '../support/cli-world.ts';
import {
  createAccount,
  makeDataDir,
  repositoryRoot,
  type StartedServer,
  startServer,
  watch,
} from '../support/started-server.ts';

const server = 'http://localhost:3000';
const encode = (text: string) => new TextEncoder().encode(text);

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** A server in memory; `change` may answer in its place, or take its answer away. */
function installation(change: (request: Request, answer: () => Promise<Response>) => Promise<Response>) {
  const app = createTestApp({ baseUrl: server });
  const requests: Request[] = [];
  const fetch: WholeWorld['fetch'] = async (url, init) => {
    const request = {
      method: init.method ?? 'GET',
      path: new URL(url).pathname,
      body: String(init.body ?? ''),
    };
    requests.push(request);
    return change(request, async () => app.handler(new Request(url, init)));
  };
  const run = (args: readonly string[], overrides: Partial<WholeWorld> = {}, input = '') =>
    runCli([...args, '--server', server], { fetch, ...overrides }, input);
  const client = createClient({ server, fetch: async (url, init) => app.handler(new Request(url, init)) });
  return { app, client, requests, run };
}

const honest = (_request: Request, answer: () => Promise<Response>) => answer();
const isReveal = ({ path }: Request) => path.endsWith('/reveal');
const isDone = ({ path }: Request) => path.endsWith('/reveal/done');

/** Files of this world, and which of them cannot be written. */
function folder(taken: readonly string[] = [], isFull: (path: string) => boolean = () => false) {
  const files = new Map<string, string | Uint8Array>(taken.map((path) => [path, 'mine']));
  const openOutputFile: WholeWorld['openOutputFile'] = async (path) => {
    if (files.has(path)) return { outcome: 'refused', problem: `${path} is there already.`, isTaken: true };
    const keep = async (content: string | Uint8Array) => {
      if (isFull(path)) throw Object.assign(new Error(), { code: 'ENOSPC' });
      files.set(path, content);
    };
    return { outcome: 'open', file: { keep, drop: async () => {} } };
  };
  return { files, openOutputFile };
}

const lookIn = (text: string) => /--look=([\w-]{22})/.exec(text)?.[1] ?? '';

async function isWaiting({ app }: { readonly app: TestApp }, key: string): Promise<boolean> {
  return (await app.fetch(`/api/v2/secret/${key}/status`)).status === 200;
}

describe('a lost answer', () => {
  it('is asked for again under the same nonce, and the second look ends when the value is out (P1)', async () => {
    let lost = 2;
    const here = installation(async (request, answer) => {
      const answered = await answer();
      if (isReveal(request) && lost-- > 0) throw new TypeError('the connection was closed');
      return answered;
    });
    const { link } = await here.client.conceal({ value: 'hunter2', passphrase: 'p' });
    const { code } = await here.run(['reveal', link, '--passphrase-file', 'p'], {
      readFile: async () => encode('p\n'),
    });
    const looks = here.requests.filter(isReveal).map(({ body }) => JSON.parse(body).look);
    expect([code, looks.length, new Set(looks).size]).toEqual([0, 3, 1]);
    expect(here.requests.filter(isDone).map(({ body }) => JSON.parse(body))).toEqual([{ look: looks[0] }]);
    expect(here.requests.at(-1)?.path).toEndWith('/reveal/done');
  });

  it('that never comes costs nothing within the minute: the words say how to repeat', async () => {
    let isCut = true;
    const here = installation(honest);
    // The server gives an answer three times: the first two tries do not even arrive.
    let tries = 0;
    const { link } = await here.client.conceal({ value: 'hunter2' });
    const overrides: Partial<WholeWorld> = {
      fetch: async (url, init) => {
        if (url.endsWith('/reveal') && isCut && tries++ < 2) throw new TypeError('unreachable');
        const answer = await here.app.handler(new Request(url, init));
        if (url.endsWith('/reveal') && isCut) throw new TypeError('cut');
        return answer;
      },
    };
    const failed = await here.run(['reveal', link], overrides);
    expect([failed.code, failed.out, lookIn(failed.err).length]).toEqual([1, '', 22]);
    expect(failed.err).toContain('The secret may have been read.');
    isCut = false;
    const other = await here.run(['reveal', link], overrides);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('There is no such secret')]);
    const again = await here.run(['reveal', link, `--look=${lookIn(failed.err)}`], overrides);
    expect([again.code, again.out]).toEqual([0, 'hunter2']);
  });
});

describe('a place that cannot take it', () => {
  const here = installation(honest);
  const fileOf = (name: string) => ({ file: { name, type: '', bytes: encode('PDF') } });

  it('a full disk loses no file: nothing is ended, and another place gets it within the minute', async () => {
    const { link } = await here.client.conceal(fileOf('report.pdf'));
    const before = here.requests.length;
    const full = folder([], () => true);
    const failed = await here.run(['reveal', link, '--json'], full);
    expect([failed.code, failed.out]).toEqual([1, '{"error":"not_written"}\n']);
    expect(failed.err).toStartWith(
      'report.pdf could not be written (ENOSPC). It is not lost yet. To try again within a minute',
    );
    expect(here.requests.slice(before).filter(isDone)).toEqual([]);
    const place = folder();
    const again = await here.run(['reveal', link, `--look=${lookIn(failed.err)}`, '--out', 'x'], place);
    expect([again.code, place.files.get('x')]).toEqual([0, encode('PDF')]);
    expect((await here.run(['reveal', link, `--look=${lookIn(failed.err)}`])).code).toBe(1);
  });

  it('standard output that takes nothing loses no text', async () => {
    const { link } = await here.client.conceal({ value: 'hunter2' });
    const { run } = here;
    const { terminal } = fakeWorld().world;
    let err = '';
    const closed = {
      ...terminal,
      out: () => {
        throw Object.assign(new Error(), { code: 'ENOSPC' });
      },
      err: (text: string) => {
        err += text;
      },
    };
    expect((await run(['reveal', link], { terminal: closed })).code).toBe(1);
    expect(err).toContain('The value could not be written (ENOSPC). It is not lost yet.');
    expect((await run(['reveal', link, `--look=${lookIn(err)}`])).out).toBe('hunter2');
  });

  it('a clipboard takes no file: it goes to the folder', async () => {
    const { link } = await here.client.conceal(fileOf('report.pdf'));
    const place = folder();
    const openClipboard = async () => ({ isSure: true, copy: async () => true });
    const { code, err } = await here.run(['reveal', link, '--copy'], { ...place, openClipboard });
    expect([code, place.files.has('report.pdf')]).toEqual([0, true]);
    expect(err).toStartWith('Files cannot be copied to the clipboard.\n');
  });

  it('a taken name is numbered, and no file is replaced', async () => {
    const place = folder(['report.pdf', 'report-2.pdf']);
    const { link } = await here.client.conceal(fileOf('../../report.pdf'));
    const { err } = await here.run(['reveal', link], place);
    expect(err).toBe('Saved the file in report-3.pdf, readable only by you.\n');
    expect([place.files.get('report.pdf'), place.files.get('report-2.pdf')]).toEqual(['mine', 'mine']);
  });
});

describe('the name of a file from a stranger', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['.bashrc', 'bashrc'],
    ['..', 'file'],
    ['-rf', 'rf'],
    ['--', 'file'],
    ['a:b|c?.txt', 'a_b_c_.txt'],
    ['..\\..\\x', '_.._x'],
    ['a/b', 'a_b'],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['name. ', 'name'],
    ['Präsentation 1.key', 'Präsentation 1.key'],
  ])('%j is kept as %j', (name, kept) => {
    expect(localName(name)).toBe(kept);
  });

  it('has room for a number, however long it is', () => {
    for (const name of [`${'ü'.repeat(120)}.pdf`, `x.${'y'.repeat(250)}`]) {
      const [first, second] = [numbered(name, 1), numbered(name, 1_000)];
      expect(Buffer.byteLength(second)).toBeLessThanOrEqual(255);
      expect(second).not.toBe(first);
    }
  });
});

describe('a text from a stranger', () => {
  it('is escaped on a terminal, and comes as it is everywhere else (P18)', async () => {
    const { client, run } = installation(honest);
    const text = 'a\u001b[2Jb\r\n\tc\u202ed\u0007';
    const { terminal } = fakeWorld().world;
    let seen = '';
    const screen = {
      ...terminal,
      isOutputSeen: true,
      out: (shown: string | Uint8Array) => {
        seen += shown;
      },
    };
    await run(['reveal', (await client.conceal({ value: text })).link], { terminal: screen });
    expect(seen).toBe('a\\x1b[2Jb\r\n\tc\\u{202e}d\\x07\n');
    expect((await run(['reveal', (await client.conceal({ value: text })).link])).out).toBe(text);
  });
});

describe('no downgrade', () => {
  /** Says of every secret that it is a plain one, and would take what is sent. */
  const liar = async (_request: Request, answer: () => Promise<Response>) => {
    const text = await (await answer()).text();
    return new Response(text.replaceAll('"sealed":true', '"sealed":false'), {
      headers: { 'content-type': 'application/json' },
    });
  };
  const secretFiles = { readFile: async () => encode('canary-passphrase\n') };

  it('with a full link nothing is asked but the status, and no passphrase leaves (P1, P18)', async () => {
    const here = installation(liar);
    const { link, secretKey } = await here.client.conceal({ value: 'x', passphrase: 'canary-passphrase' });
    for (const args of [
      ['reveal', link, '--passphrase-file', 'p'],
      ['run', '--secret', `A=${link}`, '--passphrase-file', 'p', '--server', server, '--', 'true'],
    ]) {
      const programs = {
        find: async () => '/bin/true',
        run: async () => ({ outcome: 'ended', exit: 0 as never }) as const,
      };
      const fetch: WholeWorld['fetch'] = async (url, init) => {
        const request = {
          method: init.method ?? 'GET',
          path: new URL(url).pathname,
          body: String(init.body ?? ''),
        };
        here.requests.push(request);
        return liar(request, async () => here.app.handler(new Request(url, init)));
      };
      const { code, err } =
        args[0] === 'run'
          ? await runCli(args, { ...secretFiles, programs, fetch })
          : await here.run(args, secretFiles);
      expect([code, err]).toEqual([
        1,
        expect.stringContaining('says its secret is a plain one. Nothing was read.'),
      ]);
    }
    expect(new Set(here.requests.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set([`GET /api/v2/secret/${secretKey}/status`]),
    );
    expect(JSON.stringify(here.requests)).not.toContain('canary-passphrase');
    expect(await isWaiting(here, secretKey)).toBe(true);
  });

  it('with a link that was cut, no passphrase leaves either, and nothing is consumed', async () => {
    const here = installation(honest);
    const { link, secretKey } = await here.client.conceal({ value: 'x', passphrase: 'canary-passphrase' });
    for (const cut of [secretKey, link.slice(0, -1), `${link.slice(0, -22)}${'A'.repeat(22)}`]) {
      const { code, err } = await here.run(['reveal', cut, '--passphrase-file', 'p'], secretFiles);
      expect([code, err]).toEqual([1, expect.stringContaining('The link is incomplete')]);
    }
    expect(JSON.stringify(here.requests)).not.toContain('canary-passphrase');
    expect(await isWaiting(here, secretKey)).toBe(true);
  });
});

describe('a note', () => {
  const line = 'For Ana: the Wi-Fi of ward 4';
  const onTerminal = (asked: string[] = []): Partial<WholeWorld> => {
    const { terminal } = fakeWorld().world;
    return { terminal: { ...terminal, isErrorSeen: true, err: (text) => asked.push(text) } };
  };

  it('is shared end to end, in plain, and with every generated value or line, and shown by status', async () => {
    const here = installation(honest);
    const share = ['--note', ` ${line} `, '--quiet'];
    const made = [
      await here.run(['share', ...share], {}, 'x'),
      await here.run(['share', '--plain', ...share], {}, 'x'),
      await here.run(['generate', ...share]),
      await here.run(['share', '--lines', '-', ...share], {}, 'one\ntwo\n'),
    ];
    const links = made.flatMap(({ out }) => out.match(/http\S+/g) ?? []);
    expect(links).toHaveLength(5);
    for (const link of links) {
      expect((await here.run(['status', link])).out).toEndWith(`\nThe sender writes: “${line}”\n`);
      expect(JSON.parse((await here.run(['status', link, '--json'])).out)).toMatchObject({ note: line });
    }
    const sent = here.requests.filter(({ path }) => path.endsWith('/conceal'));
    expect(
      sent.filter(({ body }) => body.includes(line)).map(({ body }) => JSON.parse(body).secret.secret),
    ).toEqual(['x']);
    const { out } = await here.run(['share', '--quiet'], {}, 'x');
    expect(JSON.parse((await here.run(['status', out.trim(), '--json'])).out)).toMatchObject({ note: null });
    expect((await here.run(['status', out.trim()])).out).not.toContain('writes');
  });

  it('is shown to a person before the passphrase is asked, and never to a program', async () => {
    const here = installation(honest);
    const { out } = await here.run(['share', '--note', line, '--passphrase-file', 'p', '--quiet'], {}, 'x');
    const told: string[] = [];
    const world = onTerminal(told);
    const askHidden = async (question: string) => {
      told.push(question);
      return null;
    };
    const asking = {
      terminal: { ...(world.terminal as WholeWorld['terminal']), isInteractive: true, askHidden },
    };
    await here.run(['reveal', out.trim()], asking);
    expect(told.slice(0, 2)).toEqual([`The sender writes: “${line}”\n`, 'Passphrase: ']);
    const before = here.requests.length;
    const read = await here.run(['reveal', out.trim(), '--passphrase-file', 'p']);
    expect(read).toMatchObject({ code: 0, out: 'x', err: '' });
    expect(here.requests.slice(before).filter(({ path }) => path.endsWith('/note'))).toEqual([]);
  });

  it('cannot take over the terminal, and one that does not come stops no reveal', async () => {
    const words = 'a\u001b[2J\u202eb';
    for (const answer of [
      () => Response.json({ success: true, record: { note: words } }),
      () => Response.json({ success: false, error: 'not_found' }, { status: 404 }),
      () => new Response('', { status: 500 }),
    ]) {
      const here = installation(async (request, honestly) =>
        request.path.endsWith('/note') ? answer() : honestly(),
      );
      const { out } = await here.run(['share', '--plain', '--quiet'], {}, 'x');
      const told: string[] = [];
      expect((await here.run(['reveal', out.trim()], onTerminal(told))).code).toBe(0);
      for (const unseen of ['\u001b', '\u202e']) expect(told.join('')).not.toContain(unseen);
    }
  });

  it('is refused when it is too long or no text, and nothing is shared', async () => {
    const here = installation(honest);
    for (const note of ['a'.repeat(141), '\u001b[2J'])
      for (const kind of [['share'], ['share', '--plain'], ['generate']]) {
        const { code, out, err } = await here.run([...kind, '--note', note], {}, 'x');
        expect([code, out]).toEqual([1, '']);
        expect(err).toMatch(/140 characters|well-formed/);
      }
    expect(here.requests.filter(({ body }) => body.includes('sealed'))).toEqual([]);
  });
});

describe('with real files', () => {
  let started: StartedServer;
  let dataDir = '';
  let place = '';
  let env: Record<string, string> = {};
  beforeAll(async () => {
    [dataDir, place] = [await makeDataDir(), await mkdtemp(join(tmpdir(), 'mayfly-'))];
    const { username, token } = await createAccount(dataDir, 'ann@example.org');
    started = await startServer({ dataDir });
    const own = `http://127.0.0.1:${started.port}`;
    env = { MAYFLY_SERVER: own, MAYFLY_USERNAME: username, MAYFLY_TOKEN: token };
  });
  afterAll(async () => {
    await started[Symbol.asyncDispose]();
    for (const each of [dataDir, place]) await rm(each, { recursive: true });
  });

  async function mayfly(cwd: string, ...args: string[]) {
    const child = spawn(process.execPath, [join(repositoryRoot, 'src', 'main.ts'), ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: place, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr, exited } = watch(child);
    return { code: (await exited).code, out: stdout(), err: stderr() };
  }

  const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

  it('a file of a megabyte and a text each take two commands', async () => {
    const bytes = randomBytes(1_000_000 - 'report.bin'.length);
    await writeFile(join(place, 'report.bin'), bytes);
    await writeFile(join(place, 'note.txt'), 'one line\n');
    const here = await mkdtemp(join(place, 'reader-'));
    for (const name of ['report.bin', 'note.txt']) {
      const shared = await mayfly(place, 'share', join(place, name), '--quiet');
      expect(shared).toMatchObject({ code: 0, err: '' });
      const read = await mayfly(here, 'reveal', shared.out.trim());
      expect(read).toEqual({ code: 0, out: '', err: `Saved the file in ${name}, readable only by you.\n` });
      expect(digestOf(await readFile(join(here, name)))).toBe(digestOf(await readFile(join(place, name))));
      expect((await stat(join(here, name))).mode & 0o777).toBe(0o600);
    }
    expect((await readdir(here)).sort()).toEqual(['note.txt', 'report.bin']);
  });

  it('one that is too large is refused, and a link in the folder is not followed', async () => {
    await writeFile(join(place, 'large.bin'), randomBytes(1_100_000));
    const large = await mayfly(place, 'share', 'large.bin', '--json');
    expect([large.code, large.out]).toEqual([1, '{"error":"too_large"}\n']);
    const here = await mkdtemp(join(place, 'reader-'));
    await symlink(join(place, 'elsewhere'), join(here, 'note.txt'));
    await writeFile(join(place, 'note.txt'), 'one line\n');
    const shared = await mayfly(place, 'share', 'note.txt', '--quiet');
    await mayfly(here, 'reveal', shared.out.trim());
    expect((await readdir(here)).sort()).toEqual(['note-2.txt', 'note.txt']);
    expect((await readdir(place)).includes('elsewhere')).toBe(false);
  });
});
