/**
 * API v2: a secret that opens only with a code from an email (`verify`).
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { TestAppOptions } from '../support/app.ts';
import { type ClientSecret, clientSecret } from '../support/sealed-wire.ts';
import { codeIn } from '../support/service-bench.ts';
import { as } from './concealing.ts';
import { createDocumentedApp } from './documented-app.ts';

const to = 'anna.example@example.org';
const newLook = () => randomBytes(16).toString('base64url');

async function sceneOf(options: TestAppOptions = {}) {
  const app = createDocumentedApp({ trustedProxies: ['127.0.0.1'], ...options });
  const alice = await app.account('alice@example.com');
  const headers = as(alice);
  const conceal = (fields: Record<string, unknown> = {}, who: Record<string, string> = headers) =>
    app.call('/secret/conceal', {
      json: { secret: { secret: 'hello', verify: to, ...fields } },
      headers: who,
    });
  const from = (network: string) => ({ 'x-forwarded-for': network });
  const post = (path: string, json: unknown, more: Record<string, string> = {}) =>
    app.call(path, { json, headers: more });
  return {
    app,
    headers,
    conceal,
    from,
    async made(fields: Record<string, unknown> = {}) {
      const { record } = (await conceal(fields)).body;
      return { key: record.secret.key as string, metadataKey: record.metadata.key as string };
    },
    ask: (key: string, json: unknown, more = {}) => post(`/secret/${key}/code`, json, more),
    reveal: (key: string, json: unknown, more = {}) => post(`/secret/${key}/reveal`, json, more),
    burn: (key: string, json: unknown, more = {}) => post(`/secret/${key}/burn`, json, more),
    receipt: async (key: string) => (await app.call(`/private/${key}`, { headers })).body.record,
    /** The last code that was mailed. */
    mailed: () => codeIn(app.accountMails),
    settled: () => app.service.settled(),
  };
}

type Scene = Awaited<ReturnType<typeof sceneOf>>;

const wrongOf = (code: string) => (code === '000000' ? '000001' : '000000');

async function codeFor({ ask, settled, mailed }: Scene, key: string, json: object, more = {}) {
  const asked = await ask(key, json, more);
  if (asked.status !== 200) throw new Error(`no code: ${JSON.stringify(asked.body)}`);
  await settled();
  return mailed();
}

describe('a creation with verify', () => {
  it('answers that it asks for a code, and nothing repeats the address (P18)', async () => {
    const scene = await sceneOf();
    for (const fields of [
      {},
      { secret: undefined, sealed: clientSecret().wire },
      { recipient: 'anna@example.org' },
    ]) {
      const { status, body } = await scene.conceal(fields);
      expect([status, body.record.secret.verify, body.record.metadata.verify]).toEqual([200, true, true]);
      expect(body.record.metadata.codes).toEqual([]);
      const { key } = body.record.secret;
      const status2 = await scene.app.call(`/secret/${key}/status`);
      const looked = await scene.app.call(`/secret/${key}`);
      const recent = await scene.app.call('/private/recent', { headers: scene.headers });
      expect([status2.body.record.verify, looked.body.record.verify]).toEqual([true, true]);
      expect(recent.body.records[0]).toMatchObject({ verify: true, codes: null });
      const receipt = await scene.receipt(body.record.metadata.key);
      expect(JSON.stringify([body, status2.body, looked.body, recent.body, receipt])).not.toContain(
        'anna.ex',
      );
    }
  });

  it('of an empty text or null is one without', async () => {
    const scene = await sceneOf();
    for (const verify of ['', null, undefined]) {
      const { body } = await scene.conceal({ verify });
      expect([body.record.secret.verify, body.details.ignored]).toEqual([false, undefined]);
      expect((await scene.reveal(body.record.secret.key, {})).status).toBe(200);
    }
  });

  it('needs an account, a mail server and an address', async () => {
    const scene = await sceneOf();
    const anonymous = await scene.conceal({}, {});
    expect([anonymous.status, anonymous.body.error]).toEqual([401, 'account_required']);
    const refusal = (body: unknown) => ({ status: 422, body: expect.objectContaining(body as object) });
    const refused = { error: 'invalid_field', field: 'secret.verify' };
    for (const verify of ['anna', 'a@b', 'a@b.org, c@d.org', 'a@b.org\r\nBcc: c@d.org'])
      expect(await scene.conceal({ verify })).toMatchObject(refusal(refused));
    for (const environment of [{ MAYFLY_VERIFY: 'off' }, { MAYFLY_SMTP_URL: '' }])
      expect(await (await sceneOf({ environment })).conceal()).toMatchObject(refusal(refused));
    const trial = await sceneOf({ environment: { MAYFLY_SMTP_URL: '' }, baseUrl: 'http://localhost:3000' });
    expect((await trial.conceal()).status).toBe(200);
  });

  it('works in a batch; a generated value takes none', async () => {
    const { app, headers } = await sceneOf();
    const secrets = [
      { secret: 'x', verify: to },
      { generate: { verify: to } },
      { generate: { verify: '' } },
      { secret: 'x', verify: 'anna' },
    ];
    const { body } = await app.call('/secret/batch', { json: { secrets }, headers });
    expect(body.results).toMatchObject([
      { record: { secret: { verify: true } } },
      { status: 422, error: 'invalid_field', field: 'secrets.1.generate.verify' },
      { record: { secret: { verify: false } } },
      { status: 422, error: 'invalid_field', field: 'secrets.3.verify' },
    ]);
    const generated = await app.call('/secret/generate', { json: { secret: { verify: to } }, headers });
    expect(generated).toMatchObject({
      status: 422,
      body: { error: 'invalid_field', field: 'secret.verify' },
    });
  });
});

describe('POST /secret/:key/code', () => {
  it('stores a code, mails it, and says where to without the address', async () => {
    const scene = await sceneOf();
    const { key, metadataKey } = await scene.made();
    const { status, body } = await scene.ask(key, { look: newLook() });
    const at = scene.app.clock.now();
    const record = { sent_to: 'an*****@e*****.org', until: at + 600 };
    expect([status, body]).toEqual([200, { success: true, record, details: {} }]);
    await scene.settled();
    expect(scene.mailed()).toMatch(/^[0-9]{6}$/);
    const [mail] = scene.app.accountMails;
    expect(mail).toMatchObject({ kind: 'code', locale: 'en', senderName: null, isInSubject: false });
    expect(mail?.to.expose()).toBe(to);
    expect(scene.app.events.at(-1)).toEqual({ event: 'account_mail_ended', kind: 'code', state: 'accepted' });
    expect((await scene.receipt(metadataKey)).codes).toEqual([{ at, state: 'accepted' }]);
  });

  it('writes in the language asked for, else in the browser’s', async () => {
    const scene = await sceneOf();
    for (const [asked, locale, adjusted] of [
      [{ locale: 'fr-CH' }, 'fr', undefined],
      [{}, 'de', undefined],
      [{ locale: 'tlh' }, 'en', { locale: { asked: 'tlh', granted: 'en' } }],
    ] as const) {
      const { key } = await scene.made({ verify: `${locale}@example.org` });
      const language = { 'accept-language': 'de-CH, fr;q=0.5' };
      const { body } = await scene.ask(key, { look: newLook(), ...asked }, language);
      expect(body.details.adjusted).toEqual(adjusted);
      await scene.settled();
      expect(scene.app.accountMails.at(-1)?.locale).toBe(locale);
    }
  });

  it('refuses: an unknown secret, half a link, proofs of a plain one, one that asks for none, no nonce', async () => {
    const scene = await sceneOf();
    const sealed = clientSecret();
    const [plain, endToEnd] = [
      await scene.made(),
      await scene.made({ secret: undefined, sealed: sealed.wire }),
    ];
    const without = (await scene.conceal({ verify: '' })).body.record.secret.key as string;
    const sealedWithout = (await scene.conceal({ secret: undefined, verify: '', sealed: sealed.wire })).body
      .record;
    const look = newLook();
    const link_proof = sealed.body.link_proof;
    for (const [key, json, status, error] of [
      ['0'.repeat(31), { look }, 404, 'unknown_secret'],
      [endToEnd.key, { look }, 422, 'incomplete_link'],
      [endToEnd.key, { look, link_proof: sealed.body.proof }, 422, 'incomplete_link'],
      [plain.key, { look, link_proof }, 422, 'not_sealed'],
      [without, { look }, 422, 'needs_no_code'],
      [without, { look, link_proof }, 422, 'not_sealed'],
      [sealedWithout.secret.key, { look }, 422, 'incomplete_link'],
      [sealedWithout.secret.key, { look, link_proof }, 422, 'needs_no_code'],
      [plain.key, {}, 422, 'invalid_field'],
      [plain.key, { look: 'x' }, 422, 'invalid_field'],
    ] as const)
      expect(await scene.ask(key, json)).toMatchObject({ status, body: { error } });
    await scene.settled();
    expect(scene.app.accountMails).toEqual([]);
    expect((await scene.ask(endToEnd.key, { look, link_proof })).status).toBe(200);
    expect((await scene.app.call(`/guest/secret/${plain.key}/code`, { json: { look } })).status).toBe(404);
  });

  it('does not wait for the mail server, and the receipt says what became of the mail', async () => {
    const accepted = Promise.withResolvers<{ state: 'refused'; reply: string }>();
    const mailer = { sendSecretLink: () => accepted.promise, sendAccountMail: () => accepted.promise };
    const scene = await sceneOf({ mailer });
    const { key, metadataKey } = await scene.made();
    expect((await scene.ask(key, { look: newLook() })).status).toBe(200);
    const at = scene.app.clock.now();
    expect((await scene.receipt(metadataKey)).codes).toEqual([{ at, state: 'queued' }]);
    accepted.resolve({ state: 'refused', reply: `550 no ${to}` });
    await scene.settled();
    expect((await scene.receipt(metadataKey)).codes).toEqual([{ at, state: 'refused' }]);
  });
});

const doors = ['reveal', 'burn'] as const;
const kinds = {
  plain: null,
  'plain with a passphrase': 'right',
  'end-to-end': clientSecret(),
  'end-to-end with a passphrase': clientSecret({ hasPassphrase: true }),
} satisfies Record<string, ClientSecret | string | null>;

/** The creation's fields, and those that open it without a code, and with a wrong passphrase. */
function fieldsOf(kind: keyof typeof kinds) {
  const given: ClientSecret | string | null = kinds[kind];
  if (given === null) return { fields: {}, opening: {}, wrong: null, forCode: {} };
  if (typeof given === 'string')
    return {
      fields: { passphrase: given },
      opening: { passphrase: given },
      wrong: { passphrase: 'wrong' },
      forCode: {},
    };
  const { link_proof } = given.body;
  const wrong = given.wire.passphrase ? { link_proof, proof: link_proof } : null;
  return {
    fields: { secret: undefined, sealed: given.wire },
    opening: given.body,
    wrong,
    forCode: { link_proof },
  };
}

describe.each(doors)('a %s of such a secret', (door) => {
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
    const { fields, opening, wrong, forCode } = fieldsOf(kind);
    it(`(${kind}) takes the code of its nonce, and until then consumes nothing and tries no passphrase (P3, P14)`, async () => {
      const scene = await sceneOf();
      const { key, metadataKey } = await scene.made(fields);
      const [look, other] = [newLook(), newLook()];
      const required = { status: 422, body: { error: 'code_required' } };
      for (const json of [
        opening,
        { ...opening, look },
        { ...opening, look, code: '123456' },
        { ...opening, ...wrong },
      ])
        expect(await scene[door](key, json)).toMatchObject(required);
      const code = await codeFor(scene, key, { look, ...forCode });
      expect(await scene[door](key, { ...opening, look: other, code })).toMatchObject(required);
      expect(await scene[door](key, { ...opening, look })).toMatchObject(required);
      const bad = { ...opening, look, code: wrongOf(code) };
      for (const left of [4, 3])
        expect(await scene[door](key, bad)).toMatchObject({
          status: 422,
          body: { error: 'incorrect_code', attempts_left: left },
        });
      expect((await scene.receipt(metadataKey)).state).toBe('new');
      if (wrong !== null)
        expect((await scene[door](key, { ...wrong, look, code })).body.error).toBe('incorrect_passphrase');
      expect((await scene[door](key, { ...opening, look, code })).status).toBe(200);
      expect((await scene.receipt(metadataKey)).state).toBe(door === 'reveal' ? 'received' : 'burned');
    });

    it(`(${kind}) with continue false takes no code, and no passphrase either`, async () => {
      const scene = await sceneOf();
      const { key } = await scene.made(fields);
      const isGuarded = wrong !== null;
      for (const json of [opening, { ...opening, ...wrong }, opening, opening, opening, opening])
        expect(await scene[door](key, { ...json, continue: false })).toMatchObject(
          isGuarded
            ? { status: 422, body: { error: 'code_required' } }
            : { status: 200, body: { record: { verify: true } } },
        );
    });
  }

  it('takes no other form of a code, and none without a nonce: neither is a try', async () => {
    const scene = await sceneOf();
    const { key } = await scene.made();
    const look = newLook();
    const code = await codeFor(scene, key, { look });
    for (const json of [
      ...['', '12345', '1234567', '12345a', ' 123456', '123 456', '１２３４５６', 123456, ['123456']].map(
        (given) => ({ look, code: given }),
      ),
      { code },
      { look: null, code },
    ])
      expect(await scene[door](key, json)).toMatchObject({ status: 422, body: { error: 'invalid_field' } });
    const wrong = await scene[door](key, { look, code: wrongOf(code) });
    expect(wrong.body.attempts_left).toBe(4);
    expect((await scene[door](key, { look, code })).status).toBe(200);
  });

  it('ignores a code where the secret asks for none', async () => {
    const scene = await sceneOf();
    const { key } = await scene.made({ verify: null });
    expect((await scene[door](key, { look: newLook(), code: '123456' })).status).toBe(200);
  });

  it('takes a code for ten minutes, and only the last one of its nonce', async () => {
    const scene = await sceneOf();
    const { key } = await scene.made();
    const look = newLook();
    const first = await codeFor(scene, key, { look });
    scene.app.clock.advance(599);
    const second = await codeFor(scene, key, { look });
    if (first !== second)
      expect((await scene[door](key, { look, code: first })).body.error).toBe('incorrect_code');
    scene.app.clock.advance(600);
    expect((await scene[door](key, { look, code: second })).body.error).toBe('code_required');
    const third = await codeFor(scene, key, { look });
    scene.app.clock.advance(599);
    expect((await scene[door](key, { look, code: third })).status).toBe(200);
  });
});

describe('the second look', () => {
  it('asks for the nonce, not for the code', async () => {
    const scene = await sceneOf();
    const { key } = await scene.made();
    const look = newLook();
    const code = await codeFor(scene, key, { look });
    expect((await scene.reveal(key, { look, code })).status).toBe(200);
    expect((await scene.reveal(key, { look })).body.record.secret_value).toBe('hello');
    expect((await scene.reveal(key, { look: newLook(), code })).status).toBe(404);
    expect((await scene.reveal(key, { look, code: wrongOf(code) })).status).toBe(200);
  });
});

describe('too many', () => {
  it('wrong codes: five a network, and the creator sees no lock of one (P14)', async () => {
    const scene = await sceneOf();
    const { key, metadataKey } = await scene.made();
    const look = newLook();
    const code = await codeFor(scene, key, { look });
    const bad = { look, code: wrongOf(code) };
    for (let left = 4; left >= 0; left -= 1)
      expect((await scene.reveal(key, bad)).body).toMatchObject({
        error: 'incorrect_code',
        attempts_left: left,
      });
    const locked = await scene.reveal(key, { look, code });
    expect([locked.status, locked.body.error, locked.headers.get('retry-after')]).toEqual([
      429,
      'too_many_attempts',
      '600',
    ]);
    expect(locked.body.message).toBe(
      'Too many wrong codes were tried on this secret; please try again in 10 minutes',
    );
    expect((await scene.receipt(metadataKey)).locked).toBeNull();
    expect((await scene.reveal(key, { look, code }, scene.from('203.0.113.9'))).status).toBe(200);
  });

  it('wrong codes of all: the receipt says so, and the creator allows more (P14)', async () => {
    const scene = await sceneOf();
    const { key, metadataKey } = await scene.made({ ttl: 604_800 });
    const look = newLook();
    let code = '';
    const lock = async () => {
      code = await codeFor(
        scene,
        key,
        { look },
        scene.from(`198.51.${Math.floor(scene.app.clock.now() / 600) % 256}.1`),
      );
      for (let n = 0; n < 20; n += 1)
        await scene.reveal(key, { look, code: wrongOf(code) }, scene.from(`100.64.${n}.1`));
    };
    await lock();
    const locked = { by: 'code', until: scene.app.clock.now() + 600 };
    expect((await scene.receipt(metadataKey)).locked).toEqual(locked);
    const recent = await scene.app.call('/private/recent', { headers: scene.headers });
    expect(recent.body.records[0].locked).toEqual(locked);
    for (let n = 0; n < 4; n += 1) {
      scene.app.clock.advance(600);
      await lock();
    }
    expect((await scene.receipt(metadataKey)).locked).toEqual({ by: 'code', until: null });
    scene.app.clock.advance(600);
    code = await codeFor(scene, key, { look }, scene.from('203.0.113.1'));
    const refused = await scene.reveal(key, { look, code });
    expect([refused.status, refused.body.message]).toEqual([
      429,
      'Too many wrong codes were tried on this secret; it stays locked until its creator allows more: ask them',
    ]);
    const change = (json: object) =>
      scene.app.call(`/private/${metadataKey}`, { method: 'PATCH', json, headers: scene.headers });
    expect((await change({ attempts: 'more' })).body.record.locked).toEqual({ by: 'code', until: null });
    expect((await change({ codes: 'less' })).status).toBe(422);
    expect((await change({ codes: 'more' })).body.record.locked).toBeNull();
    expect((await scene.reveal(key, { look, code })).status).toBe(200);
  });

  it('mails: three a day to a network, twenty a secret, five of them for networks that had none', async () => {
    const scene = await sceneOf();
    const { key, metadataKey } = await scene.made({ ttl: 604_800 });
    const ask = async (network: string) => {
      const { status, body, headers } = await scene.ask(key, { look: newLook() }, scene.from(network));
      if (status !== 200)
        expect([body.error, Number(headers.get('retry-after')) > 0]).toEqual(['rate_limited', true]);
      return status;
    };
    for (const expected of [200, 200, 200, 429]) expect(await ask('2001:db8:1:1::1')).toBe(expected);
    expect(await ask('2001:db8:1:2::1')).toBe(429);
    expect(await ask('2001:db8:2::1')).toBe(200);
    await scene.settled();
    expect((await scene.receipt(metadataKey)).codes).toHaveLength(4);
  });
});

describe('version 1', () => {
  it.each([
    ['documented', 400],
    ['upstream', 404],
  ] as const)('in the dialect %s refuses to read such a secret, and it waits', async (dialect, status) => {
    const scene = await sceneOf({ dialect });
    const { key, metadataKey } = await scene.made();
    const answer = await scene.app.fetch(`/api/v1/secret/${key}`, { method: 'POST' });
    expect([answer.status, await answer.json()]).toEqual([
      status,
      { message: 'This secret opens only with a code from an email. Open its link in a browser.' },
    ]);
    expect((await scene.receipt(metadataKey)).state).toBe('new');
  });
});
