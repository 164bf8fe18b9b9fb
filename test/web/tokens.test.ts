/** Creating and revoking API tokens, without a browser. */
import { describe, expect, it } from 'bun:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { address, createToken, signUp, wholeToken, wrongFields } from './account-visitor.ts';
import { checkedIn, textIn, valueIn } from './visit.ts';
import { words } from './words.ts';

async function tokensOf(app: TestApp) {
  const found = await app.store.findAccount(address);
  return found === null ? [] : app.store.listTokens(found.id);
}

describe('an API token', () => {
  it('stands once in the answer that made it, works, and stands nowhere else (P18)', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await visitor.get('/account/tokens');
    const made = await visitor.post('/account/tokens', { ...wholeToken, expiry: '30', date: '' });
    const token = textIn(made.html, 'token') ?? '';
    expect([made.status, token]).toEqual([200, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(made.html).toMatch(/<button type="button" hidden(="")? data-copy="#token" data-copied=/);
    expect(made.html).toContain(`curl --user ${address} https://mayfly.example/api/v2/private/recent`);
    expect(made.headers.get('cache-control')).toBe('no-store, no-transform');
    const authorization = `Basic ${Buffer.from(`${address}:${token}`).toString('base64')}`;
    expect((await app.fetch('/api/v2/private/recent', { headers: { authorization } })).status).toBe(200);
    const list = await visitor.get('/account/tokens');
    const elsewhere = [list.html, ...visitor.locations, ...visitor.setCookies, ...made.headers.values()];
    expect([...elsewhere, JSON.stringify([app.answers, app.events])].join()).not.toContain(token);
    for (const text of [
      'Backup',
      words('tokens.scopeCreate'),
      words('tokens.scopeManage'),
      words('tokens.revoke'),
    ]) {
      expect(list.html).toContain(text);
    }
  });

  it('expires when its form said: in days, at the end of a day, or never; a date counts only where it was chosen', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const now = app.clock.now();
    await createToken(visitor, { expiry: '90' });
    await createToken(visitor, { expiry: 'date', date: '2025-05-08' });
    await createToken(visitor, { expiry: '30', date: '2025-05-08' });
    await createToken(visitor);
    const stored = await tokensOf(app);
    expect(stored.map(({ expiresAt }) => expiresAt).sort()).toEqual(
      [now + 90 * 86_400, now + 30 * 86_400, Date.parse('2025-05-09T00:00:00Z') / 1_000, null].sort(),
    );
  });

  it('has no more scopes than were ticked', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await createToken(visitor, { 'scope-manage': '', 'scope-read-recent': '' });
    const [stored] = await tokensOf(app);
    expect(stored?.scopes).toEqual(['create']);
  });

  for (const [what, fields, field] of [
    ['without a name', { name: ' ' }, 'name'],
    ['with a name of two lines', { name: 'a\nb' }, 'name'],
    ['without a scope', { 'scope-create': '', 'scope-manage': '', 'scope-read-recent': '' }, 'scope-create'],
    ['for a day that is over', { expiry: 'date', date: '2025-05-07' }, 'date'],
    ['for a day that does not exist', { expiry: 'date', date: '2026-02-30' }, 'date'],
    ['for a date that was not given', { expiry: 'date', date: '' }, 'date'],
    ['for a date that is none', { expiry: 'date', date: 'soon' }, 'date'],
    ['for a time that is not offered', { expiry: '3650' }, 'expiry'],
  ] as const) {
    it(`is not made ${what}: the form comes back with what was typed and the field marked`, async () => {
      const app = createTestApp();
      const visitor = await signUp(app);
      await visitor.get('/account/tokens');
      const typed = { ...wholeToken, expiry: '', date: '', ...fields };
      const refused = await visitor.post('/account/tokens', typed);
      expect([refused.status, wrongFields(refused.html)]).toEqual([422, [field]]);
      expect(refused.html).toContain(`id="${field}-wrong"`);
      expect(valueIn(refused.html, 'date') ?? '').toBe(typed.date);
      expect(checkedIn(refused.html, 'expiry')).toBe(field === 'expiry' ? null : typed.expiry);
      expect(await tokensOf(app)).toEqual([]);
    });
  }

  it('takes the password: without it the form comes back with all that was typed but that', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await visitor.get('/account/tokens');
    const date = '2030-12-31';
    const typed = { ...wholeToken, name: 'My "script"', 'scope-manage': '', expiry: '90', date };
    for (const guess of ['', 'not the password']) {
      const refused = await visitor.post('/account/tokens', { ...typed, password: guess });
      expect([refused.status, wrongFields(refused.html)]).toEqual([422, ['password']]);
      expect(refused.html).toContain(`id="password-wrong">${words('account.ownPasswordWrong')}`);
      expect(valueIn(refused.html, 'name')).toBe('My "script"');
      expect([checkedIn(refused.html, 'expiry'), valueIn(refused.html, 'date')]).toEqual(['90', date]);
      expect(refused.html.match(/type="checkbox" value="yes" checked=""/g)).toHaveLength(2);
      expect(valueIn(refused.html, 'password')).toBeNull();
      expect(refused.html).not.toContain('not the password');
    }
    expect(await tokensOf(app)).toEqual([]);
  });

  it('is announced to its owner by mail, in the language of the page, without the token', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const token = await createToken(visitor);
    await app.accounts.settled();
    const mail = app.accountMails.at(-1);
    expect(mail).toMatchObject({ kind: 'token_created', name: 'Backup', locale: 'en' });
    expect(mail?.to.expose()).toBe(address);
    expect(JSON.stringify(mail)).not.toContain(token);
  });

  it('is revoked after being asked, and refused from then on', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const token = await createToken(visitor);
    const list = await visitor.get('/account/tokens');
    const path = /href="(\/account\/tokens\/\d+\/revoke)"/.exec(list.html)?.[1] ?? '';
    const asked = await visitor.get(path);
    expect(asked.html).toContain('“Backup”');
    const authorization = `Basic ${Buffer.from(`${address}:${token}`).toString('base64')}`;
    const use = () => app.fetch('/api/v2/authcheck', { headers: { authorization } });
    expect((await use()).status).toBe(200);
    expect((await visitor.post(path)).headers.get('location')).toBe('/account/tokens?done=revoked');
    expect((await use()).status).toBe(401);
    expect((await visitor.get(path)).headers.get('location')).toBe('/account/tokens?done=gone');
    await visitor.get('/account/tokens?done=gone');
    expect((await visitor.post(path)).headers.get('location')).toBe('/account/tokens?done=gone');
  });

  it('of another account can be neither seen nor revoked (P16)', async () => {
    const app = createTestApp();
    const bob = await app.account('bob@example.com');
    const [stored] = await app.store.listTokens(bob.id);
    const visitor = await signUp(app);
    const path = `/account/tokens/${stored?.tokenId}/revoke`;
    expect((await visitor.get(path)).headers.get('location')).toBe('/account/tokens?done=gone');
    await visitor.get('/account');
    expect((await visitor.post(path)).headers.get('location')).toBe('/account/tokens?done=gone');
    expect(await app.store.listTokens(bob.id)).toHaveLength(1);
  });
});
