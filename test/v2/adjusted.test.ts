/**
 * API v2, requests granted in part: a ttl or a language other than requested, and unknown fields.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { createDocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com');
const signedIn = { authorization: alice.authorization };

describe('a ttl', () => {
  const clamped: readonly [string, unknown, number, number][] = [
    ['below the shortest', 1, 1, 60],
    ['just below the shortest', '59', 59, 60],
    ['just above the longest', 604_801, 604_801, 604_800],
    ['of another plan', 1_209_600, 1_209_600, 604_800],
    ['in digits', '099999999999', 99_999_999_999, 604_800],
    ['beyond all safe integers', 1e300, Number.MAX_SAFE_INTEGER, 604_800],
    ['of more digits than a number has', '9'.repeat(400), Number.MAX_SAFE_INTEGER, 604_800],
  ];
  for (const [what, ttl, asked, granted] of clamped) {
    it(`${what} is brought into the plan's range, and the answer says so`, async () => {
      for (const json of [{ secret: { secret: 'x', ttl } }, { secret: 'x', ttl }]) {
        const { status, body } = await app.call('/secret/conceal', { json });
        expect(status).toBe(200);
        expect(body.record.secret.lifespan).toBe(granted);
        expect(body.details.adjusted).toEqual({ ttl: { asked, granted } });
      }
      const { body } = await app.call('/secret/generate', { json: { secret: { ttl } } });
      expect([body.record.secret.lifespan, body.details.adjusted]).toEqual([
        granted,
        { ttl: { asked, granted } },
      ]);
    });
  }

  for (const ttl of [undefined, null, '', 0, '0', '000', -0, 60, '60', 604_800, '0604800']) {
    it(`of ${JSON.stringify(ttl)} is granted as asked, or as the plan has it, without a word`, async () => {
      const { status, body } = await app.call('/secret/conceal', { json: { secret: { secret: 'x', ttl } } });
      expect(status).toBe(200);
      expect(body.record.secret.lifespan).toBe(Number(ttl) || 604_800);
      expect(body.details).not.toHaveProperty('adjusted');
    });
  }
});

describe('an unknown field', () => {
  const cases: readonly [string, unknown, readonly string[]][] = [
    ['a misspelt passphrase', { secret: { secret: 'x', passphase: 'oops' } }, ['secret.passphase']],
    ['a misspelt ttl in a flat body', { secret: 'x', tll: 3_600 }, ['tll']],
    [
      'options beside the form',
      { secret: { secret: 'x' }, passphrase: 'pw', ttl: 60 },
      ['passphrase', 'ttl'],
    ],
    [
      'both',
      { secret: { secret: 'x', kind: 'conceal', shrimp: 1 }, extra: [] },
      ['extra', 'secret.kind', 'secret.shrimp'],
    ],
    [
      'a name of a prototype',
      { secret: { secret: 'x', constructor: 1 }, toString: null },
      ['toString', 'secret.constructor'],
    ],
    ['another spelling', { secret: { secret: 'x', Passphrase: 'pw' } }, ['secret.Passphrase']],
  ];
  for (const [what, json, ignored] of cases) {
    it(`is named in the answer of a creation: ${what}`, async () => {
      const { status, body } = await app.call('/secret/conceal', { json });
      expect(status).toBe(200);
      expect(body.details.ignored).toEqual(ignored);
    });
  }

  it('of generate is named, nested and flat, and __proto__ too', async () => {
    for (const [raw, ignored] of [
      ['{"secret":{"lenght":20},"x":1}', ['x', 'secret.lenght']],
      ['{"lenght":20,"__proto__":1}', ['lenght', '__proto__']],
      ['{"secret":null,"length":20}', ['secret']],
    ] as const) {
      const { body } = await app.call('/secret/generate', { raw });
      expect(body.details.ignored ?? []).toEqual(raw.includes('null') ? [] : [...ignored]);
    }
  });

  it('is named wherever a body is taken and an answer has details', async () => {
    const make = async () => {
      const json = { secret: { secret: 'x', recipient: 'joe@example.org' } };
      const { body } = await app.call('/secret/conceal', { json, headers: signedIn });
      await app.service.settled();
      return { key: body.record.secret.key, metadataKey: body.record.metadata.key };
    };
    const { key, metadataKey } = await make();
    const changed = await app.call(`/private/${metadataKey}`, {
      method: 'PATCH',
      json: { memo: 'm', pass: 'x' },
      headers: signedIn,
    });
    expect([changed.status, changed.body.details.ignored]).toEqual([200, ['pass']]);
    const calls = [
      [`/secret/${key}/reveal`, { continue: false, pass: 'x' }],
      [`/private/${metadataKey}/burn`, { continue: false, pass: 'x' }],
      [`/private/${metadataKey}/deliver`, { pass: 'x' }],
      [`/private/${metadataKey}/burn`, { pass: 'x' }],
      [`/secret/${(await make()).key}/reveal`, { pass: 'x' }],
    ] as const;
    for (const [path, json] of calls) {
      const { status, body } = await app.call(path, { json, headers: signedIn });
      expect([path, status, body.details.ignored]).toEqual([path, 200, ['pass']]);
    }
  });

  it('is not spoken of when there is none', async () => {
    const { body } = await app.call('/secret/conceal', { json: { secret: { secret: 'x', ttl: 60 } } });
    expect(body.details).not.toHaveProperty('ignored');
  });

  it('cannot make an answer grow without bound', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, number) => [`field${number}`, 1]));
    const long = { [`${'n'.repeat(5_000)}`]: 1, '\ud800': 1 };
    const first = await app.call('/secret/conceal', { json: { secret: { secret: 'x', ...many } } });
    expect(first.body.details.ignored).toHaveLength(20);
    const second = await app.call('/secret/conceal', { json: { secret: { secret: 'x', ...long } } });
    for (const name of second.body.details.ignored) {
      expect(name.length).toBeLessThanOrEqual(100);
      expect(name.isWellFormed()).toBe(true);
    }
  });
});

describe('a locale', () => {
  const cases: readonly [string, string, string | null][] = [
    ['fr', 'fr', null],
    ['FR', 'fr', null],
    ['fr-CH', 'fr', null],
    ['zh-TW', 'zh-CN', 'zh-CN'],
    ['xx', 'de', 'de'],
    ['Klingon!', 'de', 'de'],
    ['es', 'de', 'de'],
  ];
  const french = createDocumentedApp({ locales: ['de', 'fr', 'zh-CN'], defaultLocale: 'de' });
  for (const [index, [asked, mailed, granted]] of cases.entries()) {
    it(`of ${asked} gives a mail in ${mailed}${granted === null ? '' : ', and the answer says so'}`, async () => {
      const own = await french.account(`user${index}@example.com`);
      const headers = { authorization: own.authorization };
      const json = { secret: { secret: 'x', recipient: 'joe@example.org', locale: asked } };
      const { body } = await french.call('/secret/conceal', { json, headers });
      const adjusted = granted === null ? undefined : { locale: { asked, granted } };
      expect(body.details.adjusted).toEqual(adjusted);
      await french.service.settled();
      expect(french.mails.at(-1)?.locale).toBe(mailed);
      const again = await french.call(`/private/${body.record.metadata.key}/deliver`, {
        json: { locale: asked },
        headers,
      });
      expect(again.body.details.adjusted).toEqual(adjusted);
      await french.service.settled();
      expect(french.mails.at(-1)?.locale).toBe(mailed);
    });
  }

  it('that is not given is that of the installation', async () => {
    const own = await french.account('plain@example.com');
    const json = { secret: { secret: 'x', recipient: 'joe@example.org' } };
    const { body } = await french.call('/secret/conceal', {
      json,
      headers: { authorization: own.authorization },
    });
    expect(body.details).not.toHaveProperty('adjusted');
    await french.service.settled();
    expect(french.mails.at(-1)?.locale).toBe('de');
  });
});
