/** What the share form hands to the receipt, and the message that goes with a link. */
import { describe, expect } from 'bun:test';
import type { Page, Request } from 'playwright-core';
import { translate } from '../../src/locale/translate.ts';
import { flawsInBothLights, keptBy, nothingKept, noticedBy, shareIn } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser({ endToEnd: 'off' });

const passphrase = 'drei Wörter "&" <mehr>  ';
const chip = '#passphrase-chip';
const value = '#passphrase-value';

/** Everything that the page sends: addresses, headers and bodies. */
function recordOf(page: Page): () => string {
  const requests: Request[] = [];
  page.on('request', (request) => requests.push(request));
  const said = (each: Request) => `${each.url()} ${JSON.stringify(each.headers())} ${each.postData() ?? ''}`;
  return () => requests.map(said).join('\n');
}

const kinds = [
  { kind: 'end-to-end', endToEnd: 'default' },
  { kind: 'plain', endToEnd: 'off' },
] as const;

for (const { kind, endToEnd } of kinds) {
  describe(`a passphrase of ${kind} sharing that was handed over`, () => {
    itInBrowser(
      'is shown once, apart from the link, and is in no address, request or storage (P9)',
      { scripts: true, app: { endToEnd } },
      async ({ site, visitor, page }) => {
        await page
          .context()
          .grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.baseUrl });
        const sent = recordOf(page);
        await shareIn(page, site.baseUrl, { passphrase });
        await page.waitForSelector(`${chip}:not([hidden])`);
        expect(await page.textContent(value)).toBe(passphrase);
        expect([page.url().includes('#'), await page.isVisible('#passphrase-reminder')]).toEqual([
          false,
          false,
        ]);
        expect(await page.inputValue('#message')).not.toContain(passphrase);
        await page.click(`${chip} button`);
        await page.waitForSelector(`${chip} .is-copied`);
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(passphrase);
        await page.click('[data-copy="#link"]');
        await page.waitForSelector('[data-copy="#link"].is-copied');
        await page.reload();
        expect([await page.isVisible(chip), await page.textContent(value)]).toEqual([false, '']);
        expect(await page.textContent('#passphrase-reminder')).toContain(words('receipt.passphraseReminder'));
        expect(await page.evaluate(() => history.state)).toBeNull();
        if (endToEnd !== 'off') expect(sent()).not.toContain('mehr');
        expect(await keptBy(page)).toEqual(nothingKept);
        expect(noticedBy(visitor)).toEqual([]);
      },
    );

    itInBrowser(
      'has no accessibility flaw and fits',
      { scripts: true, app: { endToEnd } },
      async ({ site, page }) => {
        await shareIn(page, site.baseUrl, { passphrase });
        await page.waitForSelector(`${chip}:not([hidden])`);
        expect(await flawsInBothLights(page, 'passphrase')).toEqual([]);
      },
    );
  });
}

describe('a passphrase', () => {
  itInBrowser(
    'is not made up: a secret that has none shows none, whatever this tab holds',
    { scripts: true },
    async ({ site, page }) => {
      await shareIn(page, site.baseUrl);
      await page.evaluate(() => history.replaceState({ handover: { passphrase: 'x' } }, ''));
      await page.reload();
      await page.waitForFunction(() => history.state === null);
      expect(await page.locator(chip).count()).toBe(0);
    },
  );

  itInBrowser(
    'asks nothing of who leaves with the link, and asks who leaves without',
    { scripts: true, app: { endToEnd: 'default' } },
    async ({ site, page }) => {
      const questions: string[] = [];
      page.on('dialog', (dialog) => {
        questions.push(dialog.type());
        void dialog.accept();
      });
      for (const [selector, asked] of [
        [`${chip} button`, ['beforeunload']],
        ['[data-copy="#link"]', []],
      ] as const) {
        questions.length = 0;
        await shareIn(page, site.baseUrl, { passphrase });
        await page.waitForSelector(`${chip}:not([hidden])`);
        await page.click(selector);
        await page.waitForSelector(`${selector}.is-copied`);
        await page.reload();
        expect(questions).toEqual([...asked]);
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
        expect((await page.context().cookies()).filter(({ name }) => name.includes('language'))).toEqual([]);
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
