/**
 * HTTP over bare sockets: which framing, targets and headers the server accepts, and what happens to the rest.
 *
 * Every case also checks that the server still answers afterwards, that the only 5xx is the runtime's own 505 (an HTTP
 * version it does not support), and that no handler ran where none should.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type ApiDeps, type ApiSurface, createApi } from '../../src/http/api.ts';
import { createClientAddressOf } from '../../src/http/client-address.ts';
import { createFetch } from '../../src/http/pipeline.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import { endOfTurn } from '../../src/http/turn.ts';
import { proxiesOf } from '../support/settings.ts';
import {
  type ExchangeOptions,
  exchange,
  get,
  last,
  post,
  sendAndLeave,
  startBareServer,
  statusesIn,
} from './raw-exchange.ts';
import { document, gathering, noting } from './raw-operations.ts';

const capBytes = 65_536;
/** What reached a handler: the operation, and the path or the body as it saw them. */
const handled: string[] = [];
const faults: unknown[] = [];
let server: RunningServer;

const operations = noting(handled);

/** Resolves when the client of a `linger` is gone. */
let left = Promise.withResolvers<void>();
/** Resolves when a `linger` has been answered, whether or not its client is still there. */
let answered = Promise.withResolvers<void>();
/** Decoding takes until the client has left; with `?now` it takes no time. */
operations.push({
  name: 'linger',
  method: 'POST',
  path: '/linger',
  access: 'anyone',
  limit: 'none',
  document,
  decode({ request, rawQuery }) {
    if (rawQuery === 'now') return null;
    request.signal.addEventListener('abort', () => left.resolve());
    return left.promise;
  },
  handle() {
    handled.push('linger');
    return { status: 200, body: null };
  },
});

/** Resolves when the head of a `gather` is there. */
let begun = Promise.withResolvers<void>();
operations.push(gathering(handled, () => begun.resolve()));

const statusOf: Record<string, number> = {
  malformed: 400,
  body_too_large: 413,
  not_found: 404,
  method_not_allowed: 405,
};
const surface: ApiSurface = {
  base: '/api',
  operations,
  encodeProblem: (problem) => ({ status: statusOf[problem.problem] ?? 500, body: problem }),
  acceptsTrailingSlash: false,
};

beforeAll(async () => {
  const trusted = proxiesOf([]);
  const deps: ApiDeps = {
    authenticate: async () => null,
    limiter: createRateLimiter({ table: 'off', nowMs: () => 0 }),
    clientAddressOf: createClientAddressOf(trusted),
    bodyCapBytes: capBytes,
    bodyLimitMs: 200,
    ownOrigin: 'https://mayfly.example',
    allowedOrigins: new Set(),
    onAnswer: ({ operation }) => operation === 'linger' && answered.resolve(),
    onFault: (error) => faults.push(error),
  };
  const fetch = createFetch([], createApi(surface, deps).serve);
  server = await startServer({ fetch, hostname: '127.0.0.1', port: 0, onFault: deps.onFault });
});

afterAll(async () => {
  await server.stop(0);
});

interface Seen {
  readonly statuses: number[];
  readonly handled: readonly string[];
  readonly text: string;
}

async function send(bytes: string | Uint8Array, options?: ExchangeOptions): Promise<Seen> {
  handled.length = 0;
  const text = await exchange(bytes, { port: server.port, ...options });
  return { statuses: statusesIn(text), handled: [...handled], text };
}

describe('framing', () => {
  it.each([
    [
      'both Content-Length and Transfer-Encoding',
      post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    ],
    ['two lengths that differ', post('Content-Length: 4\r\nContent-Length: 5\r\n', 'abcde')],
    ['a negative length', post('Content-Length: -4\r\n', 'abcd')],
    ['a length with a sign', post('Content-Length: +4\r\n', 'abcd')],
    ['a length in hexadecimal', post('Content-Length: 0x4\r\n', 'abcd')],
    ['a length of more digits than any number', post(`Content-Length: ${'9'.repeat(30)}\r\n`, 'abcd')],
    ['an unknown coding', post('Transfer-Encoding: xchunked\r\n', '4\r\nabcd\r\n0\r\n\r\n')],
    ['a coding beside chunked', post('Transfer-Encoding: gzip, chunked\r\n', '4\r\nabcd\r\n0\r\n\r\n')],
    ['a chunk whose size is no number', post('Transfer-Encoding: chunked\r\n', 'zz\r\nabcd\r\n0\r\n\r\n')],
    ['a chunk of negative size', post('Transfer-Encoding: chunked\r\n', '-4\r\nabcd\r\n0\r\n\r\n')],
    [
      'a chunk of more than any size',
      post('Transfer-Encoding: chunked\r\n', `${'f'.repeat(18)}\r\nabcd\r\n0\r\n\r\n`),
    ],
    ['a chunk longer than its size', post('Transfer-Encoding: chunked\r\n', '2\r\nabcd\r\n0\r\n\r\n')],
    ['a folded header line', get('/api/secret/k', 'Host: localhost\r\nX-A: b\r\n c\r\n')],
    ['a blank before the colon', get('/api/secret/k', 'Host: localhost\r\nX-A : b\r\n')],
    ['a NUL in a header', get('/api/secret/k', 'Host: localhost\r\nX-A: a\0b\r\n')],
    ['a header line without a name', get('/api/secret/k', 'Host: localhost\r\n: b\r\n')],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('with %s is refused by closing, and no handler runs', async (_what, bytes) => {
    const seen = await send(bytes);
    expect(seen.handled).toEqual([]);
    expect(seen.statuses).toEqual([400]);
  });

  it('answers pipelined GETs in order', async () => {
    const keys = ['k1', 'k2', 'k3'];
    const seen = await send(keys.map((key) => get(`/api/secret/${key}`)).join(''));
    expect(seen.statuses).toEqual([200, 200, 200, last]);
    expect(seen.handled).toEqual(keys.map((key) => `look ${key}`));
    const order = keys.map((key) => seen.text.indexOf(`"key":"${key}"`));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it.each([
    ['with a length', 'Content-Length: 5\r\n', 'first'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', '3\r\nfir\r\n2\r\nst\r\n0\r\n\r\n'],
  ])(
    'P3 with another request in its packet, a POST %s is not handled, and closed',
    async (_how, head, body) => {
      const request = post(head, body);
      for (const next of [get('/api/secret/k1'), request]) {
        const seen = await send(request + next);
        expect([seen.statuses, seen.handled]).toEqual([[], []]);
      }
      const alone = await send(request, { onceAnswered: get('/api/secret/k1') });
      expect([alone.statuses, alone.handled]).toEqual([
        [200, 200, last],
        ['create first', 'look k1'],
      ]);
    },
  );

  it.each([
    ['with a length', 'Content-Length: 5\r\n', 'fir', 'st'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', '3\r\nfir\r\n', '2\r\nst\r\n0\r\n\r\n'],
  ])(
    'P3 with another request in the packet that ends its body, a POST %s is not handled, and closed',
    async (_how, head, start, rest) => {
      const inTwoPackets = (second: string) => {
        begun = Promise.withResolvers();
        const first = `POST /api/gather HTTP/1.1\r\nHost: localhost\r\n${head}\r\n${start}`;
        const afterwards = begun.promise.then(endOfTurn).then(() => second);
        return send(first, { afterwards });
      };
      const pipelined = await inTwoPackets(rest + get('/api/secret/k1'));
      expect([pipelined.statuses, pipelined.handled]).toEqual([[], []]);
      const alone = await inTwoPackets(rest);
      expect([alone.statuses, alone.handled]).toEqual([[200, last], ['gather']]);
    },
  );

  it('takes no more of the stream than the length says: what follows is another request', async () => {
    const [start = '', ...rest] = get('/api/secret/smuggled');
    const seen = await send(post('Content-Length: 2\r\n', `ab${start}`), { onceAnswered: rest.join('') });
    expect(seen.statuses).toEqual([200, 200, last]);
    expect(seen.handled).toEqual(['create ab', 'look smuggled']);
    const odd = await send(post('Content-Length: 2\r\n', 'abcdef'), { onceAnswered: '' });
    expect(odd.handled).toEqual(['create ab']);
    expect(odd.statuses.filter((status) => status >= 500)).toEqual([]);
  });

  it('skips a body that nobody reads and finds the next request behind it', async () => {
    const body = get('/api/secret/inside');
    const unread = `POST /api/nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const seen = await send(unread + get('/api/secret/behind'));
    expect(seen.statuses).toEqual([404, 200, last]);
    expect(seen.handled).toEqual(['look behind']);
  });

  it('P21 gives up a body that is shorter than its length, with an answer, and closes', async () => {
    const seen = await send(post('Content-Length: 10\r\n', 'abc'), { thenClose: false });
    expect(seen.statuses).toEqual([400]);
    expect(seen.text).toContain('did not arrive within');
    expect(seen.handled).toEqual([]);
  });

  it('P21 gives up chunks that never end, with an answer, and closes', async () => {
    const seen = await send(post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n'), { thenClose: false });
    expect(seen.statuses).toEqual([400]);
    expect(seen.handled).toEqual([]);
  });
});

describe('a client that has left', () => {
  const linger = (query: string) =>
    `POST /api/linger${query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`;

  it('P3 before its request was handled costs nothing: the handler does not run', async () => {
    handled.length = 0;
    left = Promise.withResolvers();
    answered = Promise.withResolvers();
    sendAndLeave(linger(''), server.port);
    await answered.promise;
    expect(handled).toEqual([]);
  });

  it('P3 is not what one is that waits (self-test)', async () => {
    const seen = await send(linger('?now'), { onceAnswered: '' });
    expect([seen.statuses, seen.handled]).toEqual([[200, last], ['linger']]);
  });
});

describe('the cap', () => {
  const tooLarge = `"capBytes":${capBytes}`;

  it('P21 refuses a declared length over it at once, in our words', async () => {
    const seen = await send(post(`Content-Length: ${capBytes + 1}\r\nConnection: close\r\n`, ''), {
      thenClose: false,
    });
    expect(seen.statuses).toEqual([413]);
    expect(seen.text).toContain(tooLarge);
    expect(seen.text).toMatch(/^x-request-id: [0-9a-f]{20}\r$/im);
  });

  it('P21 refuses a declared length over every number of bytes the same way', async () => {
    const seen = await send(post('Content-Length: 9007199254740991\r\nConnection: close\r\n', ''), {
      thenClose: false,
    });
    expect(seen.statuses).toEqual([413]);
  });

  it('P21 refuses chunks that go over it, in our words', async () => {
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const seen = await send(post('Transfer-Encoding: chunked\r\n', `${chunk.repeat(3)}0\r\n\r\n`));
    expect(seen.statuses).toEqual([413, last]);
    expect(seen.text).toContain(tooLarge);
    expect(seen.handled).toEqual([]);
  });

  it('accepts a body of exactly the cap, by length and by chunks', async () => {
    const body = 'x'.repeat(capBytes);
    const alone = { onceAnswered: '' };
    const byLength = await send(post(`Content-Length: ${capBytes}\r\n`, body), alone);
    const inChunks = `10000\r\n${body}\r\n0\r\n\r\n`;
    const byChunks = await send(post('Transfer-Encoding: chunked\r\n', inChunks), alone);
    expect([byLength.statuses, byChunks.statuses]).toEqual([
      [200, last],
      [200, last],
    ]);
    expect([...byLength.handled, ...byChunks.handled]).toEqual([`create ${capBytes}`, `create ${capBytes}`]);
  });
});

describe('Host', () => {
  it('is not checked by the runtime itself, which takes the first of two (self-test)', async () => {
    const bare = startBareServer();
    const text = await exchange(get('/', 'Host: first\r\nHost: second\r\n'), { port: bare.port ?? 0 });
    await bare.stop(true);
    expect(statusesIn(text)).toEqual([200, 200]);
    expect(text).toContain('http://first/');
  });

  it.each([
    ['two of them', 'Host: localhost\r\nHost: evil.example\r\n'],
    ['a path in it', 'Host: localhost/api/create?\r\n'],
    ['a user in it', 'Host: someone@localhost\r\n'],
    ['blanks in it', 'Host: local host\r\n'],
    ['a port that does not exist', 'Host: localhost:99999\r\n'],
    ['nothing in it', 'Host:\r\n'],
    ['a list in it', 'Host: localhost, evil.example\r\n'],
    ['a fragment in it', 'Host: localhost#\r\n'],
  ])('with %s is refused and closes the connection', async (_what, headers) => {
    const seen = await send(get('/api/secret/k', headers));
    expect(seen.statuses).toEqual([400]);
    expect(seen.handled).toEqual([]);
  });

  it('is needed', async () => {
    expect((await send(get('/api/secret/k', ''))).statuses).toEqual([400]);
    expect((await send('GET /api/secret/k HTTP/1.0\r\n\r\n')).statuses).toEqual([400]);
  });

  it.each(['localhost', 'localhost:3000', 'secrets.example.org', '203.0.113.9:80', '[::1]:8080', 'my_host'])(
    'may be %s',
    async (host) => {
      expect((await send(get('/api/secret/k', `Host: ${host}\r\n`))).statuses).toEqual([200, last]);
    },
  );

  it('P20 appears nowhere in an answer, nor does the authority of an absolute target', async () => {
    const seen = await send(get('http://evil.example/api/secret/k', 'Host: evil.example\r\n'));
    expect(seen.statuses).toEqual([200, last]);
    expect(seen.text).not.toContain('evil');
  });
});

describe('targets', () => {
  it.each([
    ['an absolute one', 'http://localhost/api/secret/k', 'look k'],
    ['one with another host than Host', 'https://evil.example:8443/api/secret/k?x=1', 'look k'],
    ['an encoded slash', '/api/secret/a%2Fb', 'look a/b'],
    ['an encoded slash twice', '/api/secret/a%252Fb', 'look a%2Fb'],
    ['encoded CR and LF', '/api/secret/a%0d%0aX-Injected:%201', 'look a\r\nX-Injected: 1'],
    ['an encoded NUL', '/api/secret/a%00b', 'look a\0b'],
    ['a dot segment', '/api/nowhere/../secret/k', 'look k'],
  ])('with %s reach one handler with one segment', async (_what, target, expected) => {
    const seen = await send(get(target));
    expect(seen.statuses).toEqual([200, last]);
    expect(seen.handled).toEqual([expected]);
    expect(seen.text).not.toMatch(/^X-Injected/m);
  });

  it.each([
    ['a NUL', '/api/secret/a\0b'],
    ['a CR', '/api/secret/a\rb'],
    ['a TAB', '/api/secret/a\tb'],
    ['a blank', '/api/secret/a b'],
    ['no slash', 'api/secret/k'],
    ['another scheme', 'ftp://localhost/api/secret/k'],
    ['only a query', '?x'],
  ])('with %s are refused by closing, and no handler runs', async (_what, target) => {
    const seen = await send(get(target));
    expect(seen.handled).toEqual([]);
    // The runtime answers 505 when what follows the target is not an HTTP version.
    expect([[400], [505], []]).toContainEqual(seen.statuses);
  });

  it.each([
    ['undecodable percent-encoding', '/api/secret/%zz', 400],
    ['cut-off UTF-8', '/api/secret/%C3', 400],
    ['a doubled slash', '//api/secret/k', 404],
    ['an encoded letter in a fixed part', '/%61pi/secret/k', 404],
    ['nothing after the fixed part', '/api/secret/', 404],
  ])('with %s (%s) answer %d', async (_what, target, status) => {
    expect((await send(get(target))).statuses).toEqual([status, last]);
  });

  it('may hold a key of 10,000 letters', async () => {
    expect((await send(get(`/api/secret/${'k'.repeat(10_000)}`))).statuses).toEqual([200, last]);
  });

  it('P4 for OPTIONS *, TRACE, CONNECT and unknown methods run no handler', async () => {
    const ask = (line: string) => send(`${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect((await ask('TRACE /api/secret/k')).statuses).toEqual([405, last]);
    for (const line of [
      'OPTIONS *',
      'CONNECT localhost:80',
      'CONNECT http://localhost/api/create',
      'FOO /api/create',
      'post /api/create',
    ]) {
      const seen = await ask(line);
      expect(seen.handled).toEqual([]);
      expect([[400], []]).toContainEqual(seen.statuses);
    }
  });
});

describe('headers', () => {
  it('P21 over 16 KiB are refused with 431, in one line, in many, or in the target', async () => {
    const big = 'a'.repeat(20_000);
    const many = Array.from({ length: 400 }, (_, at) => `X-${at}: a\r\n`).join('');
    for (const bytes of [
      get('/api/secret/k', `Host: localhost\r\nX-Big: ${big}\r\n`),
      get('/api/secret/k', `Host: localhost\r\n${many}`),
      get(`/${big}`),
    ]) {
      const seen = await send(bytes);
      expect(seen.statuses).toEqual([431]);
      expect(seen.handled).toEqual([]);
    }
  });

  it('answer HEAD with the length of GET and no content', async () => {
    const seen = await send('HEAD /api/secret/k HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(seen.statuses).toEqual([200, last]);
    const [head = ''] = seen.text.split('\r\n\r\n');
    expect(head.toLowerCase()).toContain('content-length: 11');
    expect(seen.text).not.toContain('"key"');
  });

  it('answer 204 without content for OPTIONS', async () => {
    const seen = await send('OPTIONS /api/create HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(seen.statuses).toEqual([204, last]);
    expect(seen.text).toContain('POST, OPTIONS');
  });
});

describe('after all of this', () => {
  it('P23 the server answers as before, and no error escaped a handler', async () => {
    expect((await send(get('/api/secret/k'))).statuses).toEqual([200, last]);
    expect(faults).toEqual([]);
  });
});
