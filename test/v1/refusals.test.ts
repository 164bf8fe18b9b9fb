/** The refusals of v1: every row of the contract's table, in both dialects. */

import { describe, expect, it } from 'bun:test';
import type { DialectName } from '../../src/api/version.ts';
import { ServiceError, type ServiceErrorCode } from '../../src/core/errors.ts';
import { createV1Caller, type Json } from './caller.ts';
import { groups } from './refusal-cases.ts';
import { message, type Scene, saying, sceneOf } from './refusal-scene.ts';

for (const dialect of ['documented', 'upstream'] as const satisfies readonly DialectName[]) {
  for (const [group, cases] of Object.entries(groups)) {
    describe(`${group} in the ${dialect} dialect`, () => {
      for (const { title, body: usual, upstreamBody, call, ...statuses } of cases) {
        const body = (dialect === 'upstream' ? upstreamBody : undefined) ?? usual;
        const status = statuses[dialect];
        it(`${title} is answered ${status}`, async () => {
          const scene = await sceneOf({ dialect });
          const answer = await call(scene);
          expect(answer.status).toBe(status);
          if (status === 200) return;
          expect(answer.body).toEqual(typeof body === 'function' ? body(scene) : body);
          expect(answer.headers.get('www-authenticate') !== null).toBe(status === 401);
          expect(answer.headers.get('allow') !== null).toBe(status === 405);
          expect(scene.app.faults).toEqual([]);
          await expectNothingChanged(scene, title);
        });
      }
    });
  }
}

/** A refusal consumes nothing (P4): both secrets can still be read, unless the case itself ended them. */
async function expectNothingChanged(scene: Scene, title: string): Promise<void> {
  if (!/was read|was burned|has expired/.test(title)) {
    const reveal = (record: Json, form = {}) => scene.post(`/secret/${record.secret_key}`, form);
    expect((await reveal(scene.own, { passphrase: 'right' })).status).toBe(200);
    expect((await reveal(scene.anonymous)).status).toBe(200);
  }
  expect(scene.app.events.filter(({ event }) => event === 'concealed')).toHaveLength(2);
}

describe('who may manage', () => {
  it('in the documented dialect: any account that holds the key of a record made anonymously', async () => {
    const { get, post, alice, anonymous } = await sceneOf({});
    expect((await get(`/private/${anonymous.metadata_key}`, alice)).body).toEqual(anonymous);
    expect((await post(`/private/${anonymous.metadata_key}/burn`, {}, alice)).status).toBe(200);
  });
  it('in the documented dialect: the owner burns without the passphrase', async () => {
    const { post, alice, own } = await sceneOf({});
    expect((await post(`/private/${own.metadata_key}/burn`, {}, alice)).body.status).toBe('burned');
  });
  it('in the upstream dialect: any holder of the key, who sees the owner as custid', async () => {
    const { get, post, own } = await sceneOf({ dialect: 'upstream' });
    expect((await get(`/private/${own.metadata_key}`)).body).toMatchObject({
      custid: 'alice@example.com',
      state: 'new',
    });
    expect((await post(`/private/${own.metadata_key}/burn`, { passphrase: 'right' })).body.state.state).toBe(
      'burned',
    );
  });
});

for (const dialect of ['documented', 'upstream'] as const) {
  describe(`later, in the ${dialect} dialect`, () => {
    it('attempts used up is 429 with Retry-After, for reveal and for a burn that asks the passphrase', async () => {
      const scene = await sceneOf({ dialect });
      const path = `/secret/${scene.own.secret_key}`;
      for (let guess = 0; guess < 5; guess++) await scene.post(path, { passphrase: `wrong ${guess}` });
      const refused = await scene.post(path, { passphrase: 'right' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600']);
      expect(refused.body).toEqual(saying(/Too many wrong passphrases .* in 600 seconds\.$/));
      const form = { passphrase: 'right' };
      const burn = await scene.post(`/private/${scene.own.metadata_key}/burn`, form, scene.alice);
      expect(burn.status).toBe(dialect === 'upstream' ? 429 : 200);
    });

    it('a missing passphrase is no attempt (P14)', async () => {
      const scene = await sceneOf({ dialect });
      const path = `/secret/${scene.own.secret_key}`;
      for (let guess = 0; guess < 10; guess++) expect((await scene.post(path)).status).toBe(404);
      expect((await scene.post(path, { passphrase: 'right' })).status).toBe(200);
    });

    it('over the rate limit 429 with Retry-After and the RateLimit headers', async () => {
      const rule = { limit: 1, windowSeconds: 3_600, burst: 1 };
      const both = { anonymous: rule, account: rule };
      const rateLimits = { create: both, manage: both, logIn: both, signUp: both, mail: both, mailbox: both };
      const { post, get } = createV1Caller({ dialect, rateLimits });
      expect((await post('/share', { secret: 'a' })).status).toBe(200);
      const { status, body, headers } = await post('/share', { secret: 'a' });
      expect([status, headers.get('retry-after')]).toEqual([429, '3600']);
      expect(body).toEqual(saying(/^Too many requests .* in 3600 seconds\.$/));
      expect(headers.get('ratelimit')).toContain('t=3600');
      expect(headers.get('ratelimit-policy')).toContain('w=3600');
      expect((await get('/status')).status).toBe(200);
    });

    const faults: [code: ServiceErrorCode, status: number, message: RegExp][] = [
      ['unavailable', 503, /cannot confirm .* try again in 3 seconds\.$/],
      ['busy', 503, /cannot confirm .* try again in 3 seconds\.$/],
      ['storage_full', 503, /no room .* try again in 3 seconds\.$/],
      ['damaged', 500, /^An unexpected error occurred$/],
    ];
    for (const [code, status, pattern] of faults) {
      it(`a store that says ${code} is answered ${status}`, async () => {
        const put = () =>
          Promise.reject(new ServiceError(code, 'canary of the store', { retryAfterSeconds: 3 }));
        const { post } = createV1Caller({ dialect, wrapStore: (store) => ({ ...store, put }) });
        const answer = await post('/share', { secret: 'a' });
        expect(answer.status).toBe(status);
        expect(answer.headers.get('retry-after')).toBe(status === 503 ? '3' : null);
        expect(answer.body.message).toMatch(pattern);
        expect(answer.text).not.toContain('canary');
      });
    }

    it('anything unforeseen is 500 with the request id and no detail (P18)', async () => {
      const put = () => Promise.reject(new TypeError('canary'));
      const { app, post } = createV1Caller({ dialect, wrapStore: (store) => ({ ...store, put }) });
      const { status, body, headers } = await post('/share', { secret: 'a' });
      expect([status, body]).toEqual([
        500,
        { message: 'An unexpected error occurred', request_id: headers.get('x-request-id') },
      ]);
      expect(app.faults).toHaveLength(1);
    });

    it('where only accounts create, anonymous callers are told so and still read', async () => {
      const { app, post, share } = createV1Caller({ dialect, anonymousMayCreate: false });
      const refused = await post('/share', { secret: 'a' });
      expect(refused.status).toBe(dialect === 'upstream' ? 404 : 401);
      expect(refused.body).toEqual(message('An account is required to create secrets.'));
      const made = await share({}, await app.account());
      expect((await post(`/secret/${made.secret_key}`)).status).toBe(200);
    });
  });
}
