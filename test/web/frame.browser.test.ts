/** The frame in a real browser: one row on a phone, and menus that need no scripts. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import type { Browser } from 'playwright-core';
import {
  accessibilityFlaws,
  launchBrowser,
  openSite,
  openVisitor,
  overflowPx,
  type Scheme,
  type Site,
} from './browser.ts';
import { carry } from './creator.ts';
import { smallTargets } from './fit.ts';
import { patienceMs } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';

let site: Site;
let browser: Browser;
let cookie = '';
beforeAll(async () => {
  site = openSite();
  browser = await launchBrowser();
  ({ cookie } = await signUpAs(site.app, 'a.person.with.a.long.name@example.org'));
}, 60_000);
afterAll(async () => {
  await browser.close();
  site[Symbol.dispose]();
});

const phone = { width: 390, height: 844 };
const narrow = { width: 320, height: 640 };
const maxHeaderPx = 56;

describe('the header on a phone', () => {
  for (const locale of ['en', 'de', 'uk', 'ja', 'ar']) {
    it(
      `is one row of at most 56 pixels, logged in and not: ${locale}`,
      async () => {
        for (const size of [phone, narrow]) {
          await using visitor = await openVisitor(browser, site, { ...size, locale });
          for (const isLoggedIn of [false, true]) {
            if (isLoggedIn) await carry(visitor.page, site.baseUrl, cookie);
            await visitor.page.goto(`${site.baseUrl}/about`);
            const box = await visitor.page.locator('body > header').boundingBox();
            expect(box?.height).toBeLessThanOrEqual(maxHeaderPx);
            expect(await overflowPx(visitor.page)).toBe(0);
          }
        }
      },
      patienceMs,
    );
  }

  it(
    'has its ways behind one button, which opens without scripts and within the screen',
    async () => {
      await using visitor = await openVisitor(browser, site, narrow);
      const { page } = visitor;
      await carry(page, site.baseUrl, cookie);
      await page.goto(`${site.baseUrl}/about`);
      expect(await page.locator('.site-nav a:visible').count()).toBe(0);
      await page.click('.site-nav summary');
      expect(await page.locator('.site-nav a:visible').count()).toBe(4);
      expect([await overflowPx(page), await smallTargets(page)]).toEqual([0, []]);
      await page.click('.site-nav a[href="/recent"]');
      expect(new URL(page.url()).pathname).toBe('/recent');
    },
    patienceMs,
  );
});

describe('the header on a wide screen', () => {
  it(
    'shows its ways in one row, and no button before them',
    async () => {
      await using visitor = await openVisitor(browser, site);
      const { page } = visitor;
      await page.goto(`${site.baseUrl}/about`);
      expect(await page.locator('.site-nav summary').isVisible()).toBe(false);
      const boxes = await page
        .locator('.site-nav a')
        .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
      expect([boxes.length, new Set(boxes).size]).toEqual([4, 1]);
      await page.click('.site-nav a[href="/log-in"]');
      expect(new URL(page.url()).pathname).toBe('/log-in');
    },
    patienceMs,
  );
});

describe('the choice of language', () => {
  it(
    'is one link on every page, the account’s included, that needs no scripts',
    async () => {
      await using visitor = await openVisitor(browser, site, phone);
      const { page } = visitor;
      await carry(page, site.baseUrl, cookie);
      await page.goto(`${site.baseUrl}/account`);
      expect(await page.locator('[name="lang"]').count()).toBe(0);
      await page.click('a.language');
      expect([await overflowPx(page), await smallTargets(page)]).toEqual([0, []]);
      await page.click('.languages button[value="de"]');
      expect(await page.locator('html').getAttribute('lang')).toBe('de');
      expect(new URL(page.url()).pathname).toBe('/account');
      await page.click('a.language');
      await page.click('.languages button[value=""]');
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
    },
    patienceMs,
  );

  for (const scheme of ['light', 'dark'] satisfies Scheme[]) {
    it(
      `is accessible, beside an open menu of ways: ${scheme}`,
      async () => {
        await using visitor = await openVisitor(browser, site, { ...phone, scheme, scripts: true });
        const { page } = visitor;
        await page.goto(`${site.baseUrl}/about?lang`);
        await page.click('.site-nav summary');
        expect(await accessibilityFlaws(page)).toEqual([]);
      },
      patienceMs,
    );
  }
});

describe('a script that somebody adds to a page on its way', () => {
  it(
    'does not run, because it has no integrity',
    async () => {
      for (const isKept of [true, false]) {
        await using visitor = await openVisitor(browser, site, { scripts: true });
        const { page } = visitor;
        await page.route('**/added.js', (route) =>
          route.fulfill({ contentType: 'text/javascript', body: 'globalThis.added = true' }),
        );
        await page.route('**/about', async (route) => {
          const response = await route.fetch();
          const { 'integrity-policy': policy = '', ...headers } = response.headers();
          const text = await response.text();
          const body = text.replace('</head>', '<script type="module" src="/added.js"></script></head>');
          await route.fulfill({
            body,
            headers: isKept ? { ...headers, 'integrity-policy': policy } : headers,
          });
        });
        await page.goto(`${site.baseUrl}/about`);
        // Self-test: without the policy it runs.
        expect(await page.evaluate('globalThis.added === true')).toBe(!isKept);
      }
    },
    patienceMs,
  );
});
