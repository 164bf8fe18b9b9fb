/**
 * API v2: many secrets with one request.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import type { TestAppOptions } from '../support/app.ts';
import { createDocumentedApp } from './documented-app.ts';

async function scene(options: TestAppOptions = {}) {
  const app = createDocumentedApp(options);
  const { authorization } = await app.account();
  const batch = (secrets: unknown, headers: Record<string, string> = { authorization }) =>
    app.call('/secret/batch', { json: { secrets }, headers });
  const revealed = async (result: { record: { secret: { key: string } } }) => {
    const { body } = await app.call(`/secret/${result.record.secret.key}/reveal`, { method: 'POST' });
    return body.record?.secret_value;
  };
  return { app, authorization, batch, revealed };
}

const texts = (count: number) => Array.from({ length: count }, (_, n) => ({ secret: `value ${n}` }));

describe('POST /secret/batch', () => {
  it('answers for each in order, as it would be answered alone', async () => {
    const { app, authorization, batch, revealed } = await scene();
    const { status, body } = await batch([
      { secret: 'one', ttl: 3600, memo: 'first' },
      { generate: { length: 20, charset: ['digits'] } },
      { secret: 'two', recipient: 'joe@example.org', colour: 'blue' },
    ]);
    expect([status, body.success, body.custid, body.results.length]).toEqual([
      200,
      true,
      'alice@example.com',
      3,
    ]);
    const [one, drawn, two] = body.results;
    expect([await revealed(one), await revealed(two)]).toEqual(['one', 'two']);
    expect(one.record.metadata).toMatchObject({ memo: 'first', secret_ttl: 3_600 });
    expect([one.details.kind, drawn.details.kind]).toEqual(['conceal', 'generate']);
    expect(drawn.record.secret.secret_value).toMatch(/^[2-9]{20}$/);
    expect(await revealed(drawn)).toBe(drawn.record.secret.secret_value);
    expect(two.details.ignored).toEqual(['secrets.2.colour']);
    await app.service.settled();
    expect(app.mails).toHaveLength(1);
    const listed = await app.call('/private/recent', { headers: { authorization } });
    expect(listed.body.records).toHaveLength(3);
  });

  it('refuses each for itself, by its place in the body, and creates the others', async () => {
    const { batch, revealed } = await scene();
    const { body } = await batch([
      { secret: '' },
      { secret: 'good' },
      { secret: 'x', ttl: 'soon', recipient: 7 },
      'text',
      { generate: { length: 3 } },
      { generate: {}, secret: 'x' },
      { generate: { sealed: {} } },
      { secret: 'x'.repeat(1_000_001) },
      {},
    ]);
    const [first, good, several, ...rest] = body.results;
    expect(first).toMatchObject({
      success: false,
      error: 'invalid_field',
      field: 'secrets.0.secret',
      status: 422,
    });
    expect(await revealed(good)).toBe('good');
    expect(several.errors.map((each: { field: string }) => each.field)).toEqual([
      'secrets.2.ttl',
      'secrets.2.recipient',
    ]);
    expect(rest.map((each: { field: string; status: number }) => [each.field, each.status])).toEqual([
      ['secrets.3', 422],
      ['secrets.4.generate.length', 422],
      ['secrets.5.generate', 422],
      ['secrets.6.generate.sealed', 422],
      [undefined, 413],
      ['secrets.8.secret', 422],
    ]);
  });

  it('takes 1 to 100 secrets, and anonymous callers too', async () => {
    const { app, batch } = await scene();
    const full = await batch(texts(100), {});
    expect(full.body.custid).toBe('anon');
    const keys = full.body.results.map(
      (each: { record: { secret: { key: string } } }) => each.record.secret.key,
    );
    expect(new Set(keys).size).toBe(100);
    for (const wrong of [[], texts(101), null, undefined, 'text', {}]) {
      const { status, body } = await batch(wrong);
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'secrets']);
    }
    expect((await app.call('/secret/batch', { method: 'POST' })).status).toBe(400);
    const json = { secrets: texts(1), colour: 'blue' };
    expect((await app.call('/secret/batch', { json })).body.details.ignored).toEqual(['colour']);
  });

  it('counts each of them against the limit of its caller (P21)', async () => {
    const anonymous = { limit: 60, windowSeconds: 3_600, burst: 5 };
    const create = { anonymous, account: anonymous };
    const { batch } = await scene({ rateLimits: { ...builtInRateLimits, create } });
    for (const headers of [undefined, {}]) {
      const { status, body } = await batch(texts(8), headers);
      const refused = body.results.filter((each: { success: boolean }) => !each.success);
      expect([status, refused.length]).toEqual([200, 3]);
      for (const each of refused) expect(each).toMatchObject({ error: 'rate_limited', status: 429 });
      expect(refused[0].retry_after).toBeGreaterThan(0);
      expect((await batch(texts(1), headers)).status).toBe(429);
    }
  });

  it('with an Idempotency-Key creates each once, and what was not created when it is sent again', async () => {
    // The first time each counts; then the request itself, and what is created.
    const rule = { limit: 60, windowSeconds: 3_600, burst: 8 + 1 + 3 };
    let stored = 0;
    const { app, authorization, batch } = await scene({
      rateLimits: { ...builtInRateLimits, create: { anonymous: rule, account: rule } },
      wrapStore: (store) => ({
        ...store,
        async put(record) {
          stored += 1;
          if (stored > 5 && stored <= 8) throw new ServiceError('unavailable', 'not confirmed');
          await store.put(record);
        },
      }),
    });
    const headers = { authorization, 'idempotency-key': 'all of them' };
    const send = async (secrets: unknown) => (await batch(secrets, headers)).body.results;
    const first = await send(texts(8));
    const second = await send(texts(8));
    const created = first.filter((each: { success: boolean }) => each.success);
    expect(created).toHaveLength(5);
    for (const [n, { success, record, details }] of second.entries()) {
      expect([success, details.repeated === true]).toEqual([true, first[n].success]);
      if (first[n].success) expect(record).toEqual(first[n].record);
    }
    const listed = await app.call('/private/recent', { headers: { authorization } });
    expect(listed.body.records).toHaveLength(8);
    expect((await batch(texts(8), headers)).status).toBe(429);
  });

  it('with an Idempotency-Key is refused when any of it is another', async () => {
    const { authorization, batch } = await scene();
    const headers = { authorization, 'idempotency-key': 'k' };
    await batch(texts(8), headers);
    const { body } = await batch([...texts(7), { secret: 'another' }], headers);
    for (const each of body.results)
      expect(each).toMatchObject({ error: 'idempotency_mismatch', status: 422 });
  });

  it('names the header where it is ignored', async () => {
    const { batch } = await scene();
    const { body } = await batch(texts(1), { 'idempotency-key': 'k' });
    expect(body.details.ignored).toEqual(['Idempotency-Key']);
  });

  it('tells of those that the store did not confirm, and gives the keys of the others (P5)', async () => {
    let stored = 0;
    const { batch } = await scene({
      wrapStore: (store) => ({
        ...store,
        async put(record) {
          stored += 1;
          if (stored === 3) throw new ServiceError('unavailable', 'not confirmed');
          await store.put(record);
        },
      }),
    });
    const { status, body } = await batch(texts(6));
    expect(status).toBe(200);
    const failed = body.results.filter((each: { success: boolean }) => !each.success);
    expect(failed).toEqual([expect.objectContaining({ error: 'unavailable', status: 503, retry_after: 2 })]);
  });

  it('creates nothing more for a client that has left (P3)', async () => {
    const leaving = new AbortController();
    let stored = 0;
    const { app, authorization } = await scene({
      wrapStore: (store) => ({
        ...store,
        async put(record) {
          stored += 1;
          leaving.abort();
          await store.put(record);
        },
      }),
    });
    await app.fetch('/api/v2/secret/batch', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ secrets: texts(50) }),
      signal: leaving.signal,
    });
    expect(stored).toBeLessThanOrEqual(4);
  });
});
