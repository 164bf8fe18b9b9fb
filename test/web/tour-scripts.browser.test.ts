/**
 * Every page in every state can be reached in the same way with scripts and without; and wide and light, in a language without spaces, all of
 * them are usable by everyone, within their policy, with nothing stored or loaded from elsewhere.
 */
import { describe, expect, it } from 'bun:test';
import { patienceMs, withBrowser } from './in-browser.ts';
import { walk } from './tour-check.ts';

const { browser } = withBrowser();

describe('every page in every state', () => {
  it(
    'is reached the same way without scripts, and has no flaw wide and light',
    async () => {
      const wide = { scheme: 'light', width: 1_600, locale: 'ja', timezoneId: 'Asia/Tokyo' } as const;
      const [without, withScripts] = [
        await walk(browser(), { scripts: false, scheme: 'dark', locale: 'he' }, false),
        await walk(browser(), { ...wide, scripts: true }, true),
      ];
      expect(without.flaws).toEqual([]);
      expect(withScripts.flaws).toEqual([]);
      expect(without.names).toEqual(withScripts.names);
      expect(new Set(without.names).size).toBe(without.names.length);
    },
    3 * patienceMs,
  );
});
