/** A home for people who share often: what this browser remembers of a share, what it never does, and what lands in the field. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import {
  carry,
  chooseLifetime,
  fillOption,
  flawsInBothLights,
  focusOf,
  noticedBy,
  onlyOptions,
  openOption,
  sendShare,
} from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser();

const entry = (page: Page) => page.evaluate(() => localStorage.getItem('mayfly-options'));
const chip = (page: Page) => page.innerText('#option-ttl > summary');
const fieldPx = (page: Page) =>
  page.locator('#secret').evaluate((field) => field.getBoundingClientRect().height);
const isOpen = async (page: Page) => Number(await page.isVisible('.trust a'));

/** Shares with every option and every text filled in. */
async function shareWithOptions(page: Page, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/`);
  await page.fill('#secret', 'canary-value');
  await fillOption(page, 'passphrase', 'canary-pass');
  await fillOption(page, 'memo', 'canary-label');
  await chooseLifetime(page, 'other');
  await page.fill('#ttl-amount', 'canary-amount');
  await page.selectOption('#ttl', '3600');
  await page.click('#generator > summary');
  await page.fill('#suggest-length', '4111 1111');
  await page.check('[value="words"]');
  await page.fill('#suggest-words', '7');
  await page.click('#sealing > summary');
  await page.uncheck('#seal');
}

describe('after the first share in this browser', () => {
  itInBrowser(
    'its options are remembered, and no text, address or name (P16)',
    { scripts: true, height: 900 },
    async ({ site, visitor, page }) => {
      const { cookie, signedIn } = await signUpAs(site.app, 'canary@example.com');
      const { id: accountId } = signedIn.caller.account;
      const domain = { accountId, name: 'canary.example', challenge: null, createdAt: 0 };
      await site.app.store.addDomain({ ...domain, state: 'verified' }, 1);
      await carry(page, site.baseUrl, cookie);
      await shareWithOptions(page, site.baseUrl);
      await openOption(page, 'share-domain');
      await page.selectOption('#share-domain', 'canary.example');
      await fillOption(page, 'recipient', 'canary@example.net');
      await openOption(page, 'notify');
      await page.check('#notify-read');
      expect(await entry(page)).toBeNull();
      await sendShare(page);
      await page.waitForSelector('#watch', { state: 'attached' });
      const kept = (await entry(page)) ?? '';
      expect(JSON.parse(kept)).toEqual({
        ttl: ['604800', '3600'],
        seal: ['1', ''],
        'notify-read': ['', '1'],
        'suggest-style characters': ['1', ''],
        'suggest-style words': ['', '1'],
        'suggest-words': ['5', '7'],
      });
      expect(kept).toMatch(onlyOptions);
      expect(noticedBy(visitor)).toEqual([]);
      // Self-test: a text, a number with blanks or an address in the entry is noticed.
      for (const text of ['canary-pass', '4111 1111', 'a@b.c', 'canary'])
        expect(JSON.stringify({ ttl: ['604800', text] })).not.toMatch(onlyOptions);
    },
  );

  itInBrowser(
    'the next form has them, the field has the room, the reasons are folded, and a press forgets it all',
    { scripts: true, height: 900 },
    async ({ site, visitor, page }) => {
      await page.goto(`${site.baseUrl}/`);
      expect([
        await isOpen(page),
        await page.isVisible('#remembered'),
        await page.isVisible('#reasons > summary'),
      ]).toEqual([1, false, false]);
      const before = await fieldPx(page);
      await shareWithOptions(page, site.baseUrl);
      await sendShare(page);
      await page.waitForSelector('#link');
      await page.goto(`${site.baseUrl}/`);
      expect([
        await chip(page),
        await page.isChecked('#seal'),
        await page.isChecked('[value="words"]'),
      ]).toEqual([words('share.expires', { time: '1 hour' }), false, true]);
      expect(await page.textContent('#encryption')).toBe(words('share.encryptedByServer'));
      expect([await page.inputValue('#passphrase'), await page.inputValue('#memo')]).toEqual(['', '']);
      expect(before).toBeLessThan(200);
      expect(await fieldPx(page)).toBeGreaterThanOrEqual(0.4 * 900);
      expect(await isOpen(page)).toBe(0);
      expect(await flawsInBothLights(page, 'home')).toEqual([]);
      // A refused form is the same home, with the choices of now.
      await page.click('#sealing > summary');
      await page.check('#seal');
      await sendShare(page, '#draw-template');
      expect([await isOpen(page), await page.isChecked('#seal'), await chip(page)]).toEqual([
        0,
        true,
        words('share.expires', { time: '1 hour' }),
      ]);
      await page.click('#forget');
      expect([await entry(page), await focusOf(page), await page.textContent('#remembered')]).toEqual([
        null,
        'remembered',
        words('share.forgotten'),
      ]);
      expect([await chip(page), await page.inputValue('#ttl')]).toEqual([
        words('share.expires', { time: '7 days' }),
        '604800',
      ]);
      page.on('dialog', (dialog) => void dialog.accept());
      await page.setViewportSize({ width: 1_280, height: 900 });
      await page.reload();
      expect([await isOpen(page), await page.isVisible('#remembered'), await fieldPx(page)]).toEqual([
        1,
        false,
        before,
      ]);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'an option counts only while the page offers what it offered, and no entry breaks the page',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const at = async (text: string) => {
        await page.goto(`${site.baseUrl}/about`);
        await page.evaluate((entry) => localStorage.setItem('mayfly-options', entry), text);
        await page.goto(`${site.baseUrl}/`);
        return [await page.inputValue('#ttl'), await page.isVisible('#file-button')];
      };
      const usual = ['604800', true];
      expect(await at('{"ttl":["604800","3600"]}')).toEqual(['3600', true]);
      expect(await at('{"ttl":["86400","3600"]}')).toEqual(usual);
      expect(await at('{"ttl":["604800","1"]}')).toEqual(usual);
      for (const text of ['{', '5', '"x"', '{"ttl":5}', '{"ttl":[]}', '{"ttl":["604800"]}', '[]'])
        expect(await at(text)).toEqual(usual);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'a browser that stores nothing shows the page as at first',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.addInitScript(() => {
        Object.defineProperty(window, 'localStorage', {
          get() {
            throw new DOMException('denied', 'SecurityError');
          },
        });
      });
      await shareWithOptions(page, site.baseUrl);
      await sendShare(page);
      await page.waitForSelector('#link');
      await page.goto(`${site.baseUrl}/`);
      expect([await isOpen(page), await page.inputValue('#ttl')]).toEqual([1, '604800']);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  for (const [width, height] of [
    [390, 844],
    [1_280, 720],
  ] as const) {
    itInBrowser(
      `the button is in view, with an account and without, ${width} × ${height}`,
      { scripts: true, width, height },
      async ({ site, page }) => {
        await page.goto(`${site.baseUrl}/about`);
        await page.evaluate(() => localStorage.setItem('mayfly-options', '{}'));
        const { cookie } = await signUpAs(site.app, 'ann@example.com');
        for (const isKnown of [false, true]) {
          if (isKnown) await carry(page, site.baseUrl, cookie);
          await page.goto(`${site.baseUrl}/`);
          const bottom = await page
            .locator('#create')
            .evaluate((button) => button.getBoundingClientRect().bottom);
          expect(bottom).toBeLessThanOrEqual(height);
        }
      },
    );
  }
});

/** Gives the page what was copied or dragged elsewhere. @param at the focused element for a paste, the one below for a drop */
function give(page: Page, kind: 'paste' | 'drop', at: string, text: string): Promise<boolean> {
  return page.locator(at).evaluate(
    (target, [type, given]) => {
      const data = new DataTransfer();
      data.setData('text/plain', given);
      const options = { bubbles: true, cancelable: true };
      const event =
        type === 'paste'
          ? new ClipboardEvent('paste', { ...options, clipboardData: data })
          : new DragEvent('drop', { ...options, dataTransfer: data });
      return target.dispatchEvent(event);
    },
    [kind, text] as const,
  );
}

describe('a text that is pasted or dropped', () => {
  itInBrowser(
    'lands in the field from anywhere on the page, but not from another field or from the page itself',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.goto(`${site.baseUrl}/`);
      await openOption(page, 'memo');
      expect(await give(page, 'paste', 'body', 'one')).toBe(false);
      expect([await page.inputValue('#secret'), await focusOf(page)]).toEqual(['one', 'secret']);
      expect(await give(page, 'drop', 'h1', ' two')).toBe(false);
      expect(await page.inputValue('#secret')).toBe('one two');
      for (const kind of ['paste', 'drop'] as const)
        for (const field of ['#memo', '#secret']) expect(await give(page, kind, field, 'x')).toBe(true);
      await page.locator('footer a >> nth=0').dispatchEvent('dragstart');
      expect(await give(page, 'drop', 'h1', 'https://example.com/')).toBe(true);
      await page.locator('footer a >> nth=0').dispatchEvent('dragend');
      expect(await page.inputValue('#secret')).toBe('one two');
      expect(noticedBy(visitor)).toEqual([]);
    },
  );
});
