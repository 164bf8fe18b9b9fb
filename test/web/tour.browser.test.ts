/**
 * Every page in every state, dark and light, in five widths: usable by everyone, within its policy, with nothing stored or
 * loaded from elsewhere, and under a finger.
 */
import { expect, it } from 'bun:test';
import { patienceMs, withBrowser } from './in-browser.ts';
import { walk } from './tour-check.ts';

const { browser } = withBrowser();
const way = { rules: 'every', scripts: true, touch: true, timezoneId: 'Europe/Berlin' } as const;

it(
  'P19: every page in every state has no accessibility flaw, fits, keeps nothing, breaks no rule of its policy and is no proxy’s to rewrite',
  async () => {
    const { names, flaws } = await walk(browser(), way);
    expect(flaws).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(45);
  },
  3 * patienceMs,
);

it(
  'so has every state of an end-to-end secret, which keeps its nonce for a minute',
  async () => {
    const { names, flaws } = await walk(browser(), way, 'sealed');
    expect(flaws).toEqual([]);
    expect(names.length).toBe(21);
  },
  patienceMs,
);

it(
  'so has every state of a request for a secret, which is remembered only on demand',
  async () => {
    const { names, flaws } = await walk(browser(), way, 'requests');
    expect(flaws).toEqual([]);
    expect(names.length).toBe(23);
  },
  2 * patienceMs,
);
