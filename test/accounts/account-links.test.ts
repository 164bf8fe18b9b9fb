/** One-time links that an operator hands over: what they open, how long, and what they replace. */
import { describe, expect, it } from 'bun:test';
import { inviteAccount, makeResetLink } from '../../src/core/accounts/account-links.ts';
import { createAccount } from '../../src/core/accounts/admin.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { noOptions } from '../support/inputs.ts';
import {
  type AccountBench,
  createAccountBench,
  label,
  locale,
  otherPassword,
  sessionOf,
} from './account-bench.ts';

const email = 'jo@example.org';
const daySeconds = 86_400;

async function invited(bench: AccountBench): Promise<string> {
  const made = await inviteAccount(bench.deps, { email, plan: 'identity' });
  if (made.outcome !== 'invited') throw new Error(made.outcome);
  expect(made.expiresAt).toBe(bench.now() + daySeconds);
  return made.ticket.expose();
}

async function resetLink(bench: AccountBench): Promise<string | null> {
  const account = await bench.store.findAccount(email);
  if (account === null) throw new Error('no account');
  const made = await makeResetLink(bench.deps, account);
  return made.outcome === 'made' ? made.ticket.expose() : null;
}

const completion = (ticket: string, token = '') => ({
  ticket,
  password: new Sensitive(otherPassword),
  existingToken: new Sensitive(token),
  tokens: 'keep' as const,
  label,
  locale,
  clientPrefix: '',
});

describe('an invitation', () => {
  it('makes an account that nothing opens but the link, which sets its first password once', async () => {
    const bench = createAccountBench();
    const ticket = await invited(bench);
    expect(await bench.logIn(email, '')).toEqual({ outcome: 'refused' });
    expect(await bench.accounts.checkReset(ticket)).toEqual({
      outcome: 'valid',
      username: email,
      isFirst: true,
    });
    const set = await bench.accounts.resetPassword(completion(ticket));
    expect(set).toMatchObject({ outcome: 'reset', isFirst: true });
    expect((await bench.open(sessionOf(set))).caller.account).toMatchObject({
      username: email,
      plan: 'identity',
    });
    expect(await bench.logIn(email, otherPassword)).toMatchObject({ outcome: 'logged_in' });
    expect(await bench.accounts.resetPassword(completion(ticket))).toEqual({ outcome: 'gone' });
  });

  it('P9: keeps nothing of the link but a hash', async () => {
    const bench = createAccountBench();
    const ticket = await invited(bench);
    const kept = JSON.stringify(bench.handed, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    );
    expect(kept).toContain(email);
    expect(kept).not.toContain(ticket);
  });

  it('lives a day', async () => {
    const bench = createAccountBench();
    const ticket = await invited(bench);
    bench.advance(daySeconds - 1);
    expect(await bench.accounts.checkReset(ticket)).toMatchObject({ outcome: 'valid' });
    bench.advance(1);
    expect(await bench.accounts.checkReset(ticket)).toEqual({ outcome: 'gone' });
    expect(await bench.accounts.resetPassword(completion(ticket))).toEqual({ outcome: 'gone' });
  });

  it('tells the owner of the address by mail that a password was set', async () => {
    const bench = createAccountBench();
    await bench.accounts.resetPassword(completion(await invited(bench)));
    await bench.accounts.settled();
    expect(bench.mails.map(({ kind, to }) => [kind, to.expose()])).toEqual([['password_set', email]]);
    await bench.accounts.resetPassword(completion((await resetLink(bench)) ?? ''));
    await bench.accounts.settled();
    expect(bench.mails.at(-1)?.kind).toBe('password_changed');
  });

  it('replaces no account, and is made for addresses only', async () => {
    const bench = createAccountBench();
    await bench.person(email);
    expect(await inviteAccount(bench.deps, { email: 'JO@example.org', plan: 'basic' })).toEqual({
      outcome: 'exists',
    });
    expect(await inviteAccount(bench.deps, { email: 'nobody', plan: 'basic' })).toEqual({
      outcome: 'invalid_email',
    });
  });
});

describe('a link to a new password', () => {
  it('works beside the limits of mailed ones, replaces them, and leaves room for the next', async () => {
    const bench = createAccountBench();
    await bench.person(email);
    const mailed = await bench.resetTicket(email);
    const first = await resetLink(bench);
    const second = await resetLink(bench);
    for (const gone of [mailed, first])
      expect(await bench.accounts.checkReset(gone ?? '')).toEqual({ outcome: 'gone' });
    expect(await bench.accounts.checkReset(second ?? '')).toMatchObject({ outcome: 'valid', isFirst: false });
    bench.advance(3_600);
    expect(await bench.resetTicket(email)).not.toBe(mailed);
  });

  it('ends every session when it is used, and loses the list unless a token opens it', async () => {
    for (const keepsList of [false, true]) {
      const bench = createAccountBench();
      const { signedIn, sessionToken } = await bench.person(email);
      await bench.secrets.conceal({ ...noOptions, value: new Sensitive('old') }, signedIn.caller);
      const proof = { password: new Sensitive('seven green bottles'), locale };
      const made = await bench.accounts.createToken(signedIn, {
        ...{ ...proof, name: 'kept', scopes: ['create'], expiresAt: null },
      });
      const token = keepsList && made.outcome === 'created' ? made.token.expose() : '';
      const ticket = (await resetLink(bench)) ?? '';
      expect(await bench.accounts.openSession(sessionToken)).not.toBeNull();
      const reset = await bench.accounts.resetPassword(completion(ticket, token));
      expect(reset).toMatchObject({ outcome: 'reset', keepsList, isFirst: false });
      expect(await bench.accounts.openSession(sessionToken)).toBeNull();
      const after = await bench.open(sessionOf(reset));
      const listed = await bench.secrets.recent({ limit: 50, cursor: null, states: null }, after.caller);
      expect(listed).toMatchObject({ outcome: 'listed', receipts: keepsList ? [{}] : [] });
    }
  });

  it('is not the first of an account that a token opens', async () => {
    const bench = createAccountBench();
    await createAccount(bench.deps, { email, plan: 'basic' });
    const ticket = (await resetLink(bench)) ?? '';
    expect(await bench.accounts.checkReset(ticket)).toMatchObject({ outcome: 'valid', isFirst: false });
  });

  it('is not made for a locked account', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    await bench.store.lockAccount(signedIn.caller.account.id);
    expect(await resetLink(bench)).toBeNull();
  });
});
