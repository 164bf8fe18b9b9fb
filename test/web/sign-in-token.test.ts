/** The forms for getting into an account while logged out: each works only in the browser it was shown to. */
import { describe, expect, it } from 'bun:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  address,
  askForReset,
  mailedTicket,
  newPassword,
  openAccountVisitor,
  signUp,
} from './account-visitor.ts';
import { formTokenIn, postForm, sendForm, valueIn, visit } from './visit.ts';
import { words } from './words.ts';

const password = 'violet otter 71 lamp';

interface Way {
  readonly name: string;
  /** Prepares what the form needs (an account, or a mailed link) and returns its address. */
  readonly open: (app: TestApp) => Promise<string>;
  readonly fields: Readonly<Record<string, string>>;
  /** The field whose value comes back in a refused form; `null` where the form has no such field. */
  readonly typed: string | null;
}

const ways: readonly Way[] = [
  {
    name: 'the log-in',
    open: async (app) => {
      await signUp(app);
      return '/log-in';
    },
    fields: { email: address, password },
    typed: 'email',
  },
  { name: 'the sign-up', open: async () => '/sign-up', fields: { email: address }, typed: 'email' },
  {
    name: 'the end of a sign-up',
    open: async (app) => {
      await sendForm(app, '/sign-up', { email: address });
      await app.accounts.settled();
      return `/sign-up/${mailedTicket(app, 'sign_up')}`;
    },
    fields: { password },
    typed: null,
  },
  {
    name: 'a forgotten password',
    open: async (app) => {
      await signUp(app);
      app.clock.advance(3_600);
      return '/forgotten';
    },
    fields: { email: address },
    typed: 'email',
  },
  {
    name: 'a reset',
    open: async (app) => {
      await signUp(app);
      return askForReset(app);
    },
    fields: { password: newPassword, token: 'f'.repeat(64) },
    typed: 'token',
  },
];

async function whatHappened(app: TestApp) {
  await app.accounts.settled();
  const account = await app.store.findAccount(address);
  const sessions = account === null ? [] : await app.store.listSessions(account.id);
  return { account, sessions: sessions.length, mails: app.accountMails.length };
}

const pairOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .join('; ');

describe.each(ways.map((way) => [way.name, way] as const))(
  'the form of %s',
  (_name, { open, fields, typed }) => {
    async function scene() {
      const app = createTestApp();
      const path = await open(app);
      const shown = await visit(app, path);
      const other = await visit(app, path);
      return { app, path, cookie: pairOf(shown.headers), token: formTokenIn(shown.html) ?? '', other };
    }

    it('does nothing without the cookie and the token that belong together, and works at the second try', async () => {
      const { app, path, cookie, token, other } = await scene();
      const before = await whatHappened(app);
      const foreign = formTokenIn(other.html) ?? '';
      const wrong: [Record<string, string>, Record<string, string>][] = [
        [{}, {}],
        [{ origin: 'null' }, {}],
        [{}, { 'form-token': token }],
        [{ cookie }, {}],
        [{ cookie }, { 'form-token': foreign }],
        [{ cookie }, { 'form-token': token.slice(1) }],
        [{ cookie: pairOf(other.headers) }, { 'form-token': token }],
        [{ cookie: '__Host-mayfly-form=' }, { 'form-token': token }],
        [{ cookie: '__Host-mayfly-form=x' }, { 'form-token': token }],
        [{ cookie: cookie.replace('__Host-', '') }, { 'form-token': token }],
      ];
      for (const [headers, more] of wrong) {
        const refused = await postForm(app, path, { ...fields, ...more }, headers);
        expect([refused.status, refused.html.includes(words('signIn.stale'))]).toEqual([403, true]);
        if (typed !== null) expect(valueIn(refused.html, typed)).toBe(fields[typed] ?? '');
        expect(refused.html).not.toContain(password);
      }
      expect(await whatHappened(app)).toEqual(before);
      const visitor = openAccountVisitor(app);
      expect((await visitor.post(path, fields)).status).toBe(403);
      expect([200, 303, 422]).toContain((await visitor.post(path, fields)).status);
    });

    it('works in several tabs at once, because a cookie that is there stays', async () => {
      const { app, path, cookie, token } = await scene();
      for (const from of ['/log-in', '/sign-up', '/forgotten', path]) {
        const tab = await visit(app, from, { headers: { cookie } });
        expect([tab.headers.getSetCookie(), formTokenIn(tab.html)]).toEqual([[], token]);
      }
      const sent = await postForm(app, path, { ...fields, 'form-token': token }, { cookie });
      expect(sent.status).not.toBe(403);
      expect(sent.headers.getSetCookie().join()).not.toContain('mayfly-form');
    });

    it('is not compressed with an address that it repeats next to its token', async () => {
      const { app, path } = await scene();
      const seen = await app.fetch(`${path}?guess`, { headers: { 'accept-encoding': 'gzip' } });
      expect([seen.status, seen.headers.get('content-encoding')]).toEqual([200, null]);
    });
  },
);

describe('the cookie of a form', () => {
  it('is set by nobody but this host over https, kept from scripts, and ends with the browser', async () => {
    const seen = await visit(createTestApp(), '/log-in');
    const lines = seen.headers.getSetCookie();
    expect(lines).toEqual([
      expect.stringMatching(/^__Host-mayfly-form=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    expect(seen.html).not.toContain(pairOf(seen.headers).split('=')[1] ?? '');
    expect(pairOf((await visit(createTestApp(), '/log-in')).headers)).not.toBe(pairOf(seen.headers));
  });

  it('is for the whole host where the pages are below a path, and the form works there', async () => {
    const app = createTestApp({ baseUrl: 'http://localhost:3000/mayfly' });
    const seen = await visit(app, '/mayfly/sign-up');
    expect(seen.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^mayfly-form=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await sendForm(app, '/mayfly/sign-up', { email: address })).status).toBe(303);
  });

  it('is set by no other page, and no other form of a stranger carries a token', async () => {
    const app = createTestApp();
    for (const path of ['/', '/about', '/status', '/security']) {
      const seen = await visit(app, path);
      expect([seen.headers.getSetCookie(), formTokenIn(seen.html)]).toEqual([[], null]);
    }
    const { html } = await visit(app, '/log-in');
    const forms = html.split('<form ').slice(1);
    expect(
      forms.filter((form) => form.includes('form-token')).map((form) => /action="([^"]*)"/.exec(form)?.[1]),
    ).toEqual(['/log-in']);
  });

  it('does not stand in for a session: its token is refused where a session’s is asked for', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const shown = await visit(app, '/log-in');
    const cookie = `${visitor.cookie()}; ${pairOf(shown.headers)}`;
    const token = formTokenIn(shown.html) ?? '';
    for (const path of ['/log-in', '/account/notices', '/forgotten']) {
      const sent = await postForm(app, path, { 'form-token': token, email: address }, { cookie });
      expect([path, sent.status]).toEqual([path, 403]);
    }
  });
});

it('self-test: a browser that says nothing of itself reaches the log-in with the pair, so the pair is what refused it', async () => {
  const app = createTestApp();
  await signUp(app);
  const wrong = await sendForm(app, '/log-in', { email: address, password: 'wrong' }, { origin: 'null' });
  expect(wrong.status).toBe(422);
});
