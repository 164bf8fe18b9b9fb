/**
 * The queue of slow hashes, through every way in: whose turn a request takes, and that one client cannot use all of it.
 */
import { describe, expect, it } from 'bun:test';
import type { HashPlace } from '../../src/core/account.ts';
import type { PassphraseHasher } from '../../src/core/ports/passphrases.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createPassphraseHasher, hashLimitsFor } from '../../src/ops/slow-hashes.ts';
import { createTestApp, fastHasher, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { mailedTicket } from '../web/account-visitor.ts';
import { password, signUpAs } from '../web/signed-in.ts';
import { sendForm } from '../web/visit.ts';

const trustedProxies = ['127.0.0.0/8'];
const json = { 'content-type': 'application/json' };
const passphrase = 'a passphrase';
/** The second half of the form check: a form of our own site names its origin. */
const ownForm = { origin: 'https://mayfly.example', 'sec-fetch-site': 'same-origin' };

function form(fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
  return { method: 'POST', body: new URLSearchParams(fields), headers };
}

/** Hashes that end only once the gate is open, in the real queue of a machine with two cores. */
function createGatedHasher() {
  const gate = Promise.withResolvers<void>();
  const state = { isShut: false, begun: 0 };
  const hashes = {
    async stretch(text: Uint8Array, salt: Uint8Array) {
      state.begun += 1;
      if (state.isShut) await gate.promise;
      return fastHasher.stretch(text, salt, { client: '', purpose: 'prove' });
    },
    hashVerifier: fastHasher.hashVerifier,
  };
  return { state, open: gate.resolve, hasher: createPassphraseHasher(hashLimitsFor(2), hashes) };
}

/** Lets everything proceed that does not need the gate. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resume) => setImmediate(resume));
}

const from = (address: string) => ({ 'x-forwarded-for': address });

async function shareProtected(app: TestApp): Promise<string> {
  const made = await app.service.conceal(
    { ...noOptions, value: new Sensitive('v'), passphrase: new Sensitive(passphrase) },
    { kind: 'anonymous' },
  );
  if (made.outcome !== 'created') throw new Error(made.outcome);
  return made.receipt.secretKey ?? '';
}

describe('one client that makes protected secrets as fast as it can', () => {
  it('leaves room for the log-ins and protected reveals of others, and for another who makes one (P21)', async () => {
    const { hasher, state, open } = createGatedHasher();
    const app = createTestApp({ hasher, trustedProxies });
    await signUpAs(app, 'alice@example.com');
    const key = await shareProtected(app);
    state.isShut = true;

    const statuses = new Map<string, number[]>();
    const note = <Answer extends { status: number; headers: Headers }>(who: string, asked: Promise<Answer>) =>
      asked.then(({ status, headers }) => {
        statuses.set(who, [...(statuses.get(who) ?? []), status]);
        return { status, headers };
      });
    const ask = (who: string, path: string, init: RequestInit) => note(who, app.fetch(path, init));
    const greedy = Array.from({ length: 90 }, () =>
      ask('greedy', '/api/v1/share', form({ secret: 'x', passphrase }, from('203.0.113.9'))),
    );
    await settle();
    expect(statuses.get('greedy')).toEqual(Array.from({ length: 80 }, () => 503));
    const others = Array.from({ length: 12 }, (_, n) =>
      note(
        'log-ins',
        sendForm(
          app,
          '/log-in',
          { email: 'alice@example.com', password },
          { ...ownForm, ...from(`198.51.${n % 3}.7`) },
        ),
      ),
    );
    others.push(
      ask('reveal', `/api/v1/secret/${key}`, form({ passphrase }, from('192.0.2.1'))),
      ask('create', '/api/v1/share', form({ secret: 'x', passphrase }, from('192.0.2.1'))),
    );
    await settle();
    expect([...statuses.keys()]).toEqual(['greedy']);
    open();
    const answers = await Promise.all([...greedy, ...others]);
    expect(statuses.get('log-ins')).toEqual(Array.from({ length: 12 }, () => 303));
    expect([statuses.get('reveal'), statuses.get('create')]).toEqual([[200], [200]]);
    expect(statuses.get('greedy')?.filter((status) => status === 200)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
  });

  it('gives a guess back that found no place: nothing is consumed (P14, P3)', async () => {
    const { hasher, state, open } = createGatedHasher();
    const app = createTestApp({ hasher, trustedProxies });
    const keys = await Promise.all(Array.from({ length: 4 }, () => shareProtected(app)));
    state.isShut = true;
    const guess = (key: string, text: string) =>
      app.fetch(`/api/v1/secret/${key}`, form({ passphrase: text }, from('203.0.113.9')));
    // Five guesses at each secret are within its limit; ten in all have started or are waiting.
    const guesses = keys.flatMap((key) => Array.from({ length: 5 }, () => guess(key, 'a wrong one')));
    await settle();
    open();
    const tally = { 404: 0, 503: 0 };
    for (const { status } of await Promise.all(guesses)) tally[status as 404 | 503] += 1;
    expect(tally).toEqual({ 404: 10, 503: 10 });
    state.isShut = false;
    // The ten refused guesses are still available: ten are left of the five that each secret allows.
    let left = 0;
    for (const key of keys) {
      while ((await guess(key, 'a wrong one')).status === 404) left += 1;
    }
    expect(left).toBe(10);
  });
});

describe('whose turn a passphrase takes', () => {
  const places: HashPlace[] = [];
  const hasher: PassphraseHasher = {
    ...fastHasher,
    stretch(text, salt, place) {
      places.push(place);
      return fastHasher.stretch(text, salt, place);
    },
  };
  const client = '203.0.113.0/24';
  const address = from('203.0.113.9');

  async function placeOf(
    answered: Promise<{ status: number }>,
    status: number,
  ): Promise<HashPlace | undefined> {
    places.length = 0;
    expect((await answered).status).toBe(status);
    expect(places).toHaveLength(1);
    return places[0];
  }

  it('is that of the client that makes a secret, through every door (P21)', async () => {
    const app = createTestApp({ hasher, trustedProxies });
    const body = JSON.stringify({ secret: { secret: 'x', passphrase } });
    const generation = JSON.stringify({ secret: { passphrase } });
    const created = { client, purpose: 'create' } as const;
    const v2 = (text: string) => ({ method: 'POST', body: text, headers: { ...json, ...address } });
    const asked: readonly (readonly [string, RequestInit, number])[] = [
      ['/api/v1/share', form({ secret: 'x', passphrase }, address), 200],
      ['/api/v1/generate', form({ passphrase }, address), 200],
      ['/api/v2/secret/conceal', v2(body), 200],
      ['/api/v2/secret/generate', v2(generation), 200],
      ['/share', form({ secret: 'x', passphrase, lifetime: '3600' }, { ...ownForm, ...address }), 303],
    ];
    for (const [path, init, status] of asked) {
      expect(await placeOf(app.fetch(path, init), status)).toEqual(created);
    }
  });

  it('is that of the account that makes a secret, wherever it calls from (P21)', async () => {
    const app = createTestApp({ hasher, trustedProxies });
    const { id, authorization } = await app.account();
    const sent = form({ secret: 'x', passphrase }, { ...address, authorization });
    const place = await placeOf(app.fetch('/api/v1/share', sent), 200);
    expect(place).toEqual({ client: `account ${id}`, purpose: 'create' });
  });

  it('is that of the client that proves a passphrase, ahead of creations, through every door (P21)', async () => {
    const app = createTestApp({ hasher, trustedProxies });
    const proving = { client, purpose: 'prove' } as const;
    const key = await shareProtected(app);
    const wrong = 'a wrong one';
    const v2 = {
      method: 'POST',
      body: JSON.stringify({ passphrase: wrong }),
      headers: { ...json, ...address },
    };
    const look = { headers: { 'secret-passphrase': 'wrong', ...address } };
    const asked: readonly (readonly [string, RequestInit, number])[] = [
      [`/api/v1/secret/${key}`, form({ passphrase: wrong }, address), 404],
      [`/api/v2/secret/${key}/reveal`, v2, 422],
      [`/api/v2/secret/${key}`, look, 422],
      [`/secret/${key}`, form({ passphrase: wrong, open: 'now' }, { ...ownForm, ...address }), 422],
    ];
    for (const [path, init, status] of asked) {
      expect(await placeOf(app.fetch(path, init), status)).toEqual(proving);
    }
  });

  it('is that of the client that logs in, signs up or resets a password (P21)', async () => {
    const app = createTestApp({ hasher, trustedProxies });
    const proving = { client, purpose: 'prove' } as const;
    const headers = { ...ownForm, ...address };
    await sendForm(app, '/sign-up', { email: 'alice@example.com' }, headers);
    await app.accounts.settled();
    const signUp = `/sign-up/${mailedTicket(app, 'sign_up')}`;
    expect(await placeOf(sendForm(app, signUp, { password }, headers), 303)).toEqual(proving);
    const logIn = { email: 'nobody@example.com', password };
    expect(await placeOf(sendForm(app, '/log-in', logIn, headers), 422)).toEqual(proving);
    await sendForm(app, '/forgotten', { email: 'alice@example.com' }, headers);
    await app.accounts.settled();
    const reset = `/reset/${mailedTicket(app, 'reset')}`;
    expect(await placeOf(sendForm(app, reset, { password: `${password}!` }, headers), 303)).toEqual(proving);
  });

  it('is that of the account that gives its password again (P21)', async () => {
    const app = createTestApp({ hasher, trustedProxies });
    const { signedIn } = await signUpAs(app, 'alice@example.com');
    const given = { password: new Sensitive('a wrong one'), locale: 'en' };
    places.length = 0;
    expect(await app.accounts.deleteAccount(signedIn, given)).toEqual({ outcome: 'wrong_password' });
    const client = `account ${signedIn.caller.account.id}`;
    expect(places).toEqual([{ client, purpose: 'prove' }]);
  });
});
