/**
 * API v2, creation: what `POST /secret/conceal` accepts, refuses and answers.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { giveDomain } from '../support/own-domain.ts';
import { type Call, createDocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com');
const signedIn = { authorization: alice.authorization };

async function revealedValue(secretKey: string): Promise<string> {
  const { body } = await app.call(`/secret/${secretKey}/reveal`, { method: 'POST' });
  return body.record.secret_value;
}

describe('POST /secret/conceal', () => {
  const accepted: readonly [string, unknown][] = [
    ['a nested body', { secret: { secret: 'hello' } }],
    ['a flat body', { secret: 'hello' }],
    ['a flat body with options', { secret: 'hello', ttl: 300, passphrase: '' }],
    ['unknown fields', { secret: { secret: 'hello', kind: 'conceal', shrimp: 1 }, extra: [] }],
    ['a field named like a prototype', { secret: { secret: 'hello', constructor: 1 }, toString: null }],
    [
      'null for what is not given',
      { secret: { secret: 'hello', ttl: null, passphrase: null, recipient: null } },
    ],
    [
      'empty for what is not given',
      { secret: { secret: 'hello', ttl: '', recipient: '', share_domain: '' } },
    ],
    ['an empty list of recipients', { secret: { secret: 'hello', recipient: [] } }],
    ['its own host as the share domain', { secret: { secret: 'hello', share_domain: 'mayfly.example' } }],
  ];
  for (const [what, json] of accepted) {
    it(`takes ${what}, and gives the value back once`, async () => {
      const { status, body } = await app.call('/secret/conceal', { json });
      expect(status).toBe(200);
      expect(await revealedValue(body.record.secret.key)).toBe('hello');
    });
  }

  const lifetimes: readonly [unknown, number][] = [
    [undefined, 604_800],
    [null, 604_800],
    ['', 604_800],
    [60, 60],
    ['60', 60],
    ['0003600', 3_600],
    [604_800, 604_800],
    [1e3, 1_000],
    [0, 604_800],
    ['00', 604_800],
  ];
  for (const [ttl, granted] of lifetimes) {
    it(`grants ${granted} seconds for a ttl of ${JSON.stringify(ttl)}`, async () => {
      const { body } = await app.call('/secret/conceal', { json: { secret: { secret: 'x', ttl } } });
      expect(body.record.metadata.lifespan).toBe(granted);
      expect(body.record.metadata.secret_ttl).toBe(granted);
      expect(body.record.metadata.metadata_ttl).toBe(2 * granted);
      expect(body.record.secret.lifespan).toBe(granted);
    });
  }

  const values = [
    '   ',
    ' a b ',
    'line\r\nline\n',
    '\u0000\u0001\u007f',
    '\ufeffbom',
    'e\u0301 \u00e9',
    '😀'.repeat(20),
    '<b>&"\'</b>',
    '%41+%2B',
  ];
  for (const value of values) {
    it(`returns ${JSON.stringify(value.slice(0, 12))} byte for byte`, async () => {
      const { body } = await app.call('/secret/conceal', { json: { secret: { secret: value } } });
      expect(await revealedValue(body.record.secret.key)).toBe(value);
    });
  }

  it('answers the envelope, with the same record as metadata and as receipt', async () => {
    const json = { secret: { secret: 'hello', ttl: 7_200, passphrase: 'pw', recipient: 'joe@example.org' } };
    const { body } = await app.call('/secret/conceal', { json, headers: signedIn });
    const { metadata, receipt, secret } = body.record;
    expect(body).toMatchObject({ success: true, custid: 'alice@example.com', details: { kind: 'conceal' } });
    expect(receipt).toEqual(metadata);
    expect(metadata).toMatchObject({
      identifier: metadata.key,
      custid: 'alice@example.com',
      state: 'new',
      secret_key: secret.key,
      secret_shortkey: secret.key.slice(0, 6),
      shortkey: metadata.key.slice(0, 8),
      share_domain: '',
      share_url: `https://mayfly.example/secret/${secret.key}`,
      metadata_url: `https://mayfly.example/receipt/${metadata.key}`,
      created: app.clock.now(),
      viewed: null,
      received: null,
      burned: null,
      has_passphrase: true,
      is_destroyed: false,
      natural_expiration: '2 hours',
      expiration: app.clock.now() + 7_200,
      expiration_in_seconds: 7_200,
      delivery: { state: 'queued', at: app.clock.now() },
    });
    expect(secret).toMatchObject({
      identifier: secret.key,
      state: 'new',
      has_passphrase: true,
      verification: false,
    });
    expect(secret).not.toHaveProperty('secret_value');
  });

  it('shows a recipient only obfuscated (P18)', async () => {
    for (const recipient of ['joe@example.org', ['joe@example.org']]) {
      const json = { secret: { secret: 'hello', recipient } };
      const { body } = await app.call('/secret/conceal', { json, headers: signedIn });
      expect(JSON.stringify(body)).not.toContain('joe@example.org');
      expect(body.record.metadata.recipients).toBe('jo*****@e*****.org');
      expect(body.details).toMatchObject({
        recipient: ['jo*****@e*****.org'],
        recipient_safe: ['jo*****@e*****.org'],
      });
    }
  });

  it('builds links from configuration, whatever the request claims (P20)', async () => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    };
    const { body } = await app.call('/secret/conceal', { json: { secret: 'hello' }, headers });
    expect(JSON.stringify(body)).not.toContain('evil.example');
  });

  const nothing = 'You did not provide anything to share';
  const illFormed = 'Must be well-formed Unicode text';
  const wrongTtl = 'Must be a whole number of seconds, or a string of its digits';
  const fields: readonly [string, unknown, string, string][] = [
    ['no fields', {}, 'secret.secret', nothing],
    ['no value', { secret: {} }, 'secret.secret', nothing],
    ['null for the form', { secret: null }, 'secret.secret', nothing],
    ['an empty value', { secret: { secret: '' } }, 'secret.secret', nothing],
    ['an empty value in a flat body', { secret: '' }, 'secret', nothing],
    ['null for the value', { secret: { secret: null } }, 'secret.secret', nothing],
    ['a number for the value', { secret: { secret: 5 } }, 'secret.secret', 'Must be a text'],
    ['a list for the form', { secret: ['hello'] }, 'secret', 'Must be an object, or a text in a flat body'],
    ['a number for the form', { secret: 5 }, 'secret', 'Must be an object, or a text in a flat body'],
    ['a list for the body', [], '', 'The body must be a JSON object'],
    ['a text for the body', 'hello', '', 'The body must be a JSON object'],
    ['null for the body', null, '', 'The body must be a JSON object'],
    ['a lone surrogate in the value', { secret: { secret: 'a\ud800b' } }, 'secret.secret', illFormed],
    [
      'a lone surrogate in the passphrase',
      { secret: { secret: 'x', passphrase: '\udfff' } },
      'secret.passphrase',
      illFormed,
    ],
    [
      'a lone surrogate in the recipient',
      { secret: { secret: 'x', recipient: '\ud800@x.org' } },
      'secret.recipient',
      illFormed,
    ],
    ['a negative ttl', { secret: { secret: 'x', ttl: -5 } }, 'secret.ttl', wrongTtl],
    ['a fractional ttl', { secret: { secret: 'x', ttl: 61.9 } }, 'secret.ttl', wrongTtl],
    ['a ttl with a sign', { secret: { secret: 'x', ttl: '+60' } }, 'secret.ttl', wrongTtl],
    ['a ttl with a blank', { secret: { secret: 'x', ttl: ' 60' } }, 'secret.ttl', wrongTtl],
    ['a ttl with a line break', { secret: { secret: 'x', ttl: '60\n' } }, 'secret.ttl', wrongTtl],
    ['a ttl of other digits', { secret: { secret: 'x', ttl: '６０' } }, 'secret.ttl', wrongTtl],
    ['a ttl in words', { secret: { secret: 'x', ttl: '1h' } }, 'secret.ttl', wrongTtl],
    ['true for a ttl', { secret: { secret: 'x', ttl: true } }, 'secret.ttl', wrongTtl],
    ['a list for a ttl', { secret: { secret: 'x', ttl: [60] } }, 'secret.ttl', wrongTtl],
    ['a negative ttl in a flat body', { secret: 'x', ttl: '-5' }, 'ttl', wrongTtl],
    ['a negative fraction for a ttl', { secret: { secret: 'x', ttl: -0.5 } }, 'secret.ttl', wrongTtl],
    [
      'a number for the passphrase',
      { secret: { secret: 'x', passphrase: 5 } },
      'secret.passphrase',
      'Must be a text',
    ],
    [
      'too long a passphrase',
      { secret: { secret: 'x', passphrase: 'é'.repeat(513) } },
      'secret.passphrase',
      'Must be at most 1024 bytes',
    ],
    [
      'several recipients',
      { secret: { secret: 'x', recipient: ['a@x.org', 'b@x.org'] } },
      'secret.recipient',
      'Must be one e-mail address',
    ],
    [
      'an object for the recipient',
      { secret: { secret: 'x', recipient: {} } },
      'secret.recipient',
      'Must be one e-mail address',
    ],
    [
      'an unknown share domain',
      { secret: { secret: 'x', share_domain: 'other.example' } },
      'secret.share_domain',
      'Unknown domain: other.example',
    ],
    [
      'a number for the share domain',
      { secret: { secret: 'x', share_domain: 1 } },
      'secret.share_domain',
      'Must be a text',
    ],
  ];
  for (const [what, json, field, message] of fields) {
    it(`refuses ${what} with 422 and names ${field === '' ? 'the body' : field}`, async () => {
      const { status, body } = await app.call('/secret/conceal', { json });
      expect(status).toBe(422);
      expect(body).toEqual({ success: false, error: 'invalid_field', message, field });
    });
  }

  it('lists several wrong fields, each once', async () => {
    const json = { secret: { ttl: -1, passphrase: 5, recipient: {} } };
    const { status, body } = await app.call('/secret/conceal', { json });
    expect(status).toBe(422);
    expect(body.error).toBe('invalid_field');
    expect(body).not.toHaveProperty('field');
    expect(body.errors.map((error: { field: string }) => error.field).sort()).toEqual([
      'secret.passphrase',
      'secret.recipient',
      'secret.secret',
      'secret.ttl',
    ]);
  });

  const unreadable: readonly [string, Call, number, string][] = [
    [
      'a form',
      { raw: 'secret=hello', contentType: 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    ['a text', { raw: '{"secret":"x"}', contentType: 'text/plain' }, 415, 'unsupported_media_type'],
    [
      'a body without a content type',
      { raw: '{"secret":"x"}', contentType: null },
      415,
      'unsupported_media_type',
    ],
    [
      'a type that only begins like JSON',
      { raw: '{"secret":"x"}', contentType: 'application/jsonp' },
      415,
      'unsupported_media_type',
    ],
    [
      'another charset',
      { raw: '{"secret":"x"}', contentType: 'application/json; charset=latin1' },
      415,
      'unsupported_media_type',
    ],
    ['half a document', { raw: '{"secret":' }, 400, 'malformed'],
    ['two documents', { raw: '{"secret":"x"}{}' }, 400, 'malformed'],
    ['a trailing comma', { raw: '{"secret":"x",}' }, 400, 'malformed'],
    ['a comment', { raw: '{"secret":"x"}//' }, 400, 'malformed'],
    ['brackets without end', { raw: '['.repeat(60_000) }, 400, 'malformed'],
    ['bytes that are no UTF-8', { raw: Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]) }, 400, 'malformed'],
    ['an overlong encoding', { raw: Uint8Array.from([0x22, 0xc0, 0x80, 0x22]) }, 400, 'malformed'],
    ['a name that stands twice', { raw: '{"secret":{"secret":"x","ttl":60,"ttl":3600}}' }, 400, 'malformed'],
    ['a name twice, once escaped', { raw: '{"secret":"x","\\u0073ecret":"y"}' }, 400, 'malformed'],
    ['a name twice where nobody looks', { raw: '{"secret":"x","y":[{"z":1,"z":2}]}' }, 400, 'malformed'],
    ['an empty body', { raw: '' }, 400, 'malformed'],
    ['no body', { method: 'POST' }, 400, 'malformed'],
  ];
  for (const [what, call, status, error] of unreadable) {
    it(`answers ${status} to ${what}`, async () => {
      const answer = await app.call('/secret/conceal', call);
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({ success: false, error });
    });
  }

  it('never quotes what it could not parse (P18)', async () => {
    const { body } = await app.call('/secret/conceal', { raw: '{"secret":"hunter2' });
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  for (const contentType of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset="UTF-8"',
    'application/json; profile=x; charset=utf-8; y=z',
  ]) {
    it(`takes JSON sent as ${contentType}`, async () => {
      const { status } = await app.call('/secret/conceal', { raw: '{"secret":"x"}', contentType });
      expect(status).toBe(200);
    });
  }

  it('takes a value of exactly the limit and refuses one byte more with the limit', async () => {
    const largest = await app.call('/secret/conceal', { json: { secret: 'é'.repeat(5_000) } });
    expect(largest.status).toBe(200);
    const { status, body } = await app.call('/secret/conceal', { json: { secret: `${'é'.repeat(5_000)}a` } });
    expect(status).toBe(413);
    expect(body).toMatchObject({ error: 'too_large', limit: 10_000 });
    expect(body.message).toContain('10000');
  });

  it('gives an account the limits of its plan', async () => {
    const json = { secret: { secret: 'a'.repeat(10_000), ttl: 1_209_600 } };
    const lifespanOf = async (headers = {}) =>
      (await app.call('/secret/conceal', { json, headers })).body.record.metadata.lifespan;
    expect([await lifespanOf(signedIn), await lifespanOf()]).toEqual([1_209_600, 604_800]);
  });

  it('takes the largest value with the largest passphrase, each of their bytes escaped to six', async () => {
    const secret = { secret: '\u0001'.repeat(10_000), passphrase: '\u0002'.repeat(1_024) };
    const { status, body } = await app.call('/secret/conceal', { json: { secret } });
    expect([status, body.success]).toEqual([200, true]);
    const json = { passphrase: secret.passphrase };
    const revealed = await app.call(`/secret/${body.record.secret.key}/reveal`, { json });
    expect(revealed.body.record.secret_value).toBe(secret.secret);
  });

  it('refuses a body over the cap of the transport with 413 and names the cap', async () => {
    const { status, body } = await app.call('/secret/conceal', { json: { secret: 'a'.repeat(153_000) } });
    expect(status).toBe(413);
    expect(body).toMatchObject({ error: 'too_large', limit: 152_939 });
  });

  it('asks for an account where a recipient is named', async () => {
    const json = { secret: { secret: 'x', recipient: 'joe@example.org' } };
    const { status, body, headers } = await app.call('/secret/conceal', { json });
    expect(status).toBe(401);
    expect(body).toEqual({
      success: false,
      error: 'account_required',
      message: 'An account is required to send emails.',
    });
    expect(headers.get('www-authenticate')).toStartWith('Basic ');
  });

  it('refuses an address that no mail reaches, without repeating it', async () => {
    const json = { secret: { secret: 'x', recipient: 'joe@example..org' } };
    const { status, body } = await app.call('/secret/conceal', { json, headers: signedIn });
    expect(status).toBe(422);
    expect(body).toMatchObject({ error: 'invalid_field', field: 'secret.recipient' });
    expect(JSON.stringify(body)).not.toContain('joe@');
  });

  it('uses a share domain of the account and nobody else', async () => {
    await giveDomain(app.store, alice.id, 'secrets.example.com');
    const json = { secret: { secret: 'x', share_domain: 'secrets.example.com' } };
    const { body } = await app.call('/secret/conceal', { json, headers: signedIn });
    expect(body.record.share_domain).toBe('secrets.example.com');
    expect(body.record.metadata.share_url).toStartWith('https://secrets.example.com/secret/');
    const bob = await app.account('bob@example.com');
    const other = await app.call('/secret/conceal', { json, headers: { authorization: bob.authorization } });
    expect(other.body).toMatchObject({ error: 'invalid_field', field: 'secret.share_domain' });
  });

  it('asks for an account where only accounts may create', async () => {
    const closed = createDocumentedApp({ anonymousMayCreate: false });
    for (const path of ['/secret/conceal', '/secret/generate']) {
      const { status, body } = await closed.call(path, { json: { secret: { secret: 'x' } } });
      expect([status, body.error]).toEqual([401, 'account_required']);
    }
  });
});
