/** From a link to a value in a real browser: with scripts and without, by keyboard alone, on a phone and in the dark. */
import { describe, expect, it } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { SecretService } from '../../src/core/secrets/service.ts';
import {
  openButton,
  openSite,
  openVisitor,
  pressOpen,
  type Site,
  storageEntries,
  type Visitor,
  type VisitorOptions,
} from './browser.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { makeWaiting, type WaitingOptions } from './waiting.ts';
import { saying, words } from './words.ts';

const value = '\n The door code is 4711.\n\n  Come after six – "ring" <twice> & wait 😀\n';

const { browser, itInBrowser } = withBrowser();

async function linkTo(site: Site, options: WaitingOptions = {}): Promise<string> {
  return site.baseUrl + (await makeWaiting(site.app, { value, ...options })).secretPath;
}

const heading = (page: Page) => page.textContent('h1');

/** Presses Tab until the element has the focus, as a person without a mouse does. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let press = 0; press < 30; press += 1) {
    await page.keyboard.press('Tab');
    if ((await page.locator(`${selector}:focus`).count()) === 1) return;
  }
  throw new Error(`${selector} cannot be reached by keyboard`);
}

async function expectNoTraces({ page, violations, elsewhere }: Visitor): Promise<void> {
  expect([violations, elsewhere, await storageEntries(page)]).toEqual([[], [], []]);
}

for (const scripts of [false, true]) {
  const options: VisitorOptions = { scripts };

  describe(scripts ? 'a recipient with scripts' : 'a recipient without scripts', () => {
    itInBrowser(
      'opens the link, reads every character, and finds it gone afterwards',
      { ...options },
      async ({ site, visitor, page }) => {
        const link = await linkTo(site);
        await page.goto(link);
        expect(await heading(page)).toBe(words('secret.title'));
        await pressOpen(page);
        expect(await page.inputValue('#value')).toBe(value);
        expect(page.url()).toBe(link);
        expect(await page.title()).toBe(`${words('revealed.title')} · Mayfly`);
        await expectNoTraces(visitor);
        expect((await page.goto(link))?.status()).toBe(404);
        expect(await heading(page)).toBe(words('gone.title'));
        await expectNoTraces(visitor);
      },
    );

    itInBrowser(
      'is told beside the field that a passphrase is wrong, with the focus there, and opens with the right one: by keyboard alone',
      { ...options },
      async ({ site, visitor, page }) => {
        const tick = async () => {
          if (scripts) return;
          await tabTo(page, '#open');
          await page.keyboard.press('Space');
        };
        await page.goto(await linkTo(site, { passphrase: 'rïght pass ' }));
        await tabTo(page, '#passphrase');
        await page.keyboard.type('wrong');
        await tick();
        await page.keyboard.press('Enter');
        await page.waitForSelector('#passphrase-wrong');
        expect(await page.textContent('#passphrase-wrong')).toMatch(
          saying('secret.passphraseWrong', { count: 4 }),
        );
        expect(await page.title()).toBe(`${words('secret.refusedTitle')} · Mayfly`);
        expect(await page.inputValue('#passphrase')).toBe('');
        await page.waitForSelector('#passphrase:focus');
        await page.keyboard.type('rïght pass ');
        await tick();
        await tabTo(page, openButton);
        await page.keyboard.press('Space');
        await page.waitForSelector('#value');
        expect(await page.inputValue('#value')).toBe(value);
        await page.waitForSelector('#value:focus');
        await expectNoTraces(visitor);
      },
    );

    itInBrowser(
      'is told when the next try is possible, and finds the way back to the link',
      { ...options },
      async ({ site, visitor, page }) => {
        const link = await linkTo(site, { passphrase: 'right' });
        await page.goto(link);
        for (let attempt = 0; attempt < 6; attempt += 1) {
          await page.fill('#passphrase', 'wrong');
          await pressOpen(page);
        }
        expect(await heading(page)).toBe(words('secret.exhaustedTitle'));
        expect(await page.textContent('main')).toContain(words('secret.exhausted', { wait: '10 minutes' }));
        site.app.clock.advance(600);
        await page.click(`text=${words('secret.back')}`);
        await page.fill('#passphrase', 'right');
        await pressOpen(page);
        expect(await page.inputValue('#value')).toBe(value);
        await expectNoTraces(visitor);
      },
    );

    itInBrowser(
      'saves exactly the bytes as a file with a neutral name, by keyboard, and the page stays',
      { ...options },
      async ({ site, visitor, page }) => {
        const exact = `${value}\r\n lone \r end \u0007`;
        await page.goto(await linkTo(site, { value: exact }));
        await pressOpen(page);
        await page.waitForSelector('#save');
        expect(await page.locator('noscript p').isVisible()).toBe(!scripts);
        await tabTo(page, '#save');
        const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
        expect(download.suggestedFilename()).toBe(words('revealed.fileName'));
        expect(download.url().startsWith(scripts ? 'blob:' : 'data:')).toBe(true);
        expect(await readFile(await download.path(), 'utf8')).toBe(exact);
        expect(await heading(page)).toBe(words('revealed.title'));
        await expectNoTraces(visitor);
      },
    );

    it(
      'opens when logged in, and on the host of a share domain',
      async () => {
        using site = openSite();
        const neighbour = { ...site, baseUrl: site.baseUrl.replace('localhost', '127.0.0.1') };
        await using visitor = await openVisitor(browser(), site, options);
        await using guest = await openVisitor(browser(), neighbour, options);
        const { cookie } = await signUpAs(site.app, 'omar@example.org');
        const [name = '', token = ''] = cookie.split('=');
        await visitor.page.context().addCookies([{ name, value: token, url: site.baseUrl }]);
        for (const [{ page }, { baseUrl }] of [
          [visitor, site],
          [guest, neighbour],
        ] as const) {
          await page.goto(baseUrl + (await makeWaiting(site.app, { value })).secretPath);
          await pressOpen(page);
          expect(await page.inputValue('#value')).toBe(value);
          expect(new URL(page.url()).origin).toBe(baseUrl);
        }
        await expectNoTraces(visitor);
        await expectNoTraces(guest);
      },
      patienceMs,
    );
  });
}

describe('what scripts add', () => {
  itInBrowser(
    'a person sees what they type when they want to, and the field hides it again when it is sent',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.goto(await linkTo(site, { passphrase: 'right' }));
      // Scripts need no box: a press is enough.
      expect(await page.locator('.sure, #open:visible').count()).toBe(0);
      await page.fill('#passphrase', 'wrong');
      const kind = () => page.getAttribute('#passphrase', 'type');
      await page.click(`text=${words('secret.showPassphrase')}`);
      expect(await kind()).toBe('text');
      await page.click(`text=${words('secret.hidePassphrase')}`);
      expect(await kind()).toBe('password');
      await page.click(`text=${words('secret.showPassphrase')}`);
      await pressOpen(page);
      expect([await kind(), await page.inputValue('#passphrase')]).toEqual(['password', '']);
      await expectNoTraces(visitor);
    },
  );

  itInBrowser(
    'a person covers and uncovers the value without losing their place, and copies it covered or not, only by pressing',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(await linkTo(site));
      await page.evaluate('navigator.clipboard.writeText("before")');
      await pressOpen(page);
      await page.waitForSelector('[data-cover]:not([hidden])');
      const clipboard = () => page.evaluate('navigator.clipboard.readText()');
      expect(await clipboard()).toBe('before');
      await tabTo(page, '[data-cover]');
      await page.keyboard.press('Enter');
      const security = () =>
        page
          .locator('#value')
          .evaluate((field) => getComputedStyle(field).getPropertyValue('-webkit-text-security'));
      expect(await security()).toBe('disc');
      expect(await page.locator('[data-cover]:focus').textContent()).toBe(words('revealed.show'));
      await page.click('[data-copy]');
      await page.waitForSelector('#copied:not(:empty)');
      expect(await page.textContent('#copied')).toBe(words('copy.copied'));
      expect(await clipboard()).toBe(value);
      await page.click('[data-cover]');
      expect(await security()).toBe('none');
      expect(await page.inputValue('#value')).toBe(value);
      await expectNoTraces(visitor);
    },
  );

  itInBrowser(
    'where they fail to load, the box shows after all, and opens',
    { scripts: true },
    async ({ site, page }) => {
      await page.route('**/reveal-*.js', (route) => route.abort());
      await page.goto(await linkTo(site));
      expect(await page.locator('#open').isVisible()).toBe(false);
      await page.waitForSelector('#open:visible');
      await pressOpen(page);
      expect(await page.inputValue('#value')).toBe(value);
    },
  );

  it(
    'pressing again while the answer is on its way shows the value; with scripts it is not even asked for twice',
    async () => {
      expect(await pressTwice(true, 1)).toEqual({ posts: 1, heading: words('revealed.title') });
      expect(await pressTwice(false, 2)).toEqual({ posts: 2, heading: words('revealed.title') });
    },
    patienceMs,
  );

  itInBrowser(
    'copies in the older way where the browser gives no clipboard, covered or not, and says so when neither works',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.addInitScript('navigator.clipboard.writeText = () => Promise.reject(new Error("refused"))');
      await page.goto(await linkTo(site));
      await pressOpen(page);
      const copied = async () => {
        await page.click('[data-copy]');
        await page.waitForSelector('#copied:not(:empty)');
        return page.evaluate('navigator.clipboard.readText()');
      };
      expect(await copied()).toBe(value);
      await page.click('[data-cover]');
      expect(await copied()).toBe(value);
      await page.evaluate('document.execCommand = () => false');
      await page.click('[data-copy]');
      await page.waitForSelector(`text=${words('revealed.copyFailed')}`);
      await expectNoTraces(visitor);
    },
  );
});

/** Plays what the style sheet animates from there, or stops it. */
async function setAnimations(page: Page, rate: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Animation.enable');
  await session.send('Animation.setPlaybackRate', { playbackRate: rate });
}

describe('the moment of opening', () => {
  itInBrowser(
    'takes no second press: a double click on the button neither copies nor ends what it has opened',
    { scripts: true, reducedMotion: 'no-preference' },
    async ({ site, page }) => {
      for (const link of [
        (await makeSealed(site.app, value)).link,
        (await makeWaiting(site.app)).secretPath,
      ]) {
        await page.goto(site.baseUrl + link);
        await setAnimations(page, 0);
        await pressOpen(page);
        await page.waitForSelector('#done');
        const beneath = (selector: string) =>
          page.locator(selector).evaluate((button) => {
            const { x, y, width, height } = button.getBoundingClientRect();
            return document.elementFromPoint(x + width / 2, y + height / 2)?.closest('.opened') ?? null;
          });
        expect([await beneath('[data-copy="#value"]'), await beneath('#done')]).toEqual([null, null]);
        await setAnimations(page, 1);
        await page.click('#done');
        await page.waitForSelector(`text=${words('done.lead')}`);
      }
    },
  );

  for (const reducedMotion of ['reduce', 'no-preference'] as const) {
    itInBrowser(
      `is followed by a minute that the page ends by itself, without scripts: ${reducedMotion}`,
      { reducedMotion },
      async ({ site, page }) => {
        await page.goto(await linkTo(site));
        await pressOpen(page);
        await page.waitForSelector('#done');
        const shownAt = async (ms: number) => {
          await page.evaluate((at) => {
            for (const animation of document.getAnimations()) animation.currentTime = at;
          }, ms);
          const shown = ['#once', '#done', '#over'].map((id) => page.locator(id).isVisible());
          const seconds = await page
            .locator('.minute')
            .evaluate((ring) => getComputedStyle(ring).getPropertyValue('--seconds'));
          return [...(await Promise.all(shown)), seconds];
        };
        expect(await shownAt(50_000)).toEqual([true, true, false, '10']);
        expect(await shownAt(60_000)).toEqual([false, false, true, '0']);
        expect(await page.inputValue('#value')).toBe(value);
      },
    );
  }
});

/** Presses twice before the first answer is there; the answer is sent once `awaited` openings have been requested. */
async function pressTwice(
  scripts: boolean,
  awaited: number,
): Promise<{ posts: number; heading: string | null }> {
  const gate = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let calls = 0;
  const wrapService = (service: SecretService): SecretService => ({
    ...service,
    reveal: async (input, caller) => {
      const outcome = await service.reveal(input, caller);
      calls += 1;
      first.resolve();
      if (calls === awaited) arrived.resolve();
      await gate.promise;
      return outcome;
    },
  });
  using site = openSite({ wrapService });
  await using visitor = await openVisitor(browser(), site, { scripts });
  const { page } = visitor;
  await page.goto(await linkTo(site));
  if (!scripts) await page.check('#open');
  let posts = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') posts += 1;
  });
  const box = await page.locator(openButton).boundingBox();
  if (box === null) throw new Error('there is no button to press');
  const press = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await press();
  // Sending is not enough: a browser pressed again cancels a request that has not arrived, and only one opening
  // remains.
  await first.promise;
  await press();
  await arrived.promise;
  gate.resolve();
  await page.waitForSelector(`h1:not(:text("${words('secret.title')}"))`);
  return { posts, heading: await heading(page) };
}

describe('on paper', () => {
  itInBrowser('the value has its heading, in full and without buttons', {}, async ({ site, page }) => {
    await page.goto(await linkTo(site));
    await pressOpen(page);
    await page.emulateMedia({ media: 'print' });
    const visible = (selector: string) => page.locator(selector).first().isVisible();
    for (const shown of ['h1', '#value']) expect([shown, await visible(shown)]).toEqual([shown, true]);
    for (const hidden of ['#save', 'body > header', 'body > footer', '.hint', '.actions button'])
      expect([hidden, await visible(hidden)]).toEqual([hidden, false]);
  });
});
