/** Which language a page uses, how a reader changes it, and where that leads. */
import { describe, expect, it } from 'bun:test';
import type { Locale } from '../../src/locale/catalogues.ts';
import { chooseLanguage, type LanguageWishes, offeredLanguage } from '../../src/web/kit/language.ts';
import { createTestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';

// The order concerns tags, so the test also works with languages that are not fully translated yet.
const locales = ['en', 'de', 'pt-BR', 'ar'] as readonly string[] as readonly Locale[];
const offered = { locales, defaultLocale: 'en' as Locale };
const nothing: LanguageWishes = {
  address: null,
  account: null,
  cookie: '',
  domain: null,
  acceptLanguage: null,
};
const chosen = (wishes: Partial<LanguageWishes>): string =>
  chooseLanguage(offered, { ...nothing, ...wishes });

describe('the language of a page', () => {
  it('is the address’s, then the account’s, then the cookie’s, then the share domain’s, then the browser’s, then the site’s', () => {
    const wishes = { address: 'ar', account: 'de', cookie: 'pt-BR', domain: 'ar', acceptLanguage: 'en' };
    expect(chosen(wishes)).toBe('ar');
    expect(chosen({ ...wishes, address: null })).toBe('de');
    expect(chosen({ ...wishes, address: null, account: null })).toBe('pt-BR');
    expect(chosen({ ...wishes, address: null, account: null, cookie: '' })).toBe('ar');
    expect(chosen({ acceptLanguage: 'fr, de;q=0.5, en;q=0.1' })).toBe('de');
    expect(chosen({})).toBe('en');
  });

  it('is never one that is not offered: an unknown wish is passed over', () => {
    for (const wish of ['xx', '', '*', 'de_DE', '../de', 'd'.repeat(100), 'de\u0000', '__proto__']) {
      expect([wish, chosen({ address: wish, account: wish, cookie: wish, acceptLanguage: 'xx' })]).toEqual([
        wish,
        'en',
      ]);
    }
  });

  it('is found for a tag of a region that has none of its own, in any letters', () => {
    expect(offeredLanguage(offered, 'de-CH')).toBe('de' as Locale);
    expect(offeredLanguage(offered, 'PT-br')).toBe('pt-BR' as Locale);
    expect(offeredLanguage(offered, null)).toBeNull();
  });

  it('stands in the page, with its direction', async () => {
    const { html } = await visit(createTestApp(), '/about?lang=en');
    expect(html).toContain('<html lang="en" dir="ltr">');
  });
});

describe('a language in the address', () => {
  it('stays with the browser in a cookie of its own that scripts cannot read', async () => {
    const { headers } = await visit(createTestApp(), '/about?lang=en-GB');
    expect(headers.getSetCookie()).toEqual([
      'mayfly-language=en; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure',
    ]);
  });

  it('sets nothing when it is not offered, and nothing is set without one', async () => {
    const app = createTestApp();
    for (const path of [
      '/about',
      '/about?lang=',
      '/about?lang=xx',
      '/about?lang=en%0d%0aset-cookie:%20x=y',
      '/nope?lang=en',
    ])
      expect([path, (await visit(app, path)).headers.getSetCookie()]).toEqual([path, []]);
  });
});

describe('the choice of language', () => {
  const choose = async (back: string, baseUrl = 'https://mayfly.example') => {
    const app = createTestApp({ baseUrl });
    const path = `${new URL(baseUrl).pathname.replace(/\/$/, '')}/language`;
    return await postForm(app, path, { lang: 'en', back });
  };

  it('is kept by the browser and leads back to where it was made', async () => {
    const { status, headers } = await choose('/about?x=1');
    expect([status, headers.get('location')]).toEqual([303, '/about?x=1']);
    expect(headers.getSetCookie().join()).toStartWith('mayfly-language=en; Path=/;');
  });

  it('is kept by the account of whoever is logged in', async () => {
    const app = createTestApp();
    const { signedIn, cookie } = await signUpAs(app, 'alice@example.com');
    const done = await postForm(
      app,
      '/language',
      { lang: 'en', back: '/', 'form-token': signedIn.formToken },
      { cookie },
    );
    expect(done.status).toBe(303);
    const again = await app.accounts.openSession(cookie.slice(cookie.indexOf('=') + 1));
    expect(again?.caller.account.locale).toBe('en');
  });

  it('changes nothing for a language that is not offered', async () => {
    const { status, headers } = await postForm(createTestApp(), '/language', { lang: 'xx', back: '/about' });
    expect([status, headers.get('location'), headers.getSetCookie()]).toEqual([303, '/about', []]);
  });

  it('leads to this site and nowhere else, whatever it is told', async () => {
    const elsewhere = [
      'https://evil.example/',
      '//evil.example/',
      '///evil.example/',
      '/\\evil.example/',
      '\\\\evil.example',
      '/x/..//evil.example/',
      '/.//evil.example',
      '/x/../\\evil.example',
      '/%2e%2e//evil.example/../..//evil.example',
      'javascript:alert(1)',
      'evil',
      '',
      '/\tevil',
      '/\n/evil.example',
      '/ü',
    ];
    for (const back of elsewhere) {
      const location = (await choose(back)).headers.get('location') ?? '';
      const target = new URL(location, 'https://mayfly.example/');
      expect([back, target.origin, location.startsWith('/') && !location.startsWith('//')]).toEqual([
        back,
        'https://mayfly.example',
        true,
      ]);
    }
  });

  it('stays below the path of the base URL', async () => {
    const base = 'https://mayfly.example/drop';
    expect((await choose('/drop/about', base)).headers.get('location')).toBe('/drop/about');
    for (const back of ['/', '/other', '/dropped', '/drop/../other', '/drop/..//evil.example'])
      expect([back, (await choose(back, base)).headers.get('location')]).toEqual([back, '/drop/']);
  });

  it('self-test: a path that is only looked at before its dots are resolved would lead elsewhere', () => {
    const naive = (text: string) => {
      const { pathname, search } = new URL(text, 'https://mayfly.example');
      return /^\/(?![/\\])/.test(text) ? pathname + search : '/';
    };
    expect(new URL(naive('/x/..//evil.example/'), 'https://mayfly.example').origin).toBe(
      'https://evil.example',
    );
  });

  it('is offered where there is one, on pages that a GET shows again', async () => {
    const several = createTestApp({ locales });
    const link = 'class="language" href="';
    const page = await visit(several, '/about?lang=en&x=%22%3E');
    expect(page.html).toContain(`${link}/about?x=%22%3E&amp;lang"`);
    expect((await visit(several, '/about')).html).toContain(`${link}/about?lang"`);
    expect((await postForm(several, '/share', { secret: '' })).html).not.toContain(link);
    expect((await visit(several, '/nope')).html).not.toContain(link);
    expect((await visit(createTestApp({ locales: ['en'] }), '/about')).html).not.toContain(link);
  });

  it('is made in place of the page, which is left as it was', async () => {
    const app = createTestApp({ locales });
    const { status, html } = await visit(app, '/about?x=%22%3E&lang');
    expect(status).toBe(200);
    for (const tag of locales) expect(html).toContain(`name="lang" value="${tag}" lang="${tag}"`);
    expect(html).toContain('<input type="hidden" name="back" value="/about?x=%22%3E"/>');
    const { secretPath } = await makeWaiting(app);
    expect((await visit(app, `${secretPath}?lang`)).html).toContain('name="lang"');
    expect((await visit(app, secretPath)).status).toBe(200);
  });

  it('leaves every page without a list of languages', async () => {
    const app = createTestApp({ locales });
    for (const path of ['/', '/about', '/log-in', '/secret/x'])
      expect((await visit(app, path)).html).not.toContain('lang="de"');
  });

  it('answers a visit to its own address with the start page', async () => {
    const { status, headers } = await visit(createTestApp(), '/language');
    expect([status, headers.get('location')]).toEqual([303, '/']);
  });
});
