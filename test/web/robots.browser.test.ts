/**
 * Everything that looks at a link without a person pressing its button: previews, scanners, prefetch and prerender (P4,
 * T26).
 */
import { describe, expect, it } from 'bun:test';
import type { Page } from 'playwright-core';
import { clientStays } from '../stores/conformance/check.ts';
import type { TestAppOptions } from '../support/app.ts';
import { openSite, openVisitor, type Site } from './browser.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { withMethod } from './store-method.ts';
import { textIn, tickedBox } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const canary = 'still here';

const { browser } = withBrowser();

/** The agents of common link previews and mail scanners, as they call themselves. */
const agents: Readonly<Record<string, string>> = {
  Slack: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  X: 'Twitterbot/1.0',
  Facebook: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  WhatsApp: 'WhatsApp/2.23.20.0 A',
  Discord: 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  Telegram: 'TelegramBot (like TwitterBot)',
  LinkedIn: 'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
  Teams: 'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
  Google: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  Signal: 'WhatsApp/2',
  'a mail scanner':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36',
};

/** What such robots request: whether there is an answer, the answer, a part of it, and what a prefetch would get. */
const requests: readonly RequestInit[] = [
  { method: 'HEAD' },
  { method: 'OPTIONS' },
  { method: 'GET' },
  { method: 'GET', headers: { range: 'bytes=0-32767', accept: 'text/html,image/*;q=0.8' } },
  { method: 'GET', headers: { 'sec-purpose': 'prefetch', purpose: 'prefetch' } },
  { method: 'GET', headers: { 'sec-purpose': 'prefetch;prerender', 'sec-fetch-site': 'cross-site' } },
];

/** One look at a link, by whatever means. */
type Look = (site: Site, link: string) => Promise<void>;

async function expand(link: string, agent: string): Promise<string[]> {
  const pages: string[] = [];
  for (const init of requests) {
    const headers = { ...(init.headers as Record<string, string>), 'user-agent': agent };
    pages.push(await (await fetch(link, { ...init, headers })).text());
  }
  return pages;
}

/** Runs scripts, scrolls, hovers over everything, focuses everything and follows every link; presses nothing. */
const wander: Look = async (site, link) => {
  await using visitor = await openVisitor(browser(), site, { scripts: true });
  const { page } = visitor;
  await page.goto(link);
  await page.mouse.wheel(0, 5_000);
  for (const each of await page.locator('main :is(a, button, input, p, li)').all()) {
    if (!(await each.isVisible())) continue;
    await each.hover();
    await each.focus();
  }
  const links = page.locator('a').evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement).href));
  for (const address of new Set(await links)) await page.goto(address);
  await page.goto(link);
  await page.evaluate(async (address) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) await fetch(address, { method });
  }, link);
};

/** What a program can do to a page that runs its scripts; each is tried on a page of its own. */
const presses: readonly string[] = ['main *', 'form.opening input, form.opening button']
  .flatMap((selector) => [
    `for (const each of document.querySelectorAll('${selector}')) each.click?.()`,
    `for (const each of document.querySelectorAll('${selector}')) for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click', 'submit'])
     each.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true, composed: true }))`,
  ])
  .concat([
    "for (const form of document.querySelectorAll('main form')) form.requestSubmit()",
    "for (const form of document.querySelectorAll('main form')) form.requestSubmit(form.querySelector('[type=submit]'))",
    `for (const box of document.querySelectorAll('input[type=checkbox]')) box.checked = true;
   for (const form of document.querySelectorAll('main form')) form.submit()`,
  ]);

/** Whatever the last press has begun: a link or a form that leads away interrupts. */
async function arriveAt(page: Page, address: string): Promise<void> {
  for (;;) {
    try {
      await page.goto(address);
      return;
    } catch (error) {
      if (!String(error).includes('is interrupted by another navigation')) throw error;
      await page.waitForLoadState();
    }
  }
}

/** Types into every field and presses everything, as a program presses: no event of it is trusted. */
function pressAll(scripts: boolean): Look {
  return async (site, link) => {
    await using visitor = await openVisitor(browser(), site, { scripts });
    const { page } = visitor;
    // Without scripts on the page there is nobody to press: forms are sent as they are.
    const posts: Promise<unknown>[] = [];
    page.on('request', (request) => void posts.push(request.response().catch(() => null)));
    const tried = scripts ? presses : presses.filter((each) => each.includes('ubmit()'));
    // Where it is opened, and where its recipient burns it unread.
    for (const [address, press] of [link, `${link}/burn`].flatMap((at) =>
      tried.map((each) => [at, each] as const),
    )) {
      await arriveAt(page, address);
      await page.evaluate(
        "for (const field of document.querySelectorAll('[type=password]')) field.value = 'a guess'",
      );
      await page.evaluate(press.replace('box.checked = true', scripts ? 'box.checked = true' : ''));
      // What it starts, it has started by the next frame.
      const frame = scripts ? 'new Promise(requestAnimationFrame)' : '0';
      await page.evaluate(frame).catch(() => null);
      await Promise.all(posts);
    }
  };
}

/** Whether each secret, looked at in this way, could still be read, and only once. */
async function survives(look: Look, options: TestAppOptions = {}): Promise<boolean> {
  using site = openSite(options);
  for (const passphrase of [undefined, 'right']) {
    const guard = passphrase === undefined ? {} : { passphrase };
    const { secretPath } = await makeWaiting(site.app, { value: canary, ...guard });
    await look(site, site.baseUrl + secretPath);
    const body = new URLSearchParams({ ...tickedBox, ...guard });
    const open = () => fetch(site.baseUrl + secretPath, { method: 'POST', body });
    const first = await open();
    if (textIn(await first.text(), 'value') !== canary) return false;
    if ((await open()).status !== 404) return false;
  }
  return true;
}

/** A page of the same origin that makes the browser fetch and render the link ahead of time, in every possible way. */
function boardFor(path: string): string {
  const rules = {
    prefetch: [{ source: 'list', urls: [path], eagerness: 'immediate' }],
    prerender: [{ source: 'list', urls: [`${path}?early`], eagerness: 'immediate' }],
  };
  return `<!doctype html><title>board</title>
    <link rel="prefetch" href="${path}"><link rel="prerender" href="${path}">
    <script type="speculationrules">${JSON.stringify(rules)}</script><a href="${path}">a link</a>`;
}

/** Serves the board next to the site itself, and waits until the browser has fetched the link ahead of time. */
const readAhead: Look = async (site, link) => {
  const path = new URL(link).pathname;
  const purposes: string[] = [];
  const early = Promise.withResolvers<void>();
  using board = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request, server) {
      if (new URL(request.url).pathname === '/board') {
        return new Response(boardFor(path), { headers: { 'content-type': 'text/html' } });
      }
      const purpose = request.headers.get('sec-purpose');
      if (purpose !== null) purposes.push(purpose);
      if (purposes.some((each) => each.includes('prerender')) && purposes.includes('prefetch'))
        early.resolve();
      return site.app.handler(request, server);
    },
  });
  const context = await browser().newContext();
  try {
    const page = await context.newPage();
    await page.goto(`http://localhost:${board.port}/board`);
    await early.promise;
    await page.waitForLoadState('networkidle');
  } finally {
    await context.close();
  }
};

describe('a robot that only looks', () => {
  for (const [name, agent] of Object.entries(agents)) {
    it(`consumes nothing and finds nothing of the secret to show: ${name} (P4)`, async () => {
      const pages: string[] = [];
      const look: Look = async (_site, link) => void pages.push(...(await expand(link, agent)));
      expect(await survives(look)).toBe(true);
      const whole = pages.join('\n');
      expect(whole).toContain(words('secret.title'));
      // The same card for every link: `preview.test.ts`.
      const card = [...whole.matchAll(/"og:(\w+)" content="([^"]*)"/g)].map(
        ([, name, text]) => `${name} ${text}`,
      );
      expect(new Set(card)).toEqual(
        new Set([
          `title ${words('card.title')}`,
          `description ${words('card.lead')}`,
          expect.stringMatching(/^image http:\/\/localhost:\d+\/icons\/card\.png$/),
        ]),
      );
      expect(whole).not.toMatch(/twitter:|oembed|name="description"|rel="canonical"|ld\+json/);
      for (const head of whole.matchAll(/<head>.*?<\/head>/gs)) expect(head[0]).not.toContain('/secret/');
      expect(whole).not.toContain(canary);
    });
  }

  it(
    'consumes nothing when it runs scripts, rests on everything and follows every link (P4)',
    async () => {
      expect(await survives(wander)).toBe(true);
    },
    patienceMs,
  );

  it(
    'consumes nothing when it is the browser itself, reading ahead: prefetch, prerender, speculation rules (P4)',
    async () => {
      expect(await survives(readAhead)).toBe(true);
    },
    patienceMs,
  );

  for (const scripts of [true, false]) {
    it(
      `consumes nothing when a program presses and sends everything on the page, ${scripts ? 'with' : 'without'} scripts (P4)`,
      async () => {
        expect(await survives(pressAll(scripts))).toBe(true);
      },
      patienceMs,
    );
  }

  it(
    'self-test: a page that opens when it is looked at is caught in each of these ways',
    async () => {
      const options: TestAppOptions = {
        wrapStore: (store) =>
          withMethod(store, 'findSecret', async (id) => {
            const secret = await store.findSecret(id);
            if (secret !== null) await store.claim(secret, clientStays);
            return secret;
          }),
      };
      const looks: Look[] = [
        async (_site, link) => void (await expand(link, 'Twitterbot/1.0')),
        wander,
        readAhead,
      ];
      for (const look of looks) expect(await survives(look, options)).toBe(false);
    },
    patienceMs,
  );
});
