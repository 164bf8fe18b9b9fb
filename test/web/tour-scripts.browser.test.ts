/** Every page in every state can be reached in the same way with scripts and without. */
import { describe, expect, it } from 'bun:test';
import { patienceMs, withBrowser } from './in-browser.ts';
import { walk } from './tour-check.ts';

const { browser } = withBrowser();

describe('every page in every state', () => {
  it(
    'is reached the same way without scripts',
    async () => {
      const [without, withScripts] = [
        await walk(browser(), { scripts: false, scheme: 'dark', locale: 'he' }, false),
        await walk(browser(), { scripts: true, locale: 'ja', width: 320 }, false),
      ];
      expect(without.flaws).toEqual([]);
      expect(withScripts.flaws).toEqual([]);
      expect(without.names).toEqual(withScripts.names);
    },
    2 * patienceMs,
  );
});
