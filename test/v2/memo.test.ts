/**
 * API v2, the memo: a label that only the creator sees, set at creation or later.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { createDocumentedApp } from './documented-app.ts';

type Json = Record<string, unknown>;

async function scene() {
  const app = createDocumentedApp();
  const [alice, bob] = [await app.account('alice@example.com'), await app.account('bob@example.com')];
  const headers = { authorization: alice.authorization };
  const others = { authorization: bob.authorization };
  const conceal = async (fields: Json, who: Record<string, string> = headers) =>
    app.call('/secret/conceal', { json: { secret: { secret: 'x', ...fields } }, headers: who });
  async function made(fields: Json = {}, who: Record<string, string> = headers) {
    const { metadata, secret } = (await conceal(fields, who)).body.record;
    return { key: secret.key as string, metadataKey: metadata.key as string };
  }
  const change = (
    metadataKey: string,
    json: unknown,
    who: Record<string, string> = headers,
    of = 'receipt',
  ) => app.call(`/${of}/${metadataKey}`, { method: 'PATCH', json, headers: who });
  const told = async (metadataKey: string) =>
    (await app.call(`/private/${metadataKey}`, { headers })).body.record;
  return { app, headers, others, conceal, made, change, told };
}

const unknownKey = '0'.repeat(31);

describe('a memo at creation', () => {
  it('stands in every record of the creator: creation, receipt, list and burn', async () => {
    const { app, headers, conceal, told } = await scene();
    const { record } = (await conceal({ memo: 'VPN for Al' })).body;
    expect([record.metadata.memo, record.receipt.memo]).toEqual(['VPN for Al', 'VPN for Al']);
    const { key } = record.metadata;
    expect((await told(key)).memo).toBe('VPN for Al');
    const { body } = await app.call('/private/recent', { headers });
    expect([body.records[0].memo, body.details.notreceived[0].memo]).toEqual(['VPN for Al', 'VPN for Al']);
    const burned = await app.call(`/private/${key}/burn`, { method: 'POST', headers });
    expect(burned.body.record).toMatchObject({ state: 'burned', memo: 'VPN for Al' });
    const again = await app.call(`/private/${key}/burn`, { method: 'POST', headers });
    expect([again.status, again.body.record.memo]).toEqual([409, 'VPN for Al']);
  });

  it('is taken nested and flat, by generate too, and without an account', async () => {
    const { app, headers, conceal } = await scene();
    const bodies: readonly [string, Json][] = [
      ['/secret/conceal', { secret: 'x', memo: 'flat' }],
      ['/secret/generate', { memo: 'flat' }],
      ['/secret/generate', { secret: { memo: 'flat' } }],
    ];
    for (const [path, json] of bodies)
      expect((await app.call(path, { json, headers })).body.record.metadata.memo).toBe('flat');
    expect((await conceal({ memo: 'mine' }, {})).body.record.metadata.memo).toBe('mine');
  });

  it('is empty when none was given', async () => {
    const { conceal } = await scene();
    for (const fields of [{}, { memo: null }, { memo: '' }])
      expect((await conceal(fields)).body.record.metadata.memo).toBe('');
  });

  it('is refused by name when it is too long or no text, and nothing is stored', async () => {
    const { app, conceal, headers } = await scene();
    const before = app.events.length;
    for (const memo of ['x'.repeat(501), '🔑'.repeat(501), 'lone \ud800', 7, ['x'], {}, true]) {
      const { status, body } = await conceal({ memo });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'secret.memo']);
    }
    const flat = await app.call('/secret/generate', { json: { memo: 'x'.repeat(501) }, headers });
    expect([flat.status, flat.body.field]).toEqual([422, 'memo']);
    expect(flat.body.message).toContain('500 characters');
    expect(app.events).toHaveLength(before);
    expect((await conceal({ memo: '🔑'.repeat(500) })).status).toBe(200);
  });
});

describe('PATCH /receipt/:key and PATCH /private/:key', () => {
  it('set the memo, and answer the record as GET does', async () => {
    const { app, headers, made, change } = await scene();
    const { metadataKey } = await made();
    for (const [of, memo] of [
      ['receipt', 'first'],
      ['private', ' second \n'],
      ['receipt', '🔑'.repeat(500)],
    ] as const) {
      const { status, body } = await change(metadataKey, { memo }, headers, of);
      expect([status, body.record.memo]).toEqual([200, memo]);
      expect((await app.call(`/private/${metadataKey}`, { headers })).body).toEqual(body);
      expect((await app.call('/private/recent', { headers })).body.records[0].memo).toBe(memo);
    }
  });

  it('remove it with an empty text or null, and leave it without the field', async () => {
    const { made, change, told } = await scene();
    for (const memo of ['', null]) {
      const { metadataKey } = await made({ memo: 'first' });
      expect((await change(metadataKey, {})).body.record.memo).toBe('first');
      expect((await change(metadataKey, { memo })).body.record.memo).toBe('');
      expect((await told(metadataKey)).memo).toBe('');
    }
  });

  it('work once the secret is read, burned or expired, and are 404 once the record is gone', async () => {
    const { app, headers, made, change, told } = await scene();
    const [read, burned, expired] = [
      await made({ memo: 'first', ttl: 60 }),
      await made({ memo: 'first', ttl: 60 }),
      await made({ memo: 'first', ttl: 60 }),
    ];
    await app.call(`/secret/${read.key}/reveal`, { method: 'POST' });
    await app.call(`/private/${burned.metadataKey}/burn`, { method: 'POST', headers });
    app.clock.advance(60);
    for (const [{ metadataKey }, state] of [
      [read, 'received'],
      [burned, 'burned'],
      [expired, 'expired'],
    ] as const) {
      expect(await told(metadataKey)).toMatchObject({ state, memo: 'first' });
      expect((await change(metadataKey, { memo: 'second' })).body.record).toMatchObject({
        state,
        memo: 'second',
      });
    }
    app.clock.advance(60);
    expect((await change(read.metadataKey, { memo: 'third' })).status).toBe(404);
  });

  it('change nothing else: the state stays, and the secret can still be read', async () => {
    const { app, made, change, told } = await scene();
    const { key, metadataKey } = await made({ memo: 'first' });
    const before = await told(metadataKey);
    await change(metadataKey, { memo: 'second' });
    expect(await told(metadataKey)).toEqual({ ...before, memo: 'second' });
    expect((await app.call(`/secret/${key}/reveal`, { method: 'POST' })).body.record.secret_value).toBe('x');
  });

  it("answer another account's key exactly as an unknown one, and change nothing (P16)", async () => {
    const { made, change, others, told } = await scene();
    const { metadataKey } = await made({ memo: 'mine' });
    const foreign = await change(metadataKey, { memo: 'taken' }, others);
    const unknown = await change(unknownKey, { memo: 'taken' }, others);
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual({ ...unknown.body, metadata_key: metadataKey });
    expect((await change(metadataKey, { memo: 'taken' }, {})).status).toBe(401);
    expect((await told(metadataKey)).memo).toBe('mine');
  });

  it('are open to any account that holds the key of a record made without one', async () => {
    const { made, change, others } = await scene();
    const { metadataKey } = await made({ memo: 'first' }, {});
    expect((await change(metadataKey, { memo: 'second' }, others)).body.record.memo).toBe('second');
  });

  it('refuse what is too long or no text by name, and the memo stays', async () => {
    const { app, headers, made, change, told } = await scene();
    const { metadataKey } = await made({ memo: 'first' });
    for (const memo of ['x'.repeat(501), 'lone \udfff', 7, ['x'], {}]) {
      const { status, body } = await change(metadataKey, { memo });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'memo']);
    }
    const path = `/receipt/${metadataKey}`;
    const form = {
      method: 'PATCH',
      raw: 'memo=x',
      contentType: 'application/x-www-form-urlencoded',
      headers,
    };
    expect((await app.call(path, form)).status).toBe(415);
    expect((await app.call(path, { ...form, raw: '{"memo":', contentType: 'application/json' })).status).toBe(
      400,
    );
    expect((await told(metadataKey)).memo).toBe('first');
  });

  it('are refused to a page of another site, and the memo stays', async () => {
    const { app, headers, made, told } = await scene();
    const { metadataKey } = await made({ memo: 'first' });
    const evil = { ...headers, 'sec-fetch-site': 'cross-site' };
    const json = { memo: 'taken' };
    const refused = await app.call(`/receipt/${metadataKey}`, { method: 'PATCH', json, headers: evil });
    expect([refused.status, refused.body.error]).toEqual([403, 'cross_site']);
    expect((await told(metadataKey)).memo).toBe('first');
  });

  it('are named by Allow where they are, and only there', async () => {
    const { app } = await scene();
    for (const of of ['private', 'receipt']) {
      const options = await app.call(`/${of}/${unknownKey}`, { method: 'OPTIONS' });
      expect(options.headers.get('allow')).toBe('GET, HEAD, PATCH, OPTIONS');
    }
    const { status, headers } = await app.call('/receipt/recent', { method: 'PATCH', json: {} });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('what the memo is not in', () => {
  it('any answer about the secret itself, and version 1', async () => {
    const { app, headers, made } = await scene();
    const { key, metadataKey } = await made({ memo: 'canary' });
    const answers = [
      await app.call(`/secret/${key}`),
      await app.call(`/secret/${key}`, { headers }),
      await app.call(`/secret/${key}/status`, { headers }),
      await app.call(`/secret/${key}/reveal`, { json: { continue: false }, headers }),
    ].map(({ status, body }) => [status, JSON.stringify(body)] as const);
    for (const path of [`/private/${metadataKey}`, '/private/recent', `/private/${metadataKey}/burn`]) {
      const method = path.endsWith('burn') ? 'POST' : 'GET';
      const answer = await app.fetch(`/api/v1${path}`, { method, headers });
      answers.push([answer.status, await answer.text()]);
    }
    const other = await made({ memo: 'canary' });
    const read = await app.call(`/secret/${other.key}/reveal`, { method: 'POST', headers });
    answers.push([read.status, JSON.stringify(read.body)]);
    for (const [status, text] of answers) {
      expect(status).toBe(200);
      expect(text).not.toContain('canary');
      expect(text).not.toContain('memo');
    }
  });

  it('what version 1 takes: it is ignored there as any other unknown parameter', async () => {
    const { app, headers, told } = await scene();
    const form = new URLSearchParams({ secret: 'x', memo: 'canary' });
    const answer = await app.fetch('/api/v1/share', { method: 'POST', body: form, headers });
    const record = await answer.json();
    expect((await told(record.metadata_key)).memo).toBe('');
  });
});
