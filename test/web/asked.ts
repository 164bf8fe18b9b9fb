/** Requests for a secret in a browser: an asker who is logged in, and what both links of a request are. */
import type { Browser, Page } from 'playwright-core';
import { openVisitor, type Site, type Visitor } from './browser.ts';
import { carry, goOn } from './creator.ts';
import type { Scene } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';

export interface AskedLinks {
  readonly key: string;
  readonly askLink: string;
  readonly answersLink: string;
}

export async function logIn(page: Page, site: Site, email = 'anna@example.org'): Promise<void> {
  await carry(page, site.baseUrl, (await signUpAs(site.app, email)).cookie);
}

/** Reads both links from the asker's page. */
export async function linksOn(page: Page): Promise<AskedLinks> {
  await page.waitForSelector('#request:not([hidden])');
  const [askLink, answersLink] = [await page.inputValue('#link'), await page.innerText('#own-address')];
  return { key: new URL(answersLink).pathname.split('/').at(-1) ?? '', askLink, answersLink };
}

/** Asks as somebody who is logged in, and stays on the page of the answers. */
export async function askOn(page: Page, site: Site, prompt: string, places = '1'): Promise<AskedLinks> {
  await page.goto(`${site.baseUrl}/ask`);
  await page.fill('#prompt', prompt);
  await page.selectOption('[name="places"]', places);
  await goOn(page, () => page.click('#create'));
  return linksOn(page);
}

/** Opens a link anew, whatever the page shows: a change of the fragment alone would not load it. */
export async function openLink(page: Page, link: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(link);
}

/** Makes the page ask now, as when somebody comes back to it. */
export const askNow = (page: Page) =>
  page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')));

/** Answers as a stranger, until the page says that the answer is on its way. */
export async function answerOn(page: Page, askLink: string, text: string): Promise<void> {
  await openLink(page, askLink);
  await page.fill('#secret', text);
  await page.click('#create');
  await page.waitForSelector('#take-back');
}

export const prompt = 'The <b>Wi-Fi</b> of https://ward4.example & "who to call"';
export const value = 'canary of an answer';
export const phone = { width: 390, height: 844, touch: true, scripts: true } as const;

export const endOf = (link: string) => link.split('#')[1] ?? '';

/** An answer that can be opened. */
export const opened = '#list a:not([hidden])';

/** An asker with a request, and a stranger with a phone. */
export async function withStranger(
  browser: Browser,
  { site, page }: Pick<Scene, 'site' | 'page'>,
  act: (stranger: Visitor, links: AskedLinks) => Promise<void>,
  places = '1',
): Promise<void> {
  await logIn(page, site);
  const links = await askOn(page, site, prompt, places);
  await using stranger = await openVisitor(browser, site, phone);
  await act(stranger, links);
}
