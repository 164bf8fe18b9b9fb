/** What someone who shares does in a browser, and what must not be noticeable of it anywhere else. */
import type { RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';
import { accessibilityFlaws, overflowPx, type Scheme, type Visitor } from './browser.ts';

/** Types a value and creates the secret; ends on the receipt. */
export async function shareIn(
  page: Page,
  baseUrl: string,
  fields: { readonly secret?: string; readonly passphrase?: string } = {},
): Promise<{ link: string; receipt: string }> {
  await page.goto(`${baseUrl}/`);
  await page.fill('#secret', fields.secret ?? 'the value');
  if (fields.passphrase !== undefined) {
    await openOption(page, 'passphrase');
    await page.fill('#passphrase', fields.passphrase);
  }
  await page.click('#create');
  return { link: await page.inputValue('#link'), receipt: page.url() };
}

/** The options of the share form, by the fields they hold. */
export type OptionName = 'ttl' | 'passphrase' | 'recipient' | 'notify' | 'share-domain' | 'memo' | 'people';

/** Opens an option of the share form, unless it is open; the one that was open closes. */
export async function openOption(page: Page, name: OptionName): Promise<void> {
  const closed = page.locator(`#option-${name}:not([open]) > summary`);
  if ((await closed.count()) > 0) await closed.click();
}

/** Types into the field of an option. */
export async function fillOption(
  page: Page,
  name: 'passphrase' | 'recipient' | 'memo',
  text: string,
): Promise<void> {
  await openOption(page, name);
  await page.fill(`#${name}`, text);
}

/** Chooses a lifetime. */
export async function chooseLifetime(page: Page, choice: string): Promise<void> {
  await openOption(page, 'ttl');
  await page.selectOption('#ttl', choice);
}

/**
 * Presses a button of the share form, by selector or by key, and waits for the answer: another page, or this one
 * reloaded.
 */
export async function sendShare(page: Page, press = '#create'): Promise<void> {
  const isSelector = /^[#.[]/.test(press);
  await goOn(page, () => (isSelector ? page.click(press) : page.keyboard.press(press)));
}

/** Does what leads to another page, or to this one anew, and waits until that has loaded. */
export async function goOn(page: Page, act: () => Promise<void>): Promise<void> {
  await page.locator('body').evaluate((body) => body.setAttribute('data-before', ''));
  await act();
  await page.waitForSelector('body:not([data-before])');
  await page.waitForLoadState('load');
}

export const headingOf = (page: Page) => page.textContent('h1');

/** The id of the focused element. */
export const focusOf = (page: Page) => page.locator(':focus').getAttribute('id');

/** Presses Tab until the element with this id has the focus. */
export async function tabTo(page: Page, id: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await page.locator(`#${id}:focus`).count()) === 1) return;
  }
  throw new Error(`Tab does not lead to #${id}`);
}

const harmless = [
  'Failed to load resource: the server responded',
  // A test has cut off the network.
  'Failed to load resource: net::ERR_INTERNET_DISCONNECTED',
  // A test that types before the page has reached its autofocus is faster than any person.
  'Autofocus processing was blocked because a document already has a focused element',
];

/** Policy violations, script errors, and requests that left the site. A refused status is none of these. */
export function noticedBy(visitor: Visitor): string[] {
  const complaints = visitor.complaints.filter(
    (text) => !harmless.some((beginning) => text.startsWith(beginning)),
  );
  return [...complaints, ...visitor.elsewhere];
}

/** The options of the last secret shared: each with what the page offered and what was chosen, from a list, as a tick or in digits. */
export const onlyOptions =
  /^\{(?:"[a-z-]+(?: [a-z]+)?":\["[^"]*","(?:\d{0,9}|longest|other|(?:minute|hour|day)s|[a-z]{2}(?:-[A-Z]{2})?)"\],?)*\}$/;

/** Entries in every place where a page can store something, except those options. The browser must run scripts. */
export function keptBy(page: Page): Promise<unknown> {
  return page.evaluate(async (options) => {
    const isOptions = ([name, text]: [string, string]) =>
      name === 'mayfly-options' && new RegExp(options).test(text);
    return [
      Object.entries<string>(localStorage).filter((entry) => !isOptions(entry)).length,
      sessionStorage.length,
      (await caches.keys()).length,
      (await indexedDB.databases()).length,
      document.cookie,
    ];
  }, onlyOptions.source);
}

export const nothingKept = [0, 0, 0, 0, ''];

/** The flaws of the page as it is now: accessibility, and whether it is too wide. */
export async function flawsOf(page: Page, name: string, rules?: RunOnly): Promise<string[]> {
  // A click is over when the next page begins; its look is known once its style sheet has loaded.
  await page.waitForLoadState('load');
  const found = await accessibilityFlaws(page, rules);
  const overflow = await overflowPx(page);
  return [
    ...found.map((flaw) => `${name}: ${flaw}`),
    ...(overflow > 0 ? [`${name}: ${overflow} px too wide`] : []),
  ];
}

/** A scheme and a width in which a page is looked at. */
export interface Light {
  readonly scheme: Scheme;
  readonly width: number;
}

/** All that the style sheet tells apart, in two looks. */
export const bothLights: readonly Light[] = [
  { scheme: 'dark', width: 320 },
  { scheme: 'light', width: 1_600 },
];

/** Shows the page as it is now in each light; ends in the first, in which its visitor goes on. */
export async function inLights(
  page: Page,
  lights: readonly Light[],
  look: (light: string) => Promise<string[]>,
): Promise<string[]> {
  const found: string[] = [];
  for (const { scheme, width } of [...lights.slice(1), ...lights.slice(0, 1)]) {
    if (lights.length > 1) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 800 });
    }
    found.push(...(await look(`${scheme}, ${width} px`)));
  }
  return found;
}

/** As `flawsOf`, in both lights. */
export function flawsInBothLights(page: Page, name: string): Promise<string[]> {
  return inLights(page, bothLights, (light) => flawsOf(page, `${name} (${light})`));
}

/** Logs the browser in with the value of a `Cookie` header. */
export async function carry(page: Page, baseUrl: string, cookies: string): Promise<void> {
  const each = cookies.split('; ').map((cookie) => {
    const [name = '', value = ''] = cookie.split('=');
    return { name, value, url: baseUrl, httpOnly: true, sameSite: 'Lax' } as const;
  });
  await page.context().addCookies(each);
}
