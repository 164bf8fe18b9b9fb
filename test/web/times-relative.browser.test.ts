/** Relative times: how long ago, in how long, and how long is left; refreshed by the page's script. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { type Locale, supportedLocales } from '../../src/locale/catalogues.ts';
import { formatRoughly, translate } from '../../src/locale/translate.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { carry } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { makeWaiting } from './waiting.ts';

const { itInBrowser } = withBrowser();

const now = '2026-05-08T10:28:00Z';
const hour = 3_600_000;

interface Shown {
  readonly moment: 'ago' | 'in' | 'left' | 'short' | 'long';
  readonly inMs: number;
}

/** Adds a time to a page that has the script, as a page's other scripts do, and says what it then shows. */
async function show(page: Page, { moment, inMs }: Shown): Promise<string> {
  const datetime = new Date(Date.parse(now) + inMs).toISOString();
  const locale = (await page.getAttribute('html', 'lang')) as Locale;
  const left = moment === 'left' ? { left: String(inMs / 1_000) } : {};
  const justNow = moment === 'ago' ? { now: translate(locale, 'time.justNow') } : {};
  const dataset = { moment, about: translate(locale, 'time.about'), ...left, ...justNow };
  await page.evaluate(
    (added) => {
      document.getElementById('added')?.remove();
      const time = document.createElement('time');
      time.id = 'added';
      time.dateTime = added.datetime;
      Object.assign(time.dataset, added.dataset);
      document.querySelector('main')?.append(time);
    },
    { datetime, dataset },
  );
  await page.waitForSelector('#added[title]');
  return shown(page);
}

const shown = async (page: Page) => plain(await page.innerText('#added'));

/** Versions of CLDR differ in their blanks and invisible marks. */
const plain = (text: string) => text.replaceAll(/\s/gu, ' ').replaceAll(/[\u200e\u200f]/g, '');

async function openStatus(page: Page, baseUrl: string, locale: Locale = 'en'): Promise<void> {
  await page.clock.setFixedTime(now);
  await page.goto(`${baseUrl}/status?lang=${locale}`);
}

const berlin = { scripts: true, timezoneId: 'Europe/Berlin' } as const;

describe('a relative time', () => {
  itInBrowser(
    'says how long ago, and then when in the reader’s zone, or only when',
    berlin,
    async ({ site, page }) => {
      await openStatus(page, site.baseUrl);
      const said: readonly (readonly [number, string])[] = [
        [5_000, 'just now (8 May, 12:28)'],
        [0, 'just now (8 May, 12:28)'],
        [-59_000, 'just now (8 May, 12:27)'],
        [-61_000, '1 minute ago (8 May, 12:26)'],
        [-2.9 * hour, '2 hours ago (8 May, 09:34)'],
        [-47 * hour, '1 day ago (6 May, 13:28)'],
        [-70 * 24 * hour, '2 months ago (27 Feb, 11:28)'],
        [-366 * 24 * hour, '1 year ago (7 May 2025, 12:28)'],
      ];
      for (const [inMs, text] of said) expect(await show(page, { moment: 'ago', inMs })).toBe(text);
      const title = 'Wednesday, 7 May 2025 at 12:28 CEST';
      expect(await page.getAttribute('#added', 'title')).toBe(title);
      expect(await show(page, { moment: 'short', inMs: -366 * 24 * hour })).toBe('7 May 2025, 12:28');
      expect(await page.getAttribute('#added', 'title')).toBe(title);
      expect(await show(page, { moment: 'short', inMs: hour })).toBe('8 May, 13:28');
    },
  );

  itInBrowser('says in how long, and never promises more than there is', berlin, async ({ site, page }) => {
    await openStatus(page, site.baseUrl);
    const said: readonly (readonly [number, string])[] = [
      [7 * 24 * hour, 'in 7 days (15 May, 12:28)'],
      [7 * 24 * hour - 2_000, 'in about 7 days (15 May, 12:27)'],
      [6.7 * 24 * hour, 'in 6 days (15 May, 05:16)'],
      [1.5 * hour, 'in 90 minutes (8 May, 13:58)'],
      [-2 * hour, '2 hours ago (8 May, 10:28)'],
    ];
    for (const [inMs, text] of said) expect(await show(page, { moment: 'in', inMs })).toBe(text);
  });

  itInBrowser('says what is left as the page does, in every language', berlin, async ({ site, page }) => {
    for (const locale of supportedLocales) {
      await openStatus(page, site.baseUrl, locale);
      for (const seconds of [45, 3_599, 2 * 3_600, 7 * 86_400]) {
        const text = await show(page, { moment: 'left', inMs: seconds * 1_000 });
        expect([locale, text]).toEqual([locale, plain(formatRoughly(locale, seconds))]);
      }
    }
  });

  itInBrowser('counts what is left by no clock but its own', berlin, async ({ site, page }) => {
    await page.clock.install({ time: '2001-01-01T00:00:00Z' });
    await page.goto(`${site.baseUrl}/status`);
    await page.clock.pauseAt('2001-01-01T01:00:00Z');
    expect(await show(page, { moment: 'left', inMs: 2 * hour })).toBe('2 hours');
    await page.clock.runFor(60_000);
    expect(await shown(page)).toBe('about 2 hours');
    await page.clock.runFor(600_000);
    expect(await shown(page)).toBe('109 minutes');
  });

  itInBrowser('is refreshed each minute, and by the second at the end', berlin, async ({ site, page }) => {
    await page.clock.install({ time: '2026-05-08T10:00:00Z' });
    await page.goto(`${site.baseUrl}/status`);
    await page.clock.pauseAt(now);
    await show(page, { moment: 'ago', inMs: 0 });
    await page.clock.runFor(120_000);
    expect(await shown(page)).toBe('2 minutes ago (8 May, 12:28)');
    await show(page, { moment: 'left', inMs: 130_000 });
    await page.clock.runFor(60_000);
    const before = Number.parseInt(await shown(page), 10);
    await page.clock.runFor(5_000);
    expect(Number.parseInt(await shown(page), 10)).toBe(before - 5);
  });

  itInBrowser('knows summer time, also when an hour comes twice', berlin, async ({ site, page }) => {
    await openStatus(page, site.baseUrl);
    const at = (iso: string) => ({ moment: 'long', inMs: Date.parse(iso) - Date.parse(now) }) as const;
    expect(await show(page, at('2026-10-25T00:30:00Z'))).toBe('25 October 2026 at 02:30 CEST');
    expect(await show(page, at('2026-10-25T01:30:00Z'))).toBe('25 October 2026 at 02:30 CET');
    expect(await show(page, at('2026-03-29T01:00:00Z'))).toBe('29 March 2026 at 03:00 CEST');
  });
});

/** Two hours ago, in about seven days, and a moment of last year in Tokyo. */
const forms: Readonly<Record<Locale, readonly [string, string, string]>> = {
  en: ['2 hours ago', 'in about 7 days', '8 May 2025, 19:28'],
  de: ['vor 2 Stunden', 'in etwa 7 Tagen', '8. Mai 2025, 19:28'],
  fr: ['il y a 2 heures', 'dans environ 7 jours', '8 mai 2025, 19:28'],
  es: ['hace 2 horas', 'dentro de aproximadamente 7 días', '8 may 2025, 19:28'],
  it: ['2 ore fa', 'tra circa 7 giorni', '8 mag 2025, 19:28'],
  'pt-BR': ['há 2 horas', 'em aproximadamente 7 dias', '8 de mai. de 2025, 19:28'],
  nl: ['2 uur geleden', 'over ongeveer 7 dagen', '8 mei 2025, 19:28'],
  pl: ['2 godziny temu', 'za mniej więcej 7 dni', '8 maj 2025, 19:28'],
  sv: ['för 2 timmar sedan', 'om ungefär 7 dagar', '8 maj 2025 19:28'],
  uk: ['2 години тому', 'через приблизно 7 днів', '8 трав. 2025 р., 19:28'],
  ja: ['2 時間前', '約7 日後', '2025年5月8日 19:28'],
  'zh-CN': ['2小时前', '约7天后', '2025年5月8日 19:28'],
  ar: ['قبل ساعتين', 'خلال 7 أيام تقريبًا', '8 مايو 2025، 19:28'],
  he: ['לפני שעתיים', 'בעוד בערך 7 ימים', '8 במאי 2025, 19:28'],
};

describe('what has just happened', () => {
  itInBrowser('is told as that, in a list and on a line of its own', berlin, async ({ site, page }) => {
    const { cookie, signedIn } = await signUpAs(site.app, 'ann@example.com');
    await carry(page, site.baseUrl, cookie);
    const { caller } = signedIn;
    await makeWaiting(site.app, { caller });
    const burned = await makeWaiting(site.app, { caller });
    const input = {
      proof: null,
      metadataKey: burned.metadataKey,
      authority: 'owner',
      isAbandoned: clientStays,
    } as const;
    await site.app.service.burn(input, caller);
    await page.clock.setFixedTime(site.app.clock.now() * 1_000);
    await page.goto(`${site.baseUrl}/recent?state=waiting`);
    expect(await page.locator('.item-notes').innerText()).toContain('created just now (8 May, 12:26)');
    await page.goto(`${site.baseUrl}/receipt/${burned.metadataKey}`);
    expect(await page.locator('.life-when').innerText()).toBe('Just now · 8 May, 12:26');
  });
});

describe('in each language', () => {
  for (const locale of supportedLocales) {
    itInBrowser(
      `${locale}: what is past, to come and shown in Tokyo`,
      { scripts: true, timezoneId: 'Asia/Tokyo' },
      async ({ site, page }) => {
        await openStatus(page, site.baseUrl, locale);
        const [ago, ahead, there] = forms[locale];
        expect(await show(page, { moment: 'ago', inMs: -2 * hour })).toStartWith(`${ago} `);
        expect(await show(page, { moment: 'in', inMs: 7 * 24 * hour - 60_000 })).toStartWith(`${ahead} `);
        expect(await show(page, { moment: 'short', inMs: -365 * 24 * hour })).toBe(there);
      },
    );
  }
});
