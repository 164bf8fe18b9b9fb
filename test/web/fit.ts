/** Whether a page fits its window, the reader's eye, a fingertip and the keyboard, all in one question to the browser. */
import type { Page } from 'playwright-core';
import { tooWide } from './browser.ts';

/** Fields whose text is so small (below 16 px) that Safari on an iPhone zooms in when they are touched. */
const smallFieldsHere = () =>
  [...document.querySelectorAll('input:not([type="hidden"]), select, textarea')]
    .map((field) => ({ field, size: getComputedStyle(field).fontSize }))
    .filter(({ size }) => Number.parseFloat(size) < 16)
    .map(({ field, size }) => `${field.id || field.outerHTML.slice(0, 60)} is ${size}`);

/** What a fingertip covers, in CSS pixels: WCAG 2.2 calls it the enhanced target size (2.5.5). */
const fingertipPx = 44;

/**
 * What can be pressed and is smaller than a fingertip. Links within a sentence may be: their size is that of the line (WCAG
 * 2.5.5, inline).
 */
const smallTargetsHere = (leastPx: number) => {
  const pressable = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"]';
  const isLarge = ({ width, height }: DOMRect) => Math.min(width, height) >= leastPx - 0.5;

  function isInSentence(element: Element): boolean {
    if (getComputedStyle(element).display !== 'inline') return false;
    let block = element.parentElement;
    while (block !== null && getComputedStyle(block).display.startsWith('inline'))
      block = block.parentElement;
    const copy = block?.cloneNode(true) as Element | undefined;
    for (const other of copy?.querySelectorAll(pressable) ?? []) other.remove();
    return /[\p{L}\p{N}]/u.test(copy?.textContent ?? '');
  }

  /** Its own box can be smaller than where it takes a press: labels and generated boxes count too. */
  function isHitAround(element: Element): boolean {
    element.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { x, y, width, height } = element.getBoundingClientRect();
    const [middleX, middleY] = [x + width / 2, y + height / 2];
    const labels: readonly Element[] = [...((element as HTMLInputElement).labels ?? [])];
    if (labels.some((label) => isLarge(label.getBoundingClientRect()))) return true;
    /** How far a press still reaches it, from its middle. */
    const reachPx = (across: number, down: number): number => {
      for (let px = 1; px < leastPx; px += 1) {
        const hit = document.elementFromPoint(middleX + across * px, middleY + down * px);
        // A menu that is open lies over what it does not belong to.
        const menu = hit?.closest('details[open]') ?? null;
        const isUnder = menu !== null && !menu.contains(element);
        if (!isUnder && ![element, ...labels].some((each) => each.contains(hit))) return px;
      }
      return leastPx;
    };
    const least = leastPx - 1;
    return reachPx(-1, 0) + reachPx(1, 0) >= least && reachPx(0, -1) + reachPx(0, 1) >= least;
  }

  const [left, top] = [scrollX, scrollY];
  const small = [...document.querySelectorAll(pressable)].filter((element) => {
    const box = element.getBoundingClientRect();
    const isShown = element.checkVisibility({ visibilityProperty: true }) && box.width > 4 && box.height > 4;
    // The skip link, until it has the focus.
    const isAside = box.right <= 0 || box.bottom + scrollY <= 0;
    if (!isShown || isAside || element.matches(':disabled') || isLarge(box)) return false;
    return !isInSentence(element) && !isHitAround(element);
  });
  scrollTo({ left, top, behavior: 'instant' });
  return small.map((element) => {
    const { width, height } = element.getBoundingClientRect();
    return `${element.outerHTML.slice(0, 80)} is ${Math.round(width)} × ${Math.round(height)} px`;
  });
};

/** Icons of a text that are neither beside its first line nor in the middle of all its lines. */
const strayIconsHere = () =>
  [...document.querySelectorAll('p > .icon, li > .icon, a > .icon, label > .icon')].flatMap((icon) => {
    const next = icon.nextElementSibling ?? icon.nextSibling;
    const box = icon.getBoundingClientRect();
    const isShown = icon.checkVisibility({ visibilityProperty: true }) && box.height > 0;
    if (!isShown || next === null || next.textContent?.trim() === '') return [];
    const range = document.createRange();
    range.selectNodeContents(next);
    const line = [...range.getClientRects()].find(({ width }) => width > 1);
    const whole = range.getBoundingClientRect();
    const middle = box.top + box.height / 2;
    if (Math.abs(middle - (whole.top + whole.bottom) / 2) < 3) return [];
    // Below it, where a narrow button stacks them.
    if (line === undefined || line.top >= box.bottom || (middle > line.top && middle < line.bottom))
      return [];
    return [`${icon.parentElement?.outerHTML.slice(0, 80)} is ${Math.round(middle - line.top)} px off`];
  });

/** What scrolls and cannot be reached with the keyboard, nor anything in it: axe's rule, in every width and language. */
const scrollersOutOfReachHere = () => {
  const reachable = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"]';
  return [...document.querySelectorAll('body *')]
    .filter((element) => {
      const isWide = element.scrollWidth - element.clientWidth > 14;
      const isHigh = element.scrollHeight - element.clientHeight > 14;
      // Few are, and the style of all the others takes longer than anything else here.
      if (!isWide && !isHigh) return false;
      const { overflowX, overflowY } = getComputedStyle(element);
      const scrolls = (isWide && /auto|scroll/.test(overflowX)) || (isHigh && /auto|scroll/.test(overflowY));
      const isReached = element.matches(reachable) || element.querySelector(reachable) !== null;
      return scrolls && !isReached && element.checkVisibility({ visibilityProperty: true });
    })
    .map((element) => element.outerHTML.slice(0, 80));
};

/** Languages of parts that no reader aloud would know. */
const strangeLanguagesHere = () =>
  [...document.querySelectorAll('[lang]')]
    .map((part) => part.getAttribute('lang') ?? '')
    .filter((lang) => !/^[a-z]{2,3}(?:-[A-Za-z]{4})?(?:-[A-Z]{2})?$/.test(lang));

export const smallTargets = (page: Page): Promise<string[]> => page.evaluate(smallTargetsHere, fingertipPx);

interface Fit {
  /** Of the window, when it was measured. */
  readonly width: number;
  readonly overflow: number;
  readonly fields: readonly string[];
  readonly targets: readonly string[];
  readonly icons: readonly string[];
  readonly scrollers: readonly string[];
  readonly languages: readonly string[];
}

async function measure(page: Page, touch: boolean): Promise<{ width: number; flaws: string[] }> {
  const found = await page.evaluate<Fit>(`({
    width: innerWidth,
    overflow: ${tooWide},
    fields: (${smallFieldsHere})(),
    targets: ${touch} ? (${smallTargetsHere})(${fingertipPx}) : [],
    icons: (${strayIconsHere})(),
    scrollers: (${scrollersOutOfReachHere})(),
    languages: (${strangeLanguagesHere})(),
  })`);
  const flaws = [
    ...(found.overflow > 0 ? [`${found.overflow} px too wide`] : []),
    ...found.fields.map((field) => `the text of ${field}`),
    ...found.targets.map((target) => `too small for a finger: ${target}`),
    ...found.icons.map((icon) => `an icon is not beside its text: ${icon}`),
    ...found.scrollers.map((scroller) => `no key scrolls ${scroller}`),
    ...found.languages.map((lang) => `a part speaks ${lang}`),
  ];
  return { width: found.width, flaws };
}

/** What does not fit. */
export const fitFlaws = async (page: Page, touch: boolean): Promise<string[]> =>
  (await measure(page, touch)).flaws;

const resize = (page: Page, width: number) => page.setViewportSize({ width, height: 800 });

/**
 * What does not fit in each width; ends in the last. Sizes and questions follow each other without waiting, so that the browser does not
 * draw each size. What it answered in another width than it was asked for is asked again.
 */
export async function fitFlawsIn(
  page: Page,
  widths: readonly number[],
  touch: boolean,
): Promise<ReadonlyMap<number, string[]>> {
  const measured = await Promise.all(
    widths.map(async (width) => (await Promise.all([resize(page, width), measure(page, touch)]))[1]),
  );
  const found = new Map<number, string[]>();
  for (const [at, width] of widths.entries()) {
    const { width: asked, flaws = [] } = measured[at] ?? {};
    if (asked !== width) await resize(page, width);
    found.set(width, asked === width ? flaws : await fitFlaws(page, touch));
  }
  await resize(page, widths.at(-1) ?? 0);
  return found;
}
