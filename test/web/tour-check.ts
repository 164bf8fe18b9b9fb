/**
 * The tour as a test: what is wrong with any page in any state.
 *
 * A walk takes as long as what it looks at, so each one looks in all the ways that its page can be shown.
 */
import { expect } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import {
  openSite,
  openVisitor,
  overflowPx,
  rulesOfLanguage,
  smallFields,
  storageEntries,
  type VisitorOptions,
} from './browser.ts';
import { flawsOf, inLights, type Light, noticedBy } from './creator.ts';
import { walkEverywhere } from './tour.ts';
import { walkSealed } from './tour-sealed.ts';

export interface Way extends VisitorOptions {
  readonly lights: readonly Light[];
  /** Every rule of axe, or those that a language can break. Without scripts axe cannot run. */
  readonly rules: 'every' | 'of language' | 'none';
}

/** For its minute, an opened end-to-end secret. */
const mayKeep = (name: string, entry: string) =>
  ['sealed-opened', 'sealed-again', 'sealed-file'].includes(name) && entry === 'session: mayfly-look';

/** Whether it fits, keeps nothing, and what it tells of times, whatever its light. */
async function plainFlaws(page: Page, name: string): Promise<string[]> {
  const kept = (await storageEntries(page)).filter((entry) => !mayKeep(name, entry));
  const small = await smallFields(page);
  const lines = await page.evaluate(() => document.querySelector('main')?.innerText.split('\n') ?? []);
  const inUtc = lines.filter((line) => /\d UTC/.test(line));
  return [
    ...kept.map((entry) => `keeps ${entry}`),
    ...small.map((field) => `the text of ${field}`),
    ...inUtc.map((text) => `not in the reader’s zone: ${text}`),
  ];
}

function flawsInLights(page: Page, name: string, { lights, rules }: Way): Promise<string[]> {
  return inLights(page, lights, async (light) => {
    const here = `${name} (${light})`;
    if (rules !== 'none') return flawsOf(page, here, rules === 'every' ? undefined : rulesOfLanguage);
    const overflow = await overflowPx(page);
    return overflow > 0 ? [`${here}: ${overflow} px too wide`] : [];
  });
}

const walks = { everywhere: walkEverywhere, sealed: walkSealed } as const;

export async function walk(
  browser: Browser,
  way: Way,
  where: keyof typeof walks = 'everywhere',
): Promise<{ names: string[]; flaws: string[] }> {
  const [first] = way.lights;
  // Sealing is a choice in one walk and the rule in the other.
  using site = openSite({ endToEnd: where === 'everywhere' ? 'offered' : 'default' });
  await using visitor = await openVisitor(browser, site, { ...way, ...first });
  const { page } = visitor;
  const names: string[] = [];
  const flaws: string[] = [];
  let noticed = 0;
  await walks[where](page, site, async (name) => {
    names.push(name);
    const complaints = noticedBy(visitor);
    flaws.push(...complaints.slice(noticed).map((complaint) => `before ${name}: ${complaint}`));
    noticed = complaints.length;
    flaws.push(...(await flawsInLights(page, name, way)));
    if (way.scripts === true) flaws.push(...(await plainFlaws(page, name)).map((flaw) => `${name}: ${flaw}`));
    const { lang, dir } = await page.evaluate(() => {
      const { lang, dir } = document.documentElement;
      return { lang, dir };
    });
    if (lang !== (way.locale ?? 'en')) flaws.push(`${name}: speaks ${lang}`);
    if (dir !== (['ar', 'he'].includes(lang) ? 'rtl' : 'ltr')) flaws.push(`${name}: runs ${dir}`);
  });
  expect(site.app.faults).toEqual([]);
  return { names, flaws: [...flaws, ...noticedBy(visitor).slice(noticed)] };
}
