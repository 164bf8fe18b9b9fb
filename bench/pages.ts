/**
 * What a browser transfers and waits for.
 *
 * Every visit is a first one (a fresh browser context, an empty cache). Bytes are those on the wire, headers included, as the
 * browser's protocol counts them (CDP `Network.loadingFinished`).
 */
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../test/web/browser.ts';
import { median } from './figures.ts';
import { concealOne, labels } from './load.ts';
import type { BenchServer } from './processes.ts';

export interface PageFigures {
  readonly label: string;
  readonly requests: number;
  readonly transferredBytes: number;
  /** Of the visits: to the first byte of the page, and until it and all it loads have come. Medians, milliseconds. */
  readonly firstByteMilliseconds: number;
  readonly completeMilliseconds: number;
}

interface Visit {
  readonly requests: number;
  readonly transferredBytes: number;
  readonly firstByteMilliseconds: number;
  readonly completeMilliseconds: number;
}

async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const protocol = await context.newCDPSession(page);
    await protocol.send('Network.enable');
    let requests = 0;
    let transferredBytes = 0;
    protocol.on('Network.loadingFinished', ({ encodedDataLength }) => {
      requests += 1;
      transferredBytes += encodedDataLength;
    });
    await page.goto(url, { waitUntil: 'load' });
    await page.waitForLoadState('networkidle');
    return { ...(await timesOf(page)), requests, transferredBytes };
  } finally {
    await context.close();
  }
}

function timesOf(page: Page): Promise<Pick<Visit, 'firstByteMilliseconds' | 'completeMilliseconds'>> {
  return page.evaluate(() => {
    const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    return {
      firstByteMilliseconds: entry?.responseStart ?? Number.NaN,
      completeMilliseconds: entry?.loadEventEnd ?? Number.NaN,
    };
  });
}

/** @param visits of each page; each a first one */
export async function measurePages(service: BenchServer, visits: number): Promise<PageFigures[]> {
  const browser = await launchBrowser([]);
  try {
    const pages: PageFigures[] = [];
    for (const [label, path] of [
      [labels.home, '/'],
      [labels.secret, await concealOne(service)],
    ] as const) {
      const taken: Visit[] = [];
      for (let count = 0; count < visits; count += 1)
        taken.push(await visit(browser, `http://localhost:${service.port}${path}`));
      const of = (field: keyof Visit) => median(taken.map((one) => one[field]));
      pages.push({
        label,
        requests: Math.max(...taken.map((one) => one.requests)),
        transferredBytes: Math.max(...taken.map((one) => one.transferredBytes)),
        firstByteMilliseconds: of('firstByteMilliseconds'),
        completeMilliseconds: of('completeMilliseconds'),
      });
    }
    return pages;
  } finally {
    await browser.close();
  }
}
