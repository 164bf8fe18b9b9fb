/** The API reference as a page of the site. */
import { describe, expect, it } from 'bun:test';
import { createTestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { visit } from './visit.ts';

const gzip = { 'accept-encoding': 'gzip, br' };

describe('GET /api/docs', () => {
  it('is compressed for who accepts that, to less than 40 kB, also for a person who is logged in', async () => {
    const app = createTestApp();
    const { cookie } = await signUpAs(app, 'alice@example.com');
    for (const headers of [{}, { cookie }, { 'accept-language': 'ar' }]) {
      const plain = await app.fetch('/api/docs', { headers });
      const packed = await app.fetch('/api/docs', { headers: { ...headers, ...gzip } });
      const bytes = await packed.bytes();
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(packed.headers.get('content-encoding')).toBe('gzip');
      expect(bytes.length).toBeLessThan(40_000);
      expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await plain.text());
    }
  });

  it('repeats nothing of a request beside the form token of a session, so that its length tells nothing of it', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'alice@example.com');
    const headers = {
      cookie,
      'user-agent': 'canary',
      referer: 'https://canary.example/',
      host: 'canary.example',
    };
    const { html } = await visit(app, '/api/docs?canary=canary#canary', { headers });
    expect(html).toContain(signedIn.formToken);
    expect(html).not.toContain('canary');
    // Self-test: another page repeats its query, and is not compressed.
    const other = await app.fetch('/about?canary', { headers: { ...gzip, cookie } });
    expect([other.headers.get('content-encoding'), (await other.text()).includes('canary')]).toEqual([
      null,
      true,
    ]);
  });

  it('weighs nothing on other pages: its style sheet is its own', async () => {
    const app = createTestApp();
    const sheets = async (path: string) =>
      Array.from(
        (await visit(app, path)).html.matchAll(/href="\/assets\/(\w+)-[0-9a-f]+\.css"/g),
        ([, name]) => name,
      );
    expect(await sheets('/api/docs')).toEqual(['style', 'reference']);
    expect(await sheets('/nope')).toEqual(['style']);
  });

  it('has the frame in the language of the visitor, and the reference in English from left to right', async () => {
    const { html } = await visit(createTestApp(), '/api/docs', { headers: { 'accept-language': 'ar' } });
    expect(html).toStartWith('<!doctype html><html lang="ar" dir="rtl">');
    expect(html).toContain('<div class="reference" lang="en" dir="ltr">');
    expect(html).toContain('href="/api/docs?lang"');
  });

  it('is found below a path, with the addresses of the installation', async () => {
    const app = createTestApp({ baseUrl: 'https://example.com/drop' });
    const { status, html } = await visit(app, '/drop/api/docs');
    expect(status).toBe(200);
    expect(html).toContain('https://example.com/drop/api/v2/secret/conceal');
    expect(html).toContain('href="/drop/sdk/mayfly.js"');
    expect(html).not.toContain('mayfly.example');
  });

  it('answers HEAD without the page, and no other method', async () => {
    const app = createTestApp();
    const head = await app.fetch('/api/docs', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const other = await app.fetch('/api/docs', { method: 'DELETE' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('says where callers need an account to share', async () => {
    const open = await visit(createTestApp(), '/api/docs');
    const closed = await visit(createTestApp({ anonymousMayCreate: false }), '/api/docs');
    expect(open.html).not.toContain('Sharing needs an account here');
    expect(closed.html).toContain('Sharing needs an account here');
    expect(closed.html).toContain('MAYFLY_USERNAME=you@example.com');
  });
});
