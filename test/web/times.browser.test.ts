/** The times on the pages: in the reader's own zone with scripts, in UTC without, and in the language of the page. */
import { describe, expect, it } from 'bun:test';
import type { Page } from 'playwright-core';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { giveDomain } from '../support/own-domain.ts';
import { openSite, openVisitor, pressOpen, type Site } from './browser.ts';
import { carry, noticedBy, shareIn } from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const { browser, itInBrowser } = withBrowser();

/** Every moment on the page, as shown, once each. Scripts have run once the page is loaded. */
async function momentsOn(page: Page): Promise<string[]> {
  const shown = page.locator(
    'main time:is([data-moment="weekday"], [data-moment="long"], [data-moment="short"])',
  );
  return [...new Set(await shown.allTextContents())];
}

const readers = [
  {
    timezoneId: 'Asia/Tokyo',
    scripts: true,
    created: 'Thursday, 8 May 2025 at 19:26 GMT+9',
    time: '21:26',
    zone: ' GMT+9',
  },
  {
    timezoneId: 'Europe/Berlin',
    scripts: true,
    created: 'Thursday, 8 May 2025 at 12:26 CEST',
    time: '14:26',
    zone: ' CEST',
  },
  {
    timezoneId: 'Asia/Tokyo',
    scripts: false,
    created: 'Thursday, 8 May 2025 at 10:26 UTC',
    time: '12:26',
    zone: ' UTC',
  },
] as const;

for (const { timezoneId, scripts, created, time, zone } of readers) {
  describe(`in ${timezoneId} ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'a recipient reads until when the secret waits',
      { scripts, timezoneId },
      async ({ site, visitor, page }) => {
        const { secretPath } = await makeWaiting(site.app, { ttlSeconds: 7_200 });
        await page.goto(site.baseUrl + secretPath);
        const [date = '', left = ''] = await page.locator('main time').allTextContents();
        expect(date).toBe(`Thursday, 8 May 2025 at ${time}${zone}`);
        expect(left).toMatch(/^(?:about )?2 hours$/);
        expect(await page.textContent('.expiry')).toBe(words('secret.until', { date, left }));
        expect(noticedBy(visitor)).toEqual([]);
      },
    );

    itInBrowser(
      'a sender reads when it was created and until when it opens',
      { scripts, timezoneId },
      async ({ site, page }) => {
        const { metadataKey } = await makeWaiting(site.app, { ttlSeconds: 7_200 });
        await page.goto(`${site.baseUrl}/receipt/${metadataKey}`);
        expect(await momentsOn(page)).toEqual([`8 May 2025, ${time}${scripts ? '' : zone}`, created]);
      },
    );

    itInBrowser(
      'a guesser reads how long until the next guess, wherever they are',
      { scripts, timezoneId },
      async ({ site, page }) => {
        const { secretPath } = await makeWaiting(site.app, { passphrase: 'right', ttlSeconds: 7_200 });
        for (let guesses = 0; guesses < 6; guesses += 1) {
          await page.goto(site.baseUrl + secretPath);
          await page.fill('#passphrase', `wrong ${guesses}`);
          await pressOpen(page);
          await page.waitForLoadState('load');
        }
        expect(await page.textContent('main')).toContain(words('secret.exhausted', { wait: '10 minutes' }));
        expect(await momentsOn(page)).toEqual([]);
      },
    );

    itInBrowser('an account reads its lists', { scripts, timezoneId }, async ({ site, page }) => {
      await logIn(page, site);
      for (const path of ['/recent', '/account/sessions', '/account/domains', '/status']) {
        await page.goto(site.baseUrl + path);
        const zones = await zonesOn(page);
        expect({ path, zones }).toEqual({ path, zones: [created.split(' ').at(-1) ?? ''] });
      }
    });
  });
}

/** Of every time on the page but those of how much is left: with scripts a relative one has it in its title. */
async function zonesOn(page: Page): Promise<string[]> {
  const texts = await page
    .locator('main time:not([data-moment="left"])')
    .evaluateAll((times) =>
      times.map((time) => (time.children.length === 0 ? time.textContent : time.getAttribute('title'))),
    );
  return [...new Set(texts.map((text) => text?.split(' ').at(-1) ?? ''))];
}

/** Logs in as someone who has shared something and has a domain. */
async function logIn(page: Page, { app, baseUrl }: Site): Promise<void> {
  const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
  await carry(page, baseUrl, cookie);
  await makeWaiting(app, { caller: signedIn.caller });
  await giveDomain(app.store, signedIn.caller.account.id, 'links.example.com');
}

it(
  'a reader in UTC reads with scripts what the page says without, letter for letter, in every language',
  async () => {
    using site = openSite();
    const { metadataKey } = await makeWaiting(site.app);
    const { cookie, signedIn } = await signUpAs(site.app, 'ann@example.com');
    await makeWaiting(site.app, { caller: signedIn.caller });
    const read = async (scripts: boolean, path: string) => {
      await using visitor = await openVisitor(browser(), site, { scripts, timezoneId: 'UTC' });
      await carry(visitor.page, site.baseUrl, cookie);
      const said: unknown[] = [];
      for (const locale of supportedLocales) {
        await visitor.page.goto(`${site.baseUrl}${path}?lang=${locale}`);
        said.push([locale, await timesIn(visitor.page)]);
      }
      return said;
    };
    for (const path of [`/receipt/${metadataKey}`, '/recent']) {
      const plain = await read(false, path);
      expect(plain).toHaveLength(14);
      expect(await read(true, path)).toEqual(plain);
    }
  },
  2 * patienceMs,
);

/** Every time on the page; of a relative one the time after it. That and a short one leave out the zone. */
const timesIn = (page: Page) =>
  page.locator('main time').evaluateAll((times) =>
    times.map((time) => {
      const exact =
        time.querySelector('.exact')?.textContent.replace(/^\(|\)$/g, '') ?? time.textContent ?? '';
      return ['ago', 'short'].includes(time.getAttribute('data-moment') ?? '')
        ? exact.replace(/ UTC/, '')
        : exact;
    }),
  );

itInBrowser(
  'the time in UTC stays available, for comparing it with someone else’s',
  { scripts: true, timezoneId: 'Asia/Tokyo' },
  async ({ site, page }) => {
    const { receipt } = await shareIn(page, site.baseUrl);
    await page.goto(receipt);
    const time = page.locator('.timeline time').first();
    expect(await time.getAttribute('title')).toBe('Thursday, 8 May 2025 at 10:26 UTC');
    expect(await time.getAttribute('datetime')).toBe('2025-05-08T10:26:40.000Z');
  },
);
