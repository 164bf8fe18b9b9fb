/**
 * What people see first of the page that follows: nothing of the page before may decide it, however far that one was scrolled. At
 * three sizes of phone: a small one with its browser's bars, a usual one, and the narrowest that WCAG asks for (1.4.10).
 */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { Sensitive } from '../../src/core/sensitive.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { count } from '../support/counts.ts';
import { logIn, mailedTicket, password, signUp } from './account-visitor.ts';
import { openButton, type Site } from './browser.ts';
import { carry, fillOption, goOn } from './creator.ts';
import { type Scene, withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { makeWaiting } from './waiting.ts';

const { itInBrowser } = withBrowser();

const phones = [
  { width: 375, height: 553 },
  { width: 390, height: 844 },
  { width: 320, height: 640 },
] as const;

/** As far down as the page goes. */
async function scrollDown(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }));
}

/** From the bottom of the page, and by the keyboard, which does not scroll as a click of a test does. */
async function pressFromBelow(page: Page, selector: string): Promise<void> {
  await page.locator(selector).waitFor();
  await scrollDown(page);
  await page.locator(selector).evaluate((button: HTMLElement) => button.focus({ preventScroll: true }));
  await page.keyboard.press('Enter');
}

/** As `pressFromBelow`, until the next page has loaded. */
const leaveFromBelow = (page: Page, selector: string) => goOn(page, () => pressFromBelow(page, selector));

/** Of the elements, those of which nothing or only a part is in the window. */
function outOfView(page: Page, selectors: readonly string[]): Promise<string[]> {
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
interface HandOver {
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

async function openForm({ page, site }: Scene, isSealed: boolean): Promise<void> {
  await page.goto(`${site.baseUrl}/`);
  await page.fill('#secret', 'the value\nof two lines');
  if (isSealed) return;
  await page.click('#sealing > summary');
  await page.uncheck('#seal');
  await page.click('#sealing > summary');
}

const optionTexts = { passphrase: 'right', memo: 'For Ana' } as const;

async function fillOptions(page: Page, names: readonly (keyof typeof optionTexts)[]): Promise<void> {
  for (const name of names) {
    await fillOption(page, name, optionTexts[name]);
  }
}

const creations = [true, false].flatMap((isSealed) =>
  [[], ['passphrase'], ['passphrase', 'memo']].map(
    (options): HandOver => ({
      name: `a ${isSealed ? 'sealed' : 'plain'} secret is created with ${options.join(' and ') || 'no option'}`,
      async go(scene) {
        await openForm(scene, isSealed);
        await fillOptions(scene.page, options as (keyof typeof optionTexts)[]);
        await leaveFromBelow(scene.page, '#create');
        await scene.page.waitForSelector('#link:visible');
      },
      shows: ['h1', '.link-row'],
      focus: 'h1',
    }),
  ),
);

async function openSealed({ page, site }: Scene): Promise<void> {
  const { link } = await makeSealed(site.app, 'the value', 'right');
  await page.goto('about:blank');
  await page.goto(site.baseUrl + link);
  await page.fill('#passphrase', 'right');
}

async function openPlain({ page, site }: Scene): Promise<void> {
  const { secretPath } = await makeWaiting(site.app, { value: 'the value', passphrase: 'right' });
  await page.goto(site.baseUrl + secretPath);
  await page.fill('#passphrase', 'right');
}

async function burnElsewhere({ app }: Site, metadataKey: string): Promise<void> {
  const input = { proof: null, metadataKey, authority: 'holder', isAbandoned: clientStays } as const;
  await app.service.burn(input, { kind: 'anonymous' });
}

const readings: readonly HandOver[] = [
  {
    name: 'a sealed secret is opened',
    async go(scene) {
      await openSealed(scene);
      await pressFromBelow(scene.page, '#open');
      await scene.page.waitForSelector('#done');
    },
    shows: ['h1', '#value'],
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
    shows: ['h1', '#value'],
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
];

async function openReceipt({ page, site }: Scene): Promise<string> {
  const { metadataKey } = await makeWaiting(site.app);
  await page.goto(`${site.baseUrl}/receipt/${metadataKey}`);
  await page
    .locator('details.receipt-fold')
    .first()
    .evaluate((fold: HTMLDetailsElement) => {
      fold.open = true;
    });
  return metadataKey;
}

/** Opens a panel of the receipt and presses its button. */
async function change(
  scene: Scene,
  ending: string,
  fill: () => Promise<void> = async () => {},
): Promise<void> {
  await openReceipt(scene);
  const { page } = scene;
  await page.locator(`details.chip:has(form[action$="${ending}"]) > summary`).click();
  await fill();
  await leaveFromBelow(page, `form[action$="${ending}"] button[type="submit"]`);
}

const receipts: readonly HandOver[] = [
  {
    name: 'the receipt shows its link again',
    async go(scene) {
      await openReceipt(scene);
      await leaveFromBelow(scene.page, '.show-link button');
    },
    shows: ['h1', '.link-row'],
  },
  {
    name: 'the receipt takes a label',
    go: (scene) => change(scene, '/memo', () => scene.page.fill('#memo', 'For Ana')),
    shows: ['#label p'],
    isAnchored: true,
  },
  {
    name: 'the receipt refuses a label',
    go: (scene) => change(scene, '/memo', () => scene.page.fill('#memo', 'x'.repeat(501))),
    shows: ['#memo', '#memo-wrong'],
    isAnchored: true,
    focus: '#memo',
  },
  {
    name: 'the receipt takes another lifetime',
    go: (scene) => change(scene, '/lifetime'),
    shows: ['#lifetime'],
    isAnchored: true,
  },
  { name: 'the receipt burns its secret', go: (scene) => change(scene, '/burn') },
  {
    name: 'the receipt notices that the secret is gone',
    async go(scene) {
      const { page, site } = scene;
      await page.clock.install();
      const metadataKey = await openReceipt(scene);
      await burnElsewhere(site, metadataKey);
      await scrollDown(page);
      await page.clock.runFor(5_000);
      await page.waitForSelector('#watch [role="status"]:not(:empty)');
      await goOn(page, () => page.clock.runFor(2_500));
    },
  },
];

const email = 'alice@example.com';

async function logInto({ page, site }: Scene) {
  const visitor = await logIn(site.app, password, email);
  await carry(page, site.baseUrl, visitor.cookie());
  return visitor;
}

async function openLogIn({ page, site }: Scene, typed: string): Promise<void> {
  await page.goto(`${site.baseUrl}/log-in`);
  await page.fill('#email', email);
  await page.fill('#password', typed);
}

const button = (ending: string) => `main form[action$="${ending}"] button[type="submit"]`;

const accounts: readonly HandOver[] = [
  {
    name: 'somebody logs in',
    async go(scene) {
      await openLogIn(scene, password);
      await leaveFromBelow(scene.page, button('/log-in'));
    },
  },
  {
    name: 'somebody cannot log in',
    async go(scene) {
      await openLogIn(scene, 'not the password');
      await leaveFromBelow(scene.page, button('/log-in'));
    },
    shows: ['h1', '[role="alert"]'],
  },
  {
    name: 'somebody asks to sign up, and then chooses a password',
    async go({ page, site }) {
      await page.goto(`${site.baseUrl}/sign-up`);
      await page.fill('#email', 'new@example.com');
      await leaveFromBelow(page, button('/sign-up'));
      expect(await outOfView(page, ['h1'])).toEqual([]);
      await site.app.accounts.settled();
      await page.goto(`${site.baseUrl}/sign-up/${mailedTicket(site.app, 'sign_up')}`);
      await page.fill('#password', password);
      await leaveFromBelow(page, 'main form button[type="submit"]');
    },
    shows: ['h1', '[role="status"]'],
  },
  {
    name: 'an account chooses its notices',
    async go(scene) {
      await logInto(scene);
      await scene.page.goto(`${scene.site.baseUrl}/account`);
      await leaveFromBelow(scene.page, button('/account/notices'));
    },
    shows: ['h1', '[role="status"]'],
  },
  {
    name: 'an account creates a token',
    async go(scene) {
      await logInto(scene);
      await scene.page.goto(`${scene.site.baseUrl}/account/tokens`);
      await scene.page.fill('#name', 'Backup');
      await scene.page.fill('#password', password);
      await leaveFromBelow(scene.page, button('/account/tokens'));
    },
    shows: ['#token'],
    isAnchored: true,
  },
  {
    name: 'an account ends another session',
    async go(scene) {
      await logInto(scene);
      const elsewhere = { email, password: new Sensitive(password), label: 'Safari', clientPrefix: '' };
      await scene.site.app.accounts.logIn(elsewhere);
      await scene.page.goto(`${scene.site.baseUrl}/account/sessions`);
      await leaveFromBelow(scene.page, 'main form button[type="submit"] >> nth=0');
    },
    shows: ['h1', '[role="status"]'],
  },
  {
    name: 'an account burns several secrets, after a question',
    async go(scene) {
      const visitor = await logInto(scene);
      for (let shared = 0; shared < 9; shared += 1) await visitor.post('/share', { secret: 'x' });
      const { page, site } = scene;
      await page.goto(`${site.baseUrl}/recent`);
      await page.check('#picking');
      await page.click('#select-all');
      await leaveFromBelow(page, '[value="burn"]');
      expect(await outOfView(page, ['h1', 'main button.alarm'])).toEqual([]);
      await leaveFromBelow(page, 'main button.alarm');
    },
    shows: ['h1', '[role="status"]'],
  },
  {
    name: 'a page is asked for in another language',
    async go({ page, site }) {
      await page.goto(`${site.baseUrl}/security`);
      await leaveFromBelow(page, 'a.language');
      await leaveFromBelow(page, '.languages button[value="de"]');
    },
  },
];

async function flawsAfter(
  scene: Scene,
  { name, go, shows = ['h1'], isAnchored, focus }: HandOver,
): Promise<string[]> {
  const { page } = scene;
  await page.context().clearCookies();
  await go(scene);
  // What the browser restores, it has restored when the page is painted.
  await page.evaluate(
    () => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))),
  );
  const hidden = await outOfView(page, shows);
  const scrolledPx = isAnchored === true ? 0 : await page.evaluate('scrollY');
  const hasFocus = focus === undefined || (await page.locator(`${focus}:focus`).count()) === 1;
  return [
    ...hidden.map((selector) => `${name}: ${selector} is out of view`),
    ...(scrolledPx === 0 ? [] : [`${name}: is scrolled by ${scrolledPx} px`]),
    ...(hasFocus ? [] : [`${name}: the focus is not on ${focus}`]),
  ];
}

const everything = [...creations, ...readings, ...accounts, ...receipts];

/** Each way at the smallest size, where most is out of view; at the others those that change the page in place. */
const atOthers = { usual: [...creations, ...readings.slice(0, 3)], long: everything } as const;

describe('the page that follows begins with what it is about, however far the one before was scrolled', () => {
  for (const [at, phone] of phones.entries()) {
    const handOvers = at === 0 ? everything : count(atOthers);
    itInBrowser(
      `at ${phone.width} × ${phone.height}, after each of ${handOvers.length} ways to go on`,
      { scripts: true, touch: true, ...phone },
      async (scene) => {
        scene.page.on('dialog', (dialog) => void dialog.accept());
        await signUp(scene.site.app, email);
        const flaws: string[] = [];
        for (const each of handOvers) flaws.push(...(await flawsAfter(scene, each)));
        expect(flaws).toEqual([]);
      },
    );
  }
});
