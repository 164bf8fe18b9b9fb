/**
 * Pictures of the pages: `npm run pictures`, or `npm run pictures -- FOLDER LANGUAGE` for every state in one language.
 *
 * They show the whole service over its in-memory store, under the address of an installation, at a fixed time. `openssl` makes a
 * certificate for this run only.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { createTestApp, type TestApp } from '../test/support/app.ts';
import { chromiumPath, launchArguments, type Site } from '../test/web/browser.ts';
import { walkEverywhere } from '../test/web/tour.ts';
import { walkSealed } from '../test/web/tour-sealed.ts';

const [folder = 'docs/pictures', locale] = process.argv.slice(2);
const host = 'secrets.example.com';
const baseUrl = `https://${host}`;
const mainStates = new Set([
  ...['share', 'receipt-ready', 'secret', 'revealed', 'receipt-received', 'gone'],
  ...['recent-of-all-kinds', 'account', 'about', 'docs'],
]);
const sizes = {
  phone: { viewport: { width: 390, height: 780 }, hasTouch: true },
  desktop: { viewport: { width: 1_280, height: 800 } },
} as const;
const schemes = ['light', 'dark'] as const;
type Scheme = (typeof schemes)[number];

/** The walk of everything opens links without scripts too, so the server encrypts in it. */
const plain = { baseUrl, endToEnd: 'offered' } as const;
/** What most people see instead. */
const sealedStates: Readonly<Record<string, string>> = {
  'share-sealed': 'share',
  'receipt-sealed': 'receipt-ready',
  sealed: 'secret',
};

function makeCertificate(): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  try {
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject];
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** WebP, a quarter of the size of PNG at equal looks; Playwright itself takes none. */
async function takePicture(page: Page, { whole }: { readonly whole: boolean }): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { cssContentSize, cssVisualViewport } = await session.send('Page.getLayoutMetrics');
  const { clientWidth, clientHeight } = cssVisualViewport;
  const height = whole ? Math.ceil(cssContentSize.height) : clientHeight;
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 85,
    captureBeyondViewport: whole,
    clip: { x: 0, y: 0, width: clientWidth, height, scale: 1 },
  });
  await session.detach();
  return Buffer.from(data, 'base64');
}

async function withPage(
  browser: Browser,
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  // The browser's clock and the service's agree, or the pages would speak of years.
  await context.clock.setFixedTime(app.clock.now() * 1_000);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl });
  await use(await context.newPage());
  await context.close();
}

const siteOf = (app: TestApp): Site => ({ app, baseUrl, [Symbol.dispose]: () => {} });

/** A picture of each state, whole, as long as the page is. */
async function takeSheet(page: Page, suffix: string): Promise<void> {
  const taken = new Set<string>();
  const take = async (name: string) => {
    if ((locale === undefined && !mainStates.has(name)) || taken.has(name)) return;
    taken.add(name);
    const path = join(folder, `${name.replaceAll('/', '-')}-${suffix}.webp`);
    writeFileSync(path, await takePicture(page, { whole: true }));
  };
  app = createTestApp({ baseUrl });
  await walkSealed(page, siteOf(app), (name) => take(sealedStates[name] ?? name));
  app = createTestApp(plain);
  await page.context().clearCookies();
  await walkEverywhere(page, siteOf(app), take);
}

interface Step {
  readonly caption: string;
  readonly picture: Buffer;
}

/** From the secret to the news that it was opened, as its two people see it. */
async function takeSteps(browser: Browser, scheme: Scheme): Promise<readonly Step[]> {
  const steps: Step[] = [];
  app = createTestApp({ baseUrl });
  const viewport = { width: 360, height: 720 };
  const phone = { colorScheme: scheme, viewport, deviceScaleFactor: 2, hasTouch: true } as const;
  const frame = async (page: Page, caption: string) => {
    await page.evaluate(() => scrollTo(0, 0));
    steps.push({ caption, picture: await takePicture(page, { whole: false }) });
  };
  await withPage(browser, phone, async (page) => {
    await page.goto(baseUrl);
    await page.fill('#secret', 'Wi-Fi of the flat: correct horse 4711');
    await frame(page, 'Paste it');
    await page.click('#create');
    await page.waitForSelector('#whole-link:not([hidden])');
    await page.click('button[data-copy="#link"]:visible');
    await page.waitForSelector('.is-copied');
    await frame(page, 'Send the link');
    const link = await page.inputValue('#link');
    app.clock.advance(180);
    await withPage(browser, phone, async (reader) => {
      await reader.goto(link);
      await reader.click('button#open');
      await reader.waitForSelector('#done');
      await frame(reader, 'It opens once');
    });
    app.clock.advance(120);
    await page.context().clock.setFixedTime(app.clock.now() * 1_000);
    await page.reload();
    await frame(page, 'See it was opened');
  });
  return steps;
}

/** The steps beside each other, on nothing, so that they fit whatever page shows them. */
async function composeSteps(browser: Browser, scheme: Scheme, steps: readonly Step[]): Promise<void> {
  const colours =
    scheme === 'light' ? { text: '#1f2328', edge: '#d0cabd' } : { text: '#f0f6fc', edge: '#3d4a47' };
  const figures = steps.map(
    ({ caption, picture }, at) =>
      `<figure><img src="data:image/webp;base64,${picture.toString('base64')}" width="360" height="720">` +
      `<figcaption>${at + 1}. ${caption}</figcaption></figure>`,
  );
  const style = `body { margin: 0; display: flex; gap: 28px; padding: 8px; font: 650 26px/1.3 system-ui, sans-serif; color: ${colours.text} }
    figure { margin: 0 } img { display: block; border: 2px solid ${colours.edge}; border-radius: 28px }
    figcaption { padding-block-start: 16px; text-align: center }`;
  const width = steps.length * (360 + 4) + (steps.length - 1) * 28 + 16;
  await withPage(browser, { viewport: { width, height: 790 }, deviceScaleFactor: 1.5 }, async (page) => {
    await page.setContent(`<style>${style}</style>${figures.join('')}`);
    await page.waitForFunction(() => [...document.images].every((image) => image.complete));
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
    writeFileSync(join(folder, `steps-${scheme}.webp`), await takePicture(page, { whole: false }));
  });
}

let app: TestApp = createTestApp(plain);
using server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: makeCertificate(),
  fetch: (request, self) => app.handler(request, self),
});
const rule = `--host-resolver-rules=MAP ${host}:443 127.0.0.1:${server.port}`;
const browser = await chromium.launch({ executablePath: chromiumPath, args: [...launchArguments, rule] });
mkdirSync(folder, { recursive: true });
for (const scheme of schemes) {
  if (locale === undefined) await composeSteps(browser, scheme, await takeSteps(browser, scheme));
  for (const [sizeName, size] of Object.entries(sizes)) {
    const language = locale === undefined ? {} : { locale };
    await withPage(browser, { colorScheme: scheme, ...size, ...language }, (page) =>
      takeSheet(page, `${sizeName}-${scheme}`),
    );
    console.log(`${sizeName}, ${scheme}: done`);
  }
}
await browser.close();
