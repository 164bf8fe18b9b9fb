/** A forgotten password: who may replace it, what that ends, and what is really lost. */
import { describe, expect, it } from 'bun:test';
import type { SignedIn, StoredTicket, TokenFate } from '../../src/core/account.ts';
import { createAccount } from '../../src/core/accounts/admin.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { noTicketLimits } from '../stores/conformance/account-fixtures.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { noOptions } from '../support/inputs.ts';
import {
  type AccountBench,
  type AccountBenchOptions,
  createAccountBench,
  dataKeyOf,
  label,
  locale,
  otherPassword,
  password,
  proof,
  sessionOf,
} from './account-bench.ts';

const email = 'jo@example.org';

function completion(ticket: string, { text = otherPassword, token = '', tokens = 'keep' as TokenFate } = {}) {
  return {
    ticket,
    password: new Sensitive(text),
    existingToken: new Sensitive(token),
    tokens,
    label,
    locale,
    clientPrefix: '',
  };
}

async function share(bench: AccountBench, { caller }: SignedIn, value: string): Promise<void> {
  const made = await bench.secrets.conceal({ ...noOptions, value: new Sensitive(value) }, caller);
  if (made.outcome !== 'created') throw new Error(made.outcome);
}

async function listed(bench: AccountBench, { caller }: SignedIn): Promise<number> {
  const outcome = await bench.secrets.recent({ limit: 50, cursor: null, states: null }, caller);
  if (outcome.outcome !== 'listed') throw new Error(outcome.outcome);
  return outcome.receipts.length;
}

async function apiToken(bench: AccountBench, signedIn: SignedIn, expiresAt: number | null = null) {
  const made = await bench.accounts.createToken(signedIn, {
    ...{ ...proof, name: 'kept' },
    scopes: ['create'],
    expiresAt,
  });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  return { token: made.token.expose(), tokenId: made.stored.tokenId };
}

describe('a reset', () => {
  it('without a token sets the password, says that the list is lost, and loses only the list', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const kept = await bench.secrets.conceal(
      { ...noOptions, value: new Sensitive('shared before') },
      signedIn.caller,
    );
    if (kept.outcome !== 'created' || kept.receipt.secretKey === null) throw new Error(kept.outcome);
    const ticket = await bench.resetTicket(email);
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'reset', expiresAt: bench.now() + 3_600 });
    const reset = await bench.accounts.resetPassword(completion(ticket));
    expect(reset).toMatchObject({ outcome: 'reset', keepsList: false });
    const after = await bench.open(sessionOf(reset));
    expect(dataKeyOf(after)).not.toBe(dataKeyOf(signedIn));
    expect(await listed(bench, after)).toBe(0);
    // What was shared can still be managed by its metadata key, and read by its link.
    const receiptInput = { metadataKey: kept.receipt.metadataKey, authority: 'owner' } as const;
    expect(await bench.secrets.findReceipt(receiptInput, after.caller)).toMatchObject({ outcome: 'found' });
    const revealed = await bench.secrets.reveal(
      {
        passphrase: null,
        proofs: null,
        secretKey: kept.receipt.secretKey,
        clientPrefix: '192.0.2.0/24',
        isAbandoned: clientStays,
      },
      { kind: 'anonymous' },
    );
    expect(revealed).toMatchObject({ outcome: 'revealed' });
    await share(bench, after, 'shared afterwards');
    expect(await listed(bench, after)).toBe(1);
    expect(await bench.logIn(email)).toEqual({ outcome: 'refused' });
    expect(await bench.logIn(email, otherPassword)).toMatchObject({ outcome: 'logged_in' });
  });

  it('with a live API token of the account keeps the list', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    await share(bench, signedIn, 'shared before');
    const { token } = await apiToken(bench, signedIn);
    const ticket = await bench.resetTicket(email);
    const reset = await bench.accounts.resetPassword(completion(ticket, { token }));
    expect(reset).toMatchObject({ outcome: 'reset', keepsList: true });
    const after = await bench.open(sessionOf(reset));
    expect(dataKeyOf(after)).toBe(dataKeyOf(signedIn));
    expect(await listed(bench, after)).toBe(1);
    const again = await bench.open(sessionOf(await bench.logIn(email, otherPassword)));
    expect(dataKeyOf(again)).toBe(dataKeyOf(signedIn));
  });

  it('refuses a token that is another’s, wrong, expired or revoked, and a weak password, before the link is used up', async () => {
    const bench = createAccountBench();
    const { signedIn, sessionToken } = await bench.person(email);
    const stranger = await bench.person('al@example.org');
    const revoked = await apiToken(bench, signedIn);
    await bench.accounts.revokeToken(signedIn, revoked.tokenId);
    const expired = await apiToken(bench, signedIn, bench.now() + 60);
    const others = await apiToken(bench, stranger.signedIn);
    bench.advance(60);
    const ticket = await bench.resetTicket(email);
    const before = bench.hasher.stretched;
    for (const token of [
      others.token,
      revoked.token,
      expired.token,
      'a'.repeat(64),
      sessionToken,
      ticket,
      'x',
      ' ',
    ]) {
      expect(await bench.accounts.resetPassword(completion(ticket, { token }))).toEqual({
        outcome: 'invalid_token',
      });
    }
    expect(await bench.accounts.resetPassword(completion(ticket, { text: 'short' }))).toMatchObject({
      outcome: 'password_too_short',
    });
    expect(bench.hasher.stretched).toBe(before);
    expect(await bench.logIn(email)).toMatchObject({ outcome: 'logged_in' });
    expect(await bench.accounts.checkReset(ticket)).toEqual({
      outcome: 'valid',
      username: email,
      isFirst: false,
    });
    expect(await bench.accounts.resetPassword(completion(ticket))).toMatchObject({ outcome: 'reset' });
  });

  it('revokes every API token of the account if asked, also the one that kept the list, and no other’s', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const stranger = await bench.person('al@example.org');
    await share(bench, signedIn, 'shared before');
    const [{ token }, second] = [await apiToken(bench, signedIn), await apiToken(bench, signedIn)];
    const others = await apiToken(bench, stranger.signedIn);
    const ticket = await bench.resetTicket(email);
    const wrong = { token: 'a'.repeat(64), tokens: 'revoke' } as const;
    expect(await bench.accounts.resetPassword(completion(ticket, wrong))).toEqual({
      outcome: 'invalid_token',
    });
    expect(await bench.accounts.listTokens(signedIn)).toHaveLength(2);
    const reset = await bench.accounts.resetPassword(completion(ticket, { token, tokens: 'revoke' }));
    expect(reset).toMatchObject({ outcome: 'reset', keepsList: true });
    const after = await bench.open(sessionOf(reset));
    expect(await listed(bench, after)).toBe(1);
    expect(await bench.accounts.listTokens(after)).toEqual([]);
    for (const text of [token, second.token])
      expect(await bench.secrets.authenticate(email, text)).toBeNull();
    expect(await bench.secrets.authenticate('al@example.org', others.token)).not.toBeNull();
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'password_changed', tokens: 'revoke' });
  });

  it('keeps every API token unless asked', async () => {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const { token } = await apiToken(bench, signedIn);
    const reset = await bench.accounts.resetPassword(completion(await bench.resetTicket(email)));
    expect(await bench.accounts.listTokens(await bench.open(sessionOf(reset)))).toHaveLength(1);
    // The token's recent list is lost with the data key, but the token can still create secrets.
    expect(await bench.secrets.authenticate(email, token)).not.toBeNull();
  });

  it('ends every session, begins a fresh one, and tells the owner', async () => {
    const bench = createAccountBench();
    const { sessionToken, signedIn } = await bench.person(email);
    const second = sessionOf(await bench.logIn(email)).token.expose();
    const reset = await bench.accounts.resetPassword(completion(await bench.resetTicket(email)));
    for (const token of [sessionToken, second]) expect(await bench.accounts.openSession(token)).toBeNull();
    const fresh = await bench.open(sessionOf(reset));
    expect(await bench.accounts.listSessions(fresh)).toHaveLength(1);
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({
      kind: 'password_changed',
      forgottenUrl: 'https://mayfly.example/forgotten',
    });
    expect(bench.events).toContainEqual({
      event: 'password_changed',
      account: signedIn.caller.account.id,
      by: 'reset',
    });
  });

  it('gives an account that a command made its first password', async () => {
    const bench = createAccountBench();
    const made = await createAccount(bench.deps, { email, plan: 'identity' });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    const ticket = await bench.resetTicket(email);
    const token = made.token.expose();
    const reset = await bench.accounts.resetPassword(completion(ticket, { token }));
    expect(reset).toMatchObject({ outcome: 'reset', keepsList: true });
    const opened = await bench.open(sessionOf(reset));
    const caller = await bench.secrets.authenticate(email, token);
    expect(dataKeyOf(opened)).toBe(caller === null ? '' : dataKeyOf({ caller }));
    expect(await bench.logIn(email, otherPassword)).toMatchObject({ outcome: 'logged_in' });
    await bench.accounts.settled();
    expect(bench.mails.at(-1)).toMatchObject({ kind: 'password_set' });
  });

  it('works within the hour', async () => {
    const bench = createAccountBench();
    await bench.person(email);
    const ticket = await bench.resetTicket(email);
    bench.advance(3_599);
    expect(await bench.accounts.checkReset(ticket)).toMatchObject({ outcome: 'valid' });
    bench.advance(1);
    expect(await bench.accounts.checkReset(ticket)).toEqual({ outcome: 'gone' });
    expect(await bench.accounts.resetPassword(completion(ticket))).toEqual({ outcome: 'gone' });
  });
});

describe('a link to a reset', () => {
  /** The outcomes of two concurrent uses, and of a third afterwards. */
  async function useThrice(options: AccountBenchOptions = {}) {
    const bench = createAccountBench(options);
    await bench.person(email);
    const ticket = await bench.resetTicket(email);
    const both = await Promise.all([
      bench.accounts.resetPassword(completion(ticket, { text: 'the first password' })),
      bench.accounts.resetPassword(completion(ticket, { text: 'the second password' })),
    ]);
    const third = await bench.accounts.resetPassword(completion(ticket));
    return [...both, third].map(({ outcome }) => outcome).sort();
  }

  it('works once, also for two at the same time', async () => {
    expect(await useThrice()).toEqual(['gone', 'gone', 'reset']);
  });

  it('would work again in a store that forgets to use it up (self-test)', async () => {
    const tickets: StoredTicket[] = [];
    const outcomes = await useThrice({
      wrap: (store) => ({
        ...store,
        async addTicket(ticket, limits) {
          tickets.push(ticket);
          return store.addTicket(ticket, limits);
        },
        async redeemReset(hash, newPassword, tokens) {
          const account = await store.redeemReset(hash, newPassword, tokens);
          for (const ticket of tickets) await store.addTicket(ticket, noTicketLimits);
          return account;
        },
      }),
    });
    expect(outcomes.filter((outcome) => outcome === 'reset').length).toBeGreaterThan(1);
  });
});

/** A bench where a computed hash can be held back, and whose store can begin sessions whatever the password. */
function createGatedBench(ignoresPassword: boolean) {
  const gate = { held: [] as (() => void)[], isClosed: false };
  const bench = createAccountBench({
    wrap: (store) => ({
      ...store,
      async addSession(id, verifier, session) {
        const current = (await store.findPassword(email))?.password?.verifier;
        return store.addSession(id, ignoresPassword ? (current ?? verifier) : verifier, session);
      },
    }),
    wrapHasher: (hasher) => ({
      ...hasher,
      async stretch(text, salt, place) {
        const stretched = await hasher.stretch(text, salt, place);
        if (gate.isClosed) await new Promise<void>((open) => gate.held.push(open));
        return stretched;
      },
    }),
  });
  return { bench, gate };
}

describe('a log-in with the old password while it is being reset', () => {
  async function run(ignoresPassword: boolean) {
    const { bench, gate } = createGatedBench(ignoresPassword);
    await bench.person(email);
    const ticket = await bench.resetTicket(email);
    gate.isClosed = true;
    const late = bench.logIn(email, password);
    while (gate.held.length === 0) await Promise.resolve();
    gate.isClosed = false;
    const reset = await bench.accounts.resetPassword(completion(ticket));
    for (const open of gate.held) open();
    return {
      late: await late,
      sessions: await bench.accounts.listSessions(await bench.open(sessionOf(reset))),
    };
  }

  it('does not survive it', async () => {
    const { late, sessions } = await run(false);
    expect(late).toEqual({ outcome: 'refused' });
    expect(sessions).toHaveLength(1);
  });

  it('would in a store that begins sessions whatever the password is (self-test)', async () => {
    const { late, sessions } = await run(true);
    expect(late.outcome).toBe('logged_in');
    expect(sessions).toHaveLength(2);
  });
});
