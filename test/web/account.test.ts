/** The account's own pages, without a browser: password, tokens, sessions, language, mails and deletion. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import {
  type AccountVisitor,
  address,
  createToken,
  logIn,
  newPassword,
  openAccountVisitor,
  password,
  signUp,
  wholeToken,
  wrongFields,
} from './account-visitor.ts';
import { checkedIn, postForm, sendForm, valueIn, visit } from './visit.ts';
import { saying, words } from './words.ts';

const gets = [
  '/account',
  '/account/notices',
  '/account/password',
  '/account/delete',
  '/account/tokens',
  '/account/tokens/1/revoke',
  '/account/sessions',
  '/account/sessions/1/end',
  '/recent',
];

/** Every POST of an account, filled in so that it would have an effect. */
const posts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/account/notices': { notify: 'chosen', 'notify-read': 'yes' },
  '/account/password': { current: password, next: newPassword },
  '/account/delete': { password, confirm: 'yes' },
  '/account/tokens': { ...wholeToken, expiry: '', date: '' },
  '/account/tokens/1/revoke': {},
  '/account/sessions/2/end': {},
};

/** The state of an account, as far as its pages can change it. */
async function stateOf(app: TestApp): Promise<unknown> {
  const found = await app.store.findPassword(address);
  if (found === null) return 'deleted';
  const { account, password: stored } = found;
  const tokens = await app.store.listTokens(account.id);
  const sessions = await app.store.listSessions(account.id);
  return {
    locale: account.locale,
    notify: account.notify,
    senderName: account.senderName,
    setAt: stored && Buffer.from(stored.verifier).toString('hex'),
    tokens: tokens.map(({ tokenId }) => tokenId),
    sessions: sessions.map(({ sessionId }) => sessionId).sort(),
  };
}

/** An account with a token and two sessions; returns the visitor of the first. */
async function settled(app: TestApp): Promise<AccountVisitor> {
  const visitor = await signUp(app);
  await logIn(app);
  const token = await createToken(visitor);
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  return visitor;
}

describe('whoever is not logged in', () => {
  it('is sent to the log-in by every page of an account and by every form, and changes nothing', async () => {
    const app = createTestApp();
    await settled(app);
    const before = await stateOf(app);
    for (const path of gets) {
      const seen = await visit(app, path);
      const logIn = `/log-in?${new URLSearchParams({ back: path })}`;
      expect([path, seen.status, seen.headers.get('location')]).toEqual([path, 303, logIn]);
    }
    for (const [path, fields] of Object.entries(posts)) {
      for (const formToken of [{}, { 'form-token': 'f'.repeat(32) }]) {
        const seen = await postForm(app, path, { ...fields, ...formToken });
        expect([path, seen.status, seen.headers.get('location')]).toEqual([path, 303, '/log-in']);
      }
    }
    expect(await stateOf(app)).toEqual(before);
  });
});

describe('a form of an account', () => {
  for (const [path, fields] of Object.entries(posts)) {
    it(`changes nothing without this session’s own token, or from another site: ${path}`, async () => {
      const app = createTestApp();
      const visitor = await settled(app);
      const other = openAccountVisitor(app);
      await other.get('/log-in');
      await other.post('/log-in', { email: address, password });
      const page = (await other.get('/account')).html;
      const foreign = /name="form-token" value="([0-9a-f]{32})"/.exec(page)?.[1] ?? '';
      expect(foreign).toMatch(/^[0-9a-f]{32}$/);
      const before = await stateOf(app);
      for (const token of ['', 'f'.repeat(32), foreign]) {
        await visitor.get('/account');
        const refused = await visitor.post(path, { ...fields, 'form-token': token });
        expect([token, refused.status]).toEqual([token, 403]);
        expect(refused.html).not.toContain(password);
      }
      await visitor.get('/account');
      expect((await visitor.post(path, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await visitor.post(path, fields, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
      expect((await visitor.post(path, fields, { origin: 'https://evil.example' })).status).toBe(403);
      expect(await stateOf(app)).toEqual(before);
    });

    it(`self-test: with the session’s token it does what it says: ${path}`, async () => {
      const app = createTestApp();
      const visitor = await settled(app);
      const before = await stateOf(app);
      await visitor.get('/account');
      expect((await visitor.post(path, fields)).status).toBeLessThan(400);
      expect(await stateOf(app)).not.toEqual(before);
    });
  }

  it('comes back with what was typed when it was shown to an earlier session', async () => {
    const visitor = await settled(createTestApp());
    const typed = { ...wholeToken, name: 'My "script"', 'scope-manage': 'no', expiry: '90', date: '' };
    const refused = await visitor.post('/account/tokens', { ...typed, 'form-token': 'f'.repeat(32) });
    expect(refused.status).toBe(403);
    expect(refused.html).toContain('role="alert"');
    expect(valueIn(refused.html, 'name')).toBe('My "script"');
    expect(checkedIn(refused.html, 'expiry')).toBe('90');
    expect(refused.html.match(/type="checkbox" value="yes" checked=""/g)).toHaveLength(2);
  });
});

describe('the account’s page', () => {
  it('shows first who is logged in, with their plan, and its limits in a sentence', async () => {
    const { html } = await (await signUp(createTestApp())).get('/account');
    const limits = { size: '10\u00a0kB', sealedSize: '1\u00a0MB', usual: '7 days' };
    for (const text of [
      words('account.planBasic'),
      words('account.limits', { ...limits, shortest: '1 minute', longest: '14 days' }),
    ]) {
      expect(html).toContain(text);
    }
    expect(html).toMatch(new RegExp(`<h1>[^<]*</h1><section[^>]*>.*?<bdi>${address}</bdi>`));
  });

  it('counts the secrets that are still unopened', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    expect((await visitor.get('/account')).html).toContain(words('account.waitingNone'));
    const caller = await app.service.authenticate(address, await createToken(visitor));
    if (caller === null) throw new Error('the token does not authenticate');
    const share = () => app.service.conceal({ ...noOptions, value: new Sensitive('x') }, caller);
    for (let time = 0; time < 2; time++) await share();
    expect((await visitor.get('/account')).html).toContain(words('account.waiting', { count: 2 }));
    for (let time = 2; time < 51; time++) await share();
    expect((await visitor.get('/account')).html).toContain(words('account.waitingMany', { count: 50 }));
  });

  it('leads to each section of the account, and marks the one that is shown', async () => {
    const visitor = await signUp(createTestApp());
    const paths = ['/account', '/account/tokens', '/account/sessions', '/account/password'];
    for (const path of paths) {
      const { html } = await visitor.get(path);
      const nav = /<nav class="sections".*?<\/nav>/.exec(html)?.[0] ?? '';
      expect([...nav.matchAll(/href="([^"]+)"/g)].map(([, to]) => to ?? '')).toEqual(paths);
      expect([...nav.matchAll(/href="([^"]+)" aria-current="page"/g)].map(([, to]) => to ?? '')).toEqual([
        path,
      ]);
    }
  });

  it('names the language, and leaves choosing it to the one link in the foot', async () => {
    const { html } = await (await signUp(createTestApp())).get('/account');
    const main = html.slice(html.indexOf('<main'), html.indexOf('</main>'));
    expect(main).toContain(words('account.languageHint'));
    expect(main).not.toContain('?lang"');
    expect(html.slice(html.indexOf('</main>'))).toContain('href="/account?lang"');
  });

  it('says nothing that its address invents', async () => {
    const visitor = await signUp(createTestApp());
    for (const done of ['<b>', 'nothing', '__proto__', '']) {
      expect((await visitor.get(`/account?done=${encodeURIComponent(done)}`)).html).not.toContain(
        'role="status"',
      );
    }
  });
});

describe('a change of password', () => {
  it('keeps this session and the list, and ends every other session', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const other = await logIn(app);
    await visitor.get('/account/password');
    const changed = await visitor.post('/account/password', { current: password, next: newPassword });
    expect([changed.status, changed.headers.get('location')]).toEqual([303, '/account?done=password']);
    expect((await visitor.get('/account?done=password')).html).toMatch(saying('account.passwordChanged'));
    expect((await other.get('/account')).status).toBe(303);
    expect((await sendForm(app, '/log-in', { email: address, password })).status).toBe(422);
    expect((await sendForm(app, '/log-in', { email: address, password: newPassword })).status).toBe(303);
  });

  it('revokes every API token when the box is ticked, which it is not at first, and says so', async () => {
    const app = createTestApp();
    const visitor = await settled(app);
    const tokens = async () => JSON.stringify(await stateOf(app)).includes('"tokens":[]');
    const box = /<input id="revoke-tokens"[^>]*>/;
    const form = await visitor.get('/account/password');
    expect(box.exec(form.html)?.[0]).not.toContain('checked');
    const typed = { current: password, next: newPassword, 'revoke-tokens': 'yes' };
    const refused = await visitor.post('/account/password', { ...typed, current: 'not it at all' });
    expect([box.exec(refused.html)?.[0].includes('checked'), await tokens()]).toEqual([true, false]);
    const changed = await visitor.post('/account/password', typed);
    expect(changed.headers.get('location')).toBe('/account?done=password-tokens');
    expect(await tokens()).toBe(true);
    expect((await visitor.get('/account?done=password-tokens')).html).toContain(
      words('account.tokensRevoked'),
    );
  });

  it('marks the field that is wrong, and gives neither password back', async () => {
    const visitor = await signUp(createTestApp());
    await visitor.get('/account/password');
    const wrong = await visitor.post('/account/password', { current: 'not it at all', next: newPassword });
    expect([wrong.status, wrongFields(wrong.html)]).toEqual([422, ['current']]);
    const short = await visitor.post('/account/password', { current: password, next: 'short' });
    expect([short.status, wrongFields(short.html)]).toEqual([422, ['next']]);
    for (const text of [password, newPassword, 'not it at all', 'value="short"']) {
      expect(wrong.html + short.html).not.toContain(text);
    }
  });
});

describe('guesses at the password of an open browser', () => {
  const rule = { limit: 2, windowSeconds: 600, burst: 2 };
  const logInRules = { anonymous: { ...rule, limit: 100, burst: 100 }, account: rule };

  for (const [path, fields, right] of [
    ['/account/password', { current: 'wrong guess', next: newPassword }, { current: password }],
    ['/account/delete', { password: 'wrong guess', confirm: 'yes' }, { password }],
    ['/account/tokens', { ...wholeToken, expiry: '', date: '', password: 'wrong guess' }, { password }],
  ] as const) {
    it(`are counted as log-ins of that address: ${path}`, async () => {
      const app = createTestApp({ rateLimits: { ...builtInRateLimits, logIn: logInRules } });
      const visitor = await signUp(app);
      await visitor.get(path);
      const seen = [];
      for (let time = 0; time < 3; time++) seen.push(await visitor.post(path, fields));
      expect(seen.map(({ status }) => status)).toEqual([422, 422, 429]);
      expect(seen.at(-1)?.headers.get('retry-after')).not.toBeNull();
      expect((await visitor.post(path, { ...fields, ...right })).status).toBe(429);
      expect((await sendForm(app, '/log-in', { email: address, password })).status).toBe(429);
      expect(await stateOf(app)).toMatchObject({ tokens: [] });
    });
  }

  it('self-test: without a limit the right one would pass after them', async () => {
    const visitor = await signUp(createTestApp());
    await visitor.get('/account/password');
    for (let time = 0; time < 3; time++) {
      await visitor.post('/account/password', { current: 'wrong guess', next: newPassword });
    }
    const passed = await visitor.post('/account/password', { current: password, next: newPassword });
    expect(passed.status).toBe(303);
  });
});

describe('the sessions', () => {
  it('are listed with this one marked, and another is ended', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const phone = openAccountVisitor(app, {
      'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5) <b> Version/18.5 Safari/605.1.15',
    });
    await phone.get('/log-in');
    await phone.post('/log-in', { email: address, password });
    const list = await visitor.get('/account/sessions');
    expect(list.html.split(words('sessions.this'))).toHaveLength(2);
    expect(list.html).toContain(words('sessions.browserOn', { browser: 'Safari', system: 'iPhone' }));
    expect(list.html).not.toContain('605.1.15');
    const path = /action="(\/account\/sessions\/\d+\/end)"/.exec(list.html)?.[1] ?? '';
    expect((await visitor.get(path)).headers.get('location')).toBe('/account/sessions');
    expect((await phone.get('/account')).status).toBe(200);
    expect((await visitor.post(path)).headers.get('location')).toBe('/account/sessions?done=ended');
    expect((await phone.get('/account')).status).toBe(303);
    expect((await visitor.get('/account/sessions?done=ended')).html).toContain(words('sessions.onlyThis'));
  });

  it('end with a log-out when it is one’s own, and another account’s not at all (P16)', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const bob = await signUp(app, 'bob@example.com');
    const own = async (email: string) => {
      const found = await app.store.findAccount(email);
      return (found === null ? [] : await app.store.listSessions(found.id))[0]?.sessionId;
    };
    for (const key of [await own('bob@example.com'), '0', 'x', '1e1', '9'.repeat(30)]) {
      await visitor.get('/account');
      const answer = await visitor.post(`/account/sessions/${key}/end`);
      expect(answer.headers.get('location')).toBe('/account/sessions?done=gone');
    }
    expect((await bob.get('/account')).status).toBe(200);
    const left = await visitor.post(`/account/sessions/${await own(address)}/end`);
    expect(left.headers.get('location')).toBe('/log-in?done=logged-out');
    expect(left.headers.getSetCookie().join()).toContain('__Host-mayfly=; Max-Age=0');
  });
});

describe('the end of an account', () => {
  it('burns what waits, ends tokens and sessions, takes the cookie, and says how many were burned', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const other = await logIn(app);
    const token = await createToken(visitor);
    const caller = await app.service.authenticate(address, token);
    if (caller === null) throw new Error('the token does not authenticate');
    const made = [];
    for (let time = 0; time < 2; time++) {
      made.push(await app.service.conceal({ ...noOptions, value: new Sensitive('x') }, caller));
    }
    await visitor.get('/account/delete');
    const gone = await visitor.post('/account/delete', { password, confirm: 'yes' });
    expect([gone.status, gone.html.includes(words('account.deletedBurned', { count: 2 }))]).toEqual([
      200,
      true,
    ]);
    expect(gone.headers.getSetCookie()).toEqual([
      '__Host-mayfly=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect(gone.html).not.toContain('form-token');
    expect(gone.html).not.toContain('/log-out');
    expect((await other.get('/account')).status).toBe(303);
    expect(await app.service.authenticate(address, token)).toBeNull();
    for (const each of made) {
      if (each.outcome !== 'created') throw new Error(each.outcome);
      const { metadataKey, secretKey } = each.receipt;
      expect((await app.service.secretStatus({ secretKey: secretKey ?? '' }, caller)).outcome).toBe(
        'unknown',
      );
      // Nobody is its owner any more.
      expect((await visit(app, `/receipt/${metadataKey}`)).status).toBe(404);
    }
  });

  it('takes the password and the ticked box, and says which is missing', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await visitor.get('/account/delete');
    const unticked = await visitor.post('/account/delete', { password });
    expect([unticked.status, wrongFields(unticked.html)]).toEqual([422, ['confirm']]);
    const wrong = await visitor.post('/account/delete', { password: 'not it at all', confirm: 'yes' });
    expect([wrong.status, wrongFields(wrong.html)]).toEqual([422, ['password']]);
    expect(wrong.html).toContain(' checked=""');
    expect(unticked.html + wrong.html).not.toContain(password);
    expect((await visitor.get('/account')).status).toBe(200);
  });
});
