/**
 * Real clients, against a started server in the dialect made for them, under Node.
 *
 * The npm client `onetimesecret-api` is the published package itself (it takes any base URL, plain http too), with a
 * `node-fetch` that asks for `Connection: close` with every request. The other clients are emulated by the requests
 * their public sources show, and by what each reads from the answer, with the types it expects. They share one pool of
 * sockets that believes only what the answers say, and every second request asks for `close`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import { createTestApp, type TestAccount, type TestApp } from '../support/app.ts';
import { NodeClientError, startNodeClient } from '../support/node-client.ts';
import { sendOnce } from '../support/raw-client.ts';
import type { Json } from './caller.ts';

let app: TestApp;
let server: RunningServer;
let base: string;
let alice: TestAccount;
const node = startNodeClient();
const faults: unknown[] = [];
const unknownKey = 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz';

beforeAll(async () => {
  app = createTestApp({ dialect: 'upstream' });
  const onFault = (error: unknown) => faults.push(error);
  server = await startServer({ fetch: app.handler, hostname: '127.0.0.1', port: 0, onFault });
  base = `http://127.0.0.1:${server.port}`;
  alice = await app.account('alice@example.com');
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await server.stop(1_000);
});

function npmClient(token = alice.token) {
  const { username } = alice;
  const call =
    (method: string) =>
    (...args: unknown[]): Promise<Json> =>
      node.npm({ url: base, username, token, method, args });
  return {
    status: call('status'),
    share: call('share'),
    generate: call('generate'),
    retrieveSecret: call('retrieveSecret'),
    retrieveMetadata: call('retrieveMetadata'),
    burn: call('burn'),
    recentMetadata: call('recentMetadata'),
  };
}

describe('the npm client onetimesecret-api 1.1.3', () => {
  it('finds the service up', async () => expect(await npmClient().status()).toBe(true));

  it('shares, looks, reads, and learns that it was read', async () => {
    const client = npmClient();
    const made = await client.share('hällo & 100% +\r\n', {
      ttl: 3600,
      passphrase: 'ä',
      recipient: 'joe@example.org',
    });
    expect(made).toMatchObject({
      share_link: `${base}/secret/${made.secret_key}`,
      custid: 'alice@example.com',
      ttl: 3_600,
      metadata_ttl: 7_200,
      recipient: ['jo*****@e*****.org'],
      passphrase_required: true,
      state: 'new',
    });
    expect((await client.retrieveMetadata(made.metadata_key)).state).toBe('viewed');
    expect((await client.retrieveSecret(made.secret_key, { passphrase: 'ä' })).value).toBe(
      'hällo & 100% +\r\n',
    );
    expect(await client.retrieveMetadata(made.metadata_key)).toMatchObject({
      state: 'received',
      received: app.clock.now(),
    });
  });

  it('generates and burns', async () => {
    const client = npmClient();
    const made = await client.generate({ ttl: 600 });
    expect(made.value).toHaveLength(12);
    expect(await client.burn(made.metadata_key)).toMatchObject({
      status: 'burned',
      state: { state: 'burned' },
      secret_shortkey: made.secret_key.slice(0, 6),
    });
    expect((await client.retrieveMetadata(made.metadata_key)).state).toBe('burned');
  });

  it('lists its recent records', async () => {
    const client = npmClient();
    const made = await client.share('listed');
    expect((await client.recentMetadata())[0].metadata_key).toBe(made.metadata_key);
  });

  it('recognises each refusal that it knows by its text', async () => {
    const client = npmClient();
    const stranger = npmClient('0'.repeat(64));
    const cases: [Promise<unknown>, string][] = [
      [client.retrieveSecret(unknownKey), 'UnknownSecretError'],
      [client.retrieveMetadata(unknownKey), 'UnknownSecretError'],
      [client.burn(unknownKey), 'UnknownSecretError'],
      [client.retrieveMetadata('a/b'), 'NotFoundError'],
      [stranger.status(), 'NotAuthorizedError'],
      [stranger.share('a'), 'NotAuthorizedError'],
      [stranger.recentMetadata(), 'NotAuthorizedError'],
    ];
    const told = await Promise.allSettled(cases.map(([call]) => call));
    const thrown = told.map((end) => (end.status === 'rejected' ? end.reason : end.value));
    for (const error of thrown) expect(error).toBeInstanceOf(NodeClientError);
    expect(thrown.map((error: NodeClientError) => error.thrown)).toEqual(
      cases.map(([, expected]) => expected),
    );
    expect(String(await client.share('').catch((error) => error))).toContain(
      'You did not provide anything to share',
    );
  });
});

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes get no Content-Type, text gets `text/plain`, and parameters get the form type. */
  readonly body?: BodyInit;
  readonly anonymous?: boolean;
}

let sent = 0;

/** Sends through this file's one pool. */
async function send(method: string, path: string, headers: Record<string, string>, body?: BodyInit) {
  sent += 1;
  const encoded = new Request(base, { method: 'POST', headers, ...(body !== undefined && { body }) });
  return node.send({
    url: `${base}${path}`,
    method,
    headers: { ...Object.fromEntries(encoded.headers), ...(sent % 2 === 0 && { connection: 'close' }) },
    body: await encoded.bytes(),
  });
}

async function call(
  method: string,
  path: string,
  { headers = {}, body, anonymous }: Sent = {},
): Promise<Json> {
  const asked = { ...(!anonymous && { authorization: alice.authorization }), ...headers };
  const { status, text } = await send(method, `/api/v1${path}`, asked, body);
  return { http: status, ...JSON.parse(text) };
}

async function list(method: string, path: string): Promise<Json[]> {
  const { status, text } = await send(method, `/api/v1${path}`, { authorization: alice.authorization });
  expect(status).toBe(200);
  return JSON.parse(text);
}

const form = (values: Record<string, string>) => new URLSearchParams(values);
const bytes = (text: string) => new TextEncoder().encode(text);
const integer = expect.any(Number);

function multipart(values: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.append(name, value);
  return data;
}

interface Emulation {
  readonly client: string;
  readonly sends: string;
  readonly run: () => Promise<void>;
}

const emulations: Emulation[] = [
  {
    client: 'the Ruby gem of 2013',
    sends: 'forms with empty ttl and recipient[], and metadata by POST /metadata/KEY',
    async run() {
      const headers = { 'x-onetime-client': 'ruby: 1.9.3/0.5' };
      const body = form({ secret: 'a', ttl: '', 'recipient[]': '' });
      const made = await call('POST', '/share', { headers, body });
      expect([made.http, made.ttl, made.recipient.join(',')]).toEqual([200, 604_800, '']);
      expect((await call('POST', `/metadata/${made.metadata_key}`)).state).toBe('viewed');
      expect((await call('POST', `/secret/${made.secret_key}`)).value).toBe('a');
      expect((await call('POST', `/secret/${made.secret_key}`)).message).toBe('Unknown secret');
    },
  },
  {
    client: 'the Ruby gem of 2026',
    sends: 'forms with recipient[] and continue, and the /receipt paths',
    async run() {
      expect((await call('GET', '/authcheck')).http).toBe(200);
      const body = form({ secret: 'a', ttl: '600', 'recipient[]': 'joe@example.org' });
      const made = await call('POST', '/share', { body });
      expect(made).toMatchObject({ ttl: 600, secret_ttl: 600, recipient: ['jo*****@e*****.org'] });
      expect((await call('GET', `/receipt/${made.metadata_key}`)).state).toBe('new');
      expect((await list('GET', '/receipt/recent'))[0].metadata_key).toBe(made.metadata_key);
      const burned = await call('POST', `/receipt/${made.metadata_key}/burn`, {
        body: form({ continue: 'true' }),
      });
      expect(burned.state.state).toBe('burned');
      expect((await call('POST', '/share', { body: form({ secret: 'a' }), anonymous: true })).custid).toBe(
        'anon',
      );
    },
  },
  {
    client: 'the Bash client',
    sends: 'multipart, and metadata without credentials',
    async run() {
      const made = await call('POST', '/share', {
        body: multipart({ secret: 'a b\r\nc', ttl: '600' }),
        anonymous: true,
      });
      const record = await call('POST', `/private/${made.metadata_key}`, { anonymous: true });
      expect([record.secret_key, record.state]).toEqual([made.secret_key, 'viewed']);
      expect((await call('POST', `/secret/${made.secret_key}`, { anonymous: true })).value).toBe('a b\r\nc');
      const again = await call('POST', `/secret/${made.secret_key}`, { anonymous: true });
      expect([again.http, again.message]).toEqual([404, 'Unknown secret']);
      const guarded = await call('POST', '/generate', {
        body: multipart({ passphrase: 'p' }),
        anonymous: true,
      });
      const burn = (values: Record<string, string>) =>
        call('POST', `/private/${guarded.metadata_key}/burn`, { body: multipart(values), anonymous: true });
      expect((await burn({ passphrase: 'x' })).message).toBe('Double check that passphrase');
      expect((await burn({ passphrase: 'p' })).state.state).toBe('burned');
    },
  },
  {
    client: 'the Go client of corbaltcode',
    sends: 'everything in the query of a POST, with ttl=0 and empty texts for what is unset',
    async run() {
      const made = await call('POST', '/share?secret=a%20b&ttl=0&recipient=&passphrase=');
      expect(made).toMatchObject({
        http: 200,
        ttl: 604_800,
        metadata_ttl: 1_209_600,
        passphrase_required: false,
      });
      for (const field of ['created', 'updated', 'secret_ttl'])
        expect(Number.isInteger(made[field])).toBe(true);
      expect(made.recipient).toEqual([]);
      expect((await call('POST', `/secret/${made.secret_key}?passphrase=`)).value).toBe('a b');
      expect(await call('POST', `/secret/${made.secret_key}?passphrase=`)).toMatchObject({
        http: 404,
        message: 'Unknown secret',
      });
      expect((await call('POST', '/share?secret=&ttl=0')).message).toBe(
        'You did not provide anything to share',
      );
      expect((await call('POST', '/generate?ttl=0&recipient=&passphrase=')).value).toHaveLength(12);
    },
  },
  {
    client: 'the Go client of chelnak and its PowerShell sibling',
    sends: 'the query of a POST with a JSON Content-Type and no body',
    async run() {
      const headers = { 'content-type': 'application/json' };
      const made = await call('POST', '/share?secret=a&ttl=600', { headers });
      expect(made).toMatchObject({ http: 200, ttl: 600 });
      const burned = await call('POST', `/private/${made.metadata_key}/burn`, { headers });
      expect(burned.state).toMatchObject({ state: 'burned', metadata_key: made.metadata_key });
    },
  },
  {
    client: 'the Go client otsgo',
    sends: 'a form without a Content-Type',
    async run() {
      const made = await call('POST', '/share', { body: bytes('passphrase=p&secret=a%26b&ttl=600') });
      expect(made).toMatchObject({ http: 200, ttl: 600, passphrase_required: true });
      const read = await call('POST', `/secret/${made.secret_key}`, { body: bytes('passphrase=p') });
      expect(read.value).toBe('a&b');
      const late = await call('POST', `/private/${made.metadata_key}/burn`);
      expect([late.http, late.message, late.secret_key]).toEqual([404, 'Unknown secret', made.metadata_key]);
    },
  },
  {
    client: 'Go clients with JSON structs',
    sends: 'JSON, and reads integers and a list of recipients',
    async run() {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ secret: 'a', ttl: 600, recipient: 'joe@example.org', passphrase: '' });
      const made = await call('POST', '/share', { headers, body });
      expect(made).toMatchObject({ http: 200, ttl: 600, recipient: ['jo*****@e*****.org'] });
      await call('POST', `/secret/${made.secret_key}`);
      expect((await call('GET', `/private/${made.metadata_key}`)).received).toEqual(integer);
    },
  },
  {
    client: 'the Python clients',
    sends: 'forms, and reads received and the message of a refused token',
    async run() {
      const made = await call('POST', '/share', { body: form({ secret: 'a', ttl: '600' }) });
      await call('POST', `/secret/${made.secret_key}`, { body: form({}) });
      const record = await call('POST', `/private/${made.metadata_key}`);
      expect([record.state, record.received]).toEqual(['received', integer]);
      const headers = { authorization: `Basic ${btoa('alice@example.com:wrong')}` };
      expect(await call('GET', '/status', { headers })).toEqual({ http: 404, message: 'Not authorized' });
      const burnt = await call('POST', '/generate', { body: form({}) });
      const { state } = await call('POST', `/private/${burnt.metadata_key}/burn`);
      expect([state.state, state.updated]).toEqual(['burned', integer]);
    },
  },
  {
    client: 'the Java client',
    sends: 'the query of a POST without a body, with fields of the answer among the parameters',
    async run() {
      const made = await call(
        'POST',
        '/share?secret=a&ttl=600&metadata_ttl=1&secret_ttl=1&secret_key=x&metadata_key=y',
      );
      expect(made).toMatchObject({ http: 200, ttl: 600, metadata_ttl: 1_200, secret_ttl: 600 });
      expect(made.secret_key).not.toBe('x');
    },
  },
  {
    client: 'the C# client',
    sends: 'POSTs without a body for generate, metadata, secret and recent',
    async run() {
      const made = await call('POST', '/generate');
      expect((await call('POST', `/private/${made.metadata_key}`)).metadata_key).toBe(made.metadata_key);
      expect((await call('POST', `/secret/${made.secret_key}`)).value).toBe(made.value);
      expect((await list('POST', '/private/recent'))[0].metadata_key).toBe(made.metadata_key);
    },
  },
  {
    client: 'the Perl client',
    sends: 'credentials in the userinfo of the URL, which its HTTP library turns into Basic',
    async run() {
      const url = new URL(`http://${encodeURIComponent(alice.username)}:${alice.token}@127.0.0.1/`);
      const authorization = `Basic ${btoa(`${decodeURIComponent(url.username)}:${url.password}`)}`;
      const made = await call('POST', '/share', { headers: { authorization }, body: form({ secret: 'a' }) });
      expect([made.http, made.custid]).toEqual([200, alice.username]);
    },
  },
  {
    client: 'a Python application',
    sends: 'creation by v1, then v2 for the same metadata key',
    async run() {
      const made = await call('POST', '/share', { body: form({ secret: 'a' }) });
      const headers = { authorization: alice.authorization };
      const { text } = await send('GET', `/api/v2/private/${made.metadata_key}`, headers);
      expect(JSON.parse(text).record.state).toBe('new');
    },
  },
];

for (const { client, sends, run } of emulations) {
  describe(client, () => {
    it(`works unchanged: it sends ${sends}`, run);
  });
}

describe('bytes that no request target may hold', () => {
  const post = async (target: Buffer) =>
    sendOnce(
      server.port,
      Buffer.concat([
        Buffer.from('POST /api/v1/share?secret='),
        target,
        Buffer.from(' HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'),
      ]),
    );
  const cases: [title: string, target: Buffer, status: number][] = [
    ['raw UTF-8 is taken as it is', Buffer.from('ä'), 200],
    ['a raw byte that is not UTF-8 is refused, not replaced', Buffer.from([0x61, 0xff]), 404],
    ['a raw # is refused, where it would cut the value short', Buffer.from('a#b'), 404],
  ];
  for (const [title, target, status] of cases) {
    it(title, async () => expect((await post(target)).status).toBe(status));
  }
});

it('no request of any client ended in a fault', () => expect([...faults, ...app.faults]).toEqual([]));
