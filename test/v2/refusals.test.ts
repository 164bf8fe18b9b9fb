/**
 * API v2, everything else: the service's own operations, and each row of the table of refusals.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { type Call, createDocumentedApp, createJudge, documentOf } from './documented-app.ts';

const app = createDocumentedApp();
const unknownKey = '0'.repeat(31);

describe('the operations about the service', () => {
  const open: readonly [string, object][] = [
    ['/status', { success: true, status: 'nominal', locale: 'en' }],
    ['/version', { success: true, version: ['0', '1', '0'], locale: 'en' }],
    ['/supported-locales', { success: true, locales: ['en'], default_locale: 'en', locale: 'en' }],
  ];
  for (const [path, expected] of open) {
    it(`answers ${path} to anyone, also with wrong credentials, and to HEAD`, async () => {
      const wrong = { authorization: 'Basic bm9ib2R5Onh4' };
      for (const headers of [{}, wrong]) {
        const { status, body } = await app.call(path, { headers });
        expect(status).toBe(200);
        expect(body).toEqual(expected);
      }
      for (const headers of [{}, wrong]) {
        const head = await app.call(path, { method: 'HEAD', headers });
        expect([head.status, head.body]).toEqual([200, null]);
      }
    });
  }
});

describe('a refusal', () => {
  const conceal: Call = { json: { secret: 'x' } };
  const cases: readonly [string, string, Call, number, string][] = [
    ['an unknown path', '/nothing', {}, 404, 'not_found'],
    ['the base alone', '', {}, 404, 'not_found'],
    ['a trailing slash', '/status/', {}, 404, 'not_found'],
    ['a key that is empty', '/secret//status', {}, 404, 'not_found'],
    ['POST where only GET is', '/status', { method: 'POST' }, 405, 'method_not_allowed'],
    ['GET where only POST is', `/secret/${unknownKey}/reveal`, {}, 405, 'method_not_allowed'],
    ['DELETE', `/private/${unknownKey}`, { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['PUT', '/secret/conceal', { ...conceal, method: 'PUT' }, 405, 'method_not_allowed'],
    [
      'wrong credentials where none are needed',
      '/secret/conceal',
      withHeaders(conceal, { authorization: 'Basic eDp5' }),
      401,
      'not_authorized',
    ],
    [
      'another scheme',
      '/secret/conceal',
      withHeaders(conceal, { authorization: 'Bearer x' }),
      401,
      'not_authorized',
    ],
    [
      'an empty header of credentials',
      `/secret/${unknownKey}`,
      { headers: { authorization: 'Basic' } },
      401,
      'not_authorized',
    ],
    [
      'a POST from another site',
      '/secret/conceal',
      withHeaders(conceal, { 'sec-fetch-site': 'cross-site' }),
      403,
      'cross_site',
    ],
    ['a key that does not decode', '/secret/%zz', {}, 400, 'malformed'],
  ];
  for (const [what, path, call, status, error] of cases) {
    it(`to ${what} is ${status} ${error}`, async () => {
      const answer = await app.call(path, call);
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({ success: false, error, message: expect.any(String) });
    });
  }

  it('to a name that stands twice is 400 wherever a body is taken, however deep and however escaped (P26)', async () => {
    const bodies = [
      '{"a":1,"a":1}',
      '{"x":{"y":[{"a":1,"\\u0061":1}]}}',
      '{"continue":false,"\\u0063ontinue":true}',
    ];
    const paths = ['/secret/conceal', '/secret/generate', '/secret/status', `/secret/${unknownKey}/reveal`];
    const headers = { authorization: (await app.account('twice@example.com')).authorization };
    for (const path of [...paths, `/private/${unknownKey}/burn`, `/private/${unknownKey}/deliver`]) {
      for (const raw of bodies) {
        const { status, body } = await app.call(path, { raw, headers });
        expect([path, status, body.error]).toEqual([path, 400, 'malformed']);
      }
    }
  });

  it('to a wrong method names the right ones, and OPTIONS does too', async () => {
    const wrong = await app.call('/secret/conceal', { method: 'PATCH' });
    expect(wrong.headers.get('allow')).toContain('POST');
    const options = await app.call('/secret/conceal', { method: 'OPTIONS' });
    expect(options.status).toBe(204);
    expect(options.headers.get('allow')).toContain('POST');
  });

  it('to too many calls is 429 with the time to wait and the limit (P21)', async () => {
    const rule = { limit: 1, windowSeconds: 3_600, burst: 2 };
    const create = { anonymous: rule, account: rule };
    const limited = createDocumentedApp({ rateLimits: { ...builtInRateLimits, create } });
    await limited.call('/secret/conceal', conceal);
    await limited.call('/secret/conceal', conceal);
    const { status, body, headers } = await limited.call('/secret/conceal', conceal);
    expect([status, body.error]).toEqual([429, 'rate_limited']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('ratelimit')).toContain('create');
    expect(headers.get('ratelimit-policy')).toContain('create');
  });

  const faults: readonly [string, () => Error, number, string][] = [
    ['an unreachable store', () => new ServiceError('unavailable', 'down'), 503, 'unavailable'],
    ['a full queue of hashes', () => new ServiceError('busy', 'full'), 503, 'unavailable'],
    ['a full disk', () => new ServiceError('storage_full', 'full'), 503, 'unavailable'],
    ['a damaged record', () => new ServiceError('damaged', 'tag'), 500, 'internal'],
    ['the unforeseen', () => new TypeError('hunter2 at /srv/secret.ts'), 500, 'internal'],
  ];
  for (const [what, fault, status, error] of faults) {
    it(`to ${what} is ${status} ${error}, without a detail (P18)`, async () => {
      const broken = createDocumentedApp({
        wrapStore: (store) => ({ ...store, put: () => Promise.reject(fault()) }),
      });
      const answer = await broken.call('/secret/conceal', { ...conceal, faultExpected: true });
      expect([answer.status, answer.body.error]).toEqual([status, error]);
      expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|srv|down|tag/);
      if (status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      else expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
    });
  }

  it('of a reveal whose claim is not confirmed is 503 and releases nothing (P2)', async () => {
    const doubtful = createDocumentedApp({
      wrapStore: (store) => ({
        ...store,
        claim: () => Promise.reject(new ServiceError('unavailable', 'doubt')),
      }),
    });
    const made = await doubtful.call('/secret/conceal', { json: { secret: 'hello' } });
    const { key } = made.body.record.secret;
    const { status, body } = await doubtful.call(`/secret/${key}/reveal`, {
      method: 'POST',
      faultExpected: true,
    });
    expect([status, body.error]).toEqual([503, 'unavailable']);
    expect(JSON.stringify(body)).not.toContain('hello');
  });
});

function withHeaders(call: Call, headers: Record<string, string>): Call {
  return { ...call, headers };
}

describe('the check of every answer in these tests', () => {
  it('finds an answer with a field that no schema names', async () => {
    const judge = createJudge(await documentOf(app));
    const response = await app.fetch('/api/v2/status');
    const { status, headers } = response;
    const body = await response.json();
    const judged = (changed: object) =>
      judge('GET', '/api/v2/status', { status, headers, text: JSON.stringify({ ...body, ...changed }) });
    expect(judged({})).toEqual([]);
    expect(judged({ recipient: 'joe@example.org' })).not.toEqual([]);
    expect(judged({ status: 5 })).not.toEqual([]);
    expect(judge('GET', '/api/v2/status', { status: 418, headers, text: '{}' })).not.toEqual([]);
  });
});
