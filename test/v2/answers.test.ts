/**
 * API v2, answers to requests: where they go, what they become, and what a request takes.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import { maxAnswers } from '../../src/core/request.ts';
import { maxCiphertextBytes } from '../../src/core/secrets/end-to-end.ts';
import { creationCapBytesFor } from '../../src/http/body.ts';
import { clientAnswer, clientRequest } from '../support/asking.ts';
import { narrowed } from '../support/narrow-token.ts';
import { codeOf, open, openWorld } from './asking-world.ts';
import { as } from './concealing.ts';

const day = 86_400;
const [one, two, three] = ['one', 'two', 'three'].map((seed) => clientAnswer(seed)) as [
  ReturnType<typeof clientAnswer>,
  ReturnType<typeof clientAnswer>,
  ReturnType<typeof clientAnswer>,
];

describe('an answer', () => {
  it('is an ordinary end-to-end secret, which only its asker is led to', async () => {
    const world = await openWorld({ anonymousMayCreate: false });
    const { app, alice, asked } = world;
    const { answer, answers, record } = await asked({ answers: 2, answer_ttl: 7_200 });
    const told = await answer(one);
    const { secret_key } = told.body.record;
    expect(told.body).toEqual({
      ...{ success: true, custid: 'anon', record: { secret_key: expect.stringMatching(/^[0-9a-z]{31}$/) } },
      details: {},
    });
    const { sealed } = one.wire;
    expect((await answers()).body).toMatchObject({
      record: { ...record, left: 1 },
      records: [
        {
          ...{ secret_key, wrapped: one.wire.wrapped, link_hash: sealed.link_hash },
          ...{ created: app.clock.now(), size: one.secret.ciphertext.length, state: 'new', discarded: false },
        },
      ],
      count: 1,
    });
    const status = await app.call(`/secret/${secret_key}/status`);
    expect(status.body.record).toMatchObject({ sealed: true, has_passphrase: false, lifespan: 7_200 });
    const { body } = await open(world, secret_key, one);
    expect(body.record.sealed.ciphertext).toBe(sealed.ciphertext);
    const recent = await app.call('/private/recent', { headers: as(alice) });
    expect(recent.body.records).toEqual([]);
  });

  it('has a state in the words of its secret, until the record of that has ended', async () => {
    const world = await openWorld();
    const { app, asked } = world;
    const { answer, states, change, discard } = await asked({ answers: 4, answer_ttl: 3_600, ttl: 7 * day });
    const keys = [];
    for (const sent of [one, two, three]) keys.push((await answer(sent)).body.record.secret_key);
    await open(world, keys[0], one);
    await app.call(`/secret/${keys[1]}/burn`, { json: two.secret.body });
    expect(await states()).toEqual(['received', 'burned', 'new']);
    app.clock.advance(3_600);
    expect(await states()).toEqual(['received', 'burned', 'expired']);
    await change({ ...clientRequest().owner, close: true });
    app.clock.advance(3_600);
    await app.store.sweep(500);
    expect(await states()).toEqual(['unknown', 'unknown', 'unknown']);
    expect(codeOf(await discard(keys[2]))).toBe('done');
    expect(await states()).toEqual(['unknown', 'unknown', 'unknown, discarded']);
  });

  const fates: readonly [
    string,
    (key: string, at: Awaited<ReturnType<typeof inMailbox>>) => Promise<unknown>,
  ][] = [
    ['at once', async () => {}],
    ['after it was read', (key, { world }) => open(world, key, one)],
    ['after it was discarded', (key, { discard }) => discard(key)],
    ['after it expired', async (_key, { world }) => world.app.clock.advance(3_600)],
    ['after the end', (_key, { change, request }) => change({ ...request.owner, close: true })],
  ];
  const inMailbox = async () => {
    const world = await openWorld();
    return { world, ...(await world.asked({ answer_ttl: 3_600 })) };
  };
  it.each(fates)('that is sent again %s is the same, and is stored once', async (_when, meet) => {
    const mailbox = await inMailbox();
    const { answer, answers } = mailbox;
    const { secret_key } = (await answer(one)).body.record;
    await meet(secret_key, mailbox);
    const before = (await answers()).body;
    // Whatever else comes with the same hash of a link.
    for (const sent of [one, { ...one, wire: { ...one.wire, wrapped: two.wire.wrapped } }]) {
      const { body } = await answer(sent);
      expect([body.record, body.details]).toEqual([{ secret_key }, { repeated: true }]);
    }
    expect((await answers()).body).toEqual(before);
  });

  it('needs a free place in an open request, and is otherwise refused and not stored', async () => {
    const { app, asked } = await openWorld();
    const { answer, change, answers, request } = await asked();
    await answer(one);
    expect(codeOf(await answer(two))).toBe('409 request_full');
    await change({ ...request.owner, answers: 2 });
    await change({ ...request.owner, close: true });
    expect(codeOf(await answer(two))).toBe('409 request_ended');
    const late = await asked({ ttl: 3_600 });
    app.clock.advance(3_600);
    expect(codeOf(await late.answer(two))).toBe('404 unknown_request');
    expect((await answers()).body.count).toBe(1);
    const refusals = app.events.filter(({ event }) => event === 'request_refused');
    expect(refusals).toMatchObject([{ why: 'full' }, { why: 'ended' }]);
  });

  it('may be as large as the plan of its asker allows, and no larger', async () => {
    const { app, asked, make } = await openWorld({ requests: 'anyone' });
    const fits = (plan: 'basic' | 'anonymous') => maxCiphertextBytes(builtInPlans[plan]) - 16;
    const { answer } = await asked();
    expect(codeOf(await answer(clientAnswer('over', fits('basic') + 65_536)))).toBe('413 too_large');
    expect(codeOf(await answer(clientAnswer('fits', fits('basic'))))).toBe('done');
    const { key } = (await make(clientRequest(), {}, {})).body.record;
    const send = (paddedBytes: number) =>
      app.call(`/request/${key}/answer`, {
        json: { ...clientRequest().ask, ...clientAnswer('anonymous', paddedBytes).wire },
      });
    // The body as a whole is over what an answer to this request needs.
    const whole = await send(fits('basic'));
    const cap = creationCapBytesFor(builtInPlans, builtInPlans.anonymous);
    expect([codeOf(whole), whole.body.limit]).toEqual(['413 too_large', cap]);
    const over = await send(fits('anonymous') + 8_192);
    expect([codeOf(over), over.body.limit]).toEqual(['413 too_large', builtInPlans.anonymous.maxSealedBytes]);
    expect(codeOf(await send(fits('anonymous')))).toBe('done');
  });

  it('counts as a creation of the network that it comes from, whatever credentials come with it', async () => {
    const rule = { limit: 1, windowSeconds: 3_600, burst: 1 };
    const create = { ...builtInRateLimits.create, anonymous: rule };
    const { alice, asked } = await openWorld({ rateLimits: { ...builtInRateLimits, create } });
    const { answer, to, request } = await asked({ answers: 2 });
    await answer(one);
    for (const headers of [{}, as(alice), { authorization: 'Basic eDp5' }])
      expect(codeOf(await to('answer', { ...request.ask, ...two.wire }, headers))).toBe('429 rate_limited');
  });

  it('of 100 senders at once is stored once for one place, and the others are told', async () => {
    const { app, asked } = await openWorld();
    const { key, request, answers } = await asked();
    const senders = Array.from({ length: 100 }, (_, n) => clientAnswer(`sender ${n}`));
    const told = await Promise.all(
      senders.map(({ wire }) => app.call(`/request/${key}/answer`, { json: { ...request.ask, ...wire } })),
    );
    const codes = Object.groupBy(told.map(codeOf), (code) => code);
    expect([codes.done?.length, codes['409 request_full']?.length]).toEqual([1, 99]);
    expect((await answers()).body).toMatchObject({ count: 1, record: { state: 'full', left: 0 } });
  });

  it('that 100 tries send at once is one, and all get its key', async () => {
    const { asked } = await openWorld();
    const { answer, answers } = await asked({ answers: 20 });
    const told = await Promise.all(Array.from({ length: 100 }, () => answer(one)));
    expect(new Set(told.map(({ body }) => body.record.secret_key)).size).toBe(1);
    expect(told.filter(({ body }) => body.details.repeated === true).length).toBe(99);
    expect((await answers()).body).toMatchObject({ count: 1, record: { left: 19 } });
  });
});

describe('a discard', () => {
  it('burns the answer if it waits, and frees its place once', async () => {
    const world = await openWorld();
    const { answer, discard, states, answers } = await world.asked();
    const first = (await answer(one)).body.record.secret_key;
    const { record, records } = (await discard(first)).body;
    expect([record.state, record.left, records[0].state]).toEqual(['open', 1, 'burned']);
    expect(codeOf(await open(world, first, one))).toBe('404 unknown_secret');
    const second = (await answer(two)).body.record.secret_key;
    for (let n = 0; n < 3; n += 1) expect((await discard(first)).body.record.left).toBe(0);
    await open(world, second, two);
    expect((await discard(second)).body.record.left).toBe(1);
    expect(await states()).toEqual(['burned, discarded', 'received, discarded']);
    expect((await answers()).body.count).toBe(2);
    const burns = world.app.events.filter(({ event }) => event === 'burned');
    expect(burns).toMatchObject([{ by: 'recipient' }]);
  });

  it('is refused for a secret that is no answer to this request', async () => {
    const { asked } = await openWorld();
    const [mailbox, other] = [await asked(), await asked({}, clientRequest('other'))];
    const { secret_key } = (await other.answer(one)).body.record;
    const told = await mailbox.discard(secret_key);
    expect([codeOf(told), told.body.secret_key]).toEqual(['404 unknown_secret', secret_key]);
    expect(await other.states()).toEqual(['new']);
  });

  it(`frees places for at most ${maxAnswers} answers in a request's life`, async () => {
    const { asked } = await openWorld();
    const { answer, discard } = await asked();
    for (let n = 0; n < maxAnswers; n += 1)
      await discard((await answer(clientAnswer(`rubbish ${n}`))).body.record.secret_key);
    expect(codeOf(await answer(one))).toBe('409 request_full');
  });
});

describe('a change', () => {
  const { owner } = clientRequest();

  it('closes for ever: again is fine, and nothing else changes any more', async () => {
    const { asked } = await openWorld();
    const { change, record } = await asked();
    for (let n = 0; n < 2; n += 1) {
      const { body } = await change({ ...owner, close: true });
      expect(body.record).toEqual({ ...record, state: 'ended', left: 0 });
    }
    for (const json of [{ ttl: 60 }, { answers: 2 }])
      expect(codeOf(await change({ ...owner, ...json }))).toBe('409 request_ended');
  });

  it('moves the end, counted from now, within the longest of the plan since its creation', async () => {
    const { app, asked } = await openWorld();
    const { change, record } = await asked({ ttl: day });
    const { ttlMinSeconds, ttlMaxSeconds } = builtInPlans.basic;
    app.clock.advance(3_600);
    const to = async (ttl: number) => (await change({ ...owner, ttl })).body;
    expect((await to(day)).record).toMatchObject({ lifespan: 3_600 + day, updated: app.clock.now() });
    expect((await to(1)).details).toEqual({ adjusted: { ttl: { asked: 1, granted: ttlMinSeconds } } });
    const longest = await to(10 ** 9);
    expect(longest.record.until).toBe(record.created + ttlMaxSeconds);
    expect(longest.details.adjusted.ttl.granted).toBe(ttlMaxSeconds - 3_600);
  });

  it('takes more answers or fewer, but no fewer than have come', async () => {
    const { asked } = await openWorld();
    const { answer, change } = await asked({ answers: 2 });
    await answer(one);
    await answer(two);
    const told = await change({ ...owner, answers: 1 });
    expect([codeOf(told), told.body.field]).toEqual(['422 invalid_field', 'answers']);
    expect((await change({ ...owner, answers: 3 })).body.record).toMatchObject({ answers: 3, left: 1 });
  });

  it('closes without the proof for the account that asked alone, with the scope manage', async () => {
    const { app, alice, asked } = await openWorld();
    const { change, answer, record } = await asked();
    await answer(one);
    const close = { close: true };
    const narrow = await narrowed(app, alice, ['create']);
    expect(codeOf(await change(close, as(narrow)))).toBe('403 insufficient_scope');
    for (const headers of [{}, as(await app.account('bob@example.com'))])
      expect(codeOf(await change(close, headers))).toBe('404 unknown_request');
    const { body } = await change(close, as(alice));
    expect(body).toMatchObject({ record: { ...record, state: 'ended', left: 0 }, custid: alice.username });
    expect(body.records).toBeUndefined();
  });

  it('without an account gives no second place', async () => {
    const { app, make } = await openWorld({ requests: 'anyone' });
    const { key } = (await make(clientRequest(), {}, {})).body.record;
    const told = await app.call(`/request/${key}/change`, { json: { ...owner, answers: 2 } });
    expect([codeOf(told), told.body.field]).toEqual(['422 invalid_field', 'answers']);
  });
});

describe('the notice of an answer', () => {
  it('is mailed to the asker at most once an hour for a request, if that was asked for', async () => {
    const { app, asked } = await openWorld();
    const mailbox = await asked({ answers: 4, notify: true });
    const quiet = await asked({}, clientRequest('quiet'));
    const counts: number[] = [];
    const count = async () => {
      await app.requests.settled();
      counts.push(app.accountMails.length);
    };
    await quiet.answer(one);
    await count();
    const at = app.clock.now();
    for (const sent of [one, one, two]) await mailbox.answer(sent);
    await count();
    app.clock.advance(3_600);
    await mailbox.answer(three);
    await count();
    expect(counts).toEqual([0, 1, 2]);
    expect(app.accountMails[0]).toMatchObject({ kind: 'request_answered', at });
    expect(JSON.stringify(app.accountMails)).not.toContain(mailbox.key);
  });
});
