/**
 * A walk through every page in every state, in a real browser. It navigates by ids and addresses, never by texts, so it works in
 * every language.
 */
import type { Page } from 'playwright-core';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { tokenScopes } from '../../src/core/account.ts';
import { inviteAccount } from '../../src/core/accounts/account-links.ts';
import { ServiceError } from '../../src/core/errors.ts';
import type { RegionLabel, Regions } from '../../src/core/keys.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { giveDomain } from '../support/own-domain.ts';
import { mailedTicket, newPassword, password } from './account-visitor.ts';
import { openSite, type Site } from './browser.ts';
import { goOn, sendShare } from './creator.ts';
import { allowDomains } from './domain-owner.ts';
import { png } from './pictures.ts';
import { walkList } from './tour-recent.ts';
import { makeLocked, makeWaiting } from './waiting.ts';

/** Called at every state; the names are unique within a walk. `again` loads the state anew, if its page does so by itself. */
export type Look = (name: string, again?: () => Promise<void>) => Promise<void>;

const email = 'robin@example.org';
const regions: Regions = {
  own: 'eu' as RegionLabel,
  all: [
    { label: 'us' as RegionLabel, baseUrl: 'https://us.mayfly.example' },
    { label: 'eu' as RegionLabel, baseUrl: 'https://eu.mayfly.example' },
  ],
};
const someLabel = 'Side door, for the weekend of the 9th';
export const someLine = 'BlueHero/n!2026 Il1O0-o8B$g9q|S5';
export const someNote = `For Ana: ${'the Wi-Fi '.repeat(7)}${'W'.repeat(61)}`;
export const someValue = 'The door code is 4711.\nCome after six.';

/** Presses the button of the form whose address ends like this. */
async function send(page: Page, ending: string): Promise<void> {
  await press(page, `main form[action$="${ending}"] button[type="submit"]:not([formaction])`);
}

/** Presses something that leads to another page, and waits until that page has loaded. */
export async function press(page: Page, selector: string): Promise<void> {
  await goOn(page, () => page.click(selector));
}

/** Opens what is folded around an element, from the outside. */
export async function unfold(page: Page, selector: string): Promise<void> {
  const folded = page.locator(`details:not([open]):has(${selector}) > summary`);
  while ((await folded.count()) > 0) await folded.first().click();
}

/** Fills a field, wherever the page has folded it away. */
async function fill(page: Page, selector: string, text: string): Promise<void> {
  await unfold(page, selector);
  await page.fill(selector, text);
}

/** Opens a link's secret, or tries to: without scripts its box is ticked first. */
async function openSecret(page: Page, path: string): Promise<void> {
  const box = page.locator('#open:visible');
  if ((await box.count()) > 0) await box.check();
  await send(page, path);
}

/** Sends the form although the browser itself would object, so that the page must. */
async function sendAsIs(page: Page, ending: string): Promise<void> {
  await page
    .locator(`main form[action$="${ending}"]`)
    .evaluate((form) => form.setAttribute('novalidate', ''));
  await send(page, ending);
}

export async function open(page: Page, site: Site, path: string): Promise<void> {
  await page.goto(site.baseUrl + path);
}

async function walkSharing(page: Page, site: Site, look: Look): Promise<void> {
  await open(page, site, '/');
  await look('share');
  await unfold(page, '#generate');
  await sendShare(page, '#generate');
  await look('generated');
  await page.fill('#secret', someValue);
  await sendShare(page, '#generate');
  await look('generated-over');
  await sendShare(page, '#take-back');
  await look('taken-back');
  await unfold(page, '#draw-code');
  await sendShare(page, '#draw-code');
  await look('code-drawn');
  await sendShare(page, '#draw-template');
  await look('login-lines');
  await page.fill('#secret', 'x'.repeat(10_001));
  await page.click('#create');
  await page.waitForSelector('#secret[aria-invalid="true"]');
  await look('share-too-long');
  await page.fill('#secret', someValue);
  await fill(page, '#passphrase', 'p'.repeat(1_025));
  await sendShare(page);
  await look('share-refused');
  await fill(page, '#passphrase', 'right');
  await fill(page, '#memo', 'x'.repeat(501));
  await sendShare(page);
  await look('share-label-refused');
  await fill(page, '#memo', someLabel);
  await fill(page, '#note', someNote);
  await sendShare(page);
  await look('receipt-ready');
  const receipt = page.url();
  const link = await page.inputValue('#link');
  await page.goto(receipt);
  await look('receipt-waiting');
  await fill(page, '#memo', 'x'.repeat(501));
  await send(page, '/memo');
  await look('receipt-label-refused');
  await fill(page, '#memo', someLabel);
  await send(page, '/memo');
  await unfold(page, '#ttl');
  await look('receipt-lifetime');
  await page.selectOption('#ttl', 'other');
  await fill(page, '#ttl-amount', '9999');
  await send(page, '/lifetime');
  await look('receipt-lifetime-refused');
  await page.goto(`${receipt}/burn`);
  await look('burn');
  await page.goto(link);
  await look('secret');
  await fill(page, '#passphrase', 'wrong');
  await openSecret(page, new URL(link).pathname);
  await look('secret-wrong');
  await fill(page, '#passphrase', 'right');
  await openSecret(page, new URL(link).pathname);
  await look('revealed');
  const cover = page.locator('[data-cover]:visible');
  if ((await cover.count()) > 0) await cover.click();
  await look('revealed-covered');
  await page.goto(link);
  await look('gone');
  await unfold(page, '#ready-text');
  await look('gone-tell');
  await page.goto(receipt);
  await look('receipt-received');
  await open(page, site, '/');
  await look('share-again');
}

/** The other ways in which a secret can end, and a passphrase that was guessed too often. */
async function walkEnds(page: Page, site: Site, look: Look): Promise<void> {
  const locked = await makeLocked(site.app);
  await open(page, site, locked.secretPath);
  await fill(page, '#passphrase', 'right');
  await openSecret(page, locked.secretPath);
  await look('exhausted');
  await open(page, site, `/receipt/${locked.metadataKey}`);
  await look('receipt-locked');
  const unread = await makeWaiting(site.app, { passphrase: 'right' });
  await open(page, site, `${unread.secretPath}/burn`);
  await look('secret-burn');
  const long = await makeWaiting(site.app, { value: `${'W'.repeat(200)}\n${someValue}` });
  await open(page, site, long.secretPath);
  await openSecret(page, long.secretPath);
  await look('revealed-long');
  const short = await makeWaiting(site.app, { value: someLine });
  await open(page, site, short.secretPath);
  await openSecret(page, short.secretPath);
  await unfold(page, '.spelled');
  await look('revealed-spelled');
  await open(page, site, '/secret/cut');
  await look('damaged');
  const burned = await makeWaiting(site.app);
  await open(page, site, `/receipt/${burned.metadataKey}/burn`);
  await send(page, '/burn');
  await look('receipt-burned');
  const expired = await makeWaiting(site.app, { ttlSeconds: 60 });
  site.app.clock.advance(61);
  await open(page, site, `/receipt/${expired.metadataKey}`);
  await look('receipt-expired');
  await open(page, site, `/receipt/${'0'.repeat(31)}`);
  await look('receipt-unknown');
}

async function walkAround(page: Page, site: Site, look: Look): Promise<void> {
  for (const name of ['about', 'security', 'status']) {
    await open(page, site, `/${name}`);
    await look(name);
  }
  await open(page, site, '/api/docs#v2-conceal');
  await look('api');
  for (const name of ['docs', 'docs/command', 'docs/api', 'docs/client', 'docs/ci', 'docs/end-to-end']) {
    await open(page, site, `/${name}`);
    await look(name);
  }
  await open(page, site, '/about?lang');
  await look('languages');
  await open(page, site, '/nope');
  await look('not-found');
}

async function walkSigningUp(page: Page, site: Site, look: Look): Promise<void> {
  await open(page, site, '/sign-up');
  await look('sign-up');
  await page.fill('#email', 'no address');
  await sendAsIs(page, '/sign-up');
  await look('sign-up-refused');
  await page.fill('#email', email);
  await send(page, '/sign-up');
  await look('sign-up-sent');
  await site.app.accounts.settled();
  const path = `/sign-up/${mailedTicket(site.app, 'sign_up')}`;
  await open(page, site, path);
  await look('choose-password');
  await page.fill('#password', 'password1234');
  await send(page, path);
  await look('choose-password-refused');
  await page.fill('#password', password);
  await send(page, path);
  await look('account-welcome');
  await open(page, site, path);
  await look('sign-up-gone');
}

async function walkAccount(page: Page, site: Site, look: Look): Promise<void> {
  await open(page, site, '/recent');
  await look('recent-empty');
  await open(page, site, '/');
  await look('share-as-account');
  await page.fill('#secret', someValue);
  await fill(page, '#recipient', 'friend@example.net');
  await fill(page, '#memo', someLabel);
  await sendShare(page);
  await look('receipt-on-its-way');
  await site.app.service.settled();
  await page.reload();
  await look('receipt-mailed');
  await press(page, 'main form[action*="/receipt/"] button[type="submit"]:not([formaction])');
  await page.goto(await page.inputValue('#link'));
  await look('secret-of-account');
  await open(page, site, '/recent');
  await look('recent');
  await open(page, site, '/account');
  await look('account');
  await open(page, site, '/account/tokens');
  await look('tokens-empty');
  await page.fill('#name', 'backup of everything that the archive holds');
  await page.check('#expiry-date');
  await page.fill('#date', '2000-01-01');
  for (const scope of tokenScopes) await page.uncheck(`#scope-${scope}`);
  await sendAsIs(page, '/account/tokens');
  await look('token-refused');
  await page.check('#expiry');
  await sendAsIs(page, '/account/tokens');
  await look('token-without-scope');
  for (const scope of tokenScopes) await page.check(`#scope-${scope}`);
  await page.fill('#password', 'not the password');
  await send(page, '/account/tokens');
  await look('token-password-wrong');
  await page.fill('#password', password);
  await send(page, '/account/tokens');
  await look('token-ready');
  const caller = await site.app.service.authenticate(email, await page.inputValue('#token'));
  if (caller === null) throw new Error('the token does not authenticate');
  await walkList(page, site, caller, look);
  await open(page, site, '/account/tokens');
  await look('tokens');
  await press(page, 'main a[href$="/revoke"]');
  await look('token-revoke');
  const elsewhere = { email, password: new Sensitive(password), label: 'Safari on iPhone', clientPrefix: '' };
  await site.app.accounts.logIn(elsewhere);
  await open(page, site, '/account/sessions');
  await look('sessions');
  await open(page, site, '/account/password');
  await page.fill('#current', 'not the password');
  await page.fill('#next', newPassword);
  await send(page, '/account/password');
  await look('password-wrong');
  await page.fill('#current', password);
  await page.fill('#next', password);
  await page.check('#revoke-tokens');
  await send(page, '/account/password');
  await look('account-tokens-revoked');
}

/** Pages only for those who mail links or get mails about them. */
async function walkMails(page: Page, site: Site, look: Look): Promise<void> {
  await open(page, site, '/account');
  await page.check('#notify-read');
  await page.check('#notify-expiring');
  await send(page, '/account/notices');
  await look('account-notices');
  await open(page, site, '/');
  await look('share-with-notices');
  await page.fill('#secret', someValue);
  await fill(page, '#recipient', 'friend@example.net');
  await sendShare(page);
  await site.app.service.settled();
  await page.reload();
  await unfold(page, '#recipient');
  await look('receipt-mail-form');
  await fill(page, '#recipient', 'no address');
  await send(page, '/send-again');
  await look('receipt-mail-wrong');
  await fill(page, '#recipient', 'other@example.net');
  await send(page, '/send-again');
  await site.app.service.settled();
  await page.reload();
  await look('receipt-mail-sent');
}

/** Domains, in the states that they can reach while the DNS does not answer, or that the operator sets. */
async function walkDomains(page: Page, site: Site, look: Look): Promise<void> {
  const id = await allowDomains(site.app, email);
  await open(page, site, '/account/domains');
  await look('domains-empty');
  await page.fill('#domain', 'https://secrets.example.com/');
  await send(page, '/account/domains');
  await look('domain-refused');
  await page.fill('#domain', 'secrets.bücher.example.com');
  await send(page, '/account/domains');
  await look('domain-added');
  await send(page, '/verify');
  await look('domain-unknown');
  await giveDomain(site.app.store, id, 'links.example.com');
  await open(page, site, '/account/domains');
  await look('domains');
  await open(page, site, '/account/domains/links.example.com');
  await look('domain-verified');
  await open(page, site, '/account/domains/links.example.com/brand');
  await look('brand');
  await page.fill('#name', 'x'.repeat(61));
  await page.fill('#colour', '#ffdd00');
  await page.fill('#colour-dark', 'red');
  await page.fill('#note-before', someValue);
  await press(page, '#save');
  await look('brand-refused');
  await page.fill('#name', 'Links');
  await page.fill('#colour-dark', '');
  await press(page, '#take-colour');
  await look('brand-saved');
  const logo = { name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from(png) };
  await page.setInputFiles('#logo', logo);
  await press(page, '#send-logo');
  await look('logo-saved');
  await page.setInputFiles('#logo', { ...logo, buffer: Buffer.from('no picture') });
  await press(page, '#send-logo');
  await look('logo-refused');
  await open(page, site, '/account/domains/links.example.com/remove');
  await look('domain-remove');
}

async function walkLoggingIn(page: Page, site: Site, look: Look): Promise<void> {
  await page.context().clearCookies({ name: /mayfly$/ });
  await open(page, site, '/log-in');
  await look('log-in');
  const deps = { store: site.app.store, random: systemRandom };
  const invited = await inviteAccount(deps, { email: 'new@example.com', plan: 'basic' });
  if (invited.outcome !== 'invited') throw new Error(invited.outcome);
  await open(page, site, `/reset/${invited.ticket.expose()}`);
  await look('first-password');
  await open(page, site, '/log-in');
  await page.fill('#email', email);
  await page.fill('#password', 'not the password');
  await send(page, '/log-in');
  await look('log-in-wrong');
  await open(page, site, '/forgotten');
  await look('forgotten');
  await page.fill('#email', email);
  await send(page, '/forgotten');
  await look('forgotten-sent');
  await site.app.accounts.settled();
  const path = `/reset/${mailedTicket(site.app, 'reset')}`;
  await open(page, site, path);
  await look('reset');
  await page.fill('#password', newPassword);
  await page.fill('#token', 'no token');
  await send(page, path);
  await look('reset-refused');
  await page.fill('#token', '');
  await page.fill('#password', newPassword);
  await send(page, path);
  await look('account-reset');
  await open(page, site, '/account/delete');
  await look('delete');
  await sendAsIs(page, '/account/delete');
  await look('delete-refused');
  await page.fill('#password', newPassword);
  await page.check('#confirm');
  await send(page, '/account/delete');
  await look('deleted');
}

/** States that need a service set up for them: closed to strangers, over its limits, or without its store. */
async function walkTroubles(page: Page, look: Look): Promise<void> {
  page.context().removeAllListeners('request');
  using closed = openSite({ anonymousMayCreate: false, signUpIsOpen: false });
  await open(page, closed, '/');
  await look('sharing-closed');
  await open(page, closed, '/sign-up');
  await look('sign-up-closed');
  const once = { limit: 1, windowSeconds: 3_600, burst: 1 };
  using slow = openSite({ rateLimits: { ...builtInRateLimits, manage: { anonymous: once, account: once } } });
  for (const _ of [1, 2]) await open(page, slow, '/receipt/nope');
  await look('too-many');
  const down = async () => Promise.reject(new ServiceError('unavailable', 'the store is away'));
  using regional = openSite({ regions });
  await open(page, regional, '/regions');
  await look('regions');
  using ailing = openSite({ wrapStore: (store) => ({ ...store, findReceipt: down }) });
  await open(page, ailing, `/receipt/${'a'.repeat(31)}`);
  await look('unavailable');
  const broken = async () => Promise.reject(new Error('a defect'));
  using failing = openSite({ wrapStore: (store) => ({ ...store, findReceipt: broken }) });
  await open(page, failing, `/receipt/${'a'.repeat(31)}`);
  await look('internal');
}

/** The whole walk: about sixty states. */
export async function walkEverywhere(page: Page, site: Site, look: Look): Promise<void> {
  await walkSharing(page, site, look);
  await walkEnds(page, site, look);
  await walkAround(page, site, look);
  await walkSigningUp(page, site, look);
  await walkAccount(page, site, look);
  await walkMails(page, site, look);
  await walkDomains(page, site, look);
  await walkLoggingIn(page, site, look);
  await walkTroubles(page, look);
}
