/**
 * What people see first of the page that follows: nothing of the page before may decide it, however far that one was scrolled. At
 * three sizes of phone: a small one with its browser's bars, a usual one, and the narrowest that WCAG asks for (1.4.10).
 */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { Sensitive } from '../../src/core/sensitive.ts';
import { count } from '../support/counts.ts';
import { logIn, mailedTicket, password, signUp } from './account-visitor.ts';
import { answerOn, askOn, logIn as logInAs } from './asked.ts';
import { carry, fillOption, goOn, openOption } from './creator.ts';
import {
  burnElsewhere,
  type HandOver,
  leaveFromBelow,
  outOfView,
  readings,
  scrollDown,
} from './first-view.ts';
import { type Scene, withBrowser } from './in-browser.ts';
import { makeWaiting } from './waiting.ts';

const { itInBrowser } = withBrowser();

const phones = [
  { width: 375, height: 553 },
  { width: 390, height: 844 },
  { width: 320, height: 640 },
] as const;

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

const several: HandOver = {
  name: 'a secret is shared with several people',
  async go(scene) {
    await openForm(scene, true);
    await openOption(scene.page, 'people');
    await scene.page.fill('#people', 'Ana\nBen\nCem');
    await leaveFromBelow(scene.page, '#create');
    await scene.page.waitForSelector('#all:visible');
  },
  shows: ['h1', '[data-copy="#all"]'],
  focus: 'h1',
};

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

const drawings: readonly HandOver[] = [
  {
    name: 'a login’s lines are put into the field',
    async go({ page, site }) {
      await page.goto(`${site.baseUrl}/`);
      await leaveFromBelow(page, '#draw-template');
    },
    shows: ['#secret', '#secret-news'],
    isAnchored: true,
    focus: '#secret',
  },
  {
    name: 'a code is drawn',
    async go({ page, site }) {
      await page.goto(`${site.baseUrl}/`);
      await page.click('#option-passphrase > summary');
      await leaveFromBelow(page, '#draw-code');
    },
    shows: ['#passphrase', '#passphrase-news'],
    isAnchored: true,
  },
];

const requests: readonly HandOver[] = [
  {
    name: 'a request is made',
    async go({ page, site }) {
      await logInAs(page, site, 'asker@example.org');
      await page.goto(`${site.baseUrl}/ask`);
      await page.fill('#prompt', 'The password of the NAS');
      await leaveFromBelow(page, '#create');
      await page.waitForSelector('#request:not([hidden])');
    },
    shows: ['h1', '#link', '#handing [data-copy]'],
    focus: '#state',
  },
  {
    name: 'an answer is sent',
    async go({ page, site }) {
      await logInAs(page, site, 'other@example.org');
      await answerOn(page, (await askOn(page, site, 'The password of the NAS')).askLink, 'the value');
    },
    shows: ['h1', '#still', '#take-back'],
    focus: 'h1',
  },
];

const everything = [...creations, ...drawings, several, ...readings, ...requests, ...accounts, ...receipts];

/** Each way at the smallest size, where most is out of view; at the others those of people who have only a link. */
const atOthers = {
  usual: [...creations, ...drawings, several, ...readings, ...requests],
  long: everything,
} as const;

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
