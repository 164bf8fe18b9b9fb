import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import {
  basic,
  key,
  owner,
  post,
  rightHeader,
  setUp,
  strictLimits,
  token,
  username,
  withHeader,
} from '../../test/http/api-fixture.ts';
import { ServiceError } from '../core/errors.ts';
import { createRightCredentials, parseBasic } from './admission.ts';
import type { ApiDeps } from './api.ts';

describe('credentials', () => {
  it('are needed where an operation is for accounts, and the refusal carries the challenge', async () => {
    const { ask } = setUp();
    const answer = await ask('/api/t/recent');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="Mayfly", charset="UTF-8"');
    expect(await (await ask('/api/t/recent', withHeader(rightHeader))).json()).toMatchObject({
      caller: 'account',
    });
  });

  it.each([
    ['a wrong token', basic(username, token.replace('0', '1'))],
    ['an unknown user', basic('nobody@mayfly.example', token)],
    ['another scheme', `Bearer ${token}`],
    ['something malformed', 'Basic !!!'],
    ['an empty header', ''],
  ])('that are %s answer 401 also where anonymous is allowed: nobody falls back', async (_what, header) => {
    const { ask } = setUp();
    for (const [path, init] of [
      ['/api/t/create', post('x')],
      [`/api/t/secret/${key}`, {}],
      ['/api/t/recent', {}],
    ] as const) {
      const answer = await ask(path, { ...init, headers: { authorization: header } });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });

  it('P17 unknown user and wrong token answer the same', async () => {
    const { ask } = setUp();
    const seen = [basic(username, 'x'.repeat(64)), basic('nobody@mayfly.example', token)].map(
      async (header) => {
        const answer = await ask('/api/t/recent', withHeader(header));
        const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id');
        return JSON.stringify([answer.status, headers, await answer.text()]);
      },
    );
    const [first, second] = await Promise.all(seen);
    expect(first).toBe(second ?? '');
  });

  it('are not looked at by an open operation', async () => {
    const { ask, lookUps } = setUp();
    expect((await ask('/api/t/status', withHeader('Basic !!!'))).status).toBe(200);
    expect((await ask('/api/t/status', withHeader(rightHeader))).status).toBe(200);
    expect(lookUps).toEqual([]);
  });

  it('come before the body: a refused body is never read', async () => {
    let pulled = 0;
    const body = () =>
      new ReadableStream(
        {
          pull: (controller) => {
            pulled++;
            controller.enqueue(new Uint8Array(10));
            controller.close();
          },
        },
        { highWaterMark: 0 },
      );
    const { ask } = setUp();
    const refused = await ask('/api/t/create', {
      method: 'POST',
      body: body(),
      headers: { authorization: 'Basic !!!' },
    });
    expect([refused.status, pulled]).toEqual([401, 0]);
    expect((await ask('/api/t/create', { method: 'POST', body: body() })).status).toBe(200);
    expect(pulled).toBeGreaterThan(0);
  });

  it('P2 answer 503, and run no handler, while they cannot be checked', async () => {
    const { ask } = setUp({
      authenticate: () =>
        Promise.reject(new ServiceError('unavailable', 'store down', { retryAfterSeconds: 5 })),
    });
    const answer = await ask('/api/t/recent', withHeader(rightHeader));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });
});

describe('limits', () => {
  it('P21 answer 429 with Retry-After and the RateLimit headers, by class', async () => {
    const { ask, clock } = setUp({ limits: strictLimits() });
    expect((await ask('/api/t/create', post())).status).toBe(200);
    const limited = await ask('/api/t/create', post());
    expect(limited.status).toBe(429);
    expect(limited.headers.get('retry-after')).toBe('3600');
    expect(limited.headers.get('ratelimit')).toBe('"create";r=0;t=3600');
    expect(limited.headers.get('ratelimit-policy')).toBe('"create";q=1;w=3600');
    expect(await limited.json()).toEqual({ problem: 'rate_limited', retryAfterSeconds: 3_600 });
    expect((await ask(`/api/t/secret/${key}`)).status).toBe(200);
    clock.nowMs = 3_600_000;
    expect((await ask('/api/t/create', post())).status).toBe(200);
  });

  it('count anonymous callers by their network, as far as a trusted proxy tells it', async () => {
    const { ask } = setUp({ limits: strictLimits() });
    const via = (address: string) => ask('/api/t/create', post('x', { 'x-forwarded-for': address }));
    expect((await via('203.0.113.9')).status).toBe(200);
    expect((await via('203.0.113.200')).status).toBe(429);
    expect((await via('203.0.114.9')).status).toBe(200);
    expect((await via('2001:db8:0:1ff::1')).status).toBe(200);
    expect((await via('2001:db8:0:100::2')).status).toBe(429);
  });

  it('count accounts by account, wherever they call from', async () => {
    const { ask } = setUp({ limits: strictLimits() });
    const call = (address: string) =>
      ask('/api/t/create', post('x', { 'x-forwarded-for': address, authorization: rightHeader }));
    const statuses = [];
    for (const last of [1, 2, 3, 4]) statuses.push((await call(`203.0.${last}.1`)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await ask('/api/t/create', post('x', { 'x-forwarded-for': '203.0.1.1' }))).status).toBe(200);
  });

  it('P21 bound how often wrong credentials are looked up, and answer 429 beyond', async () => {
    const { ask, lookUps, clock } = setUp({ limits: strictLimits(2) });
    const wrong = () => ask('/api/t/recent', withHeader(basic('x@y.example', token)));
    const statuses = [];
    for (let call = 0; call < 6; call++) statuses.push((await wrong()).status);
    expect(statuses).toEqual([401, 401, 429, 429, 429, 429]);
    expect(lookUps).toHaveLength(2);
    expect((await wrong()).headers.get('ratelimit-policy')).toBe('"logIn";q=2;w=600');
    clock.nowMs = 300_000;
    expect((await wrong()).status).toBe(401);
  });

  it('P21 that are off look every wrong one up (self-test)', async () => {
    const { ask, lookUps } = setUp({ limits: 'off' });
    for (let call = 0; call < 6; call++) await ask('/api/t/recent', withHeader(basic('x@y.example', token)));
    expect(lookUps).toHaveLength(6);
  });

  it('count malformed credentials as wrong ones', async () => {
    const { ask } = setUp({ limits: strictLimits(2) });
    const statuses = [];
    for (let call = 0; call < 3; call++)
      statuses.push((await ask('/api/t/recent', withHeader('Bearer x'))).status);
    expect(statuses).toEqual([401, 401, 429]);
  });

  it("let a neighbour's wrong credentials lock out nobody whose own were right before", async () => {
    const { ask } = setUp({ limits: strictLimits(2) });
    expect((await ask('/api/t/recent', withHeader(rightHeader))).status).toBe(200);
    for (let call = 0; call < 4; call++) await ask('/api/t/recent', withHeader('Basic !!!'));
    expect((await ask('/api/t/recent', withHeader('Basic !!!'))).status).toBe(429);
    expect((await ask('/api/t/recent', withHeader(rightHeader))).status).toBe(200);
  });

  it('hold again for credentials that were right once and are revoked', async () => {
    let isRevoked = false;
    const authenticate: ApiDeps['authenticate'] = async () => (isRevoked ? null : owner);
    const { ask } = setUp({ limits: strictLimits(2), authenticate });
    const statuses = [];
    for (let call = 0; call < 5; call++) {
      statuses.push((await ask('/api/t/recent', withHeader(rightHeader))).status);
      isRevoked = true;
    }
    expect(statuses).toEqual([200, 401, 401, 429, 429]);
  });

  it('do not apply to status, to OPTIONS or to unknown paths', async () => {
    const { ask } = setUp({ limits: strictLimits() });
    for (let call = 0; call < 200; call++) {
      expect((await ask('/api/t/status')).status).toBe(200);
      expect((await ask('/api/t/create', { method: 'OPTIONS' })).status).toBe(204);
      expect((await ask('/api/t/x')).status).toBe(404);
    }
  });
});

describe('other sites', () => {
  it('get 403 for a POST or a PATCH, which counts against nobody, and may read', async () => {
    const { ask, lookUps } = setUp({ limits: strictLimits() });
    for (let call = 0; call < 5; call++) {
      const headers = { 'sec-fetch-site': 'cross-site', authorization: 'Basic !!!' };
      expect((await ask('/api/t/create', post('x', headers))).status).toBe(403);
      const patch = { method: 'PATCH', body: 'x', headers };
      expect((await ask(`/api/t/note/${key}`, patch)).status).toBe(403);
    }
    expect(lookUps).toEqual([]);
    expect((await ask('/api/t/create', post('x', { 'sec-fetch-site': 'same-origin' }))).status).toBe(200);
    expect((await ask(`/api/t/secret/${key}`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(
      200,
    );
  });

  it('that are allowed get CORS headers on every answer, refusals included', async () => {
    const origin = 'https://friend.example';
    const { ask } = setUp({ origins: [origin] });
    const headers = { origin, 'sec-fetch-site': 'cross-site' };
    for (const [path, init] of [
      ['/api/t/create', post('x', headers)],
      ['/api/t/x', { headers }],
      ['/api/t/recent', { headers }],
    ] as const) {
      const answer = await ask(path, init);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
      expect(answer.headers.get('vary')).toBe('Origin');
    }
    const preflight = await ask('/api/t/create', {
      method: 'OPTIONS',
      headers: { ...headers, 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
    expect(preflight.headers.get('access-control-allow-headers')).not.toContain('authorization');
    const patch = await ask(`/api/t/note/${key}`, {
      method: 'OPTIONS',
      headers: { ...headers, 'access-control-request-method': 'PATCH' },
    });
    expect(patch.headers.get('access-control-allow-methods')).toBe('GET, HEAD, PATCH, OPTIONS');
  });
});

const encoded = (pair: string | Uint8Array) => `Basic ${Buffer.from(pair).toString('base64')}`;

/** Credentials in a header of this length. */
const padded = (length: number) => encoded(`a:${'b'.repeat(1_500)}`).replace(' ', ' '.repeat(length - 2_009));

describe('parseBasic', () => {
  it('reads a header of 2,048 characters', () => {
    expect(padded(2_048)).toHaveLength(2_048);
    expect(parseBasic(padded(2_048))?.username).toBe('a');
  });

  it('reads a username and a token (RFC 7617)', () => {
    expect(parseBasic(encoded(`someone@example.org:${token}`))).toEqual({
      username: 'someone@example.org',
      token,
    });
    expect(parseBasic('Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==')).toEqual({
      username: 'aladdin',
      token: 'open sesame',
    });
  });

  it('reads the scheme in any case', () => {
    const pair = encoded(`a@b.example:${token}`).slice('Basic '.length);
    for (const scheme of ['basic ', 'BASIC ', 'bAsIc  '])
      expect(parseBasic(scheme + pair)?.token).toBe(token);
  });

  it('puts the username, and only the username, in lower case', () => {
    expect(parseBasic(encoded('Some.One@EXAMPLE.org:ABC'))).toEqual({
      username: 'some.one@example.org',
      token: 'ABC',
    });
  });

  it('reads UTF-8, as the challenge announces', () => {
    expect(parseBasic(encoded('Jörg@example.org:ß€'))).toEqual({ username: 'jörg@example.org', token: 'ß€' });
  });

  it('divides at the first colon', () => {
    expect(parseBasic(encoded('\uFEFFann:b'))?.username).toBe('\uFEFFann');
    expect(parseBasic(encoded('a:b:c'))).toEqual({ username: 'a', token: 'b:c' });
  });

  it.each([
    ['another scheme', `Bearer ${token}`],
    ['nothing after the scheme', 'Basic '],
    ['no blank after the scheme', `Basic${Buffer.from('a:b').toString('base64')}`],
    ['no base64', 'Basic a:b!'],
    ['base64 that is cut off', 'Basic YTpi1'],
    ['base64 with something after it', 'Basic YTpi YTpi'],
    ['the alphabet of URLs', encoded('a:ÿÿÿ').replace('/', '_')],
    ['no colon', encoded('ab')],
    ['no username', encoded(':token')],
    ['no token', encoded('name:')],
    ['a NUL', encoded('a\0:b')],
    ['a line feed', encoded('a:b\n')],
    ['invalid UTF-8', encoded(Uint8Array.of(0x61, 0x3a, 0xff))],
    ['base64 without a scheme', encoded('a:b').slice('Basic '.length)],
    ['an overlong header', padded(2_049)],
    ['an empty header', ''],
  ])('takes %s for no credentials', (_what, header) => {
    expect(parseBasic(header)).toBeNull();
  });

  it('gives back every username and token that RFC 7617 can carry', () => {
    const text = (forbidden: RegExp) =>
      fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
        .filter((part) => !forbidden.test(part) && part.isWellFormed());
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters the format forbids.
    const [inName, inToken] = [/[:\u0000-\u001f\u007f]/, /[\u0000-\u001f\u007f]/];
    fc.assert(
      fc.property(text(inName), text(inToken), (username, secret) => {
        expect(parseBasic(encoded(`${username}:${secret}`))).toEqual({
          username: username.toLowerCase(),
          token: secret,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('P24 never throws, whatever the header, and never takes long', () => {
    const any = fc.oneof(
      fc.string({ maxLength: 400 }),
      fc.string({ maxLength: 400 }).map((text) => `Basic ${text}`),
      fc.uint8Array({ maxLength: 400 }).map(encoded),
    );
    fc.assert(
      fc.property(any, (header) => {
        const parsed = parseBasic(header);
        expect(parsed === null || (parsed.username.length > 0 && parsed.token.length > 0)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    const startedMs = performance.now();
    for (const header of [
      `Basic ${' '.repeat(100_000)}`,
      `Basic ${'A'.repeat(100_000)}!`,
      `basic${' '.repeat(2_000)}`,
    ]) {
      expect(parseBasic(header)).toBeNull();
    }
    expect(performance.now() - startedMs).toBeLessThan(50);
  });
});

describe('createRightCredentials', () => {
  it('knows what was noted until it is forgotten', () => {
    const right = createRightCredentials();
    expect(right.has('a')).toBe(false);
    right.add('a');
    expect([right.has('a'), right.has('b')]).toEqual([true, false]);
    right.forget('a');
    expect(right.has('a')).toBe(false);
  });

  it('P21 remembers a bounded number, and lets the oldest go first', () => {
    const right = createRightCredentials(3);
    for (const header of ['a', 'b', 'c', 'b', 'd']) right.add(header);
    expect(['a', 'b', 'c', 'd'].map((header) => right.has(header))).toEqual([false, true, true, true]);
  });

  it('P21 remembers ten thousand unless it is told otherwise', () => {
    const right = createRightCredentials();
    for (let n = 0; n < 10_000; n += 1) right.add(`header ${n}`);
    expect(right.has('header 0')).toBe(true);
    right.add('one more');
    expect([right.has('header 0'), right.has('header 1')]).toEqual([false, true]);
  });

  it('P21 evicts none for one that it knows already', () => {
    const right = createRightCredentials(2);
    for (const header of ['a', 'b', 'b']) right.add(header);
    expect(['a', 'b'].map((header) => right.has(header))).toEqual([true, true]);
  });

  it('P18 holds no credentials', () => {
    const right = createRightCredentials();
    right.add(encoded(`someone@example.org:${token}`));
    expect(Bun.inspect(right, { depth: 10 })).not.toContain(token);
  });
});
