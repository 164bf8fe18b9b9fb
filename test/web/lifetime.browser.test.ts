/** Changing the lifetime on the receipt, in a real browser, with scripts and without. */
import { describe, expect } from 'bun:test';
import { bothLights, flawsInBothLights, focusOf, noticedBy, shareIn } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser();

for (const scripts of [false, true]) {
  describe(`a creator ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'chooses another lifetime, sees the new expiry, and a reload changes nothing more',
      { scripts, width: 390 },
      async ({ site, visitor, page }) => {
        const { receipt } = await shareIn(page, site.baseUrl);
        await page.goto(receipt);
        expect(await page.isVisible('#ttl')).toBe(false);
        await page.click(`text="${words('lifetime.change')}"`);
        expect([await page.isVisible('#ttl'), await page.isVisible('#ttl-amount')]).toEqual([true, false]);
        await page.selectOption('#ttl', '3600');
        let posts = 0;
        page.on('request', (request) => {
          if (request.method() === 'POST') posts += 1;
        });
        await page.click(`text="${words('lifetime.save')}"`);
        await page.waitForURL(`${receipt}#lifetime`);
        expect(await page.textContent('#lifetime')).toContain('1 hour');
        expect(
          await page.locator('#lifetime').evaluate((part) => part.getBoundingClientRect().top),
        ).toBeLessThan(400);
        site.app.clock.advance(270);
        await page.reload();
        expect(await page.textContent('#lifetime')).toContain('55 minutes');
        expect([posts, noticedBy(visitor)]).toEqual([1, []]);
      },
    );

    itInBrowser(
      'is told at the field what is allowed, and finds there what was typed',
      { scripts },
      async ({ site, visitor, page }) => {
        const { receipt } = await shareIn(page, site.baseUrl);
        await page.goto(receipt);
        await page.click(`text="${words('lifetime.change')}"`);
        await page.selectOption('#ttl', 'other');
        await page.fill('#ttl-amount', '8');
        await page.selectOption('#ttl-unit', 'days');
        await page.press('#ttl-amount', 'Enter');
        await page.waitForSelector('#ttl-amount-wrong');
        expect(await page.textContent('#ttl-amount-wrong')).toBe(
          words('share.ttlOutOfRange', { min: '1 minute', max: '7 days' }),
        );
        expect([await page.inputValue('#ttl-amount'), await focusOf(page)]).toEqual(['8', 'ttl-amount']);
        await page.fill('#ttl-amount', '2');
        await page.press('#ttl-amount', 'Enter');
        await page.waitForURL(`${receipt}#lifetime`);
        expect(await page.textContent('#lifetime')).toContain('2 days');
        expect(noticedBy(visitor)).toEqual([]);
      },
    );
  });
}

describe('the form for another lifetime', () => {
  itInBrowser(
    'has no accessibility flaw, fits and breaks no rule of its policy, small and dark, wide and light',
    { ...bothLights[0], scripts: true },
    async ({ site, visitor, page }) => {
      const { receipt } = await shareIn(page, site.baseUrl);
      await page.goto(receipt);
      await page.click(`text="${words('lifetime.change')}"`);
      const flaws = await flawsInBothLights(page, 'open');
      await page.selectOption('#ttl', 'other');
      flaws.push(...(await flawsInBothLights(page, 'other')));
      await page.fill('#ttl-amount', 'a while');
      await page.press('#ttl-amount', 'Enter');
      await page.waitForSelector('#ttl-amount-wrong');
      flaws.push(...(await flawsInBothLights(page, 'refused')));
      expect([...flaws, ...noticedBy(visitor)]).toEqual([]);
    },
  );
});
