/** What a browser itself did with a secret, as its cookie says: nobody else is told, and nothing is asked of the store for it. */
import { describe, expect, it } from 'bun:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { makeSealed } from './sealed-link.ts';
import { postForm, textIn, visit, wordsOf } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const dated = { date: 'Thursday, 8 May 2025 at 10:26 UTC' };

const hereIn = (headers: Headers) => headers.getSetCookie().filter((line) => line.startsWith('here='));

/** Shares as a visitor without an account, and follows to the receipt for the link. */
async function shareHere(app: TestApp, fields: Readonly<Record<string, string>> = {}) {
  const { headers } = await postForm(app, '/share', { secret: 'canary', ttl: '3600', ...fields });
  const [just = '', line = ''] = headers.getSetCookie();
  const receipt = await visit(app, headers.get('location') ?? '', {
    headers: { cookie: just.split(';')[0] ?? '' },
  });
  const path = new URL(textIn(receipt.html, 'link') ?? '').pathname;
  return { line, cookie: line.split(';')[0] ?? '', path };
}

describe('who shares without an account', () => {
  it('is warned on the page of their own link, in the browser that made it and in no other', async () => {
    const app = createTestApp();
    const { cookie, path } = await shareHere(app);
    const own = await visit(app, path, { headers: { cookie } });
    expect([own.status, own.html.includes(words('secret.own'))]).toEqual([200, true]);
    // Burning it there would say that the recipient did.
    expect(own.html).not.toContain('id="burn-unread"');
    expect((await visit(app, path)).html).not.toContain(words('secret.own'));
    const other = await makeWaiting(app);
    expect((await visit(app, other.secretPath, { headers: { cookie } })).html).not.toContain(
      words('secret.own'),
    );
  });

  it('gets a cookie that names no key, for no script and no other site, at most as long as the secret (P18)', async () => {
    const { line, path } = await shareHere(createTestApp());
    expect(path).toMatch(/^\/secret\/[0-9a-z]{31}$/);
    expect(line).toMatch(
      /^made-[0-9a-f]=[0-9a-f]{24}; Path=\/secret; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(line).not.toContain(path.slice('/secret/'.length));
    const plain = createTestApp({ baseUrl: 'http://localhost:3000' });
    expect((await shareHere(plain)).line).not.toContain('Secure');
  });

  it('keeps sixteen cookies at most, however many links it makes', async () => {
    const app = createTestApp();
    const names = new Set<string | undefined>();
    for (let links = 0; links < 200; links += 1) names.add((await shareHere(app)).line.split('=')[0]);
    expect(names.size).toBe(16);
  });
});

describe('who opened a secret', () => {
  it('is told later that it was in this browser, and nobody else is (P17)', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app);
    const opened = await postForm(app, secretPath);
    const [line = ''] = hereIn(opened.headers);
    expect(line).toBe(
      `here=opened-1746700000; Path=${secretPath}; Max-Age=604800; HttpOnly; SameSite=Lax; Secure`,
    );
    const cookie = line.split(';')[0] ?? '';
    const told = await visit(app, secretPath, { headers: { cookie } });
    expect([told.status, wordsOf(told.html).includes(words('gone.openedHere', dated))]).toEqual([404, true]);
    expect(told.html).not.toContain(words('gone.someoneElse'));
    const { html } = await visit(app, secretPath);
    expect([html.includes('id="here"'), html.includes(words('gone.someoneElse'))]).toEqual([false, true]);
  });

  it('is told nothing that the cookie does not say: for a secret that never was, it says the same', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app);
    await postForm(app, secretPath);
    const cookie = 'here=opened-1746700000';
    const pages = [];
    for (const path of [secretPath, `/secret/${'0'.repeat(31)}`]) {
      const { html } = await visit(app, path, { headers: { cookie } });
      pages.push(/<main.*<\/main>/s.exec(html)?.[0]);
    }
    expect(pages[0]).toBe(pages[1]);
    for (const wrong of ['opened-1', 'opened-<b>', 'read-1746700000', 'made', 'opened-99999999999']) {
      const { html } = await visit(app, secretPath, { headers: { cookie: `here=${wrong}` } });
      expect(html).not.toContain('id="here"');
    }
  });

  it('is not told so while it waits, and end to end gets the cookie with the ciphertext alone', async () => {
    const app = createTestApp();
    const { path } = await makeSealed(app, 'canary');
    const waiting = await visit(app, path, { headers: { cookie: 'here=opened-1746700000' } });
    expect([waiting.status, waiting.html.includes('id="here"')]).toEqual([200, false]);
    expect(hereIn((await postForm(app, `${path}/open`, {})).headers)).toEqual([]);
  });
});
