/** Runs the README's examples as written, against this test's own servers. */
import { describe, expect, it } from 'bun:test';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

/** The commands of the `sh` block under a heading, without comments and with continued lines joined. */
function examplesUnder(heading: string): string[] {
  const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf(`## ${heading}\n`));
  const block = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  const lines = block.replaceAll('\\\n', ' ').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
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

describe('the examples of the README', () => {
  it('share a secret through both versions, read it once, and find it gone', async () => {
    await using server = await startServer();
    const [v1, v2, first, second, ...rest] = examplesUnder('Share a secret, read it once');
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
    const [create, mail, recent, burn] = examplesUnder('Accounts');
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
    const [create, look = '', deliver] = examplesUnder('Mail you can verify');
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
    const made = await runProduct(
      ['src/main.ts', 'account', 'create', 'you@example.com', '--plan', 'identity', '--json'],
      { MAYFLY_DATA_DIR: server.dataDir },
    );
    const known = { TOKEN: (JSON.parse(made.stdout) as { token: string }).token };
    const [add, records = '', verify, brand, share, open = ''] = examplesUnder('Links on your own domain');
    const added = run(server, add, known) as { record: Record<string, string> };
    const [, , , , , ...words] = fillIn(records, {
      TXT_HOST: added.record.txt_validation_host ?? '',
      TXT_VALUE: added.record.txt_validation_value ?? '',
    }).split(' ');
    await using names = startDemo('dns', [...words, '--port', String(dnsPort)]);
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
