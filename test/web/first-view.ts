/** The ways from page to page of people who have only a link, and how to see what they see first. */
import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { clientStays } from '../stores/conformance/check.ts';
import { openButton, type Site } from './browser.ts';
import { goOn } from './creator.ts';
import type { Scene } from './in-browser.ts';
import { png } from './pictures.ts';
import { makeSealed } from './sealed-link.ts';
import { makeWaiting } from './waiting.ts';

/** As far down as the page goes. */
export async function scrollDown(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }));
}

/** From the bottom of the page, and by the keyboard, which does not scroll as a click of a test does. */
export async function pressFromBelow(page: Page, selector: string): Promise<void> {
  await page.locator(selector).waitFor();
  await scrollDown(page);
  await page.locator(selector).evaluate((button: HTMLElement) => button.focus({ preventScroll: true }));
  await page.keyboard.press('Enter');
}

/** As `pressFromBelow`, until the next page has loaded. */
export const leaveFromBelow = (page: Page, selector: string) =>
  goOn(page, () => pressFromBelow(page, selector));

/** Of the elements, those of which nothing or only a part is in the window. */
export function outOfView(page: Page, selectors: readonly string[]): Promise<string[]> {
  return page.evaluate(
    (wanted) =>
      wanted.filter((selector) => {
        const box = document.querySelector(selector)?.getBoundingClientRect();
        return (
          box === undefined ||
          box.height === 0 ||
          box.top < 0 ||
          Math.min(box.bottom, box.top + 100) > innerHeight
        );
      }),
    selectors,
  );
}

/** One way from a page to the next. */
export interface HandOver {
  readonly name: string;
  /** Ends on the next page. */
  readonly go: (scene: Scene) => Promise<void>;
  /** What has to be in view; the heading when absent. */
  readonly shows?: readonly string[];
  /** Whether the next page may begin below its top, at what it is about. */
  readonly isAnchored?: true;
  /** Where the focus is; anywhere when absent. */
  readonly focus?: string;
}

async function openSealed(
  { page, site }: Scene,
  content: Parameters<typeof makeSealed>[1] = 'the value',
): Promise<void> {
  const { link } = await makeSealed(site.app, content, 'right');
  await page.goto('about:blank');
  await page.goto(site.baseUrl + link);
  await page.fill('#passphrase', 'right');
}

async function openPlain({ page, site }: Scene, value = 'the value'): Promise<void> {
  const { secretPath } = await makeWaiting(site.app, { value, passphrase: 'right' });
  await page.goto(site.baseUrl + secretPath);
  await page.fill('#passphrase', 'right');
}

const copyAll = '[data-copy="#value"]';
const longText = 'A line of a text that is long.\n'.repeat(200);
const environment = 'HOST=db.example.com\nKEY="a b=1"\nTOKEN=abc';

export async function burnElsewhere({ app }: Site, metadataKey: string): Promise<void> {
  const input = { proof: null, metadataKey, authority: 'holder', isAbandoned: clientStays } as const;
  await app.service.burn(input, { kind: 'anonymous' });
}

export const readings: readonly HandOver[] = [
  {
    name: 'a sealed secret is opened',
    async go(scene) {
      await openSealed(scene);
      await pressFromBelow(scene.page, '#open');
      await scene.page.waitForSelector('#done');
    },
    shows: ['h1', '#value', copyAll],
    focus: 'h1',
  },
  {
    name: 'a sealed secret refuses a wrong passphrase',
    async go(scene) {
      await openSealed(scene);
      await scene.page.fill('#passphrase', 'wrong');
      await pressFromBelow(scene.page, '#open');
      await scene.page.waitForSelector('#passphrase-wrong:not(:empty)');
    },
    shows: ['#passphrase', '#passphrase-wrong'],
    isAnchored: true,
    focus: '#passphrase',
  },
  {
    name: 'a sealed file is opened',
    async go(scene) {
      await openSealed(scene, { kind: 'file', name: 'picture.png', type: 'image/png', bytes: png });
      await pressFromBelow(scene.page, '#open');
      await scene.page.waitForSelector('#done');
    },
    shows: ['h1', '#file-name', '#download'],
    focus: 'h1',
  },
  {
    name: 'a sealed list of values is opened, and then asked for again',
    async go(scene) {
      const { page } = scene;
      await openSealed(scene, environment);
      await pressFromBelow(page, '#open');
      await page.waitForSelector('#done');
      expect(await outOfView(page, ['h1', '.pairs li', copyAll])).toEqual([]);
      await page.reload();
      await page.locator('#open').waitFor();
    },
    shows: ['h1', '#passphrase', '#open'],
  },
  {
    name: 'a sealed secret turns out to be gone',
    async go({ page, site }) {
      const { link, metadataKey } = await makeSealed(site.app, 'the value');
      await page.goto(site.baseUrl + link);
      await page.locator('#open').waitFor();
      await burnElsewhere(site, metadataKey);
      await page.locator('#consequences summary').click();
      await leaveFromBelow(page, '#open');
    },
    shows: ['.day', 'h1', '.tell > summary'],
  },
  {
    name: 'a sealed secret is burned unread',
    async go(scene) {
      await openSealed(scene);
      await leaveFromBelow(scene.page, '#burn-unread');
      await scene.page.fill('#passphrase', 'right');
      await pressFromBelow(scene.page, '#open');
      await scene.page.waitForSelector('#recipient-burned');
    },
    focus: 'h1',
  },
  {
    name: 'the end of a link is added that was cut off',
    async go({ page, site }) {
      const { path, fragment } = await makeSealed(site.app, 'the value');
      await page.goto('about:blank');
      await page.goto(`${site.baseUrl}${path}#${fragment.slice(0, 9)}`);
      await scrollDown(page);
      await goOn(page, () =>
        page.evaluate((whole) => {
          location.hash = whole;
        }, fragment),
      );
      await page.locator('#open').waitFor();
    },
  },
  {
    name: 'a sealed secret is done with',
    async go(scene) {
      await openSealed(scene);
      await scene.page.click('#open');
      await leaveFromBelow(scene.page, '#done');
    },
  },
  {
    name: 'a plain secret is opened',
    async go(scene) {
      await openPlain(scene);
      await leaveFromBelow(scene.page, openButton);
    },
    shows: ['h1', '#value', copyAll],
    focus: '#value',
  },
  {
    name: 'a plain secret of many lines is opened',
    async go(scene) {
      await openPlain(scene, longText);
      await leaveFromBelow(scene.page, openButton);
    },
    shows: ['h1', '#value', copyAll],
    focus: '#value',
  },
  {
    name: 'a plain secret refuses a wrong passphrase',
    async go(scene) {
      await openPlain(scene);
      await scene.page.fill('#passphrase', 'wrong');
      await leaveFromBelow(scene.page, openButton);
    },
    shows: ['#passphrase', '#passphrase-wrong'],
    isAnchored: true,
    focus: '#passphrase',
  },
  {
    name: 'a plain secret is burned unread',
    async go(scene) {
      await openPlain(scene);
      await leaveFromBelow(scene.page, '#burn-unread');
      await scene.page.fill('#passphrase', 'right');
      await leaveFromBelow(scene.page, 'main form button[type="submit"]');
    },
  },
  {
    name: 'a plain secret is done with',
    async go(scene) {
      await openPlain(scene);
      await goOn(scene.page, () => scene.page.click(openButton));
      await leaveFromBelow(scene.page, '#done');
    },
  },
  {
    name: 'a link leads to nothing',
    go: async ({ page, site }) => void (await page.goto(`${site.baseUrl}/secret/${'0'.repeat(31)}`)),
    shows: ['.day', 'h1', '.tell > summary'],
  },
];
