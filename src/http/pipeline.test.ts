import { describe, expect, it } from 'bun:test';
import {
  key,
  operations,
  owner,
  post,
  rightHeader,
  setUp,
  strictLimits,
  withHeader,
} from '../../test/http/api-fixture.ts';
import type { AccountId, TokenScope } from '../core/account.ts';
import { ServiceError } from '../core/errors.ts';
import { type ApiSurface, createApi } from './api.ts';
import type { Operation } from './operation.ts';
import { createFetch } from './pipeline.ts';
import { RequestProblem } from './problem.ts';

describe('routing', () => {
  it('answers an unknown path 404 and a known path with a wrong method 405 with Allow', async () => {
    const { ask } = setUp();
    expect((await ask('/api/t/nothing')).status).toBe(404);
    expect((await ask('/api/t')).status).toBe(404);
    expect((await ask('/elsewhere')).status).toBe(404);
    const wrong = await ask('/api/t/create');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
      const answer = await ask('/api/t/status', { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  it('answers OPTIONS 204 with Allow, and HEAD as GET without content but with its length', async () => {
    const { ask } = setUp();
    const options = await ask('/api/t/create', { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([
      204,
      'POST, OPTIONS',
      '',
    ]);
    const get = await ask('/api/t/status');
    const head = await ask('/api/t/status', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String((await get.text()).length));
  });

  it('P4 runs no handler for OPTIONS, for an unknown path or for a wrong method', async () => {
    let runs = 0;
    const { ask } = setUp({
      handle: () => {
        runs++;
        return { status: 200, body: null };
      },
    });
    await ask('/api/t/create', { method: 'OPTIONS' });
    await ask('/api/t/create');
    await ask('/api/t/create', { method: 'HEAD' });
    await ask('/api/t/creat', post());
    expect(runs).toBe(0);
    await ask('/api/t/create', post());
    expect(runs).toBe(1);
  });

  it('decodes a path parameter, and calls one that does not decode malformed', async () => {
    const { ask } = setUp();
    expect(await (await ask('/api/t/secret/a%2Fb%20c')).json()).toMatchObject({ params: { key: 'a/b c' } });
    const malformed = await ask('/api/t/secret/%E0%A4%A');
    expect([malformed.status, await malformed.json()]).toEqual([
      400,
      expect.objectContaining({ problem: 'malformed' }),
    ]);
  });

  it('answers a path without a key with a slash at the end where the API says so', async () => {
    const strict = setUp();
    expect((await strict.ask('/api/t/status/')).status).toBe(404);
    const lenient = setUp({ surface: { acceptsTrailingSlash: true } });
    expect((await lenient.ask('/api/t/status/')).status).toBe(200);
    expect((await lenient.ask(`/api/t/secret/${key}/`)).status).toBe(404);
  });

  it('serves two APIs side by side, each with its own words', async () => {
    const { whole, deps } = setUp();
    const otherWords: ApiSurface = {
      ...whole,
      base: '/api/u',
      encodeProblem: () => ({ status: 404, body: 'other' }),
    };
    const parts = [createApi(whole, deps), createApi(otherWords, deps)];
    const fetch = createFetch(parts, createApi(whole, deps).serve);
    const ask = async (path: string) => fetch(new Request(`http://localhost${path}`));
    expect(await (await ask('/api/t/x')).json()).toEqual({ problem: 'not_found' });
    expect(await (await ask('/api/u/x')).json()).toBe('other');
    expect((await ask('/api/u/status')).status).toBe(200);
  });
});

describe('headers', () => {
  it('P19 stand on every answer, whatever its status', async () => {
    const cases: [number, ReturnType<typeof setUp>, string, RequestInit?][] = [
      [200, setUp(), '/api/t/status'],
      [204, setUp(), '/api/t/status', { method: 'OPTIONS' }],
      [400, setUp(), '/api/t/secret/%'],
      [401, setUp(), '/api/t/recent'],
      [403, setUp(), '/api/t/create', post('x', { 'sec-fetch-site': 'cross-site' })],
      [404, setUp(), '/api/t/x'],
      [405, setUp(), '/api/t/create'],
      [413, setUp(), '/api/t/create', post('x'.repeat(1_001))],
      [429, setUp({ limits: strictLimits(0) }), '/api/t/create', post()],
      [500, setUp({ handle: () => Promise.reject(new Error('boom')) }), '/api/t/status'],
      [503, setUp({ handle: () => Promise.reject(new ServiceError('busy', 'full')) }), '/api/t/status'],
    ];
    const ids = new Set<string>();
    for (const [status, { ask }, path, init] of cases) {
      if (status === 429) await ask(path, post());
      const { headers, status: actual } = await ask(path, init);
      expect(actual).toBe(status);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow, noarchive');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{20}$/);
      expect(headers.get('content-type')).toBe(status === 204 ? null : 'application/json; charset=utf-8');
      ids.add(headers.get('x-request-id') ?? '');
    }
    expect(ids.size).toBe(cases.length);
  });

  it('never take the request id from the request', async () => {
    const { ask } = setUp();
    const { headers } = await ask('/api/t/status', { headers: { 'x-request-id': 'chosen-by-the-client' } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{20}$/);
  });

  it('P20 let no Host or forwarded name appear in an answer', async () => {
    const { fetch } = setUp();
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    };
    for (const path of ['/api/t/status', '/api/t/x', '/api/t/recent']) {
      const response = await fetch(new Request(`http://evil.example${path}`, { headers }));
      expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain('evil');
    }
  });
});

describe('bodies', () => {
  it('P21 over the cap answer 413 naming it, by length, by chunks and when the length lies', async () => {
    const { ask } = setUp();
    const big = 'x'.repeat(1_001);
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(big));
        controller.close();
      },
    });
    for (const init of [
      post(big),
      post(big, { 'content-length': '1001' }),
      post(big, { 'content-length': '5' }),
      post(chunked),
    ]) {
      const answer = await ask('/api/t/create', init);
      expect([answer.status, await answer.json()]).toEqual([
        413,
        { problem: 'body_too_large', capBytes: 1_000 },
      ]);
    }
  });

  it('are read once, however often they are asked for', async () => {
    const { ask } = setUp({
      handle: async (_input, _caller, exchange) => ({ status: 200, body: (await exchange.body()).length }),
    });
    expect(await (await ask('/api/t/create', post('four'))).json()).toBe(4);
  });
});

describe('failures', () => {
  it.each([
    ['unavailable', 503, 'unavailable'],
    ['busy', 503, 'unavailable'],
    ['storage_full', 507, 'storage_full'],
  ] as const)(
    'P23 the fault %s answers %i with Retry-After, and is no surprise to report',
    async (code, status, problem) => {
      const { ask, faults } = setUp({
        handle: () => Promise.reject(new ServiceError(code, 'detail', { retryAfterSeconds: 9 })),
      });
      const answer = await ask('/api/t/status');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '9']);
      expect(await answer.json()).toEqual({ problem, retryAfterSeconds: 9 });
      expect(faults).toEqual([]);
    },
  );

  it('a damaged record and anything unforeseen answer 500 with the request id alone, and are reported', async () => {
    for (const thrown of [
      new ServiceError('damaged', 'row 7 of secrets'),
      new Error('secret detail'),
      'a text',
      undefined,
    ]) {
      const { ask, faults } = setUp({
        handle: () => {
          throw thrown;
        },
      });
      const answer = await ask('/api/t/status');
      const requestId = answer.headers.get('x-request-id') ?? '';
      expect([answer.status, await answer.json()]).toEqual([500, { problem: 'internal', requestId }]);
      expect(faults).toEqual([thrown]);
    }
  });

  it('of a decoder are answered as the problem it names', async () => {
    const refuse = () => Promise.reject(new RequestProblem({ problem: 'malformed', message: 'no' }));
    const { ask, faults } = setUp({
      surface: { operations: operations().map((operation) => ({ ...operation, decode: refuse })) },
    });
    expect((await ask('/api/t/status')).status).toBe(400);
    expect(faults).toEqual([]);
  });

  it('of the wording itself and of an observer still leave an answer', async () => {
    const wordless = setUp({
      surface: {
        encodeProblem: () => {
          throw new Error('no words');
        },
      },
    });
    expect((await wordless.ask('/api/t/x')).status).toBe(500);
    expect(wordless.faults).toHaveLength(2);
    const observed = setUp({
      onAnswer: () => {
        throw new Error('log is full');
      },
    });
    expect((await observed.ask('/api/t/status')).status).toBe(200);
    expect(observed.faults).toHaveLength(1);
  });

  it('of what cannot be written as JSON answer 500', async () => {
    const { ask } = setUp({ handle: () => ({ status: 200, body: 1n }) });
    expect((await ask('/api/t/status')).status).toBe(500);
  });
});

describe('what observers are told', () => {
  it('P18 is the operation, never the path, a key or an address', async () => {
    const { ask, answers } = setUp();
    await ask(`/api/t/secret/${key}?passphrase=hunter2`, withHeader(rightHeader));
    await ask(`/api/t/unknown/${key}`);
    await ask('/api/t/status', { method: 'PROPFIND' });
    expect(answers).toEqual([
      {
        requestId: expect.any(String),
        operation: 't.inspect',
        method: 'GET',
        status: 200,
        durationMs: expect.any(Number),
        accountId: 7 as AccountId,
      },
      {
        requestId: expect.any(String),
        operation: null,
        method: 'GET',
        status: 404,
        durationMs: expect.any(Number),
        accountId: null,
      },
      {
        requestId: expect.any(String),
        operation: null,
        method: 'other',
        status: 405,
        durationMs: expect.any(Number),
        accountId: null,
      },
    ]);
    expect(JSON.stringify(answers)).not.toMatch(/a1b2c3|hunter2|owner|127\.0/);
  });

  it('carries the request id that the answer carries', async () => {
    const { ask, answers } = setUp();
    const { headers } = await ask('/api/t/status');
    expect(answers[0]?.requestId).toBe(headers.get('x-request-id') ?? '');
  });
});

describe('the scope of a token', () => {
  /** The small API where every operation needs `create`, and a caller whose token has these scopes. */
  function scoped(scopes: readonly TokenScope[], change: (operation: Operation) => Operation = needsCreate) {
    let runs = 0;
    const handle: Operation['handle'] = (_input, caller) => {
      runs += 1;
      return { status: 200, body: caller.kind };
    };
    const kit = setUp({
      surface: { operations: operations(handle).map(change) },
      authenticate: async () => ({ ...owner, scopes }),
    });
    return { ...kit, runs: () => runs };
  }
  const needsCreate = (operation: Operation): Operation => ({ ...operation, scope: 'create' });
  const asOwner = { authorization: rightHeader };

  /** The answers to each kind of call with a token that lacks the scope. */
  async function answersWithout(change?: (operation: Operation) => Operation) {
    const { ask, runs, answers } = scoped(['manage', 'read-recent'], change);
    const statuses = [
      (await ask('/api/t/create', post('x', asOwner))).status,
      (await ask(`/api/t/secret/${key}`, withHeader(rightHeader))).status,
      (await ask('/api/t/recent', { method: 'HEAD', headers: asOwner })).status,
    ];
    return { statuses, runs: runs(), accounts: answers.map(({ accountId }) => accountId) };
  }

  it('that an operation needs is asked of accounts, also where anonymous callers are welcome', async () => {
    const refused = { statuses: [403, 403, 403], runs: 0, accounts: [7, 7, 7] as AccountId[] };
    expect(await answersWithout()).toEqual(refused);
    const { ask } = scoped(['create']);
    const allowed = await ask('/api/t/create', post('x', asOwner));
    expect([allowed.status, await allowed.json()]).toEqual([200, 'account']);
  });

  it('would be found missing by the same calls: an operation that names none lets them through (self-test)', async () => {
    const { statuses, runs } = await answersWithout((operation) => operation);
    expect([statuses, runs]).toEqual([[200, 200, 200], 3]);
  });

  it('is named in the problem, and asked before the body is touched', async () => {
    const { ask } = scoped(['manage']);
    const answer = await ask('/api/t/create', post('x'.repeat(1_001), asOwner));
    expect([answer.status, await answer.json()]).toEqual([
      403,
      { problem: 'scope_missing', scope: 'create' },
    ]);
  });

  it('is asked of nobody without an account, and not where credentials are not looked at', async () => {
    const { ask } = scoped([]);
    expect(await (await ask('/api/t/create', post())).json()).toBe('anonymous');
    expect((await ask('/api/t/status', withHeader(rightHeader))).status).toBe(200);
    expect((await ask('/api/t/create', { method: 'OPTIONS', headers: asOwner })).status).toBe(204);
  });
});

describe('createFetch', () => {
  it('gives the exchange its path and query as received', async () => {
    const seen: unknown[] = [];
    const { fetch } = setUp({
      handle: (_input, _caller, { path, rawQuery }) => {
        seen.push([path, rawQuery]);
        return { status: 200, body: null };
      },
    });
    for (const url of [
      '/api/t/status',
      '/api/t/status?a=%20b?c',
      '/api/t/status?',
      '/api/t/status#x?y',
      '/api/t/status?q#x',
    ]) {
      await fetch(new Request(`http://localhost${url}`));
    }
    const path = '/api/t/status';
    expect(seen).toEqual([
      [path, ''],
      [path, 'a=%20b?c'],
      [path, ''],
      [path, ''],
      [path, 'q'],
    ]);
  });
});
