/**
 * The mail on the receipt in a real browser, with scripts and without: its delivery, and sending it again or to another
 * address.
 */
import { describe, expect, it } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Handover } from '../../src/core/mailer.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { openSite, openVisitor, rulesOfLanguage, type Site } from './browser.ts';
import {
  bothLights,
  carry,
  flawsInBothLights,
  flawsOf,
  focusOf,
  headingOf,
  noticedBy,
  openOption,
  tabTo,
} from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import {
  type Mailed,
  type MailServer,
  mailSecretIn,
  openMailServer,
  otherRecipient,
  recipient,
  signUpBy,
  taken,
} from './mailed.ts';
import { saying, words } from './words.ts';

const { browser } = withBrowser();

const refused: Handover = { state: 'refused', reply: '550 5.1.1 <joanna> No such user here' };
const field = '.mail #recipient';
const submit = '.mail button[type="submit"]';
const stateOf = (page: Page) => page.textContent('.standing .badge');

/** A site whose mail server answers as told. */
function openMailSite(): Site & { readonly server: MailServer } {
  const server = openMailServer();
  return { ...openSite({ mailer: server }), server };
}

/** Opens the receipt of a secret whose mail has ended like this. */
async function standOn(
  page: Page,
  { app, baseUrl, server }: Site & { readonly server: MailServer },
  says: Handover | 'nothing',
  to: string | null = recipient,
): Promise<Mailed> {
  const mailed = await mailSecretIn(app, server, { says, to });
  await carry(page, baseUrl, mailed.headers.cookie);
  await page.goto(baseUrl + mailed.receiptPath);
  return mailed;
}

for (const scripts of [false, true]) {
  describe(`a sender ${scripts ? 'with' : 'without'} scripts`, () => {
    it(
      'shares by mail, reads that the mail server took it, and sends it again',
      async () => {
        using site = openMailSite();
        await using visitor = await openVisitor(browser(), site, { scripts });
        const { page } = visitor;
        const { cookie } = await signUpBy(site.server, site.app, 'ann@example.com');
        await carry(page, site.baseUrl, cookie);
        await page.goto(`${site.baseUrl}/`);
        await page.fill('#secret', 'x');
        await openOption(page, 'recipient');
        await page.fill('#recipient', recipient);
        await page.click('#create');
        await page.waitForSelector('.show-link');
        expect(await headingOf(page)).toBe(words('receipt.mailedTitle'));
        await site.app.service.settled();
        await page.reload();
        expect(await stateOf(page)).toBe(words('receipt.mailAccepted'));
        expect(await page.textContent('.reply samp')).toBe(taken.reply);
        await page.click('.mail summary');
        await page.click(submit);
        await page.waitForURL('**/receipt/*#mail');
        await site.app.service.settled();
        await page.reload();
        expect(await stateOf(page)).toBe(words('receipt.mailAccepted'));
        expect(site.server.mails.map(({ to }) => to.expose())).toEqual([recipient, recipient]);
        expect(await page.content()).not.toContain('joanna@');
        expect(noticedBy(visitor)).toEqual([]);
      },
      patienceMs,
    );

    it(
      'reads why a mail was refused, and by keyboard alone sends the same link to another address',
      async () => {
        using site = openMailSite();
        await using visitor = await openVisitor(browser(), site, { scripts });
        const { page } = visitor;
        const { secretPath } = await standOn(page, site, refused);
        expect(await stateOf(page)).toBe(words('receipt.mailSaidNo'));
        expect(await page.textContent('.reply samp')).toBe(refused.reply);
        site.server.says(taken);
        await tabTo(page, 'recipient');
        await page.keyboard.type('not an address');
        await page.keyboard.press('Enter');
        await page.waitForSelector('#recipient-wrong');
        expect([await focusOf(page), await page.inputValue(field)]).toEqual(['recipient', 'not an address']);
        await page.fill(field, otherRecipient);
        await page.press(field, 'Enter');
        await page.waitForURL('**/receipt/*#mail');
        await site.app.service.settled();
        await page.reload();
        expect(await stateOf(page)).toBe(words('receipt.mailAccepted'));
        expect(await page.textContent('.mail dd')).toContain('ca*****@e*****.net');
        const last = site.server.mails.at(-1);
        expect([last?.to.expose(), last?.link.expose()]).toEqual([otherRecipient, site.baseUrl + secretPath]);
        expect(noticedBy(visitor)).toEqual([]);
      },
      patienceMs,
    );
  });
}

/** A page on which someone is about to copy the link and is typing an address. */
async function typeBesideLink(page: Page, site: Site & { readonly server: MailServer }): Promise<string> {
  await page.clock.install();
  const { secretPath } = await standOn(page, site, 'nothing');
  await page.click(`text="${words('receipt.show')}"`);
  expect(await stateOf(page)).toBe(words('receipt.mailQueued'));
  await page.click('.mail summary');
  await page.fill(field, 'half of an addr');
  return site.baseUrl + secretPath;
}

describe('a page that waits for its mail, with scripts', () => {
  it(
    'says what became of it by itself, and leaves the link and what is being typed where they are',
    async () => {
      using site = openMailSite();
      await using visitor = await openVisitor(browser(), site, { scripts: true });
      const { page } = visitor;
      const link = await typeBesideLink(page, site);
      await site.server.answer(refused);
      await site.app.service.settled();
      await page.clock.runFor(5_000);
      await page.waitForSelector(`.badge:has-text("${words('receipt.mailSaidNo')}")`);
      expect(await page.textContent('.reply samp')).toBe(refused.reply);
      expect(await page.textContent('#watch [role="status"]')).toMatch(saying('receipt.changedMail'));
      expect(await page.getAttribute('.standing time', 'title')).toContain('2025');
      expect([await page.inputValue('#link'), await page.inputValue(field)]).toEqual([
        link,
        'half of an addr',
      ]);
      expect(await focusOf(page)).toBe('recipient');
      expect(noticedBy(visitor)).toEqual([]);
    },
    patienceMs,
  );

  it(
    'self-test: a page that loads itself anew would lose both',
    async () => {
      using site = openMailSite();
      await using visitor = await openVisitor(browser(), site, { scripts: true });
      const { page } = visitor;
      await typeBesideLink(page, site);
      await page.evaluate(() => location.replace(document.getElementById('watch')?.dataset.page ?? ''));
      await page.waitForSelector(`text="${words('receipt.show')}"`);
      expect([await page.locator('#link').count(), await page.inputValue(field)]).toEqual([0, '']);
      await site.server.answer(taken);
    },
    patienceMs,
  );

  it(
    'loads nothing anew as long as there is no news, and goes on noticing that the secret is opened',
    async () => {
      using site = openMailSite();
      await using visitor = await openVisitor(browser(), site, { scripts: true });
      const { page } = visitor;
      const link = await typeBesideLink(page, site);
      const loads: string[] = [];
      page.on('request', (request) => {
        if (!request.url().endsWith('/state')) loads.push(request.url());
      });
      const answered = page.waitForResponse('**/state');
      await page.clock.runFor(5_000);
      expect(await (await answered).json()).toMatchObject({ delivery: { state: 'queued' } });
      await site.server.answer(taken);
      await site.app.service.settled();
      // The first answer is processed before the next pause begins.
      await page.evaluate(() => fetch('/icon.svg').then((icon) => icon.text()));
      expect(loads.splice(0)).toEqual([`${site.baseUrl}/icon.svg`]);
      await page.clock.runFor(5_000);
      await page.waitForSelector(`.badge:has-text("${words('receipt.mailAccepted')}")`);
      expect(loads).toHaveLength(1);
      const secretKey = link.split('/').at(-1) ?? '';
      await site.app.service.reveal(
        {
          passphrase: null,
          proofs: null,
          secretKey,
          clientPrefix: '203.0.113.0/24',
          isAbandoned: clientStays,
        },
        { kind: 'anonymous' },
      );
      await page.evaluate(() => fetch('/icon.svg').then((icon) => icon.text()));
      await page.clock.runFor(5_000);
      await page.waitForSelector(`text="${words('receipt.changedReceived')}"`);
      await page.clock.runFor(2_500);
      await page.waitForSelector(`h1:has-text("${words('receipt.receivedTitle')}")`);
      expect(noticedBy(visitor)).toEqual([]);
    },
    patienceMs,
  );
});

describe('every state of the mail', () => {
  const ends: readonly (Handover | 'nothing')[] = [
    'nothing',
    taken,
    { state: 'refused', reply: `550 5.7.1 ${'policy'.repeat(45)}` },
    { state: 'given_up', reply: '451 4.7.1 Greylisted, please try again later' },
    { state: 'not_sent', reply: null },
  ];
  for (const { how, way, look } of [
    { how: 'small and dark, wide and light', way: { ...bothLights[0] }, look: flawsInBothLights },
    {
      how: 'from right to left',
      way: { width: 320, rtl: true },
      look: (page: Page, name: string) => flawsOf(page, name, rulesOfLanguage),
    },
  ]) {
    it(
      `has no accessibility flaw, fits and breaks no rule of its policy, ${how}`,
      async () => {
        const flaws: string[] = [];
        for (const end of ends) {
          using site = openMailSite();
          await using visitor = await openVisitor(browser(), site, { ...way, scripts: true });
          const { page } = visitor;
          const { receiptPath } = await standOn(page, site, end);
          if ((await page.locator('.mail details[open]').count()) === 0) await page.click('.mail summary');
          flaws.push(...(await look(page, end === 'nothing' ? 'queued' : end.state)));
          if (end !== 'nothing' && end.state === 'refused') {
            await page.fill(field, 'not an address');
            await page.click(submit);
            expect(await headingOf(page)).toBe(words('receipt.newTitle'));
            flaws.push(...(await look(page, 'refused address')));
            await page.context().clearCookies();
            await page.goto(site.baseUrl + receiptPath);
            flaws.push(...(await look(page, 'for a stranger')));
          }
          flaws.push(...noticedBy(visitor));
          if (end === 'nothing') await site.server.answer(taken);
        }
        expect(flaws).toEqual([]);
      },
      3 * patienceMs,
    );
  }
});
