/** Signing up, logging in and out, and a forgotten password, without a browser. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits, type RateLimitTable } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { createTestApp, fastHasher } from '../support/app.ts';
import {
  address,
  askForReset,
  faceOf,
  logIn,
  mailedTicket,
  newPassword,
  openAccountVisitor,
  password,
  signUp,
  wrongFields,
} from './account-visitor.ts';
import { hiddenIn, postForm, sendForm, valueIn, visit } from './visit.ts';
import { saying, words } from './words.ts';

const cookieForm = /^__Host-mayfly=[0-9a-f]{64}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/;

function tight(name: 'logIn' | 'signUp', limit: number): RateLimitTable {
  const rule = { limit, windowSeconds: 600, burst: limit };
  return { ...builtInRateLimits, [name]: { anonymous: rule, account: rule } };
}

const from = (host: string) => ({ 'x-forwarded-for': host });
const proxied = { trustedProxies: ['127.0.0.1/32'] };

describe('a page that needs a log-in', () => {
  it('is shown after it, also after a wrong password, with what its address says', async () => {
    const app = createTestApp();
    await signUp(app);
    const visitor = openAccountVisitor(app);
    const path = '/recent?at=1800000000';
    const sent = (await visitor.get(`${path}&lang=en`)).headers.get('location') ?? '';
    expect(sent).toBe(`/log-in?${new URLSearchParams({ back: path })}`);
    const { html } = await visitor.get(sent);
    expect(hiddenIn(html, 'back')).toBe(path);
    const back = { email: address, back: path };
    const wrong = await visitor.post('/log-in', { ...back, password: 'wrong' });
    expect(hiddenIn(wrong.html, 'back')).toBe(path);
    const { headers } = await visitor.post('/log-in', { ...back, password });
    expect(headers.get('location')).toBe(path);
    expect((await visitor.get(sent)).headers.get('location')).toBe(path);
    expect((await openAccountVisitor(app).post('/recent')).headers.get('location')).toBe('/log-in');
  });

  it('is never one of another site', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    for (const back of [
      '//evil.example',
      'https://evil.example/',
      '/\\evil.example',
      '/x/..//evil.example',
      '',
    ]) {
      const form = await sendForm(app, '/log-in', { email: address, password, back });
      expect([back, form.headers.get('location')]).toEqual([back, '/']);
      const { headers } = await visitor.get(`/log-in?${new URLSearchParams({ back })}`);
      expect([back, headers.get('location')]).toEqual([back, '/account']);
    }
  });
});

describe('signing up', () => {
  it('asks for the address alone, and for the password behind the mailed link', async () => {
    const app = createTestApp();
    const visitor = openAccountVisitor(app);
    expect((await visitor.get('/sign-up')).html).not.toContain('type="password"');
    const asked = await visitor.post('/sign-up', { email: ` ${address} ` });
    expect([asked.status, asked.headers.get('location')]).toEqual([303, '/sign-up?done=sent']);
    expect((await visitor.get('/sign-up?done=sent')).html).toContain(words('sent.title'));
    await app.accounts.settled();
    const path = `/sign-up/${mailedTicket(app, 'sign_up')}`;
    const form = await visitor.get(path);
    expect(form.html).toContain(`autocomplete="username" value="${address}"`);
    expect(form.html).toContain('autocomplete="new-password"');
    expect(form.html).toContain(words('password.rules', { count: 10 }));
    const made = await visitor.post(path, { password });
    expect([made.status, made.headers.get('location')]).toEqual([303, '/account?done=signed-up']);
    expect(made.headers.getSetCookie()).toEqual([expect.stringMatching(cookieForm)]);
    expect((await visitor.get('/account?done=signed-up')).html).toContain(words('account.welcome'));
  });

  it('consumes nothing when the mailed link is only looked at (P4)', async () => {
    const app = createTestApp();
    await sendForm(app, '/sign-up', { email: address });
    await app.accounts.settled();
    const path = `/sign-up/${mailedTicket(app, 'sign_up')}`;
    for (const method of ['GET', 'HEAD', 'GET', 'OPTIONS']) await visit(app, path, { method });
    expect((await sendForm(app, path, { password })).status).toBe(303);
    const again = await sendForm(app, path, { password });
    expect([again.status, again.html.includes(words('signUp.askAgain'))]).toEqual([404, true]);
    expect((await visit(app, path)).status).toBe(404);
  });

  it('answers an address with an account exactly as one without (P17)', async () => {
    const app = createTestApp();
    await signUp(app);
    app.clock.advance(60);
    const answers = [address, 'nobody@example.com'].map((email) => sendForm(app, '/sign-up', { email }));
    const [known, unknown] = (await Promise.all(answers)).map(faceOf);
    expect(known).toEqual(unknown);
    await app.accounts.settled();
    expect(
      app.accountMails
        .slice(-2)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['already_signed_up', 'sign_up']);
  });

  for (const [what, bad] of Object.entries({
    'too short': 'short',
    'too common': 'password1234',
    'made of the address': 'alice@example.com1',
    'too long': 'x'.repeat(257),
  })) {
    it(`refuses a password that is ${what} beside its field, and gives no password back`, async () => {
      const app = createTestApp();
      await sendForm(app, '/sign-up', { email: address });
      await app.accounts.settled();
      const path = `/sign-up/${mailedTicket(app, 'sign_up')}`;
      const refused = await sendForm(app, path, { password: bad });
      expect([refused.status, wrongFields(refused.html)]).toEqual([422, ['password']]);
      expect(refused.html).toContain('role="alert"');
      expect(refused.html).toContain(words('account.refused'));
      expect(refused.html).not.toContain(`value="${bad}"`);
      expect((await sendForm(app, path, { password })).status).toBe(303);
    });
  }

  it('refuses what is no address, keeps it in the form, and mails nothing', async () => {
    const app = createTestApp();
    const refused = await sendForm(app, '/sign-up', { email: 'not "an" address' });
    expect([refused.status, wrongFields(refused.html)]).toEqual([422, ['email']]);
    expect(valueIn(refused.html, 'email')).toBe('not "an" address');
    await app.accounts.settled();
    expect(app.accountMails).toEqual([]);
  });

  it('where it is closed says who makes accounts, with 404, and older links do nothing', async () => {
    const app = createTestApp({ signUpIsOpen: false });
    await app.accounts.requestSignUp({ email: address, locale: 'en' });
    await app.accounts.settled();
    const path = `/sign-up/${mailedTicket(app, 'sign_up')}`;
    for (const seen of [
      await visit(app, '/sign-up'),
      await sendForm(app, '/sign-up', { email: address }),
      await visit(app, path),
      await sendForm(app, path, { password }),
    ]) {
      expect([seen.status, seen.html.includes(words('signUp.closedTitle'))]).toEqual([404, true]);
      expect(seen.headers.getSetCookie()).toEqual([]);
    }
    expect(await app.store.findAccount(address)).toBeNull();
    expect((await visit(app, '/log-in')).html).not.toContain(words('logIn.signUp'));
  });

  it('says so when the account was made meanwhile', async () => {
    const app = createTestApp();
    await sendForm(app, '/sign-up', { email: address });
    await app.accounts.settled();
    const path = `/sign-up/${mailedTicket(app, 'sign_up')}`;
    await app.account(address);
    const late = await sendForm(app, path, { password });
    expect([late.status, late.html.includes(words('signUp.existsTitle'))]).toEqual([409, true]);
    expect(late.headers.getSetCookie()).toEqual([]);
  });

  it('ends the session of another account that this browser had', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const before = visitor.cookie();
    await sendForm(app, '/sign-up', { email: 'bob@example.com' });
    await app.accounts.settled();
    const path = `/sign-up/${mailedTicket(app, 'sign_up')}`;
    await visitor.get(path);
    await visitor.post(path, { password });
    expect((await visitor.get('/account')).html).toContain('bob@example.com');
    expect((await visit(app, '/account', { headers: { cookie: before } })).status).toBe(303);
  });

  it('is limited by the client, and the form comes back with the address', async () => {
    const app = createTestApp({ rateLimits: tight('signUp', 1) });
    expect((await sendForm(app, '/sign-up', { email: 'typo' })).status).toBe(422);
    expect((await sendForm(app, '/sign-up', { email: address })).status).toBe(303);
    for (const path of ['/sign-up', '/forgotten']) {
      const refused = await sendForm(app, path, { email: 'x@example.com' });
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(valueIn(refused.html, 'email')).toBe('x@example.com');
      expect(refused.html).toContain('role="alert"');
    }
  });
});

describe('logging in', () => {
  it('sets a new session each time, in a cookie that only this host’s https answers can set', async () => {
    const app = createTestApp();
    await signUp(app);
    const first = await logIn(app);
    const second = await logIn(app);
    const lines = [...first.setCookies, ...second.setCookies];
    const sessions = lines.filter((line) => line.startsWith('__Host-mayfly='));
    for (const line of sessions) expect(line).toMatch(cookieForm);
    expect([sessions.length, new Set(sessions).size]).toEqual([2, 2]);
    expect(first.locations.at(0)).toBe('/');
  });

  it('takes no session from the browser: a planted cookie is not the one that is logged in', async () => {
    const app = createTestApp();
    await signUp(app);
    const planted = 'a'.repeat(64);
    const cookie = `__Host-mayfly=${planted}`;
    const answer = await sendForm(app, '/log-in', { email: address, password }, { cookie });
    expect(answer.headers.getSetCookie().join()).not.toContain(planted);
    expect((await visit(app, '/account', { headers: { cookie } })).status).toBe(303);
  });

  it('over plain http has a cookie without the prefix and the mark that need https', async () => {
    const app = createTestApp({ baseUrl: 'http://localhost:3000' });
    const visitor = await signUp(app);
    expect(visitor.setCookies).toEqual([
      expect.stringMatching(/^mayfly-form=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^mayfly=[0-9a-f]{64}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
  });

  it('says the same of an unknown address, a wrong password and an account without one (P17)', async () => {
    const app = createTestApp();
    await signUp(app);
    await app.account('tokens-only@example.com');
    const faces = [];
    for (const email of [address, 'nobody@example.com', 'tokens-only@example.com', 'no address']) {
      const refused = await sendForm(app, '/log-in', { email, password: 'wrong password' });
      expect(valueIn(refused.html, 'email')).toBe(email);
      expect(refused.html).not.toContain('wrong password');
      faces.push(JSON.stringify(faceOf(refused)).replaceAll(email, ''));
    }
    expect(new Set(faces).size).toBe(1);
    expect(faces[0]).toContain('"status":422');
  });

  it('sends whoever is logged in to the account', async () => {
    const visitor = await signUp(createTestApp());
    for (const path of ['/log-in', '/sign-up']) {
      expect((await visitor.get(path)).headers.get('location')).toBe('/account');
      await visitor.get('/account');
      const posted = await visitor.post(path, { email: 'bob@example.com', password });
      expect([posted.status, posted.headers.get('location')]).toEqual([303, '/account']);
      expect(posted.headers.getSetCookie()).toEqual([]);
    }
  });

  it('counts wrong passwords by client and by address before they are computed, and right ones not', async () => {
    let computed = 0;
    const hasher: typeof fastHasher = {
      ...fastHasher,
      stretch: (passphrase, salt, place) => {
        computed += 1;
        return fastHasher.stretch(passphrase, salt, place);
      },
    };
    const app = createTestApp({ rateLimits: tight('logIn', 3), hasher, ...proxied });
    await signUp(app);
    const attempt = (host: string, email: string, secret: string) =>
      sendForm(app, '/log-in', { email, password: secret }, from(host));
    for (let time = 0; time < 5; time++) {
      expect((await attempt('192.0.2.1', address, password)).status).toBe(303);
    }
    for (let time = 0; time < 3; time++) {
      expect((await attempt('192.0.2.1', ` ${address.toUpperCase()}`, 'wrong')).status).toBe(422);
    }
    const before = computed;
    const byClient = await attempt('192.0.2.1', 'other@example.com', 'wrong');
    const byAddress = await attempt('198.51.100.1', address, password);
    const unknown = await attempt('203.0.113.1', 'other@example.com', 'wrong');
    expect([byClient.status, byAddress.status, unknown.status]).toEqual([429, 429, 422]);
    expect(computed).toBe(before + 1);
    expect(Number(byAddress.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(byAddress.headers.get('ratelimit')).toStartWith('"logIn"');
    expect(valueIn(byAddress.html, 'email')).toBe(address);
    expect(byAddress.html).not.toContain(password);
    expect(byAddress.html).toMatch(saying('problem.later'));
  });

  it('self-test: without limits every one of those guesses would be computed', async () => {
    const app = createTestApp();
    await signUp(app);
    for (let time = 0; time < 20; time++) {
      expect((await sendForm(app, '/log-in', { email: address, password: 'wrong' })).status).toBe(422);
    }
    expect((await sendForm(app, '/log-in', { email: address, password })).status).toBe(303);
  });

  it('self-test: answers that differ by one header, one word or the status are told apart', async () => {
    const app = createTestApp();
    const refused = () => sendForm(app, '/log-in', { email: address, password: 'wrong' });
    const [plain, other] = [await refused(), await refused()];
    expect(faceOf(plain)).toEqual(faceOf(other));
    expect(faceOf({ ...other, status: 423 })).not.toEqual(faceOf(plain));
    expect(faceOf({ ...other, html: `${other.html} ` })).not.toEqual(faceOf(plain));
    other.headers.set('x-known', '1');
    expect(faceOf(other)).not.toEqual(faceOf(plain));
  });

  it('counts an unknown address as it counts a known one (P17)', async () => {
    const app = createTestApp({ rateLimits: tight('logIn', 2), ...proxied });
    await signUp(app);
    const statuses = async (email: string, net: number) => {
      const seen: number[] = [];
      for (let time = 0; time < 3; time++) {
        const headers = from(`198.51.${net}.${time}`);
        seen.push((await sendForm(app, '/log-in', { email, password: 'wrong' }, headers)).status);
      }
      return seen;
    };
    expect(await statuses(address, 1)).toEqual(await statuses('nobody@example.com', 2));
  });

  it('gives a guess back that could not be computed, and the form with the address', async () => {
    const hasher: typeof fastHasher = {
      ...fastHasher,
      stretch: () => Promise.reject(new ServiceError('busy', 'the queue is full')),
    };
    const app = createTestApp({ rateLimits: tight('logIn', 1), hasher });
    for (let time = 0; time < 3; time++) {
      const refused = await sendForm(app, '/log-in', { email: address, password });
      expect([refused.status, valueIn(refused.html, 'email')]).toEqual([503, address]);
      expect(refused.headers.get('retry-after')).not.toBeNull();
    }
    expect(app.faults).toEqual([]);
  });
});

describe('logging out', () => {
  it('ends the session and takes its cookie away', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const cookie = visitor.cookie();
    const left = await visitor.post('/log-out');
    expect([left.status, left.headers.get('location')]).toEqual([303, '/log-in?done=logged-out']);
    expect(left.headers.getSetCookie()).toEqual([
      '__Host-mayfly=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect((await visit(app, '/account', { headers: { cookie } })).status).toBe(303);
    expect((await visitor.get('/log-in?done=logged-out')).html).toContain(words('logIn.loggedOut'));
  });

  it('changes nothing by GET, and is no fault for whoever is logged out already', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await visitor.get('/log-out');
    expect((await visitor.get('/account')).status).toBe(200);
    const cookie = visitor.cookie();
    await visitor.post('/log-out');
    const again = await postForm(app, '/log-out', { 'form-token': 'f'.repeat(32) }, { cookie });
    expect([again.status, again.headers.get('location')]).toEqual([303, '/log-in?done=logged-out']);
  });
});

describe('a form of another site', () => {
  it('logs nobody in or out', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    const logged = await sendForm(app, '/log-in', { email: address, password }, crossSite);
    expect([logged.status, logged.headers.getSetCookie()]).toEqual([403, []]);
    expect((await visitor.post('/log-out', {}, crossSite)).status).toBe(403);
    expect((await visitor.post('/log-out', { 'form-token': '' })).status).toBe(403);
    expect((await visitor.get('/account')).status).toBe(200);
  });
});

describe('what an answer says elsewhere', () => {
  it('holds no password, token, ticket or address in redirects and in what is logged (P18)', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const path = await askForReset(app);
    const other = openAccountVisitor(app);
    await other.get(path);
    await other.post(path, { password: newPassword, token: '' });
    await visitor.post('/log-in', { email: address, password: 'wrong-canary' });
    const said = JSON.stringify([visitor.locations, other.locations, app.answers, app.events, app.faults]);
    const cookies = other
      .cookie()
      .split('; ')
      .map((pair) => pair.split('=')[1] ?? '?');
    expect(cookies).toHaveLength(2);
    const tickets = [mailedTicket(app, 'sign_up'), mailedTicket(app, 'reset')];
    for (const secret of [password, newPassword, 'wrong-canary', ...cookies, address, ...tickets]) {
      expect(said).not.toContain(secret);
      expect(said).not.toContain(encodeURIComponent(secret));
    }
    expect(app.faults).toEqual([]);
  });
});
