/** The walk through sharing with several people, where the server encrypts or the browser. */
import type { Page } from 'playwright-core';
import type { Site } from './browser.ts';
import { sendShare } from './creator.ts';
import { type Look, open, someValue, unfold } from './tour.ts';

export async function walkSeveral(page: Page, site: Site, look: Look): Promise<void> {
  await open(page, site, '/');
  await page.fill('#secret', someValue);
  await unfold(page, '#passphrase');
  await page.fill('#passphrase', 'right');
  await unfold(page, '#people');
  await look('several');
  await page.fill('#people', 'Ana Silva\nBen Okafor, ben@example.org\nana silva');
  await sendShare(page);
  await look('several-refused');
  await page.fill('#people', 'Ana Silva\nBen Okafor, ben@example.org');
  await sendShare(page);
  await page.waitForSelector('#all:visible');
  await look('several-ready');
  const copy = page.locator('[data-copy="#all"]:visible');
  if ((await copy.count()) > 0) await copy.click();
  await page.goto(page.url());
  await look('several-later');
}
