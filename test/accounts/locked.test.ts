/** A locked account is refused like wrong credentials, and what it has made stays. */
import { describe, expect, it } from 'bun:test';
import type { AccountId } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  address,
  askForReset,
  createToken,
  faceOf,
  logIn,
  newPassword,
  password,
  signUp,
} from '../web/account-visitor.ts';
import { sendForm } from '../web/visit.ts';
import { createAccountBench } from './account-bench.ts';

const email = 'jo@example.org';

async function lock(app: TestApp): Promise<void> {
  const account = await app.store.findAccount(address);
  if (account === null || !(await app.store.lockAccount(account.id))) throw new Error('not locked');
}

async function unlock(app: TestApp): Promise<void> {
  const account = await app.store.findAccount(address);
  if (account === null || !(await app.store.unlockAccount(account.id))) throw new Error('not unlocked');
}

const basic = (username: string, token: string) => ({
  authorization: `Basic ${btoa(`${username}:${token}`)}`,
});

/** Everything of an API answer that a caller could compare. */
async function answerOf(app: TestApp, path: string, headers: Readonly<Record<string, string>>) {
  const answer = await app.fetch(path, { headers });
  const kept = [...answer.headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return { status: answer.status, headers: kept, body: await answer.text() };
}

describe('a locked account', () => {
  it('P17: is answered as a wrong token is, by both APIs', async () => {
    const app = createTestApp();
    const token = await createToken(await signUp(app));
    for (const path of ['/api/v1/authcheck', '/api/v1/private/recent', '/api/v2/authcheck']) {
      expect((await answerOf(app, path, basic(address, token))).status).toBe(200);
      const wrong = await answerOf(app, path, basic(address, 'f'.repeat(64)));
      expect(wrong.status).toBe(401);
      await lock(app);
      expect(await answerOf(app, path, basic(address, token))).toEqual(wrong);
      await unlock(app);
    }
    expect((await answerOf(app, '/api/v1/authcheck', basic(address, token))).status).toBe(200);
  });

  it('P17: is answered as a wrong password is, after the same work', async () => {
    const app = createTestApp();
    await signUp(app);
    const fields = { email: address, password };
    const wrong = await sendForm(app, '/log-in', { ...fields, password: newPassword });
    await lock(app);
    expect(faceOf(await sendForm(app, '/log-in', fields))).toEqual(faceOf(wrong));

    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    await bench.store.lockAccount(signedIn.caller.account.id);
    bench.calls.length = 0;
    const before = bench.hasher.stretched;
    expect(await bench.logIn(email)).toEqual({ outcome: 'refused' });
    expect([bench.calls, bench.hasher.stretched - before]).toEqual([['findPassword'], 1]);
  });

  it('ends its sessions at once, and they do not come back when it is unlocked', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await lock(app);
    expect((await visitor.get('/account')).headers.get('location')).toContain('/log-in');
    await unlock(app);
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await (await logIn(app)).get('/account')).status).toBe(200);
  });

  it('P17: gets no mail to reset its password, and its earlier link is gone like a used one', async () => {
    const app = createTestApp();
    await signUp(app);
    const path = await askForReset(app);
    await lock(app);
    expect((await sendForm(app, path, { password: newPassword, token: '' })).status).toBe(404);
    app.clock.advance(3_600);
    const mails = app.accountMails.length;
    const known = faceOf(await sendForm(app, '/forgotten', { email: address }));
    expect(known).toEqual(faceOf(await sendForm(app, '/forgotten', { email: 'nobody@example.com' })));
    await app.accounts.settled();
    expect(app.accountMails.slice(mails).filter(({ kind }) => kind === 'reset')).toEqual([]);
  });

  it('tells the log and nobody else, by its number, only where the credentials were right', async () => {
    const app = createTestApp();
    const token = await createToken(await signUp(app));
    const account = (await app.store.findAccount(address))?.id ?? (0 as AccountId);
    await lock(app);
    const from = app.events.length;
    await app.fetch('/api/v1/authcheck', { headers: basic(address, 'f'.repeat(64)) });
    await sendForm(app, '/log-in', { email: address, password: newPassword });
    await app.fetch('/api/v1/authcheck', { headers: basic(address, token) });
    await sendForm(app, '/log-in', { email: address, password });
    const refusals = app.events.slice(from).filter(({ event }) => /^(log|lock)/.test(event));
    expect(refusals).toEqual([
      { event: 'log_in_refused' },
      { event: 'locked_out', account, by: 'token' },
      { event: 'locked_out', account, by: 'password' },
      { event: 'log_in_refused' },
    ]);
  });

  it('leaves what it has made: the link opens once, and the receipt by its key says so', async () => {
    const app = createTestApp();
    const headers = basic(address, await createToken(await signUp(app)));
    const made = await app.fetch('/api/v1/share', {
      method: 'POST',
      headers,
      body: new URLSearchParams({ secret: 'still here' }),
    });
    const { secret_key: key, metadata_key: receiptKey } = await made.json();
    await lock(app);
    const read = await app.fetch(`/api/v1/secret/${key}`, { method: 'POST' });
    expect([read.status, (await read.json()).value]).toEqual([200, 'still here']);
    const receipt = await app.service.findReceipt(
      { metadataKey: receiptKey, authority: 'holder' },
      { kind: 'anonymous' },
    );
    expect(receipt).toMatchObject({ outcome: 'found', receipt: { state: 'received' } });
  });

  it('refuses what was begun with its password before the lock', async () => {
    const bench = createAccountBench({
      wrapHasher: (hasher) => ({
        ...hasher,
        async stretch(...args) {
          const stretched = await hasher.stretch(...args);
          // The lock comes while the log-in computes.
          const account = locking ? await bench.store.findAccount(email) : null;
          if (account !== null) await bench.store.lockAccount(account.id);
          return stretched;
        },
      }),
    });
    let locking = false;
    await bench.person(email);
    locking = true;
    expect(
      await bench.accounts.logIn({
        clientPrefix: '',
        email,
        password: new Sensitive('seven green bottles'),
        label: 'x',
      }),
    ).toEqual({
      outcome: 'refused',
    });
  });
});
