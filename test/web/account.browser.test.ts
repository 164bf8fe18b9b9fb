/** The account pages in a real browser, with scripts and without: what a person does. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { address, mailedTicket, newPassword, password } from './account-visitor.ts';
import { openVisitor, type Site, storageEntries, type Visitor } from './browser.ts';
import { withBrowser } from './in-browser.ts';
import { saying, words } from './words.ts';

const { browser, itInBrowser } = withBrowser();

const heading = (page: Page) => page.textContent('h1');
const pathOf = (page: Page) => new URL(page.url()).pathname;
const submit = (page: Page) => page.click('main form button[type=submit]');

/** The traces that a visit must never leave. */
async function traces({ page, violations, elsewhere }: Visitor): Promise<unknown> {
  return { violations, elsewhere, storage: await storageEntries(page) };
}
const none = { violations: [], elsewhere: [], storage: [] };

async function signUp(page: Page, { app, baseUrl }: Site): Promise<void> {
  await page.goto(`${baseUrl}/`);
  await page.click(`text=${words('frame.signUp')}`);
  await page.fill('#email', address);
  await submit(page);
  expect(await heading(page)).toBe(words('sent.title'));
  await app.accounts.settled();
  await page.goto(`${baseUrl}/sign-up/${mailedTicket(app, 'sign_up')}`);
  await page.fill('#password', password);
  await submit(page);
  expect(await page.textContent('[role=status]')).toBe(words('account.welcome'));
}

async function logIn(page: Page, { baseUrl }: Site, secret: string): Promise<void> {
  await page.goto(`${baseUrl}/log-in`);
  await page.fill('#email', address);
  await page.fill('#password', secret);
  await submit(page);
}

async function makeToken(page: Page, { baseUrl }: Site): Promise<string> {
  await page.goto(`${baseUrl}/account`);
  await page.click(`main >> text=${words('account.tokensLink')}`);
  await page.fill('#name', 'Backup');
  await page.fill('#password', password);
  await submit(page);
  return page.inputValue('#token');
}

async function reset(page: Page, { app, baseUrl }: Site, token: string): Promise<void> {
  app.clock.advance(120);
  await page.goto(`${baseUrl}/log-in`);
  await page.click(`text=${words('logIn.forgotten')}`);
  await page.fill('#email', address);
  await submit(page);
  await app.accounts.settled();
  await page.goto(`${baseUrl}/reset/${mailedTicket(app, 'reset')}`);
  await page.fill('#password', newPassword);
  await page.fill('#token', token);
  await submit(page);
}

/** Calls the API with a token, as a program does. */
function callApi(baseUrl: string, token: string, path: string, body?: object): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${address}:${token}`).toString('base64')}`;
  if (body === undefined) return fetch(`${baseUrl}${path}`, { headers: { authorization } });
  const headers = { authorization, 'content-type': 'application/json' };
  return fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const concealed = { secret: { secret: 'canary', ttl: 3_600 } };

for (const scripts of [false, true]) {
  describe(`a person ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'signs up by mail, makes a token that a program uses, and finds in the list what it shared',
      { scripts },
      async ({ site, visitor, page }) => {
        await signUp(page, site);
        const token = await makeToken(page, site);
        await page.locator('[data-copy]').waitFor({ state: scripts ? 'visible' : 'hidden' });
        const shared = await callApi(site.baseUrl, token, '/api/v2/secret/conceal', concealed);
        expect(shared.status).toBe(200);
        expect((await callApi(site.baseUrl, token, '/api/v2/private/recent')).status).toBe(200);
        await page.click(`text=${words('frame.recent')}`);
        await page.click('#receipt-0');
        expect(pathOf(page)).toStartWith('/receipt/');
        expect(await page.content()).not.toContain('canary');
        await page.goto(`${site.baseUrl}/account/tokens`);
        await page.click(`main >> text=${words('tokens.revoke')}`);
        await page.click(`text=${words('tokens.revokeSubmit')}`);
        expect(await page.textContent('[role=status]')).toContain(words('tokens.revoked'));
        expect((await callApi(site.baseUrl, token, '/api/v2/private/recent')).status).toBe(401);
        expect(await traces(visitor)).toEqual(none);
      },
    );

    itInBrowser(
      'changes the password, which logs the other browser out and keeps this one',
      { scripts },
      async ({ site, visitor, page }) => {
        await using other = await openVisitor(browser(), site, { scripts });
        await signUp(page, site);
        await logIn(other.page, site, password);
        expect(pathOf(other.page)).toBe('/');
        await page.click(`main nav >> text=${words('account.passwordLink')}`);
        await page.fill('#current', password);
        await page.fill('#next', newPassword);
        await submit(page);
        expect(await page.textContent('[role=status]')).toMatch(saying('account.passwordChanged'));
        await other.page.goto(`${site.baseUrl}/account`);
        expect(pathOf(other.page)).toBe('/log-in');
        await logIn(other.page, site, password);
        expect(await other.page.textContent('[role=alert]')).toMatch(saying('logIn.wrong'));
        expect(await other.page.inputValue('#email')).toBe(address);
        await logIn(other.page, site, newPassword);
        expect(pathOf(other.page)).toBe('/');
        expect([await traces(visitor), await traces(other)]).toEqual([none, none]);
      },
    );

    itInBrowser(
      'replaces a forgotten password: with a token the list stays, without it is lost as the page said',
      { scripts },
      async ({ site, visitor, page }) => {
        await signUp(page, site);
        const token = await makeToken(page, site);
        await callApi(site.baseUrl, token, '/api/v2/secret/conceal', concealed);
        await page.click(`text=${words('frame.logOut')}`);
        expect(await page.textContent('[role=status]')).toContain(words('logIn.loggedOut'));
        await reset(page, site, token);
        expect(await page.textContent('[role=status]')).toMatch(saying('account.resetKept'));
        await page.goto(`${site.baseUrl}/recent`);
        expect(await page.locator('#receipt-0').count()).toBe(1);
        await page.click(`text=${words('frame.logOut')}`);
        await reset(page, site, '');
        expect(await page.textContent('[role=status]')).toMatch(saying('account.resetLost'));
        await page.goto(`${site.baseUrl}/recent`);
        expect(await page.locator('#receipt-0').count()).toBe(0);
        expect(await traces(visitor)).toEqual(none);
      },
    );

    itInBrowser(
      'ends the session of another browser, and deletes the account with what waits',
      { scripts },
      async ({ site, visitor, page }) => {
        await using other = await openVisitor(browser(), site, { scripts });
        await signUp(page, site);
        await logIn(other.page, site, password);
        await page.click(`main >> text=${words('account.sessionsLink')}`);
        await page.click('main [id^="end-"]');
        expect(await page.textContent('[role=status]')).toContain(words('sessions.ended'));
        await other.page.goto(`${site.baseUrl}/recent`);
        expect(pathOf(other.page)).toBe('/log-in');
        const token = await makeToken(page, site);
        await callApi(site.baseUrl, token, '/api/v2/secret/conceal', concealed);
        await page.goto(`${site.baseUrl}/account/delete`);
        await page.fill('#password', password);
        await page.check('#confirm');
        await page.click('main button.alarm');
        expect(await heading(page)).toBe(words('account.deletedTitle'));
        expect(await page.textContent('.lead')).toBe(words('account.deletedBurned', { count: 1 }));
        expect((await page.context().cookies()).map(({ name }) => name)).toEqual(['mayfly-form']);
        await logIn(page, site, password);
        expect(await page.textContent('[role=alert]')).toMatch(saying('logIn.wrong'));
        expect([await traces(visitor), await traces(other)]).toEqual([none, none]);
      },
    );
  });
}

/** The id, or else the text, of the focused element. */
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim() || '');

describe('the keyboard alone', () => {
  itInBrowser(
    'logs in: address, password and button follow each other, each with a visible mark',
    {},
    async ({ site, page }) => {
      await signUp(page, site);
      await page.click(`text=${words('frame.logOut')}`);
      await page.goto(`${site.baseUrl}/log-in`);
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe(words('frame.skip'));
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('email');
      await page.keyboard.type(address);
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('password');
      await page.keyboard.type('not the password');
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe(words('logIn.title'));
      const outline = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement ?? document.body);
        return `${outlineStyle} ${outlineWidth}`;
      });
      expect(outline).toBe('solid 3px');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role=alert]');
      expect(await page.inputValue('#email')).toBe(address);
      expect(await page.inputValue('#password')).toBe('');
      await page.focus('#password');
      await page.keyboard.type(password);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${site.baseUrl}/`);
      expect(await page.locator(`text=${words('frame.logOut')}`).count()).toBe(1);
    },
  );
});

for (const scripts of [false, true]) {
  describe(`the form of a token, ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser('asks for a date only where one is chosen', { scripts }, async ({ site, page }) => {
      await signUp(page, site);
      await page.goto(`${site.baseUrl}/account/tokens`);
      const isAsked = () => page.isVisible('#date');
      expect(await isAsked()).toBe(false);
      await page.check('#expiry-date');
      expect(await isAsked()).toBe(true);
      await page.fill('#date', '2030-12-31');
      await page.check('#expiry-90');
      expect([await isAsked(), await page.inputValue('#date')]).toEqual([false, '2030-12-31']);
    });
  });
}

describe('with scripts', () => {
  itInBrowser(
    'a password can be shown, and is hidden again when it is sent',
    { scripts: true },
    async ({ site, page }) => {
      await signUp(page, site);
      await page.goto(`${site.baseUrl}/account/password`);
      const toggle = page.locator('[data-shows="#current"]');
      const typeOf = () => page.getAttribute('#current', 'type');
      await page.fill('#current', 'not the password');
      expect([await typeOf(), await toggle.getAttribute('aria-label')]).toEqual([
        'password',
        words('password.show'),
      ]);
      await toggle.click();
      expect([await typeOf(), await toggle.getAttribute('aria-label')]).toEqual([
        'text',
        words('password.hide'),
      ]);
      await page.evaluate(() => {
        const form = document.querySelector<HTMLFormElement>('main form');
        form?.addEventListener('submit', (event) => event.preventDefault());
        form?.dispatchEvent(new SubmitEvent('submit', { cancelable: true }));
      });
      expect(await typeOf()).toBe('password');
    },
  );

  itInBrowser(
    'the actions of a row close with Escape, and with a press elsewhere',
    { scripts: true },
    async ({ site, page }) => {
      await signUp(page, site);
      const token = await makeToken(page, site);
      await callApi(site.baseUrl, token, '/api/v2/secret/conceal', concealed);
      await page.goto(`${site.baseUrl}/recent`);
      const isOpen = () => page.isVisible('.more-list');
      await page.click('#actions-0');
      expect(await isOpen()).toBe(true);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Escape');
      expect([await isOpen(), await focused(page)]).toEqual([false, 'actions-0']);
      await page.click('#actions-0');
      await page.click('h1');
      expect(await isOpen()).toBe(false);
    },
  );
});
