/**
 * Every page in every state, on a small dark screen and on a wide light one: usable by everyone, within its policy, with
 * nothing stored or loaded from elsewhere.
 */
import { expect, it } from 'bun:test';
import { bothLights } from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { walk } from './tour-check.ts';

const { browser } = withBrowser();

it(
  'every page in every state has no accessibility flaw, fits, keeps nothing and breaks no rule of its policy',
  async () => {
    const { names, flaws } = await walk(browser(), {
      lights: bothLights,
      rules: 'every',
      scripts: true,
      timezoneId: 'Europe/Berlin',
    });
    expect(flaws).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(45);
  },
  3 * patienceMs,
);

it(
  'so has every state of an end-to-end secret, which keeps its nonce for a minute',
  async () => {
    const lights = {
      lights: bothLights,
      rules: 'every',
      scripts: true,
      timezoneId: 'Europe/Berlin',
    } as const;
    const { names, flaws } = await walk(browser(), lights, 'sealed');
    expect(flaws).toEqual([]);
    expect(names.length).toBe(13);
  },
  patienceMs,
);
