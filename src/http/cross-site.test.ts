import { describe, expect, it } from 'bun:test';
import { createCrossSitePolicy, refuseForeignHosts } from './cross-site.ts';

const friend = 'https://friend.example';
const ownOrigin = 'https://mayfly.example';
const closed = createCrossSitePolicy({ ownOrigin, allowedOrigins: new Set() });
const open = createCrossSitePolicy({ ownOrigin, allowedOrigins: new Set([friend]) });

function request(headers: Record<string, string>, method = 'POST'): Request {
  return new Request('http://localhost/', { method, headers });
}

function shared(policy: typeof open, headers: Record<string, string>): Record<string, string> {
  const answer = new Headers();
  policy.share(request(headers), answer);
  return Object.fromEntries(answer);
}

describe('a cross-site POST', () => {
  it('is refused when the browser marks it so', () => {
    expect(closed.admits(request({ 'sec-fetch-site': 'cross-site' }), true)).toBe(false);
    expect(closed.admits(request({ 'sec-fetch-site': 'cross-site', origin: friend }), true)).toBe(false);
    expect(
      open.admits(request({ 'sec-fetch-site': 'cross-site', origin: 'https://other.example' }), true),
    ).toBe(false);
    expect(open.admits(request({ 'sec-fetch-site': 'cross-site', origin: 'null' }), true)).toBe(false);
    expect(open.admits(request({ 'sec-fetch-site': 'cross-site' }), true)).toBe(false);
  });

  it('is admitted from an allowed origin', () => {
    expect(open.admits(request({ 'sec-fetch-site': 'cross-site', origin: friend }), true)).toBe(true);
  });

  it('is not what programs, pages of our own and addresses typed by hand send', () => {
    for (const site of ['same-origin', 'same-site', 'none']) {
      expect(closed.admits(request({ 'sec-fetch-site': site }), true)).toBe(true);
    }
    expect(closed.admits(request({}), true)).toBe(true);
  });
});

describe('a POST with credentials', () => {
  const authorization = 'Basic eDp5';
  const admits = (headers: Record<string, string>) =>
    open.admits(request({ authorization, ...headers }), true);

  it('is refused when the browser marks it as from anywhere but the same origin', () => {
    for (const site of ['cross-site', 'same-site', 'unheard-of']) {
      expect(admits({ 'sec-fetch-site': site })).toBe(false);
      for (const origin of ['null', 'https://other.example', ownOrigin]) {
        expect(admits({ 'sec-fetch-site': site, origin })).toBe(false);
      }
    }
  });

  it.each([
    'null',
    'https://other.example',
    'http://mayfly.example',
    'https://mayfly.example:8443',
    'https://MAYFLY.example',
    'https://sub.mayfly.example',
    '',
  ])('is refused from the origin %j of a browser without Fetch Metadata', (origin) => {
    expect(admits({ origin })).toBe(false);
  });

  it('is admitted from our own origin, from an allowed one, and when it was typed by hand', () => {
    expect(admits({ origin: ownOrigin })).toBe(true);
    expect(admits({ 'sec-fetch-site': 'same-origin', origin: ownOrigin })).toBe(true);
    expect(admits({ 'sec-fetch-site': 'none' })).toBe(true);
    expect(admits({ origin: friend })).toBe(true);
    for (const site of ['same-site', 'cross-site']) {
      expect(admits({ 'sec-fetch-site': site, origin: friend })).toBe(true);
    }
  });

  it('is admitted from programs, which say nothing of an origin', () => {
    expect(admits({})).toBe(true);
  });

  it('is checked more strictly: without credentials, a same-site or an old browser’s POST is admitted', () => {
    for (const headers of [
      { origin: 'null' },
      { origin: 'https://other.example' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect(closed.admits(request(headers), true)).toBe(true);
    }
  });
});

describe('CORS', () => {
  it('is off by default: no answer carries any of its headers', () => {
    expect(shared(closed, { origin: friend })).toEqual({});
    const headers = new Headers();
    closed.answerPreflight(
      request({ origin: friend, 'access-control-request-method': 'POST' }),
      headers,
      'POST',
    );
    expect([...headers]).toEqual([]);
  });

  it('names an allowed origin, never *, and never allows credentials', () => {
    expect(shared(open, { origin: friend })).toEqual({
      'access-control-allow-origin': friend,
      'access-control-expose-headers':
        'retry-after, ratelimit, ratelimit-policy, x-request-id, mayfly-ignored',
      vary: 'Origin',
    });
  });

  it.each([
    'https://friend.example.evil',
    'http://friend.example',
    'https://friend.example:8443',
    'https://FRIEND.example',
    'null',
    '*',
  ])('does not share with %s', (origin) => {
    expect(shared(open, { origin })).toEqual({ vary: 'Origin' });
  });

  it('answers a preflight with the methods of the path and the headers a page may send', () => {
    const headers = new Headers();
    const preflight = { origin: friend, 'access-control-request-method': 'POST' };
    open.answerPreflight(request(preflight, 'OPTIONS'), headers, 'POST, OPTIONS');
    expect(Object.fromEntries(headers)).toEqual({
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'content-type, idempotency-key, secret-passphrase',
      'access-control-max-age': '600',
    });
  });

  it('answers a plain OPTIONS and a preflight from elsewhere without permission', () => {
    const headers = new Headers();
    open.answerPreflight(request({ origin: friend }, 'OPTIONS'), headers, 'POST');
    const elsewhere = { origin: 'https://other.example', 'access-control-request-method': 'POST' };
    open.answerPreflight(request(elsewhere, 'OPTIONS'), headers, 'POST');
    expect([...headers]).toEqual([]);
  });
});

const fetch = refuseForeignHosts(() => new Response('served'), {
  baseUrl: 'http://localhost:3000',
  isShareDomain: async (name) => name === 'secrets.example.com',
});
const noPeer = {};

async function statusFor(host: string, origin: string | null, method = 'POST'): Promise<number> {
  const headers = new Headers({ host });
  if (origin !== null) headers.set('origin', origin);
  return (await fetch(new Request('http://localhost/', { method, headers }), noPeer)).status;
}

describe('an installation that is being tried out', () => {
  it('refuses a browser that another site led here under its own host name', async () => {
    for (const host of ['evil.example:3000', 'evil.example', 'EVIL.EXAMPLE.', '127.0.0.1.evil.example']) {
      for (const origin of ['http://evil.example:3000', 'null'])
        expect([host, origin, await statusFor(host, origin)]).toEqual([host, origin, 421]);
    }
    const headers = { host: 'evil.example', origin: 'null' };
    const refused = await fetch(new Request('http://localhost/', { method: 'POST', headers }), noPeer);
    const text = await refused.text();
    expect(text).toContain('set MAYFLY_BASE_URL');
    expect(text).not.toContain('evil');
    expect(refused.headers.get('cache-control')).toBe('no-store');
  });

  it('serves a browser at its own names, its addresses and its share domains', async () => {
    for (const host of [
      'localhost:3000',
      'LOCALHOST',
      'localhost.',
      'mayfly.localhost:3000',
      '127.0.0.1:3000',
      '[::1]:3000',
      '[::1]',
      '192.168.0.7:3000',
      'mayfly:3000',
      'secrets.example.com:3000',
    ]) {
      expect([host, await statusFor(host, 'null')]).toEqual([host, 200]);
    }
  });

  it('serves a client that is no browser by whatever name: its Host gives it no power (P20)', async () => {
    for (const method of ['GET', 'POST']) {
      expect(await statusFor('evil.example', null, method)).toBe(200);
      expect(await statusFor('secrets.example.com', null, method)).toBe(200);
    }
  });
});
