/** The API reference in a browser without scripts: kinds of calls by keyboard, and links into what is closed. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { overflowPx } from './browser.ts';
import { withBrowser } from './in-browser.ts';

const { itInBrowser } = withBrowser();

async function shownKinds(page: Page): Promise<string[]> {
  const shown: string[] = [];
  for (const kind of ['curl', 'command', 'typescript'])
    if (await page.locator(`#call-${kind}-1`).isVisible()) shown.push(kind);
  return shown;
}

describe('the API reference, without scripts', () => {
  itInBrowser(
    'shows the calls of one kind, chosen by the keyboard',
    { width: 390 },
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/api/docs`);
      expect(await shownKinds(page)).toEqual(['curl']);
      await page.focus('#calls-curl');
      for (const kind of ['command', 'typescript', 'curl']) {
        await page.keyboard.press('ArrowRight');
        expect(await shownKinds(page)).toEqual([kind]);
      }
      await page.click('label:has(#calls-typescript)');
      expect(await shownKinds(page)).toEqual(['typescript']);
    },
  );

  itInBrowser('opens the operation that a link leads to', { width: 390 }, async ({ site, page, visitor }) => {
    await page.goto(`${site.baseUrl}/api/docs`);
    expect(await page.locator('#v2-reveal').isVisible()).toBe(false);
    await page.click('.for-curl a[href="#v2-reveal"]');
    expect(await page.locator('#v2-reveal').isVisible()).toBe(true);
    expect(await page.locator('details:has(#v2-reveal) > summary').isVisible()).toBe(true);
    await page.click('#v2-reveal a[href="#error-incorrect-passphrase"]');
    expect(await page.locator('#error-incorrect-passphrase').isVisible()).toBe(true);
    expect([await overflowPx(page), visitor.violations, visitor.elsewhere]).toEqual([0, [], []]);
  });

  itInBrowser('copies a call, with scripts', { scripts: true }, async ({ site, page, visitor }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${site.baseUrl}/api/docs`);
    await page.click('[data-copy="#call-curl-2"]');
    await page.waitForFunction(() => document.getElementById('copied')?.textContent?.startsWith('Copied'));
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(`curl -sS "${site.baseUrl}/api/v2/secret/$key/status"`);
    expect(visitor.violations).toEqual([]);
  });
});
