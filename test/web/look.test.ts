/** The second look in pages that need no scripts: a reload by the opener's browser answers again, and by nobody else's. */

import { describe, expect, it } from 'bun:test';
import { hkdfSync } from 'node:crypto';
import { createTestApp, type TestApp } from '../support/app.ts';
import { hiddenIn, postForm, textIn, visit } from './visit.ts';
import { makeWaiting, type Waiting } from './waiting.ts';
import { saying, words } from './words.ts';

const baseUrl = 'https://secrets.example.com';

interface Opener extends Waiting {
  readonly app: TestApp;
  readonly cookie: string;
  readonly field: string;
}

/** Somebody who looks at a link in a browser that keeps cookies. */
async function lookAt(app: TestApp, guard: { readonly passphrase?: string } = {}): Promise<Opener> {
  const waiting = await makeWaiting(app, guard);
  const shown = await visit(app, waiting.secretPath);
  const [set = ''] = shown.headers.getSetCookie();
  return { ...waiting, app, cookie: set.split(';')[0] ?? '', field: hiddenIn(shown.html, 'look') ?? '' };
}

const press = ({ app, secretPath, cookie, field }: Opener, more: Record<string, string> = {}) =>
  postForm(app, secretPath, { look: field, ...more }, { cookie });

const hereIn = ({ headers }: Awaited<ReturnType<typeof press>>) =>
  (headers.getSetCookie().find((line) => line.startsWith('here=')) ?? '').split(';')[0];

const valueAt = async (answer: ReturnType<typeof press>) => textIn((await answer).html, 'value');

describe('the cookie of the second look', () => {
  it('is for this host alone, over https alone, for no script, for no other site, and for an hour', async () => {
    const app = createTestApp({ baseUrl });
    const { headers } = await visit(app, (await makeWaiting(app)).secretPath);
    expect(headers.getSetCookie().map((line) => line.replace(/=[\w-]{22};/, '=N;'))).toEqual([
      '__Host-mayfly-look=N; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax',
    ]);
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
  });

  it('keeps its value, for another hour, and each view of a page has a field of its own', async () => {
    const app = createTestApp({ baseUrl });
    const { secretPath, cookie, field } = await lookAt(app);
    const again = await visit(app, secretPath, { headers: { cookie } });
    expect(again.headers.getSetCookie()).toEqual([expect.stringContaining(`${cookie}; Max-Age=3600; `)]);
    expect(hiddenIn(again.html, 'look')).toMatch(/^[\w-]{21}[AQgw]$/);
    expect(hiddenIn(again.html, 'look')).not.toBe(field);
  });

  it('is set on this machine without https, and on no other', async () => {
    for (const [host, isSet] of [
      ['localhost:3000', true],
      ['127.0.0.1', true],
      ['[::1]:3000', true],
      ['192.0.2.1', false],
      ['localhost.example.com', false],
    ] as const) {
      const app = createTestApp({ baseUrl: `http://${host}` });
      const { secretPath } = await makeWaiting(app);
      const shown = await visit(app, secretPath, { headers: { host } });
      expect([
        host,
        shown.headers.getSetCookie().length === 1,
        hiddenIn(shown.html, 'look') !== null,
      ]).toEqual([host, isSet, isSet]);
    }
  });
});

describe('who opened a secret', () => {
  it('sees it again when the page is reloaded, three answers in all, and is told so', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }));
    const first = await press(opener);
    expect(first.html).toContain(words('revealed.minute'));
    expect(words('revealed.minute')).toContain('You can reload this page for one minute.');
    // A repeated answer has less than its minute left, and promises none.
    const repeated = await press({ ...opener, cookie: `${opener.cookie}; ${hereIn(first)}` });
    expect([repeated.html.includes(words('revealed.minute')), textIn(repeated.html, 'value')]).toEqual([
      false,
      'canary',
    ]);
    expect(textIn(first.html, 'value')).toBe('canary');
    expect(await valueAt(press(opener))).toBe('canary');
    expect((await press(opener)).status).toBe(404);
  });

  it('sees it until the minute is over', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }));
    await press(opener);
    opener.app.clock.advance(59);
    expect((await press(opener)).status).toBe(200);
    opener.app.clock.advance(1);
    expect((await press(opener)).status).toBe(404);
  });

  it('ends it with Done, which answers the same to whoever asks', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }));
    const { html } = await press(opener);
    const action = /<form[^>]* class="done" action="([^"]*)"/.exec(html)?.[1] ?? '';
    expect(hiddenIn(html, 'look')).toBe(opener.field);
    const stranger = await postForm(opener.app, action, { look: opener.field });
    expect((await press(opener)).status).toBe(200);
    const done = await postForm(opener.app, action, { look: opener.field }, { cookie: opener.cookie });
    expect([done.status, done.headers.get('location')]).toEqual([303, action]);
    expect([stranger.status, stranger.headers.get('location')]).toEqual([303, action]);
    expect((await press(opener)).status).toBe(404);
    expect((await visit(opener.app, action)).html).toContain(words('done.lead'));
  });

  it('gives the passphrase each time; a wrong one is an attempt and no answer', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }), { passphrase: 'right' });
    expect(await valueAt(press(opener, { passphrase: 'right' }))).toBe('canary');
    expect((await press(opener, { passphrase: 'wrong' })).status).not.toBe(200);
    expect(await valueAt(press(opener, { passphrase: 'right' }))).toBe('canary');
  });

  it('derives the nonce from the cookie, then the field, as it is written down', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }));
    await press(opener);
    const bytes = [opener.cookie.split('=')[1] ?? '', opener.field].map((text) =>
      Buffer.from(text, 'base64url'),
    );
    const look = Buffer.from(hkdfSync('sha256', Buffer.concat(bytes), '', 'mayfly/1/look-form', 16));
    const body = JSON.stringify({ look: look.toString('base64url') });
    const headers = { 'content-type': 'application/json' };
    const path = `/api/v2/secret/${opener.secretKey}/reveal`;
    expect((await opener.app.fetch(path, { method: 'POST', body, headers })).status).toBe(200);
  });
});

describe('somebody else', () => {
  it('gets nothing: without the cookie, with another, or with another field', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }));
    await press(opener);
    const other = await lookAt(opener.app);
    for (const change of [{ cookie: '' }, { cookie: other.cookie }, { field: other.field }, { field: '' }]) {
      expect((await press({ ...opener, ...change })).status).toBe(404);
    }
    expect((await press(opener)).status).toBe(200);
  });

  it('opens nothing with a form on another site, under a nonce that it knows', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }));
    const foreign = { ...opener, field: 'A'.repeat(22) };
    for (const site of ['cross-site', 'same-site']) {
      // Strict: the browser sends no cookie, and says where the form was.
      const headers = { 'sec-fetch-site': site };
      const sent = await postForm(opener.app, opener.secretPath, { look: foreign.field }, headers);
      expect(sent.status).toBe(403);
    }
    expect(await valueAt(press(opener))).toBe('canary');
    // The field alone, without the cookie of the browser that opened, says nothing.
    expect((await press({ ...opener, cookie: '__Host-mayfly-look=' })).status).toBe(404);
  });

  it('puts no nonce into an address: a query is not read', async () => {
    const opener = await lookAt(createTestApp({ baseUrl }));
    const path = `${opener.secretPath}?look=${opener.field}`;
    expect((await postForm(opener.app, path, {}, { cookie: opener.cookie })).status).toBe(200);
    expect((await press(opener)).status).toBe(404);
  });
});

describe('without the cookie', () => {
  it('a secret opens strictly once, and the page says so and has no button to end it', async () => {
    const app = createTestApp({ baseUrl });
    const { secretPath, field } = await lookAt(app);
    for (const look of [field, 'malformed', '']) {
      const opener = { ...(await lookAt(app)), cookie: '', field: look };
      const { html } = await press(opener);
      expect(html).toMatch(saying('revealed.once'));
      expect(html).not.toContain('class="done"');
      expect((await press(opener)).status).toBe(404);
    }
    expect((await postForm(app, secretPath, { look: field })).status).toBe(200);
  });
});
