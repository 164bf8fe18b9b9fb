/**
 * A real browser against the whole service on loopback.
 *
 * Scripts are off unless a test asks for them. Whatever a page requests from another host is recorded and refused, and
 * whatever its policy blocks is recorded.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RunOnly, run } from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page, type Route } from 'playwright-core';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';

export type Scheme = 'light' | 'dark';

export interface Site {
  readonly app: TestApp;
  readonly baseUrl: string;
  [Symbol.dispose](): void;
}

/** A browser as people use it: it remembers pages and restores its tabs. */
export const chromiumPath = '/usr/bin/chromium';
/** The same pages at half the cost: the test run is limited by its two processors. */
const shellPath = '/usr/bin/chromium-headless-shell';

export const launchArguments = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
  '--disable-component-update',
  // Not a separate process for each page.
  '--process-per-site',
  '--disable-site-isolation-trials',
  // Nothing is asked of another host. Routes of Playwright could refuse it too, but every request would take their way, and
  // nothing come from the browser's cache.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

/** No page of a test lives long enough to gain from V8's optimizing compilers: they cost a tenth of a tour. */
const unoptimized = ['--js-flags=--no-maglev,--no-opt'];

/** @param more further arguments; what measures pages passes none */
export function launchBrowser(more: readonly string[] = unoptimized): Promise<Browser> {
  return chromium.launch({ executablePath: shellPath, args: [...launchArguments, ...more] });
}

export function openSite(options: TestAppOptions = {}): Site {
  let handler: TestApp['handler'] = () => new Response(null, { status: 503 });
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 120,
    fetch: (request, self) => handler(request, self),
  });
  const baseUrl = `http://localhost:${server.port}`;
  const app = createTestApp({ baseUrl, ...options });
  handler = app.handler;
  return { app, baseUrl, [Symbol.dispose]: () => void server.stop(true) };
}

export interface Visitor {
  readonly page: Page;
  /** Addresses on other hosts that a page requested. */
  readonly elsewhere: readonly string[];
  /** The console's messages, including policy violations and failed loads. */
  readonly complaints: readonly string[];
  /** What the policy blocked, from its own event (with scripts) and from the console. */
  readonly violations: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export interface VisitorOptions {
  readonly scheme?: Scheme;
  readonly width?: number;
  readonly height?: number;
  /** A finger in place of a mouse. */
  readonly touch?: boolean;
  /** Off when absent. The pages work without scripts; axe needs them. */
  readonly scripts?: boolean;
  /** The browser's `Accept-Language`; `en-US` when absent. */
  readonly locale?: string;
  /** As the system would report it, such as `Asia/Tokyo`; the system's own when absent. */
  readonly timezoneId?: string;
  /** Lays out every page from right to left, whatever its language. */
  readonly rtl?: boolean;
  /** `reduce` when absent. */
  readonly reducedMotion?: 'reduce' | 'no-preference';
  readonly userAgent?: string;
}

export async function openVisitor(
  browser: Browser,
  site: Pick<Site, 'baseUrl'>,
  options: VisitorOptions = {},
): Promise<Visitor> {
  const { scheme = 'light', width = 1_280, height = 800, scripts = false } = options;
  const context = await browser.newContext({
    javaScriptEnabled: scripts,
    colorScheme: scheme,
    viewport: { width, height },
    hasTouch: options.touch ?? false,
    reducedMotion: options.reducedMotion ?? 'reduce',
    ...(options.locale === undefined ? {} : { locale: options.locale }),
    ...(options.timezoneId === undefined ? {} : { timezoneId: options.timezoneId }),
    ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent }),
  });
  const elsewhere: string[] = [];
  noteOthers(context, site.baseUrl, elsewhere);
  if (options.rtl === true) await context.route(`${site.baseUrl}/**`, mirror);
  const page = await context.newPage();
  return { page, elsewhere, ...(await listen(page)), [Symbol.asyncDispose]: () => context.close() };
}

export const openButton = ':is(form.opening button[type="submit"], button#open)';

/** Opens the secret as a person does, who without scripts ticks the box first. */
export async function pressOpen(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  const box = page.locator('input#open:visible');
  if ((await box.count()) > 0) await box.check();
  await page.click(openButton);
}

const violationMark = 'securitypolicyviolation';
/**
 * A test types before the browser has reached its autofocus, faster than any person; this is not a complaint about the
 * page.
 */
const tooFast = 'Autofocus processing was blocked because a document already has a focused element.';

async function listen(page: Page): Promise<Pick<Visitor, 'complaints' | 'violations'>> {
  const complaints: string[] = [];
  const violations: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    if (text === tooFast) return;
    if (text.startsWith(violationMark) || text.includes('Content Security Policy')) violations.push(text);
    if (!text.startsWith(violationMark)) complaints.push(text);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('response', (response) => {
    const { 'content-type': type = '', 'cache-control': caching } = response.headers();
    const isPage = response.request().isNavigationRequest() && type.startsWith('text/html');
    if (isPage && caching !== 'no-store, no-transform')
      complaints.push(`${response.url()} may be stored or rewritten on its way: ${caching}`);
  });
  await page.addInitScript((mark) => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`${mark} ${event.effectiveDirective} ${event.blockedURI}`);
    });
  }, violationMark);
  return { complaints, violations };
}

/** The page as a right-to-left language would lay it out. */
async function mirror(route: Route): Promise<void> {
  if (route.request().resourceType() !== 'document') return route.fallback();
  const response = await route.fetch({ maxRedirects: 0 });
  const isPage = (response.headers()['content-type'] ?? '').startsWith('text/html');
  if (!isPage) return route.fulfill({ response });
  const body = (await response.text()).replace(/<html([^>]*) dir="ltr"/, '<html$1 dir="rtl"');
  return route.fulfill({ response, body });
}

/** Everything the site stores in this browser, one line each; also works with scripts off. */
export async function storageEntries(page: Page): Promise<string[]> {
  const entries: string[] = await page.evaluate(async () => {
    const databases = await indexedDB.databases();
    return [
      ...Object.keys(localStorage).map((key) => `local: ${key}`),
      ...Object.keys(sessionStorage).map((key) => `session: ${key}`),
      ...(await caches.keys()).map((key) => `cache: ${key}`),
      ...databases.map(({ name }) => `database: ${name}`),
    ];
  });
  return entries;
}

/** Fields in which a browser or a keyboard may change what is typed. Prose may be corrected, and numbers cannot be. */
export async function correctingFields(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [
      ...document.querySelectorAll(
        ':is(input:is([type="text"], [type="email"], [type="password"], :not([type])), textarea:not(.prose)):not([readonly], [inputmode="numeric"])',
      ),
    ]
      .filter((field) =>
        Object.entries({ autocorrect: 'off', autocapitalize: 'off', spellcheck: 'false' }).some(
          ([name, value]) => field.getAttribute(name) !== value,
        ),
      )
      .map((field) => field.outerHTML.slice(0, 80)),
  );
}

export const tooWide = 'document.documentElement.scrollWidth - innerWidth';

/** How many pixels the page is wider than its window; 0 when it fits. */
export async function overflowPx(page: Page): Promise<number> {
  return Math.max(0, Number(await page.evaluate(tooWide)));
}

/** They are refused by the launch arguments. */
function noteOthers(context: BrowserContext, baseUrl: string, elsewhere: string[]): void {
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== baseUrl && /^(?:https?|wss?):$/.test(url.protocol)) elsewhere.push(url.href);
  });
}

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
declare const axe: { readonly run: typeof run };

/** WCAG 2.2 A and AA, and axe's own best practices. */
const everyRule: RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};

/** What a language can break where another has passed every rule: its mark, and how far its words reach. */
export const rulesOfLanguage: RunOnly = {
  type: 'rule',
  values: ['html-has-lang', 'html-lang-valid', 'valid-lang', 'target-size', 'scrollable-region-focusable'],
};

async function handOverAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in globalThis)) return;
  // Not by the page's own `evaluate`, which reads these 570 kB twice more.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axeSource });
  await session.detach();
}

/** What axe finds. */
export async function accessibilityFlaws(page: Page, runOnly = everyRule): Promise<string[]> {
  await handOverAxe(page);
  return page.evaluate(async (only) => {
    // Handing over everything else that axe reports takes as long as its check.
    const { violations } = await axe.run(document, { runOnly: only, resultTypes: ['violations'] });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`,
    );
  }, runOnly);
}
