/**
 * API v2, a secret's note: who reads it, what is refused, and that reading it changes nothing (P4).
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { clientSecret } from '../support/sealed-wire.ts';
import { as } from './concealing.ts';
import { createDocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com');
const line = 'For Ana: the Wi-Fi of ward 4';

async function make(fields: Record<string, unknown>, path = '/secret/conceal') {
  const { status, body } = await app.call(path, { json: { secret: fields }, headers: as(alice) });
  return { status, body, key: body.record?.secret.key as string, metadataKey: body.record?.metadata.key };
}

const read = (key: string, json: unknown = {}) => app.call(`/secret/${key}/note`, { json });
const record = (key: string, note: string | null, sealed = false) => ({
  success: true,
  record: { key, sealed, note },
  details: {},
});

describe('POST /secret/:key/note', () => {
  it('reads the note of a plain secret with its key, with or without a body, passphrase and account', async () => {
    const { key } = await make({ secret: 'v', note: line, passphrase: 'right' });
    for (const asked of [{ json: {} }, { method: 'POST' }, { json: { link_proof: null } }])
      expect((await app.call(`/secret/${key}/note`, asked)).body).toEqual(record(key, line));
    const headers = { authorization: `Basic ${btoa(`alice@example.com:${'0'.repeat(64)}`)}` };
    expect((await app.call(`/secret/${key}/note`, { json: {}, headers })).status).toBe(401);
  });

  it('reads one that was given flat, generated or in a batch, and null where there is none', async () => {
    const flat = await app.call('/secret/conceal', { json: { secret: 'v', note: line } });
    expect((await read(flat.body.record.secret.key)).body.record.note).toBe(line);
    const { key } = await make({ note: line }, '/secret/generate');
    expect((await read(key)).body.record.note).toBe(line);
    const sealed = clientSecret({ hasNote: true });
    const secrets = [{ secret: 'v', note: line }, { generate: { note: line } }, { sealed: sealed.wire }];
    const { body } = await app.call('/secret/batch', { json: { secrets } });
    const [one, two, three] = body.results.map((each: typeof body) => each.record.secret.key);
    for (const each of [one, two]) expect((await read(each)).body).toEqual(record(each, line));
    const proven = await read(three, { link_proof: sealed.body.link_proof });
    expect(proven.body).toEqual(record(three, sealed.wire.note ?? '', true));
    for (const note of [undefined, null, '', ' \n '])
      expect((await read((await make({ secret: 'v', note })).key)).body.record.note).toBeNull();
  });

  it('gives that of an end-to-end secret for the proof of its whole link only, and counts nothing', async () => {
    const sealed = clientSecret({ hasPassphrase: true, hasNote: true });
    const { link_proof, proof } = sealed.body;
    const { key } = await make({ sealed: sealed.wire });
    for (const json of [{}, { link_proof: proof }, { link_proof: null }]) {
      const refused = await read(key, json);
      expect([refused.status, refused.body.error, refused.body.record]).toEqual([
        422,
        'incomplete_link',
        undefined,
      ]);
    }
    for (const wrong of ['x', 1, `${link_proof}=`])
      expect((await read(key, { link_proof: wrong })).body).toMatchObject({
        error: 'invalid_field',
        field: 'link_proof',
      });
    const found = await read(key, { link_proof, proof });
    expect(found.body).toEqual({
      ...record(key, sealed.wire.note ?? '', true),
      details: { ignored: ['proof'] },
    });
    const plain = await make({ secret: 'v', note: line });
    expect((await read(plain.key, { link_proof })).body.error).toBe('not_sealed');
    expect((await app.call(`/secret/${key}/reveal`, { json: sealed.body })).status).toBe(200);
  });

  it('answers what is read, burned, expired or unknown alike (P17, P10)', async () => {
    const one = () => make({ secret: 'v', note: line, ttl: 60 });
    const [opened, burned, expired] = [await one(), await one(), await one()];
    await app.call(`/secret/${opened.key}/reveal`, { json: {} });
    await app.call(`/secret/${burned.key}/burn`, { json: {} });
    app.clock.advance(60);
    for (const key of [opened.key, burned.key, expired.key, '0'.repeat(31), 'no-key']) {
      const { status, body } = await read(key);
      const unknown = { success: false, error: 'unknown_secret', message: 'Unknown secret', secret_key: key };
      expect([status, body]).toEqual([404, unknown]);
    }
  });

  it('is no GET, no other method and no request of another site (P4)', async () => {
    const { key } = await make({ secret: 'v', note: line });
    for (const method of ['GET', 'HEAD', 'PATCH', 'DELETE'])
      expect((await app.fetch(`/api/v2/secret/${key}/note`, { method })).status).toBe(405);
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await app.call(`/secret/${key}/note`, { json: {}, headers })).status).toBe(403);
  });
});

describe('a note', () => {
  it('is refused by its name when it is too long or no text, at every door, and nothing is made', async () => {
    const tooLong = { error: 'invalid_field', message: 'Must be at most 140 characters' };
    const illFormed = { error: 'invalid_field', message: 'Must be well-formed Unicode text' };
    const wrong: [unknown, object][] = [
      ['a'.repeat(141), tooLong],
      ['\u{1f99f}'.repeat(141), tooLong],
      ['a\u0000b', illFormed],
      ['\u001b[2J', illFormed],
      [7, { error: 'invalid_field', message: 'Must be a text' }],
      [{ is: 'a' }, { error: 'invalid_field', message: 'Must be a text' }],
    ];
    for (const [note, refusal] of wrong) {
      for (const path of ['/secret/conceal', '/secret/generate']) {
        const { status, body } = await make({ secret: 'v', note }, path);
        expect([status, body]).toMatchObject([422, { ...refusal, field: 'secret.note' }]);
      }
      const flat = await app.call('/secret/conceal', { json: { secret: 'v', note } });
      expect(flat.body).toMatchObject({ ...refusal, field: 'note' });
      const batch = await app.call('/secret/batch', { json: { secrets: [{ secret: 'v', note }] } });
      expect(batch.body.results).toMatchObject([{ ...refusal, field: 'secrets.0.note' }]);
    }
    const surrogate = '{"secret":{"secret":"v","note":"\\ud83d"}}';
    const { body } = await app.call('/secret/conceal', { raw: surrogate, contentType: 'application/json' });
    expect(body).toMatchObject({ ...illFormed, field: 'secret.note' });
  });

  it('keeps 140 emoji, markup and links as they are, and drops direction characters', async () => {
    for (const [given, kept = given] of [
      ['\u{1f99f}'.repeat(140)],
      ['<a href="https://evil.example">here</a> & "there"'],
      ['\u202eevil\u202c \u2066x\u2069', 'evil x'],
    ] as const) {
      const { key } = await make({ secret: 'v', note: given });
      expect((await read(key)).body.record.note).toBe(kept);
    }
  });

  it('of an end-to-end secret has one length, and no plain one stands beside it', async () => {
    const sealed = clientSecret({ hasNote: true }).wire;
    const beside = await make({ sealed, note: line });
    expect(beside.body).toMatchObject({ field: 'secret.note', message: 'Must not be given beside sealed' });
    for (const note of ['', 'AAAA', 'A'.repeat(764), 'A'.repeat(772), `${'A'.repeat(767)}=`, null, 7]) {
      const { status, body } = await make({ sealed: { ...sealed, note } });
      expect([status, body.field]).toEqual([422, 'secret.sealed.note']);
    }
  });

  it('is in no record, list, receipt or status', async () => {
    const canary = 'cnry-note-5Hk8';
    const { key, metadataKey, body } = await make({ secret: 'v', note: canary });
    const asked = [
      app.call(`/secret/${key}`),
      app.call(`/secret/${key}/status`),
      app.call('/secret/status', { json: { identifiers: key } }),
      app.call(`/private/${metadataKey}`, { headers: as(alice) }),
      app.call('/private/recent', { headers: as(alice) }),
      app.call(`/secret/${key}/reveal`, { json: { continue: false } }),
      app.call(`/secret/${key}/reveal`, { json: {} }),
    ];
    for (const answer of [{ body }, ...(await Promise.all(asked))])
      expect(JSON.stringify(answer.body)).not.toContain(canary);
  });

  it('is part of an idempotent creation: another note is another request', async () => {
    const headers = { ...as(alice), 'idempotency-key': 'note 1' };
    const conceal = (note: string) =>
      app.call('/secret/conceal', { json: { secret: { secret: 'v', note } }, headers });
    const first = await conceal(line);
    const { key } = first.body.record.secret;
    expect((await conceal(line)).body).toMatchObject({
      record: { secret: { key } },
      details: { repeated: true },
    });
    expect((await conceal('For Al')).body.error).toBe('idempotency_mismatch');
    expect((await read(key)).body.record.note).toBe(line);
  });
});

describe('v1', () => {
  it('does not know notes: none is made and none is read', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...as(alice) };
    const call = (path: string, body: string) =>
      app.fetch(`/api/v1${path}`, { method: 'POST', body, headers });
    const made = await (await call('/share', `secret=v&note=${encodeURIComponent(line)}`)).json();
    expect((await read(made.secret_key)).body.record.note).toBeNull();
    expect((await call(`/secret/${made.secret_key}/note`, '')).status).toBe(404);
  });
});
