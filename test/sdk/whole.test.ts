/** Every method of every entry against started servers, in both dialects: all of API v2 is called, and nothing is missing in what comes back. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { createDomainClient } from '../../sdk/domains.ts';
import { serverCodes } from '../../sdk/error.ts';
import {
  type CreateOptions,
  createClient,
  type Fetch,
  type MayflyClient,
  newLook,
  type Receipt,
} from '../../sdk/mayfly.ts';
import { refusals } from '../../src/api/v2/refusals.ts';
import { mayfly } from '../cli/command-run.ts';
import { type NameServer, openNameServer } from '../domains/name-server.ts';
import { openPostOffice } from '../mail/post-office.ts';
import { lookUntil } from '../support/look-until.ts';
import { createAccount, repositoryRoot, type StartedServer, startServer } from '../support/started-server.ts';
import { failure } from './observed.ts';

const target = 'in.mayfly.example.com';
const domain = 'secrets.example.org';
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>';

let names: NameServer;
beforeAll(async () => {
  names = await openNameServer({ [target]: { a: ['192.0.2.10'] } });
});
afterAll(() => names[Symbol.asyncDispose]());

interface Exchange {
  /** As in the OpenAPI document: method and path with names for what varies. */
  readonly operation: string;
  readonly ignored: string | null;
}

function operationOf(url: string, method: string): string {
  const path = new URL(url).pathname
    .replace(
      /\/(private|secret|domains|request)\/(?!recent$|status$|conceal$|generate$|batch$)[^/]+/,
      '/$1/*',
    )
    .replace(/^\/api/, '');
  return `${method} ${path}`;
}

/** Notes what was called, and what of it the server did not know. */
function recordingFetch(exchanges: Exchange[]): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const answer: unknown = await response.clone().json();
    const { details = null } = Object(answer) as { details?: { ignored?: unknown } | null };
    const ignored = response.headers.get('Mayfly-Ignored') ?? details?.ignored ?? null;
    const operation = operationOf(url, init.method ?? 'GET');
    exchanges.push({ operation, ignored: ignored === null ? null : String(ignored) });
    return response;
  };
}

/** Paths of what is `undefined` or no date, anywhere in a result. */
function holesIn(value: unknown, path: string): string[] {
  if (value === undefined || (value instanceof Date && Number.isNaN(value.getTime()))) return [path];
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return Object.entries(value).flatMap(([name, each]) => holesIn(each, `${path}.${name}`));
}

type Results = Record<string, unknown>;

async function callMain(options: Parameters<typeof createClient>[0], results: Results): Promise<void> {
  const client = createClient(options);
  const all = {
    passphrase: 'thyme',
    ttlSeconds: 600,
    recipient: 'alan@example.org',
    shareDomain: domain,
    notify: ['read'],
    memo: 'm',
    locale: 'de',
  } as const;
  const created = await client.conceal({ ...all, value: 'open sesame', plain: true });
  const { metadataKey } = created;
  results.conceal = created;
  const generation = { ...all, length: 20, charset: ['lower', 'digits'] } as const;
  results.generate = await client.generate({ ...generation, plain: true });
  const { recipient: _, locale: __, ...unmailed } = all;
  await callSealed(client, unmailed, domain);
  results.batch = await client.batch([{ value: 'one', plain: true }, { generate: { plain: true } }]);
  results.inspect = await client.inspect(created.link, { passphrase: 'thyme' });
  results.status = await client.status(created.link);
  results.note = await client.note(created.link);
  const gone = '0'.repeat(31);
  results.statuses = await client.statuses([created.link, gone]);
  expect([await client.status(gone), await client.statuses([])]).toEqual([null, []]);
  expect(results.statuses).toEqual([{ ...Object(results.status) }, null]);
  results.setMemo = await client.setMemo(metadataKey, 'n');
  results.setTtl = await client.setTtl(metadataKey, 900);
  results.allowMore = await client.allowMore(metadataKey);
  results.receipt = await settled(() => client.receipt(metadataKey));
  results.deliver = await client.deliver(metadataKey, { recipient: 'grace@example.com', locale: 'fr' });
  results.recent = [];
  for await (const receipt of client.recent({ pageSize: 1 })) (results.recent as unknown[]).push(receipt);
  results.sendCode = await callCodes(client);
  const look = newLook();
  const { value, ...revealed } = await client.reveal(created.link, { passphrase: 'thyme', look });
  expect(value).toBe('open sesame');
  results.reveal = revealed;
  results.done = (await client.done(created.link, look)) ?? null;
  const burned = (await client.conceal({ value: 'x', shareDomain: domain })).metadataKey;
  results.burn = await client.burn(burned);
  expect((await failure(client.burn(burned))).code).toBe('already_gone');
  const unread = await client.conceal({ value: 'x', passphrase: 'thyme', shareDomain: domain });
  results.burnUnread = (await client.burnUnread(unread.link, { passphrase: 'thyme' })) ?? null;
  expect(await client.receipt(unread.metadataKey)).toMatchObject({ burnedBy: 'recipient' });
  await callRequests(client, results);
  results.account = await client.account();
  results.serviceStatus = await client.serviceStatus();
  results.version = await client.version();
  results.locales = await client.locales();
}

/** A secret that asks for a code. */
async function callCodes(client: MayflyClient): Promise<unknown> {
  const { link, metadataKey } = await client.conceal({ value: 'x', verify: 'alan@example.org' });
  const sent = await client.sendCode(link, newLook(), { locale: 'fr' });
  const { codes } = await lookUntil(
    'the end of an email with a code',
    () => client.receipt(metadataKey),
    ({ codes }) => codes?.[0]?.state !== 'queued',
  );
  expect(codes).toEqual([{ state: 'accepted', at: expect.any(Date) }]);
  return sent;
}

async function callRequests(client: MayflyClient, results: Results): Promise<void> {
  const wanted = { ttlSeconds: 600, answerTtlSeconds: 600, notify: true, shareDomain: domain };
  const asked = await client.ask({ prompt: 'x', answers: 2, ...wanted });
  const { askLink, answersLink } = asked;
  expect([askLink, answersLink].map((link) => new URL(link).hostname)).toEqual([domain, '127.0.0.1']);
  results.ask = asked;
  results.inspectRequest = await client.inspectRequest(askLink);
  results.answer = await client.answer(askLink, { value: 'open sesame' });
  results.reportRequest = (await client.reportRequest(askLink)) ?? null;
  const found = await client.answers(answersLink);
  results.answers = found;
  const [first] = found.answers;
  expect((await client.reveal(first?.link ?? '')).value).toBe('open sesame');
  results.watchAnswers = [];
  for await (const each of client.watchAnswers(answersLink)) {
    (results.watchAnswers as unknown[]).push(each);
    break;
  }
  results.discardAnswer = await client.discardAnswer(answersLink, first?.secretKey ?? '');
  results.changeRequest = await client.changeRequest(answersLink, { ttlSeconds: 900 });
  expect((await client.changeRequest(askLink, { close: true })).state).toBe('ended');
}

/** The same end to end, and on a share domain. */
async function callSealed(
  client: MayflyClient,
  options: CreateOptions & { readonly passphrase: string },
  host: string,
): Promise<void> {
  const bytes = Uint8Array.of(1, 2, 3);
  const generated = await client.generate({ ...options, length: 20 });
  const made = [
    await client.conceal({ ...options, value: 'open sesame' }),
    await client.conceal({ ...options, file: { name: 'a', type: '', bytes } }),
    generated,
  ];
  expect(holesIn(made, 'sealed')).toEqual([]);
  const opened: unknown[] = [];
  for (const { link, isSealed, ignored, adjusted, hasPassphrase } of made) {
    expect([isSealed, hasPassphrase, ignored, adjusted]).toEqual([true, true, [], {}]);
    expect(link).toStartWith(`https://${host}/secret/`);
    const { value, file } = await client.reveal(link, options);
    opened.push(value ?? file?.bytes);
  }
  expect(opened).toEqual(['open sesame', bytes, generated.value]);
}

/** The receipt once its mail has ended. */
const settled = (look: () => Promise<Receipt>): Promise<Receipt> =>
  lookUntil('the end of a mail', look, ({ delivery }) => delivery?.state !== 'queued');

async function callDomains(options: Parameters<typeof createClient>[0], results: Results): Promise<void> {
  const client = createDomainClient(options);
  const added = await client.add(domain);
  results.add = added;
  expect(added).toMatchObject({ state: 'unverified', target: { host: target, addresses: ['192.0.2.10'] } });
  names.set(added.txtRecord?.name ?? '', { txt: [added.txtRecord?.value ?? ''] });
  names.set(domain, { cname: target });
  results.verify = await client.verify(domain);
  expect(results.verify).toMatchObject({ state: 'verified', finding: null, checkedAt: expect.any(Date) });
  const changes = {
    name: 'Example',
    colour: '#123456',
    darkColour: null,
    instructionsBefore: 'Before',
    instructionsAfter: 'After',
    locale: 'de',
    isPublic: true,
  };
  results.setBrand = await client.setBrand(domain, changes);
  expect(results.setBrand).toEqual({ ...changes, logo: null });
  const svg = new Blob([picture], { type: 'image/svg+xml' });
  results.setLogo = await client.setLogo(domain, svg);
  expect((await client.setLogo(domain, null)).logo).toBeNull();
  results.find = await client.find(domain);
  results.list = await client.list();
  expect(results.list).toMatchObject({ domains: [{ name: domain }], max: expect.any(Number) });
  const wrong = await failure(client.setBrand(domain, { name: 'x'.repeat(61), locale: 'xx' }));
  expect([wrong.code, wrong.field, wrong.fieldErrors.map(({ field }) => field).sort()]).toEqual([
    'invalid_field',
    null,
    ['brand.locale', 'brand.name'],
  ]);
  expect((await failure(client.find('none.example.org'))).code).toBe('unknown_domain');
}

/** Operations of v2 that no method calls, and why. */
const leftOut: Readonly<Record<string, string>> = {
  'POST /v2/guest/secret/conceal': 'a client without credentials is a guest',
  'POST /v2/guest/secret/generate': 'a client without credentials is a guest',
  'GET /v2/guest/secret/*': 'a client without credentials is a guest',
  'POST /v2/guest/secret/*/reveal': 'a client without credentials is a guest',
  'POST /v2/guest/secret/*/reveal/done': 'a client without credentials is a guest',
  'POST /v2/guest/secret/*/burn': 'a client without credentials is a guest',
  'GET /v2/domains/*/brand': 'each domain has its brand',
  'GET /v2/openapi.json': 'the document itself',
};

/** Without aliases, whose operation ids end in a number. */
async function documentedOperations(): Promise<string[]> {
  const document = (await Bun.file(`${repositoryRoot}/docs/openapi/mayfly.json`).json()) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith('/api/v2/'));
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId = '.0' }]) => !/\.[0-9]+$/.test(operationId))
      .map(([method]) => `${method.toUpperCase()} ${path.replace('/api', '').replace(/\{\w+\}/g, '*')}`),
  );
}

describe('the whole of API v2', () => {
  for (const dialect of ['documented', 'upstream'])
    it(`is called by the client in the dialect ${dialect}, which understands every answer`, async () => {
      await using office = await openPostOffice();
      await using server: StartedServer = await startServer({
        env: {
          MAYFLY_BASE_URL: 'https://mayfly.example.com',
          MAYFLY_SMTP_URL: office.url,
          MAYFLY_DOMAIN_TARGET: target,
          MAYFLY_DNS_SERVERS: names.address,
          MAYFLY_V1_DIALECT: dialect,
          MAYFLY_V2_DIALECT: dialect,
        },
      });
      const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
      const operator = { MAYFLY_DATA_DIR: server.dataDir };
      expect((await mayfly(['account', 'plan', username, 'identity'], operator)).code).toBe(0);
      const exchanges: Exchange[] = [];
      const options = {
        server: `http://127.0.0.1:${server.port}`,
        credentials: { username, token },
        fetch: recordingFetch(exchanges),
      };
      const results: Record<string, Results> = { domains: {}, main: {} };
      await callDomains(options, results.domains ?? {});
      await callMain(options, results.main ?? {});
      await createDomainClient(options).remove(domain);
      expect(holesIn(results, dialect)).toEqual([]);
      const called = new Set(exchanges.map(({ operation }) => operation));
      const missing = (await documentedOperations()).filter((operation) => !called.has(operation));
      expect(missing.sort()).toEqual(Object.keys(leftOut).sort());
      expect(exchanges.filter((exchange) => exchange.ignored !== null)).toEqual([]);
      const [domains, main] = [Object.keys(createDomainClient(options)), Object.keys(createClient(options))];
      expect(Object.keys({ ...results.domains, remove: 0 }).sort()).toEqual(domains.sort());
      expect(Object.keys(results.main ?? {}).sort()).toEqual(main.sort());
    }, 60_000);

  it('refuses with codes that the client knows, and no others', () => {
    expect([...serverCodes].sort() as string[]).toEqual(Object.keys(refusals).sort());
  });

  it('self-test: a hole, an operation that nobody calls and a field that the server ignores are found', async () => {
    expect(holesIn({ a: [{ b: undefined }, null], at: new Date(Number.NaN) }, 'x')).toEqual([
      'x.a.0.b',
      'x.at',
    ]);
    expect(await documentedOperations()).toContain('GET /v2/domains/*/brand');
    await using server = await startServer();
    const exchanges: Exchange[] = [];
    const call = recordingFetch(exchanges);
    const address = `http://127.0.0.1:${server.port}/api`;
    const headers = { 'Content-Type': 'application/json' };
    await call(`${address}/v1/share`, { method: 'POST', body: 'secret=x&colour=red' });
    const body = JSON.stringify({ secret: { secret: 'x', colour: 'red' } });
    await call(`${address}/v2/secret/conceal`, { method: 'POST', body, headers });
    expect(exchanges).toEqual([
      { operation: 'POST /v1/share', ignored: 'colour' },
      { operation: 'POST /v2/secret/conceal', ignored: 'secret.colour' },
    ]);
  }, 60_000);
});
