/** The walk through what a code from a mailbox adds to the pages, for its sender and its recipient. */
import type { Page } from 'playwright-core';
import { pressOpen, type Site } from './browser.ts';
import { codeMailed, lockCodes, mailbox, wrongFor } from './codes.ts';
import { carry, goOn, sendShare } from './creator.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { type Look, open, unfold } from './tour.ts';

export async function walkCodes(page: Page, site: Site, look: Look): Promise<void> {
  const { cookie } = await signUpAs(site.app, 'sender@example.org');
  await carry(page, site.baseUrl, cookie);
  await open(page, site, '/');
  await page.fill('#secret', 'canary');
  await unfold(page, '#verify');
  await page.fill('#verify', mailbox);
  await look('share-code');
  await sendShare(page);
  const [receipt, link] = [page.url(), await page.inputValue('#link')];
  await page.goto(link);
  await look('code-asked');
  await goOn(page, () => pressOpen(page));
  await look('code-sent');
  await page.fill('#code', wrongFor(await codeMailed(site.app)));
  await goOn(page, () => pressOpen(page));
  await look('code-wrong');
  await page.goto(`${link}/burn`);
  await look('code-burn');
  await lockCodes(site.app, new URL(link).pathname.replace('/secret/', ''));
  await page.goto(receipt);
  await look('receipt-codes');
  await page.context().clearCookies();
  await page.evaluate(() => localStorage.clear());
}

export async function walkSealedCodes(page: Page, site: Site, look: Look): Promise<void> {
  const { signedIn } = await signUpAs(site.app, 'sender@example.org');
  const { link } = await makeSealed(site.app, 'canary', 'right', signedIn.caller, 'For Ana', mailbox);
  await page.goto('about:blank');
  await open(page, site, link);
  await page.waitForSelector('form.opening:not([hidden])');
  await look('sealed-code-asked');
  await goOn(page, () => pressOpen(page));
  await page.fill('#code', wrongFor(await codeMailed(site.app)));
  await page.fill('#passphrase', 'right');
  await pressOpen(page);
  await page.waitForSelector('#code-wrong:not(:empty)');
  await look('sealed-code-wrong');
}
