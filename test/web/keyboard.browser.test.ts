/** The pages by keyboard alone, at 200 % and 400 % zoom, where a window has half and a quarter of its pixels (WCAG 1.4.10). */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { askOn } from './asked.ts';
import { overflowPx, pressOpen } from './browser.ts';
import { mailbox } from './codes.ts';
import { carry, focusOf, goOn, headingOf } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { makeWaiting } from './waiting.ts';

const { itInBrowser } = withBrowser();

/** A window of 1,280 by 800 pixels at 200 %, one of 1,280 by 1,024 at 400 %. */
const zooms = { '200 %': { width: 640, height: 400 }, '400 %': { width: 320, height: 256 } } as const;

interface Stop {
  /** Its place in the document. */
  readonly at: number;
  readonly html: string;
  /** What is wrong with how its focus is seen. */
  readonly flaw: string | null;
}

/** Where the focus is, and whether it is seen; `null` outside of the page. */
async function stopAt(page: Page): Promise<Stop | null> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body || element === document.documentElement) return null;
    const hasMark = (each: Element | null) =>
      each !== null &&
      [null, '::after'].some((part) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(each, part);
        return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
      });
    const { x, y, width, height } = element.getBoundingClientRect();
    const points = [0.5, 0.1, 0.9].flatMap((down) =>
      [0.5, 0.1, 0.9].map((across) => [across, down] as const),
    );
    const isSeen = points.some(([across, down]) => {
      const hit = document.elementFromPoint(x + across * width, y + down * height);
      const label = (element as HTMLInputElement).labels?.[0];
      return hit !== null && (element.contains(hit) || label?.contains(hit) === true);
    });
    // A whole card or row may be marked in place of the link that it leads to.
    const around = [element.nextElementSibling, element];
    for (let up = element.parentElement; up !== null; up = up.parentElement) around.push(up);
    const isFileKind = around.some(hasMark);
    const flaws = [...(isFileKind ? [] : ['has no visible mark']), ...(isSeen ? [] : ['is out of sight'])];
    return {
      at: [...document.querySelectorAll('*')].indexOf(element),
      html: element.outerHTML.slice(0, 90),
      flaw: flaws.length === 0 ? null : flaws.join(' and '),
    };
  });
}

/** What Tab should lead to: everything that can be pressed or filled, and one of each group of radio buttons. */
async function controlsOf(page: Page): Promise<readonly { readonly at: number; readonly html: string }[]> {
  return page.evaluate(() => {
    const every = [...document.querySelectorAll('*')];
    const controls = every.filter((element) => {
      if (!element.matches('a[href], button, input:not([type="hidden"]), select, textarea, summary'))
        return false;
      if (element.matches(':disabled, [tabindex="-1"]')) return false;
      if (element.matches('[type="radio"]:not(:checked)')) return false;
      return element.checkVisibility({ visibilityProperty: true });
    });
    return controls.map((element) => ({ at: every.indexOf(element), html: element.outerHTML.slice(0, 90) }));
  });
}

/** Presses Tab until the focus has gone all around. */
async function stopsOf(page: Page): Promise<readonly Stop[]> {
  const stops: Stop[] = [];
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press('Tab');
    const stop = await stopAt(page);
    if (stop === null) continue;
    if (stops.some(({ at }) => at === stop.at)) return stops;
    stops.push(stop);
  }
  throw new Error('Tab does not come around');
}

/** Every control that Tab does not reach, that it reaches out of order, or whose focus is not seen. */
async function keyboardFlaws(page: Page): Promise<string[]> {
  await page.waitForLoadState('load');
  const controls = await controlsOf(page);
  const stops = await stopsOf(page);
  const reached = new Set(stops.map(({ at }) => at));
  // From the first on the page: a field may have had the focus at first.
  const first = stops.findIndex(({ at }) => at === Math.min(...reached));
  const inOrder = [...stops.slice(first), ...stops.slice(0, first)];
  const overflow = await overflowPx(page);
  return [
    ...(overflow > 0 ? [`${overflow} px too wide`] : []),
    ...controls.filter(({ at }) => !reached.has(at)).map(({ html }) => `not reached: ${html}`),
    ...inOrder.flatMap(({ html, flaw }) => (flaw === null ? [] : [`${flaw}: ${html}`])),
    ...inOrder
      .filter(({ at }, index) => index > 0 && at < (inOrder[index - 1]?.at ?? 0))
      .map(({ html }) => `out of order: ${html}`),
  ];
}

/** Opens everything that is folded, by Enter and Space in turn. */
async function unfoldAll(page: Page): Promise<void> {
  const summaries = await page.locator('main summary').all();
  for (const [index, summary] of summaries.entries()) {
    if (!(await summary.isVisible())) continue;
    const isOpen = () => summary.evaluate((each) => (each.parentElement as HTMLDetailsElement).open);
    if (await isOpen()) continue;
    await summary.focus();
    await page.keyboard.press(index % 2 === 0 ? 'Enter' : 'Space');
    expect(await isOpen()).toBe(true);
  }
}

describe('by keyboard alone', () => {
  for (const [zoom, size] of Object.entries(zooms)) {
    itInBrowser(
      `every control is reached in order with its focus in sight, also what is folded, at ${zoom}`,
      { scripts: true, ...size },
      async ({ site, page }) => {
        const { cookie, signedIn } = await signUpAs(site.app, 'alice@example.org');
        const waiting = await makeWaiting(site.app, { passphrase: 'right', caller: signedIn.caller });
        const sealed = await makeSealed(site.app, 'the value');
        const look = async (path: string, ready = 'h1') => {
          await page.goto('about:blank');
          await page.goto(site.baseUrl + path);
          await page.locator(ready).first().waitFor();
          const closed = await keyboardFlaws(page);
          await unfoldAll(page);
          const open = await keyboardFlaws(page);
          expect([path, closed, open]).toEqual([path, [], []]);
        };
        for (const path of ['/', '/about', '/docs', '/docs/ci', waiting.secretPath, sealed.link])
          await look(path);
        const { secretPath } = await makeWaiting(site.app, { verify: mailbox, caller: signedIn.caller });
        await look(secretPath);
        await goOn(page, () => pressOpen(page));
        expect(await keyboardFlaws(page)).toEqual([]);
        await carry(page, site.baseUrl, cookie);
        const { askLink, answersLink } = await askOn(page, site, 'The password of the NAS');
        await page.check('#remember');
        await look(answersLink.slice(site.baseUrl.length), '#request:not([hidden])');
        await look(askLink.slice(site.baseUrl.length), '#secret');
        await look('/ask', '#mine:not([hidden])');
        for (const path of ['/', `/receipt/${waiting.metadataKey}`, '/recent', '/account', '/account/tokens'])
          await look(path);
      },
    );

    itInBrowser(
      `a secret is shared, copied and opened with Enter and Space, at ${zoom}`,
      { scripts: true, ...size, app: { endToEnd: 'default' } },
      async ({ site, page }) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
        await page.goto(site.baseUrl);
        await page.waitForFunction(() => document.activeElement?.id === 'secret');
        await page.keyboard.type('open sesame');
        await page.focus('#create');
        await page.keyboard.press('Space');
        await page.waitForURL('**/receipt/**');
        const copy = page.locator('button[data-copy="#link"]:visible');
        await copy.focus();
        await page.keyboard.press('Enter');
        await page.waitForSelector('#copied:not(:empty)', { state: 'attached' });
        const link = await clipboard();
        expect(link).toStartWith(`${site.baseUrl}/secret/`);
        await page.goto('about:blank');
        await page.goto(link);
        await page.waitForSelector('button#open:visible');
        const asked = await headingOf(page);
        await page.focus('button#open');
        await page.keyboard.press('Enter');
        await page.waitForSelector('#done');
        expect(await headingOf(page)).not.toBe(asked);
        expect(await page.inputValue('#value')).toBe('open sesame');
        const copyValue = page.locator('button[data-copy="#value"]:visible').first();
        await copyValue.focus();
        await page.keyboard.press('Space');
        await page.waitForSelector('#copied:not(:empty)', { state: 'attached' });
        expect(await clipboard()).toBe('open sesame');
        expect([await overflowPx(page), await focusOf(page)]).toEqual([
          0,
          await copyValue.getAttribute('id'),
        ]);
      },
    );
  }

  itInBrowser(
    'self-test: a control out of reach, one out of order, a focus without a mark and one out of sight are found',
    { scripts: true },
    async ({ page }) => {
      const style = `:focus { outline: 3px solid } #unmarked:focus { outline: none }
        #over { position: fixed; inset: 0 0 auto; block-size: 3rem; background: white } body { padding-block-start: 4rem }`;
      const body = `<style>${style}</style><button tabindex="2" id="early">a</button><button tabindex="1" id="first">b</button>
        <button id="unmarked">c</button><div inert><button id="inert">d</button></div>
        <div id="over"></div><button id="covered" style="position: absolute; inset-block-start: 1rem; z-index: -1">e</button>`;
      await page.setContent(body);
      const flaws = (await keyboardFlaws(page)).map((flaw) => flaw.replace(/: <.*id="([a-z]+)".*/, ': $1'));
      expect(flaws).toEqual([
        'not reached: inert',
        'has no visible mark: unmarked',
        'is out of sight: covered',
        'out of order: first',
      ]);
    },
  );
});
