/** Codes from a mailbox in a browser with scripts: what a person has to do, and that what acts like one opens nothing without the mailbox. */
import { describe, expect, it } from 'bun:test';
import type { Page } from 'playwright-core';
import { count } from '../support/counts.ts';
import { openButton, openSite, openVisitor, pressOpen, type Site } from './browser.ts';
import { codeMailed, codesMailed, mailbox, wrongFor } from './codes.ts';
import { carry, goOn } from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { makeWaiting } from './waiting.ts';

const { browser, itInBrowser } = withBrowser();

const kinds = ['plain', 'sealed'] as const;
type Kind = (typeof kinds)[number];

const value = 'open sesame';

async function makeLink(site: Site, kind: Kind, verify = mailbox) {
  const email = `sender${site.app.accountMails.length}@example.com`;
  const { caller } = (await signUpAs(site.app, email)).signedIn;
  const none = verify === '' ? {} : { verify };
  if (kind === 'sealed') {
    const { link, metadataKey } = await makeSealed(site.app, value, null, caller, '', verify);
    return { address: site.baseUrl + link, metadataKey, caller };
  }
  const { secretPath, metadataKey } = await makeWaiting(site.app, { value, caller, ...none });
  return { address: site.baseUrl + secretPath, metadataKey, caller };
}

async function arrive(page: Page, address: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(address);
  await page.locator(`${openButton}:visible`).waitFor();
}

/** Presses and fills in what a person has to, and counts it. */
async function openAsPerson(page: Page, site: Site, address: string, hasCode: boolean) {
  const did = { presses: 0, fields: 0 };
  const press = async (wait: (act: () => Promise<void>) => Promise<void>) => {
    const box = page.locator('.sure input:visible');
    did.presses += 1 + (await box.count());
    await wait(() => pressOpen(page));
  };
  await arrive(page, address);
  if (hasCode) {
    await press((act) => goOn(page, act));
    const code = await codeMailed(site.app);
    did.fields += 1;
    await page.fill('#code', `${code.slice(0, 3)} ${code.slice(3)}`);
  }
  await press((act) => act());
  await page.locator('#value').waitFor();
  expect(await page.inputValue('#value')).toBe(value);
  return did;
}

describe('a person', () => {
  for (const kind of kinds)
    itInBrowser(
      `may press the link again in a webmail, which leaves the code good: ${kind}`,
      { scripts: true },
      async ({ site, page: inbox }) => {
        const { address } = await makeLink(site, kind);
        const html = `<a target="_blank" href="${address}">link</a>`;
        // Another site to the browser, which knows the site as localhost.
        await inbox.route('http://127.0.0.1:9/', (route) =>
          route.fulfill({ contentType: 'text/html', body: html }),
        );
        await inbox.goto('http://127.0.0.1:9/');
        const press = async () => {
          const [tab] = await Promise.all([inbox.context().waitForEvent('page'), inbox.click('a')]);
          await tab.locator(`${openButton}:visible`).waitFor();
          return tab;
        };
        const first = await press();
        await goOn(first, () => pressOpen(first));
        const second = await press();
        expect(await second.locator('#code').count()).toBe(1);
        await first.fill('#code', await codeMailed(site.app));
        await pressOpen(first);
        await first.locator('#value').waitFor();
        expect(await first.inputValue('#value')).toBe(value);
      },
    );

  for (const kind of kinds)
    for (const scripts of kind === 'plain' ? [true, false] : [true])
      itInBrowser(
        `needs at most two presses and one field more to open it with a code: ${kind}, ${scripts ? 'with' : 'without'} scripts`,
        { scripts },
        async ({ site, page }) => {
          const before = await openAsPerson(page, site, (await makeLink(site, kind, '')).address, false);
          const now = await openAsPerson(page, site, (await makeLink(site, kind)).address, true);
          expect(now.fields - before.fields).toBe(1);
          expect(now.presses - before.presses).toBeLessThanOrEqual(2);
        },
      );

  for (const kind of kinds)
    itInBrowser(
      `loses nothing by a reload, another tab, a wrong code or a second code, and can reload what it opened: ${kind}`,
      { scripts: true },
      async ({ site, page }) => {
        const { address } = await makeLink(site, kind);
        await arrive(page, address);
        await goOn(page, () => pressOpen(page));
        expect(page.url()).toBe(address);
        const first = await codeMailed(site.app);
        await page.reload();
        await page.locator('#code:visible').waitFor();
        const tab = await page.context().newPage();
        await tab.goto(address);
        await tab.locator('#code:visible').waitFor();
        await tab.close();
        await goOn(page, () => page.click('a[href$="?again"], a[href*="?again#"]'));
        await page.locator(`${openButton}:visible`).waitFor();
        await goOn(page, () => pressOpen(page));
        const second = await codeMailed(site.app);
        for (const old of new Set([wrongFor(second), first === second ? wrongFor(second) : first])) {
          await page.fill('#code', old);
          await (kind === 'plain' ? goOn(page, () => pressOpen(page)) : pressOpen(page));
          await page.locator('#code-wrong:not(:empty)').waitFor();
          expect(await page.inputValue('#code')).toBe('');
        }
        expect(await page.evaluate(() => document.activeElement?.id)).toBe('code');
        await page.fill('#code', second);
        await pressOpen(page);
        await page.locator('#value').waitFor();
        await page.reload();
        await page.locator('#value').waitFor();
        expect(await page.inputValue('#value')).toBe(value);
      },
    );

  itInBrowser(
    'burns an end-to-end secret with its code, and without one is led to the page that mails it',
    { scripts: true },
    async ({ site, page }) => {
      const { address, metadataKey, caller } = await makeLink(site, 'sealed');
      const burn = address.replace('#', '/burn#');
      await arrive(page, burn);
      expect(page.url()).toBe(address);
      await goOn(page, () => pressOpen(page));
      await goOn(page, () => page.click('#burn-unread'));
      expect(page.url()).toBe(burn);
      const code = await codeMailed(site.app);
      await page.fill('#code', wrongFor(code));
      await pressOpen(page);
      await page.locator('#code-wrong:not(:empty)').waitFor();
      await page.fill('#code', code);
      await pressOpen(page);
      await page.locator('#recipient-burned').waitFor();
      const found = await site.app.service.findReceipt({ metadataKey, authority: 'creator' }, caller);
      expect(found.outcome === 'found' && found.receipt.burnedBy).toBe('recipient');
    },
  );

  itInBrowser(
    'is told that a link is cut before a code is mailed',
    { scripts: true },
    async ({ site, page }) => {
      const { address } = await makeLink(site, 'sealed');
      await arrive(page, address.slice(0, -9));
      await goOn(page, () => pressOpen(page));
      await page.locator('.note.alert').waitFor();
      await site.app.service.settled();
      expect(codesMailed(site.app)).toBe(0);
    },
  );

  itInBrowser(
    'sees while sharing that link and code would reach the same mailbox',
    { scripts: true },
    async ({ site, page }) => {
      await carry(page, site.baseUrl, (await signUpAs(site.app, 'sender@example.com')).cookie);
      await page.goto(site.baseUrl);
      await page.click('#option-recipient > summary');
      await page.fill('#recipient', mailbox);
      await page.click('#option-verify > summary');
      expect(await page.locator('#verify-same').isVisible()).toBe(false);
      await page.fill('#verify', mailbox);
      expect(await page.locator('#verify-same').isVisible()).toBe(true);
      expect(await page.locator('#option-verify .title').isVisible()).toBe(true);
    },
  );
});

/**
 * What drives a real browser with the whole link: everything that it does is trusted, and it types what it can think of.
 * @returns how often it pressed
 */
async function actLikeAPerson(page: Page, site: Site, address: string): Promise<number> {
  let presses = 0;
  const button = page.locator(`${openButton}:visible`);
  const press = async () => {
    const code = page.locator('#code:visible');
    if ((await code.count()) > 0) await code.fill(wrongFor(await codeMailed(site.app)));
    if ((await button.count()) === 0) return;
    const from = site.app.answers.length;
    await button.click();
    while (site.app.answers.length === from) await page.waitForTimeout(2);
    await page.waitForLoadState();
    presses += 1;
  };
  await page.context().clearCookies();
  await arrive(page, address);
  await press();
  await press();
  if (!(await page.locator('#burn-unread').isVisible())) return presses;
  await goOn(page, () => page.click('#burn-unread'));
  await button.waitFor();
  await press();
  return presses;
}

const [visits, visitsEach] = count({ usual: [4, 2], long: [1_000, 10] } as const);

/** What became of secrets, each of which it visits several times. */
async function visited(wholeVisits: number, verify: string) {
  using site = openSite();
  await using visitor = await openVisitor(browser(), site, { scripts: true });
  const [states, presses]: [string[], number[]] = [[], []];
  for (let at = 0; at < wholeVisits; at += 1) {
    const kind = kinds[(at / visitsEach) % 2] ?? 'plain';
    const { address, metadataKey, caller } = await makeLink(site, kind, verify);
    for (const end = at + visitsEach - 1; ; at += 1) {
      presses.push(await actLikeAPerson(visitor.page, site, address));
      if (at === end || verify === '') break;
    }
    const found = await site.app.service.findReceipt({ metadataKey, authority: 'creator' }, caller);
    states.push(found.outcome === 'found' ? found.receipt.state : found.outcome);
  }
  expect(site.app.faults).toEqual([]);
  return { states, presses };
}

describe('what acts like a person, with trusted input and the whole link', () => {
  it(
    `opens and burns nothing in ${visits} visits, without the mailbox (P4)`,
    async () => {
      const { states, presses } = await visited(visits, mailbox);
      // It asks for a code and tries one, as long as codes are mailed; then it asks twice.
      expect(presses.length).toBe(visits);
      expect(Math.min(...presses)).toBeGreaterThanOrEqual(2);
      expect(states).toEqual(Array(visits / visitsEach).fill('new'));
    },
    count({ usual: patienceMs, long: 3_600_000 }),
  );

  it(
    'self-test: it opens what asks for no code',
    async () => {
      expect((await visited(1, '')).states).toEqual(['received']);
    },
    patienceMs,
  );
});
