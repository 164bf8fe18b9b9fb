/**
 * No answer reveals whether an address has an account (P17).
 *
 * Compares everything that a stranger could notice: the outcome, the work in the store, the hashes and the mails
 * written, before the answer and after it. The self-tests give it services with a defect that it must notice.
 */

import { describe, expect, it } from 'bun:test';
import { createAccount } from '../../src/core/accounts/admin.ts';
import type { AccountService } from '../../src/core/accounts/service.ts';
import { keepTicket } from '../../src/core/accounts/sign-up.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { type AccountBench, createAccountBench, label, locale } from './account-bench.ts';

const owner = 'owner@example.org';
const passwordless = 'command@example.org';
const locked = 'locked@example.org';
const stranger = 'nobody@example.org';

type Wrap = (bench: AccountBench) => Pick<AccountService, 'requestSignUp' | 'requestReset' | 'logIn'>;
type Attempt = (service: ReturnType<Wrap>, email: string) => Promise<unknown>;

const attempts: Readonly<Record<string, Attempt>> = {
  'a request to sign up': (service, email) => service.requestSignUp({ email, locale }),
  'a request to reset': (service, email) => service.requestReset({ email, locale }),
  'a log-in': (service, email) =>
    service.logIn({ clientPrefix: '', email, password: new Sensitive('not the password'), label }),
};

/** The traces of three attempts: two in direct succession, and one after the quiet time. */
async function traceOf(email: string, attempt: Attempt, wrap: Wrap): Promise<unknown> {
  const bench = createAccountBench();
  await bench.person(owner);
  await createAccount(bench.deps, { email: passwordless, plan: 'basic' });
  const { signedIn } = await bench.person(locked);
  await bench.store.lockAccount(signedIn.caller.account.id);
  await bench.accounts.settled();
  bench.advance(3_600);
  const service = wrap(bench);
  const trace: unknown[] = [];
  for (const pauseSeconds of [0, 1, 60]) {
    bench.advance(pauseSeconds);
    bench.calls.length = 0;
    const before = {
      stretched: bench.hasher.stretched,
      mails: bench.mails.length,
      mailSteps: bench.mailSteps.length,
    };
    const outcome = await attempt(service, email);
    const calls = [...bench.calls];
    trace.push({
      outcome,
      calls,
      stretched: bench.hasher.stretched - before.stretched,
      mailsBeforeTheAnswer: bench.mails.length - before.mails,
      mailStepsBeforeTheAnswer: bench.mailSteps.length - before.mailSteps,
    });
    await bench.accounts.settled();
    // Work after the answer delays the next request on this thread, so it could be noticed too.
    const stretched = bench.hasher.stretched - before.stretched;
    const mailSteps = bench.mailSteps.slice(before.mailSteps);
    trace.push({ behind: bench.calls.slice(calls.length), stretched, mailSteps });
  }
  return trace;
}

async function tracesOf(attempt: Attempt, wrap: Wrap): Promise<unknown[]> {
  return Promise.all([owner, passwordless, locked, stranger].map((email) => traceOf(email, attempt, wrap)));
}

async function areUniform(attempt: Attempt, wrap: Wrap): Promise<boolean> {
  const [first, ...others] = (await tracesOf(attempt, wrap)).map((trace) => JSON.stringify(trace));
  return others.every((trace) => trace === first);
}

describe('an address with an account, one without a password, a locked one and one without an account', () => {
  for (const [name, attempt] of Object.entries(attempts)) {
    it(`P17: are the same in ${name}: outcome, store calls, hashes, and no mail before the answer`, async () => {
      const [first, ...others] = await tracesOf(attempt, (bench) => bench.accounts);
      expect(others).toHaveLength(3);
      for (const trace of others) expect(trace).toEqual(first);
      expect(JSON.stringify(first)).toContain('"mailsBeforeTheAnswer":0');
    });
  }

  for (const email of [owner, passwordless, stranger]) {
    it(`P17: has the same mails written after each request for ${email}, whichever is sent, or none, or too many were`, async () => {
      const bench = createAccountBench();
      await bench.person(owner);
      await createAccount(bench.deps, { email: passwordless, plan: 'basic' });
      const { requestReset, requestSignUp } = bench.accounts;
      for (const [ask, written] of [
        [requestReset, ['written: reset']],
        [requestSignUp, ['written: sign_up', 'written: already_signed_up']],
      ] as const) {
        for (let asked = 0; asked < 5; asked += 1) {
          bench.calls.length = 0;
          bench.mailSteps.length = 0;
          await ask({ email, locale });
          expect([bench.calls, bench.mailSteps]).toEqual([['findAccount', 'addTicket'], []]);
          await bench.accounts.settled();
          expect([bench.calls, bench.mailSteps]).toEqual([
            ['findAccount', 'addTicket'],
            [...written, 'paused'],
          ]);
          bench.advance(30);
        }
      }
    });
  }

  it('P17: mails only to whom it may concern', async () => {
    const bench = createAccountBench();
    await bench.person(owner);
    bench.advance(60);
    const from = bench.mails.length;
    for (const email of [owner, stranger]) {
      await bench.accounts.requestReset({ email, locale });
      await bench.accounts.requestSignUp({ email, locale });
      await bench.accounts.settled();
    }
    const sent = bench.mails.slice(from).map(({ kind, to }) => [kind, to.expose()]);
    expect(sent).toEqual([
      ['reset', owner],
      ['already_signed_up', owner],
      ['sign_up', stranger],
    ]);
  });
});

describe('self-test: a service is noticed that', () => {
  const defects: Readonly<Record<string, readonly [keyof typeof attempts, Wrap]>> = {
    'asks the store for less when there is no account': [
      'a request to reset',
      ({ accounts, store }) => ({
        ...accounts,
        requestReset: async (input) =>
          (await store.findAccount(input.email)) === null
            ? { outcome: 'requested' }
            : accounts.requestReset(input),
      }),
    ],
    'hands the mail over before it answers': [
      'a request to reset',
      ({ accounts }) => ({
        ...accounts,
        async requestReset(input) {
          const outcome = await accounts.requestReset(input);
          await accounts.settled();
          return outcome;
        },
      }),
    ],
    'writes a mail only where one is sent': [
      'a request to reset',
      ({ accounts, store, deps }) => ({
        ...accounts,
        async requestReset(input) {
          if ((await store.findAccount(input.email)) !== null) return accounts.requestReset(input);
          await store.findAccount(input.email);
          await keepTicket(deps, 'reset', input.email);
          return { outcome: 'requested' };
        },
      }),
    ],
    'says that there is an account': [
      'a request to sign up',
      ({ accounts, store }) => ({
        ...accounts,
        requestSignUp: async (input) =>
          (await store.findAccount(input.email)) === null
            ? accounts.requestSignUp(input)
            : { outcome: 'invalid_email' },
      }),
    ],
    'computes no hash where there is none to compare with': [
      'a log-in',
      ({ accounts, store }) => ({
        ...accounts,
        logIn: async (input) =>
          (await store.findPassword(input.email))?.password == null
            ? { outcome: 'refused' }
            : accounts.logIn(input),
      }),
    ],
  };
  for (const [name, [attempt, wrap]] of Object.entries(defects)) {
    it(name, async () => {
      const tried = attempts[attempt];
      if (tried === undefined) throw new Error(attempt);
      expect(await areUniform(tried, (bench) => bench.accounts)).toBe(true);
      expect(await areUniform(tried, wrap)).toBe(false);
    });
  }
});
