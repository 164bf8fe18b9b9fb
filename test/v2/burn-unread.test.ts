/**
 * API v2, a burn by the link: it takes what a reveal takes, answers nothing of the secret, and its creator sees who it was.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { clientSecret } from '../support/sealed-wire.ts';
import { as } from './concealing.ts';
import { createDocumentedApp, type DocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com');

async function conceal(fields: Record<string, unknown> = { secret: 'hello' }, from: DocumentedApp = app) {
  const owner = from === app ? { headers: as(alice) } : {};
  const { body } = await from.call('/secret/conceal', { json: { secret: fields }, ...owner });
  return { key: body.record.secret.key as string, metadataKey: body.record.metadata.key as string };
}

const burn = (key: string, json: unknown = {}, from: DocumentedApp = app) =>
  from.call(`/secret/${key}/burn`, { json });
const reveal = (key: string, json: unknown = {}, from: DocumentedApp = app) =>
  from.call(`/secret/${key}/reveal`, { json });
const receipt = async (metadataKey: string) =>
  (await app.call(`/private/${metadataKey}`, { headers: as(alice) })).body.record;

const unknown = (key: string) => ({
  success: false,
  error: 'unknown_secret',
  message: 'Unknown secret',
  secret_key: key,
});

describe('POST /secret/:key/burn', () => {
  it('burns for whoever has the link, with or without a body, and says nothing else of the secret', async () => {
    for (const asked of [{ json: {} }, { json: { continue: true } }, { method: 'POST' }]) {
      const { key } = await conceal();
      const { status, body } = await app.call(`/secret/${key}/burn`, asked);
      expect(status).toBe(200);
      expect(body).toEqual({
        success: true,
        custid: 'anon',
        record: { identifier: key, key, state: 'burned' },
        details: {},
      });
      expect((await reveal(key)).body).toEqual(unknown(key));
    }
  });

  it('is told apart in the creator’s record, in the list too (P6)', async () => {
    const [one, two, three] = [await conceal(), await conceal(), await conceal()];
    expect(await receipt(one.metadataKey)).toMatchObject({ burned: null, burned_by: '' });
    app.clock.advance(10);
    await burn(one.key);
    await app.call(`/private/${two.metadataKey}/burn`, { method: 'POST', headers: as(alice) });
    await reveal(three.key);
    const now = app.clock.now();
    const ended = { state: 'burned', is_burned: true, burned: now, received: null, secret_key: null };
    expect(await receipt(one.metadataKey)).toMatchObject({ ...ended, burned_by: 'recipient' });
    expect(await receipt(two.metadataKey)).toMatchObject({ ...ended, burned_by: 'creator' });
    expect(await receipt(three.metadataKey)).toMatchObject({ state: 'received', burned_by: '' });
    const recent = await app.call('/private/recent?limit=3', { headers: as(alice) });
    const told = recent.body.records.map((each: { burned_by: string }) => each.burned_by);
    expect(told).toEqual(['', 'creator', 'recipient']);
    const again = await app.call(`/private/${one.metadataKey}/burn`, { method: 'POST', headers: as(alice) });
    expect([again.status, again.body.error, again.body.record.burned_by]).toEqual([
      409,
      'already_gone',
      'recipient',
    ]);
  });

  it('takes the passphrase, and counts a wrong one with those of reveals (P14, P16)', async () => {
    const { key, metadataKey } = await conceal({ secret: 'hello', passphrase: 'right' });
    for (const json of [{}, { passphrase: '' }, { passphrase: null }, { passphrase: 'wrong' }]) {
      const { status, body } = await burn(key, json);
      expect([status, body.error]).toEqual([422, 'incorrect_passphrase']);
    }
    expect((await burn(key, { passphrase: 'right', continue: false })).status).toBe(200);
    for (let n = 0; n < 2; n += 1) await reveal(key, { passphrase: 'wrong' });
    for (let n = 0; n < 2; n += 1) await burn(key, { passphrase: 'wrong' });
    const locked = await burn(key, { passphrase: 'right' });
    expect([locked.status, locked.body.error]).toEqual([429, 'too_many_attempts']);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await receipt(metadataKey)).state).toBe('new');
    app.clock.advance(600);
    expect((await burn(key, { passphrase: 'right' })).status).toBe(200);
  });

  it('takes both proofs of an end-to-end secret, and nothing beside them', async () => {
    for (const hasPassphrase of [false, true]) {
      const sealed = clientSecret({ hasPassphrase });
      const { link_proof, proof } = sealed.body;
      const { key, metadataKey } = await conceal({ sealed: sealed.wire });
      for (const json of [{}, { link_proof: proof, proof }])
        expect((await burn(key, json)).body.error).toBe('incomplete_link');
      const wrong = await burn(key, { link_proof, proof: link_proof });
      expect(wrong.body.error).toBe(hasPassphrase ? 'incorrect_passphrase' : 'incomplete_link');
      for (const json of [{ proof }, { link_proof }, { ...sealed.body, passphrase: 'p' }])
        expect(await burn(key, json)).toMatchObject({ status: 422, body: { error: 'invalid_field' } });
      expect((await receipt(metadataKey)).state).toBe('new');
      expect((await burn(key, sealed.body)).status).toBe(200);
      expect(await receipt(metadataKey)).toMatchObject({ state: 'burned', burned_by: 'recipient' });
    }
    const plain = await conceal();
    expect((await burn(plain.key, clientSecret().body)).body.error).toBe('not_sealed');
    expect((await reveal(plain.key)).status).toBe(200);
  });

  it('answers what is read, burned, expired or unknown alike, and changes none of it (P17)', async () => {
    const [read, burned, expired] = [
      await conceal(),
      await conceal(),
      await conceal({ secret: 'x', ttl: 60 }),
    ];
    await reveal(read.key);
    await burn(burned.key);
    app.clock.advance(60);
    const answers = [];
    for (const key of [read.key, burned.key, expired.key, '0'.repeat(31), 'no-key', read.metadataKey]) {
      const { status, body, headers } = await burn(key);
      expect([status, body]).toEqual([404, unknown(key)]);
      answers.push([...headers.keys()].sort().join());
    }
    expect(new Set(answers).size).toBe(1);
    expect((await receipt(read.metadataKey)).state).toBe('received');
    expect((await receipt(expired.metadataKey)).state).toBe('expired');
  });

  it('with continue false only checks, and answers as a look does (P4)', async () => {
    const { key, metadataKey } = await conceal();
    const checked = await burn(key, { continue: false });
    expect(checked.body).toEqual((await app.call(`/secret/${key}`)).body);
    expect((await receipt(metadataKey)).state).toBe('new');
    expect((await burn(key)).status).toBe(200);
    expect((await burn(key, { continue: false })).body).toEqual(unknown(key));
  });

  it('names the fields that it does not know', async () => {
    const { key } = await conceal();
    const { body } = await burn(key, { passphase: 'x', lock: 'y' });
    expect(body.details).toEqual({ ignored: ['passphase', 'lock'] });
  });

  it('is no GET, no other method and no request of another site (P4)', async () => {
    const { key, metadataKey } = await conceal();
    for (const method of ['GET', 'HEAD', 'PATCH', 'DELETE']) {
      const answer = await app.fetch(`/api/v2/secret/${key}/burn`, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    }
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await app.call(`/secret/${key}/burn`, { json: {}, headers })).status).toBe(403);
    const form = { raw: 'continue=true', contentType: 'application/x-www-form-urlencoded' };
    expect((await app.call(`/secret/${key}/burn`, form)).status).toBe(415);
    expect((await burn(key, [])).status).toBeOneOf([400, 422]);
    const big = await burn(key, { passphrase: 'x'.repeat(100_000) });
    expect(big.status).toBe(413);
    expect((await receipt(metadataKey)).state).toBe('new');
  });

  it('looks at credentials: wrong ones burn nothing', async () => {
    const { key } = await conceal();
    const headers = { authorization: `Basic ${btoa(`alice@example.com:${'0'.repeat(64)}`)}` };
    expect((await app.call(`/secret/${key}/burn`, { json: {}, headers })).status).toBe(401);
    const asGuest = await app.call(`/guest/secret/${key}/burn`, { json: {}, headers });
    expect([asGuest.status, asGuest.body.record.state]).toEqual([200, 'burned']);
  });

  it('is the same in the dialect of the existing service, which has no such call, and reads forms there', async () => {
    const upstream = createDocumentedApp({ dialect: 'upstream', v2Dialect: 'upstream' });
    const [one, two] = [await conceal(undefined, upstream), await conceal(undefined, upstream)];
    expect((await burn(one.key, {}, upstream)).body.record.state).toBe('burned');
    const raw = 'passphrase=';
    const asked = { raw, contentType: 'application/x-www-form-urlencoded' };
    expect((await upstream.call(`/secret/${two.key}/burn`, asked)).body.record.state).toBe('burned');
  });
});

describe('v1', () => {
  it('has no such call, and its records do not say who burned', async () => {
    const { key, metadataKey } = await conceal();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...as(alice) };
    const call = (path: string) => app.fetch(`/api/v1${path}`, { method: 'POST', body: '', headers });
    expect((await call(`/secret/${key}/burn`)).status).toBe(404);
    await burn(key);
    const record = await (await call(`/private/${metadataKey}`)).json();
    expect(record.state).toBe('burned');
    expect(Object.keys(record).filter((name) => name.includes('burn'))).toEqual([]);
  });
});
