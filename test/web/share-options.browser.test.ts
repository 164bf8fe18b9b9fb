/** The start page: what is seen at once, the row of options, and a passphrase that is drawn. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { carry, chooseLifetime, fillOption, focusOf, noticedBy, openOption, sendShare } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { saying, words } from './words.ts';

const { itInBrowser } = withBrowser();

const screens = [
  { name: 'phone', width: 390, height: 844 },
  { name: 'small desktop', width: 1_280, height: 600 },
] as const;

/** Edges of elements on the screen, in CSS pixels from its top. */
function edgesOf(page: Page, selector: string): Promise<{ top: number; bottom: number }[]> {
  return page
    .locator(selector)
    .evaluateAll((found) =>
      found.map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })),
    );
}

async function cutOff(page: Page, height: number): Promise<string[]> {
  const wanted = ['h1', '#secret', '#generate', '#share .chip > summary', '#sealing > summary', '#create'];
  const found: string[] = [];
  for (const selector of wanted) {
    const edges = await edgesOf(page, selector);
    if (edges.length === 0) found.push(`${selector}: not there`);
    for (const { top, bottom } of edges)
      if (top < 0 || bottom > height) found.push(`${selector}: ${top} to ${bottom}`);
  }
  return found;
}

describe('the first screen', () => {
  for (const { name, width, height } of screens) {
    for (const locale of ['en', 'de', 'ar'] as const) {
      itInBrowser(
        `holds the title, the field, every option and the button without scrolling: ${name}, ${locale}`,
        { scripts: true, width, height, locale },
        async ({ site, page }) => {
          await page.goto(`${site.baseUrl}/`);
          expect(await page.getAttribute('html', 'lang')).toBe(locale);
          expect(await cutOff(page, height)).toEqual([]);
        },
      );
    }
  }

  itInBrowser(
    'holds them for an account with share domains too, and without scripts',
    { width: 390, height: 844 },
    async ({ site, page }) => {
      const { cookie, signedIn } = await signUpAs(site.app, 'ann@example.com');
      const { id: accountId } = signedIn.caller.account;
      const domain = { accountId, name: 'secrets.ann.example', challenge: null, createdAt: 0 };
      await site.app.store.addDomain({ ...domain, state: 'verified' }, 1);
      await carry(page, site.baseUrl, cookie);
      await page.goto(`${site.baseUrl}/`);
      expect(await page.locator('#share .chip').count()).toBe(8);
      expect(await cutOff(page, 844)).toEqual([]);
      // Self-test: a shorter screen is noticed.
      expect((await cutOff(page, 400)).length).toBeGreaterThan(1);
    },
  );

  itInBrowser(
    'gives the field the focus where there is a mouse, so that typing begins at once',
    { scripts: true },
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/`);
      expect(await focusOf(page)).toBe('secret');
      expect(await page.getAttribute('#secret', 'placeholder')).toBe(words('share.placeholderFile'));
    },
  );

  itInBrowser(
    'leaves the focus alone on a touch screen, where a keyboard would cover the page',
    { scripts: true, width: 390 },
    async ({ site, page }) => {
      await page.addInitScript(() => {
        window.matchMedia = () => ({ matches: false }) as MediaQueryList;
      });
      await page.goto(`${site.baseUrl}/`);
      await page.waitForSelector('#file-button:visible');
      await openOption(page, 'passphrase');
      expect(await page.locator('#secret:focus').count()).toBe(0);
      expect(await page.getAttribute('#secret', 'placeholder')).toBe(words('share.placeholder'));
      await sendShare(page, '#generate');
      await page.waitForSelector('.news:not(:empty)');
      expect([await focusOf(page), await page.inputValue('#secret')]).toEqual([
        'generate',
        expect.stringMatching(/^[!-~]{16}$/),
      ]);
      await sendShare(page, '#draw-passphrase');
      expect(await focusOf(page)).toBe('draw-passphrase');
    },
  );

  itInBrowser('says why to trust it, each reason with its promise', {}, async ({ site, page }) => {
    await page.goto(`${site.baseUrl}/`);
    const addresses = await page
      .locator('.trust a, #sealing a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
    expect(addresses).toHaveLength(5);
    for (const address of addresses) {
      await page.goto(site.baseUrl + address);
      expect([address, await page.locator(`[id="${address.split('#')[1]}"] h3`).count()]).toEqual([
        address,
        1,
      ]);
    }
  });
});

const chip = (page: Page, name: string) => page.innerText(`#option-${name} > summary`);

describe('an option', () => {
  itInBrowser(
    'says what is chosen, as soon as it is, and is its plain self again when nothing is',
    { scripts: true, locale: 'en' },
    async ({ site, page }) => {
      const { cookie } = await signUpAs(site.app, 'ann@example.com');
      await carry(page, site.baseUrl, cookie);
      await page.goto(`${site.baseUrl}/`);
      expect(await chip(page, 'ttl')).toBe(words('share.expires', { time: '7 days' }));
      await chooseLifetime(page, '3600');
      expect(await chip(page, 'ttl')).toBe(words('share.expires', { time: '1 hour' }));
      await page.selectOption('#ttl', 'other');
      expect(await chip(page, 'ttl')).toBe(words('share.ttlOther'));
      await page.fill('#ttl-amount', '36');
      expect(await chip(page, 'ttl')).toBe(words('share.expires', { time: '36 hours' }));
      await fillOption(page, 'passphrase', ' ');
      expect(await chip(page, 'passphrase')).toContain('✓');
      await page.fill('#passphrase', '');
      expect(await chip(page, 'passphrase')).toBe(words('share.extraPassphrase'));
      await fillOption(page, 'memo', 'Side door');
      expect(await chip(page, 'memo')).toContain('Side door');
      await fillOption(page, 'recipient', 'bob@example.org');
      expect(await chip(page, 'recipient')).toContain('bob@example.org');
      await openOption(page, 'notify');
      expect(await page.locator('#share .chips > [open]').count()).toBe(1);
      await page.check('#notify-read');
      expect(await chip(page, 'notify')).toContain('✓');
      expect(await page.locator('#share .chip.set').count()).toBe(3);
    },
  );

  itInBrowser(
    'says it without scripts too, once the form has been sent, and opens where something is wrong',
    { locale: 'en' },
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/`);
      await page.fill('#secret', 'x');
      await chooseLifetime(page, '3600');
      await fillOption(page, 'passphrase', 'p');
      await fillOption(page, 'memo', 'x'.repeat(501));
      await sendShare(page);
      expect([await chip(page, 'ttl'), await focusOf(page)]).toEqual([
        words('share.expires', { time: '1 hour' }),
        'memo',
      ]);
      expect(await chip(page, 'passphrase')).toContain('✓');
      expect(await page.locator('#share .chip[open]').count()).toBe(1);
      await page.click('#refused a');
      expect(await focusOf(page)).toBe('memo');
      await page.fill('#memo', 'mine');
      await sendShare(page);
      await page.waitForSelector('#link');
    },
  );

  itInBrowser(
    'that is open stays open when a value is drawn, with scripts',
    { scripts: true },
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/`);
      await openOption(page, 'memo');
      await sendShare(page, '#generate');
      expect(await page.locator('#option-memo[open]').count()).toBe(1);
    },
  );
});

for (const scripts of [true, false]) {
  itInBrowser(
    `a code to tell by phone is drawn ${scripts ? 'in the browser' : 'without scripts'}, and lines for a login wait to be filled in`,
    { scripts },
    async ({ site, visitor, page }) => {
      const bodies: string[] = [];
      page.on('request', (request) => bodies.push(request.postData() ?? ''));
      await page.goto(`${site.baseUrl}/`);
      await openOption(page, 'passphrase');
      await sendShare(page, '#draw-code');
      const code = await page.inputValue('#passphrase');
      expect(code).toMatch(/^\d{6}$/);
      expect(await page.textContent('#passphrase-news')).toBe(
        words('share.codeDrawn', { tries: 100, odds: 10_000 }),
      );
      await sendShare(page, '#draw-template');
      expect([await focusOf(page), await page.inputValue('#passphrase')]).toEqual(['secret', code]);
      expect(await page.textContent('#secret-news')).toBe(words('share.templateNews'));
      if (scripts) {
        await page.keyboard.type('ann');
        expect(await page.inputValue('#secret')).toStartWith('USERNAME=ann\nPASSWORD=\n');
        expect(bodies.filter((body) => body.includes(code))).toEqual([]);
      }
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  describe(`a drawn passphrase, ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'is shown, says its strength, can be undone, and takes nothing typed with it',
      { scripts },
      async ({ site, visitor, page }) => {
        const bodies: string[] = [];
        page.on('request', (request) => bodies.push(request.postData() ?? ''));
        await page.goto(`${site.baseUrl}/`);
        await page.fill('#secret', 'canary-of-a-value');
        await fillOption(page, 'memo', 'kept');
        await fillOption(page, 'passphrase', 'canary-of-my-own');
        await sendShare(page, '#draw-passphrase');
        const drawn = await page.inputValue('#passphrase');
        expect(drawn.split('-').length).toBeGreaterThanOrEqual(5);
        expect(await page.textContent('#passphrase-news')).toMatch(
          saying('share.passphraseDrawn', { count: 64 }),
        );
        expect([await focusOf(page), await page.isVisible('#passphrase')]).toEqual(['passphrase', true]);
        await sendShare(page, '#draw-passphrase');
        expect(await page.inputValue('#passphrase')).not.toBe(drawn);
        await sendShare(page, '#generate');
        await sendShare(page, '#take-back');
        await openOption(page, 'passphrase');
        await sendShare(page, '#take-back-passphrase');
        expect([
          await page.inputValue('#secret'),
          await page.inputValue('#passphrase'),
          await page.inputValue('#memo'),
          await page.textContent('#passphrase-news'),
        ]).toEqual(['canary-of-a-value', 'canary-of-my-own', 'kept', words('share.passphraseBack')]);
        expect(site.app.events).toEqual([]);
        // With scripts it is drawn in the browser, and nothing typed is sent.
        expect(bodies.some((body) => body.includes('canary'))).toBe(!scripts);
        expect(noticedBy(visitor)).toEqual([]);
      },
    );
  });
}

describe('the passphrase', () => {
  for (const endToEnd of ['default', 'off'] as const) {
    itInBrowser(
      `is handed to the receipt in no address, and stays nowhere here: end to end ${endToEnd}`,
      { scripts: true, app: { endToEnd } },
      async ({ site, page }) => {
        const addresses: string[] = [];
        page.on('framenavigated', (frame) => addresses.push(frame.url()));
        await page.goto(`${site.baseUrl}/`);
        await page.fill('#secret', 'x');
        await openOption(page, 'passphrase');
        await page.fill('#passphrase', ' 合言葉 ');
        await page.click('#create');
        await page.waitForSelector('#passphrase-chip:not([hidden])');
        expect(await page.textContent('#passphrase-value')).toBe(' 合言葉 ');
        const paths = addresses.map((address) => address.replace(site.baseUrl, '').replace(/\w{31}$/, 'KEY'));
        expect([...new Set(paths)]).toEqual(['/', '/receipt/KEY']);
        await page.click('[data-copy="#link"]');
        expect(await page.evaluate(() => history.state)).toBeNull();
        await page.goto(`${site.baseUrl}/`);
        await openOption(page, 'passphrase');
        expect(await page.inputValue('#passphrase')).toBe('');
      },
    );
  }
});
