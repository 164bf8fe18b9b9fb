import { describe, expect, it } from 'bun:test';
import { createCrossSitePolicy } from './cross-site.ts';

const friend = 'https://friend.example';
const closed = createCrossSitePolicy(new Set());
const open = createCrossSitePolicy(new Set([friend]));

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
    expect(closed.admits(request({ 'sec-fetch-site': 'cross-site' }))).toBe(false);
    expect(closed.admits(request({ 'sec-fetch-site': 'cross-site', origin: friend }))).toBe(false);
    expect(open.admits(request({ 'sec-fetch-site': 'cross-site', origin: 'https://other.example' }))).toBe(
      false,
    );
    expect(open.admits(request({ 'sec-fetch-site': 'cross-site', origin: 'null' }))).toBe(false);
    expect(open.admits(request({ 'sec-fetch-site': 'cross-site' }))).toBe(false);
  });

  it('is admitted from an allowed origin', () => {
    expect(open.admits(request({ 'sec-fetch-site': 'cross-site', origin: friend }))).toBe(true);
  });

  it('is not what programs, pages of our own and addresses typed by hand send', () => {
    for (const site of ['same-origin', 'same-site', 'none']) {
      expect(closed.admits(request({ 'sec-fetch-site': site }))).toBe(true);
    }
    expect(closed.admits(request({}))).toBe(true);
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
      'access-control-expose-headers': 'retry-after, ratelimit, ratelimit-policy, x-request-id',
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
