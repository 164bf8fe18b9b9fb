/** A share domain, as any visitor sees it: the owner's brand on it, and nothing of anyone's account. */
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { ServiceError } from '../../src/core/errors.ts';
import { type DomainBrand, plainBrand } from '../../src/core/share-domain.ts';
import { createHostBrands, createMailBrandOf, ownBrand, ownBrands } from '../../src/web/brand/brand.ts';
import { contrast, paletteOf } from '../../src/web/brand/colours.ts';
import { routes } from '../../src/web/kit/routes.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { postForm, sendForm, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

const name = 'secrets.example.com';

const ownersBrand: DomainBrand = {
  ...plainBrand,
  name: 'Example & Sons',
  colour: '#7a2f4f',
  instructionsBefore: 'Call us first.\n\nThen <open> it.',
  instructionsAfter: 'Keep it safe.',
};

interface DomainSite {
  readonly app: TestApp;
  readonly setBrand: (brand: DomainBrand) => Promise<boolean>;
}

async function openDomain(
  brand: DomainBrand = ownersBrand,
  options: Parameters<typeof createTestApp>[0] = {},
): Promise<DomainSite> {
  const app = createTestApp(options);
  const { id } = await app.account('owner@example.com', 'identity');
  await giveDomain(app.store, id, name);
  const setBrand = (next: DomainBrand) => app.store.setDomainBrand(id, name, next);
  await setBrand(brand);
  return { app, setBrand };
}

const at = (app: TestApp, path: string, headers: Record<string, string> = {}) =>
  visit(app, path, { headers: { host: name, ...headers } });

const postAt = (app: TestApp, path: string, fields: Record<string, string> = {}) =>
  postForm(app, path, fields, { host: name });

const titleOf = (html: string) => /· ([^<]*)<\/title>/.exec(html)?.[1] ?? '';

describe('a share domain', () => {
  it('has its owner’s name and colours, admitted by their hash alone, the dark one following from the other', async () => {
    const { app } = await openDomain();
    const { headers, html } = await at(app, '/about');
    expect(titleOf(html)).toBe('Example &amp; Sons');
    const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers.get('content-security-policy')).toContain(`style-src 'self' 'sha256-${hash}';`);
    const [light = '', dark = ''] = [...style.matchAll(/--leaf:(#[0-9a-f]{6})/g)].map(
      ([, colour = '']) => colour,
    );
    expect(light).toBe('#7a2f4f');
    expect(contrast(dark, paletteOf('dark').paper ?? '')).toBeGreaterThanOrEqual(4.5);
  });

  it('has it in every spelling that a browser gives the host, and never on another host', async () => {
    const { app } = await openDomain();
    for (const host of [name, 'SECRETS.example.com', `${name}:8443`, `${name}.`, `${name}.:443`])
      expect([host, titleOf((await visit(app, '/about', { headers: { host } })).html)]).toEqual([
        host,
        'Example &amp; Sons',
      ]);
    for (const host of ['mayfly.example', 'example.com', `x.${name}`, 'evil.example', '127.0.0.1:3000', '']) {
      const { html } = await visit(app, '/', { headers: { host } });
      expect([host, titleOf(html), html.includes('evil')]).toEqual([host, 'Mayfly', false]);
    }
  });

  it('that is not verified, or no longer, has the brand of the site', async () => {
    const app = createTestApp();
    const { id } = await app.account('owner@example.com', 'identity');
    for (const state of ['unverified', 'pending', 'lost'] as const) {
      const host = `${state}.example.com`;
      await app.store.addDomain({ accountId: id, name: host, state, challenge: null, createdAt: 0 }, 9);
      await app.store.setDomainBrand(id, host, ownersBrand);
      const { html } = await visit(app, '/', { headers: { host } });
      expect([state, titleOf(html), html.includes(host)]).toEqual([state, 'Mayfly', false]);
    }
  });

  it('inherits from the operator’s brand for that host what its owner has left empty', async () => {
    const operators = {
      ...ownBrand,
      name: 'Operator',
      links: [{ label: 'Help', url: 'https://help.example.org/' }],
    };
    const brands = {
      forHost: (host: string | null) => (host === name ? operators : ownBrand),
      findLogo: () => null,
    };
    const { app } = await openDomain({ ...plainBrand, colourDark: '#aab8f5' }, { brands });
    const { html } = await at(app, '/about');
    expect(titleOf(html)).toBe('Operator');
    expect(html).toContain('href="https://help.example.org/"');
    expect([...html.matchAll(/--leaf:(#[0-9a-f]{6})/g)].map(([, colour]) => colour)).toEqual(['#aab8f5']);
  });

  it('shows a change at once, also on the pages that are kept, and two changes in one second', async () => {
    const { app, setBrand } = await openDomain();
    const names = [];
    for (const next of ['One', 'Two', 'One']) {
      await setBrand({ ...ownersBrand, name: next });
      for (const path of ['/', '/about']) names.push(titleOf((await at(app, path)).html));
    }
    expect(names).toEqual(['One', 'One', 'Two', 'Two', 'One', 'One']);
  });

  it('has the brand of the site while the store does not answer', async () => {
    const down = async () => Promise.reject(new ServiceError('unavailable', 'the store is away'));
    const { app } = await openDomain(ownersBrand, {
      wrapStore: (store) => withMethod(store, 'findVerifiedDomain', down),
    });
    const { status, html } = await at(app, '/about');
    expect([status, titleOf(html)]).toEqual([200, 'Mayfly']);
    expect(app.faults).toEqual([]);
  });

  it('speaks its owner’s language to whoever has chosen none', async () => {
    const { app } = await openDomain({ ...ownersBrand, locale: 'sv' });
    const languageOf = async (path: string, headers: Record<string, string> = {}) =>
      /<html lang="([^"]+)"/.exec((await at(app, path, headers)).html)?.[1];
    expect(await languageOf('/about', { 'accept-language': 'fr' })).toBe('sv');
    expect(await languageOf('/about', { 'accept-language': 'fr', cookie: 'mayfly-language=pl' })).toBe('pl');
    expect(await languageOf('/about?lang=de', { cookie: 'mayfly-language=pl' })).toBe('de');
    const site = await visit(app, '/about', { headers: { 'accept-language': 'fr' } });
    expect(site.html).toContain('<html lang="fr"');
  });

  it('shows its notes before and after the secret, as text and under its name, and the site shows none', async () => {
    const { app } = await openDomain();
    const { secretPath } = await makeWaiting(app);
    expect((await visit(app, secretPath)).html).not.toContain('id="instructions"');
    const asked = (await at(app, secretPath)).html;
    expect(asked).toContain(
      `<h2 id="instructions">${words('secret.instructions', { site: 'Example &amp; Sons' })}</h2>`,
    );
    expect(asked).toContain('<p dir="auto">Call us first.</p><p dir="auto">Then &lt;open&gt; it.</p>');
    expect(asked).not.toContain('Keep it safe');
    expect(asked.indexOf('Call us first')).toBeLessThan(asked.indexOf('<button type="submit">'));
    const opened = (await postAt(app, secretPath)).html;
    expect(opened).toContain('<p dir="auto">Keep it safe.</p>');
    expect(opened).not.toContain('Call us first');
  });
});

/** The routes that only accounts have. */
const accountRoutes = Object.entries(routes).filter(
  ([, path]) =>
    path.startsWith('/account') || /^\/(recent|sign-up|log-in|log-out|forgotten|reset)/.test(path),
);

describe('accounts, on a share domain', () => {
  it('are led to the site’s own address, and no form of theirs is taken', async () => {
    const { app } = await openDomain();
    expect(accountRoutes.length).toBeGreaterThan(20);
    for (const [route, pattern] of accountRoutes) {
      const path = pattern.replace(':key', 'a'.repeat(64));
      const read = await at(app, `${path}?done=x`);
      expect([route, read.status, read.headers.get('location')]).toEqual([
        route,
        303,
        `https://mayfly.example${path}?done=x`,
      ]);
      const sent = await postAt(app, path, { email: 'a@example.com', password: 'x' });
      // 405 for a page without a form.
      expect([404, 405]).toContain(sent.status);
      expect([route, sent.headers.getSetCookie()]).toEqual([route, []]);
    }
    expect(app.events.filter(({ event }) => event === 'log_in_refused')).toEqual([]);
    expect(app.faults).toEqual([]);
  });

  it('self-test: on the site the same addresses answer themselves', async () => {
    const { app } = await openDomain();
    const onSite = { headers: { host: 'mayfly.example' } };
    expect((await visit(app, '/log-in', onSite)).status).toBe(200);
    expect((await visit(app, '/account', onSite)).headers.get('location')).toBe('/log-in?back=%2Faccount');
    expect((await sendForm(app, '/log-in', { email: 'x', password: 'y' }, onSite.headers)).status).not.toBe(
      404,
    );
  });

  it('are led below the path that the site is served under', async () => {
    const { app } = await openDomain(ownersBrand, { baseUrl: 'https://mayfly.example/secrets' });
    const { headers } = await at(app, '/secrets/log-in');
    expect(headers.get('location')).toBe('https://mayfly.example/secrets/log-in');
  });

  it('are unknown: a session’s cookie is not even looked up, and no page leads to a log-in', async () => {
    let looked = 0;
    const { app } = await openDomain(ownersBrand, {
      wrapStore: (store) =>
        withMethod(store, 'findSession', (hash) => {
          looked += 1;
          return store.findSession(hash);
        }),
    });
    const { signedIn, cookie } = await signUpAs(app, 'alice@example.com');
    const { secretPath } = await makeWaiting(app, { caller: signedIn.caller });
    looked = 0;
    for (const path of ['/', '/about', '/nope', secretPath, '/regions']) {
      const { html } = await at(app, path, { cookie });
      expect([path, html.includes('alice')]).toEqual([path, false]);
      const navigation = html.slice(html.indexOf('class="site-nav"'), html.indexOf('</header>'));
      expect([path, [...navigation.matchAll(/href="([^"]*)"/g)].map(([, to]) => to)]).toEqual([path, ['/']]);
      expect([path, html.includes('form-token')]).toEqual([path, false]);
    }
    expect(looked).toBe(0);
    await visit(app, '/', { headers: { cookie } });
    expect(looked).toBe(1);
  });
});

describe('a share domain that its owner keeps to itself', () => {
  const closed = { ...ownersBrand, isPublic: false };
  const storedIn = (app: TestApp) => app.events.filter(({ event }) => event === 'concealed').length;

  it('says so on its start page, by its registered name, and takes nothing', async () => {
    const { app } = await openDomain(closed);
    const { status, html } = await at(app, '/', { host: 'SECRETS.Example.COM:8443' });
    expect(status).toBe(200);
    expect(html).toContain(words('domainClosed.lead', { domain: `\u2068${name}\u2069` }));
    expect([html.includes('<textarea'), html.includes('Example.COM')]).toEqual([false, false]);
    for (const path of ['/share', '/suggest']) {
      const refused = await postAt(app, path, { secret: 'the value' });
      expect([path, refused.status, refused.html.includes('the value')]).toEqual([path, 403, false]);
      expect(refused.html).toMatch(saying('domainClosed.lead'));
      expect((await at(app, path)).headers.get('location')).toBe('/');
    }
    expect(storedIn(app)).toBe(0);
  });

  it('opens the links on it as ever, and leaves the site and other domains open', async () => {
    const { app } = await openDomain(closed);
    const { secretPath } = await makeWaiting(app, { value: 'as ever' });
    expect((await at(app, secretPath)).status).toBe(200);
    const opened = (await postAt(app, secretPath)).html;
    expect(opened).toContain('as ever');
    for (const html of [opened, (await at(app, secretPath)).html])
      expect(html.slice(html.indexOf('</header>'))).not.toContain('href="/"');
    expect((await visit(app, '/')).html).toContain('<textarea');
    expect((await postForm(app, '/share', { secret: 'x', ttl: '604800' })).status).toBe(303);
  });

  it('is open again as soon as its owner says so', async () => {
    const { app, setBrand } = await openDomain(closed);
    await at(app, '/');
    await setBrand({ ...closed, isPublic: true });
    expect((await at(app, '/')).html).toContain('<textarea');
    expect((await postAt(app, '/share', { secret: 'x', ttl: '604800' })).status).toBe(303);
  });
});

describe('faces', () => {
  const of = (domain: string, brand = ownersBrand) => ({ name: domain, brand, logoName: null });

  it('are one object for as long as nothing of them changes, and are kept in a bounded number', async () => {
    let brand = ownersBrand;
    let asked = 0;
    const brandedDomain = async (host: string) => {
      asked += 1;
      return of(host, { ...brand });
    };
    const hostBrands = createHostBrands({
      brands: ownBrands,
      domains: { brandedDomain },
      siteHost: 'mayfly.example',
    });
    const first = await hostBrands.of(name);
    expect(await hostBrands.of(name)).toBe(first);
    brand = { ...brand, name: 'Another' };
    expect(await hostBrands.of(name)).not.toBe(first);
    const second = await hostBrands.of(name);
    for (let index = 0; index < 300; index += 1) await hostBrands.of(`d${index}.example.com`);
    const third = await hostBrands.of(name);
    expect(third).toEqual(second);
    expect(third).not.toBe(second);
    asked = 0;
    for (const host of ['', 'mayfly.example', 'MAYFLY.example:443', 'mayfly.example.'])
      expect((await hostBrands.of(host)).domain).toBeNull();
    expect(asked).toBe(0);
  });

  it('of mails have the colour only where white can be read on it', async () => {
    const colours: readonly [string | null, string | null][] = [
      ['#7a2f4f', '#7a2f4f'],
      ['#767676', '#767676'],
      ['#777777', null],
      ['#ffee00', null],
      [null, null],
    ];
    for (const [colour, shown] of colours) {
      const domains = { brandedDomain: async (host: string) => of(host, { ...ownersBrand, colour }) };
      const mailBrandOf = createMailBrandOf({ brands: ownBrands, domains, siteHost: 'mayfly.example' });
      expect(await mailBrandOf(name)).toEqual({ name: 'Example & Sons', host: name, colour: shown });
    }
  });

  it('of mails are the operator’s on the site, for what is no share domain, and without the store', async () => {
    const brands = {
      forHost: () => ({ ...ownBrand, name: 'Operator', colours: { light: '#3a4f9a' } }),
      findLogo: () => null,
    };
    const answers = [
      async () => null,
      async () => Promise.reject(new ServiceError('unavailable', 'the store is away')),
    ];
    for (const brandedDomain of answers) {
      const mailBrandOf = createMailBrandOf({
        brands,
        domains: { brandedDomain },
        siteHost: 'mayfly.example',
      });
      const operators = { name: 'Operator', colour: '#3a4f9a' };
      expect(await mailBrandOf('')).toEqual({ ...operators, host: 'mayfly.example' });
      expect(await mailBrandOf(name)).toEqual({ ...operators, host: name });
    }
  });
});
