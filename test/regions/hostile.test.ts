/**
 * Malicious clients at the router, as bytes on a socket.
 *
 * Proves that nothing the router and a region could read differently reaches a region, that no client's claim about
 * itself or the connection is passed on, and that a truncated request is not a request (P20, P21, P22). The region here
 * records every byte that reaches it.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'bun:test';
import { connect } from 'node:net';
import { generateSecretKey } from '../../src/core/keys.ts';
import { exchange, statusesIn } from '../http/raw-exchange.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { type FakeRegion, startFakeRegion, whole } from './fake-region.ts';
import { labelOf, type StartedRouter, startTestRouter } from './started-router.ts';

let us: FakeRegion;
let eu: FakeRegion;
let router: StartedRouter;
const euKey = generateSecretKey(seededRandom('hostile'), labelOf('eu'));

beforeAll(async () => {
  [us, eu] = [await startFakeRegion(), await startFakeRegion()];
  router = await startTestRouter({ regions: { us: [us.port], eu: [eu.port] }, bodyLimitMs: 200 });
});
afterAll(async () => {
  await router[Symbol.asyncDispose]();
  for (const region of [us, eu]) region[Symbol.dispose]();
});

interface Seen {
  readonly statuses: readonly number[];
  readonly text: string;
  /** Heads of the complete requests that reached a region. */
  readonly reached: readonly string[];
}

async function send(bytes: string): Promise<Seen> {
  const before = [us.arrived.length, eu.arrived.length] as const;
  const text = await exchange(bytes, { port: router.port, thenClose: false });
  const arrived = [...us.arrived.slice(before[0]), ...eu.arrived.slice(before[1])];
  return { statuses: statusesIn(text), text, reached: arrived.map(({ head }) => head) };
}

const host = 'Host: mayfly.example\r\n';
const close = 'Connection: close\r\n';
const get = (target: string, fields = host) => `GET ${target} HTTP/1.1\r\n${fields}${close}\r\n`;
const post = (fields: string, body: string, target = '/api/v1/share') =>
  `POST ${target} HTTP/1.1\r\n${host}${close}${fields}\r\n${body}`;
const smuggled = get('/api/v1/smuggled');

beforeEach(() => {
  for (const region of [us, eu]) region.answerWith(({ socket }) => socket.write(whole('ok')));
});

describe('framing that can be read in two ways', () => {
  it.each([
    [
      'a length beside a coding',
      post(`Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'a coding beside a length',
      post(`Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`, `0\r\n\r\n${smuggled}`),
    ],
    ['two lengths', post(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`, smuggled)],
    ['a length with a sign', post('Content-Length: +4\r\n', 'abcd')],
    ['a coding of another name', post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${smuggled}`)],
    ['two codings', post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${smuggled}`)],
    ['a coding with a tab', post('Transfer-Encoding:\tchunked, x\r\n', `0\r\n\r\n${smuggled}`)],
    ['a chunk size that is no number', post('Transfer-Encoding: chunked\r\n', 'zz\r\nabcd\r\n0\r\n\r\n')],
    ['a chunk longer than its size', post('Transfer-Encoding: chunked\r\n', '2\r\nabcd\r\n0\r\n\r\n')],
    ['a folded line', get('/api/v1/status', 'Host: a\r\nX-A: b\r\n Content-Length: 5\r\n')],
    ['a blank before the colon', get('/api/v1/status', 'Host: a\r\nContent-Length : 5\r\n')],
    ['two hosts', get('/api/v1/status', 'Host: a\r\nHost: b\r\n')],
    ['no host', get('/api/v1/status', '')],
    ['a host with a path', get('/api/v1/status', 'Host: a/api/v1/share?\r\n')],
  ])('reaches no region: %s', async (_what, bytes) => {
    const seen = await send(bytes);
    expect(seen.reached).toEqual([]);
    expect(seen.statuses[0]).toBe(400);
  });

  it('is refused with 431 where the head is huge, and reaches no region', async () => {
    const seen = await send(get('/api/v1/status', `Host: a\r\nX-Big: ${'a'.repeat(20_000)}\r\n`));
    expect([seen.statuses, seen.reached]).toEqual([[431], []]);
  });

  it('is not made by a body that looks like a request: it arrives as that body, whole and once', async () => {
    const seen = await send(post(`Content-Length: ${smuggled.length}\r\n`, smuggled));
    expect(seen.reached).toHaveLength(1);
    expect(us.arrived.at(-1)?.body).toBe(smuggled);
  });

  it('is not made by chunks either, which are written anew', async () => {
    const chunks = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    const seen = await send(post('Transfer-Encoding: chunked\r\n', chunks));
    expect(seen.reached).toHaveLength(1);
    expect(seen.reached[0]).toContain('transfer-encoding: chunked');
    expect(seen.reached[0]).not.toContain('content-length');
  });

  it('never gives one pipelined request the answer of another: they are answered in order, or cut off', async () => {
    us.answerWith(({ head, socket }) => socket.write(whole(/\/api\/v1\/(\w+)/.exec(head)?.[1] ?? '')));
    const words = ['first', 'second', 'third'];
    const kept = words.map((word) => `GET /api/v1/${word} HTTP/1.1\r\n${host}\r\n`).join('');
    const { text } = await send(kept + get('/api/v1/fourth'));
    const answered = [...text.matchAll(/\r\n\r\n([a-z]+)/g)].map(([, word]) => word ?? '');
    expect(answered).toEqual([...words, 'fourth'].slice(0, answered.length));
  });
});

describe('what a region hears of the client', () => {
  const headOf = async (bytes: string) => (await send(bytes)).reached.join('\n').toLowerCase();

  it('has the region’s own Host and a plain path, whatever the target and Host were', async () => {
    for (const target of ['http://evil.example/api/v1/status?x=1', '/api/v1/status?x=1']) {
      const head = await headOf(get(target, 'Host: evil.example:81\r\n'));
      expect(head).toContain('get /api/v1/status?x=1 http/1.1\r\nhost: us.example.com\r\n');
      expect(head).not.toContain('evil');
    }
  });

  it('is one X-Forwarded-For, the socket’s, whatever was claimed and however often (P22)', async () => {
    const claims = [
      'X-Forwarded-For: 192.0.2.66\r\nX-Forwarded-For: 192.0.2.67\r\n',
      'x-forwarded-for: 192.0.2.66, 127.0.0.1\r\nX-Real-IP: 192.0.2.66\r\nForwarded: for=192.0.2.66\r\n',
      'Connection: close, X-Forwarded-For\r\nX-Forwarded-For: 192.0.2.66\r\n',
      'X_Forwarded_For: 192.0.2.66\r\nX-Forwarded-Host: 192.0.2.66\r\n',
    ];
    for (const claim of claims) {
      const head = await headOf(get('/api/v1/status', `Host: a\r\n${claim}`));
      expect([...head.matchAll(/^x-forwarded[^:]*: (.*)\r?$/gm)].map(([, value]) => value?.trim())).toEqual([
        '127.0.0.1',
      ]);
    }
  });

  it('is the address that a trusted proxy in front of the router names', async () => {
    await using behind = await startTestRouter({
      regions: { us: [us.port] },
      trustedProxies: ['127.0.0.1', '10.0.0.0/8'],
    });
    const claim = 'X-Forwarded-For: 192.0.2.66, 203.0.113.9, 10.0.0.7\r\n';
    await exchange(get('/api/v1/status', `Host: a\r\n${claim}`), { port: behind.port, thenClose: false });
    expect(us.arrived.at(-1)?.head).toContain('\r\nx-forwarded-for: 203.0.113.9\r\n');
  });

  it('is nothing that Connection names, and no request at all where it names the credentials', async () => {
    const fields =
      'Host: a\r\nConnection: X-Secret, Secret-Passphrase\r\nX-Secret: 1\r\nSecret-Passphrase: p\r\n';
    const head = await headOf(get('/api/v1/status', fields));
    expect(head).not.toMatch(/x-secret|secret-passphrase|connection:/);
    const stripped = await send(
      get('/api/v1/private/recent', 'Host: a\r\nConnection: Authorization\r\nAuthorization: Basic eDp5\r\n'),
    );
    expect([stripped.statuses[0], stripped.reached]).toEqual([400, []]);
  });

  it('does not go round in circles: what comes back to the router ends there', async () => {
    await send(get('/api/v1/status'));
    const via = /^via: (.*)\r?$/m.exec(us.arrived.at(-1)?.head ?? '')?.[1] ?? '';
    expect(via).toMatch(/^1\.1 mayfly-[0-9a-f]{8}\r?$/);
    const seen = await send(get('/api/v1/status', `Host: a\r\nVia: 1.1 front, ${via.trim()}\r\n`));
    expect([seen.statuses[0], seen.reached]).toEqual([508, []]);
  });
});

describe('a key in an odd place', () => {
  const region = async (target: string) => {
    const before = eu.arrived.length;
    const { reached } = await send(get(target));
    return reached.length === 0 ? 'none' : eu.arrived.length > before ? 'eu' : 'us';
  };
  const half = `%${euKey.charCodeAt(0).toString(16)}${euKey.slice(1)}`;

  it.each([
    ['plain', `/api/v1/secret/${euKey}`, 'eu'],
    ['with an encoded letter', `/api/v2/secret/${half}/status`, 'eu'],
    ['behind dot segments', `/api/v1/private/x/../../secret/${euKey}`, 'eu'],
    ['behind encoded dot segments', `/api/v1/private/x/%2e%2e/%2E%2e/secret/${euKey}`, 'eu'],
    ['with a query that names another', `/api/v1/secret/${euKey}?key=${'0'.repeat(31)}`, 'eu'],
    ['with a trailing slash', `/api/v1/secret/${euKey}/`, 'eu'],
    ['behind a doubled slash', `/api/v1//secret/${euKey}`, 'us'],
    ['in upper case', `/api/v1/secret/${euKey.toUpperCase()}`, 'us'],
    ['with an encoded slash', `/api/v1/secret/x%2f${euKey}`, 'us'],
    ['with an encoded dot', `/api/v1/secret/${euKey}%2e`, 'us'],
    ['in the query alone', `/api/v1/status?secret=${euKey}`, 'us'],
    ['behind a fixed part in capitals', `/api/v1/Secret/${euKey}`, 'us'],
  ])('%s leads to one region', async (_what, target, expected) => {
    expect(await region(target)).toBe(expected);
  });

  it('decides for a PATCH as for a POST, and its body arrives', async () => {
    for (const method of ['POST', 'PATCH']) {
      const bytes = post('Content-Length: 14\r\n', '{"memo":"new"}', `/api/v2/receipt/${euKey}`);
      const before = eu.arrived.length;
      const { reached } = await send(bytes.replace(/^POST/, method));
      expect(eu.arrived.length).toBe(before + 1);
      expect(reached[0]).toStartWith(`${method} /api/v2/receipt/${euKey} HTTP/1.1`);
      expect(reached[0]).toContain('content-length: 14');
      expect(eu.arrived.at(-1)?.body).toBe('{"memo":"new"}');
    }
  });

  it('is not cut short at a raw #: the region sees it and decides', async () => {
    const { reached } = await send(get(`/api/v1/secret/${euKey}#x?a=b#c`));
    expect(reached[0]).toStartWith(`GET /api/v1/secret/${euKey}#x?a=b#c HTTP/1.1\r\nhost: eu.example.com`);
  });

  it('arrives in the spelling in which it came', async () => {
    const { reached } = await send(get(`/api/v2/secret/${half}/status?a=%2e%2f&b=%00`));
    expect(reached[0]).toStartWith(`GET /api/v2/secret/${half}/status?a=%2e%2f&b=%00 HTTP/1.1\r\n`);
  });
});

describe('a request that breaks off', () => {
  /** Sends, waits until the region has received its part, and disconnects. */
  async function sendAndLeave(bytes: string, seenAtRegion: () => boolean): Promise<void> {
    const socket = connect(router.port, '127.0.0.1', () => socket.write(bytes));
    socket.on('error', () => {});
    while (!seenAtRegion()) await us.next();
    socket.destroy();
  }

  it('in a small body never reaches a region', async () => {
    us.forget();
    const seen = await send(post('Content-Length: 100\r\n', 'secret=cut'));
    expect([seen.statuses, seen.reached, us.partial()]).toEqual([[400], [], '']);
  });

  it('in a large body or in chunks reaches it without its end, and ends its connection', async () => {
    for (const [fields, body] of [
      ['Content-Length: 100000\r\n', 'secret=cut'],
      ['Transfer-Encoding: chunked\r\n', 'a\r\nsecret=cut\r\n'],
    ] as const) {
      us.forget();
      const [arrived, ended] = [us.arrived.length, us.ended()];
      await sendAndLeave(post(fields, body), () => us.partial().includes('secret=cut'));
      while (us.ended() === ended) await us.next();
      expect(us.arrived.length).toBe(arrived);
      expect(us.partial()).toMatch(/\r\n\r\n(a\r\n)?secret=cut(\r\n)?$/);
    }
  });

  it('while its answer is awaited ends the request at the region too (P3)', async () => {
    us.answerWith(() => {});
    const ended = us.ended();
    const arrived = us.arrived.length;
    await sendAndLeave(get('/api/v1/status'), () => us.arrived.length > arrived);
    while (us.ended() === ended) await us.next();
    expect(us.arrived.length).toBe(arrived + 1);
  });
});

it('after all of this no fault was met, and the router serves as before', async () => {
  expect((await send(get('/api/v1/status'))).statuses).toEqual([200]);
  expect(router.faults).toEqual([]);
});
