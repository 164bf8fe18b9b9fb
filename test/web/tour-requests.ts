/** The walk through the pages of requests for a secret, which need scripts. Those with most on them are also shown in other languages. */
import type { Page } from 'playwright-core';
import { answerOn, askOn, logIn, openLink } from './asked.ts';
import type { Site } from './browser.ts';
import { png } from './pictures.ts';
import { type Look, open, someLine, unfold } from './tour.ts';

const prompt = `The password of the NAS in ward 4, and ${'W'.repeat(61)} of whoever looks after it at the weekend`;

/** Opens a link, and waits for what its page shows. */
const shows = (page: Page, link: string, selector: string) => async () => {
  await openLink(page, link);
  await page.waitForSelector(selector);
};

async function walkAsking(page: Page, site: Site, look: Look): Promise<[string, string]> {
  await open(page, site, '/ask');
  await look('ask-closed');
  await logIn(page, site);
  const ask = shows(page, `${site.baseUrl}/ask`, '#prompt');
  await ask();
  await look('ask', ask);
  await page.fill('#prompt', 'x'.repeat(201));
  await page.click('#create');
  await page.waitForSelector('#prompt-wrong:not(:empty)');
  await look('ask-refused');
  const { askLink, answersLink } = await askOn(page, site, prompt, '2');
  await look('answers-none');
  const unfoldAll = async () => {
    for (const part of ['#qr', '#message', '#ttl', '#changes .alarm']) await unfold(page, part);
  };
  await unfoldAll();
  await look('answers-open');
  await page.check('#remember');
  await look('answers-remembered', async () => {
    await shows(page, answersLink, '#request:not([hidden])')();
    await unfoldAll();
  });
  await open(page, site, '/ask');
  await page.waitForSelector('#mine:not([hidden])');
  await look('ask-mine');
  await page.click('#mine-list button');
  return [askLink, answersLink];
}

/** What senders see: first the asker, who is logged in, then strangers. */
async function walkAnswering(page: Page, askLink: string, look: Look): Promise<void> {
  await shows(page, askLink, '#own:visible')();
  await look('answer-own');
  await page.context().clearCookies();
  const answer = shows(page, askLink, '#secret');
  await answer();
  await look('answer', answer);
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
  await shows(page, askLink, '.day-opened')();
  await look('answer-full');
  await shows(page, askLink.slice(0, -1), '#incomplete:visible')();
  await look('answer-cut');
}

/** What the asker sees of two answers, of which the first was taken back, and of the request's end. */
async function walkReading(page: Page, answersLink: string, askLink: string, look: Look): Promise<void> {
  const two = async () => {
    await shows(page, answersLink, '#list a:not([hidden])')();
    await unfold(page, '#list .alarm');
  };
  await two();
  await look('answers-two', two);
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
  await shows(page, askLink, '.day-expired')();
  await look('answer-closed');
  for (const [name, link, shown] of [
    ['answer-unknown', askLink, '.day-gone'],
    ['answers-unknown', answersLink, '.day-gone'],
  ] as const) {
    await shows(page, link.replace(/[0-9a-z]{31}/, '0'.repeat(31)), shown)();
    await look(name);
  }
  await shows(page, answersLink.slice(0, -1), '#incomplete:visible')();
  await look('answers-cut');
}

export async function walkRequests(page: Page, site: Site, look: Look): Promise<void> {
  const [askLink, answersLink] = await walkAsking(page, site, look);
  await walkAnswering(page, askLink, look);
  await walkReading(page, answersLink, askLink, look);
}
