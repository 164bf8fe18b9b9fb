/**
 * API v2, creation: what `POST /secret/generate` accepts, refuses and answers.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { type Call, createDocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();

async function revealedValue(secretKey: string, passphrase?: string): Promise<string> {
  const { body } = await app.call(`/secret/${secretKey}/reveal`, { json: { passphrase } });
  return body.record.secret_value;
}

describe('POST /secret/generate', () => {
  it('returns the value once, as record.secret.secret_value', async () => {
    const { body } = await app.call('/secret/generate', { method: 'POST' });
    const { secret } = body.record;
    expect(body.details.kind).toBe('generate');
    expect(secret.secret_value).toHaveLength(12);
    expect(await revealedValue(secret.key)).toBe(secret.secret_value);
    const again = await app.call(`/secret/${secret.key}/reveal`, { method: 'POST' });
    expect(again.status).toBe(404);
  });

  const accepted: readonly [string, Call, RegExp][] = [
    ['no body', { method: 'POST' }, /^.{12}$/],
    ['an empty body of another type', { raw: '', contentType: 'text/plain' }, /^.{12}$/],
    ['an empty form', { json: { secret: {} } }, /^.{12}$/],
    ['an empty object', { json: {} }, /^.{12}$/],
    ['null for the form', { json: { secret: null } }, /^.{12}$/],
    ['a length', { json: { secret: { length: 128 } } }, /^.{128}$/],
    ['a length in digits', { json: { secret: { length: '4' } } }, /^.{4}$/],
    ['a list of sets', { json: { secret: { charset: ['digits', 'digits'] } } }, /^[2-9]{12}$/],
    ['sets joined by commas', { json: { secret: { charset: 'lower,upper' } } }, /^[A-Za-z]{12}$/],
    ['nothing given', { json: { secret: { length: '', charset: '', ttl: null } } }, /^.{12}$/],
    ['a flat body', { json: { length: 20, charset: 'lower' } }, /^[a-z]{20}$/],
  ];
  for (const [what, call, form] of accepted) {
    it(`takes ${what}`, async () => {
      const { status, body } = await app.call('/secret/generate', call);
      expect(status).toBe(200);
      expect(body.record.secret.secret_value).toMatch(form);
    });
  }

  it('protects the value with a passphrase, in a nested and in a flat body', async () => {
    for (const json of [{ secret: { passphrase: 'pw' } }, { passphrase: 'pw' }]) {
      const { body } = await app.call('/secret/generate', { json });
      expect(body.record.secret.has_passphrase).toBe(true);
      expect(await revealedValue(body.record.secret.key, 'pw')).toBe(body.record.secret.secret_value);
    }
  });

  const refused: readonly [string, unknown, string][] = [
    ['too short a length', { secret: { length: 3 } }, 'secret.length'],
    ['too long a length', { secret: { length: '129' } }, 'secret.length'],
    ['a fractional length', { secret: { length: 4.5 } }, 'secret.length'],
    ['an unknown set', { secret: { charset: 'runes' } }, 'secret.charset'],
    ['an empty list of sets', { secret: { charset: [] } }, 'secret.charset'],
    ['a negative ttl', { secret: { ttl: -1 } }, 'secret.ttl'],
    ['a text in place of the form', { secret: 'hello' }, 'secret'],
    ['a list in place of the form', { secret: [] }, 'secret'],
    ['a wrong field of a flat body', { length: 3 }, 'length'],
  ];
  for (const [what, json, field] of refused) {
    it(`refuses ${what} with 422 and names ${field}`, async () => {
      const { status, body } = await app.call('/secret/generate', { json });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', field]);
    });
  }
});
