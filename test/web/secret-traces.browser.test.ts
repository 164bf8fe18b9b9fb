/**
 * After a secret has been opened: back, forward, reload, a restored tab and the browser's own files show nothing of it.
 */
import { describe, expect, it } from 'bun:test';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, errors, type Page } from 'playwright-core';
import { chromiumPath, launchArguments, openSite, pressOpen, type Site, type Visitor } from './browser.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const canary = 'canary-of-a-value-that-was-shown-once';

const { itInBrowser } = withBrowser();

/** Creates a secret and opens it on this page. */
async function openIn(page: Page, site: Site): Promise<string> {
  const link = site.baseUrl + (await makeWaiting(site.app, { value: canary })).secretPath;
  await page.goto(link);
  await pressOpen(page);
  await page.waitForSelector('#value');
  if ((await page.inputValue('#value')) !== canary) throw new Error('the secret did not open');
  return link;
}

/** Tries again when the browser has meanwhile replaced the page with one of its own. */
async function showsCanary(page: Page): Promise<boolean> {
  for (;;) {
    try {
      const fields = await page
        .locator('textarea')
        .evaluateAll((all) => all.map((each) => (each as HTMLTextAreaElement).value));
      return [await page.content(), ...fields].join('\n').includes(canary);
    } catch (error) {
      if (!String(error).match(/context was destroyed|is navigating/)) throw error;
      await page.waitForLoadState();
    }
  }
}

/**
 * A navigation that the browser refuses (to a form's answer that it may not show again) counts as having shown nothing.
 */
async function moved(move: Promise<unknown>): Promise<void> {
  await move.catch((error: Error) => {
    if (!error.message.includes('ERR_CACHE_MISS')) throw error;
  });
}

/** Tries every way back that people know; returns those that showed the value again. */
async function waysThatShow(visitor: Visitor, site: Site): Promise<string[]> {
  const { page } = visitor;
  const found: string[] = [];
  const look = async (way: string) => void ((await showsCanary(page)) && found.push(way));
  await openIn(page, site);
  await moved(page.goBack());
  await look('back to where it was asked for');
  await moved(page.goForward());
  await look('forward again');
  const link = await openIn(page, site);
  await page.click(`text=${words('gone.shareOwn')}`);
  await page.waitForURL(`${site.baseUrl}/`);
  await moved(page.goBack());
  await look('back from another page');
  await page.goto(link);
  await look('the link again');
  await page.goto(`view-source:${link}`);
  await look('its source');
  return found;
}

for (const scripts of [false, true]) {
  const who = scripts ? 'with scripts' : 'without scripts';

  describe(`after an opening, ${who}`, () => {
    itInBrowser(
      'back, forward, reload, the link again and its source show nothing (T26)',
      { scripts },
      async ({ site, visitor }) => {
        expect(await waysThatShow(visitor, site)).toEqual([]);
        expect([visitor.violations, visitor.elsewhere]).toEqual([[], []]);
      },
    );

    itInBrowser(
      'a reload shows the value again, three times in all; once it is done or the minute is over, nothing',
      { scripts },
      async ({ site, page }) => {
        const reloaded = async () => (await page.reload())?.status();
        await openIn(page, site);
        expect([await reloaded(), await showsCanary(page), await reloaded()]).toEqual([200, true, 200]);
        expect([await reloaded(), await page.textContent('h1')]).toEqual([404, words('gone.title')]);
        await openIn(page, site);
        site.app.clock.advance(60);
        expect([await reloaded(), await showsCanary(page)]).toEqual([404, false]);
        await openIn(page, site);
        await page.click('#done');
        await page.waitForSelector(`text=${words('done.lead')}`);
        await moved(page.goBack());
        expect(await showsCanary(page)).toBe(false);
      },
    );

    it(
      'a browser that keeps pages in memory and restores its tabs shows nothing, and its files hold nothing (T26)',
      async () => {
        using site = openSite();
        const profile = await mkdtemp(join(tmpdir(), 'mayfly-profile-'));
        try {
          await using first = await openProfile(profile, scripts, []);
          const page = await first.context.newPage();
          await openIn(page, site);
          await page.goto(`${site.baseUrl}/`);
          await moved(page.goBack());
          expect(await showsCanary(page)).toBe(false);
          await openIn(page, site);
          if (scripts) await saveAndForget(page);
          await first.context.close();
          await using second = await openProfile(profile, scripts, ['--restore-last-session']);
          const restored = await restoredPage(second.context, site);
          expect(await showsCanary(restored)).toBe(false);
          await second.context.close();
          expect(await filesThatHold(profile, canary)).toEqual([]);
        } finally {
          await rm(profile, { recursive: true, force: true });
        }
      },
      patienceMs,
    );
  });
}

/** A tab that is being restored as the debugger attaches may never answer it (seen once in a hundred starts). */
const launchPatienceMs = 25_000;

/** A browser with a profile on disk and, as people have it, with the back-forward cache. */
async function openProfile(
  profile: string,
  scripts: boolean,
  more: readonly string[],
  launches = 3,
): Promise<{ context: BrowserContext } & AsyncDisposable> {
  try {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: chromiumPath,
      args: [...launchArguments, ...more],
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
      javaScriptEnabled: scripts,
      timeout: launchPatienceMs,
    });
    return { context, [Symbol.asyncDispose]: () => context.close() };
  } catch (error) {
    if (launches === 1 || !(error instanceof errors.TimeoutError)) throw error;
    return openProfile(profile, scripts, more, launches - 1);
  }
}

async function saveAndForget(page: Page): Promise<void> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
  await download.delete();
}

/** The tab that a restart restores: the site's page, or the browser's own page in place of a form's answer. */
async function restoredPage(context: BrowserContext, { baseUrl }: Pick<Site, 'baseUrl'>): Promise<Page> {
  const isRestored = (page: Page) => page.url().startsWith(baseUrl) || page.url().startsWith('chrome-error:');
  const { promise, resolve } = Promise.withResolvers<Page>();
  // A tab may appear, or find its address, before or after this look.
  const follow = (page: Page) => {
    const look = () => void (isRestored(page) && resolve(page));
    page.on('framenavigated', look);
    look();
  };
  context.on('page', follow);
  context.pages().forEach(follow);
  const page = await promise;
  await page.waitForLoadState();
  return page;
}

/** Names of the files that hold the text as UTF-8, as UTF-16 or as base64 at any offset. */
async function filesThatHold(folder: string, text: string): Promise<string[]> {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from(`${'.'.repeat(offset)}${text}`)
      .toString('base64')
      .slice(4, 44),
  );
  const needles = [
    Buffer.from(text),
    Buffer.from(text, 'utf16le'),
    ...base64.map((part) => Buffer.from(part)),
  ];
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    if (needles.some((needle) => bytes.includes(needle))) found.push(entry.name);
  }
  return found;
}

it(
  'an end-to-end secret comes back from no memory for pages and no restored tab without a press, and is in no file (T26)',
  async () => {
    using site = openSite();
    const profile = await mkdtemp(join(tmpdir(), 'mayfly-profile-'));
    try {
      const { link } = await makeSealed(site.app, canary);
      await using first = await openProfile(profile, true, []);
      const page = await first.context.newPage();
      await page.goto(site.baseUrl + link);
      await page.click('#open');
      await page.waitForSelector('#done');
      await page.goto(`${site.baseUrl}/`);
      await moved(page.goBack());
      await page.waitForSelector(`h1:text("${words('again.title')}")`);
      expect(await showsCanary(page)).toBe(false);
      await first.context.close();
      await using second = await openProfile(profile, true, ['--restore-last-session']);
      const restored = await restoredPage(second.context, site);
      expect(await showsCanary(restored)).toBe(false);
      await second.context.close();
      expect(await filesThatHold(profile, canary)).toEqual([]);
    } finally {
      await rm(profile, { recursive: true, force: true });
    }
  },
  patienceMs,
);

describe('what the script does when the page is left', () => {
  itInBrowser(
    'takes the value out of the page, and asks the server again if a memory of the page is shown',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await openIn(page, site);
      await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
      expect([await showsCanary(page), await page.locator('#save').count()]).toEqual([false, 0]);
      await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
      await page.waitForSelector(`text=${words('gone.title')}`);
      expect([visitor.violations, visitor.elsewhere]).toEqual([[], []]);
    },
  );
});

describe('self-tests', () => {
  it(
    'an answer to GET that may be stored is found: in the memory for pages, in a restored tab and on disk',
    async () => {
      const page = `<!doctype html><title>a</title><form><textarea>${canary}</textarea></form>`;
      using careless = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: ({ url }) =>
          new Response(url.endsWith('/other') ? 'other' : page, {
            headers: { 'content-type': 'text/html', 'cache-control': 'max-age=600' },
          }),
      });
      const baseUrl = `http://localhost:${careless.port}`;
      const profile = await mkdtemp(join(tmpdir(), 'mayfly-profile-'));
      try {
        await using first = await openProfile(profile, true, []);
        const tab = await first.context.newPage();
        await tab.goto(`${baseUrl}/`);
        await tab.evaluate(
          "addEventListener('pageshow', (event) => (document.title = String(event.persisted)))",
        );
        await tab.goto(`${baseUrl}/other`);
        // A page from the back-forward cache does not load anything.
        await tab.goBack({ waitUntil: 'commit' });
        expect([await showsCanary(tab), await tab.title()]).toEqual([true, 'true']);
        await first.context.close();
        await using second = await openProfile(profile, true, ['--restore-last-session']);
        const restored = await restoredPage(second.context, { baseUrl });
        expect(await showsCanary(restored)).toBe(true);
        await second.context.close();
        expect((await filesThatHold(profile, canary)).length).toBeGreaterThan(0);
      } finally {
        await rm(profile, { recursive: true, force: true });
      }
    },
    patienceMs,
  );
});
