/**
 * The programs of docs/api.md, run as they are written. The server asks each of them to try its first read again. Go is a large package,
 * so its program runs in the long run only.
 */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '../support/counts.ts';
import {
  type Credentials,
  createAccount,
  repositoryRoot,
  type StartedServer,
  startServer,
  watch,
} from '../support/started-server.ts';

setDefaultTimeout(120_000);

interface Program {
  /** As the document marks its code. */
  readonly mark: string;
  readonly file: string;
  readonly command: readonly string[];
  /** What the system must have. */
  readonly tool: 'curl' | 'node' | 'python3' | 'golang-go';
  readonly prints: readonly unknown[];
}

const link = expect.stringMatching(
  /^Give away: http:\/\/(?:localhost|127\.0\.0\.1):\d+\/secret\/[0-9a-z]{31}(?:#[\w-]{22})?$/,
);
/** Of the client, which shares end to end. */
const fullLink = expect.stringMatching(
  /^Give away: http:\/\/127\.0\.0\.1:\d+\/secret\/[0-9a-z]{31}#[\w-]{22}$/,
);
const drawn = expect.stringMatching(/^[a-z2-9]{20}$/);
const listed = ['received ', 'burned ', 'received side door'];

const programs: Readonly<Record<string, Program>> = {
  curl: {
    mark: 'sh',
    file: 'program.sh',
    command: ['sh', '-eu'],
    tool: 'curl',
    prints: ['new', 'open sesame', '404', drawn, 'burned', 'Unknown secret', 'x', '2'],
  },
  TypeScript: {
    mark: 'ts',
    file: 'program.mjs',
    command: ['node'],
    tool: 'node',
    prints: [
      'new',
      'open sesame',
      'unknown_secret 404',
      drawn,
      'burned',
      'incorrect_passphrase null',
      'x',
      ...listed,
    ],
  },
  Python: {
    mark: 'python',
    file: 'program.py',
    command: ['python3'],
    tool: 'python3',
    prints: [
      'new',
      'open sesame',
      'unknown_secret 404',
      drawn,
      'burned',
      'incorrect_passphrase 422',
      'x',
      ...listed,
    ],
  },
  Go: {
    mark: 'go',
    file: 'program.go',
    command: ['go', 'run'],
    tool: 'golang-go',
    prints: [
      'new',
      'open sesame',
      'unknown_secret 404',
      drawn,
      'burned',
      'incorrect_passphrase 422',
      'x',
      ...listed,
    ],
  },
};

const guide = readFileSync(join(repositoryRoot, 'docs', 'api.md'), 'utf8');

/** The code under a heading. */
function codeOf(heading: string, mark: string): string {
  const [section = ''] = (guide.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ');
  const [code = '', ...rest] = Array.from(
    section.matchAll(new RegExp(`\`\`\`${mark}\\n(.*?)\`\`\``, 'gs')),
    ([, found]) => found,
  );
  if (code === '' || rest.length > 0) throw new Error(`${heading} has not one program`);
  return code;
}

let folder: string;
let server: StartedServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  const packages = join(folder, 'node_modules', '@mayfly');
  await mkdir(packages, { recursive: true });
  server = await startServer();
  const built = await run(
    ['node', join(repositoryRoot, 'scripts', 'build-sdk.mjs'), join(packages, 'client')],
    {},
  );
  if (built.code !== 0) throw new Error(built.stderr);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function run(command: readonly string[], env: Readonly<Record<string, string>>) {
  const [name = '', ...args] = command;
  const child = spawn(name, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr, exited } = watch(child);
  const { code } = await exited;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Stands before the server, and answers the first GET as a busy server does. */
function standBeforeBusy(port: number) {
  let refused = 0;
  const body = JSON.stringify({ success: false, error: 'unavailable', message: 'Try again' });
  const front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'GET' && refused === 0) {
        refused += 1;
        return new Response(body, { status: 503, headers: { 'retry-after': '0' } });
      }
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const init = { method, headers, body: method === 'GET' ? null : await request.bytes() };
      return fetch(`http://127.0.0.1:${port}${pathname}${search}`, init);
    },
  });
  return {
    url: `http://127.0.0.1:${front.port}`,
    refused: () => refused,
    [Symbol.dispose]: () => void front.stop(true),
  };
}

async function runProgram(name: string, { mark, file, command }: Program, account: Credentials) {
  using front = standBeforeBusy(server.port);
  await writeFile(join(folder, file), codeOf(name, mark));
  const login = { MAYFLY_USERNAME: account.username, MAYFLY_TOKEN: account.token };
  const ended = await run([...command, file], { MAYFLY_SERVER: front.url, ...login });
  return { ...ended, lines: ended.stdout.trimEnd().split('\n'), refused: front.refused() };
}

describe('the guide to the API', () => {
  for (const [at, [name, program]] of Object.entries(programs).entries()) {
    if (program.tool === 'golang-go' && !isLongRun) continue;
    it(`has a program in ${name} that does what it says, and tries a refused read again`, async () => {
      const account = await createAccount(server.dataDir, `reader${at}@example.com`);
      const { code, stderr, lines, refused } = await runProgram(name, program, account);
      const [given, ...rest] = lines;
      expect({ code, refused, rest: rest as unknown, stderr }).toEqual({
        code: 0,
        refused: 1,
        rest: program.prints,
        stderr: '',
      });
      expect(given as unknown).toEqual(name === 'TypeScript' ? fullLink : link);
    });
  }

  it('names the fields of both versions as they are', async () => {
    const table = guide.slice(guide.indexOf('| version 1 |'), guide.indexOf('## curl'));
    const fields = [...table.matchAll(/`([a-z_.]+)`/g)].map(
      ([, field = '']) => field.split('.').at(-1) ?? '',
    );
    const document = readFileSync(join(repositoryRoot, 'docs', 'openapi', 'mayfly.json'), 'utf8');
    expect(fields.filter((field) => !document.includes(`"${field}"`))).toEqual([]);
    expect(fields.length).toBeGreaterThan(15);
  });
});
