/** The creator's page in a real browser, with scripts and without: handing the link over, watching, burning. */
import { describe, expect, it } from 'bun:test';
import type { Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { clientStays } from '../stores/conformance/check.ts';
import { openSite, openVisitor, type Site } from './browser.ts';
import {
  bothLights,
  flawsInBothLights,
  headingOf,
  keptBy,
  nothingKept,
  noticedBy,
  shareIn,
  tabTo,
} from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { decodeQr } from './qr-code.ts';
import { words } from './words.ts';

const { browser, itInBrowser } = withBrowser({ endToEnd: 'off' });

const copy = '[data-copy="#link"]';

/** Opens the secret as its recipient does, from elsewhere. */
async function openElsewhere({ app }: Site, link: string): Promise<void> {
  const secretKey = link.split('/').at(-1) ?? '';
  const input = {
    secretKey,
    passphrase: null,
    proofs: null,
    clientPrefix: '203.0.113.0/24',
    isAbandoned: clientStays,
  };
  const opened = await app.service.reveal(input, { kind: 'anonymous' });
  if (opened.outcome !== 'revealed') throw new Error(`it did not open: ${opened.outcome}`);
}

/** What a camera reads from the QR code as it is on the screen, with the mark in its middle. */
async function photographed(page: Page): Promise<string> {
  const png = (await page.locator('.qr').screenshot()).toString('base64');
  const { width, height, data } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const drawing = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    drawing?.drawImage(picture, 0, 0);
    const pixels = drawing?.getImageData(0, 0, picture.width, picture.height).data ?? [];
    return { width: picture.width, height: picture.height, data: [...pixels] };
  }, png);
  return decodeQR({ width, height, data: Uint8ClampedArray.from(data) });
}

for (const scripts of [false, true]) {
  describe(`a creator ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'has the link once, then on demand, and never mixed up with the address of the page',
      { scripts },
      async ({ site, visitor, page }) => {
        const { link, receipt } = await shareIn(page, site.baseUrl);
        expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
        expect(link).toStartWith(`${site.baseUrl}/secret/`);
        expect(await page.textContent('#own-address')).toBe(receipt);
        expect(await page.isVisible('#own-address')).toBe(false);
        await page.reload();
        expect(await page.locator('#link').count()).toBe(0);
        await page.click(`text="${words('receipt.show')}"`);
        expect(await page.inputValue('#link')).toBe(link);
        expect(noticedBy(visitor)).toEqual([]);
        const kept = await page.context().cookies(receipt);
        expect(kept).toEqual([]);
      },
    );

    itInBrowser(
      'shows a QR code that a camera reads as the link, dark on light in a dark scheme too',
      { scripts, scheme: 'dark' },
      async ({ site, page }) => {
        const { link } = await shareIn(page, site.baseUrl);
        expect(await page.isVisible('.qr')).toBe(false);
        await page.click(`text="${words('receipt.qr')}"`);
        expect(await page.isVisible('.qr')).toBe(true);
        expect(decodeQr(await page.content())).toBe(link);
        expect(await photographed(page)).toBe(link);
        const fill = (selector: string) =>
          page.locator(selector).evaluate((shape) => getComputedStyle(shape).fill);
        expect([await fill('.qr > path'), await fill('.qr > rect')]).toEqual([
          'rgb(0, 0, 0)',
          'rgb(255, 255, 255)',
        ]);
      },
    );

    itInBrowser(
      'enlarges the QR code to the whole window with one press, and back with another, by keyboard too',
      { scripts, width: 390, height: 844 },
      async ({ site, page }) => {
        const { link } = await shareIn(page, site.baseUrl);
        await page.click(`text="${words('receipt.qr')}"`);
        const width = async () => (await page.locator('.qr').boundingBox())?.width;
        const usual = await width();
        expect(usual).toBeLessThan(300);
        await page.click('.qr');
        expect(await width()).toBe(390);
        expect(await photographed(page)).toBe(link);
        await page.mouse.click(5, 5);
        expect(await width()).toBe(usual);
        await page.keyboard.press('Space');
        expect(await width()).toBe(390);
      },
    );

    itInBrowser(
      'burns after being asked, by keyboard alone, and the link is dead',
      { scripts },
      async ({ site, visitor, page }) => {
        const { link, receipt } = await shareIn(page, site.baseUrl);
        expect(await page.isVisible('.burn button')).toBe(false);
        await page.focus('.burn summary');
        await page.keyboard.press('Enter');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.waitForSelector('.life-burned');
        expect([page.url(), await headingOf(page)]).toEqual([receipt, words('receipt.burnedTitle')]);
        expect((await page.goto(link))?.status()).toBe(404);
        expect(noticedBy(visitor)).toEqual([]);
      },
    );

    itInBrowser(
      'burns at the address that asks, and may keep it there',
      { scripts },
      async ({ site, page }) => {
        const { receipt } = await shareIn(page, site.baseUrl);
        await page.goto(`${receipt}/burn`);
        await page.click(`text="${words('burn.keep')}"`);
        expect(page.url()).toBe(receipt);
        await page.goto(`${receipt}/burn`);
        await page.click(`text="${words('burn.submit')}"`);
        await page.waitForSelector('.life-burned');
      },
    );

    itInBrowser(
      'finds that it was opened, with a press on "refresh" only if it must',
      { scripts },
      async ({ site, page }) => {
        const { link, receipt } = await shareIn(page, site.baseUrl);
        await openElsewhere(site, link);
        const refresh = page.locator(`text="${words('receipt.lookAgain')}"`);
        if (scripts) expect(await refresh.count()).toBe(0);
        else await refresh.click();
        await page.waitForURL(receipt);
        await page.waitForSelector('.life-opened');
        expect(await headingOf(page)).toBe(words('receipt.receivedTitle'));
        expect(await page.textContent('.timeline')).toContain(words('receipt.received'));
      },
    );
  });
}

describe('handing the link over', () => {
  itInBrowser(
    'copies exactly the link at a press, and the button itself says so',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.baseUrl });
      const { link } = await shareIn(page, site.baseUrl);
      await page.evaluate(() => navigator.clipboard.writeText('before'));
      await page.reload();
      await page.click(`text="${words('receipt.show')}"`);
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('before');
      await page.click(copy);
      await page.waitForSelector(`${copy}.is-copied:has-text("${words('copy.copied')}")`);
      await page.waitForSelector(`#copied:has-text("${words('copy.copied')}")`, { state: 'attached' });
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser('copies by keyboard too', { scripts: true }, async ({ site, page }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.baseUrl });
    const { link } = await shareIn(page, site.baseUrl);
    await tabTo(page, 'link');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${copy}.is-copied`);
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
  });

  itInBrowser(
    'selects the link and says so where a page may not copy',
    { scripts: true },
    async ({ site, page }) => {
      await page.addInitScript(() => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
        document.execCommand = () => false;
      });
      const { link } = await shareIn(page, site.baseUrl);
      await page.click(copy);
      await page.waitForSelector(`#copied:visible:has-text("${words('receipt.notCopied')}")`);
      expect(await page.locator('.is-copied').count()).toBe(0);
      expect(await page.evaluate(() => getSelection()?.toString())).toBe(link);
    },
  );

  itInBrowser(
    'offers the share sheet where there is one, with the link and the words that go with it',
    { scripts: true },
    async ({ site, page }) => {
      await page.addInitScript(() => {
        Object.defineProperty(navigator, 'share', {
          value: async (data: unknown) => {
            document.title = JSON.stringify(data);
          },
        });
      });
      const { link } = await shareIn(page, site.baseUrl);
      await page.click('[data-share]');
      const shared = JSON.parse(await page.title());
      expect([shared.title, shared.url]).toEqual([words('receipt.messageSubject'), link]);
      expect(shared.text).toContain(words('receipt.messageOnce'));
      expect(shared.text).not.toContain('/secret/');
    },
  );

  it(
    'shows no button that would do nothing',
    async () => {
      using site = openSite({ endToEnd: 'off' });
      await using plain = await openVisitor(browser(), site);
      await shareIn(plain.page, site.baseUrl);
      expect(await plain.page.isVisible('[data-copy]')).toBe(false);
      expect(await plain.page.isVisible('[data-share]')).toBe(false);
      await using desktop = await openVisitor(browser(), site, { scripts: true });
      await desktop.page.addInitScript(() => {
        Object.defineProperty(navigator, 'share', { value: undefined });
      });
      await shareIn(desktop.page, site.baseUrl);
      await desktop.page.waitForSelector('[data-copy]');
      expect(await desktop.page.isVisible('[data-share]')).toBe(false);
    },
    patienceMs,
  );
});

/** Collects the requests for the state as they are made. */
function asked(page: Page): string[] {
  const addresses: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/state')) addresses.push(request.url());
  });
  return addresses;
}

const look = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate((seen) => {
    Object.defineProperty(document, 'visibilityState', { value: seen, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

describe('a page that waits, with scripts', () => {
  for (const withLink of [true, false]) {
    itInBrowser(
      `announces that the secret was opened elsewhere, then shows the plain receipt: link ${withLink ? 'shown' : 'hidden'}`,
      { scripts: true },
      async ({ site, visitor, page }) => {
        await page.clock.install();
        const { link, receipt } = await shareIn(page, site.baseUrl);
        if (!withLink) await page.goto(receipt);
        await openElsewhere(site, link);
        await page.clock.runFor(5_000);
        await page.waitForSelector(`text="${words('receipt.changedReceived')}"`);
        expect(page.url()).toBe(receipt);
        await page.clock.runFor(2_500);
        await page.waitForSelector(`h1:has-text("${words('receipt.receivedTitle')}")`);
        expect([page.url(), await page.locator('#link').count()]).toEqual([receipt, 0]);
        expect(await keptBy(page)).toEqual(nothingKept);
        expect(noticedBy(visitor)).toEqual([]);
      },
    );
  }

  itInBrowser(
    'asks again and again while nothing happens, changes nothing by that, and keeps the link in sight (P4)',
    { scripts: true },
    async ({ site, page }) => {
      await page.clock.install();
      const requests = asked(page);
      const { link, receipt } = await shareIn(page, site.baseUrl);
      for (let round = 1; round <= 3; round += 1) {
        const answered = page.waitForResponse('**/state');
        await page.clock.runFor(5_000);
        expect(await (await answered).json()).toEqual({ state: 'new', delivery: null });
        expect(requests).toHaveLength(round);
        // The answer is processed before the next pause begins.
        await page.evaluate(() => fetch('/icon.svg').then((icon) => icon.text()));
      }
      expect(requests[0]).toBe(`${receipt}/state`);
      expect(await page.inputValue('#link')).toBe(link);
    },
  );

  itInBrowser(
    'tells in the background that it was opened, with the icon and the title of its tab',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.clock.install();
      const { link } = await shareIn(page, site.baseUrl);
      const icon = () => page.getAttribute('link[rel="icon"]', 'href');
      expect(await icon()).toBe('/icons/day-8.svg');
      await look(page, 'hidden');
      await openElsewhere(site, link);
      await page.clock.runFor(60_000);
      await page.waitForSelector(`text="${words('receipt.changedReceived')}"`);
      await page.clock.runFor(2_500);
      await page.waitForSelector('.life-opened');
      expect([await icon(), await page.title()]).toEqual([
        '/icons/day-opened.svg',
        `✓ ${words('receipt.received')} · Mayfly`,
      ]);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'asks once a minute while nobody looks, and at once when somebody does again',
    { scripts: true },
    async ({ site, page }) => {
      await page.clock.install();
      const requests = asked(page);
      await shareIn(page, site.baseUrl);
      await look(page, 'hidden');
      await page.clock.runFor(59_000);
      expect(requests).toEqual([]);
      for (const ask of [() => page.clock.runFor(2_000), () => look(page, 'visible')]) {
        const answered = page.waitForResponse('**/state');
        await ask();
        await answered;
      }
      expect(requests).toHaveLength(2);
    },
  );

  itInBrowser('says the times of the reader’s own zone too', { scripts: true }, async ({ site, page }) => {
    await shareIn(page, site.baseUrl);
    // Scripts run after the page has loaded.
    const time = await page.waitForSelector('.timeline time[title]');
    expect(await time.getAttribute('title')).toContain('2025');
  });
});

describe('every state of the receipt', () => {
  itInBrowser(
    'has no accessibility flaw, fits and breaks no rule of its policy, small and dark, wide and light',
    { ...bothLights[0], scripts: true, limitMs: 2 * patienceMs },
    async ({ site, visitor, page }) => {
      const flaws: string[] = [];
      const look = async (name: string) => flaws.push(...(await flawsInBothLights(page, name)));
      const { receipt } = await shareIn(page, site.baseUrl, { passphrase: 'p' });
      await page.click(`text="${words('receipt.qr')}"`);
      await look('ready');
      await page.click(`text="${words('receipt.message')}"`);
      await page.click('.own summary');
      await look('message');
      await page.goto(receipt);
      await look('waiting');
      await page.click('.burn summary');
      await look('burn');
      await page.goto(`${receipt}/burn`);
      await look('burn page');
      await page.click(`text="${words('burn.submit')}"`);
      await page.waitForSelector('.life-burned');
      await look('burned');
      const opened = await shareIn(page, site.baseUrl);
      await openElsewhere(site, opened.link);
      await page.goto(opened.receipt);
      await look('received');
      const expired = await shareIn(page, site.baseUrl);
      site.app.clock.advance(604_800);
      await page.goto(expired.receipt);
      expect(await headingOf(page)).toBe(words('receipt.expiredTitle'));
      await look('expired');
      expect([...flaws, ...noticedBy(visitor)]).toEqual([]);
    },
  );
});
