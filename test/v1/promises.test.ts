/**
 * Promises that v1 itself has to keep, each checked on the product and on a product with a seeded defect.
 *
 * A check returns what it found wrong; in the self-test, the same check must find something in the defective product.
 */
import { describe, expect, it } from 'bun:test';
import type { DialectName } from '../../src/api/version.ts';
import type { TestAppOptions } from '../support/app.ts';
import { type Answer, createV1Caller, type V1Caller } from './caller.ts';

const unknownKey = 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz';

/** Status, body and headers, without the key and whatever differs every time. */
function bytesOf({ status, text, headers }: Answer, key: string): string {
  const kept = [...headers].filter(([name]) => name !== 'x-request-id');
  return JSON.stringify([status, text.replaceAll(key, 'KEY'), kept]);
}

/** P4: reading, looking and failed attempts leave no trace on an unread secret. */
async function tracesOfLooking(caller: V1Caller): Promise<string[]> {
  const alice = await caller.app.account();
  const { metadata_key: key, secret_key: secretKey } = await caller.share({ passphrase: 'right' }, alice);
  const stateNow = async () => (await caller.get(`/private/${key}`, alice)).body?.state;
  const looks: [what: string, look: () => Promise<Answer>][] = [
    ['GET', () => caller.get(`/private/${key}`, alice)],
    ['HEAD', () => caller.send('HEAD', `/receipt/${key}`, { as: alice })],
    ['OPTIONS', () => caller.send('OPTIONS', `/metadata/${key}`, { as: alice })],
    ['recent', () => caller.post('/private/recent', {}, alice)],
    ['GET of the secret', () => caller.get(`/secret/${secretKey}`)],
    ['no passphrase', () => caller.post(`/secret/${secretKey}`)],
    ['a wrong passphrase', () => caller.post(`/secret/${secretKey}`, { passphrase: 'wrong' })],
    ['a malformed POST', () => caller.send('POST', `/private/${key}`, { body: '%', as: alice })],
    ['a malformed burn', () => caller.send('POST', `/private/${key}/burn`, { body: 'x=%ff', as: alice })],
    ['a malformed reveal', () => caller.send('POST', `/secret/${secretKey}`, { body: 'passphrase[]=right' })],
  ];
  const traces: string[] = [];
  for (const [what, look] of looks) {
    await look();
    const state = await stateNow();
    if (state !== 'new') traces.push(`${what}: ${state}`);
  }
  const read = await caller.post(`/secret/${secretKey}`, { passphrase: 'right' });
  return read.body.value === 'a value' ? traces : [...traces, 'the value is gone'];
}

/** P16: another account's record is answered with the same bytes as an unknown one, and strangers get nothing. */
async function leaksToStrangers(caller: V1Caller): Promise<string[]> {
  const alice = await caller.app.account('alice@example.com');
  const bob = await caller.app.account('bob@example.com');
  const { metadata_key: key } = await caller.share({}, alice);
  const ways = [
    ['GET', '/private/:key'],
    ['POST', '/private/:key'],
    ['POST', '/private/:key/burn'],
  ] as const;
  const leaks: string[] = [];
  for (const [method, path] of ways) {
    const ask = (of: string, as?: typeof bob) => caller.send(method, path.replace(':key', of), { as });
    const asked = bytesOf(await ask(key, bob), key);
    if (asked !== bytesOf(await ask(unknownKey, bob), unknownKey)) leaks.push(`${method} ${path}`);
    if ((await ask(key)).status !== 401) leaks.push(`${method} ${path} without credentials`);
  }
  return leaks;
}

/** P17: every reason why a secret does not open gives the same bytes. Returns the answers that differ. */
async function differingAnswers(caller: V1Caller): Promise<string[]> {
  const alice = await caller.app.account();
  const read = await caller.share();
  await caller.post(`/secret/${read.secret_key}`);
  const burned = await caller.share({}, alice);
  await caller.post(`/private/${burned.metadata_key}/burn`, {}, alice);
  const expired = await caller.share({ ttl: '60' });
  caller.app.clock.advance(60);
  const guarded = await caller.share({ passphrase: 'right' });
  const reasons: [why: string, key: string, form: Record<string, string>][] = [
    ['read', read.secret_key, {}],
    ['burned', burned.secret_key, {}],
    ['expired', expired.secret_key, {}],
    ['passphrase missing', guarded.secret_key, {}],
    ['passphrase wrong', guarded.secret_key, { passphrase: 'wrong' }],
    ['not a key', 'x', {}],
  ];
  const unknown = bytesOf(await caller.post(`/secret/${unknownKey}`), unknownKey);
  expect(unknown).toContain('404');
  const differing: string[] = [];
  for (const [why, key, form] of reasons) {
    if (bytesOf(await caller.post(`/secret/${key}`, form), key) !== unknown) differing.push(why);
  }
  return differing;
}

/** P14: how many of ten guesses were computed before they were refused, and whether the secret survived. */
async function guessesComputed(caller: V1Caller): Promise<number> {
  const made = await caller.share({ passphrase: 'right', ttl: '3600' });
  const path = `/secret/${made.secret_key}`;
  const guesses = Array.from({ length: 10 }, (_, at) => caller.post(path, { passphrase: `wrong ${at}` }));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  caller.app.clock.advance(600);
  expect((await caller.post(path, { passphrase: 'right' })).status).toBe(200);
  return statuses.filter((status) => status !== 429).length;
}

/** P18: secrets that appear in the answer to a refused request, or in what is reported about it. */
async function leaksInRefusals(caller: V1Caller): Promise<string[]> {
  const canary = 'canary-4d1f';
  const refused: [what: string, call: () => Promise<Answer>][] = [
    ['secret twice', () => caller.send('POST', '/share', { body: `secret=${canary}&secret=${canary}` })],
    ['bad ttl', () => caller.post('/share', { secret: canary, ttl: canary })],
    ['bad length', () => caller.post('/generate', { passphrase: canary, length: canary })],
    ['bad charset', () => caller.post('/generate', { charset: canary })],
    ['too large', () => caller.post('/share', { secret: canary.repeat(1_000) })],
    ['broken JSON', () => caller.send('POST', '/share', { body: `{"secret":"${canary}`, headers: jsonType })],
    ['anonymous recipient', () => caller.post('/share', { secret: 'a', recipient: `${canary}@example.org` })],
    [
      'credentials',
      () => caller.send('GET', '/status', { headers: { authorization: `Basic ${btoa(`a:${canary}`)}` } }),
    ],
    ['passphrase', () => caller.post(`/secret/${unknownKey}`, { passphrase: canary })],
    ['cross-site', () => caller.send('POST', '/share', { form: { secret: canary }, headers: crossSite })],
  ];
  const leaks: string[] = [];
  for (const [what, call] of refused) {
    const answer = await call();
    const told = JSON.stringify([
      answer.text,
      [...answer.headers],
      caller.app.answers.at(-1),
      caller.app.events,
    ]);
    if (answer.status < 400 || told.includes(canary)) leaks.push(what);
  }
  return leaks;
}
const jsonType = { 'content-type': 'application/json' };
const crossSite = { 'sec-fetch-site': 'cross-site' };

const defective = (wrapService: NonNullable<TestAppOptions['wrapService']>) =>
  createV1Caller({ wrapService });

describe('looking (P4)', () => {
  it('never marks, consumes or changes anything', async () => {
    expect(await tracesOfLooking(createV1Caller())).toEqual([]);
  });
  it('self-test: a GET that views is found', async () => {
    const caller = defective((service) => ({ ...service, findReceipt: service.viewReceipt }));
    expect((await tracesOfLooking(caller)).length).toBeGreaterThan(0);
  });
  it('differs from a POST on the receipt, after which it is viewed', async () => {
    const caller = createV1Caller();
    const alice = await caller.app.account();
    const { metadata_key: key } = await caller.share({}, alice);
    expect((await caller.post(`/private/${key}`, {}, alice)).body.state).toBe('viewed');
    expect((await caller.get(`/private/${key}`, alice)).body.state).toBe('viewed');
  });
});

describe("another account's record (P16)", () => {
  it('is answered in the bytes of an unknown one', async () => {
    expect(await leaksToStrangers(createV1Caller())).toEqual([]);
  });
  it('self-test: a service that trusts every holder is found', async () => {
    const caller = defective((service) => ({
      ...service,
      findReceipt: (input, who) => service.findReceipt({ ...input, authority: 'holder' }, who),
    }));
    expect(await leaksToStrangers(caller)).toEqual(['GET /private/:key']);
  });
});

describe('a secret that does not open (P17)', () => {
  for (const dialect of ['documented', 'upstream'] as const satisfies readonly DialectName[]) {
    it(`gives the same bytes whatever the reason, in the ${dialect} dialect`, async () => {
      expect(await differingAnswers(createV1Caller({ dialect }))).toEqual([]);
    });
  }
  it('self-test: an answer that tells a wrong passphrase apart is found', async () => {
    const caller = defective((service) => ({
      ...service,
      reveal: async (input, who) => {
        const outcome = await service.reveal(input, who);
        const isWrong = outcome.outcome === 'passphrase_wrong';
        return isWrong
          ? { outcome: 'attempts_exhausted', retryAfterSeconds: 1, needsCreator: false }
          : outcome;
      },
    }));
    expect(await differingAnswers(caller)).toEqual(['passphrase wrong']);
  });
  it('is the same as an unknown user and a wrong token are to each other', async () => {
    const caller = createV1Caller();
    await caller.app.account('alice@example.com');
    const answers = ['alice@example.com', 'nobody@example.com'].map(async (username) => {
      const authorization = `Basic ${btoa(`${username}:${'0'.repeat(64)}`)}`;
      return bytesOf(await caller.send('GET', '/authcheck', { headers: { authorization } }), username);
    });
    expect(new Set(await Promise.all(answers)).size).toBe(1);
  });
});

describe('guesses at a passphrase (P14)', () => {
  it('from one client are bounded at five before they are computed, and consume nothing', async () => {
    expect(await guessesComputed(createV1Caller())).toBe(5);
  });
  it('self-test: a store that never refuses a guess is found', async () => {
    const reserve = async () =>
      ({ outcome: 'reserved', attempt: 1, left: 9, moreAfterSeconds: 1, needsCreator: false }) as const;
    const caller = createV1Caller({ wrapStore: (store) => ({ ...store, reserve }) });
    expect(await guessesComputed(caller)).toBe(10);
  });
});

describe('a refused request (P18)', () => {
  it('finds nothing secret of its own in the answer, in events or in what is noted of it', async () => {
    expect(await leaksInRefusals(createV1Caller())).toEqual([]);
  });
  it('self-test: a refusal that quotes what it refuses is found', async () => {
    const caller = defective((service) => ({
      ...service,
      conceal: async (input, who) => {
        const outcome = await service.conceal(input, who);
        const quoted = { outcome: 'unknown_share_domain', shareDomain: input.value.expose() } as const;
        return outcome.outcome === 'value_too_large' ? quoted : outcome;
      },
    }));
    expect(await leaksInRefusals(caller)).toEqual(['too large']);
  });
});
