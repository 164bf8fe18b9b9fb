/**
 * A real browser against the whole service on loopback.
 *
 * Owns: the start and the end of both. Invariant: scripts are off; whatever the page asks of another host is recorded
 * and refused, and whatever its policy blocks is recorded.
 */
import AxeBuilder from '@axe-core/playwright';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';

export type Scheme = 'light' | 'dark';

export interface Site {
  readonly app: TestApp;
  readonly baseUrl: string;
  [Symbol.dispose](): void;
}

const launchArguments = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
  '--disable-component-update',
];

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: launchArguments });
}

export function openSite(options: TestAppOptions = {}): Site {
  let handler: TestApp['handler'] = () => new Response(null, { status: 503 });
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, self) => handler(request, self),
  });
  const baseUrl = `http://localhost:${server.port}`;
  const app = createTestApp({ baseUrl, ...options });
  handler = app.handler;
  return { app, baseUrl, [Symbol.dispose]: () => void server.stop(true) };
}

export interface Visitor {
  readonly page: Page;
  /** Addresses of other hosts that a page asked for. */
  readonly elsewhere: readonly string[];
  /** What the console said: policy violations and failed loads among it. */
  readonly complaints: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export interface VisitorOptions {
  readonly scheme?: Scheme;
  readonly width?: number;
  readonly height?: number;
  /** Off when absent. The pages have none of their own; axe needs them. */
  readonly scripts?: boolean;
}

export async function openVisitor(
  browser: Browser,
  site: Site,
  options: VisitorOptions = {},
): Promise<Visitor> {
  const { scheme = 'light', width = 1_280, height = 800, scripts = false } = options;
  const context = await browser.newContext({
    javaScriptEnabled: scripts,
    colorScheme: scheme,
    viewport: { width, height },
    reducedMotion: 'reduce',
  });
  const elsewhere: string[] = [];
  await refuseOthers(context, site.baseUrl, elsewhere);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, elsewhere, complaints, [Symbol.asyncDispose]: () => context.close() };
}

function refuseOthers(context: BrowserContext, baseUrl: string, elsewhere: string[]): Promise<unknown> {
  return context.route(
    (url) => url.origin !== baseUrl,
    (route) => {
      elsewhere.push(route.request().url());
      return route.abort();
    },
  );
}

/** What axe finds against WCAG 2.2 A and AA and its own best practices. */
export async function accessibilityFlaws(page: Page): Promise<string[]> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`,
  );
}
