/**
 * The tour as a test: what is wrong with any page in any state.
 *
 * A walk takes as long as what it looks at, so each one looks in all the ways that its page can be shown.
 */
import { expect } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import type { Locale } from '../../src/locale/catalogues.ts';
import { count } from '../support/counts.ts';
import {
  correctingFields,
  openSite,
  openVisitor,
  rulesOfLanguage,
  storageEntries,
  type VisitorOptions,
} from './browser.ts';
import { bothLights, flawsOf, type Light, noticedBy } from './creator.ts';
import { fitFlaws, fitFlawsIn } from './fit.ts';
import { type Look, walkEverywhere } from './tour.ts';
import { walkCodes } from './tour-codes.ts';
import { walkRequests } from './tour-requests.ts';
import { walkSealed } from './tour-sealed.ts';
import { walkSeveral } from './tour-several.ts';
import { words } from './words.ts';

export interface Way extends VisitorOptions {
  /** Every rule of axe, or those that a language can break. Without scripts axe cannot run. */
  readonly rules: 'every' | 'of language' | 'none';
  /** Languages in which the states that can be loaded anew are shown too, in the narrowest width. */
  readonly also?: readonly Locale[];
}

/**
 * From the narrowest that WCAG asks for (1.4.10) to a wide desktop: all that the style sheets tell apart is between two of them.
 * What fits is measured in all of them, in every run; it takes milliseconds.
 */
const widthsPx = [320, 390, 768, 1_280, 1_600] as const;

const everyLight = (['dark', 'light'] as const).flatMap((scheme) =>
  widthsPx.map((width): Light => ({ scheme, width })),
);

/** Where axe looks, which takes a fifth of a second each time. */
const axeLights: Readonly<Record<Way['rules'], readonly Light[]>> = {
  every: count({ usual: bothLights, long: everyLight }),
  'of language': count({ usual: bothLights.slice(0, 1), long: everyLight }),
  none: [],
};

/** The options of the last secret shared; a request that is to be remembered; and for its minute, an opened end-to-end secret. */
const mayKeep = (name: string, entry: string) =>
  (['answers-remembered', 'ask-mine'].includes(name) && entry === 'local: mayfly-requests') ||
  entry === 'local: mayfly-options' ||
  (['sealed-opened', 'sealed-spelled', 'sealed-again', 'sealed-file'].includes(name) &&
    entry === 'session: mayfly-look');

/** Documents for those who write programs. */
const isForPrograms = (name: string) => /^(?:api|docs)\b/.test(name);

/** Sizes and times as machines count them. */
const machineUnit =
  /\b(?:\d{4,}|\d{1,3}(?:,\d{3})+) (?:bytes|kB|seconds|minutes|hours)\b|\d{4}-\d\d-\d\dT\d\d/;

/** The one reason for a refusal, said both above the form and at its field; or none said at all. */
async function errorFlaws(page: Page): Promise<string[]> {
  const texts = (selector: string) => page.locator(`main ${selector}:visible`).allInnerTexts();
  const wrong = (await texts('.wrong')).filter((text) => text !== '');
  const alerts = (await texts('.note.alert[role="alert"]')).join('\n');
  const [only = ''] = wrong;
  return [
    ...(wrong.length === 1 && alerts.includes(only) ? [`says twice: ${only}`] : []),
    ...(wrong.length === 0 && alerts === words('account.refused') ? ['says of nothing what is wrong'] : []),
  ];
}

/** Whether it keeps nothing, and what it tells of times and sizes. */
async function plainFlaws(page: Page, name: string): Promise<string[]> {
  const kept = (await storageEntries(page)).filter((entry) => !mayKeep(name, entry));
  const lines = await page.evaluate(() => document.querySelector('main')?.innerText.split('\n') ?? []);
  const inUtc = lines.filter((line) => /\d UTC/.test(line));
  const ofMachines = isForPrograms(name) ? [] : lines.filter((line) => machineUnit.test(line));
  const correcting = await correctingFields(page);
  return [
    ...(await errorFlaws(page)),
    ...kept.map((entry) => `keeps ${entry}`),
    ...correcting.map((field) => `may change what is typed: ${field}`),
    ...inUtc.map((text) => `not in the reader’s zone: ${text}`),
    ...ofMachines.map((text) => `in a machine’s units: ${text}`),
  ];
}

/** What axe finds, and what does not fit in each width, told once, with the narrowest. Ends in the first light, as it began. */
async function flawsIn(page: Page, name: string, way: Way): Promise<string[]> {
  await page.waitForLoadState('load');
  const [first, ...others] = axeLights[way.rules];
  const rules = way.rules === 'every' ? undefined : rulesOfLanguage;
  const found: string[] = [];
  const ask = async ({ scheme, width }: Light) =>
    void found.push(...(await flawsOf(page, `${name} (${scheme}, ${width} px)`, rules)));
  for (const light of others) {
    await page.emulateMedia({ colorScheme: light.scheme });
    await page.setViewportSize({ width: light.width, height: 800 });
    await ask(light);
  }
  if (others.length > 0) await page.emulateMedia({ colorScheme: 'dark' });
  const misfits = new Map<string, string>();
  for (const [width, flaws] of await fitFlawsIn(page, widthsPx.toReversed(), way.touch === true))
    for (const flaw of flaws) misfits.set(flaw, `${name} (${width} px): ${flaw}`);
  if (first !== undefined) await ask(first);
  return [...found, ...misfits.values()];
}

async function languageFlaws(page: Page, name: string, expected: string): Promise<string[]> {
  const { lang, dir } = await page.evaluate(() => {
    const { lang, dir } = document.documentElement;
    return { lang, dir };
  });
  return [
    ...(lang === expected ? [] : [`${name}: speaks ${lang}`]),
    ...(dir === (['ar', 'he'].includes(lang) ? 'rtl' : 'ltr') ? [] : [`${name}: runs ${dir}`]),
  ];
}

const languageCookie = 'mayfly-language';

const walks = { everywhere: walkEverywhere, sealed: walkSealed, requests: walkRequests } as const;

export async function walk(
  browser: Browser,
  way: Way,
  where: keyof typeof walks = 'everywhere',
): Promise<{ names: string[]; flaws: string[] }> {
  // Sealing is a choice in one walk and the rule in the other.
  using site = openSite({ endToEnd: where === 'everywhere' ? 'offered' : 'default' });
  await using visitor = await openVisitor(browser, site, { width: widthsPx[0], scheme: 'dark', ...way });
  const { page } = visitor;
  const names: string[] = [];
  const flaws: string[] = [];
  let noticed = 0;
  const lookAt: Look = async (name, again) => {
    names.push(name);
    const complaints = noticedBy(visitor);
    flaws.push(...complaints.slice(noticed).map((complaint) => `before ${name}: ${complaint}`));
    noticed = complaints.length;
    flaws.push(...(await flawsIn(page, name, way)));
    if (way.scripts === true) flaws.push(...(await plainFlaws(page, name)).map((flaw) => `${name}: ${flaw}`));
    flaws.push(...(await languageFlaws(page, name, way.locale ?? 'en')));
    if (again === undefined || way.also === undefined) return;
    for (const locale of way.also) {
      await page.context().addCookies([{ name: languageCookie, value: locale, url: site.baseUrl }]);
      await again();
      const misfits = await fitFlaws(page, way.touch === true);
      flaws.push(...misfits.map((flaw) => `${name} (${locale}): ${flaw}`));
      flaws.push(...(await languageFlaws(page, name, locale)));
    }
    await page.context().clearCookies({ name: languageCookie });
    await again();
  };
  // Asking is another form, so sharing with several people is looked at in the other walks.
  if (where !== 'requests') await walkSeveral(page, site, lookAt);
  if (where === 'everywhere') await walkCodes(page, site, lookAt);
  await walks[where](page, site, lookAt);
  expect(site.app.faults).toEqual([]);
  return { names, flaws: [...flaws, ...noticedBy(visitor).slice(noticed)] };
}
