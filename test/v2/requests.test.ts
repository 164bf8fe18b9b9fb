/**
 * API v2, requests for secrets: each operation with each refusal, who may ask, and what becomes of answers.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInPlans } from '../../src/core/plans.ts';
import { clientAnswer, clientRequest } from '../support/asking.ts';
import { narrowed } from '../support/narrow-token.ts';
import { giveDomain } from '../support/own-domain.ts';
import { codeOf, openWorld } from './asking-world.ts';
import { as } from './concealing.ts';
import type { Told } from './documented-app.ts';

const unknownKey = '0'.repeat(31);
const day = 86_400;

const request = clientRequest();
const { wire } = clientAnswer('valid');

/** A valid body of each operation on a request. */
const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  look: request.ask,
  report: request.ask,
  answer: { ...request.ask, ...wire },
  answers: request.owner,
  change: { ...request.owner, answers: 1 },
  discard: { ...request.owner, secret_key: unknownKey },
};
const wrongs: readonly unknown[] = [
  undefined,
  7,
  '',
  'A'.repeat(42),
  `${'A'.repeat(43)}=`,
  `${'A'.repeat(42)}B`,
];
const sealedWith = (changes: object) => ({ sealed: { ...wire.sealed, ...changes } });

describe.each(['documented', 'upstream'] as const)('in the dialect %s', (v2Dialect) => {
  const opening = openWorld({ v2Dialect });

  it.each(Object.keys(bodies))('%s refuses every field of another form, whatever the key', async (what) => {
    const { app, asked } = await opening;
    const { key, states } = await asked();
    const flaws: [field: string, body: object][] = Object.keys(bodies[what] ?? {})
      .filter((field) => !['answers', 'sealed'].includes(field))
      .flatMap((field) =>
        wrongs.map((wrong): [string, object] => [field, { ...bodies[what], [field]: wrong }]),
      );
    if (what === 'answer')
      for (const changes of [{ passphrase: true }, { ciphertext: 'AAAA' }, { link_hash: 'A' }, { v: 2 }])
        flaws.push(['sealed', { ...bodies.answer, ...sealedWith(changes) }]);
    if (what === 'change')
      flaws.push(
        ['', { ...bodies.change, ttl: 60 }],
        ['', request.owner],
        ['close', { ...request.owner, close: false }],
        ['answers', { ...request.owner, answers: 21 }],
        ['owner', { ttl: 60 }],
      );
    for (const [field, json] of flaws)
      for (const at of [key, unknownKey]) {
        const { status, body } = await app.call(`/request/${at}/${what}`, { json });
        expect([at, json, status, body.error]).toEqual([at, json, 422, 'invalid_field']);
        expect(body.field.split('.')[0]).toBe(field);
      }
    expect(await states()).toEqual([]);
  });

  it.each(Object.keys(bodies))(
    '%s of an unknown key, and of one that has another form, is 404',
    async (what) => {
      const { app } = await opening;
      for (const at of [unknownKey, 'x', unknownKey.toUpperCase().replace('0', 'A')]) {
        const told = await app.call(`/request/${at}/${what}`, { json: bodies[what] });
        expect([codeOf(told), told.body.request_key]).toEqual(['404 unknown_request', at]);
      }
    },
  );

  it.each(Object.keys(bodies))('%s with another proof is refused and changes nothing (P17)', async (what) => {
    const { app, asked, alice } = await opening;
    const { key, to, answer, states } = await asked({ answers: 2 });
    await answer(clientAnswer(`another ${what}`));
    const other = clientRequest('other');
    const wrong = { ...bodies[what], ...('owner' in (bodies[what] ?? {}) ? other.owner : other.ask) };
    const told = await to(what, wrong, as(alice));
    if ('ask' in wrong) expect(codeOf(told)).toBe('422 incomplete_link');
    else {
      const unknown = await app.call(`/request/${unknownKey}/${what}`, { json: wrong, headers: as(alice) });
      expect(JSON.stringify(told.body).replaceAll(key, unknownKey)).toBe(JSON.stringify(unknown.body));
      const headersOf = ({ headers }: Told) => [...headers].filter(([name]) => name !== 'x-request-id');
      expect(headersOf(told)).toEqual(headersOf(unknown));
    }
    expect(await states()).toEqual(['new']);
  });

  it.each(Object.keys(bodies))(
    '%s of a locked account is unknown until it is unlocked, and of a deleted one for ever',
    async (what) => {
      const { app, make } = await opening;
      const account = await app.account(`${what}-${v2Dialect}@example.com`);
      const { key } = (await make(request, {}, as(account))).body.record;
      const told = async () => codeOf(await app.call(`/request/${key}/${what}`, { json: bodies[what] }));
      await app.store.lockAccount(account.id);
      expect(await told()).toBe('404 unknown_request');
      await app.store.unlockAccount(account.id);
      expect(await told()).toBe(what === 'discard' ? '404 unknown_secret' : 'done');
      await app.store.deleteAccount(account.id);
      expect(await told()).toBe('404 unknown_request');
    },
  );

  it('names unknown fields, and reads a form where the dialect does', async () => {
    const { app, asked } = await opening;
    const { key, to } = await asked();
    expect((await to('look', { ...request.ask, prompt: 'x' })).body.details).toEqual({ ignored: ['prompt'] });
    const raw = new URLSearchParams({ ...request.owner, answers: '2' }).toString();
    const form = { raw, contentType: 'application/x-www-form-urlencoded' };
    const told = await app.call(`/request/${key}/change`, { ...form, method: 'POST' });
    expect(codeOf(told)).toBe(v2Dialect === 'upstream' ? 'done' : '415 unsupported_media_type');
  });
});

describe('asking', () => {
  it('makes a request as its asker then sees it, with what the plan grants', async () => {
    const { app, make, asked } = await openWorld();
    const { key, record, answers } = await asked({
      answers: 3,
      ttl: 3_600,
      answer_ttl: '7200',
      notify: true,
    });
    const now = app.clock.now();
    expect(record).toEqual({
      ...{ identifier: key, key, state: 'open', terms: request.wire.terms, answers: 3, left: 3 },
      ...{ created: now, updated: now, lifespan: 3_600, until: now + 3_600, answer_ttl: 7_200 },
      ...{ notify: true, share_domain: '' },
    });
    expect((await answers()).body).toMatchObject({ record, records: [], count: 0 });
    const { body } = await make(request, { ttl: 1, answer_ttl: 10 ** 9 });
    const { ttlMinSeconds, ttlMaxSeconds } = builtInPlans.basic;
    expect(body.details.adjusted).toEqual({
      ttl: { asked: 1, granted: ttlMinSeconds },
      answer_ttl: { asked: 10 ** 9, granted: ttlMaxSeconds },
    });
    expect((await make(request)).body.record).toMatchObject({ answers: 1, notify: false, lifespan: 604_800 });
  });

  const flaws: readonly [string, object][] = [
    ['terms', { terms: request.wire.owner_hash }],
    ['terms', { terms: undefined }],
    ['owner_hash', { owner_hash: 'x' }],
    ['ask_hash', { ask_hash: null }],
    ['answers', { answers: 0 }],
    ['answers', { answers: 21 }],
    ['answers', { answers: 1.5 }],
    ['ttl', { ttl: -1 }],
    ['answer_ttl', { answer_ttl: 'soon' }],
    ['notify', { notify: 'read' }],
    ['share_domain', { share_domain: 'secrets.example.com' }],
  ];
  it.each(flaws)('refuses %s of another form: %j', async (field, json) => {
    const { make } = await openWorld();
    const told = await make(request, json);
    expect([codeOf(told), told.body.field]).toEqual(['422 invalid_field', field]);
  });

  const who: readonly [string, 'accounts' | 'anyone' | 'off', object, string, string][] = [
    ['accounts', 'accounts', {}, 'done', '401 account_required'],
    ['anyone', 'anyone', {}, 'done', 'done'],
    ['anyone, of several answers', 'anyone', { answers: 2 }, 'done', '422 invalid_field'],
    ['anyone, with notices', 'anyone', { notify: true }, 'done', '401 account_required'],
    ['nobody', 'off', {}, '403 requests_disabled', '403 requests_disabled'],
  ];
  it.each(who)('is for %s, where the setting is %s', async (_name, requests, json, byAccount, anonymous) => {
    const { make } = await openWorld({ requests });
    expect([codeOf(await make(request, json)), codeOf(await make(request, json, {}))]).toEqual([
      byAccount,
      anonymous,
    ]);
  });

  it('needs the scope create, and a verified share domain of the account', async () => {
    const { app, make, alice } = await openWorld();
    const narrow = await narrowed(app, alice, ['manage']);
    expect(codeOf(await make(request, {}, as(narrow)))).toBe('403 insufficient_scope');
    await giveDomain(app.store, alice.id, 'secrets.example.com');
    const { record } = (await make(request, { share_domain: 'secrets.example.com' })).body;
    expect(record.share_domain).toBe('secrets.example.com');
  });

  it('is bounded by the places of the open requests of an account, also when one is changed', async () => {
    const plans = { basic: { ...builtInPlans.basic, maxPlaces: 4 } };
    const { make, asked } = await openWorld({ plans });
    const first = await asked({ answers: 3 });
    const full = await make(request, { answers: 2 });
    expect([codeOf(full), full.body.max]).toEqual(['409 too_many_places', 4]);
    const second = await asked();
    const more = await second.change({ ...request.owner, answers: 2 });
    expect([codeOf(more), more.body.max]).toEqual(['409 too_many_places', 4]);
    await first.change({ ...request.owner, close: true });
    expect(codeOf(await second.change({ ...request.owner, answers: 4 }))).toBe('done');
  });

  it('is five times a day for an account younger than a week, where strangers sign up', async () => {
    const codes = async (strangersSignUp: boolean, ageSeconds: number) => {
      const { app, make } = await openWorld({ strangersSignUp });
      app.clock.advance(ageSeconds);
      const told = [];
      for (let n = 0; n < 6; n += 1) told.push(await make(clientRequest(String(n))));
      if (told[5]?.status === 429) expect(Number(told[5].headers.get('retry-after'))).toBeGreaterThan(3_600);
      return told.map(codeOf);
    };
    const six = Array(6).fill('done');
    expect(await codes(true, 7 * day - 1)).toEqual([...six.slice(1), '429 rate_limited']);
    expect(await codes(true, 7 * day)).toEqual(six);
    expect(await codes(false, 0)).toEqual(six);
  });
});

describe('looking', () => {
  it('says what is asked, by whom, until when, and what fits; and changes nothing', async () => {
    const { app, alice, asked } = await openWorld();
    const since = app.clock.now();
    app.clock.advance(60);
    const { key, record, to, answers } = await asked();
    const looked = (await to('look', request.ask)).body;
    const { until, terms } = record;
    expect(looked.record).toEqual({
      ...{ identifier: key, key, terms, until, state: 'open', share_domain: '' },
      asked_by: { username: alice.username, since },
      max_sealed_bytes: builtInPlans.basic.maxSealedBytes,
    });
    expect((await answers()).body.record).toEqual(record);
  });

  it('says that nobody known asks, and until when a request that is full or has ended would have taken answers', async () => {
    const { app, make } = await openWorld({ requests: 'anyone' });
    const { key, until } = (await make(request, {}, {})).body.record;
    const { maxSealedBytes } = builtInPlans.anonymous;
    const look = async () => (await app.call(`/request/${key}/look`, { json: request.ask })).body.record;
    expect(await look()).toMatchObject({ asked_by: null, max_sealed_bytes: maxSealedBytes, state: 'open' });
    await app.call(`/request/${key}/answer`, { json: bodies.answer });
    expect(await look()).toMatchObject({ state: 'full', until });
    await app.call(`/request/${key}/change`, { json: { ...request.owner, close: true } });
    expect(await look()).toMatchObject({ state: 'ended', until });
  });
});

describe('reporting', () => {
  it('is counted once a day for a network and a request, and says the same each time', async () => {
    const { app, asked } = await openWorld({ trustedProxies: ['127.0.0.1'] });
    const [one, two] = [await asked(), await asked({}, clientRequest('two'))];
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const report = async ({ to, request: { ask } }: typeof one, address: string) =>
      expect((await to('report', ask, from(address))).body).toEqual({ success: true });
    for (const address of ['192.0.2.1', '192.0.2.7', '198.51.100.1']) await report(one, address);
    await report(two, '192.0.2.1');
    app.clock.advance(day);
    await report(one, '192.0.2.1');
    expect((await app.store.listRequests(9, null)).map(({ reports }) => reports)).toEqual([3, 1]);
  });
});
