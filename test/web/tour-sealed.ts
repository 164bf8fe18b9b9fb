/** The walk through the pages of end-to-end secrets. They open with scripts only, so it is one of its own. */
import type { Page } from 'playwright-core';
import type { Site } from './browser.ts';
import { openOption } from './creator.ts';
import { png } from './pictures.ts';
import { makeSealed } from './sealed-link.ts';
import { type Look, open, press, someLine, someNote, someValue } from './tour.ts';
import { walkSealedCodes } from './tour-codes.ts';
import { makeWaiting } from './waiting.ts';

/** What its creator sees. */
async function walkSealing(page: Page, site: Site, look: Look): Promise<void> {
  await open(page, site, '/');
  await look('share-sealed');
  await page.fill('#secret', someValue);
  await page.setInputFiles('#file', { name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from(png) });
  await page.waitForSelector('#attachment:not([hidden])');
  await look('share-file');
  await page.click('#sealing > summary');
  await page.uncheck('#seal');
  await page.click('#create');
  await look('share-file-refused');
  await page.check('#seal');
  await openOption(page, 'passphrase');
  await page.fill('#passphrase', 'right');
  await page.click('#create');
  await page.waitForSelector('#whole-link:not([hidden])');
  for (const summary of await page.locator('#whole-link summary').all()) await summary.click();
  await look('receipt-sealed');
  await page.reload();
  await look('receipt-link-gone');
}

export async function walkSealed(page: Page, site: Site, look: Look): Promise<void> {
  await walkSealing(page, site, look);
  const text = await makeSealed(site.app, someValue, 'right', undefined, someNote);
  await open(page, site, text.path);
  await look('sealed-cut');
  await page.goto('about:blank');
  await open(page, site, text.link);
  await page.waitForSelector('#sender-note:not([hidden])');
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
  await page.goto('about:blank');
  await open(page, site, (await makeSealed(site.app, someLine)).link);
  await page.click('#open');
  await page.click('#spelled > summary');
  await look('sealed-spelled');
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await page.waitForSelector('.day-gone');
  await look('sealed-over');
  const file = { kind: 'file', name: 'picture.png', type: 'image/png', bytes: png } as const;
  await page.goto('about:blank');
  await open(page, site, (await makeSealed(site.app, file)).link);
  await page.click('#open');
  await page.waitForSelector('#preview:visible');
  await look('sealed-file');
  await press(page, '#done');
  await open(page, site, `${(await makeWaiting(site.app)).secretPath}#${text.fragment}`);
  await look('secret-not-sealed');
  await walkSealedCodes(page, site, look);
}
