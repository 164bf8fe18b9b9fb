/**
 * Proves that credentials open an account only when all of them are correct and live, and that a refusal reveals
 * nothing more.
 */

import { describe, expect, it } from 'bun:test';
import { createBench, startOfTime } from '../../../test/support/service-bench.ts';
import { type TokenScope, tokenScopes } from '../account.ts';
import { ServiceError } from '../errors.ts';
import { Sensitive } from '../sensitive.ts';
import { createAccount, createToken, firstTokenName } from './admin.ts';
import { parseApiToken } from './tokens.ts';

describe('an account', () => {
  it('is made with a token of 64 hex digits, shown once and stored only as a hash', async () => {
    const bench = createBench();
    const made = await createAccount(bench.deps, { email: 'Jo@Example.org', plan: 'identity' });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    expect(made.username).toBe('jo@example.org');
    const token = made.token.expose();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const account = await bench.deps.store.findAccount('jo@example.org');
    if (account === null) throw new Error('no account');
    expect(account).toMatchObject({ plan: 'identity', createdAt: startOfTime });
    const [stored] = await bench.deps.store.listTokens(account.id);
    expect(stored).toMatchObject({ name: firstTokenName, expiresAt: null, lastUsedAt: null });
    const bytes = Buffer.concat([stored?.tokenHash ?? Buffer.of(), stored?.wrappedDataKey ?? Buffer.of()]);
    expect(bytes.includes(Buffer.from(token, 'hex'))).toBe(false);
    expect(bytes.includes(token)).toBe(false);
  });

  it('is made once for an address, in whatever letters', async () => {
    const bench = createBench();
    await bench.signUp('jo@example.org');
    expect(await createAccount(bench.deps, { email: 'JO@example.ORG', plan: 'basic' })).toEqual({
      outcome: 'exists',
    });
  });

  it.each(['', 'jo', 'jo@example.org\n', 'jo@example.org:x', 'a b@example.org'])(
    'is not made for %p',
    async (email) => {
      const bench = createBench();
      expect(await createAccount(bench.deps, { email, plan: 'basic' })).toEqual({ outcome: 'invalid_email' });
      expect(await bench.deps.store.listAccounts()).toEqual([]);
    },
  );
});

describe('authentication', () => {
  it('takes the username in any letters, and gives the account', async () => {
    const bench = createBench();
    const { token, account } = await bench.signUp('jo@example.org');
    expect(await bench.service.authenticate('JO@Example.Org', token)).toMatchObject({
      kind: 'account',
      account,
    });
  });

  it('P17: answers an unknown username, a wrong token and another’s token alike, after the same one look-up', async () => {
    let lookUps = 0;
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        findToken(hash) {
          lookUps += 1;
          return store.findToken(hash);
        },
      }),
    });
    const { token } = await bench.signUp('jo@example.org');
    const other = await bench.signUp('al@example.org');
    for (const [username, text] of [
      ['nobody@example.org', 'a'.repeat(64)],
      ['nobody@example.org', token],
      ['jo@example.org', 'a'.repeat(64)],
      ['jo@example.org', other.token],
      ['jo@example.org', token.toUpperCase()],
      ['jo@example.org', ` ${token}`],
      ['jo@example.org', ''],
      ['jo@example.org', '0'.repeat(64)],
      ['', token],
      ['', ''],
      [' jo@example.org', token],
      ['anon', token],
    ] as const) {
      lookUps = 0;
      expect(await bench.service.authenticate(username, text)).toBeNull();
      expect(lookUps).toBe(1);
    }
  });

  it('refuses a token from the second it expires', async () => {
    const bench = createBench();
    await bench.signUp('jo@example.org');
    const expiresAt = startOfTime + 60;
    const made = await createToken(bench.deps, {
      scopes: tokenScopes,
      existingToken: null,
      email: 'jo@example.org',
      name: 'short',
      expiresAt,
    });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    bench.advance(59);
    expect(await bench.service.authenticate('jo@example.org', made.token.expose())).not.toBeNull();
    bench.advance(1);
    expect(await bench.service.authenticate('jo@example.org', made.token.expose())).toBeNull();
  });

  it('refuses a revoked token, and goes on taking the others', async () => {
    const bench = createBench();
    const { token, account } = await bench.signUp('jo@example.org');
    const made = await createToken(bench.deps, {
      scopes: tokenScopes,
      expiresAt: null,
      existingToken: null,
      email: 'jo@example.org',
      name: 'second',
    });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    expect(await bench.deps.store.revokeToken(account.id, made.tokenId)).toBe(true);
    expect(await bench.service.authenticate('jo@example.org', made.token.expose())).toBeNull();
    expect(await bench.service.authenticate('jo@example.org', token)).not.toBeNull();
  });

  it('refuses a token whose wrapped data key is damaged', async () => {
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async findToken(hash) {
          const found = await store.findToken(hash);
          return found === null ? null : { ...found, token: { ...found.token, wrappedDataKey: damaged } };
        },
      }),
    });
    let damaged = new Uint8Array(0);
    await expect(bench.signUp('jo@example.org')).rejects.toThrow('not signed in');
    damaged = new Uint8Array(112);
    const made = await createAccount(bench.deps, { email: 'al@example.org', plan: 'basic' });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    expect(await bench.service.authenticate('al@example.org', made.token.expose())).toBeNull();
  });

  it('notes the last use to the minute, and needs no store for that', async () => {
    const bench = createBench();
    const { token, account } = await bench.signUp('jo@example.org');
    await bench.service.settled();
    const lastUse = async () => (await bench.deps.store.listTokens(account.id))[0]?.lastUsedAt;
    expect(await lastUse()).toBe(startOfTime);
    bench.advance(59);
    await bench.service.authenticate('jo@example.org', token);
    await bench.service.settled();
    expect(await lastUse()).toBe(startOfTime);
    bench.advance(1);
    await bench.service.authenticate('jo@example.org', token);
    await bench.service.settled();
    expect(await lastUse()).toBe(startOfTime + 60);
  });

  it('is not failed by a store that cannot note the use', async () => {
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const bench = createBench({
      wrap: (store) => ({ ...store, noteTokenUse: () => Promise.reject(outage) }),
    });
    expect((await bench.signUp('jo@example.org')).kind).toBe('account');
    await bench.service.settled();
  });
});

describe('the scopes of a token', () => {
  it('are all, unless it is made with fewer, and come with the caller', async () => {
    const bench = createBench();
    const { token } = await bench.signUp('jo@example.org');
    const scopesOf = async (text: string) =>
      (await bench.service.authenticate('jo@example.org', text))?.scopes;
    const make = async (scopes: readonly TokenScope[] = tokenScopes) => {
      const input = { email: 'jo@example.org', name: 'x', scopes, expiresAt: null, existingToken: null };
      const made = await createToken(bench.deps, input);
      if (made.outcome !== 'created') throw new Error(made.outcome);
      return made.token.expose();
    };
    expect(await scopesOf(token)).toEqual(tokenScopes);
    expect(await scopesOf(await make())).toEqual(tokenScopes);
    expect(await scopesOf(await make(['read-recent', 'create', 'create']))).toEqual([
      'create',
      'read-recent',
    ]);
  });
});

describe('a further token', () => {
  it('shares the data key of a live one that is shown, and has its own otherwise', async () => {
    const bench = createBench();
    const first = await bench.signUp('jo@example.org');
    const make = (existingToken?: string) =>
      createToken(bench.deps, {
        scopes: tokenScopes,
        expiresAt: null,
        email: 'JO@example.org',
        name: 'second',
        existingToken: existingToken === undefined ? null : new Sensitive(existingToken),
      });
    const [shared, own] = [await make(first.token), await make()];
    if (shared.outcome !== 'created' || own.outcome !== 'created') throw new Error('not made');
    expect([shared.canListEarlier, own.canListEarlier]).toEqual([true, false]);
    const kept = await bench.deps.store.listTokens(first.account.id);
    expect(kept.map(({ name, expiresAt }) => [name, expiresAt])).toEqual([
      [firstTokenName, null],
      ['second', null],
      ['second', null],
    ]);
    const dataKeyOf = async (token: string) =>
      Buffer.from(
        (await bench.service.authenticate('jo@example.org', token))?.dataKey.expose() ?? [],
      ).toString('hex');
    expect(await dataKeyOf(shared.token.expose())).toBe(await dataKeyOf(first.token));
    expect(await dataKeyOf(own.token.expose())).not.toBe(await dataKeyOf(first.token));
    expect(await dataKeyOf(own.token.expose())).toHaveLength(64);
  });

  it('is not made for an unknown account, nor with a token that is another’s, wrong, expired or revoked', async () => {
    const bench = createBench();
    const jo = await bench.signUp('jo@example.org');
    const al = await bench.signUp('al@example.org');
    const expiresAt = startOfTime + 60;
    const short = await createToken(bench.deps, {
      scopes: tokenScopes,
      existingToken: null,
      email: 'jo@example.org',
      name: 'short',
      expiresAt,
    });
    const gone = await createToken(bench.deps, {
      scopes: tokenScopes,
      expiresAt: null,
      existingToken: null,
      email: 'jo@example.org',
      name: 'gone',
    });
    if (short.outcome !== 'created' || gone.outcome !== 'created') throw new Error('not made');
    await bench.deps.store.revokeToken(jo.account.id, gone.tokenId);
    bench.advance(60);
    const make = (email: string, text: string) =>
      createToken(bench.deps, {
        scopes: tokenScopes,
        expiresAt: null,
        email,
        name: 'x',
        existingToken: new Sensitive(text),
      });
    for (const text of [
      al.token,
      'a'.repeat(64),
      'no token',
      '',
      short.token.expose(),
      gone.token.expose(),
    ]) {
      expect(await make('jo@example.org', text)).toEqual({ outcome: 'invalid_token' });
    }
    expect(await make('nobody@example.org', jo.token)).toEqual({ outcome: 'no_account' });
    expect(await bench.deps.store.listTokens(jo.account.id)).toHaveLength(2);
  });
});

describe('the text of a token', () => {
  it('has one spelling', () => {
    const token = '0123456789abcdef'.repeat(4);
    expect(parseApiToken(token)).toBe(token as never);
    for (const other of [
      token.toUpperCase(),
      token.slice(1),
      `${token}0`,
      `${token}\n`,
      `0x${token.slice(2)}`,
      '',
    ]) {
      expect(parseApiToken(other)).toBeNull();
    }
  });
});
