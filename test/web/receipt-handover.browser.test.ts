/** What the share form hands to the receipt, and the message that goes with a link. */
import { describe, expect } from 'bun:test';
import type { Page, Request } from 'playwright-core';
import { translate } from '../../src/locale/translate.ts';
import {
  carry,
  fillOption,
  flawsInBothLights,
  headingOf,
  keptBy,
  nothingKept,
  noticedBy,
  sendShare,
  shareIn,
} from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
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

const clipboard = ['clipboard-read', 'clipboard-write'];
const copyButton = '[data-copy="#link"]';

/** Notes what the page gives to the clipboard, and puts something else on it first. */
async function watchClipboard(page: Page, baseUrl: string): Promise<void> {
  await page.context().grantPermissions(clipboard, { origin: baseUrl });
  await page.goto(`${baseUrl}/`);
  await page.evaluate(() => navigator.clipboard.writeText('before'));
}

const onClipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** What the receipt says of the clipboard, and on its button. */
const saidOf = async (page: Page) => [
  (await page.textContent('#link-copied'))?.trim(),
  (await page.textContent(copyButton))?.trim(),
];

const copied = () => [words('receipt.linkCopied'), words('copy.copy')];
const notCopied = () => ['', words('copy.copy')];

async function fillIn(page: Page): Promise<void> {
  await page.fill('#secret', 'canary of a value');
  await fillOption(page, 'passphrase', 'canary of a passphrase');
}

for (const { kind, endToEnd } of kinds) {
  describe(`the press that creates a ${kind} secret`, () => {
    for (const press of ['#create', 'Control+Enter']) {
      itInBrowser(
        `also copies its link, and nothing else, and the receipt says so: ${press}`,
        { scripts: true, app: { endToEnd } },
        async ({ site, visitor, page }) => {
          await watchClipboard(page, site.baseUrl);
          await fillIn(page);
          await sendShare(page, press);
          await page.waitForSelector('#link-copied:not(:empty)');
          expect(await onClipboard(page)).toBe(await page.inputValue('#link'));
          expect(await saidOf(page)).toEqual(copied());
          expect(await page.isVisible('label[for="link"]')).toBe(true);
          expect(await page.textContent('#link-hint')).toBe(words('receipt.linkHint'));
          await page.evaluate(() => navigator.clipboard.writeText('other'));
          await page.click(copyButton);
          await page.waitForSelector(`${copyButton}.is-copied`);
          expect(await onClipboard(page)).toBe(await page.inputValue('#link'));
          await page.waitForSelector(`${copyButton}:not(.is-copied)`);
          expect(await saidOf(page)).toEqual(copied());
          expect(await keptBy(page)).toEqual(nothingKept);
          expect(noticedBy(visitor)).toEqual([]);
        },
      );
    }

    itInBrowser(
      'copies after a wait too, however long the browser encrypts and the server takes',
      { scripts: true, app: { endToEnd } },
      async ({ site, page }) => {
        await watchClipboard(page, site.baseUrl);
        await page.route('**/share', async (route) => {
          await new Promise((resume) => setTimeout(resume, 6_000));
          await route.continue();
        });
        await fillIn(page);
        await sendShare(page);
        expect(await onClipboard(page)).toBe(await page.inputValue('#link'));
      },
    );

    const refusals: Readonly<Record<string, string | null>> = {
      'is denied the permission': null,
      'refuses the write': 'navigator.clipboard.write = () => Promise.reject(new Error("no"))',
      'never finishes the write': 'navigator.clipboard.write = () => new Promise(() => {})',
      'has no ClipboardItem': 'delete window.ClipboardItem',
      'has no clipboard': 'Object.defineProperty(navigator, "clipboard", { value: undefined })',
    };
    for (const [why, script] of Object.entries(refusals)) {
      itInBrowser(
        `loses nothing where the browser ${why}: the receipt offers to copy, as it always did`,
        { scripts: true, app: { endToEnd } },
        async ({ site, visitor, page }) => {
          if (script !== null) await page.addInitScript(script);
          else await page.context().grantPermissions([], { origin: site.baseUrl });
          await page.goto(`${site.baseUrl}/`);
          await fillIn(page);
          await sendShare(page);
          await page.waitForSelector(`${copyButton}:visible`);
          expect(await page.inputValue('#link')).toContain('/secret/');
          expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
          expect(await saidOf(page)).toEqual(notCopied());
          expect(await page.textContent('#passphrase-value')).toBe('canary of a passphrase');
          expect(noticedBy(visitor)).toEqual([]);
        },
      );
    }

    itInBrowser(
      'copies nothing where the server refuses or does not answer, and then what was created in the end',
      { scripts: true, app: { endToEnd } },
      async ({ site, page }) => {
        await watchClipboard(page, site.baseUrl);
        await fillIn(page);
        await fillOption(page, 'memo', 'x'.repeat(501));
        await sendShare(page);
        await page.route('**/share', (route) => route.abort());
        await page.fill('#memo', 'short');
        await page.click('#create');
        await page.waitForSelector('#unsent h2');
        expect(await onClipboard(page)).toBe('before');
        await page.unroute('**/share');
        await sendShare(page);
        expect(await onClipboard(page)).toBe(await page.inputValue('#link'));
      },
    );
  });
}

describe('the first 600 px of the receipt', () => {
  for (const [width, height] of [
    [390, 844],
    [375, 553],
    [320, 640],
  ] as const) {
    itInBrowser(
      `say that the link is ready and copied, and offer Share and the passphrase, at ${width} × ${height}`,
      { scripts: true, touch: true, width, height, app: { endToEnd: 'default' } },
      async ({ site, page }) => {
        await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: () => {} }));
        await watchClipboard(page, site.baseUrl);
        await page.fill('#secret', 'v');
        await fillOption(page, 'passphrase', 'tulip-anchor');
        await sendShare(page);
        await page.waitForSelector('#link-copied:not(:empty)');
        const bottoms = await page.evaluate(
          (selectors) =>
            selectors.map((each) => document.querySelector(each)?.getBoundingClientRect().bottom ?? 0),
          ['h1', '#link-copied', '.link-row', '[data-share]', '#passphrase-value'],
        );
        expect(bottoms.toSorted((one, other) => one - other)).toEqual(bottoms);
        expect(bottoms[0]).toBeGreaterThan(0);
        expect(bottoms[4]).toBeLessThanOrEqual(600);
        expect((await page.locator('.life').boundingBox())?.height).toBeLessThanOrEqual(150);
      },
    );
  }
});

describe('a link that was copied with the press', () => {
  itInBrowser(
    'asks nothing of who leaves, is in the tab until then, and not after',
    { scripts: true, app: { endToEnd: 'default' } },
    async ({ site, page }) => {
      const questions: string[] = [];
      page.on('dialog', (dialog) => {
        questions.push(dialog.type());
        void dialog.accept();
      });
      await watchClipboard(page, site.baseUrl);
      await fillIn(page);
      await sendShare(page);
      await page.waitForSelector('#link-copied:not(:empty)');
      const link = await page.inputValue('#link');
      // What a phone keeps of a tab that it discards.
      const { handover } = await page.evaluate(() => history.state);
      expect([...handover.links, handover.passphrase]).toEqual([link, 'canary of a passphrase']);
      await page.click('.onward a');
      await page.waitForSelector('#share');
      await page.goBack();
      await page.waitForSelector('#link-gone');
      expect([await page.evaluate(() => history.state), ...questions]).toEqual([null]);
    },
  );

  itInBrowser('is not copied where the server emails it', { scripts: true }, async ({ site, page }) => {
    const { cookie } = await signUpAs(site.app, 'alice@example.org');
    await carry(page, site.baseUrl, cookie);
    await watchClipboard(page, site.baseUrl);
    await fillIn(page);
    await fillOption(page, 'recipient', 'bob@example.org');
    await sendShare(page);
    expect([await onClipboard(page), await headingOf(page)]).toEqual([
      'before',
      words('receipt.mailedTitle'),
    ]);
    expect(await page.isVisible('.show-link button')).toBe(true);
  });
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
