/**
 * The tour as a test: what is wrong with any page in any state.
 *
 * Each variant (scheme, width, language, scripts) has its own file, so that they can run in parallel.
 */
import { describe, expect, it } from 'bun:test';
import type { Browser } from 'playwright-core';
import {
  openSite,
  openVisitor,
  smallFields,
  storageEntries,
  type Visitor,
  type VisitorOptions,
} from './browser.ts';
import { flawsOf, noticedBy } from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { walkEverywhere, walkSealed } from './tour.ts';

/** For its minute, an opened end-to-end secret. */
const mayKeep = (name: string, entry: string) =>
  ['sealed-opened', 'sealed-again', 'sealed-file'].includes(name) && entry === 'session: mayfly-look';

/** The flaws of the page as it is now. */
async function flawsAt(name: string, { page }: Visitor): Promise<string[]> {
  const kept = (await storageEntries(page)).filter((entry) => !mayKeep(name, entry));
  const small = await smallFields(page);
  const lines = await page.evaluate(() => document.querySelector('main')?.innerText.split('\n') ?? []);
  const inUtc = lines.filter((line) => /\d UTC/.test(line));
  return [
    ...(await flawsOf(page, name)),
    ...kept.map((entry) => `${name}: keeps ${entry}`),
    ...small.map((field) => `${name}: the text of ${field}`),
    ...inUtc.map((text) => `${name}: not in the reader’s zone: ${text}`),
  ];
}

export async function walk(
  browser: Browser,
  options: VisitorOptions,
  withAxe: boolean,
  way: typeof walkEverywhere = walkEverywhere,
): Promise<{ names: string[]; flaws: string[] }> {
  using site = openSite();
  await using visitor = await openVisitor(browser, site, options);
  const names: string[] = [];
  const flaws: string[] = [];
  let noticed = 0;
  await way(visitor.page, site, async (name) => {
    names.push(name);
    const complaints = noticedBy(visitor);
    flaws.push(...complaints.slice(noticed).map((complaint) => `before ${name}: ${complaint}`));
    noticed = complaints.length;
    if (withAxe) flaws.push(...(await flawsAt(name, visitor)));
    const { lang, dir } = await visitor.page.evaluate(() => {
      const { lang, dir } = document.documentElement;
      return { lang, dir };
    });
    if (lang !== (options.locale ?? 'en')) flaws.push(`${name}: speaks ${lang}`);
    if (dir !== (['ar', 'he'].includes(lang) ? 'rtl' : 'ltr')) flaws.push(`${name}: runs ${dir}`);
  });
  expect(site.app.faults).toEqual([]);
  return { names, flaws: [...flaws, ...noticedBy(visitor).slice(noticed)] };
}

/** Checks every page in every state against the rules. */
export function testTour(way: VisitorOptions): void {
  const { browser } = withBrowser();
  describe('every page in every state', () => {
    it(
      `has no accessibility flaw, fits, keeps nothing and breaks no rule of its policy: ${way.scheme}, ${way.width} px, ${way.locale ?? 'en'}`,
      async () => {
        const { names, flaws } = await walk(browser(), { ...way, scripts: true }, true);
        expect(flaws).toEqual([]);
        expect(new Set(names).size).toBe(names.length);
        expect(names.length).toBeGreaterThan(45);
      },
      2 * patienceMs,
    );

    it(
      `of an end-to-end secret, which keeps its nonce for a minute: ${way.scheme}, ${way.width} px, ${way.locale ?? 'en'}`,
      async () => {
        const { names, flaws } = await walk(browser(), { ...way, scripts: true }, true, walkSealed);
        expect(flaws).toEqual([]);
        expect(names.length).toBe(8);
      },
      patienceMs,
    );
  });
}
