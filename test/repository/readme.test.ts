/** The examples of README, docs/try.md and docs/api.md, run as they are written, against this test's own servers; and README's figures. */
import { describe, expect, it } from 'bun:test';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAccount,
  freePort,
  repositoryRoot,
  runProduct,
  type StartedServer,
  startServer,
} from '../support/started-server.ts';

const shell = 'bash';
/** The program that the examples call; it must be installed. */
const tool = 'curl';

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
const readme = read('README.md');

function sectionOf(page: string, heading: string): string {
  return page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

/** The commands of the `sh` blocks under a heading, without comments and with continued lines joined. */
function examplesUnder(path: string, heading: string): string[] {
  const blocks = sectionOf(read(path), heading).matchAll(/```sh\n([\s\S]*?)```/g);
  const code = Array.from(blocks, ([, block = '']) => block).join('');
  const lines = code.replaceAll('\\\n', ' ').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** The second cell of a row of README's table "Share". */
function wayToShare(name: string): string {
  const row = sectionOf(readme, 'Share')
    .split('\n')
    .find((line) => line.startsWith(`| ${name} |`));
  return /\| `([^`]+)` \|$/.exec(row ?? '')?.[1] ?? '';
}

type Known = Readonly<Record<string, string>>;

function fillIn(line: string, known: Known): string {
  return Object.entries(known).reduce(
    (filled, [placeholder, value]) => filled.replaceAll(placeholder, value),
    line,
  );
}

/** Runs one example with its placeholders filled in; returns its output. */
function print({ port }: StartedServer, line: string, known: Known): string {
  const command = fillIn(line.replaceAll('http://localhost:3000', `http://127.0.0.1:${port}`), known);
  return spawnSync(shell, ['-c', command], { encoding: 'utf8' }).stdout;
}

/** Like `print`, but parses the output as JSON. */
function run(server: StartedServer, line: string | undefined, known: Known = {}): Record<string, unknown> {
  expect(line).toStartWith(tool);
  return JSON.parse(print(server, line ?? '', known)) as Record<string, unknown>;
}

interface Demo extends AsyncDisposable {
  /** Resolves with all its output once that matches; rejects when it exits first. */
  until(pattern: RegExp): Promise<string>;
}

/** Starts a demo, as `npm run demo:…` does. */
function startDemo(name: string, args: readonly string[]): Demo {
  const child: ChildProcess = spawn(process.execPath, [`scripts/demo-${name}.ts`, ...args], {
    cwd: repositoryRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  let check = () => {};
  child.stdout?.on('data', (part: Buffer) => {
    printed += part.toString('utf8');
    check();
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    until: (pattern) =>
      new Promise((resolve, reject) => {
        check = () => {
          if (pattern.test(printed)) resolve(printed);
        };
        void ended.then(() => reject(new Error(`the demo ended: ${printed}`)));
        check();
      }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Asks again until the answer contains the text: the mail is sent after the answer. */
async function askUntil(ask: () => string, wanted: string): Promise<string> {
  for (let tries = 0; tries < 400; tries += 1) {
    const answer = ask();
    if (answer.includes(wanted)) return answer;
  }
  throw new Error(`never answered ${wanted}`);
}

/** What README says in figures, and where each is held. */
const facts: readonly (readonly [said: string, path: string, held: RegExp])[] = [
  [
    '300 times with `kill -9`',
    'test/faults/kill.test.ts',
    /killCount = count\(\{ usual: \d+, long: 300 \}\)/,
  ],
  ['100 readers for each', 'test/faults/race.test.ts', /readerCount = 100;/],
  ['5,000 secrets', 'test/faults/race.test.ts', /secretCount = count\(\{ usual: \d+, long: 5_000 \}\)/],
  ['a key of 128 bits', 'docs/end-to-end.md', /F = 16 random bytes/],
  ['two independent programs', 'docs/end-to-end.md', /These two programs share no code with Mayfly's own/],
  ['at most 25 kB', 'test/web/secret-weight.test.ts', /24_000 : 24_576\);/],
  ['15 kB once', 'test/web/secret-weight.test.ts', /faceBudgetBytes = 15_500;/],
  ['in 6 requests', 'test/web/secret-weight.test.ts', /budgetRequests = 6;/],
  [
    '5 times, over 20 minutes',
    'src/mail/smtp.ts',
    /usualRetryDelaysMs = \[5_000, 60_000, 300_000, 900_000\];/,
  ],
  ['after 0.1 s', 'docs/benchmarks.md', /^\| the executable \| (?:[5-9]\d|1[0-4]\d) \|/m],
];

describe('README', () => {
  it('is short, and its first command is all that a clone needs', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(110);
    expect(/```sh\n([\s\S]*?)```/.exec(readme)?.[1]).toBe('npm start\n');
    expect(readme).not.toMatch(/<this |<your |<path/);
  });

  it('says nothing in figures that is not held elsewhere', () => {
    const languages = readdirSync(join(repositoryRoot, 'src', 'locale')).filter((name) =>
      /\.json$/.test(name),
    );
    const why = sectionOf(readme, 'Why this one').replaceAll('\n  ', ' ');
    let rest = why.replace(`in ${languages.length} languages`, '');
    for (const [said, path, held] of facts) {
      expect(why).toContain(said);
      expect([said, path, held.test(read(path))]).toEqual([said, path, true]);
      rest = rest.replace(said, '');
    }
    expect(rest.replace(/such as `[^`]+`/, '').match(/\d\S*/g)).toBeNull();
    expect(why.match(/^- /gm)).toHaveLength(5);
  });

  it('shares with curl and with the command, and reads with the command, as it says', async () => {
    await using server = await startServer();
    const link = /the link is `([^`]+)` and that key/.exec(readme)?.[1];
    const { secret_key: key } = run(server, wayToShare('curl'));
    const env = { MAYFLY_SERVER: `http://127.0.0.1:${server.port}` };
    const mayfly = (line: string) => {
      const [, words = ''] = /^npm run -s mayfly -- (.+)$/.exec(line) ?? [];
      const args = words.split(' ').map((word) => word.replaceAll("'", ''));
      return runProduct(['src/main.ts', ...args], env);
    };
    const made = await mayfly(wayToShare('the command'));
    expect(made).toMatchObject({ code: 0 });
    const revealed = /or\swith `(npm run -s mayfly -- reveal 'LINK')`/.exec(readme)?.[1] ?? '';
    const asFile = fillIn(revealed, { LINK: made.stdout.trim() });
    expect(await mayfly(`${asFile} --out -`)).toMatchObject({ code: 0, stdout: readme });
    const plain = `${link}${key}`.replace('http://localhost:3000', env.MAYFLY_SERVER);
    expect(await mayfly(fillIn(revealed, { LINK: plain }))).toMatchObject({ code: 0, stdout: 'open sesame' });
  });
});

describe('the examples of the documents', () => {
  it('share a secret through both versions, read it once, and find it gone', async () => {
    await using server = await startServer();
    const [v1, v2, first, second, ...rest] = examplesUnder('docs/api.md', 'Three calls');
    expect(rest).toEqual([]);
    const shared = run(server, v1);
    expect(shared).toMatchObject({ custid: 'anon', ttl: 3600, state: 'new' });
    expect(run(server, v2)).toMatchObject({ success: true, record: { secret: { state: 'new' } } });
    const key = { SECRET_KEY: String(shared.secret_key) };
    expect(run(server, first, key)).toMatchObject({ value: 'open sesame' });
    expect(run(server, second, key)).toMatchObject({ message: 'Unknown secret' });
  });

  it('make an account, mail a link, list it and burn it', async () => {
    await using server = await startServer();
    const { token } = await createAccount(server.dataDir, 'you@example.com');
    const [create, mail, recent, burn] = examplesUnder('docs/try.md', 'Accounts');
    expect(create).toBe('npm run -s mayfly -- account create you@example.com');
    const known = { TOKEN: token };
    const sent = run(server, mail, known);
    expect(sent).toMatchObject({ custid: 'you@example.com', recipient: 'fr*****@e*****.org' });
    expect(run(server, recent, known)).toMatchObject([{ metadata_key: sent.metadata_key }]);
    const burned = run(server, burn, { ...known, METADATA_KEY: String(sent.metadata_key) });
    expect(burned).toMatchObject({ status: 'burned', state: { state: 'burned' } });
  });

  it('see a mail arrive, what its server said, and the same secret sent to another address', async () => {
    const mailPort = await freePort();
    await using sink = startDemo('mail', ['--port', String(mailPort)]);
    await sink.until(/MAYFLY_SMTP_URL/);
    await using server = await startServer({ env: { MAYFLY_SMTP_URL: `smtp://localhost:${mailPort}` } });
    const { token } = await createAccount(server.dataDir, 'you@example.com');
    const [demo, create, look = '', deliver] = examplesUnder('docs/try.md', 'Mail');
    expect(demo).toBe('npm run demo:mail');
    const made = run(server, create, { TOKEN: token }) as { record: { metadata: { key: string } } };
    const known = { TOKEN: token, METADATA_KEY: made.record.metadata.key };
    expect(await sink.until(/To: friend@example\.org[\s\S]*\/secret\//)).toContain('you@example.com');
    const told = await askUntil(() => print(server, look, known), '"state":"accepted"');
    expect(JSON.parse(told)).toMatchObject({
      record: { delivery: { state: 'accepted', reply: expect.stringMatching(/^250 /) } },
    });
    run(server, deliver, known);
    expect(await sink.until(/To: colleague@example\.org/)).not.toContain(known.METADATA_KEY);
  });

  it('verify a domain against a name server on this machine, and open a link on it', async () => {
    const dnsPort = await freePort();
    await using server = await startServer({ env: { MAYFLY_DNS_SERVERS: `127.0.0.1:${dnsPort}` } });
    const [create = '', add, records = '', verify, brand, share, open = ''] = examplesUnder(
      'docs/try.md',
      'A share domain',
    );
    const words = create.replace('npm run -s mayfly -- ', '').split(' ');
    const made = await runProduct(['src/main.ts', ...words, '--json'], { MAYFLY_DATA_DIR: server.dataDir });
    const known = { TOKEN: (JSON.parse(made.stdout) as { token: string }).token };
    const added = run(server, add, known) as { record: Record<string, string> };
    const [, , , , , ...published] = fillIn(records, {
      TXT_HOST: added.record.txt_validation_host ?? '',
      TXT_VALUE: added.record.txt_validation_value ?? '',
    }).split(' ');
    await using names = startDemo('dns', [...published, '--port', String(dnsPort)]);
    await names.until(/MAYFLY_DNS_SERVERS/);
    // This server's base URL is http://localhost, so the name must point there.
    expect(run(server, verify, known)).toMatchObject({ record: { state: 'verified' } });
    expect(run(server, brand, known)).toMatchObject({ record: { name: 'Example Secrets' } });
    const shared = run(server, share, known);
    expect(shared).toMatchObject({ share_domain: 'secrets.example.com' });
    const page = print(server, open, { SECRET_KEY: String(shared.secret_key) });
    expect(page).toContain('<form');
    expect(page).toContain('Example Secrets');
  });
});
