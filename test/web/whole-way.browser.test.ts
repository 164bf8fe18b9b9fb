/**
 * The whole way of a secret in a browser without scripts, step by step: what was typed is there again after every answer that is
 * not the end.
 */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { chooseLifetime, fillOption, headingOf, sendShare } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { press, unfold } from './tour.ts';
import { makeWaiting } from './waiting.ts';

const { itInBrowser } = withBrowser({ endToEnd: 'off' });

const value = 'The door code is 4711.\n\n  Come after six – "ring" <twice> 😀';
const label = 'Side door, 9th';
const names = ['secret', 'passphrase', 'memo', 'ttl'] as const;
type Typed = Readonly<Record<(typeof names)[number], string>>;

async function typedIn(page: Page): Promise<Typed> {
  const entries = await Promise.all(names.map(async (name) => [name, await page.inputValue(`#${name}`)]));
  return Object.fromEntries(entries);
}

/** Fills the form. Every option is opened by hand: without scripts its field can be reached in no other way. */
async function fillShare(page: Page, baseUrl: string): Promise<Typed> {
  await page.goto(`${baseUrl}/`);
  await page.fill('#secret', value);
  await fillOption(page, 'passphrase', 'rïght');
  await fillOption(page, 'memo', label);
  await chooseLifetime(page, '3600');
  return typedIn(page);
}

describe('a person without scripts', () => {
  itInBrowser(
    'generates, takes it back, draws a passphrase, and loses nothing of the rest',
    {},
    async (scene) => {
      const { page, site } = scene;
      const typed = await fillShare(page, site.baseUrl);
      await sendShare(page, '#generate');
      const drawn = await typedIn(page);
      expect({ ...drawn, secret: '' }).toEqual({ ...typed, secret: '' });
      expect([drawn.secret === value, drawn.secret.length > 8]).toEqual([false, true]);
      await sendShare(page, '#take-back');
      expect(await typedIn(page)).toEqual(typed);
      await unfold(page, '#draw-passphrase');
      await sendShare(page, '#draw-passphrase');
      const withDrawn = await typedIn(page);
      expect({ ...withDrawn, passphrase: '' }).toEqual({ ...typed, passphrase: '' });
      expect(withDrawn.passphrase).not.toBe(typed.passphrase);
      await sendShare(page, '#take-back-passphrase');
      expect(await typedIn(page)).toEqual(typed);
    },
  );

  itInBrowser(
    'is refused field by field with everything still there, and then creates',
    {},
    async (scene) => {
      const { page, site } = scene;
      const typed = await fillShare(page, site.baseUrl);
      const wrong: Readonly<Partial<Typed>> = {
        secret: 'x'.repeat(10_001),
        passphrase: 'p'.repeat(1_025),
        memo: 'm'.repeat(501),
      };
      for (const [name, text] of Object.entries(wrong)) {
        await unfold(page, `#${name}`);
        await page.fill(`#${name}`, text);
        await sendShare(page);
        expect(await typedIn(page)).toEqual({ ...typed, [name]: text });
        expect(await page.locator(`#${name}`).getAttribute('aria-invalid')).toBe('true');
        expect(await page.locator(`#${name}`).isVisible()).toBe(true);
        await page.fill(`#${name}`, typed[name as keyof Typed]);
      }
      await sendShare(page);
      expect(new URL(page.url()).pathname).toStartWith('/receipt/');
    },
  );

  itInBrowser(
    'shares, changes label and lifetime, hands over, and sees it opened once',
    {},
    async (scene) => {
      const { page, site } = scene;
      await fillShare(page, site.baseUrl);
      await sendShare(page);
      const receipt = page.url();
      const link = await page.inputValue('#link');
      expect(link).toStartWith(`${site.baseUrl}/secret/`);
      // Copied by hand: the field can be selected, and no button is there that does nothing.
      await page.locator('#link').selectText();
      expect(await page.locator('button[data-copy]:visible').count()).toBe(0);
      await unfold(page, '#memo');
      await page.fill('#memo', 'Back door');
      await press(page, 'main form[action$="/memo"] button[type="submit"]');
      expect(await page.textContent('main')).toContain('Back door');
      await unfold(page, '#ttl');
      await page.selectOption('#ttl', 'other');
      await page.fill('#ttl-amount', '9999');
      await press(page, 'main form[action$="/lifetime"] button[type="submit"]');
      expect(await page.inputValue('#ttl-amount')).toBe('9999');
      const waiting = await headingOf(page);

      await page.goto(link);
      await page.fill('#passphrase', 'rïght');
      // The browser itself asks for the tick, so nothing is sent and nothing consumed.
      await page.click('form.opening button[type="submit"]');
      expect(await page.inputValue('#passphrase')).toBe('rïght');
      await page.check('#open');
      await press(page, 'form.opening button[type="submit"]');
      expect(await page.inputValue('#value')).toBe(value);
      await press(page, '#done');
      expect(await page.content()).not.toContain('4711');
      expect((await page.goto(link))?.status()).toBe(404);
      await page.goto(receipt);
      expect(await headingOf(page)).not.toBe(waiting);
      expect(await page.locator('#link').count()).toBe(0);
    },
  );

  itInBrowser('burns what nobody has read, as its creator and as its reader', {}, async ({ page, site }) => {
    const mine = await makeWaiting(site.app);
    await page.goto(`${site.baseUrl}/receipt/${mine.metadataKey}`);
    await unfold(page, 'form[action$="/burn"]');
    await press(page, 'main form[action$="/burn"] button[type="submit"]');
    expect(await page.locator('.day-burned').count()).toBe(1);
    expect((await page.goto(site.baseUrl + mine.secretPath))?.status()).toBe(404);

    const given = await makeWaiting(site.app, { passphrase: 'right' });
    await page.goto(site.baseUrl + given.secretPath);
    await unfold(page, '#burn-unread');
    await press(page, '#burn-unread');
    await page.fill('#passphrase', 'wrong');
    const box = 'form.opening input[type="checkbox"]';
    await page.check(box);
    await press(page, 'form.opening button[type="submit"]');
    expect(await page.locator('#passphrase-wrong').count()).toBe(1);
    await page.fill('#passphrase', 'right');
    await page.check(box);
    await press(page, 'form.opening button[type="submit"]');
    expect((await page.goto(site.baseUrl + given.secretPath))?.status()).toBe(404);
    await page.goto(`${site.baseUrl}/receipt/${given.metadataKey}`);
    expect(await page.locator('.day-burned').count()).toBe(1);
  });
});
