/** A link that was damaged on its way, in a browser: what a page can mend opens, what it cannot says so, and no end is sent. */
import { describe, expect, it } from 'bun:test';
import type { Page } from 'playwright-core';
import { damagedLinks, type LinkParts, wholeLink } from '../support/damaged-links.ts';
import { openButton, openSite, openVisitor } from './browser.ts';
import { flawsOf } from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const { browser, itInBrowser } = withBrowser();

const headings = {
  whole: words('secret.title'),
  incomplete: words('sealed.incompleteTitle'),
  refused: words('damaged.title'),
} as const;

/** Everything that is asked for, and where the page arrives. */
async function arrive(page: Page, address: string) {
  const asked: string[] = [];
  const listen = (request: { url(): string }) => void asked.push(request.url());
  await page.goto('about:blank');
  page.on('request', listen);
  await page.goto(address);
  // The script goes on to the mended address before anything is pressed.
  if (/%(25)*23/.test(new URL(page.url()).pathname))
    await page.waitForURL((url) => !url.pathname.includes('%'));
  await page.waitForLoadState('load');
  page.off('request', listen);
  return asked;
}

describe('a damaged link in a browser', () => {
  it(
    'opens where it can only be that link, and no request but the first has its end',
    async () => {
      using site = openSite();
      await using visitor = await openVisitor(browser(), site, { scripts: true, width: 390 });
      const { page } = visitor;
      const sealed = await makeSealed(site.app, 'canary');
      const plain = await makeWaiting(site.app);
      const links: readonly LinkParts[] = [
        { server: site.baseUrl, key: sealed.path.slice('/secret/'.length), end: sealed.fragment },
        { server: site.baseUrl, key: plain.secretKey, end: '' },
      ];
      for (const parts of links)
        for (const { what, text, outcome, isText } of damagedLinks(parts)) {
          // Of a plain link, all but what follows its # is the server's to mend.
          if (isText === true || (parts.end === '' && !text.includes('#'))) continue;
          const asked = await arrive(page, text);
          expect([what, await page.textContent('h1')]).toEqual([what, headings[outcome]]);
          expect([what, await page.locator(openButton).isVisible()]).toEqual([what, outcome === 'whole']);
          const leaked =
            parts.end === '' ? [] : asked.slice(1).filter((url) => url.split('#')[0]?.includes(parts.end));
          expect([what, leaked]).toEqual([what, []]);
        }
      expect([visitor.violations, visitor.elsewhere]).toEqual([[], []]);
      for (const parts of links) {
        await page.goto('about:blank');
        await page.goto(wholeLink(parts));
        await page.click(openButton);
        await page.waitForSelector('#value');
        expect(await page.inputValue('#value')).toBe('canary');
      }
    },
    patienceMs,
  );

  for (const [title, end, told] of [
    ['sealed.incompleteTitle', '#cut', 'sealed.tellText'],
    ['damaged.title', 'a', 'damaged.tellText'],
  ] as const)
    itInBrowser(
      `has a page of its own, with a text for the sender that is ready to copy and to mail: ${title}`,
      { scripts: true, width: 390 },
      async ({ site, visitor, page }) => {
        const { path } = await makeSealed(site.app, 'canary');
        await page.goto(site.baseUrl + path + end);
        expect(await page.textContent('h1')).toBe(words(title));
        expect(await page.title()).toBe(`${words(title)} · Mayfly`);
        const text = words(told, { site: 'Mayfly' });
        expect(await page.textContent('#ready-text')).toBe(text);
        await page.evaluate('navigator.clipboard.writeText = async (text) => { globalThis.written = text; }');
        await page.click('.tell > summary');
        await page.click('[data-copy="#ready-text"]');
        expect(await page.evaluate('globalThis.written')).toBe(text);
        const mail = new URL((await page.getAttribute('#tell-mail', 'href')) ?? '');
        expect([...mail.searchParams]).toEqual([
          ['subject', words('gone.tellSubject')],
          ['body', text],
        ]);
        expect(await flawsOf(page, title)).toEqual([]);
        expect([visitor.violations, visitor.elsewhere]).toEqual([[], []]);
      },
    );

  for (const touch of [true, false])
    itInBrowser(
      `is told to the sender with one press, ${touch ? 'on a phone by the system’s own dialog' : 'elsewhere by choosing how'}`,
      { scripts: true, touch, width: 390 },
      async ({ site, page }) => {
        await page.addInitScript('navigator.share = async ({ text }) => { globalThis.shared = text; }');
        await page.goto(`${site.baseUrl}/secret/a`);
        await page.click('.tell > summary');
        const text = words('damaged.tellText', { site: 'Mayfly' });
        if (touch) await page.waitForFunction('globalThis.shared');
        else await page.click('[data-share-text]:visible', { trial: true });
        expect(await page.evaluate('globalThis.shared ?? null')).toBe(touch ? text : null);
        expect(await page.locator('#ready-text').isVisible()).toBe(true);
      },
    );

  itInBrowser(
    'of an end-to-end secret says without scripts what to do, under a heading of its own',
    { width: 390 },
    async ({ site, page }) => {
      const { link } = await makeSealed(site.app, 'canary');
      await page.goto(site.baseUrl + link);
      const shown = await page.locator('h1:visible').allTextContents();
      expect(shown).toEqual([words('sealed.needsScriptsTitle')]);
      expect(await page.locator('main').innerText()).not.toContain(words('secret.lead'));
      expect(await page.textContent('#ready-text')).toBe(words('sealed.tellText', { site: 'Mayfly' }));
      await page.click('.tell > summary');
      expect(await page.locator('#tell-mail').isVisible()).toBe(true);
    },
  );
});
