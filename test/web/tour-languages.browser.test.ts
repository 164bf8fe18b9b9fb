/**
 * Every page in every state can be reached in the same way with scripts and without. The one walk is in Arabic, from right
 * to left, the other in Japanese, which has no spaces; in both, every page fits, small and wide.
 */
import { expect, it } from 'bun:test';
import { count } from '../support/counts.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { walk } from './tour-check.ts';

const { browser } = withBrowser();

/** The rules that no language can break are checked in English, once for each light. */
const rules = count<'every' | 'of language'>({ usual: 'of language', long: 'every' });
const small = { scheme: 'light', width: 320 } as const;
const wide = { scheme: 'dark', width: 1_600 } as const;

it(
  'every page in every state is reached the same way without scripts, and fits in other languages',
  async () => {
    const timezoneId = 'Asia/Tokyo';
    const [without, withScripts] = [
      await walk(browser(), { lights: [wide, small], rules: 'none', scripts: false, locale: 'ja' }),
      await walk(browser(), { lights: [small], rules, scripts: true, locale: 'ar', timezoneId }),
    ];
    expect(without.flaws).toEqual([]);
    expect(withScripts.flaws).toEqual([]);
    expect(without.names).toEqual(withScripts.names);
    expect(new Set(without.names).size).toBe(without.names.length);
  },
  3 * patienceMs,
);
