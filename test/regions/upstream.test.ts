/**
 * Failing regions: servers that refuse, fall silent, disconnect and lie, behind the router.
 *
 * Proves that a request which may have been carried out is sent only once, that the client is told when the outcome is
 * unknown, that half an answer is never passed on as a whole one, that no byte of one answer ends up in another, and
 * that the router holds no more than its bounds (P1, P3, P21).
 */
import { describe, expect, it } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { generateSecretKey } from '../../src/core/keys.ts';
import { openConnection, requestBytes, sendOnce } from '../support/raw-client.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { freePort } from '../support/started-server.ts';
import { type FakeRegion, startFakeRegion, whole } from './fake-region.ts';
import { labelOf, type RouterSetup, startTestRouter } from './started-router.ts';

const random = seededRandom('upstream');
const usKey = generateSecretKey(random, labelOf('us'));
const reveal = requestBytes({ method: 'POST', path: `/api/v1/secret/${usKey}`, body: '' });
const revealV2 = requestBytes({ method: 'POST', path: `/api/v2/secret/${usKey}/reveal`, body: '' });
const create = requestBytes({ method: 'POST', path: '/api/v1/share', body: 'secret=x' });
const status = requestBytes({ method: 'GET', path: '/api/v1/status' });
const look = requestBytes({ method: 'GET', path: `/api/v2/secret/${usKey}/status` });

const unknownWords =
  'The region us did not answer. The request may or may not have been carried out: check before you send it again';
const lostWords = 'The region us is not available right now. Nothing was done there: try again';

/** A router in front of fake regions, all closed at the end of the test. */
async function stage(setup: Omit<RouterSetup, 'regions'> = {}, usServers = 1) {
  const us = await Promise.all(Array.from({ length: usServers }, startFakeRegion));
  const eu = await startFakeRegion();
  const [first] = us;
  if (first === undefined) throw new Error('a server is needed');
  const regions = { us: us.map(({ port }) => port), eu: [eu.port] };
  const router = await startTestRouter({ ...setup, regions });
  return {
    ...{ us, first, eu, router, port: router.port },
    send: (request: Buffer) => sendOnce(router.port, request),
    count: () => us.reduce((sum, { arrived }) => sum + arrived.length, 0),
    async [Symbol.asyncDispose]() {
      await router[Symbol.asyncDispose]();
      for (const server of [...us, eu]) server[Symbol.dispose]();
    },
  };
}

const breaks: readonly (readonly [what: string, answer: Parameters<FakeRegion['answerWith']>[0]])[] = [
  ['hangs up without a word', ({ socket }) => socket.destroy()],
  ['ends its side without a word', ({ socket }) => socket.end()],
  ['resets the connection', ({ socket }) => socket.resetAndDestroy()],
  ['breaks off in the head', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-Le')],
  ['breaks off in the body', ({ socket }) => socket.end(whole('{"value":"half').slice(0, -4))],
  [
    'breaks off in the chunks',
    ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf'),
  ],
  ['says nothing for too long', () => {}],
  [
    'promises more than it sends',
    ({ socket }) => socket.write(whole('ok').replace('Length: 2', 'Length: 9')),
  ],
  ['gives two lengths', ({ socket }) => socket.write(whole('ok', 'Content-Length: 3\r\n'))],
  [
    'gives a length and a coding',
    ({ socket }) => socket.write(whole('0\r\n\r\n', 'Transfer-Encoding: chunked\r\n')),
  ],
  ['gives no length at all', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end')],
  ['speaks another protocol', ({ socket }) => socket.write('220 mail.example ESMTP\r\n\r\n')],
  ['sends an interim answer', ({ socket }) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${whole('ok')}`)],
];

describe('a reveal to a server that', () => {
  it.each(breaks)('%s is sent once, and the outcome reported as unknown (P1)', async (_what, answer) => {
    await using at = await stage({}, 2);
    for (const server of at.us) server.answerWith(answer);
    const got = await at.send(reveal);
    expect([got.status, got.body]).toEqual([503, JSON.stringify({ message: unknownWords })]);
    expect(Number(got.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(at.count()).toBe(1);
    expect(at.eu.arrived).toHaveLength(0);
  });

  it('self-test: a router that tries again is found by that count', async () => {
    const insistent: RouterSetup['wrapHop'] = (hop) => async (server, request) => {
      const first = await hop(server, request);
      return first.outcome === 'unknown' ? hop(server, request) : first;
    };
    await using at = await stage({ wrapHop: insistent });
    at.first.answerWith(({ socket }) => socket.destroy());
    await at.send(reveal);
    expect(at.count()).toBe(2);
  });

  it('says it in the words of v2 where that was asked', async () => {
    await using at = await stage();
    at.first.answerWith(({ socket }) => socket.destroy());
    const got = await at.send(revealV2);
    const body = { success: false, error: 'unavailable', message: unknownWords };
    expect([got.status, JSON.parse(got.body)]).toEqual([503, body]);
  });
});

describe('a create to a server that hangs up', () => {
  it('is sent to no second server or region', async () => {
    await using at = await stage({}, 2);
    for (const server of at.us) server.answerWith(({ socket }) => socket.destroy());
    expect((await at.send(create)).status).toBe(503);
    expect([at.count(), at.eu.arrived.length]).toEqual([1, 0]);
  });
});

describe('what changes nothing', () => {
  it.each(breaks.filter(([what]) => !what.includes('too long')))(
    'is asked of the next server when the first %s',
    async (_what, answer) => {
      await using at = await stage({}, 2);
      let isFirst = true;
      for (const server of at.us)
        server.answerWith((request) => {
          if (isFirst) answer(request);
          else request.socket.write(whole('{"status":"nominal"}'));
          isFirst = false;
        });
      const got = await at.send(look);
      expect([got.status, got.body]).toEqual([200, '{"status":"nominal"}']);
      expect(at.count()).toBe(2);
    },
  );

  it('goes to another region if it names no key, and to none if it does', async () => {
    await using at = await stage();
    at.first.answerWith(({ socket }) => socket.destroy());
    expect((await at.send(status)).status).toBe(200);
    expect(at.eu.arrived).toHaveLength(1);
    const got = await at.send(look);
    expect([got.status, JSON.parse(got.body).message]).toEqual([503, lostWords]);
    expect(at.eu.arrived).toHaveLength(1);
  });
});

describe('a server that takes no connection', () => {
  it('costs nothing while another of its region does: every request is answered there, a reveal too', async () => {
    await using at = await stage({}, 2);
    const [, second] = at.us;
    if (second === undefined) throw new Error('two servers are needed');
    at.first[Symbol.dispose]();
    for (let count = 0; count < 4; count += 1) expect((await at.send(reveal)).status).toBe(200);
    expect(second.arrived).toHaveLength(4);
    expect(at.router.changes).not.toContain('us lost');
  });

  it('makes its region lost when it is the last: creates go elsewhere, what has a key is refused, nothing is unknown', async () => {
    await using at = await stage();
    at.first[Symbol.dispose]();
    expect((await at.send(create)).status).toBe(200);
    expect(at.eu.arrived).toHaveLength(1);
    expect(at.router.changes).toContain('us lost');
    for (const request of [reveal, look]) {
      const got = await at.send(request);
      expect([got.status, JSON.parse(got.body).message]).toEqual([503, lostWords]);
      expect(got.headers.has('retry-after')).toBe(true);
    }
    expect(at.eu.arrived).toHaveLength(1);
  });

  it('makes the router itself unready when no other server is left', async () => {
    await using router = await startTestRouter({ regions: { us: [await freePort()] } });
    const ask = (path: string) => sendOnce(router.port, requestBytes({ method: 'GET', path }));
    expect([(await ask('/readyz')).status, (await ask('/healthz')).status]).toEqual([503, 200]);
    const got = await sendOnce(router.port, create);
    expect([got.status, got.headers.has('retry-after')]).toEqual([503, true]);
  });
});

describe('a server that says more than it was asked', () => {
  it('is read to the end of its answer, and the rest is discarded', async () => {
    await using at = await stage();
    const poison = whole('poison');
    at.first.answerWith(({ socket }) => socket.write(whole('mine') + poison));
    for (let count = 0; count < 5; count += 1) expect((await at.send(reveal)).body).toBe('mine');
    // Each on its own connection: none was reused.
    expect(at.first.arrived.every(({ turn }) => turn === 0)).toBe(true);
  });

  it('before it was asked at all loses its connection', async () => {
    await using at = await stage();
    at.first.answerWith(({ socket }) => {
      socket.write(whole('mine'));
      setImmediate(() => socket.write(whole('poison')));
    });
    const ended = at.first.ended();
    expect((await at.send(reveal)).body).toBe('mine');
    while (at.first.ended() === ended) await at.first.next();
    expect((await at.send(reveal)).body).toBe('mine');
  });

  it('self-test: an honest server’s connection is used again', async () => {
    await using at = await stage();
    for (let count = 0; count < 5; count += 1) await at.send(reveal);
    expect(Math.max(...at.first.arrived.map(({ turn }) => turn))).toBeGreaterThan(2);
  });
});

describe('answers', () => {
  const answers: readonly (readonly [
    what: string,
    method: string,
    bytes: string,
    status: number,
    body: string,
  ])[] = [
    ['204', 'POST', 'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n', 204, ''],
    ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\nX-A: b\r\nETag: "x"\r\n\r\n', 304, ''],
    [
      'a redirect, which nobody follows',
      'GET',
      'HTTP/1.1 302 Found\r\nX-A: b\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n',
      302,
      '',
    ],
    ['an error', 'POST', 'HTTP/1.1 500 Oh\r\nX-A: b\r\nContent-Length: 2\r\n\r\n{}', 500, '{}'],
    [
      'chunks',
      'GET',
      'HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      200,
      '{}',
    ],
    [
      'compressed content, untouched',
      'GET',
      whole('\x1f\x8b\x08not really', 'X-A: b\r\nContent-Encoding: gzip\r\n'),
      200,
      '\x1f\x8b\x08not really',
    ],
    ['an empty 200', 'POST', whole('', 'X-A: b\r\n'), 200, ''],
  ];
  it.each(answers)('pass as they are: %s', async (_what, method, bytes, status, body) => {
    await using at = await stage();
    at.first.answerWith(({ socket }) => socket.write(Buffer.from(bytes, 'latin1')));
    const got = await at.send(requestBytes({ method, path: '/api/v1/share' }));
    expect([got.status, Buffer.from(got.body).toString(), got.headers.get('x-a')]).toEqual([
      status,
      Buffer.from(body, 'latin1').toString('utf8'),
      'b',
    ]);
    expect(got.headers.get('location') ?? null).toBe(status === 302 ? 'http://127.0.0.1:1/' : null);
  });

  it('to HEAD pass with the length of what is not sent', async () => {
    await using at = await stage();
    at.first.answerWith(({ socket }) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n'));
    const got = await at.send(requestBytes({ method: 'HEAD', path: '/api/v1/status' }));
    expect([got.status, got.headers.get('content-length'), got.body]).toEqual([200, '77', '']);
    expect((await at.send(requestBytes({ method: 'HEAD', path: '/api/v1/status' }))).status).toBe(200);
  });

  it('say that the address is deprecated where the operator says so, with the region’s own beside it (RFC 9745)', async () => {
    await using at = await stage({ deprecatedSince: 1_801_353_600 });
    at.first.answerWith(({ socket }) => socket.write(whole('ok', 'Link: </x>; rel="y"\r\n')));
    const got = await at.send(status);
    expect(got.headers.get('deprecation')).toBe('@1801353600');
    expect(got.headers.get('link')).toBe('</x>; rel="y", <https://us.example.com>; rel="alternate"');
    const page = await at.send(requestBytes({ method: 'GET', path: '/' }));
    expect(page.headers.get('deprecation')).toBe('@1801353600');
  });

  it('say nothing of it otherwise', async () => {
    await using at = await stage();
    const got = await at.send(status);
    expect([got.headers.has('deprecation'), got.headers.has('link')]).toEqual([false, false]);
  });
});

/** Resolves when the figure has not grown for many checks in a row: the other side takes no more. */
async function stalls(figure: () => number): Promise<void> {
  for (let looks = 0, last = figure(); looks < 30; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (figure() !== last) [looks, last] = [0, figure()];
  }
}

/** Writes to a socket one mebibyte at a time, as long as it accepts them; `given` counts them. */
function pour(socket: Socket): { given: number } {
  const mebibyte = Buffer.alloc(1 << 20, 'x');
  const poured = { given: 0 };
  const give = () => {
    poured.given += 1;
    if (socket.write(mebibyte)) give();
    else socket.once('drain', give);
  };
  give();
  return poured;
}

describe('what is large', () => {
  const endless = 256 << 20;

  it('comes through whole, both ways, by length and in chunks', async () => {
    await using at = await stage({ limits: { answerMs: 20_000 } });
    const noise = Buffer.from(random(300_000)).toString('base64');
    const chunks = (text: string) =>
      (text.match(/[\s\S]{1,70000}/g) ?? [])
        .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
        .join('');
    for (const answer of [
      whole(noise),
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(noise)}0\r\n\r\n`,
    ]) {
      at.first.answerWith(({ socket }) => socket.write(answer));
      expect((await at.send(status)).body === noise).toBe(true);
    }
    at.first.answerWith(({ body, socket }) => socket.write(whole(String(body.length))));
    const sent = await at.send(requestBytes({ method: 'POST', path: '/api/v1/share', body: noise }));
    expect(sent.body).toBe(String(noise.length));
    expect(at.first.arrived.at(-1)?.body === noise).toBe(true);
  });

  it('comes through whole to a client that reads late, also where the region hangs up behind it', async () => {
    await using at = await stage({ limits: { answerMs: 20_000 } });
    const noise = Buffer.from(random(6_000_000)).toString('base64');
    for (const fields of ['', 'Connection: close\r\n']) {
      const answering = Promise.withResolvers<Socket>();
      at.first.answerWith(({ socket }) => {
        socket.end(whole(noise, fields));
        answering.resolve(socket);
      });
      let received = '';
      const late = connect(at.port, '127.0.0.1', () => late.write(status));
      late.pause();
      const region = await answering.promise;
      await stalls(() => region.writableLength);
      late.on('data', (part) => {
        received += part.toString('latin1');
        if (received.includes(noise.slice(-100))) late.destroy();
      });
      late.resume();
      await new Promise((resolve) => late.once('close', resolve));
      expect(received.length).toBeGreaterThan(noise.length);
    }
  });

  it('and breaks off is seen to be broken off', async () => {
    await using at = await stage();
    for (const head of ['Content-Length: 1000000', 'Transfer-Encoding: chunked']) {
      at.first.answerWith(({ socket }) =>
        socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n30d40\r\n${'x'.repeat(200_000)}`, () =>
          socket.destroy(),
        ),
      );
      const connection = await openConnection(at.port);
      await expect(connection.send(status)).rejects.toThrow('the connection ended');
    }
  });

  it('waits in the region, not in the router, while the client does not read', async () => {
    await using at = await stage({ limits: { answerMs: 20_000 } });
    const answering = Promise.withResolvers<{ given: number }>();
    at.first.answerWith(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${endless}\r\n\r\n`);
      answering.resolve(pour(socket));
    });
    const lazy = connect(at.port, '127.0.0.1', () => lazy.write(status));
    lazy.pause();
    lazy.on('error', () => {});
    const poured = await answering.promise;
    await stalls(() => poured.given);
    lazy.destroy();
    expect(poured.given).toBeLessThan(64);
  });

  it('waits in the client, not in the router, while the region does not read', async () => {
    await using at = await stage({ limits: { answerMs: 20_000 } });
    const sending = Promise.withResolvers<{ given: number }>();
    at.first.pause();
    const eager = connect(at.port, '127.0.0.1', () => {
      eager.write(`POST /api/v1/share HTTP/1.1\r\nHost: a\r\nContent-Length: ${endless}\r\n\r\n`);
      sending.resolve(pour(eager));
    });
    eager.on('error', () => {});
    const poured = await sending.promise;
    await stalls(() => poured.given);
    eager.destroy();
    expect(poured.given).toBeLessThan(64);
  });
});
