/** Signing up: an account exists only once its address is proven, and no answer reveals who has one. */
import { describe, expect, it } from 'bun:test';
import type { StoredTicket } from '../../src/core/account.ts';
import { createAccount } from '../../src/core/accounts/admin.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createAccountBench, label, locale, password } from './account-bench.ts';

const email = 'jo@example.org';
const hourSeconds = 3_600;

function completion(ticket: string, text = password) {
  return { ticket, password: new Sensitive(text), label, locale, clientPrefix: '' };
}

describe('signing up', () => {
  it('mails a link, makes the account behind it, and logs its owner in', async () => {
    const bench = createAccountBench();
    expect(await bench.accounts.requestSignUp({ email: 'Jo@Example.ORG', locale: 'de' })).toEqual({
      outcome: 'requested',
    });
    await bench.accounts.settled();
    expect(bench.mails).toHaveLength(1);
    expect(bench.mails[0]).toMatchObject({
      kind: 'sign_up',
      locale: 'de',
      expiresAt: bench.now() + 24 * hourSeconds,
    });
    expect(bench.mails[0]?.to.expose()).toBe(email);
    const ticket = await bench.mailedTicket('sign_up', email);
    expect(await bench.store.listAccounts()).toEqual([]);
    expect(await bench.accounts.checkSignUp(ticket)).toEqual({ outcome: 'valid', username: email });
    const made = await bench.accounts.signUp(completion(ticket));
    if (made.outcome !== 'signed_up') throw new Error(made.outcome);
    expect(made.session.account).toMatchObject({ username: email, plan: 'basic', locale: null });
    const signedIn = await bench.open(made.session);
    expect(signedIn.caller.account).toEqual(made.session.account);
    expect(signedIn.caller.scopes).toEqual(['create', 'manage', 'read-recent']);
    expect(await bench.logIn('JO@example.org')).toMatchObject({ outcome: 'logged_in' });
    expect(bench.events.map(({ event }) => event)).toEqual(['account_mail_ended', 'signed_up', 'logged_in']);
  });

  it('mails the owner of an account that there is one, and makes no second', async () => {
    const bench = createAccountBench();
    await bench.person(email);
    bench.advance(60);
    expect(await bench.accounts.requestSignUp({ email, locale })).toEqual({ outcome: 'requested' });
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({
      kind: 'already_signed_up',
      logInUrl: 'https://mayfly.example/log-in',
      forgottenUrl: 'https://mayfly.example/forgotten',
    });
    expect(await bench.store.listAccounts()).toHaveLength(1);
  });

  it('says that an account was made meanwhile by a command, and changes nothing of it', async () => {
    const bench = createAccountBench();
    const ticket = await bench.signUpTicket(email);
    await createAccount(bench.deps, { email, plan: 'identity' });
    expect(await bench.accounts.signUp(completion(ticket))).toEqual({ outcome: 'exists' });
    expect(await bench.logIn(email)).toEqual({ outcome: 'refused' });
    expect((await bench.store.findAccount(email))?.plan).toBe('identity');
  });

  it.each(['', 'jo', 'jo@example.org\n', 'a b@example.org', 'jo@example.org,al@example.org'])(
    'mails nothing to %p (P26)',
    async (text) => {
      const bench = createAccountBench();
      expect(await bench.accounts.requestSignUp({ email: text, locale })).toEqual({
        outcome: 'invalid_email',
      });
      expect(await bench.accounts.requestReset({ email: text, locale })).toEqual({
        outcome: 'invalid_email',
      });
      await bench.accounts.settled();
      expect([bench.mails, bench.calls]).toEqual([[], []]);
    },
  );

  it('refuses a password before the link is used up, and takes the next one', async () => {
    const bench = createAccountBench();
    const ticket = await bench.signUpTicket(email);
    for (const [text, outcome] of [
      ['short', 'password_too_short'],
      ['x'.repeat(257), 'password_too_long'],
      ['password123', 'password_common'],
      ['Jo@Example.org1', 'password_common'],
      ['a lone \ud800 half', 'password_ill_formed'],
    ] as const) {
      expect(await bench.accounts.signUp(completion(ticket, text))).toMatchObject({ outcome });
    }
    expect(bench.hasher.stretched).toBe(0);
    expect(await bench.accounts.signUp(completion(ticket))).toMatchObject({ outcome: 'signed_up' });
  });
});

describe('a link to a sign-up', () => {
  it('works once', async () => {
    const bench = createAccountBench();
    const ticket = await bench.signUpTicket(email);
    expect(await bench.accounts.signUp(completion(ticket))).toMatchObject({ outcome: 'signed_up' });
    expect(await bench.accounts.signUp(completion(ticket))).toEqual({ outcome: 'gone' });
    expect(await bench.accounts.checkSignUp(ticket)).toEqual({ outcome: 'gone' });
  });

  it('works once also for two at the same time', async () => {
    const bench = createAccountBench();
    const ticket = await bench.signUpTicket(email);
    const both = await Promise.all([
      bench.accounts.signUp(completion(ticket, 'the first password')),
      bench.accounts.signUp(completion(ticket, 'the second password')),
    ]);
    expect(both.map(({ outcome }) => outcome).sort()).toEqual(['gone', 'signed_up']);
    expect(await bench.store.listAccounts()).toHaveLength(1);
  });

  it('is dead from the second it expires', async () => {
    const bench = createAccountBench();
    const ticket = await bench.signUpTicket(email);
    bench.advance(24 * hourSeconds - 1);
    expect(await bench.accounts.checkSignUp(ticket)).toMatchObject({ outcome: 'valid' });
    bench.advance(1);
    expect(await bench.accounts.checkSignUp(ticket)).toEqual({ outcome: 'gone' });
    expect(await bench.accounts.signUp(completion(ticket))).toEqual({ outcome: 'gone' });
  });

  it('is dead then also in a store that forgets to end it', async () => {
    let kept: StoredTicket | null = null;
    const bench = createAccountBench({
      wrap: (store) => ({
        ...store,
        async findTicket(kind, hash) {
          kept = (await store.findTicket(kind, hash)) ?? kept;
          return kept;
        },
      }),
    });
    const ticket = await bench.signUpTicket(email);
    bench.advance(24 * hourSeconds - 1);
    expect(await bench.accounts.checkSignUp(ticket)).toMatchObject({ outcome: 'valid' });
    bench.advance(1);
    expect(await bench.accounts.checkSignUp(ticket)).toEqual({ outcome: 'gone' });
  });

  it('is followed by no other mail within a minute, and a later one leaves it as it is', async () => {
    const bench = createAccountBench();
    const first = await bench.signUpTicket(email);
    bench.advance(59);
    expect(await bench.accounts.requestSignUp({ email, locale })).toEqual({ outcome: 'requested' });
    await bench.accounts.settled();
    expect(bench.mails).toHaveLength(1);
    bench.advance(1);
    const second = await bench.signUpTicket(email);
    expect(bench.mails).toHaveLength(2);
    for (const ticket of [first, second])
      expect(await bench.accounts.checkSignUp(ticket)).toMatchObject({ outcome: 'valid' });
    expect(await bench.accounts.signUp(completion(second))).toMatchObject({ outcome: 'signed_up' });
    expect(await bench.accounts.signUp(completion(first))).toEqual({ outcome: 'gone' });
  });

  it('has one spelling', async () => {
    const bench = createAccountBench();
    const ticket = await bench.signUpTicket(email);
    bench.calls.length = 0;
    for (const text of [ticket.toUpperCase(), ` ${ticket}`, ticket.slice(1), `${ticket}0`, '']) {
      expect(await bench.accounts.checkSignUp(text)).toEqual({ outcome: 'gone' });
      expect(await bench.accounts.signUp(completion(text))).toEqual({ outcome: 'gone' });
    }
    expect(bench.calls).toEqual([]);
  });
});

describe('a mail that cannot be handed over', () => {
  it('is told to the operator, and fails no request', async () => {
    const bench = createAccountBench({ mailEndsIn: 'not_sent' });
    expect(await bench.accounts.requestSignUp({ email, locale })).toEqual({ outcome: 'requested' });
    await bench.accounts.settled();
    expect(bench.events).toEqual([{ event: 'account_mail_ended', kind: 'sign_up', state: 'not_sent' }]);
  });
});
