/**
 * API v2, the paths of newer clients: `/guest/…`, and the state of several secrets in one call.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../../src/core/errors.ts';
import { createDocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com');
const unknownKey = '0'.repeat(31);

describe('the guest paths', () => {
  const credentials: readonly [string, Record<string, string>][] = [
    ['no credentials', {}],
    ['right ones', { authorization: alice.authorization }],
    ['wrong ones', { authorization: 'Basic bm9ib2R5Onh4' }],
    ['what are none', { authorization: 'nonsense' }],
  ];
  for (const [what, headers] of credentials) {
    it(`with ${what} create, look and reveal as anonymous`, async () => {
      const json = { secret: { secret: 'hello', passphrase: 'pw' } };
      const made = await app.call('/guest/secret/conceal', { json, headers });
      expect([made.status, made.body.custid, made.body.record.metadata.custid]).toEqual([
        200,
        'anon',
        'anon',
      ]);
      expect(made.body.record.receipt).toEqual(made.body.record.metadata);
      const { key } = made.body.record.secret;
      const looked = await app.call(`/guest/secret/${key}?passphrase=pw`, { headers });
      expect([looked.status, looked.body.details.is_owner]).toEqual([200, false]);
      const read = await app.call(`/guest/secret/${key}/reveal`, { json: { passphrase: 'pw' }, headers });
      expect(read.body.record.secret_value).toBe('hello');
      expect((await app.call(`/guest/secret/${key}`, { headers })).status).toBe(404);
      const generated = await app.call('/guest/secret/generate', { method: 'POST', headers });
      expect([generated.status, generated.body.custid]).toEqual([200, 'anon']);
    });
  }

  it('ask for an account where a recipient is named, whatever credentials came along', async () => {
    const json = { secret: { secret: 'x', recipient: 'joe@example.org' } };
    const headers = { authorization: alice.authorization };
    const { status, body } = await app.call('/guest/secret/conceal', { json, headers });
    expect([status, body.error]).toEqual([401, 'account_required']);
  });

  it('lead to a receipt only whom the dialect lets manage it (P16)', async () => {
    const headers = { authorization: alice.authorization };
    for (const v2Dialect of ['documented', 'upstream'] as const) {
      const own = createDocumentedApp({ v2Dialect });
      const made = await own.call('/guest/secret/conceal', { json: { secret: 'x' } });
      const path = `/guest/receipt/${made.body.record.receipt.key}`;
      const isUpstream = v2Dialect === 'upstream';
      expect((await own.call(path, { headers })).status).toBe(401);
      expect((await own.call(path)).status).toBe(isUpstream ? 200 : 401);
      const { status, body } = await own.call(`${path}/burn`, { json: { continue: true } });
      expect([status, body.record?.state]).toEqual(isUpstream ? [200, 'burned'] : [401, undefined]);
    }
    expect((await app.call(`/guest/receipt/${unknownKey}`, { headers })).status).toBe(404);
  });
});

describe('POST /secret/status', () => {
  const conceal = async (fields: object = {}) =>
    (await app.call('/secret/conceal', { json: { secret: { secret: 'x', ...fields } } })).body.record.secret
      .key as string;
  const ask = (identifiers: unknown) => app.call('/secret/status', { json: { identifiers } });
  const unknown = (key: string) => ({ identifier: key, key, state: 'unknown' });

  it('answers for each in the order asked: waiting as its own status, all else unknown (P17)', async () => {
    const [open, guarded, read] = [await conceal(), await conceal({ passphrase: 'pw' }), await conceal()];
    await app.call(`/secret/${read}/reveal`, { method: 'POST' });
    const own = async (key: string) => (await app.call(`/secret/${key}/status`)).body.record;
    const { status, body } = await ask([guarded, unknownKey, read, open, 'nonsense', guarded].join(','));
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      records: [
        await own(guarded),
        unknown(unknownKey),
        unknown(read),
        await own(open),
        unknown('nonsense'),
        await own(guarded),
      ],
    });
    expect((await app.call(`/secret/${open}/reveal`, { method: 'POST' })).status).toBe(200);
  });

  it('takes a key only as it is spelt, and gives it back as it came', async () => {
    const key = await conceal();
    const asked = [key.toUpperCase(), ` ${key}`, '', `${key}=`];
    const { body } = await ask(asked.join(','));
    expect(body.records).toEqual(asked.map(unknown));
  });

  it('takes a hundred and refuses one more', async () => {
    const { status, body } = await ask(Array(100).fill(unknownKey).join(','));
    expect([status, body.records.length]).toEqual([200, 100]);
    const more = await ask(Array(101).fill(unknownKey).join(','));
    expect([more.status, more.body.error, more.body.field]).toEqual([422, 'invalid_field', 'identifiers']);
  });

  it('asks the store once for a key, however often it stands there', async () => {
    let asked = 0;
    const counting = createDocumentedApp({
      wrapStore: (store) => ({
        ...store,
        findSecret: (id) => {
          asked += 1;
          return store.findSecret(id);
        },
      }),
    });
    const identifiers = Array.from({ length: 100 }, (_, index) => String(index % 2).repeat(31)).join(',');
    await counting.call('/secret/status', { json: { identifiers } });
    expect(asked).toBe(2);
  });

  for (const json of [
    {},
    { identifiers: '' },
    { identifiers: null },
    { identifiers: 5 },
    { identifiers: [] },
  ]) {
    it(`refuses ${JSON.stringify(json)} with 422`, async () => {
      const { status, body } = await app.call('/secret/status', { json });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'identifiers']);
    });
  }

  it('refuses no body with 400, and wrong credentials with 401', async () => {
    expect((await app.call('/secret/status', { method: 'POST' })).status).toBe(400);
    const headers = { authorization: 'Basic eDp5' };
    expect((await app.call('/secret/status', { json: { identifiers: unknownKey }, headers })).status).toBe(
      401,
    );
  });

  it('is not answered in part when the store does not answer', async () => {
    const broken = createDocumentedApp({
      wrapStore: (store) => ({
        ...store,
        findSecret: () => Promise.reject(new ServiceError('unavailable', 'down')),
      }),
    });
    const call = { json: { identifiers: unknownKey }, faultExpected: true };
    expect((await broken.call('/secret/status', call)).status).toBe(503);
  });
});
