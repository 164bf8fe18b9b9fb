/**
 * API v2, the second look: the same answer again for the same opener, and for nobody else.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { clientSecret } from '../support/sealed-wire.ts';
import { createDocumentedApp, type DocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const newLook = () => randomBytes(16).toString('base64url');

async function conceal(fields: Record<string, unknown> = {}, from: DocumentedApp = app) {
  const { body } = await from.call('/secret/conceal', { json: { secret: { secret: 'hello', ...fields } } });
  return { key: body.record.secret.key as string, metadataKey: body.record.metadata.key as string };
}

const reveal = (key: string, json: unknown = {}, from: DocumentedApp = app) =>
  from.call(`/secret/${key}/reveal`, { json });
const done = (key: string, look: unknown, from: DocumentedApp = app) =>
  from.call(`/secret/${key}/reveal/done`, { json: { look } });

const unknown = (key: string) => ({
  success: false,
  error: 'unknown_secret',
  message: 'Unknown secret',
  secret_key: key,
});

describe('a reveal with a look', () => {
  it('answers the same three times, and then as any gone secret does (P1)', async () => {
    const { key } = await conceal();
    const look = newLook();
    const answers = [await reveal(key, { look }), await reveal(key, { look }), await reveal(key, { look })];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toEqual(answers[0]?.body);
      expect(body.record.secret_value).toBe('hello');
    }
    const fourth = await reveal(key, { look });
    expect(fourth.status).toBe(404);
    expect(fourth.body).toEqual(unknown(key));
  });

  it('answers nobody else, with another look or with none (P1, P17)', async () => {
    const { key } = await conceal();
    const look = newLook();
    expect((await reveal(key, { look })).status).toBe(200);
    const gone = await reveal('0'.repeat(31), {});
    for (const json of [{}, { look: newLook() }, { look: null }]) {
      const { status, body, headers } = await reveal(key, json);
      expect(status).toBe(404);
      expect(body).toEqual(unknown(key));
      expect([...headers.keys()].sort()).toEqual([...gone.headers.keys()].sort());
    }
    expect((await reveal(key, { look })).body.record.secret_value).toBe('hello');
  });

  it('without one opens strictly once', async () => {
    const { key } = await conceal();
    expect((await reveal(key)).status).toBe(200);
    expect((await reveal(key, { look: newLook() })).status).toBe(404);
  });

  it('asks for the passphrase each time; a wrong one is an attempt and not an answer (P14)', async () => {
    const { key } = await conceal({ passphrase: 'right' });
    const look = newLook();
    expect((await reveal(key, { look, passphrase: 'right' })).status).toBe(200);
    for (const passphrase of ['wrong', undefined]) {
      const { status, body } = await reveal(key, { look, passphrase });
      expect(status).toBe(422);
      expect(body.error).toBe('incorrect_passphrase');
    }
    expect((await reveal(key, { look, passphrase: 'right' })).status).toBe(200);
    expect((await reveal(key, { look, passphrase: 'right' })).status).toBe(200);
    expect((await reveal(key, { look, passphrase: 'right' })).status).toBe(404);
  });

  it('refuses a malformed look, and consumes nothing (P3)', async () => {
    const { key } = await conceal();
    const given = newLook();
    const last = `${given.slice(0, -1)}B`;
    for (const look of [
      '',
      'x',
      `${given}=`,
      given.slice(1),
      `${given}A`,
      last,
      7,
      ['x'],
      given.replace(/./, '+'),
    ]) {
      for (const { status, body } of [await reveal(key, { look }), await done(key, look)]) {
        expect(status).toBe(422);
        expect(body).toMatchObject({ success: false, error: 'invalid_field', field: 'look' });
      }
    }
    expect((await done(key, undefined)).status).toBe(422);
    expect((await reveal(key)).status).toBe(200);
  });

  it('only checks with continue false, before and after', async () => {
    const { key } = await conceal();
    const look = newLook();
    expect((await reveal(key, { look, continue: false })).body.record).not.toHaveProperty('secret_value');
    expect((await reveal(key, { look })).status).toBe(200);
    expect((await reveal(key, { look, continue: false })).status).toBe(404);
    expect((await reveal(key, { look })).status).toBe(200);
  });

  it('says received in the receipt from the first answer on, and burning is told that it is gone', async () => {
    const owner = createDocumentedApp();
    const { authorization } = await owner.account();
    const headers = { authorization };
    const made = await owner.call('/secret/conceal', { json: { secret: { secret: 'hello' } }, headers });
    const { key } = made.body.record.secret;
    const metadataKey = made.body.record.metadata.key;
    const look = newLook();
    expect((await reveal(key, { look }, owner)).status).toBe(200);
    const receipt = await owner.call(`/private/${metadataKey}`, { headers });
    expect(receipt.body.record.state).toBe('received');
    const burning = await owner.call(`/private/${metadataKey}/burn`, { json: {}, headers });
    expect(burning.status).toBe(409);
    expect(burning.body.error).toBe('already_gone');
    expect((await reveal(key, { look }, owner)).status).toBe(404);
  });
});

describe('a second look at an end-to-end secret', () => {
  it('answers the same ciphertext, for the same proofs each time (P1)', async () => {
    for (const hasPassphrase of [false, true]) {
      const { wire, body: proofs } = clientSecret({ hasPassphrase });
      const made = await app.call('/secret/conceal', { json: { sealed: wire } });
      const { key } = made.body.record.secret;
      const look = newLook();
      const first = await reveal(key, { ...proofs, look });
      expect(first.body.record.sealed.ciphertext).toBe(wire.ciphertext);
      const other = clientSecret({ hasPassphrase, seed: 'other' }).body;
      for (const given of [{}, other, { ...proofs, proof: other.proof }]) {
        const refused = await reveal(key, { ...given, look });
        expect(refused.status).toBe(422);
        expect(refused.body.error).toMatch(/^(incomplete_link|incorrect_passphrase)$/);
      }
      const again = await reveal(key, { ...proofs, look });
      expect([again.status, again.body.record.sealed]).toEqual([200, first.body.record.sealed]);
      expect((await reveal(key, { ...proofs, look: newLook() })).status).toBe(404);
      expect((await reveal(key, { ...proofs, look })).status).toBe(200);
      expect((await reveal(key, { ...proofs, look })).status).toBe(404);
    }
  });
});

describe('POST /secret/:key/reveal/done', () => {
  it('ends the look that it names and no other, and answers the same whatever there was (P17)', async () => {
    const { key } = await conceal();
    const look = newLook();
    const before = await done(key, look);
    expect((await reveal(key, { look })).status).toBe(200);
    const others = [await done(key, newLook()), await done('0'.repeat(31), look), await done('no-key', look)];
    expect((await reveal(key, { look })).status).toBe(200);
    const ended = await done(key, look);
    for (const { status, body } of [before, ...others, ended, await done(key, look)]) {
      expect(status).toBe(200);
      expect(body).toEqual({ success: true });
    }
    expect((await reveal(key, { look })).status).toBe(404);
  });

  it('works for guests, and in the dialect of the existing service, as a form too', async () => {
    const upstream = createDocumentedApp({ v2Dialect: 'upstream' });
    const { key } = await conceal({}, upstream);
    const look = newLook();
    const form = 'application/x-www-form-urlencoded';
    const asked = `continue=true&look=${look}`;
    for (let n = 0; n < 2; n += 1) {
      const { status } = await upstream.call(`/guest/secret/${key}/reveal`, {
        raw: asked,
        contentType: form,
      });
      expect(status).toBe(200);
    }
    const ended = await upstream.call(`/guest/secret/${key}/reveal/done`, {
      raw: `look=${look}`,
      contentType: form,
    });
    expect(ended.body).toEqual({ success: true });
    expect((await reveal(key, { look, continue: true }, upstream)).status).toBe(404);
  });
});
