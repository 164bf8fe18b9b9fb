import { describe, expect, it } from 'bun:test';
import type { ClockVerdict } from '../core/ports/clock.ts';
import { type HealthDeps, healthAnswers } from './health.ts';

async function ask(
  path: string,
  isReady: HealthDeps['isReady'] = () => true,
  method = 'GET',
  clock: ClockVerdict = 'agreed',
  isFull = false,
) {
  const answers = new Map(healthAnswers({ isReady, clockVerdict: () => clock, storageIsFull: () => isFull }));
  const response = await answers.get(path)?.(new Request(`http://localhost${path}`, { method }));
  if (response === undefined || response === null) throw new Error(`nothing answers ${path}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe('/healthz', () => {
  it('answers 200 as long as the process lives, whatever the store does', async () => {
    const answer = await ask('/healthz', () => false);
    expect([answer.status, answer.text]).toEqual([200, '{"status":"ok"}']);
  });
});

describe('/readyz', () => {
  it('P23 answers 200 when the service can serve, and 503 when it cannot or cannot tell', async () => {
    expect(await ask('/readyz', async () => true)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    const unavailable = { status: 503, text: '{"status":"unavailable"}' };
    expect(await ask('/readyz', () => false)).toMatchObject(unavailable);
    expect(await ask('/readyz', () => Promise.reject(new Error('the store is at 10.0.0.5')))).toMatchObject(
      unavailable,
    );
  });
});

describe('a wall clock in doubt', () => {
  it('P8 shows at /readyz, which stays 200, and not at /healthz', async () => {
    for (const clock of ['disputed', 'unproven'] as const) {
      const ready = await ask('/readyz', () => true, 'GET', clock);
      expect([ready.status, ready.text]).toEqual([200, `{"status":"ok","clock":"${clock}"}`]);
      expect((await ask('/healthz', () => true, 'GET', clock)).text).toBe('{"status":"ok"}');
      expect(await ask('/readyz', () => false, 'GET', clock)).toMatchObject({ status: 503 });
    }
  });
});

it('P23 /readyz is 503 where the store cannot say what it makes of the clock', async () => {
  const clockVerdict = () => {
    throw new Error('not read');
  };
  const answers = new Map(healthAnswers({ isReady: () => true, clockVerdict }));
  expect((await answers.get('/readyz')?.(new Request('http://localhost/readyz')))?.status).toBe(503);
});

describe('a store that another process holds', () => {
  it('P23 shows at /readyz, which is 503', async () => {
    const deps: HealthDeps = { isReady: () => false, storeIsLocked: () => true };
    const response = await new Map(healthAnswers(deps)).get('/readyz')?.(
      new Request('http://localhost/readyz'),
    );
    expect([response?.status, await response?.text()]).toEqual([
      503,
      '{"status":"unavailable","store":"locked"}',
    ]);
  });
});

describe('a full disk or store', () => {
  it('P23 shows at /readyz, which stays 200 for the reads, and not at /healthz', async () => {
    const ready = await ask('/readyz', () => true, 'GET', 'agreed', true);
    expect([ready.status, ready.text]).toEqual([200, '{"status":"ok","storage":"full"}']);
    const both = await ask('/readyz', () => true, 'GET', 'disputed', true);
    expect(both.text).toBe('{"status":"ok","clock":"disputed","storage":"full"}');
    expect((await ask('/healthz', () => true, 'GET', 'agreed', true)).text).toBe('{"status":"ok"}');
    expect(await ask('/readyz', () => false, 'GET', 'agreed', true)).toMatchObject({ status: 503 });
  });
});

describe('a database server that is not safe, and allowed', () => {
  const textWith = async (deps: Partial<HealthDeps>) => {
    const answers = new Map(healthAnswers({ isReady: () => true, ...deps }));
    return (await answers.get('/readyz')?.(new Request('http://localhost/readyz')))?.text();
  };

  it('P25 shows at /readyz, where a single server does not', async () => {
    expect(await textWith({ storeRisks: ['single', 'unsafe'] })).toBe('{"status":"ok","store":"unsafe"}');
    expect(await textWith({ storeRisks: ['single'] })).toBe('{"status":"ok"}');
  });
});

describe('both', () => {
  it('answer HEAD without content, OPTIONS with Allow, and other methods with 405', async () => {
    const head = await ask('/readyz', () => true, 'HEAD');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '15']);
    const options = await ask('/healthz', () => true, 'OPTIONS');
    expect([options.status, options.text, options.headers.get('allow')]).toEqual([
      204,
      '',
      'GET, HEAD, OPTIONS',
    ]);
    const post = await ask('/healthz', () => true, 'POST');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('P19 carry the common headers', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { headers } = await ask(path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{20}$/);
    }
  });
});
