/** The parts of the frame that are rendered once: each page still shows its own site, brand, language, place and person. */
import { describe, expect, it } from 'bun:test';
import { plainBrand } from '../../src/core/share-domain.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { signUpAs } from './signed-in.ts';
import { visit } from './visit.ts';

/** The header's links with their mark, and the footer's links. */
async function frameAt(app: TestApp, path: string, headers: Record<string, string> = {}) {
  const { html } = await visit(app, path, { headers });
  const part = (name: string) => new RegExp(`<${name}[ >][\\s\\S]*?</${name}>`).exec(html)?.[0] ?? '';
  const addresses = (markup: string) => [...markup.matchAll(/<a[^>]* href="([^"]*)"/g)].map(([, to]) => to);
  return {
    header: addresses(part('header')),
    marked: /<a href="([^"]*)" aria-current/.exec(part('header'))?.[1] ?? null,
    footer: addresses(part('footer')),
    language: /<html lang="([^"]*)"/.exec(html)?.[1],
    html,
  };
}

describe('the frame of a page', () => {
  it('is that of its site, although two sites with one brand are served by one process', async () => {
    const open = createTestApp({ signUpIsOpen: true });
    const closed = createTestApp({ signUpIsOpen: false, baseUrl: 'https://mayfly.example/below' });
    for (const _ of ['first', 'again']) {
      expect((await frameAt(open, '/status')).header).toContain('/sign-up');
      const { header, footer } = await frameAt(closed, '/below/status');
      expect(header).toEqual(['/below/', '/below/', '/below/ask', '/below/log-in']);
      expect(footer.every((address) => address?.startsWith('/below/'))).toBe(true);
    }
  });

  it('marks the place that the reader is at, whichever was shown before', async () => {
    const app = createTestApp();
    for (const path of ['/log-in', '/status', '/sign-up', '/log-in', '/']) {
      const { marked } = await frameAt(app, path);
      expect([path, marked]).toEqual([path, path === '/status' ? null : path]);
    }
  });

  it('speaks the language of the page, which the choice of languages marks', async () => {
    const app = createTestApp();
    for (const locale of ['de', 'en', 'ar', 'de']) {
      const { language, html } = await frameAt(app, '/status?lang', { 'accept-language': locale });
      const chosen = /<button [^>]*value="([^"]*)"[^>]* aria-current="true"/.exec(html)?.[1];
      expect([language, chosen]).toEqual([locale, locale]);
      expect(html.includes('Log in')).toBe(locale === 'en');
    }
  });

  it('has the header of the person who is logged in, and shows nobody else their form token', async () => {
    const app = createTestApp();
    await frameAt(app, '/status');
    const [alice, bob] = [await signUpAs(app, 'alice@example.com'), await signUpAs(app, 'bob@example.com')];
    for (const { cookie, signedIn } of [alice, bob, alice]) {
      const { header, html } = await frameAt(app, '/account/sessions', { cookie });
      expect(header).toEqual(['/', '/', '/ask', '/recent', '/account']);
      expect(html).toContain(signedIn.formToken);
      const other = signedIn === alice.signedIn ? bob : alice;
      expect(html).not.toContain(other.signedIn.formToken);
    }
    const { header, html } = await frameAt(app, '/status');
    expect(header).toEqual(['/', '/', '/ask', '/log-in', '/sign-up']);
    for (const { signedIn } of [alice, bob]) expect(html).not.toContain(signedIn.formToken);
  });
  it('has no log-in on a share domain, even one without a look of its own, and no sharing on a closed one', async () => {
    const app = createTestApp();
    const { id } = await app.account('owner@example.com', 'identity');
    const host = 'secrets.example.com';
    await giveDomain(app.store, id, host);
    for (const isPublic of [true, false, true]) {
      await app.store.setDomainBrand(id, host, { ...plainBrand, isPublic });
      expect((await frameAt(app, '/about')).header).toEqual(['/', '/', '/ask', '/log-in', '/sign-up']);
      const { header } = await frameAt(app, '/about', { host });
      expect(header).toEqual(isPublic ? ['/', '/'] : ['/']);
      expect((await frameAt(app, '/?lang', { host })).html).toContain('name="lang"');
    }
  });
});
