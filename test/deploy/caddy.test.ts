/**
 * The shipped Caddyfile in front of a started Mayfly: certificates, addresses, logs.
 *
 * Proves that certificates are issued only for verified share domains, that clients are counted by the address that
 * Caddy saw (P22), and that Caddy's log holds no key and no credential (P18).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Credentials,
  createAccount,
  freePort,
  runProduct,
  type StartedServer,
  startServer,
} from '../support/started-server.ts';
import { runCaddy, type StartedCaddy, shippedCaddyfile, startCaddy } from './caddy.ts';
import { visit } from './curl.ts';
import { answerBy, type Request, site, visitBy } from './proxy.ts';

setDefaultTimeout(60_000);

const domain = 'secrets.example.org';
const stranger = 'stranger.example.net';
const owner = 'owner@example.org';
/** The address of a router in front of Caddy. */
const router = '127.0.7.1';

interface Recorder {
  readonly port: number;
  /** The `GET /ask?domain=…` requests, as they came. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/** Sits between Caddy and the internal port and records each question; without an internal port it says yes to all. */
function record(internalPort?: number): Recorder {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch({ method, url }) {
      const { pathname, search } = new URL(url);
      asked.push(`${method} ${pathname}${search}`);
      if (internalPort === undefined) return new Response(null, { status: 200 });
      const { status } = await fetch(`http://127.0.0.1:${internalPort}${pathname}${search}`, { method });
      return new Response(null, { status });
    },
  });
  return { port: server.port ?? 0, asked, stop: () => server.stop(true) };
}

let folder: string;
let mayfly: StartedServer;
let account: Credentials;
let recorder: Recorder;
let caddy: StartedCaddy;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-deploy-'));
  const internalPort = await freePort();
  const brandFile = join(folder, 'brand.json');
  await writeFile(brandFile, JSON.stringify({ domains: { [domain]: { name: 'Example Vault' } } }));
  const env = {
    MAYFLY_BASE_URL: `https://${site}`,
    MAYFLY_INTERNAL_PORT: String(internalPort),
    MAYFLY_TRUSTED_PROXIES: `127.0.0.1, ${router}`,
    MAYFLY_BRAND_FILE: brandFile,
  };
  const dataDir = join(folder, 'data');
  mayfly = await startServer({ dataDir, env });
  account = await createAccount(dataDir, owner);
  const settings = { MAYFLY_DATA_DIR: dataDir, MAYFLY_BASE_URL: env.MAYFLY_BASE_URL };
  const added = await runProduct(['src/main.ts', 'domain', 'add', owner, domain], settings);
  if (added.code !== 0) throw new Error(added.stderr);
  recorder = record(internalPort);
  caddy = await startCaddy({ site, upstreamPort: mayfly.port, internalPort: recorder.port });
});
afterAll(async () => {
  await caddy?.[Symbol.asyncDispose]();
  await recorder?.stop();
  await mayfly?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const answerOf = (request: Request) => answerBy(caddy, request);

interface Made {
  readonly secretKey: string;
  readonly metadataKey: string;
}

/** A secret created through Caddy on the site's own host. */
async function make(fields: Readonly<Record<string, string>>): Promise<Made> {
  const headers = { Authorization: account.basic };
  const body = new URLSearchParams(fields).toString();
  const answer = await answerOf({ host: site, path: '/api/v1/share', headers, body });
  const { secret_key, metadata_key } = JSON.parse(answer.body) as Record<string, string>;
  if (secret_key === undefined || metadata_key === undefined) throw new Error(`not made: ${answer.status}`);
  return { secretKey: secret_key, metadataKey: metadata_key };
}

function readSecret(made: Made, request: Omit<Request, 'path'>) {
  return answerOf({ method: 'POST', ...request, path: `/api/v1/secret/${made.secretKey}` });
}

describe('the Caddyfile', () => {
  test('is valid whether the site is named or not', async () => {
    for (const settings of [{ MAYFLY_SITE: site }, {}]) {
      const { code, output } = await runCaddy('validate', settings);
      expect([code, output]).toEqual([0, expect.stringContaining('Valid configuration')]);
    }
  });

  test('serves localhost, for trying out, where no site is named, and asks no authority for it', async () => {
    await using trial = await startCaddy({ upstreamPort: mayfly.port, internalPort: recorder.port });
    const { status, body } = await answerBy(trial, { host: 'localhost', path: '/healthz' });
    expect([status, body]).toEqual([200, expect.stringContaining('ok')]);
    expect(trial.log()).not.toContain('acme-v02');
  });

  test('leads to where Mayfly listens unless told otherwise', async () => {
    const { code, output } = await runCaddy('adapt', { MAYFLY_SITE: site });
    expect(code).toBe(0);
    expect(output).toContain('"dial":"127.0.0.1:3000"');
    expect(output).toContain('"ask":"http://127.0.0.1:9090/ask"');
    expect(output).toContain('"max_size":10000000');
    expect(output).not.toContain('trusted_proxies');
  });
});

describe('certificates', () => {
  test('the site has its own, without a question to Mayfly', async () => {
    const page = await answerOf({ host: site, path: '/' });
    expect([page.status, page.head]).toEqual([200, expect.stringContaining('content-type: text/html')]);
    expect(page.head).toContain('strict-transport-security: max-age=31536000');
    expect(recorder.asked.filter((question) => question.includes(site))).toEqual([]);
  });

  test('a verified share domain gets one at its first visit, after Mayfly was asked, and shows its own brand', async () => {
    const page = await answerOf({ host: domain, path: '/' });
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('Example Vault')]);
    expect(page.head).toContain('strict-transport-security: max-age=31536000');
    expect(recorder.asked).toContain(`GET /ask?domain=${domain}`);
  });

  test('a secret made for the share domain opens through it, once', async () => {
    const made = await make({ secret: 'through the domain', share_domain: domain });
    const look = await answerOf({ host: domain, path: `/secret/${made.secretKey}` });
    expect([look.status, look.body]).toEqual([200, expect.stringContaining('Example Vault')]);
    const first = await readSecret(made, { host: domain });
    expect(JSON.parse(first.body)).toMatchObject({ value: 'through the domain', share_domain: domain });
    expect((await readSecret(made, { host: domain })).status).toBe(404);
  });

  test('an unknown name gets none: its handshake fails, and Mayfly was asked', async () => {
    for (const host of [stranger, `sub.${domain}`]) {
      expect(await visitBy(caddy, { host, path: '/' })).toEqual({ outcome: 'failed', code: 35 });
      expect(recorder.asked).toContain(`GET /ask?domain=${host}`);
    }
  });

  test('plain HTTP only redirects to TLS', async () => {
    for (const host of [site, domain, stranger]) {
      const answer = await visit({ host, port: caddy.httpPort, path: '/secret/x' });
      expect(answer).toMatchObject({ outcome: 'answered', status: 308 });
      expect(answer.outcome === 'answered' && answer.head).toContain(`location: https://${host}/secret/x`);
    }
  });
});

/** Per client and secret, in ten minutes. */
const guessesAllowed = 5;

interface Guess {
  readonly passphrase: string;
  readonly from: string;
  /** The address that the client claims to have. */
  readonly said: string;
}

async function statusOfGuess(
  at: StartedCaddy,
  made: Made,
  { passphrase, from, said }: Guess,
): Promise<number> {
  const headers = { 'X-Forwarded-For': said, 'X-Real-IP': said, Forwarded: `for=${said}` };
  const path = `/api/v1/secret/${made.secretKey}`;
  return (await answerBy(at, { host: site, path, from, headers, body: `passphrase=${passphrase}` })).status;
}

/** Makes one more wrong guess than allowed. */
async function useUpGuesses(at: StartedCaddy, made: Made, guess: (nth: number) => Omit<Guess, 'passphrase'>) {
  const statuses: number[] = [];
  for (let nth = 0; nth <= guessesAllowed; nth += 1)
    statuses.push(await statusOfGuess(at, made, { passphrase: 'wrong', ...guess(nth) }));
  return statuses;
}

const usedUp = [...new Array<number>(guessesAllowed).fill(404), 429];

describe('what passes through', () => {
  test('guesses count by the address that Caddy saw, whatever a client says it is (P22)', async () => {
    const made = await make({ secret: 'guarded', passphrase: 'right' });
    const liar = (nth: number) => ({ from: '127.0.8.1', said: `198.51.${nth}.1` });
    expect(await useUpGuesses(caddy, made, liar)).toEqual(usedUp);
    const reader = { passphrase: 'right', from: '127.0.9.1', said: '127.0.8.1' };
    expect(await statusOfGuess(caddy, made, reader)).toBe(200);
  });

  test('behind a router they count by the address that the router saw, and others are still not believed', async () => {
    const ports = { upstreamPort: mayfly.port, internalPort: recorder.port };
    await using routed = await startCaddy({ site, ...ports, router });
    const made = await make({ secret: 'guarded', passphrase: 'right' });
    const oneClient = () => ({ from: router, said: '198.51.100.7' });
    expect(await useUpGuesses(routed, made, oneClient)).toEqual(usedUp);
    const liar = (nth: number) => ({ from: '127.0.8.1', said: `203.0.${nth}.1` });
    expect(await useUpGuesses(routed, made, liar)).toEqual(usedUp);
    const reader = { passphrase: 'right', from: router, said: '198.51.99.7' };
    expect(await statusOfGuess(routed, made, reader)).toBe(200);
  });

  test('a body that is too large is refused in the words of Mayfly', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const path = '/api/v2/secret/conceal';
    const refused = await answerOf({ host: site, path, headers, body: 'x'.repeat(3_000_000) });
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([413, { error: 'too_large' }]);
  });
});

/** The canaries that appear in a log, plain or as the base64 in which credentials are sent. */
function found(log: string, canaries: readonly string[]): string[] {
  return canaries.filter((canary) => [canary, btoa(canary)].some((form) => log.includes(form)));
}

/** Sends a request with canaries in the path, the query and the headers, and returns what to look for in the log. */
async function plant(at: StartedCaddy, host: string): Promise<string[]> {
  const headers = {
    Authorization: 'Basic Y2FuYXJ5LXVzZXI6Y2FuYXJ5LXRva2Vu',
    Cookie: 'session=canary-cookie',
    'Secret-Passphrase': 'canary-passphrase',
    'X-Forwarded-For': '198.51.100.77',
  };
  await answerBy(at, {
    host,
    path: '/secret/canary-key?passphrase=canary-query',
    headers,
    from: '127.0.6.66',
  });
  return ['canary', 'Y2FuYXJ5', '198.51.100', '127.0.6.66'];
}

describe('the log', () => {
  test('has a line for each request and no key, header or whole address, also of requests that failed (P18)', async () => {
    const made = await make({ secret: 'never logged', share_domain: domain });
    await answerOf({ host: site, path: `/receipt/${made.metadataKey}` });
    await answerOf({ host: site, path: `/private/${made.metadataKey}` });
    const canaries = [
      ...(await plant(caddy, domain)),
      made.secretKey,
      made.metadataKey,
      account.token,
      account.basic,
    ];
    const nobody = await freePort();
    await using lonely = await startCaddy({ site, upstreamPort: nobody, internalPort: recorder.port });
    canaries.push(...(await plant(lonely, site)));
    await Promise.all([
      caddy.logged('"remote_ip":"127.0.6.0"'),
      lonely.logged('"http.log.error"', '"size":0,"status":502'),
    ]);
    for (const log of [caddy.log(), lonely.log()]) {
      expect(log).toContain('"handled request"');
      expect(found(log, canaries)).toEqual([]);
    }
  });

  test('self-test: without its filter the log holds keys, and without the right question strangers get certificates', async () => {
    const shipped = await readFile(shippedCaddyfile, 'utf8');
    const defective = join(folder, 'Caddyfile');
    await writeFile(defective, shipped.replace(/format filter \{[\s\S]*?\n\t\t\}\n/, 'format json\n'));
    const yes = record();
    await using loose = await startCaddy({
      site,
      upstreamPort: mayfly.port,
      internalPort: yes.port,
      caddyfile: defective,
    });
    const canaries = await plant(loose, stranger);
    await yes.stop();
    await loose.logged('"handled request"');
    expect(yes.asked).toEqual([`GET /ask?domain=${stranger}`]);
    expect(found(loose.log(), canaries)).toEqual(expect.arrayContaining(['canary', '127.0.6.66']));
  });
});
