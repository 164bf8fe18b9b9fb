/** A share domain from its name to a secret that opens on it, in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { address, signUp } from './account-visitor.ts';
import { chromiumPath, launchArguments, openSite, openVisitor, type Site } from './browser.ts';
import { carry, flawsOf, headingOf, noticedBy } from './creator.ts';
import { allowDomains, createDns, setUpDns, type TestDns } from './domain-owner.ts';
import { patienceMs } from './in-browser.ts';
import { plainSvg } from './pictures.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

const name = 'secrets.example.com';
const page = `/account/domains/${name}`;

let site: Site;
let dns: TestDns;
let browser: Browser;
beforeAll(async () => {
  dns = createDns();
  site = openSite({ resolver: dns });
  const { port } = new URL(site.baseUrl);
  // The browser finds the domain here, and requests it by its own name.
  const rules = `--host-resolver-rules=MAP ${name} 127.0.0.1:${port}, MAP unknown.example.net 127.0.0.1:${port}, MAP * ~NOTFOUND, EXCLUDE localhost`;
  browser = await chromium.launch({ executablePath: chromiumPath, args: [...launchArguments, rules] });
}, 60_000);
afterAll(async () => {
  await browser.close();
  site[Symbol.dispose]();
});

/** The browser's warning about every host other than this machine when there is no https. */
const overPlainHttp = 'The Cross-Origin-Opener-Policy header has been ignored';

/** The domain's own address, with the port of this test's server. */
function there(path: string, host = name): string {
  const { port } = new URL(site.baseUrl);
  return `http://${host}:${port}${path}`;
}

async function press(where: Page, selector: string): Promise<void> {
  const loaded = where.waitForEvent('load');
  await where.click(selector);
  await loaded;
}

/** A browser in which the owner is logged in. */
async function openOwnersBrowser(scripts: boolean, email: string) {
  const visitor = await signUp(site.app, email);
  const id = await allowDomains(site.app, email);
  const owner = await openVisitor(browser, site, { scripts });
  await carry(owner.page, site.baseUrl, visitor.cookie());
  return { owner, id };
}

describe('a share domain', () => {
  it(
    'is added, proved, dressed and opens a secret in its own dress, without scripts',
    async () => {
      const { owner, id } = await openOwnersBrowser(false, address);
      const own = owner.page;
      await own.goto(`${site.baseUrl}/account`);
      await press(own, 'main a[href="/account/domains"]');
      await own.fill('#domain', name);
      await press(own, 'main form[action="/account/domains"] button');
      expect(await headingOf(own)).toBe(name);
      expect(await own.inputValue('#cname-value')).toBe('localhost');

      await press(own, '#check');
      expect(await own.textContent('.note.alert')).toMatch(saying('domain.txtMissing'));
      await setUpDns({ app: site.app, dns }, id, name);
      await press(own, '#check');
      expect(await own.textContent('main .badge')).toBe(words('domain.verified'));

      await press(own, `main a[href="${page}/brand"]`);
      await own.fill('#name', 'Example Vault');
      await own.fill('#colour', '#ffdd00');
      await own.fill('#note-before', 'Call us first.');
      await own.fill('#note-after', 'Keep it safe.');
      await press(own, '#save');
      expect(await own.textContent('#colour-wrong')).toMatch(saying('domainBrand.tooPale'));
      const nearest = (await own.getAttribute('#take-colour', 'value')) ?? '';
      expect(await own.getAttribute('.swatch rect', 'fill')).toBe(nearest);
      await press(own, '#take-colour');
      expect(await own.inputValue('#colour')).toBe(nearest);
      expect(await own.inputValue('#note-after')).toBe('Keep it safe.');

      const file = { name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(plainSvg) };
      await own.setInputFiles('#logo', file);
      await press(own, '#send-logo');
      const logo = await own.getAttribute('.logo-kept img', 'src');
      expect(logo).toMatch(/^\/logo\/logo-[0-9a-f]{32}\.svg$/);
      expect(noticedBy(owner)).toEqual([]);

      const { secretPath } = await makeWaiting(site.app, { value: 'the value' });
      await using reader = await openVisitor(browser, { baseUrl: new URL(there('/')).origin });
      const read = reader.page;
      await read.goto(there(secretPath));
      expect(await read.title()).toBe(`${words('secret.title')} · Example Vault`);
      expect(await read.getAttribute('header img', 'src')).toBe(logo);
      expect(await read.locator('header img').evaluate((img: HTMLImageElement) => img.naturalWidth > 0)).toBe(
        true,
      );
      expect(await read.textContent('.instructions p')).toBe('Call us first.');
      const button = read.locator('.opening button[type="submit"]');
      expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe(
        rgbOf(nearest),
      );
      await read.check('#open');
      await press(read, '.opening button[type="submit"]');
      expect(await read.inputValue('#value')).toBe('the value');
      expect(await read.textContent('.instructions p')).toBe('Keep it safe.');
      expect(noticedBy(reader).filter((text) => !text.startsWith(overPlainHttp))).toEqual([]);
      await owner[Symbol.asyncDispose]();
    },
    patienceMs,
  );

  it(
    'leads to the site for accounts, takes no password itself, and keeps to itself what its owner closes',
    async () => {
      await using visitor = await openVisitor(
        browser,
        { baseUrl: new URL(there('/')).origin },
        { scripts: true },
      );
      const read = visitor.page;
      await read.goto(there('/'));
      expect(await read.locator('header a, header button').count()).toBe(2);
      await read.goto(there('/log-in'));
      expect(read.url()).toBe(`${site.baseUrl}/log-in`);
      const domain = await site.app.store.findVerifiedDomain(name);
      if (domain === null) throw new Error('the domain is not verified');
      await site.app.store.setDomainBrand(domain.accountId, name, { ...domain.brand, isPublic: false });
      await read.goto(there('/'));
      expect(await read.textContent('.lead')).toContain(name);
      expect(await read.locator('main textarea, main form').count()).toBe(0);
      expect(await flawsOf(read, 'closed')).toEqual([]);
      await site.app.store.setDomainBrand(domain.accountId, name, domain.brand);
    },
    patienceMs,
  );

  it(
    'that nobody has registered shows the site’s own brand, and its name nowhere',
    async () => {
      const host = 'unknown.example.net';
      await using visitor = await openVisitor(browser, { baseUrl: new URL(there('/', host)).origin });
      for (const path of ['/', '/about', '/nope']) {
        await visitor.page.goto(there(path, host));
        expect(await visitor.page.title()).toEndWith('· Mayfly');
        expect(await visitor.page.content()).not.toContain(host);
      }
    },
    patienceMs,
  );
});

describe('with scripts', () => {
  it(
    'a record is copied with its button, and a colour’s picker and text say the same',
    async () => {
      const { owner, id } = await openOwnersBrowser(true, 'scripts@example.com');
      const own = owner.page;
      await own.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const other = { accountId: id, name: 'b.example.com', createdAt: 0 } as const;
      await site.app.store.addDomain({ ...other, state: 'pending', challenge: 'a'.repeat(32) }, 9);
      await own.goto(`${site.baseUrl}/account/domains/b.example.com`);
      await own.click('#txt-value-copy');
      await own.waitForFunction(() => document.getElementById('copied')?.textContent !== '');
      expect(await own.evaluate(() => navigator.clipboard.readText())).toBe('a'.repeat(32));
      expect(await own.getAttribute('#cname-name-copy', 'aria-labelledby')).toBe(
        'cname-name-copy cname-name-label',
      );

      await own.goto(`${site.baseUrl}/account/domains/b.example.com/brand`);
      const picker = own.locator('input[name="colour-picker"]');
      const before = await picker.inputValue();
      await own.fill('#colour', '#7A2F4F');
      expect(await picker.inputValue()).toBe('#7a2f4f');
      await picker.fill('#3a4f9a');
      expect(await own.inputValue('#colour')).toBe('#3a4f9a');
      await own.fill('#colour', '');
      expect(await picker.inputValue()).toBe(before);
      await press(own, '#save');
      expect((await site.app.store.findDomain(id, 'b.example.com'))?.brand.colour).toBeNull();
      expect(noticedBy(owner)).toEqual([]);
      await owner[Symbol.asyncDispose]();
    },
    patienceMs,
  );
});

function rgbOf(colour: string): string {
  const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return `rgb(${channels.join(', ')})`;
}
