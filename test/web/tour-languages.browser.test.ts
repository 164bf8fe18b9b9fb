/**
 * Every page in every state can be reached in the same way with scripts and without. The walks are in German, with long
 * words, in Japanese, without spaces, and in Arabic, from right to left; in all of them, every page fits in five widths.
 */
import { expect, it } from 'bun:test';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { count, limitMs } from '../support/counts.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { type Way, walk } from './tour-check.ts';

const { browser } = withBrowser();

/**
 * The rules that no language can break are checked in English, once for each light. Of those that one can, axe's own of small targets
 * is for a mouse: a finger needs more, which each walk with one measures in every width, as it does what scrolls and what is spoken.
 */
const [rules, ofFingers] = count<readonly [Way['rules'], Way['rules']]>({
  usual: ['of language', 'none'],
  long: ['every', 'every'],
});
const german: Way = { rules, scripts: true, locale: 'de', timezoneId: 'Europe/Berlin' };
const arabic: Way = { rules: ofFingers, scripts: true, locale: 'ar', timezoneId: 'Asia/Tokyo', touch: true };
const japanese: Way = { rules: 'none', scripts: false, locale: 'ja', touch: true };

it(
  'every page in every state is reached the same way without scripts, and fits in other languages',
  async () => {
    const without = await walk(browser(), japanese);
    const withScripts = await walk(browser(), arabic);
    expect(without.flaws).toEqual([]);
    expect(withScripts.flaws).toEqual([]);
    expect(without.names).toEqual(withScripts.names);
    expect(new Set(without.names).size).toBe(without.names.length);
  },
  3 * patienceMs,
);

it(
  'so it does in German, with a mouse',
  async () => {
    const { flaws } = await walk(browser(), german);
    expect(flaws).toEqual([]);
  },
  3 * patienceMs,
);

it(
  'end-to-end secrets fit in other languages too',
  async () => {
    for (const way of [german, arabic, { ...arabic, locale: 'ja' }]) {
      const { flaws } = await walk(browser(), way, 'sealed');
      expect(flaws).toEqual([]);
    }
  },
  3 * patienceMs,
);

/** Those that nobody walks in show the pages with most on them. */
const walked = ['en', 'de', 'ar', 'ja'];
const also = supportedLocales.filter((locale) => !walked.includes(locale));
const inAll = supportedLocales.map((locale): Way => ({ rules: 'every', scripts: true, locale, touch: true }));

it(
  'requests for a secret fit in all languages',
  async () => {
    const usual = [german, { ...arabic, also }, { ...arabic, locale: 'ja' }];
    for (const way of count<readonly Way[]>({ usual, long: [...usual, ...inAll] })) {
      const { flaws } = await walk(browser(), way, 'requests');
      expect(flaws).toEqual([]);
    }
  },
  limitMs(3 * patienceMs),
);
