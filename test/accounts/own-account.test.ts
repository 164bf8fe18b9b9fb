/** What a logged-in person does with the account: password, API tokens, deletion. */
import { describe, expect, it } from 'bun:test';
import type { TokenFate, TokenScope } from '../../src/core/account.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { noOptions } from '../support/inputs.ts';
import {
  type AccountBench,
  createAccountBench,
  dataKeyOf,
  locale,
  otherPassword,
  type Person,
  password,
  proof,
  sessionOf,
} from './account-bench.ts';

const email = 'jo@example.org';

function change(
  bench: AccountBench,
  { signedIn }: Person,
  current = password,
  next = otherPassword,
  tokens: TokenFate = 'keep',
) {
  const input = { current: new Sensitive(current), next: new Sensitive(next), tokens, locale };
  return bench.accounts.changePassword(signedIn, input);
}

function remove(bench: AccountBench, { signedIn }: Person, text = password) {
  return bench.accounts.deleteAccount(signedIn, { password: new Sensitive(text), locale });
}

const deletionsIn = (bench: AccountBench) => bench.events.filter(({ event }) => event === 'account_deleted');

describe('a change of password', () => {
  it('keeps the data key and this session, ends the others, and tells the owner', async () => {
    const bench = createAccountBench();
    const person = await bench.person(email);
    const other = sessionOf(await bench.logIn(email)).token.expose();
    expect(await change(bench, person)).toEqual({ outcome: 'changed' });
    expect(await bench.accounts.openSession(other)).toBeNull();
    const same = await bench.accounts.openSession(person.sessionToken);
    expect(same === null ? null : dataKeyOf(same)).toBe(dataKeyOf(person.signedIn));
    expect(await bench.logIn(email)).toEqual({ outcome: 'refused' });
    const again = await bench.open(sessionOf(await bench.logIn(email, otherPassword)));
    expect(dataKeyOf(again)).toBe(dataKeyOf(person.signedIn));
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'password_changed' });
    const account = person.signedIn.caller.account.id;
    expect(bench.events).toContainEqual({ event: 'password_changed', account, by: 'password' });
  });

  it('needs the present password, whatever the session', async () => {
    const bench = createAccountBench();
    const person = await bench.person(email);
    for (const text of ['', 'not the password', otherPassword, 'a lone \ud800 half']) {
      expect(await change(bench, person, text)).toEqual({ outcome: 'wrong_password' });
    }
    expect(await bench.logIn(email)).toMatchObject({ outcome: 'logged_in' });
    await bench.accounts.settled();
    expect(bench.mails.map(({ kind }) => kind)).toEqual(['sign_up']);
  });

  it('refuses a weak new one, and computes nothing for it', async () => {
    const bench = createAccountBench();
    const person = await bench.person(email);
    const before = bench.hasher.stretched;
    expect(await change(bench, person, password, 'short')).toEqual({
      outcome: 'password_too_short',
      minLength: 10,
    });
    expect(await change(bench, person, password, 'jo@example.org')).toEqual({ outcome: 'password_common' });
    expect(bench.hasher.stretched).toBe(before);
  });

  it('revokes every API token if asked, once the password is proven, and keeps them otherwise', async () => {
    const bench = createAccountBench();
    const person = await bench.person(email);
    const { signedIn } = person;
    const wanted = { ...proof, scopes: ['create'] as const, expiresAt: null };
    for (const name of ['first', 'second']) await bench.accounts.createToken(signedIn, { ...wanted, name });
    const left = async () => (await bench.accounts.listTokens(signedIn)).length;
    expect(await change(bench, person, 'not it', otherPassword, 'revoke')).toEqual({
      outcome: 'wrong_password',
    });
    expect(await change(bench, person)).toEqual({ outcome: 'changed' });
    expect(await left()).toBe(2);
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'password_changed', tokens: 'keep' });
    expect(await change(bench, person, otherPassword, password, 'revoke')).toEqual({ outcome: 'changed' });
    expect(await left()).toBe(0);
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'password_changed', tokens: 'revoke' });
  });

  it('of two at the same time accepts one; the other’s current password is no longer right', async () => {
    const bench = createAccountBench();
    const person = await bench.person(email);
    const both = await Promise.all([
      change(bench, person, password, 'the first password'),
      change(bench, person, password, 'the second password'),
    ]);
    expect(both.map(({ outcome }) => outcome).sort()).toEqual(['changed', 'wrong_password']);
  });
});

describe('deleting the account', () => {
  it('needs the password, burns what waits, ends everything, and says so to the address', async () => {
    const bench = createAccountBench();
    const person = await bench.person(email);
    const { caller } = person.signedIn;
    const made = await bench.secrets.conceal({ ...noOptions, value: new Sensitive('it waits') }, caller);
    if (made.outcome !== 'created' || made.receipt.secretKey === null) throw new Error(made.outcome);
    expect(await remove(bench, person, 'not the password')).toEqual({ outcome: 'wrong_password' });
    expect(await remove(bench, person)).toEqual({ outcome: 'deleted', burned: 1 });
    expect(await bench.secrets.secretStatus({ secretKey: made.receipt.secretKey }, caller)).toEqual({
      outcome: 'unknown',
    });
    expect(await bench.accounts.openSession(person.sessionToken)).toBeNull();
    expect(await bench.logIn(email)).toEqual({ outcome: 'refused' });
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'account_deleted' });
    expect(bench.events).toContainEqual({ event: 'account_deleted', account: caller.account.id, burned: 1 });
  });

  it('holds when the store goes away in between: nobody gets in, and the sweeper burns what still waits', async () => {
    let isAway = false;
    const bench = createAccountBench({
      wrap: (store) => ({
        ...store,
        continueDeletion: (...args) =>
          isAway
            ? Promise.reject(new ServiceError('unavailable', 'the store is away'))
            : store.continueDeletion(...args),
      }),
    });
    const person = await bench.person(email);
    const { caller } = person.signedIn;
    const made = await bench.secrets.conceal({ ...noOptions, value: new Sensitive('it waits') }, caller);
    if (made.outcome !== 'created' || made.receipt.secretKey === null) throw new Error(made.outcome);
    const { secretKey } = made.receipt;
    isAway = true;
    await expect(remove(bench, person)).rejects.toThrow('the store is away');
    expect(await bench.accounts.openSession(person.sessionToken)).toBeNull();
    expect(await bench.logIn(email)).toEqual({ outcome: 'refused' });
    await expect(
      bench.secrets.conceal({ ...noOptions, value: new Sensitive('no more') }, caller),
    ).rejects.toThrow();
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'account_deleted' });
    expect((await bench.secrets.secretStatus({ secretKey }, caller)).outcome).not.toBe('unknown');
    isAway = false;
    await bench.accounts.finishDeletions(() => true);
    expect((await bench.secrets.secretStatus({ secretKey }, caller)).outcome).toBe('unknown');
    expect(await bench.store.listDeletions(10)).toEqual([]);
    await bench.accounts.finishDeletions(() => true);
    expect(deletionsIn(bench)).toEqual([
      { event: 'account_deleted', account: person.signedIn.caller.account.id, burned: 1 },
    ]);
  });

  it('is logged once, whoever finishes it', async () => {
    let sweepMeanwhile = async () => {};
    const bench = createAccountBench({
      wrap: (store) => ({
        ...store,
        async continueDeletion(...args) {
          const sweep = sweepMeanwhile;
          sweepMeanwhile = async () => {};
          await sweep();
          return store.continueDeletion(...args);
        },
      }),
    });
    const person = await bench.person(email);
    const { caller } = person.signedIn;
    await bench.secrets.conceal({ ...noOptions, value: new Sensitive('it waits') }, caller);
    sweepMeanwhile = () => bench.accounts.finishDeletions(() => true);
    expect(await remove(bench, person)).toEqual({ outcome: 'deleted', burned: 1 });
    expect(deletionsIn(bench)).toEqual([{ event: 'account_deleted', account: caller.account.id, burned: 1 }]);
  });

  it('does not let the session of a deleted account act on the next one of the same address', async () => {
    const bench = createAccountBench();
    const old = await bench.person(email);
    await remove(bench, old);
    bench.advance(60);
    const next = await bench.person(email);
    expect(next.signedIn.caller.account.id).not.toBe(old.signedIn.caller.account.id);
    expect(await remove(bench, old)).toEqual({ outcome: 'wrong_password' });
    expect(await change(bench, old)).toEqual({ outcome: 'wrong_password' });
    expect(await bench.logIn(email)).toMatchObject({ outcome: 'logged_in' });
  });
});

describe('an API token that a person makes', () => {
  const wanted = { ...proof, name: 'backups', scopes: ['create'] as readonly TokenScope[], expiresAt: null };

  it('is shown once, has its scopes in order, and shares the data key', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const expiresAt = bench.now() + 60;
    const scopes: readonly TokenScope[] = ['read-recent', 'create', 'read-recent'];
    const made = await bench.accounts.createToken(signedIn, {
      ...{ ...wanted, name: '  on the NAS ' },
      scopes,
      expiresAt,
    });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    expect(made.stored).toMatchObject({
      name: 'on the NAS',
      scopes: ['create', 'read-recent'],
      expiresAt,
      lastUsedAt: null,
    });
    const token = made.token.expose();
    const caller = await bench.secrets.authenticate(email, token);
    expect(caller?.scopes).toEqual(['create', 'read-recent']);
    expect(caller === null ? '' : dataKeyOf({ caller })).toBe(dataKeyOf(signedIn));
    expect((await bench.accounts.listTokens(signedIn)).map(({ name }) => name)).toEqual(['on the NAS']);
    expect(await bench.accounts.revokeToken(signedIn, made.stored.tokenId)).toBe(true);
    expect(await bench.secrets.authenticate(email, token)).toBeNull();
  });

  it.each(['', '   ', 'x'.repeat(61), 'two\nlines', 'a\u0007bell', 'a\u2028break', 'half \ud800'])(
    'is not made under the name %j',
    async (name) => {
      const bench = createAccountBench();
      const { signedIn } = await bench.person(email);
      expect(await bench.accounts.createToken(signedIn, { ...wanted, name })).toEqual({
        outcome: 'invalid_name',
      });
    },
  );

  it('has a name of up to sixty characters, however many bytes they are', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const name = '🗝'.repeat(60);
    expect(await bench.accounts.createToken(signedIn, { ...wanted, name })).toMatchObject({
      outcome: 'created',
    });
  });

  it('takes the password, whatever the session, and is announced to the owner by its name', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    for (const text of ['', 'not the password', otherPassword, 'a lone \ud800 half']) {
      const guess = { ...wanted, password: new Sensitive(text) };
      expect(await bench.accounts.createToken(signedIn, guess)).toEqual({ outcome: 'wrong_password' });
    }
    expect(await bench.accounts.listTokens(signedIn)).toEqual([]);
    await bench.accounts.settled();
    expect(bench.mails.map(({ kind }) => kind)).toEqual(['sign_up']);
    await bench.accounts.createToken(signedIn, { ...wanted, locale: 'de' });
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({
      kind: 'token_created',
      name: 'backups',
      locale: 'de',
      forgottenUrl: 'https://mayfly.example/forgotten',
    });
    expect(bench.mails.at(-1)?.to.expose()).toBe(email);
  });

  it('is refused for its name, its scopes and its number before the password is computed', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const before = bench.hasher.stretched;
    for (const refused of [{ name: '' }, { scopes: [] }])
      await bench.accounts.createToken(signedIn, { ...wanted, ...refused });
    expect(bench.hasher.stretched).toBe(before);
  });

  it('is not made when the password changes between its proof and the making', async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const bench = createAccountBench({
      wrap: (store) => ({
        ...store,
        async addOwnToken(id, verifier, token) {
          asked.resolve();
          await gate.promise;
          return store.addOwnToken(id, verifier, token);
        },
      }),
    });
    const person = await bench.person(email);
    const late = bench.accounts.createToken(person.signedIn, wanted);
    await asked.promise;
    expect(await change(bench, person)).toEqual({ outcome: 'changed' });
    gate.resolve();
    expect(await late).toEqual({ outcome: 'wrong_password' });
    expect(await bench.accounts.listTokens(person.signedIn)).toEqual([]);
  });

  it('may do something', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    expect(await bench.accounts.createToken(signedIn, { ...wanted, scopes: [] })).toEqual({
      outcome: 'no_scope',
    });
  });

  it('is one of fifty live ones at most (P21)', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const make = (expiresAt: number | null) => bench.accounts.createToken(signedIn, { ...wanted, expiresAt });
    for (let made = 0; made < 49; made += 1) await make(null);
    await make(bench.now() + 60);
    expect(await make(null)).toEqual({ outcome: 'too_many', max: 50 });
    bench.advance(60);
    expect(await make(null)).toMatchObject({ outcome: 'created' });
    expect(await make(null)).toEqual({ outcome: 'too_many', max: 50 });
  });
});
