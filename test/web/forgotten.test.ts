/** A forgotten password, without a browser. */
import { describe, expect, it } from 'bun:test';
import type { Caller } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import {
  address,
  askForReset,
  faceOf,
  newPassword,
  openAccountVisitor,
  password,
  signUp,
  wrongFields,
} from './account-visitor.ts';
import { sendForm, valueIn, visit } from './visit.ts';
import { saying, words } from './words.ts';

const sensitive = (text: string) => new Sensitive(text);

async function callerOf(app: TestApp, cookie: string): Promise<Caller> {
  const token = /__Host-mayfly=([0-9a-f]{64})/.exec(cookie)?.[1] ?? '';
  const found = await app.accounts.openSession(token);
  if (found === null) throw new Error('the session is not open');
  return found.caller;
}

describe('a forgotten password', () => {
  it('is asked for with the same answer for every address (P17)', async () => {
    const app = createTestApp();
    await signUp(app);
    const asked = await sendForm(app, '/forgotten', { email: address });
    expect([asked.status, asked.headers.get('location')]).toEqual([303, '/forgotten?done=sent']);
    const known = faceOf(asked);
    const unknown = faceOf(await sendForm(app, '/forgotten', { email: 'nobody@example.com' }));
    expect(known).toEqual(unknown);
    await app.accounts.settled();
    expect(app.accountMails.filter(({ kind }) => kind === 'reset')).toHaveLength(1);
  });

  it('says what is lost before it is, and ends every session', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await visitor.get('/');
    await app.service.conceal(
      { ...noOptions, value: sensitive('old') },
      await callerOf(app, visitor.cookie()),
    );
    const path = await askForReset(app);
    const form = await visit(app, path);
    expect(form.html).toMatch(saying('reset.changesList'));
    expect(form.html).toMatch(saying('reset.changesLinks'));
    expect((await visitor.get('/account')).status).toBe(200);
    const other = openAccountVisitor(app);
    await other.get(path);
    const set = await other.post(path, { password: newPassword, token: '' });
    expect(set.headers.get('location')).toBe('/account?done=reset-lost');
    expect((await other.get('/account?done=reset-lost')).html).toMatch(saying('account.resetLost'));
    expect((await other.get('/recent')).html).toContain(words('recent.emptyTitle'));
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await sendForm(app, '/log-in', { email: address, password })).status).toBe(422);
    expect((await sendForm(app, path, { password: newPassword, token: '' })).status).toBe(404);
  });

  it('keeps the list with a token of the account, which stays in the form when the password is refused', async () => {
    const app = createTestApp();
    const account = await app.account(address);
    const caller = await app.service.authenticate(account.username, account.token);
    if (caller === null) throw new Error('the token does not authenticate');
    await app.service.conceal({ ...noOptions, value: sensitive('old') }, caller);
    const path = await askForReset(app);
    const refused = await sendForm(app, path, { password: 'short', token: account.token });
    expect([refused.status, wrongFields(refused.html)]).toEqual([422, ['password']]);
    expect(valueIn(refused.html, 'token')).toBe(account.token);
    const wrong = await sendForm(app, path, { password: newPassword, token: 'f'.repeat(64) });
    expect([wrong.status, wrongFields(wrong.html)]).toEqual([422, ['token']]);
    const visitor = openAccountVisitor(app);
    await visitor.get(path);
    const set = await visitor.post(path, { password: newPassword, token: ` ${account.token}\n` });
    expect(set.headers.get('location')).toBe('/account?done=reset-kept');
    expect((await visitor.get('/recent')).html).toContain(words('recent.again'));
  });

  it('offers to revoke every API token, unticked, and says afterwards that it did', async () => {
    const app = createTestApp();
    const account = await app.account(address);
    const path = await askForReset(app);
    const box = /<input id="revoke-tokens"[^>]*>/;
    expect(box.exec((await visit(app, path)).html)?.[0]).not.toContain('checked');
    const refused = await sendForm(app, path, { password: 'short', 'revoke-tokens': 'yes' });
    expect(box.exec(refused.html)?.[0]).toContain('checked');
    expect(await app.store.listTokens(account.id)).toHaveLength(1);
    const visitor = openAccountVisitor(app);
    await visitor.get(path);
    const typed = { password: newPassword, token: account.token, 'revoke-tokens': 'yes' };
    const set = await visitor.post(path, typed);
    expect(set.headers.get('location')).toBe('/account?done=reset-kept-tokens');
    const { html } = await visitor.get('/account?done=reset-kept-tokens');
    expect(html).toMatch(saying('account.resetKept'));
    expect(html).toContain(words('account.tokensRevoked'));
    expect(await app.store.listTokens(account.id)).toEqual([]);
    const { authorization } = account;
    expect((await app.fetch('/api/v2/authcheck', { headers: { authorization } })).status).toBe(401);
  });

  it('changes nothing when the mailed link is looked at (P4), and works once', async () => {
    const app = createTestApp();
    await signUp(app);
    const path = await askForReset(app);
    for (const method of ['GET', 'HEAD', 'GET']) await visit(app, path, { method });
    expect((await sendForm(app, '/log-in', { email: address, password })).status).toBe(303);
    expect((await sendForm(app, path, { password: newPassword })).status).toBe(303);
    const gone = await visit(app, path);
    expect([gone.status, gone.html.includes(words('reset.goneTitle'))]).toEqual([404, true]);
  });
});
