/** The note of an end-to-end secret in a browser, which the server can leave out but not change. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { flawsOf } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';

const { itInBrowser } = withBrowser();

const canary = 'canary of a value';
const passphrase = 'canary of a passphrase';

/** Addresses and bodies of all that a page sends, and the paths that it posts to. */
function listenTo(page: Page) {
  const [sent, posts]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    sent.push(request.url(), decodeURIComponent((request.postData() ?? '').replaceAll('+', ' ')));
    if (request.method() === 'POST') posts.push(new URL(request.url()).pathname);
  });
  return { sent, posts };
}

async function press(page: Page): Promise<void> {
  await page.click('#open');
  await page.waitForSelector('#done');
}

describe('the note of an end-to-end secret', () => {
  const line = '<b>Für Ana</b>: https://evil.example & "the Wi-Fi"';
  const shown = '#sender-note:not([hidden]) bdi';

  itInBrowser(
    'is shown before the passphrase is asked, as text, and only the link’s proof leaves the browser for it',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const link = await makeSealed(site.app, canary, passphrase, undefined, line);
      const { sent, posts } = listenTo(page);
      await page.goto(site.baseUrl + link.link);
      await page.waitForSelector(shown);
      expect(await page.textContent(shown)).toBe(line);
      expect(await page.locator('#sender-note :is(a, b)').count()).toBe(0);
      expect(await flawsOf(page, 'sealed with a note')).toEqual([]);
      expect(posts).toEqual([`${link.path}/note`]);
      await page.fill('#passphrase', passphrase);
      await press(page);
      expect(await page.inputValue('#value')).toBe(canary);
      const texts = [canary, passphrase, line, link.fragment];
      expect(texts.filter((text) => sent.some((each) => each.includes(text)))).toEqual([]);
      expect([visitor.violations, visitor.elsewhere, visitor.complaints]).toEqual([[], [], []]);
    },
  );

  itInBrowser(
    'is left out where it does not come or does not open, and the secret opens all the same',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const answers: readonly object[] = [
        { status: 500 },
        { json: { note: null } },
        { json: { note: 'A'.repeat(768) } },
        { json: {} },
        { body: 'x' },
      ];
      for (const answer of answers) {
        const link = await makeSealed(site.app, canary, null, undefined, line);
        await page.route(/\/note$/, (route) => route.fulfill(answer));
        const asked = page.waitForResponse(/\/note$/);
        await page.goto(site.baseUrl + link.link);
        await asked;
        await press(page);
        expect([await page.inputValue('#value'), await page.locator(shown).count()]).toEqual([canary, 0]);
        await page.unroute(/\/note$/);
      }
      expect(visitor.elsewhere).toEqual([]);
    },
  );
});
