/** The walk through the pages of requests for a secret, which need scripts. */
import type { Page } from 'playwright-core';
import { answerOn, askOn, logIn, openLink } from './asked.ts';
import type { Site } from './browser.ts';
import { png } from './pictures.ts';
import { type Look, open, someLine, unfold } from './tour.ts';

const prompt = `The password of the NAS in ward 4, and ${'W'.repeat(61)} of whoever looks after it at the weekend`;

async function walkAsking(page: Page, site: Site, look: Look): Promise<[string, string]> {
  await open(page, site, '/ask');
  await look('ask-closed');
  await logIn(page, site);
  await open(page, site, '/ask');
  await look('ask');
  await page.fill('#prompt', 'x'.repeat(201));
  await page.click('#create');
  await page.waitForSelector('#prompt-wrong:not(:empty)');
  await look('ask-refused');
  const { askLink, answersLink } = await askOn(page, site, prompt, '2');
  await look('answers-none');
  for (const part of ['#qr', '#message', '#ttl', '#changes .alarm']) await unfold(page, part);
  await look('answers-open');
  await page.check('#remember');
  await look('answers-remembered');
  await open(page, site, '/ask');
  await page.waitForSelector('#mine:not([hidden])');
  await look('ask-mine');
  await page.click('#mine-list button');
  return [askLink, answersLink];
}

/** What senders see: first the asker, who is logged in, then strangers. */
async function walkAnswering(page: Page, askLink: string, look: Look): Promise<void> {
  await openLink(page, askLink);
  await page.waitForSelector('#own:visible');
  await look('answer-own');
  await page.context().clearCookies();
  await openLink(page, askLink);
  await page.waitForSelector('#secret');
  await look('answer');
  await page.click('#create');
  await page.waitForSelector('#stopped:not(:empty)');
  await look('answer-empty');
  await page.setInputFiles('#file', { name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from(png) });
  await page.waitForSelector('#attachment:not([hidden])');
  await look('answer-file');
  await page.click('#report');
  await page.waitForSelector('#report', { state: 'detached' });
  await look('answer-reported');
  await page.click('#create');
  await page.waitForSelector('#take-back');
  await page.click('#still');
  await page.waitForSelector('#outcome:not(:empty)');
  await look('answer-sent');
  await page.click('#take-back');
  await page.waitForSelector('.day-burned');
  await look('answer-taken-back');
  await answerOn(page, askLink, someLine);
  await openLink(page, askLink);
  await page.waitForSelector('.day-opened');
  await look('answer-full');
  await openLink(page, askLink.slice(0, -1));
  await page.waitForSelector('#incomplete:visible');
  await look('answer-cut');
}

/** What the asker sees of two answers, of which the first was taken back, and of the request's end. */
async function walkReading(page: Page, answersLink: string, askLink: string, look: Look): Promise<void> {
  await openLink(page, answersLink);
  await page.waitForSelector('#list a:not([hidden])');
  await unfold(page, '#list .alarm');
  await look('answers-two');
  await page.route('**/answers', async (route) => {
    const response = await route.fetch();
    const said = await response.json();
    Object.assign(said.record, { terms: 'A' });
    for (const each of said.records) each.wrapped = 'A';
    await route.fulfill({ response, json: said });
  });
  await page.reload();
  await page.waitForSelector('#notice:not([hidden])');
  await page.waitForSelector('#request:not([hidden])');
  await look('answers-of-a-liar');
  await page.unroute('**/answers');
  await page.reload();
  await unfold(page, '#close');
  await page.click('#close');
  await page.waitForSelector('#changes', { state: 'hidden' });
  await look('answers-closed');
  await openLink(page, askLink);
  await page.waitForSelector('.day-expired');
  await look('answer-closed');
  for (const [name, link, shown] of [
    ['answer-unknown', askLink, '.day-gone'],
    ['answers-unknown', answersLink, '.day-gone'],
  ] as const) {
    await openLink(page, link.replace(/[0-9a-z]{31}/, '0'.repeat(31)));
    await page.waitForSelector(shown);
    await look(name);
  }
  await openLink(page, answersLink.slice(0, -1));
  await page.waitForSelector('#incomplete:visible');
  await look('answers-cut');
}

export async function walkRequests(page: Page, site: Site, look: Look): Promise<void> {
  const [askLink, answersLink] = await walkAsking(page, site, look);
  await walkAnswering(page, askLink, look);
  await walkReading(page, answersLink, askLink, look);
}
