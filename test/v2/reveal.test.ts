/**
 * API v2, reading: `GET /secret/:key`, its status, and the one reveal.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { type Call, createDocumentedApp, type DocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();

async function conceal(fields: Record<string, unknown>, from: DocumentedApp = app) {
  const { body } = await from.call('/secret/conceal', { json: { secret: { secret: 'hello', ...fields } } });
  return { key: body.record.secret.key as string, metadataKey: body.record.metadata.key as string };
}

const reveal = (key: string, json: unknown = {}, from: DocumentedApp = app) =>
  from.call(`/secret/${key}/reveal`, { json });

const unknownKey = '0'.repeat(31);
const passphrase = 'pässwörd +%&=#';
const encoded = encodeURIComponent(passphrase);

describe('POST /secret/:key/reveal', () => {
  const consuming: readonly [string, Call][] = [
    ['no body', { method: 'POST' }],
    ['an empty body', { raw: '' }],
    ['an empty body of another type', { raw: '', contentType: 'application/x-www-form-urlencoded' }],
    ['an empty object', { json: {} }],
    ['continue true', { json: { continue: true } }],
    ['continue "true"', { json: { continue: 'true' } }],
    ['continue null', { json: { continue: null } }],
    ['continue empty', { json: { continue: '' } }],
    ['a passphrase that is not needed', { json: { passphrase: 'whatever' } }],
    ['unknown fields', { json: { shrimp: 'x', key: 'y' } }],
  ];
  for (const [what, call] of consuming) {
    it(`consumes with ${what}, once (P1)`, async () => {
      const { key } = await conceal({});
      const first = await app.call(`/secret/${key}/reveal`, call);
      expect(first.status).toBe(200);
      expect(first.body).toMatchObject({
        success: true,
        custid: 'anon',
        record: { key, identifier: key, state: 'received', is_received: true, secret_value: 'hello' },
        details: {
          continue: true,
          is_owner: false,
          show_secret: true,
          correct_passphrase: true,
          display_lines: 4,
          one_liner: true,
        },
      });
      const second = await app.call(`/secret/${key}/reveal`, call);
      expect(second.status).toBe(404);
      expect(second.body).toEqual({
        success: false,
        error: 'unknown_secret',
        message: 'Unknown secret',
        secret_key: key,
      });
    });
  }

  for (const check of [false, 'false']) {
    it(`only checks with continue ${JSON.stringify(check)}, however often (P4)`, async () => {
      const { key } = await conceal({ passphrase });
      for (let look = 0; look < 7; look += 1) {
        const { status, body } = await reveal(key, { passphrase, continue: check });
        expect(status).toBe(200);
        expect(body.record).not.toHaveProperty('secret_value');
        expect(body).toMatchObject({
          record: { state: 'new' },
          details: { continue: false, show_secret: false },
        });
      }
      expect((await reveal(key, { passphrase })).body.record.secret_value).toBe('hello');
    });
  }

  it('refuses a missing, an empty and a wrong passphrase with 422, and consumes nothing (P14)', async () => {
    const { key } = await conceal({ passphrase });
    for (const given of [undefined, null, '', 'wrong', `${passphrase} `, passphrase.normalize('NFD')]) {
      const { status, body } = await reveal(key, { passphrase: given });
      expect(status).toBe(422);
      expect(body).toEqual({
        success: false,
        error: 'incorrect_passphrase',
        message: 'Incorrect passphrase',
      });
    }
    expect((await reveal(key, { passphrase })).body.record.secret_value).toBe('hello');
  });

  it('stops after five wrong passphrases, also the right one, and says when to come back (P14)', async () => {
    const { key } = await conceal({ passphrase });
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect((await reveal(key, { passphrase: `wrong ${attempt}` })).status).toBe(422);
    }
    const { status, body, headers } = await reveal(key, { passphrase });
    expect([status, body.error]).toEqual([429, 'too_many_attempts']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const looked = await app.call(`/secret/${key}`, { headers: { 'Secret-Passphrase': encoded } });
    expect([looked.status, looked.body.error]).toEqual([429, 'too_many_attempts']);
    expect((await app.call(`/secret/${key}/status`)).status).toBe(200);
  });

  it('answers alike for unknown, read, burned and expired secrets (P17)', async () => {
    const other = createDocumentedApp();
    const owner = await other.account();
    const authorization = { authorization: owner.authorization };
    const [read, burned, expired] = [
      await conceal({}, other),
      await conceal({}, other),
      await conceal({ ttl: 60 }, other),
    ];
    await reveal(read.key, {}, other);
    await other.call(`/private/${burned.metadataKey}/burn`, { method: 'POST', headers: authorization });
    other.clock.advance(60);
    const keys = [read.key, burned.key, expired.key, unknownKey];
    const answers = await Promise.all(keys.map((key) => reveal(key, {}, other)));
    const told = answers.map(({ status, body, headers }) => {
      const names = [...headers.keys()].sort();
      return { status, names, body: { ...body, secret_key: 'key' } };
    });
    for (const answer of told) expect(answer).toEqual(told[0] as (typeof told)[number]);
    expect(answers.map(({ body }) => body.secret_key)).toEqual(keys);
  });

  it('takes only the exact spelling of a key, and echoes it as given', async () => {
    const { key, metadataKey } = await conceal({});
    const spellings = [key.toUpperCase(), `${key}0`, key.slice(1), ` ${key}`, metadataKey, '<b>', 'a/b', '%'];
    for (const spelling of spellings) {
      const { status, body } = await reveal(encodeURIComponent(spelling));
      expect([status, body.secret_key]).toEqual([404, spelling]);
    }
    expect((await reveal(key)).status).toBe(200);
  });

  const refused: readonly [string, unknown, string][] = [
    ['a number for the passphrase', { passphrase: 5 }, 'passphrase'],
    ['a lone surrogate in the passphrase', { passphrase: '\ud800' }, 'passphrase'],
    ['a number for continue', { continue: 1 }, 'continue'],
    ['another word for continue', { continue: 'no' }, 'continue'],
    ['a list for the body', [], ''],
  ];
  for (const [what, json, field] of refused) {
    it(`refuses ${what} with 422 and consumes nothing (P4)`, async () => {
      const { key } = await conceal({});
      const { status, body } = await reveal(key, json);
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', field]);
      expect((await reveal(key)).status).toBe(200);
    });
  }

  it('refuses a form and half a document, and consumes nothing (P4)', async () => {
    const { key } = await conceal({});
    const form = await app.call(`/secret/${key}/reveal`, { raw: 'continue=true', contentType: 'text/plain' });
    expect(form.status).toBe(415);
    expect((await app.call(`/secret/${key}/reveal`, { raw: '{' })).status).toBe(400);
    expect((await reveal(key)).status).toBe(200);
  });

  it('reckons the lines to show from the value', async () => {
    const { key } = await conceal({ secret: `${'a'.repeat(160)}\nb` });
    expect((await reveal(key)).body.details).toMatchObject({ display_lines: 7, one_liner: false });
  });

  it('knows the owner', async () => {
    const alice = await app.account('owner@example.com');
    const headers = { authorization: alice.authorization };
    const made = await app.call('/secret/conceal', { json: { secret: 'x' }, headers });
    const { key } = made.body.record.secret;
    const { body } = await app.call(`/secret/${key}/reveal`, { method: 'POST', headers });
    expect(body).toMatchObject({ custid: 'owner@example.com', details: { is_owner: true } });
  });
});

describe('GET /secret/:key', () => {
  it('never consumes and never changes a state, as GET and as HEAD (P4)', async () => {
    const { key } = await conceal({});
    for (const method of ['GET', 'HEAD', 'GET']) {
      expect((await app.call(`/secret/${key}?continue=true`, { method })).status).toBe(200);
    }
    expect((await app.call(`/secret/${key}`)).body).toMatchObject({
      record: { key, state: 'new', is_viewed: false, secret_ttl: 604_800 },
      details: { continue: false, show_secret: false, correct_passphrase: true },
    });
    expect((await reveal(key)).status).toBe(200);
    expect((await app.call(`/secret/${key}`)).status).toBe(404);
  });

  const carriages: readonly [string, string, Record<string, string>][] = [
    ['the header', '', { 'Secret-Passphrase': encoded }],
    ['the query', `?passphrase=${encoded}`, {}],
    ['the query in form encoding', `?x=1&passphrase=${encoded.replaceAll('%20', '+')}`, {}],
    ['both, where the header wins', '?passphrase=wrong', { 'Secret-Passphrase': encoded }],
  ];
  for (const [what, query, headers] of carriages) {
    it(`takes the passphrase in ${what}`, async () => {
      const { key } = await conceal({ passphrase });
      const { status, body } = await app.call(`/secret/${key}${query}`, { headers });
      expect(status).toBe(200);
      expect(body.record.has_passphrase).toBe(true);
      expect(body.details.correct_passphrase).toBe(true);
    });
  }

  const wrong: readonly [string, string, Record<string, string>, number, string][] = [
    ['no passphrase', '', {}, 422, 'incorrect_passphrase'],
    ['an empty one', '?passphrase=', {}, 422, 'incorrect_passphrase'],
    ['a wrong one', '?passphrase=wrong', {}, 422, 'incorrect_passphrase'],
    ['a wrong one in the header', '', { 'Secret-Passphrase': 'wrong' }, 422, 'incorrect_passphrase'],
    ['a broken escape in the header', '', { 'Secret-Passphrase': '%4' }, 400, 'malformed'],
    ['a broken escape in the query', '?passphrase=%zz', {}, 400, 'malformed'],
    ['ill-formed UTF-8', '?passphrase=%ED%A0%80', {}, 400, 'malformed'],
    ['a header that is not encoded', '', { 'Secret-Passphrase': 'pässword' }, 400, 'malformed'],
    ['two passphrases', '?passphrase=a&passphrase=b', {}, 400, 'malformed'],
  ];
  for (const [what, query, headers, status, error] of wrong) {
    it(`answers ${status} to ${what} and consumes nothing`, async () => {
      const { key } = await conceal({ passphrase });
      const answer = await app.call(`/secret/${key}${query}`, { headers });
      expect([answer.status, answer.body.error]).toEqual([status, error]);
      expect((await reveal(key, { passphrase })).status).toBe(200);
    });
  }

  it('answers 404 with the key as given', async () => {
    const { status, body } = await app.call(`/secret/${unknownKey}`);
    expect([status, body.error, body.secret_key]).toEqual([404, 'unknown_secret', unknownKey]);
  });
});

describe('GET /secret/:key/status', () => {
  it('tells without the passphrase whether a secret waits and for how long (P4)', async () => {
    const own = createDocumentedApp();
    const { key } = await conceal({ passphrase, ttl: 100 }, own);
    own.clock.advance(30);
    const { status, body } = await own.call(`/secret/${key}/status`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      record: { key, state: 'new', has_passphrase: true, secret_ttl: 70, lifespan: 100 },
      details: { realttl: 70 },
    });
    expect(body.record).not.toHaveProperty('secret_value');
    await reveal(key, { passphrase }, own);
    const gone = await own.call(`/secret/${key}/status`);
    expect([gone.status, gone.body.error, gone.body.secret_key]).toEqual([404, 'unknown_secret', key]);
  });
});
