/** The walk through the pages of end-to-end secrets. They open with scripts only, so it is one of its own. */
import type { Page } from 'playwright-core';
import type { Site } from './browser.ts';
import { png } from './pictures.ts';
import { makeSealed } from './sealed-link.ts';
import { type Look, open, press, someValue } from './tour.ts';
import { makeWaiting } from './waiting.ts';

export async function walkSealed(page: Page, site: Site, look: Look): Promise<void> {
  const text = await makeSealed(site.app, someValue, 'right');
  await open(page, site, text.path);
  await look('sealed-cut');
  await page.goto('about:blank');
  await open(page, site, text.link);
  await look('sealed');
  await page.fill('#passphrase', 'wrong');
  await page.click('#open');
  await page.waitForSelector('#passphrase-wrong:not(:empty)');
  await look('sealed-wrong');
  await page.fill('#passphrase', 'right');
  await page.click('#open');
  await page.waitForSelector('#done');
  await look('sealed-opened');
  await page.reload();
  await look('sealed-again');
  await page.fill('#passphrase', 'right');
  await page.click('#open');
  await page.waitForSelector('#done');
  await press(page, '#done');
  await look('sealed-done');
  const file = { kind: 'file', name: 'picture.png', type: 'image/png', bytes: png } as const;
  await page.goto('about:blank');
  await open(page, site, (await makeSealed(site.app, file)).link);
  await page.click('#open');
  await page.waitForSelector('#preview:visible');
  await look('sealed-file');
  await press(page, '#done');
  await open(page, site, `${(await makeWaiting(site.app)).secretPath}#${text.fragment}`);
  await look('secret-not-sealed');
}
