/** What the operator's commands on access to an account change and say, on a store in memory. */
import { describe, expect, it } from 'bun:test';
import { logIn, personNamed } from '../../test/stores/conformance/account-fixtures.ts';
import { clientStays, createSettableClock, found, putNew } from '../../test/stores/conformance/check.ts';
import { newDomain } from '../../test/stores/conformance/domain-fixtures.ts';
import { createMemoryStore } from '../../test/stores/memory.ts';
import { fakeWorld } from '../../test/support/cli-world.ts';
import { type Environment, readConfig } from '../config/read.ts';
import { createAccount } from '../core/accounts/admin.ts';
import { checkReset } from '../core/accounts/sign-up.ts';
import { systemRandom } from '../crypto/random.ts';
import { sections } from './commands.ts';
import type { OpenAccountsOutcome } from './operator.ts';
import { runCommand } from './run.ts';

const jo = 'jo@example.org';
const base = { MAYFLY_BASE_URL: 'https://secrets.example.org/vault' };

async function installation(env: Environment = base) {
  const clock = createSettableClock();
  const store = createMemoryStore({ clock });
  const accounts = { store, random: systemRandom, close: async () => {} };
  const openAccounts = async (): Promise<OpenAccountsOutcome> => ({ outcome: 'open', accounts });
  const run = async (args: readonly string[], answer: string | null = null) => {
    const { world, written } = fakeWorld({ openAccounts, readConfig: async () => readConfig(env) });
    const terminal = {
      ...world.terminal,
      ask: async (question: string) => {
        written.err += question;
        return answer;
      },
    };
    return { code: await runCommand(args, sections, { ...world, terminal }), ...written };
  };
  const json = async (args: readonly string[]) => JSON.parse((await run([...args, '--json'])).out);
  return { clock, store, accounts, run, json };
}

const ticketIn = (link: string): string => /\/reset\/([0-9a-f]{64})\n?$/.exec(link)?.[1] ?? '';

describe('mayfly account create --link', () => {
  it('prints the link alone, below MAYFLY_BASE_URL, and says how often and how long it works', async () => {
    const { run, store } = await installation();
    const { code, out, err } = await run([
      'account',
      'create',
      'Jo@Example.org',
      '--plan',
      'identity',
      '--link',
    ]);
    expect(code).toBe(0);
    expect(out).toMatch(/^https:\/\/secrets\.example\.org\/vault\/reset\/[0-9a-f]{64}\n$/);
    expect(err).toContain('Created jo@example.org.');
    expect(err).toContain('works once. Expires in 24 hours (');
    expect(err).not.toContain('only this machine');
    expect(await checkReset({ store }, ticketIn(out))).toMatchObject({ outcome: 'valid', isFirst: true });
    expect(await store.findAccount(jo)).toMatchObject({ plan: 'identity' });
  });

  it('prints JSON, and refuses an address that has an account', async () => {
    const { json, store } = await installation();
    const made = await json(['account', 'create', jo, '--link']);
    expect(Object.keys(made)).toEqual(['username', 'link', 'expires']);
    expect(made).toMatchObject({ username: jo, expires: store.now() + 86_400 });
    expect(await json(['account', 'create', jo, '--link'])).toEqual({ error: 'exists' });
    expect(await json(['account', 'create', 'nobody', '--link'])).toEqual({ error: 'invalid_email' });
  });

  it('says so where the link leads to this machine alone', async () => {
    const { run } = await installation({});
    expect((await run(['account', 'create', jo, '--link'])).err).toContain(
      'points to http://localhost:3000, which only this machine can open: set MAYFLY_BASE_URL',
    );
  });
});

describe('mayfly account reset', () => {
  it('prints a link that replaces the earlier one, and says what using it loses', async () => {
    const { run, accounts, store } = await installation();
    await createAccount(accounts, { email: jo, plan: 'basic' });
    const first = await run(['account', 'reset', jo]);
    expect(first.err).toContain('The list of earlier secrets is lost');
    const second = await run(['account', 'reset', jo]);
    expect(await checkReset({ store }, ticketIn(first.out))).toEqual({ outcome: 'gone' });
    expect(await checkReset({ store }, ticketIn(second.out))).toMatchObject({ outcome: 'valid' });
  });

  it('speaks of no loss where nothing opens the account yet', async () => {
    const { run } = await installation();
    await run(['account', 'create', jo, '--link']);
    const { err } = await run(['account', 'reset', jo]);
    expect(err).toContain('the first password');
    expect(err).not.toContain('lost');
  });

  it('is refused for a locked account, and for none', async () => {
    const { json, accounts } = await installation();
    await createAccount(accounts, { email: jo, plan: 'basic' });
    await json(['account', 'lock', jo]);
    expect(await json(['account', 'reset', jo])).toEqual({ error: 'locked' });
    expect(await json(['account', 'reset', 'none@example.org'])).toEqual({ error: 'no_account' });
  });
});

describe('mayfly account lock and unlock', () => {
  it('say what changed, and what was so already, with 0', async () => {
    const { run, json, accounts, store, clock } = await installation();
    await createAccount(accounts, { email: jo, plan: 'basic' });
    const lockedAt = store.now();
    expect(await run(['account', 'lock', 'JO@example.org'])).toMatchObject({ code: 0, out: '' });
    clock.advance(60);
    expect(await json(['account', 'lock', jo])).toEqual({ username: jo, locked: lockedAt, changed: false });
    expect((await run(['account', 'lock', jo])).err).toContain('is already locked, since ');
    expect((await run(['account', 'list'])).out).toContain('\tLOCKED ');
    expect(await json(['account', 'unlock', jo])).toEqual({ username: jo, locked: null, changed: true });
    expect((await run(['account', 'unlock', jo])).err).toBe('jo@example.org is not locked.\n');
    expect(await store.findAccount(jo)).toMatchObject({ lockedAt: null });
    expect(await json(['account', 'lock', 'none@example.org'])).toEqual({ error: 'no_account' });
  });
});

describe('mayfly account delete', () => {
  async function withSecrets() {
    const made = await installation();
    const { store } = made;
    const { account } = await personNamed(store, jo);
    const [waiting, read] = [
      await putNew(store, { owner: account.id }),
      await putNew(store, { owner: account.id }),
    ];
    const others = await putNew(store);
    await store.claim(await found(store, read.secretId), clientStays);
    await store.addDomain(newDomain(account.id, 'secrets.example.org'), 5);
    return { ...made, waiting, read, others };
  }

  it('says what goes, with counts, and deletes nothing without a yes', async () => {
    const { run, store, waiting } = await withSecrets();
    for (const answer of [null, '', 'n']) {
      const { code, out, err } = await run(['account', 'delete', jo], answer);
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain('Unread secrets: 1.');
      expect(err).toContain('Receipts: 2.');
      expect(err).toContain('API tokens: 0.');
      expect(err).toContain('Share domains: secrets.example.org.');
    }
    expect(await store.findAccount(jo)).not.toBeNull();
    await found(store, waiting.secretId);
  });

  it('deletes the account, burns what waits, and leaves receipts and everybody else', async () => {
    const { run, store, waiting, others } = await withSecrets();
    const { code, err } = await run(['account', 'delete', jo], 'y');
    expect(code).toBe(0);
    expect(err).toContain('Deleted jo@example.org and burned 1 secret. No email was sent');
    expect(await store.findAccount(jo)).toBeNull();
    expect(await store.listDeletions(10)).toEqual([]);
    expect(await store.findSecret(waiting.secretId)).toBeNull();
    expect(await store.findReceipt(waiting.receiptId)).toMatchObject({ state: 'burned' });
    await found(store, others.secretId);
  });

  it('asks nothing with --yes', async () => {
    const { json } = await withSecrets();
    expect(await json(['account', 'delete', jo, '--yes'])).toEqual({
      username: jo,
      deleted: true,
      burned: 1,
    });
    expect(await json(['account', 'delete', jo, '--yes'])).toEqual({ error: 'no_account' });
  });
});

describe('mayfly account list', () => {
  it('tells what opens each account, when it was last used and whether it is locked', async () => {
    const { run, json, accounts, store } = await installation();
    const person = await personNamed(store, jo);
    await logIn(store, person);
    await createAccount(accounts, { email: 'bo@example.org', plan: 'identity' });
    await run(['account', 'lock', 'bo@example.org']);
    const at = store.now();
    expect(await json(['account', 'list'])).toEqual([
      {
        ...{ id: 1, username: jo, sender_name: null, plan: 'basic', created: at },
        ...{ locked: null, has_password: true, tokens: 0, last_used: at },
      },
      {
        ...{ id: 2, username: 'bo@example.org', sender_name: null, plan: 'identity', created: at },
        ...{ locked: at, has_password: false, tokens: 1, last_used: null },
      },
    ]);
    const [first = '', second = ''] = (await run(['account', 'list'])).out.split('\n');
    expect(first).toMatch(/^jo@example\.org\tbasic\t\S+\tpassword, 0 tokens\tused \S+$/);
    expect(second).toMatch(/^bo@example\.org\tidentity\t\S+\tno password, 1 token\tnever used\tLOCKED \S+$/);
  });
});
