/** Asking for a secret in a browser: from the question to the answer. */
import { describe, expect } from 'bun:test';
import type { BrowserContext, Page } from 'playwright-core';
import {
  type AskedLinks,
  answerOn,
  askNow,
  askOn,
  endOf,
  linksOn,
  logIn,
  opened,
  openLink,
  phone,
  prompt,
  value,
  withStranger,
} from './asked.ts';
import { openVisitor, type Site, storageEntries, type Visitor } from './browser.ts';
import { flawsOf } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { words } from './words.ts';

const { browser, itInBrowser } = withBrowser();

/** Addresses and bodies of all that a browser sends. */
function listenTo(context: BrowserContext): string[] {
  const sent: string[] = [];
  context.on('request', (request) => {
    sent.push(request.url(), decodeURIComponent((request.postData() ?? '').replaceAll('+', ' ')));
  });
  return sent;
}

const secretsOf = ({ askLink, answersLink }: AskedLinks) => [endOf(askLink), endOf(answersLink), value];

function leaks(texts: readonly string[], sent: readonly string[], site: Site): string[] {
  const all = [...sent, JSON.stringify(site.app.events), JSON.stringify(site.app.answers)];
  return texts.filter((text) => all.some((each) => each.includes(text)));
}

const complaintsOf = ({ violations, elsewhere, complaints }: Visitor) => [
  ...violations,
  ...elsewhere,
  ...complaints,
];

const stateOf = (page: Page) => page.innerText('#state');
const titleOf = (page: Page) => page.innerText('main h1');

/** Opens the first answer in its own tab, as a person does. */
async function openAnswer(page: Page): Promise<Page> {
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.click(opened)]);
  await tab.click('#open');
  await tab.waitForSelector('#done');
  return tab;
}

describe('asking for a secret', () => {
  itInBrowser(
    'leads from the question to a text that only the asker reads; no end of a link and no value leaves the browsers',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await logIn(page, site);
      const asked = listenTo(page.context());
      const links = await askOn(page, site, prompt);
      expect([new URL(page.url()).hash, await stateOf(page)]).toEqual(['', words('receipt.readyTitle')]);
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(links.askLink);
      expect(await page.innerText('#prompt')).toBe(prompt);
      expect(await page.inputValue('#message')).toContain(prompt);
      await using stranger = await openVisitor(browser(), site, phone);
      const answered = listenTo(stranger.page.context());
      await stranger.page.goto(links.askLink);
      await stranger.page.waitForSelector('#secret');
      expect(await stranger.page.innerText('#prompt')).toBe(prompt);
      expect(await stranger.page.locator('.asked :is(a, b)').count()).toBe(0);
      expect(await stranger.page.innerText('#by')).toContain('anna@example.org');
      expect(await flawsOf(stranger.page, 'asked')).toEqual([]);
      await stranger.page.fill('#secret', value);
      await stranger.page.click('#create');
      await stranger.page.waitForSelector('#take-back');
      await askNow(page);
      await page.waitForSelector(opened);
      expect([await stateOf(page), (await page.title()).startsWith('✓ ')]).toEqual([
        words('answers.ready', { count: 1 }),
        true,
      ]);
      const tab = await openAnswer(page);
      expect(await tab.inputValue('#value')).toBe(value);
      await tab.close();
      await askNow(page);
      await page.waitForSelector(opened, { state: 'hidden' });
      expect(await stateOf(page)).toBe(words('answers.done'));
      expect(leaks([...secretsOf(links), prompt], [...asked, ...answered], site)).toEqual([]);
      expect([await storageEntries(page), await storageEntries(stranger.page)]).toEqual([[], []]);
      expect([...complaintsOf(visitor), ...complaintsOf(stranger)]).toEqual([]);
    },
  );

  itInBrowser('takes a file, and shows it to the asker', { scripts: true }, async (scene) => {
    await withStranger(browser(), scene, async ({ page }, { askLink }) => {
      await page.goto(askLink);
      const buffer = Buffer.from(value);
      await page.setInputFiles('#file', { name: 'key.txt', mimeType: 'text/plain', buffer });
      await page.click('#create');
      await page.waitForSelector('#take-back');
      await askNow(scene.page);
      const tab = await openAnswer(scene.page);
      expect([await tab.innerText('#file-name'), await tab.inputValue('#value')]).toEqual(['key.txt', value]);
    });
  });

  itInBrowser(
    'P19: keeps nothing without the tick; with it, this device lists what it asked, live, until it is forgotten or gone',
    { scripts: true },
    async (scene) => {
      const { site, page } = scene;
      await withStranger(browser(), scene, async (stranger, links) => {
        expect(await storageEntries(page)).toEqual([]);
        await page.check('#remember');
        expect(await storageEntries(page)).toEqual(['local: mayfly-requests']);
        await page.goto(`${site.baseUrl}/answers/${links.key}`);
        expect((await linksOn(page)).askLink).toBe(links.askLink);
        await page.goto(`${site.baseUrl}/ask`);
        const row = `#mine-${links.key}`;
        await page.waitForSelector(row);
        expect([await page.innerText(`${row} bdi`), await page.innerText(`${row} .hint`)]).toEqual([
          prompt,
          words('answers.waiting'),
        ]);
        await answerOn(stranger.page, links.askLink, value);
        await askNow(page);
        await page.waitForSelector(`${row} .hint:text-is("${words('answers.ready', { count: 1 })}")`);
        await page.click(`${row} button`);
        expect([await page.isVisible('#mine'), await storageEntries(page)]).toEqual([false, []]);
        await openLink(page, links.answersLink);
        await page.check('#remember');
        site.app.clock.advance(15 * 86_400);
        await page.reload();
        await page.waitForSelector('.day-gone');
        expect(await storageEntries(page)).toEqual([]);
      });
    },
  );

  itInBrowser(
    'asks before the way back is lost, and not once it is kept',
    { scripts: true },
    async (scene) => {
      const { page } = scene;
      await withStranger(browser(), scene, async (_, links) => {
        let asked = 0;
        page.on('dialog', (dialog) => {
          asked += 1;
          void dialog.dismiss();
        });
        const leave = () => page.evaluate(() => void setTimeout(() => location.assign('/about')));
        await page.click('#state');
        await leave();
        for (let tries = 0; asked === 0 && tries < 100; tries += 1) await page.waitForTimeout(20);
        expect([asked, (await linksOn(page)).key]).toEqual([1, links.key]);
        await page.click('#keep [data-copy]');
        await leave();
        await page.waitForURL('**/about');
        expect(asked).toBe(1);
      });
    },
  );

  itInBrowser(
    'can be given more places and time and be closed, and gives the place of a discarded answer back',
    { scripts: true },
    async (scene) => {
      const { page } = scene;
      await withStranger(browser(), scene, async (stranger, { askLink }) => {
        await answerOn(stranger.page, askLink, 'rubbish');
        await openLink(stranger.page, askLink);
        await stranger.page.waitForSelector('.day-opened');
        expect(await titleOf(stranger.page)).toBe(words('answer.fullTitle'));
        await askNow(page);
        await page.click('#list .chip > summary');
        await page.click('#list .alarm');
        await page.waitForSelector(`#list .hint:text("${words('answers.discarded')}")`);
        await answerOn(stranger.page, askLink, value);
        await askNow(page);
        await page.waitForSelector(opened);
        await page.click('#more');
        await page.waitForSelector('#handing:not([hidden])');
        await answerOn(stranger.page, askLink, 'more');
        await askNow(page);
        await page.waitForFunction(() => document.querySelectorAll('#list a:not([hidden])').length === 2);
        await page.click('#changes .burn > summary');
        await page.click('#close');
        await page.waitForSelector('#changes', { state: 'hidden' });
        await openLink(stranger.page, askLink);
        await stranger.page.waitForSelector('.day-expired');
        expect(await titleOf(stranger.page)).toBe(words('answer.endedTitle'));
        const tab = await openAnswer(page);
        expect(await tab.inputValue('#value')).toBe(value);
      });
    },
  );
});

describe('whoever answers', () => {
  itInBrowser(
    'can ask whether the answer still waits, and take it back',
    { scripts: true },
    async (scene) => {
      await withStranger(
        browser(),
        scene,
        async ({ page }, { askLink }) => {
          await answerOn(page, askLink, value);
          await page.click('#still');
          await page.waitForSelector(`#outcome:text-is("${words('answer.waits')}")`);
          await page.click('#take-back');
          await page.waitForSelector('.day-burned');
          await askNow(scene.page);
          await scene.page.waitForSelector(`#list .hint:text("${words('answers.takenBack')}")`);
          await answerOn(page, askLink, value);
          await askNow(scene.page);
          await openAnswer(scene.page);
          await page.click('#take-back');
          await page.waitForSelector(`#outcome:text-is("${words('answer.over')}")`);
          expect(await page.locator('#take-back, #still').count()).toBe(0);
        },
        '2',
      );
    },
  );

  itInBrowser(
    'keeps what was typed when the answer is lost or refused, and sends the same bytes again',
    { scripts: true },
    async (scene) => {
      await withStranger(browser(), scene, async (stranger, { askLink }) => {
        const { page } = stranger;
        await page.goto(askLink);
        await page.fill('#secret', value);
        const bodies: (string | null)[] = [];
        await page.route('**/answer', async (route) => {
          bodies.push(route.request().postData());
          if (bodies.length > 1) return route.continue();
          await route.fetch();
          return route.abort();
        });
        await page.click('#create');
        await page.waitForSelector('#stopped:not(:empty)');
        expect(await page.inputValue('#secret')).toBe(value);
        await page.click('#create');
        await page.waitForSelector('#take-back');
        expect(bodies[1]).toBe(bodies[0] ?? '');
        await askNow(scene.page);
        await scene.page.waitForSelector(opened);
        expect(await scene.page.locator('#list > li').count()).toBe(1);
      });
    },
  );

  itInBrowser(
    'is told if somebody else was quicker, and keeps the text',
    { scripts: true },
    async (scene) => {
      await withStranger(browser(), scene, async ({ page }, { askLink }) => {
        await page.goto(askLink);
        await page.fill('#secret', value);
        await using other = await openVisitor(browser(), scene.site, phone);
        await answerOn(other.page, askLink, 'first');
        await page.click('#create');
        await page.waitForSelector('#stopped:not(:empty)');
        expect([await page.innerText('#stopped'), await page.inputValue('#secret')]).toEqual([
          `${words('answer.full')} ${words('share.kept')}`,
          value,
        ]);
      });
    },
  );

  itInBrowser(
    'draws a password, reports, and sends nothing that is empty',
    { scripts: true },
    async (scene) => {
      await withStranger(browser(), scene, async ({ page }, { askLink }) => {
        await page.goto(askLink);
        await page.click('#create');
        await page.waitForSelector(`#stopped:text-is("${words('answer.empty')}")`);
        await page.fill('#secret', 'user: anna ');
        await page.click('#generate');
        const first = await page.inputValue('#secret');
        await page.click('#generate');
        const second = await page.inputValue('#secret');
        for (const drawn of [first, second]) expect(drawn).toMatch(/^user: anna \S{20}$/);
        expect(second).not.toBe(first);
        await page.click('#report');
        await page.waitForSelector(`main :text-is("${words('answer.reported')}")`);
      });
    },
  );

  itInBrowser(
    'may close the request without its answers link, as the account that asked',
    { scripts: true },
    async (scene) => {
      const { page } = scene;
      await withStranger(browser(), scene, async (stranger, { askLink }) => {
        await stranger.page.goto(askLink);
        await stranger.page.waitForSelector('#secret');
        expect(await stranger.page.isVisible('#own')).toBe(false);
        await page.click('#keep [data-copy]');
        await openLink(page, askLink);
        await page.click('#close');
        await page.waitForSelector('.day-expired');
        await openLink(stranger.page, askLink);
        await stranger.page.waitForSelector('.day-expired');
      });
    },
  );
});
