/** What the share form hands to the receipt in its address, and the message that goes with a link. */
import { describe, expect } from 'bun:test';
import type { Page, Request } from 'playwright-core';
import { translate } from '../../src/locale/translate.ts';
import { toHandover } from '../../src/web/client/handover.ts';
import { flawsInBothLights, keptBy, nothingKept, noticedBy, shareIn } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser({ endToEnd: 'off' });

const passphrase = 'drei Wörter "&" <mehr>  ';
const chip = '#passphrase-chip';
const value = '#passphrase-value';

/** Creates a secret and opens its receipt as the form does, with the passphrase after `#`. */
async function handOver(page: Page, baseUrl: string): Promise<{ link: string; receipt: string }> {
  await page.route('**/share', async (route) => {
    const answer = await route.fetch({ maxRedirects: 0 });
    const location = `${answer.headers().location}#${toHandover({ fragment: null, passphrase })}`;
    await route.fulfill({ response: answer, headers: { ...answer.headers(), location } });
  });
  await page.goto(`${baseUrl}/`);
  await page.locator('#passphrase').evaluate((field) => field.closest('details')?.setAttribute('open', ''));
  await page.fill('#secret', 'x');
  await page.fill('#passphrase', passphrase);
  // The form itself, so that this depends on nothing that its script does.
  await page.locator('#share').evaluate((form) => HTMLFormElement.prototype.submit.call(form));
  await page.waitForSelector('#link');
  return { link: await page.inputValue('#link'), receipt: page.url() };
}

describe('a passphrase that was handed over', () => {
  itInBrowser(
    'is shown once, apart from the link, and is in no address, request or storage (P9)',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.baseUrl });
      const { link, receipt } = await handOver(page, site.baseUrl);
      const requests: Request[] = [];
      page.on('request', (request) => requests.push(request));
      await page.waitForSelector(`${chip}:not([hidden])`);
      expect(await page.textContent(value)).toBe(passphrase);
      expect([receipt.includes('#'), page.url().includes('#'), link.includes('#')]).toEqual([
        false,
        false,
        false,
      ]);
      expect(
        await page.evaluate(() => [document.title, location.href, JSON.stringify(history.state)].join()),
      ).not.toContain('.ZHJla');
      await page.click(`${chip} button`);
      await page.waitForSelector(`${chip} .is-copied`);
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(passphrase);
      await page.reload();
      expect([await page.isVisible(chip), await page.textContent(value)]).toEqual([false, '']);
      expect(await page.textContent('#passphrase-reminder')).toContain(words('receipt.passphraseReminder'));
      await page.goBack();
      await page.goForward();
      expect(await page.isVisible(chip)).toBe(false);
      const sent = requests.map((each) => `${each.url()} ${JSON.stringify(each.headers())}`).join();
      expect(sent).not.toContain(toHandover({ fragment: null, passphrase }));
      expect(await keptBy(page)).toEqual(nothingKept);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser('has no accessibility flaw and fits', { scripts: true }, async ({ site, page }) => {
    await handOver(page, site.baseUrl);
    await page.waitForSelector(`${chip}:not([hidden])`);
    expect(await flawsInBothLights(page, 'passphrase')).toEqual([]);
  });

  itInBrowser(
    'is not made up: any other address after # shows none',
    { scripts: true },
    async ({ site, page }) => {
      const { receipt } = await shareIn(page, site.baseUrl);
      for (const hash of ['#label', '#.', '#x.y', `#${toHandover({ fragment: null, passphrase })}`]) {
        await page.goto('about:blank');
        await page.goto(receipt + hash);
        // Not even one that is coded well, because this secret has none.
        expect(await page.locator(chip).count()).toBe(0);
      }
    },
  );
});

const bodyOf = async (page: Page) =>
  new URL((await page.getAttribute('#mailto', 'href')) ?? '').searchParams
    .get('body')
    ?.replaceAll('\r\n', '\n');

for (const scripts of [false, true]) {
  describe(`the message, ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'is in the language that the recipient reads, for every way to send it, and the page stays in its own',
      { scripts },
      async ({ site, visitor, page }) => {
        const { link } = await shareIn(page, site.baseUrl);
        await page.click(`text="${words('receipt.message')}"`);
        const date = 'Thursday, 15 May 2025 at 10:26 UTC';
        const english = [
          words('receipt.messageIntro'),
          words('receipt.messageOnce'),
          words('receipt.messageUntil', { date }),
        ];
        expect(await page.inputValue('#message')).toBe(`${english.join('\n')}\n\n${link}`);
        expect(await bodyOf(page)).toBe(await page.inputValue('#message'));
        await page.selectOption('#message-language', 'de');
        if (!scripts) await page.click('.language-of button');
        const until = translate('de', 'receipt.messageUntil', {
          date: 'Donnerstag, 15. Mai 2025 um 10:26 UTC',
        });
        await page.waitForFunction(
          (text) => (document.getElementById('message') as HTMLTextAreaElement).value.includes(text),
          until,
        );
        expect([await page.isVisible('#message'), await page.getAttribute('#message', 'lang')]).toEqual([
          true,
          'de',
        ]);
        expect(await page.inputValue('#message')).toEndWith(`\n\n${link}`);
        expect(await bodyOf(page)).toBe(await page.inputValue('#message'));
        expect(await page.getAttribute('html', 'lang')).toBe('en');
        expect(await page.context().cookies()).toEqual([]);
        expect(noticedBy(visitor)).toEqual([]);
      },
    );
  });
}

describe('the message in a language', () => {
  itInBrowser(
    'stays as it is where the other one does not arrive',
    { scripts: true },
    async ({ site, page }) => {
      await shareIn(page, site.baseUrl);
      await page.route('**/message?*', (route) => route.abort());
      await page.click(`text="${words('receipt.message')}"`);
      const before = await page.inputValue('#message');
      const failed = page.waitForEvent('requestfailed');
      await page.selectOption('#message-language', 'fr');
      await failed;
      await page.waitForFunction(
        () => (document.getElementById('message-language') as HTMLSelectElement).value === 'en',
      );
      expect(await page.inputValue('#message')).toBe(before);
    },
  );
});
