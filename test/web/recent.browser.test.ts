/** The list of what an account has shared, in a browser: finding, selecting and burning several, with and without scripts. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { Sensitive } from '../../src/core/sensitive.ts';
import { noOptions } from '../support/inputs.ts';
import { storageEntries } from './browser.ts';
import { goOn } from './creator.ts';
import { type Scene, withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser();
const memos = ['Laptop of Ana Gómez', 'VPN of Jonas', 'Mailbox of ANA', 'Wi-Fi'];

/** Opens the list of an account that has shared a secret with each label. */
async function openList({ site, page }: Pick<Scene, 'site' | 'page'>): Promise<() => Promise<string[]>> {
  const { app, baseUrl } = site;
  const { cookie, signedIn } = await signUpAs(app, 'jo@example.com');
  const { caller } = signedIn;
  for (const memo of memos.toReversed()) {
    const texts = { value: new Sensitive('x'), memo: new Sensitive(memo) };
    await app.service.conceal({ ...noOptions, ...texts, ttlSeconds: 3_600 }, caller);
  }
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: baseUrl }]);
  await page.goto(`${baseUrl}/recent`);
  return async () => {
    const listed = await app.service.recent({ limit: 10, cursor: null, states: ['burned'] }, caller);
    return listed.outcome === 'listed' ? listed.receipts.map(({ memo }) => memo).toSorted() : [];
  };
}

const shown = (page: Page) => page.locator('.item:visible .item-link').allInnerTexts();
const picks = (page: Page) => page.locator('.pick > input:checked');

describe('the recent list', () => {
  itInBrowser(
    'is searched while one types, whatever the accents, keeps what is selected in view, and stores nothing',
    { scripts: true },
    async (scene) => {
      const { page } = scene;
      const burned = await openList(scene);
      expect(await page.getAttribute('#find input', 'autocomplete')).toBe('off');
      await page.check('#picking');
      await page.check('.item:has-text("Wi-Fi") .pick > input');
      await page.fill('#find input', 'of ana');
      expect(await shown(page)).toEqual([memos[0], memos[2], memos[3]] as string[]);
      expect(await page.innerText('#find p')).toBe(words('recent.found', { count: 2 }));
      await page.uncheck('.item:has-text("Wi-Fi") .pick > input');
      await page.fill('#find input', 'gomez');
      await page.click('#select-all');
      expect(await picks(page).count()).toBe(1);
      await page.fill('#find input', '');
      expect([await shown(page), await page.innerText('#find')]).toEqual([memos, '']);
      await page.click('#select-all');
      expect(await picks(page).count()).toBe(4);
      await page.click('#select-all');
      expect([await picks(page).count(), await burned(), await storageEntries(page)]).toEqual([0, [], []]);
    },
  );

  for (const scripts of [true, false]) {
    itInBrowser(
      `lets the keyboard select several and burn them, after a question (scripts: ${scripts})`,
      { scripts },
      async (scene) => {
        const { page } = scene;
        const burned = await openList(scene);
        expect(await page.isVisible('#find')).toBe(scripts);
        expect(await page.isVisible('.pick')).toBe(false);
        await page.focus('#picking');
        await page.keyboard.press('Space');
        await page.keyboard.press('Tab');
        // The name of a row is a link, as before.
        for (const key of ['Space', 'Tab', 'Tab', 'Space']) await page.keyboard.press(key);
        expect(await picks(page).count()).toBe(2);
        await goOn(page, () => page.keyboard.press('Enter'));
        expect(await page.innerText('h1')).toBe(words('recent.burnTitle'));
        expect([await shown(page), await burned()]).toEqual([memos.slice(0, 2), []]);
        await goOn(page, () => page.click('main button.alarm'));
        expect(await page.innerText('[role=status]')).toContain(words('recent.doneBurn'));
        expect(await burned()).toEqual(memos.slice(0, 2));
      },
    );
  }

  itInBrowser(
    'offers the same again as it was, whatever this browser remembers, and changes none of that',
    { scripts: true },
    async (scene) => {
      const { page, site } = scene;
      await openList(scene);
      await page.goto(`${site.baseUrl}/`);
      const preset = await page.inputValue('#ttl');
      const remembered = JSON.stringify({ ttl: ['3600', '86400'] });
      await page.evaluate((entry) => localStorage.setItem('mayfly-options', entry), remembered);
      await page.goto(`${site.baseUrl}/recent`);
      await page.click('#actions-0');
      await goOn(page, () => page.click('button[form="again"]:visible'));
      expect([await page.inputValue('#ttl'), await page.inputValue('#memo')]).toEqual([
        '3600',
        memos[0] ?? '',
      ]);
      expect(preset).not.toBe('3600');
      await page.fill('#secret', 'the next');
      await goOn(page, () => page.click('#create'));
      await page.waitForSelector('#link:visible');
      expect(await page.evaluate(() => localStorage.getItem('mayfly-options'))).toBe(remembered);
    },
  );
});
