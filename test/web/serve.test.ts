/** The pages' pipeline: forms of a session, compression, cached files, and what a failure leaves. */
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { ownBrand } from '../../src/web/brand/brand.ts';
import { createStaticPages, pageReply } from '../../src/web/kit/page.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type SignedInVisitor, signUpAs } from './signed-in.ts';
import { postForm, share, visit } from './visit.ts';

interface People {
  readonly app: TestApp;
  readonly alice: SignedInVisitor;
  readonly bob: SignedInVisitor;
}

async function openPeople(): Promise<People> {
  const app = createTestApp();
  return {
    app,
    alice: await signUpAs(app, 'alice@example.com'),
    bob: await signUpAs(app, 'bob@example.com'),
  };
}

/** The number of stored secrets. */
function storedIn(app: TestApp): number {
  return app.events.filter(({ event }) => event === 'concealed').length;
}

const secret = 'kept "exactly" <as> typed';

describe('a form of a session', () => {
  const cases: readonly [string, (people: People) => { token?: string; cookie?: string }][] = [
    ['no token', ({ alice }) => ({ cookie: alice.cookie })],
    ['an empty token', ({ alice }) => ({ cookie: alice.cookie, token: '' })],
    ['a wrong token', ({ alice }) => ({ cookie: alice.cookie, token: '0'.repeat(32) })],
    [
      'a shorter token',
      ({ alice }) => ({ cookie: alice.cookie, token: alice.signedIn.formToken.slice(0, 31) }),
    ],
    [
      'the token of another session',
      ({ alice, bob }) => ({ cookie: alice.cookie, token: bob.signedIn.formToken }),
    ],
    ['a token and no session', ({ alice }) => ({ token: alice.signedIn.formToken })],
    [
      'a token and a session that does not exist',
      ({ alice }) => ({ token: alice.signedIn.formToken, cookie: '__Host-mayfly=nothing' }),
    ],
  ];
  for (const [what, sent] of cases) {
    it(`with ${what} is refused: 403, nothing is changed and what was typed comes back`, async () => {
      const people = await openPeople();
      const { token, cookie } = sent(people);
      const fields = { secret, ...(token === undefined ? {} : { 'form-token': token }) };
      const answer = await postForm(people.app, '/share', fields, cookie === undefined ? {} : { cookie });
      expect([answer.status, storedIn(people.app)]).toEqual([403, 0]);
      expect(answer.html).toContain('kept &quot;exactly&quot; &lt;as&gt; typed');
    });
  }

  it('with its own token is accepted, and without a session no token is needed', async () => {
    const { app, alice } = await openPeople();
    const own = { secret, 'form-token': alice.signedIn.formToken };
    expect((await postForm(app, '/share', own, { cookie: alice.cookie })).status).toBe(303);
    expect((await postForm(app, '/share', { secret })).status).toBe(303);
    expect(storedIn(app)).toBe(2);
  });

  it('ends no session and changes no language either, and says so on a page with a way on', async () => {
    const { app, alice } = await openPeople();
    for (const path of ['/log-out', '/language']) {
      const answer = await postForm(app, path, { lang: 'en' }, { cookie: alice.cookie });
      expect([path, answer.status, answer.headers.getSetCookie()]).toEqual([path, 403, []]);
      expect(answer.html).toContain('href="/account"');
    }
    expect((await visit(app, '/about', { headers: { cookie: alice.cookie } })).html).toContain(
      'href="/recent"',
    );
  });

  it('carries the token in every form that posts, and nowhere without a session', async () => {
    const { app, alice } = await openPeople();
    for (const path of ['/', '/about', '/account', '/recent']) {
      const { html } = await visit(app, path, { headers: { cookie: alice.cookie } });
      const forms = html
        .split('<form')
        .slice(1)
        .filter((form) => /^[^>]*method="post"/.test(form));
      const without = forms.filter(
        (form) => !form.split('</form>')[0]?.includes(`value="${alice.signedIn.formToken}"`),
      );
      expect([path, forms.length > 0, without]).toEqual([path, true, []]);
    }
    expect((await visit(app, '/')).html).not.toContain('form-token');
  });

  it('is not looked at when it comes from another site', async () => {
    const { app, alice } = await openPeople();
    const own = { secret, 'form-token': alice.signedIn.formToken };
    const headers = { cookie: alice.cookie, 'sec-fetch-site': 'cross-site' };
    expect((await postForm(app, '/share', own, headers)).status).toBe(403);
    expect(storedIn(app)).toBe(0);
  });
});

describe('the header', () => {
  it('leads a visitor to log in and sign up, and whoever is logged in to what is theirs', async () => {
    const { app, alice } = await openPeople();
    const links = (html: string) =>
      [...(html.split('</header>')[0] ?? '').matchAll(/ (?:href|action)="(\/[^"]*)"/g)].map(
        ([, path]) => path,
      );
    const navigation = (html: string) => links(html.slice(html.indexOf('class="site-nav"')));
    expect(navigation((await visit(app, '/about')).html)).toEqual(['/', '/ask', '/log-in', '/sign-up']);
    const mine = await visit(app, '/about', { headers: { cookie: alice.cookie } });
    expect(navigation(mine.html)).toEqual(['/', '/ask', '/recent', '/account', '/log-out']);
    const closed = await visit(createTestApp({ signUpIsOpen: false }), '/about');
    expect(navigation(closed.html)).toEqual(['/', '/ask', '/log-in']);
  });

  it('marks the page that is open', async () => {
    const app = createTestApp();
    expect((await visit(app, '/?lang=en')).html).toContain('<a href="/" aria-current="page">');
    expect((await visit(app, '/about')).html).not.toContain('aria-current="page"');
  });

  it('comes after a way past it, and before the main part and the foot', async () => {
    const { html } = await visit(createTestApp(), '/about');
    const order = ['class="skip" href="#main"', '<header>', '<nav ', '<main id="main"', '<footer>'];
    const places = order.map((mark) => html.indexOf(mark));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });
});

describe('compression', () => {
  const encodingOf = async (accept: string | null) => {
    const headers: Record<string, string> = accept === null ? {} : { 'accept-encoding': accept };
    return (await createTestApp().fetch('/', { headers })).headers.get('content-encoding');
  };

  it('is used where it is accepted (RFC 9110 §12.5.3)', async () => {
    for (const accept of [
      'gzip',
      'GZIP',
      'br, gzip',
      'deflate;q=0.1,gzip;q=0.001',
      'gzip;q=1.0, br',
      ' gzip ; q=0.5',
    ])
      expect([accept, await encodingOf(accept)]).toEqual([accept, 'gzip']);
    for (const accept of [
      null,
      '',
      'br',
      'gzip;q=0',
      'gzip; q=0.000',
      'br, gzip;q=0, deflate',
      'x-gzip',
      'gzipped',
    ])
      expect([accept, await encodingOf(accept)]).toEqual([accept, null]);
  });

  it('is brotli for scripts and style sheets where that is accepted, the same bytes a tenth smaller', async () => {
    const app = createTestApp();
    for (const { path } of filesIn((await visit(app, '/')).html)) {
      const at = async (accept: string) => {
        const answer = await app.fetch(path, { headers: { 'accept-encoding': accept } });
        return { coding: answer.headers.get('content-encoding'), bytes: await answer.arrayBuffer() };
      };
      const [small, usual, plain] = [await at('gzip, br'), await at('gzip, br;q=0'), await at('')];
      expect([small.coding, usual.coding, plain.coding]).toEqual(['br', 'gzip', null]);
      for (const unpacked of [brotliDecompressSync(small.bytes), gunzipSync(usual.bytes)])
        expect(unpacked.equals(new Uint8Array(plain.bytes))).toBe(true);
      expect(small.bytes.byteLength).toBeLessThan(0.95 * usual.bytes.byteLength);
    }
  });

  it('gives the same page', async () => {
    const app = createTestApp();
    const packed = await app.fetch('/about', { headers: { 'accept-encoding': 'gzip' } });
    const plain = await app.fetch('/about');
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(await plain.text());
    for (const { headers } of [packed, plain])
      expect(headers.get('vary')).toBe('Accept-Encoding, Accept-Language, Cookie');
  });

  it('is never used for an answer to a form, or where a session’s page repeats an address, whose length would tell what they hold', async () => {
    const { app, alice } = await openPeople();
    const gzip = { 'accept-encoding': 'gzip' };
    const { secretPath, receiptPath } = await share(app, { secret: 'x' });
    const codingOf = async (path: string, init: RequestInit) =>
      (await app.fetch(path, init)).headers.get('content-encoding');
    const paths = [
      '/?guess',
      '/recent?done=guess',
      '/%72ecent',
      '/recent?lang',
      '/nope',
      secretPath,
      receiptPath,
    ];
    const ofAlice = { headers: { ...gzip, cookie: alice.cookie } };
    for (const path of paths) expect([path, await codingOf(path, ofAlice)]).toEqual([path, null]);
    for (const path of [secretPath, '/share'])
      expect([path, await codingOf(path, { method: 'POST', headers: gzip })]).toEqual([path, null]);
    // Self-test: a plain address repeats nothing, nor does a page without a session hold a token.
    for (const path of ['/', '/recent'])
      expect([path, await codingOf(path, ofAlice)]).toEqual([path, 'gzip']);
    expect(await codingOf('/?guess', { headers: gzip })).toBe('gzip');
  });
});

interface Named {
  readonly path: string;
  readonly integrity: string;
}

/** Every file of ours that a page references with its integrity. */
function filesIn(html: string): Named[] {
  const found = html.matchAll(/<(?:link|script)[^>]* (?:href|src)="(\/assets\/[^"]+)" integrity="([^"]+)"/g);
  return [...found].map(([, path = '', integrity = '']) => ({ path, integrity }));
}

/** What is wrong with a file as it is served. */
async function flawsOf(app: Pick<TestApp, 'fetch'>, { path, integrity }: Named): Promise<string[]> {
  const plain = await app.fetch(path);
  const packed = await app.fetch(path, { headers: { 'accept-encoding': 'gzip' } });
  const bytes = new Uint8Array(await plain.arrayBuffer());
  const unpacked = new Uint8Array(gunzipSync(await packed.arrayBuffer()));
  const digest = createHash('sha256').update(bytes).digest();
  const rules: Readonly<Record<string, boolean>> = {
    'another content': integrity === `sha256-${digest.toString('base64')}`,
    'another name': path.includes(digest.toString('hex').slice(0, 16)),
    'another content when compressed': Buffer.from(unpacked).equals(bytes),
    'not kept': plain.headers.get('cache-control') === 'public, max-age=31536000, immutable, no-transform',
    'one encoding for all': plain.headers.get('vary') === 'Accept-Encoding',
    sniffed: plain.headers.get('x-content-type-options') === 'nosniff',
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

describe('a page that is the same for everybody', () => {
  it('is made once for each language and brand, and never for a session or a query', async () => {
    const app = createTestApp();
    const { signedIn, cookie } = await signUpAs(app, 'alice@example.com');
    const first = await visit(app, '/');
    const mine = await visit(app, '/', { headers: { cookie } });
    const again = await visit(app, '/');
    expect(again.html).toBe(first.html);
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect([mine.html.includes(signedIn.formToken), again.html.includes(signedIn.formToken)]).toEqual([
      true,
      false,
    ]);
    const odd = await visit(createTestApp({ locales: supportedLocales }), '/%61bout?x=1');
    expect([odd.status, odd.html.includes('x=1')]).toEqual([200, supportedLocales.length > 1]);
    expect((await visit(app, '/?lang=en')).headers.getSetCookie()).toHaveLength(1);
    expect((await visit(app, '/')).headers.getSetCookie()).toEqual([]);
  });

  it('tells one language, brand and installation from another', async () => {
    const named = (name: string) => ({ ...ownBrand, name });
    const [one, two] = [named('One'), named('Two')];
    const brands = {
      forHost: (host: string | null) => (host === 'two.example' ? two : one),
      findLogo: () => null,
    };
    const app = createTestApp({ brands, locales: supportedLocales });
    const titles: string[] = [];
    for (const host of ['one.example', 'two.example', 'one.example']) {
      const { html } = await visit(app, '/about', { headers: { host } });
      titles.push(/· ([^<]*)<\/title>/.exec(html)?.[1] ?? '');
    }
    expect(titles).toEqual(['One', 'Two', 'One']);
    for (const locale of [...supportedLocales, ...supportedLocales]) {
      const { html } = await visit(app, '/about', {
        headers: { host: 'one.example', 'accept-language': locale },
      });
      expect(html).toContain(`<html lang="${locale}"`);
    }
    expect((await visit(createTestApp({ signUpIsOpen: false }), '/about')).html).not.toContain('/sign-up');
    expect((await visit(createTestApp(), '/about')).html).toContain('/sign-up');
  });
});

describe('the pages that are kept', () => {
  it('are kept by their brand, route and language, and in a bounded number, however many brands there are', async () => {
    const staticPages = createStaticPages();
    let made = 0;
    const ask = (brand: typeof ownBrand, route: 'home' | 'about') =>
      staticPages.get({ brand, route, locale: 'en' }, () => {
        made += 1;
        return pageReply(200, `page ${made}`);
      });
    const brands = Array.from({ length: 600 }, () => ({ ...ownBrand }));
    for (const brand of brands) await ask(brand, 'home');
    expect(made).toBe(600);
    await ask(brands.at(-1) ?? ownBrand, 'home');
    expect(made).toBe(600);
    await ask(brands.at(-1) ?? ownBrand, 'about');
    await ask(brands[0] ?? ownBrand, 'home');
    expect(made).toBe(602);
  });

  it('are only whole pages', async () => {
    const staticPages = createStaticPages();
    const at = { brand: ownBrand, route: 'home', locale: 'en' } as const;
    for (const status of [503, 404, 200]) {
      const { status: answered } = await staticPages.get(at, () => pageReply(status, 'page'));
      expect(answered).toBe(status);
    }
    expect((await staticPages.get(at, () => pageReply(500, 'page'))).status).toBe(200);
  });
});

describe('style sheet and scripts', () => {
  it('are the bytes that pages name, under an address that holds their hash, kept for ever', async () => {
    const app = createTestApp();
    const files = filesIn((await visit(app, '/')).html);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect([file.path, await flawsOf(app, file)]).toEqual([file.path, []]);
  });

  it('self-test: bytes that were changed on the way are found', async () => {
    const app = createTestApp();
    const [file] = filesIn((await visit(app, '/')).html);
    if (file === undefined) throw new Error('the page names no file');
    const changing: Pick<TestApp, 'fetch'> = {
      fetch: async (path, init) => {
        const answer = await app.fetch(path, init);
        if (answer.headers.has('content-encoding')) return answer;
        return new Response(`${await answer.text()} `, { headers: answer.headers });
      },
    };
    expect(await flawsOf(changing, file)).toEqual([
      'another content',
      'another name',
      'another content when compressed',
    ]);
  });

  it('are found by their exact name alone', async () => {
    const app = createTestApp();
    for (const name of [
      'style.css',
      'style-0000000000000000.css',
      '__proto__',
      '..%2f..%2fpackage.json',
      'x',
    ])
      expect([name, (await visit(app, `/assets/${name}`)).status]).toEqual([name, 404]);
  });

  it('are the same for everybody: nobody’s session is looked up for them', async () => {
    let looked = 0;
    const app = createTestApp({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, name, receiver) {
            if (name === 'findSession') looked += 1;
            return Reflect.get(target, name, receiver);
          },
        }),
    });
    const { cookie } = await signUpAs(app, 'alice@example.com');
    const [file] = filesIn((await visit(app, '/')).html);
    await visit(app, '/about', { headers: { cookie } });
    const before = looked;
    expect(before).toBeGreaterThan(0);
    await visit(app, file?.path ?? '', { headers: { cookie } });
    expect(looked).toBe(before);
  });
});
