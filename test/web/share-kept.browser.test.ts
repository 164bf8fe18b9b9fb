/** Nothing typed into the share form is lost: too long, offline, replaced by a generated value, back and forward. */
import { describe, expect, it } from 'bun:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { chromiumPath, launchArguments, openSite, openVisitor, type Site } from './browser.ts';
import {
  carry,
  chooseLifetime,
  fillOption,
  flawsOf,
  focusOf,
  headingOf,
  keptBy,
  nothingKept,
  noticedBy,
  openOption,
  sendShare,
  tabTo,
} from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { saying, words } from './words.ts';

const { browser, itInBrowser } = withBrowser({ endToEnd: 'off' });

const long = `${'x'.repeat(99)}\n`.repeat(200);
const created = ({ app }: Site) => app.events.filter(({ event }) => event === 'concealed');

/** Fills in every field of the form. */
async function fill(page: Page, site: Pick<Site, 'baseUrl'>, secret: string): Promise<void> {
  await page.goto(`${site.baseUrl}/`);
  await page.fill('#secret', secret);
  await fillOption(page, 'passphrase', ' pass ');
  await chooseLifetime(page, 'other');
  await page.fill('#ttl-amount', '36');
  await page.selectOption('#ttl-unit', 'minutes');
}

const typedIn = async (page: Page) => [
  await page.inputValue('#secret'),
  await page.inputValue('#passphrase'),
  await page.inputValue('#ttl'),
  await page.inputValue('#ttl-amount'),
  await page.inputValue('#ttl-unit'),
];
const typed = (secret: string) => [secret, ' pass ', 'other', '36', 'minutes'];

for (const scripts of [true, false]) {
  describe(`${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'a text of 20,000 letters stays, its field has the focus and the reason is said',
      { scripts, width: 390 },
      async ({ site, visitor, page }) => {
        await fill(page, site, long);
        await page.click('#create');
        await page.waitForSelector('#secret[aria-invalid="true"]');
        expect((await typedIn(page)).join() === typed(long).join()).toBe(true);
        expect(await focusOf(page)).toBe('secret');
        const said = await page.locator('#stopped, #secret-wrong').allTextContents();
        expect(said.join()).toContain(words('share.tooLarge', { size: '10\u00a0kB' }));
        expect(created(site)).toEqual([]);
        await page.fill('#secret', 'short');
        await sendShare(page);
        expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
        expect(noticedBy(visitor)).toEqual([]);
      },
    );

    itInBrowser(
      'what was typed before Generate is put back by keyboard alone',
      { scripts },
      async ({ site, visitor, page }) => {
        await fill(page, site, 'IMPORTANT\n TEXT ');
        await sendShare(page, '#generate');
        await sendShare(page, '#generate');
        expect(await page.inputValue('#secret')).not.toContain('IMPORTANT');
        expect(await page.textContent('.aside')).toContain(words('suggest.aside'));
        await tabTo(page, 'take-back');
        await sendShare(page, 'Space');
        expect(await typedIn(page)).toEqual(typed('IMPORTANT\n TEXT '));
        expect([await focusOf(page), await page.textContent('#secret-news')]).toEqual([
          'secret',
          words('suggest.takenBack'),
        ]);
        expect(created(site)).toEqual([]);
        expect(noticedBy(visitor)).toEqual([]);
      },
    );
  });
}

describe('a text that is too long', () => {
  itInBrowser(
    'is not sent at all with scripts, and may be sent as soon as it fits',
    { scripts: true },
    async ({ site, page }) => {
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.method()));
      await fill(page, site, 'x'.repeat(90_000));
      await page.click('#create');
      expect(await page.textContent('#stopped')).toContain(words('share.tooLarge', { size: '10\u00a0kB' }));
      expect(await page.getAttribute('#secret', 'aria-describedby')).toContain('stopped');
      expect(sent).not.toContain('POST');
      await page.fill('#secret', 'x'.repeat(5_000));
      expect([
        await page.textContent('#stopped'),
        await page.getAttribute('#secret', 'aria-invalid'),
      ]).toEqual(['', null]);
    },
  );
});

describe('without a network', () => {
  itInBrowser(
    'the form stays as it is, says so, and works when the network is back',
    { scripts: true, width: 390 },
    async ({ site, page }) => {
      await fill(page, site, 'typed on a phone');
      await page.context().setOffline(true);
      await page.click('#create');
      await page.waitForSelector('#unsent h2');
      expect(await typedIn(page)).toEqual(typed('typed on a phone'));
      const said = await page.textContent('#unsent');
      for (const text of [
        words('share.noAnswerTitle'),
        words('share.noAnswer'),
        words('share.noAnswerUnsure'),
      ])
        expect(said).toContain(text);
      expect(said).not.toContain(words('share.noAnswerMail'));
      expect([await page.isEnabled('#create'), await focusOf(page)]).toEqual([true, 'create']);
      expect(await page.locator('#unsent').getAttribute('role')).toBe('alert');
      expect(await flawsOf(page, 'no answer')).toEqual([]);
      await page.context().setOffline(false);
      await sendShare(page);
      expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
      expect(created(site)).toHaveLength(1);
    },
  );

  itInBrowser(
    'Generate loses nothing either, and nothing is said of a secret',
    { scripts: true },
    async ({ site, page }) => {
      await fill(page, site, 'mine');
      await page.context().setOffline(true);
      await page.click('#generate');
      await page.waitForSelector('#unsent h2');
      expect(await typedIn(page)).toEqual(typed('mine'));
      expect(await page.locator('#unsent [data-outcome]').count()).toBe(0);
      expect(await focusOf(page)).toBe('generate');
    },
  );

  itInBrowser(
    'an answer that was lost on its way is not taken for a failure: the page says what may have happened',
    { scripts: true },
    async ({ site, page }) => {
      const { cookie } = await signUpAs(site.app, 'ann@example.com');
      await carry(page, site.baseUrl, cookie);
      await page.route('**/share', async (route) => {
        await route.fetch({ maxRedirects: 0 });
        await route.abort('connectionreset');
      });
      await fill(page, site, 'mailed');
      await openOption(page, 'recipient');
      await page.fill('#recipient', 'joanna@example.org');
      await page.click('#create');
      await page.waitForSelector('#unsent h2');
      expect(await page.textContent('#unsent')).toMatch(saying('share.noAnswerMail'));
      expect([await page.inputValue('#secret'), await page.inputValue('#recipient')]).toEqual([
        'mailed',
        'joanna@example.org',
      ]);
      expect(created(site)).toHaveLength(1);
    },
  );
});

describe('while the form is on its way', () => {
  itInBrowser(
    'the page says so, and no second press sends it again, by whatever key',
    { scripts: true },
    async ({ site, page }) => {
      const arrival = Promise.withResolvers<void>();
      let sent = 0;
      await page.route('**/share', async (route) => {
        sent += 1;
        await arrival.promise;
        await route.continue();
      });
      await fill(page, site, 'once');
      await page.click('#create');
      expect([await page.textContent('#sending'), await page.isDisabled('#create')]).toEqual([
        words('share.sending'),
        true,
      ]);
      for (const key of ['Enter', 'Control+Enter']) await page.press('#passphrase', key);
      arrival.resolve();
      await page.waitForSelector('#link');
      expect([sent, created(site).length]).toEqual([1, 1]);
    },
  );
});

describe('an answer without the form', () => {
  const answers = [
    {
      what: 'a proxy’s own page',
      status: 502,
      body: '<h1>502 Bad Gateway</h1>',
      says: `${words('share.noAnswerTitle')} (502)`,
    },
    { what: 'one that is no page', status: 504, body: '', says: `${words('share.noAnswerTitle')} (504)` },
  ];
  for (const { what, status, body, says } of answers) {
    itInBrowser(`leaves the form as it is: ${what}`, { scripts: true }, async ({ site, page }) => {
      await page.route('**/share', (route) => route.fulfill({ status, body, contentType: 'text/html' }));
      await fill(page, site, 'kept');
      await page.click('#create');
      await page.waitForSelector('#unsent h2');
      expect(await page.textContent('#unsent h2')).toBe(says);
      expect(await typedIn(page)).toEqual(typed('kept'));
    });
  }

  itInBrowser('is repeated in its own words: over 1 MiB', { scripts: true }, async ({ site, page }) => {
    await fill(page, site, 'kept');
    await fillOption(page, 'passphrase', 'p'.repeat(1_100_000));
    await page.click('#create');
    await page.waitForSelector('#unsent h2');
    const said = await page.textContent('#unsent');
    for (const text of [words('error.tooLarge.title'), '1\u00a0MB', words('share.kept')])
      expect(said).toContain(text);
    expect((await page.inputValue('#passphrase')).length).toBe(1_100_000);
  });
});

describe('a refusal', () => {
  it(
    'for too many requests is shown with all that was typed, on the same page',
    async () => {
      const create = {
        anonymous: { limit: 1, windowSeconds: 600, burst: 1 },
        account: builtInRateLimits.create.account,
      };
      using site = openSite({ endToEnd: 'off', rateLimits: { ...builtInRateLimits, create } });
      await using visitor = await openVisitor(browser(), site, { scripts: true });
      const { page } = visitor;
      await fill(page, site, 'first');
      await sendShare(page);
      await fill(page, site, 'second');
      await sendShare(page);
      expect(await page.textContent('#refused')).toMatch(saying('problem.later'));
      expect(await typedIn(page)).toEqual(typed('second'));
      expect([page.url(), await focusOf(page)]).toEqual([`${site.baseUrl}/`, 'refused']);
      expect(noticedBy(visitor)).toEqual([]);
    },
    patienceMs,
  );
});

describe('leaving the form', () => {
  itInBrowser(
    'with something typed is asked about, and staying loses nothing',
    { scripts: true },
    async ({ site, page }) => {
      await fill(page, site, 'half a thou');
      await page.click('#secret');
      const asked = page.waitForEvent('dialog');
      const pressed = page.click('footer a[href$="/about"]', { noWaitAfter: true });
      const dialog = await asked;
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      await pressed;
      expect(await typedIn(page)).toEqual(typed('half a thou'));
      expect(page.url()).toBe(`${site.baseUrl}/`);
    },
  );

  itInBrowser(
    'is not asked about when nothing is typed, nor when the secret is created',
    { scripts: true },
    async ({ site, page }) => {
      const asked: string[] = [];
      page.on('dialog', async (dialog) => {
        asked.push(dialog.type());
        await dialog.accept();
      });
      await page.goto(`${site.baseUrl}/`);
      await page.click('#secret');
      await page.click('footer a[href$="/about"]');
      await page.waitForURL('**/about');
      await fill(page, site, 'x');
      await page.click('#secret');
      await sendShare(page);
      await page.waitForSelector('#link');
      expect(asked).toEqual([]);
    },
  );

  for (const hasMemory of [true, false]) {
    it(
      `when the secret is created leaves nothing of it behind in a browser ${hasMemory ? 'with' : 'without'} a memory of pages`,
      async () => {
        await using own = await launchWith(hasMemory);
        using site = openSite({ endToEnd: 'off' });
        await using visitor = await openVisitor(own.browser, site, { scripts: true });
        const { page } = visitor;
        await page.goto(`${site.baseUrl}/about`);
        await fill(page, site, 'canary');
        await sendShare(page);
        await page.waitForSelector('#link');
        // The receipt has taken the form's place.
        for (const [go, shown] of [
          [() => page.goBack({ waitUntil: 'commit' }), 'main h1'],
          [() => page.goForward({ waitUntil: 'commit' }), '#watch'],
          [() => page.goto(`${site.baseUrl}/`), '#secret'],
        ] as const) {
          await go();
          await page.waitForSelector(shown, { state: 'attached' });
          expect(await page.content()).not.toContain('canary');
        }
        expect(await page.inputValue('#secret')).toBe('');
        expect(await keptBy(page)).toEqual(nothingKept);
      },
      patienceMs,
    );
  }

  for (const scripts of [true, false]) {
    it(
      `and coming back finds what was typed in a browser with a memory of pages, ${scripts ? 'with' : 'without'} scripts`,
      async () => {
        await using own = await launchWith(true);
        using site = openSite({ endToEnd: 'off' });
        await using visitor = await openVisitor(own.browser, site, { scripts });
        const { page } = visitor;
        await fill(page, site, 'half a thought');
        await page.click('footer a[href$="/about"]');
        await page.waitForURL('**/about');
        await page.goBack({ waitUntil: 'commit' });
        await page.waitForSelector('#secret');
        expect(await typedIn(page)).toEqual(typed('half a thought'));
        if (scripts) expect(await keptBy(page)).toEqual(nothingKept);
      },
      patienceMs,
    );
  }
});

/** A browser with the back-forward cache, as people have it, or without. */
async function launchWith(hasMemory: boolean): Promise<{ browser: Browser } & AsyncDisposable> {
  const ignoreDefaultArgs = hasMemory ? ['--disable-back-forward-cache'] : [];
  const own = await chromium.launch({
    executablePath: chromiumPath,
    args: launchArguments,
    ignoreDefaultArgs,
  });
  return { browser: own, [Symbol.asyncDispose]: () => own.close() };
}
