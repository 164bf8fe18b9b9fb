/** Logging in and sessions: who gets in, for how long, and that a refusal reveals nothing. */
import { describe, expect, it } from 'bun:test';
import { createAccount } from '../../src/core/accounts/admin.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import {
  type AccountBenchStore,
  createAccountBench,
  dataKeyOf,
  label,
  password,
  proof,
  sessionOf,
} from './account-bench.ts';

const email = 'jo@example.org';
const daySeconds = 86_400;

describe('logging in', () => {
  it('takes the address in any letters and the password exactly as it was chosen (P15)', async () => {
    const bench = createAccountBench();
    const chosen = `  Ünïcödé ${'x'.repeat(100)}\0 end `;
    await bench.person(email, chosen);
    expect(await bench.logIn('JO@Example.Org', chosen)).toMatchObject({ outcome: 'logged_in' });
    for (const other of [
      chosen.trim(),
      chosen.toLowerCase(),
      chosen.normalize('NFD'),
      chosen.slice(0, -1),
      chosen.slice(0, 72),
      chosen.replace('\0', ''),
      `${chosen} `,
      '',
    ]) {
      expect(await bench.logIn(email, other)).toEqual({ outcome: 'refused' });
    }
  });

  it('takes no lone surrogate for the character that encoders put in its place', async () => {
    const bench = createAccountBench();
    await bench.person(email, 'a strange \ufffd password');
    expect(await bench.logIn(email, 'a strange \ufffd password')).toMatchObject({ outcome: 'logged_in' });
    expect(await bench.logIn(email, 'a strange \ud800 password')).toEqual({ outcome: 'refused' });
  });

  it('P17: looks once, stretches once and answers alike for an unknown address, an account without a password and a wrong password', async () => {
    const bench = createAccountBench();
    await bench.person(email);
    await createAccount(bench.deps, { email: 'command@example.org', plan: 'basic' });
    for (const [address, text] of [
      ['nobody@example.org', password],
      ['command@example.org', password],
      ['command@example.org', ''],
      [email, 'not the password'],
      [email, ''],
      [email, 'x'.repeat(5_000)],
      [email, 'a lone \ud800 half'],
      ['', password],
      ['not an address', password],
      ['\ud800@example.org', password],
    ] as const) {
      bench.calls.length = 0;
      const before = [bench.hasher.stretched, bench.events.length] as const;
      expect(await bench.logIn(address, text)).toEqual({ outcome: 'refused' });
      expect(bench.calls).toEqual(['findPassword']);
      expect(bench.hasher.stretched - before[0]).toBe(1);
      expect(bench.events.slice(before[1])).toEqual([{ event: 'log_in_refused' }]);
    }
    const before = bench.hasher.stretched;
    expect(await bench.logIn(email)).toMatchObject({ outcome: 'logged_in' });
    expect(bench.hasher.stretched - before).toBe(1);
  });

  it('refuses nobody for a full queue of hashes: it says so, and the next try works', async () => {
    const bench = createAccountBench();
    await bench.person(email);
    bench.hasher.busy = true;
    const busy = bench.logIn(email);
    await expect(busy).rejects.toBeInstanceOf(ServiceError);
    await expect(busy).rejects.toMatchObject({ code: 'busy' });
    bench.hasher.busy = false;
    expect(await bench.logIn(email)).toMatchObject({ outcome: 'logged_in' });
  });

  it('says that a record is damaged rather than that the right password is wrong', async () => {
    const bench = createAccountBench({
      wrap: (store) => ({
        ...store,
        async findPassword(username) {
          const found = await store.findPassword(username);
          if (found?.password == null) return found;
          return { ...found, password: { ...found.password, wrappedDataKey: new Uint8Array(112) } };
        },
      }),
    });
    await bench.person(email);
    await expect(bench.logIn(email)).rejects.toMatchObject({ code: 'damaged' });
    expect(await bench.logIn(email, 'not the password')).toEqual({ outcome: 'refused' });
  });

  it('gives each log-in a session of its own, with the same data key', async () => {
    const bench = createAccountBench();
    const { signedIn, sessionToken } = await bench.person(email);
    const second = sessionOf(await bench.logIn(email));
    expect(second.token.expose()).toMatch(/^[0-9a-f]{64}$/);
    expect(second.token.expose()).not.toBe(sessionToken);
    const opened = await bench.open(second);
    expect(opened.sessionId).not.toBe(signedIn.sessionId);
    expect(opened.formToken).toMatch(/^[0-9a-f]{32}$/);
    expect(opened.formToken).not.toBe(signedIn.formToken);
    expect(dataKeyOf(opened)).toBe(dataKeyOf(signedIn));
  });
});

describe('a session', () => {
  it('ends a week after its last use', async () => {
    const bench = createAccountBench();
    const { sessionToken } = await bench.person(email);
    bench.advance(7 * daySeconds - 1);
    expect(await bench.accounts.openSession(sessionToken)).not.toBeNull();
    await bench.accounts.settled();
    bench.advance(7 * daySeconds - 1);
    expect(await bench.accounts.openSession(sessionToken)).not.toBeNull();
    await bench.accounts.settled();
    bench.advance(7 * daySeconds);
    expect(await bench.accounts.openSession(sessionToken)).toBeNull();
  });

  it('ends thirty days after the log-in, however much it is used, and says so to the browser', async () => {
    const bench = createAccountBench();
    const { session, sessionToken } = await bench.person(email);
    expect(session.expiresAt).toBe(bench.now() + 30 * daySeconds);
    for (let day = 1; day < 30; day += 1) {
      bench.advance(daySeconds);
      expect(await bench.accounts.openSession(sessionToken)).not.toBeNull();
      await bench.accounts.settled();
    }
    const [stored] = await bench.store.listSessions(session.account.id);
    expect(stored?.expiresAt).toBe(session.expiresAt);
    bench.advance(daySeconds - 1);
    expect(await bench.accounts.openSession(sessionToken)).not.toBeNull();
    bench.advance(1);
    expect(await bench.accounts.openSession(sessionToken)).toBeNull();
  });

  it('ends then also in a store that forgets to end it', async () => {
    let kept: Awaited<ReturnType<AccountBenchStore['findSession']>> = null;
    const bench = createAccountBench({
      wrap: (store) => ({
        ...store,
        async findSession(hash) {
          kept = (await store.findSession(hash)) ?? kept;
          return kept;
        },
      }),
    });
    const { sessionToken } = await bench.person(email);
    bench.advance(7 * daySeconds - 1);
    expect(await bench.accounts.openSession(sessionToken)).not.toBeNull();
    bench.advance(1);
    expect(await bench.accounts.openSession(sessionToken)).toBeNull();
  });

  it('notes its use once a minute at most, and opens when the store cannot', async () => {
    let isDown = false;
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const bench = createAccountBench({
      wrap: (store) => ({
        ...store,
        noteSessionUse: (...args) => (isDown ? Promise.reject(outage) : store.noteSessionUse(...args)),
      }),
    });
    const { sessionToken } = await bench.person(email);
    const notes = async (waitSeconds: number) => {
      bench.advance(waitSeconds);
      bench.calls.length = 0;
      expect(await bench.accounts.openSession(sessionToken)).not.toBeNull();
      await bench.accounts.settled();
      return bench.calls.filter((name) => name === 'noteSessionUse').length;
    };
    expect([await notes(0), await notes(59), await notes(1), await notes(0)]).toEqual([0, 0, 1, 0]);
    isDown = true;
    expect(await notes(60)).toBe(1);
  });

  it('has a token of one spelling, and is not looked for under another', async () => {
    const bench = createAccountBench();
    const { sessionToken } = await bench.person(email);
    bench.calls.length = 0;
    for (const text of [sessionToken.toUpperCase(), `${sessionToken}\n`, sessionToken.slice(1), '', 'x']) {
      expect(await bench.accounts.openSession(text)).toBeNull();
    }
    expect(bench.calls).toEqual([]);
    expect(await bench.accounts.openSession('0'.repeat(64))).toBeNull();
  });

  it('is listed with its browser, cut to sixty characters, and can be ended from another', async () => {
    const bench = createAccountBench();
    const { signedIn, sessionToken } = await bench.person(email);
    const long = '🦊'.repeat(80);
    const other = await bench.accounts.logIn({
      clientPrefix: '',
      email,
      password: new Sensitive(password),
      label: long,
    });
    const second = await bench.open(sessionOf(other));
    const listed = await bench.accounts.listSessions(signedIn);
    expect(listed.map((each) => each.label).sort()).toEqual([label, '🦊'.repeat(60)].sort());
    expect(await bench.accounts.endSession(second, signedIn.sessionId)).toBe(true);
    expect(await bench.accounts.openSession(sessionToken)).toBeNull();
    expect(await bench.accounts.endSession(second, signedIn.sessionId)).toBe(false);
  });

  it('ends when its owner logs out, and only that one', async () => {
    const bench = createAccountBench();
    const { signedIn, sessionToken } = await bench.person(email);
    const other = sessionOf(await bench.logIn(email));
    await bench.accounts.logOut(signedIn);
    expect(await bench.accounts.openSession(sessionToken)).toBeNull();
    expect(await bench.accounts.openSession(other.token.expose())).not.toBeNull();
  });

  it('reaches nothing of another account (P16)', async () => {
    const bench = createAccountBench();
    const jo = await bench.person(email);
    const al = await bench.person('al@example.org');
    const made = await bench.accounts.createToken(jo.signedIn, {
      ...proof,
      name: 'jo’s',
      scopes: ['create'],
      expiresAt: null,
    });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    expect(await bench.accounts.endSession(al.signedIn, jo.signedIn.sessionId)).toBe(false);
    expect(await bench.accounts.revokeToken(al.signedIn, made.stored.tokenId)).toBe(false);
    expect(await bench.accounts.listTokens(al.signedIn)).toEqual([]);
    expect(await bench.accounts.openSession(jo.sessionToken)).not.toBeNull();
  });

  it('keeps the chosen language and lists the share domains of its account', async () => {
    const bench = createAccountBench();
    const { signedIn, sessionToken } = await bench.person(email);
    const accountId = signedIn.caller.account.id;
    const verified = {
      name: 'secrets.example.org',
      state: 'verified',
      challenge: null,
      createdAt: bench.now(),
    } as const;
    await bench.store.addDomain({ accountId, ...verified }, 1);
    expect(await bench.accounts.listShareDomains(signedIn)).toEqual(['secrets.example.org']);
    await bench.accounts.setLocale(signedIn, 'fr');
    expect((await bench.accounts.openSession(sessionToken))?.caller.account.locale).toBe('fr');
    await bench.accounts.setLocale(signedIn, null);
    expect((await bench.accounts.openSession(sessionToken))?.caller.account.locale).toBeNull();
  });
});
