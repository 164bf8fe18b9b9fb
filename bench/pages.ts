/**
 * What a browser transfers and waits for, and what a page costs the server.
 *
 * Every visit is a first one (a fresh browser context, an empty cache). Bytes are those on the wire, headers included, as the
 * browser's protocol counts them (CDP `Network.loadingFinished`).
 */
import { connect } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../test/web/browser.ts';
import { median } from './figures.ts';
import { benchValue } from './jobs.ts';
import { type BenchServer, cpuMicroseconds } from './processes.ts';

export interface PageFigures {
  readonly label: string;
  readonly requests: number;
  readonly transferredBytes: number;
  /** Of the visits: to the first byte of the page, and until it and all it loads have come. Medians, milliseconds. */
  readonly firstByteMilliseconds: number;
  readonly completeMilliseconds: number;
  /** Processor time of the server for the page alone, compressed, in a row on one connection. */
  readonly cpuMicroseconds: number;
}

export interface PagesFigures {
  readonly pages: readonly PageFigures[];
  /** The same for the bare Bun server's answer, for the ratio. */
  readonly bareCpuMicroseconds: number;
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

/** Requests of one page, one after the other on one connection. */
async function askRepeatedly(port: number, path: string, count: number): Promise<void> {
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  try {
    let received = Buffer.alloc(0);
    let waiting: (() => void) | null = null;
    socket.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part]);
      waiting?.();
    });
    for (let asked = 0; asked < count; asked += 1) {
      socket.write(request);
      while (!isWhole(received)) await new Promise<void>((resolve) => (waiting = resolve));
      received = Buffer.alloc(0);
    }
  } finally {
    socket.destroy();
  }
}

function isWhole(answer: Buffer): boolean {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = /^content-length: (\d+)/im.exec(answer.subarray(0, end).toString('latin1'))?.[1];
  if (length === undefined) throw new Error('an answer without a length');
  return answer.length >= end + 4 + Number(length);
}

export async function cpuOfPage(server: BenchServer, path: string, count: number): Promise<number> {
  await askRepeatedly(server.port, path, count / 2);
  const before = cpuMicroseconds(server.pid);
  await askRepeatedly(server.port, path, count);
  return (cpuMicroseconds(server.pid) - before) / count;
}

export async function concealOne(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/share`, {
    method: 'POST',
    body: new URLSearchParams({ secret: benchValue }),
  });
  const { secret_key: key } = (await response.json()) as { secret_key: string };
  return `/secret/${key}`;
}

/** @param visits of each page in the browser */
export async function measurePages(
  service: BenchServer,
  bare: BenchServer,
  { visits, requests }: { visits: number; requests: number },
): Promise<PagesFigures> {
  const browser = await launchBrowser();
  try {
    const pages: PageFigures[] = [];
    for (const [label, path] of [
      ['`/`', '/'],
      ['`/secret/:key`', await concealOne(service.port)],
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
        cpuMicroseconds: await cpuOfPage(service, path, requests),
      });
    }
    return { pages, bareCpuMicroseconds: await cpuOfPage(bare, '/', requests) };
  } finally {
    await browser.close();
  }
}
