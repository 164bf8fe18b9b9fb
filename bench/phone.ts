/**
 * An end-to-end secret on a slow phone: Chromium with its processor slowed to a fourth.
 *
 * The browser slows the page's own thread and no worker. So the passphrase is stretched on the page's thread for its time, and by the
 * worker, at full speed, where the question is how long the page is blocked.
 */
import type { Browser, Page } from 'playwright-core';
import { builtInPlans } from '../src/core/plans.ts';
import { repositoryRoot } from '../test/support/started-server.ts';
import { launchBrowser, openSite, openVisitor } from '../test/web/browser.ts';
import { openOption } from '../test/web/creator.ts';
import { median } from './figures.ts';

export interface PhoneFigures {
  /** Of a passphrase, in the browser. */
  readonly stretchMilliseconds: number;
  /** Each step of a person, and the longest that the page could not answer meanwhile. */
  readonly steps: readonly PhoneStep[];
}

export interface PhoneStep {
  readonly label: string;
  readonly milliseconds: number;
  /** 0: never 50 ms or longer, which is what a browser reports. */
  readonly blockedMilliseconds: number;
}

/** Of the page's own thread. */
export const slowdown = 4;
const phone = { scripts: true, width: 390, height: 844 } as const;
const megabyte = 1_000_000;

async function slow(page: Page): Promise<void> {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
}

/** The product's own function, in a page without a policy. */
async function measureStretch(browser: Browser, runs: number): Promise<number> {
  const built = await Bun.build({
    entrypoints: [`${repositoryRoot}/sdk/stretch.ts`],
    ...{ target: 'browser', format: 'esm', minify: true },
  });
  const code = (await built.outputs[0]?.text()) ?? '';
  const context = await browser.newContext();
  const page = await context.newPage();
  await slow(page);
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    times.push(
      await page.evaluate(async (text) => {
        const { stretch } = await import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
        const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
        const before = performance.now();
        await stretch(random(28), random(16));
        return performance.now() - before;
      }, code),
    );
  }
  await context.close();
  return median(times);
}

/**
 * Reports every task of 50 ms or more (W3C Long Tasks), on all pages that the tab visits: the answer is the longest that began since a
 * time, in Unix milliseconds. What began before was the test's own, such as handing the page a file.
 */
async function watchBlocking(page: Page): Promise<(since: number) => number> {
  const tasks: { readonly at: number; readonly milliseconds: number }[] = [];
  await page.exposeFunction('reportTask', (at: number, milliseconds: number) => {
    tasks.push({ at, milliseconds });
  });
  await page.addInitScript(() => {
    const { reportTask } = globalThis as unknown as {
      reportTask: (at: number, milliseconds: number) => void;
    };
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries())
        reportTask(performance.timeOrigin + startTime, duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  return (since) =>
    Math.max(0, ...tasks.filter(({ at }) => at >= since).map(({ milliseconds }) => milliseconds));
}

/** The protocol that drives the browser copies each body on the page's thread, but for blobs: its own work, not the page's. */
async function sparePage(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const type = 'application/x-www-form-urlencoded';
    const { send } = XMLHttpRequest.prototype;
    XMLHttpRequest.prototype.send = function (body) {
      send.call(
        this,
        body instanceof URLSearchParams ? new Blob([body.toString()], { type }) : (body ?? null),
      );
    };
  });
}

/** Shared on the phone and opened on it. */
async function walk(
  browser: Browser,
  label: string,
  fill: (page: Page) => Promise<void>,
  passphrase: string | null,
): Promise<PhoneStep[]> {
  const plans = { anonymous: { ...builtInPlans.anonymous, maxSealedBytes: megabyte + 1_000 } };
  using site = openSite({ plans });
  await using visitor = await openVisitor(browser, site, phone);
  const { page } = visitor;
  await slow(page);
  await sparePage(page);
  const longestSince = await watchBlocking(page);
  const step = async (what: string, press: string, until: string): Promise<PhoneStep> => {
    // The observer reports when the page is idle.
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    const pressedAt = Date.now();
    await page.click(press);
    await page.waitForSelector(until);
    const milliseconds = Date.now() - pressedAt;
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    return { label: `${what} ${label}`, milliseconds, blockedMilliseconds: longestSince(pressedAt) };
  };
  await page.goto(`${site.baseUrl}/`);
  await fill(page);
  if (passphrase !== null) {
    await openOption(page, 'passphrase');
    await page.fill('#passphrase', passphrase);
  }
  const shared = await step('share', '#create', '#whole-link:not([hidden])');
  await page.goto(await page.inputValue('#link'));
  if (passphrase !== null) await page.fill('#passphrase', passphrase);
  const opened = await step('open', '#open', '#done');
  return [shared, opened];
}

const passphrase = 'correct horse battery staple';
const typeText = (page: Page) => page.fill('#secret', 'a long password, typed on a phone');
const chooseFile = (page: Page) =>
  page.setInputFiles('#file', {
    ...{ name: 'photo.jpg', mimeType: 'image/jpeg' },
    buffer: Buffer.alloc(megabyte, 7),
  });

/** @param runs of each; medians of the times, and the longest of all that the page was blocked */
export async function measurePhone(runs: number): Promise<PhoneFigures> {
  const browser = await launchBrowser([]);
  try {
    const stretchMilliseconds = await measureStretch(browser, runs);
    const walks: PhoneStep[][] = [];
    for (let run = 0; run < runs; run += 1) {
      walks.push([
        ...(await walk(browser, 'a text', typeText, null)),
        ...(await walk(browser, 'a text with a passphrase', typeText, passphrase)),
        ...(await walk(browser, 'a file of 1 MB', chooseFile, null)),
      ]);
      console.error(`phone: run ${run + 1} of ${runs}`);
    }
    const steps = (walks[0] ?? []).map(({ label }, index) => {
      const taken = walks.flatMap((each) => each[index] ?? []);
      return {
        label,
        milliseconds: median(taken.map(({ milliseconds }) => milliseconds)),
        blockedMilliseconds: Math.max(...taken.map(({ blockedMilliseconds }) => blockedMilliseconds)),
      };
    });
    return { stretchMilliseconds, steps };
  } finally {
    await browser.close();
  }
}
