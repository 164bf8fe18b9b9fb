/**
 * API v2, managing: the creator's record, burning, and who may do so.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInPlans } from '../../src/core/plans.ts';
import type { TestAccount } from '../support/app.ts';
import { as, concealer } from './concealing.ts';
import { createDocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com');
const bob = await app.account('bob@example.com');

const conceal = concealer(app, as(alice));
const read = (key: string) => app.call(`/secret/${key}/reveal`, { method: 'POST' });
const unknownKey = '0'.repeat(31);

describe('GET /private/:key and GET /receipt/:key', () => {
  it('answer the same record, as often as asked, and change nothing (P4)', async () => {
    const { key, metadataKey } = await conceal({ recipient: 'joe@example.org' });
    await app.service.settled();
    const looks = [`/private/${metadataKey}`, `/receipt/${metadataKey}`, `/private/${metadataKey}`];
    for (const path of looks) {
      const { status, body } = await app.call(path, { headers: as(alice) });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        success: true,
        custid: 'alice@example.com',
        record: {
          key: metadataKey,
          state: 'new',
          secret_state: 'new',
          secret_key: key,
          secret_identifier: key,
          share_path: `secret/${key}`,
          recipients: 'jo*****@e*****.org',
          show_recipients: true,
          viewed: null,
          delivery: { state: 'accepted', at: app.clock.now() },
        },
        details: {
          type: 'record',
          no_cache: true,
          secret_realttl: 604_800,
          maxviews: 1,
          has_maxviews: true,
          view_count: null,
          can_decrypt: true,
          secret_value: null,
          show_secret: false,
          show_secret_link: false,
          show_metadata_link: true,
          show_metadata: true,
          show_recipients: true,
        },
      });
    }
    expect((await read(key)).body.record.secret_value).toBe('hello');
  });

  it('tell that and when the secret was received, and forget its key (P6)', async () => {
    const { key, metadataKey } = await conceal();
    app.clock.advance(10);
    await read(key);
    const { body } = await app.call(`/private/${metadataKey}`, { headers: as(alice) });
    const now = app.clock.now();
    expect(body).toMatchObject({
      record: {
        state: 'received',
        received: now,
        revealed: now,
        burned: null,
        is_received: true,
        is_destroyed: true,
        secret_key: null,
        secret_identifier: null,
        secret_shortkey: key.slice(0, 6),
        secret_ttl: 0,
        secret_state: null,
        share_path: '',
        share_url: '',
        share_domain: '',
        recipients: '',
        show_recipients: false,
        updated: now,
      },
      details: { secret_realttl: null, maxviews: null, has_maxviews: false, can_decrypt: false },
    });
    expect(JSON.stringify(body)).not.toContain(key);
  });

  it('keep the shortkey of a secret that was made without an account, however it went', async () => {
    const [read, burned, expired] = [
      await conceal({}, {}),
      await conceal({}, {}),
      await conceal({ ttl: 60 }, {}),
    ];
    await app.call(`/secret/${read.key}/reveal`, { method: 'POST' });
    await app.call(`/private/${burned.metadataKey}/burn`, { method: 'POST', headers: as(alice) });
    app.clock.advance(60);
    for (const { key, metadataKey } of [read, burned, expired]) {
      const { body } = await app.call(`/private/${metadataKey}`, { headers: as(alice) });
      expect([body.record.secret_key, body.record.secret_shortkey]).toEqual([null, key.slice(0, 6)]);
      expect(body.record.secret_shortid).toBe(key.slice(0, 6));
    }
  });

  it('tell that the secret has expired, and are gone after twice its lifetime', async () => {
    const { metadataKey } = await conceal({ ttl: 60 });
    app.clock.advance(60);
    const { body } = await app.call(`/private/${metadataKey}`, { headers: as(alice) });
    expect(body.record).toMatchObject({
      state: 'expired',
      is_expired: true,
      is_destroyed: true,
      metadata_ttl: 60,
    });
    app.clock.advance(60);
    expect((await app.call(`/private/${metadataKey}`, { headers: as(alice) })).status).toBe(404);
  });

  it("answer another account's key exactly as an unknown one (P16)", async () => {
    const { metadataKey } = await conceal();
    for (const path of [`/private/${metadataKey}`, `/receipt/${metadataKey}`]) {
      const { status, body } = await app.call(path, { headers: as(bob) });
      expect(status).toBe(404);
      expect(body).toEqual({
        success: false,
        error: 'unknown_secret',
        message: 'Unknown secret',
        metadata_key: metadataKey,
      });
    }
    const unknown = await app.call(`/private/${unknownKey}`, { headers: as(bob) });
    expect(unknown.body).toMatchObject({ error: 'unknown_secret', metadata_key: unknownKey });
  });

  it('show an anonymous record to any account that holds its key, and to nobody without one (P16)', async () => {
    const { metadataKey } = await conceal({}, {});
    const { body } = await app.call(`/private/${metadataKey}`, { headers: as(bob) });
    expect(body).toMatchObject({ custid: 'bob@example.com', record: { custid: 'anon' } });
    const { status, body: refused, headers } = await app.call(`/private/${metadataKey}`);
    expect([status, refused.error]).toEqual([401, 'not_authorized']);
    expect(headers.get('www-authenticate')).toStartWith('Basic ');
  });

  it('do not take a secret key for a metadata key (P13)', async () => {
    const { key } = await conceal();
    expect((await app.call(`/private/${key}`, { headers: as(alice) })).status).toBe(404);
  });
});

describe('POST /private/:key/burn and POST /receipt/:key/burn', () => {
  for (const name of ['private', 'receipt']) {
    for (const json of [
      undefined,
      {},
      { continue: true },
      { continue: 'true' },
      { continue: null, passphrase: 'x' },
    ]) {
      it(`${name}: burns with the body ${JSON.stringify(json)} and answers the record as it now is (P7)`, async () => {
        const { key, metadataKey } = await conceal({ passphrase: 'pw' });
        const path = `/${name}/${metadataKey}/burn`;
        const { status, body } = await app.call(path, { method: 'POST', json, headers: as(alice) });
        expect(status).toBe(200);
        expect(body).toMatchObject({
          success: true,
          record: {
            state: 'burned',
            is_burned: true,
            burned: app.clock.now(),
            secret_key: null,
            is_destroyed: true,
          },
          details: { type: 'record', title: 'Secret burned', has_maxviews: false },
        });
        expect((await read(key)).status).toBe(404);
        const again = await app.call(path, { method: 'POST', headers: as(alice) });
        expect(again.status).toBe(409);
        expect(again.body).toMatchObject({
          success: false,
          error: 'already_gone',
          record: { state: 'burned' },
        });
      });
    }
  }

  it('only check with continue false (P4)', async () => {
    const { key, metadataKey } = await conceal();
    for (const check of [false, 'false']) {
      const path = `/private/${metadataKey}/burn`;
      const { status, body } = await app.call(path, { json: { continue: check }, headers: as(alice) });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        record: { state: 'new', secret_key: key },
        details: { title: 'Secret not burned' },
      });
    }
    await read(key);
    const gone = await app.call(`/private/${metadataKey}/burn`, {
      json: { continue: false },
      headers: as(alice),
    });
    expect([gone.status, gone.body.record.state]).toEqual([409, 'received']);
  });

  it('answer 409 with the truth after a read and after expiry (P6, P7)', async () => {
    const [gone, late] = [await conceal(), await conceal({ ttl: 60 })];
    await read(gone.key);
    app.clock.advance(60);
    for (const [{ metadataKey }, state] of [
      [gone, 'received'],
      [late, 'expired'],
    ] as const) {
      const { status, body } = await app.call(`/private/${metadataKey}/burn`, {
        method: 'POST',
        headers: as(alice),
      });
      expect([status, body.error, body.record.state, body.record.burned]).toEqual([
        409,
        'already_gone',
        state,
        null,
      ]);
    }
  });

  it('answer 404 to another account, an unknown key and a secret key, and 401 without an account, burning nothing (P16)', async () => {
    const { key, metadataKey } = await conceal();
    const others: readonly [string, Record<string, string>, number][] = [
      [metadataKey, as(bob), 404],
      [unknownKey, as(alice), 404],
      [key, as(alice), 404],
      [metadataKey, {}, 401],
      [metadataKey, { authorization: `Basic ${btoa('alice@example.com:wrong')}` }, 401],
      [metadataKey, { authorization: `Bearer ${alice.token}` }, 401],
    ];
    for (const [given, headers, expected] of others) {
      const { status } = await app.call(`/private/${given}/burn`, { method: 'POST', headers });
      expect(status).toBe(expected);
    }
    expect((await read(key)).status).toBe(200);
  });

  it('refuse a wrong body and burn nothing (P4)', async () => {
    const { key, metadataKey } = await conceal();
    const path = `/private/${metadataKey}/burn`;
    const headers = as(alice);
    expect((await app.call(path, { json: { continue: 'yes' }, headers })).status).toBe(422);
    expect((await app.call(path, { json: [], headers })).status).toBe(422);
    expect((await app.call(path, { raw: '{', headers })).status).toBe(400);
    expect((await app.call(path, { raw: 'continue=true', contentType: 'text/plain', headers })).status).toBe(
      415,
    );
    expect((await read(key)).status).toBe(200);
  });
});

describe('GET /authcheck', () => {
  it('answers the account', async () => {
    const { body } = await app.call('/authcheck', { headers: as(alice) });
    expect(body).toMatchObject({
      success: true,
      custid: 'alice@example.com',
      record: { custid: 'alice@example.com', role: 'customer', plan: { planid: 'basic' } },
      details: { authenticated: true },
    });
  });

  it('tells the limits of the plan', async () => {
    const limits = { maxValueBytes: 7_777, maxSealedBytes: 5_555, ttlMaxSeconds: 3_600 };
    const plans = { identity: { ...builtInPlans.identity, ...limits } };
    const other = createDocumentedApp({ plans });
    const [basic, identity] = [
      await other.account('b@example.com'),
      await other.account('i@example.com', 'identity'),
    ];
    const optionsOf = async (account: TestAccount) =>
      (await other.call('/authcheck', { headers: as(account) })).body.record.plan.options;
    const { basic: plan } = builtInPlans;
    const common = { api: true, email: true };
    expect(await optionsOf(basic)).toEqual({
      ...common,
      ttl: plan.ttlMaxSeconds,
      size: plan.maxValueBytes,
      max_sealed_bytes: plan.maxSealedBytes,
      custom_domains: false,
    });
    expect(await optionsOf(identity)).toEqual({
      ...common,
      ttl: 3_600,
      size: 7_777,
      max_sealed_bytes: 5_555,
      custom_domains: true,
    });
  });

  it('answers an unknown user and a wrong token alike (P17)', async () => {
    const wrong = [
      `alice@example.com:${bob.token}`,
      `nobody@example.com:${alice.token}`,
      'alice@example.com:',
      ':',
    ];
    for (const pair of wrong) {
      const { status, body } = await app.call('/authcheck', {
        headers: { authorization: `Basic ${btoa(pair)}` },
      });
      expect(status).toBe(401);
      expect(body).toEqual({ success: false, error: 'not_authorized', message: 'Not authorized' });
    }
  });
});
