/** Session tokens, API tokens and tickets look alike, but each opens only its own door (P13). */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../../src/core/sensitive.ts';
import {
  type AccountBench,
  type AccountBenchOptions,
  createAccountBench,
  label,
  locale,
  otherPassword,
  proof,
} from './account-bench.ts';

const email = 'jo@example.org';
const newcomer = 'al@example.org';

/** One live token or ticket of each kind, of the same account where there is one. */
async function keysOf(bench: AccountBench) {
  const { signedIn, sessionToken } = await bench.person(email);
  const made = await bench.accounts.createToken(signedIn, {
    ...{ ...proof, name: 'x' },
    scopes: ['create'],
    expiresAt: null,
  });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  return {
    session: sessionToken,
    token: made.token.expose(),
    reset: await bench.resetTicket(email),
    signUp: await bench.signUpTicket(newcomer),
  };
}

type Keys = Awaited<ReturnType<typeof keysOf>>;
type Door = (bench: AccountBench, key: string, keys: Keys) => Promise<boolean>;

const fresh = {
  password: new Sensitive(otherPassword),
  tokens: 'keep',
  label,
  locale,
  clientPrefix: '',
} as const;

/** Doors that only look come before doors that consume. */
const doors: ReadonlyArray<readonly [name: string, opensFor: keyof Keys, door: Door]> = [
  ['a session', 'session', async ({ accounts }, key) => (await accounts.openSession(key)) !== null],
  ['the API', 'token', async ({ secrets }, key) => (await secrets.authenticate(email, key)) !== null],
  [
    'the look at a reset',
    'reset',
    async ({ accounts }, key) => (await accounts.checkReset(key)).outcome === 'valid',
  ],
  [
    'the look at a sign-up',
    'signUp',
    async ({ accounts }, key) => (await accounts.checkSignUp(key)).outcome === 'valid',
  ],
  [
    'the token of a reset',
    'token',
    async ({ accounts }, key, { reset }) => {
      const input = { ...fresh, ticket: reset, existingToken: new Sensitive(key) };
      return (await accounts.resetPassword(input)).outcome === 'reset';
    },
  ],
  [
    'a reset',
    'reset',
    async ({ accounts }, ticket) => {
      const input = { ...fresh, ticket, existingToken: new Sensitive('') };
      return (await accounts.resetPassword(input)).outcome === 'reset';
    },
  ],
  [
    'a sign-up',
    'signUp',
    async ({ accounts }, ticket) => (await accounts.signUp({ ...fresh, ticket })).outcome === 'signed_up',
  ],
];

/** Every door that opened, as `door: key`; each attempt has its own bench. */
async function openings(options: AccountBenchOptions = {}): Promise<string[]> {
  const opened: string[] = [];
  for (const [name, , door] of doors) {
    for (const kind of ['session', 'token', 'reset', 'signUp'] as const) {
      const bench = createAccountBench(options);
      const keys = await keysOf(bench);
      if (await door(bench, keys[kind], keys)) opened.push(`${name}: ${kind}`);
    }
  }
  return opened;
}

const expected = doors.map(([name, kind]) => `${name}: ${kind}`);

describe('a session token, an API token and a ticket of each kind', () => {
  it('P13: open their own doors and none of the others', async () => {
    expect(await openings()).toEqual(expected);
  });

  it('self-test: a store that looks a ticket up without its kind is noticed', async () => {
    const opened = await openings({
      wrap: (store) => ({
        ...store,
        findTicket: async (_kind, hash) =>
          (await store.findTicket('reset', hash)) ?? (await store.findTicket('sign_up', hash)),
      }),
    });
    expect(opened).toContain('the look at a reset: signUp');
    expect(opened).toContain('the look at a sign-up: reset');
  });

  it('P13: stay apart even in a store that takes one token for another: the data key is a second lock', async () => {
    const opened = await openings({
      wrap: (store) => {
        let last: Awaited<ReturnType<typeof store.findToken>> = null;
        return {
          ...store,
          async addOwnToken(id, verifier, token) {
            const stored = await store.addOwnToken(id, verifier, token);
            last = await store.findToken(token.tokenHash);
            return stored;
          },
          findToken: async (hash) => (await store.findToken(hash)) ?? last,
        };
      },
    });
    expect(opened).toEqual(expected);
  });
});
