/** Reading an opened value: characters told apart, those that do not show pointed out, values copied one by one, and all forgotten. */
import { describe, expect, it } from 'bun:test';
import type { Page } from 'playwright-core';
import { openSite, openVisitor, pressOpen, type Site, storageEntries, type Visitor } from './browser.ts';
import { flawsInBothLights } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const line = 'Il1O0-o8B$g9q|S5Zz2';
const environment = 'export HOST=db.example.com\n# of the shop\nKEY="a b=1"\nTOKEN=canary-of-a-token';
const hidden = 'pay\u200bpal.com/\u202egpj.exe\u00a0now';

const { browser, itInBrowser } = withBrowser();

/** The two kinds of link: opened by a form, or by a script. */
const kinds = ['plain', 'sealed'] as const;
type Kind = (typeof kinds)[number];

async function openValue(page: Page, site: Site, kind: Kind, value: string): Promise<void> {
  const link =
    kind === 'plain'
      ? (await makeWaiting(site.app, { value })).secretPath
      : (await makeSealed(site.app, value)).link;
  await page.goto('about:blank');
  await page.goto(site.baseUrl + link);
  await pressOpen(page);
  await page.waitForSelector('#done');
}

const clipboard = (page: Page) => page.evaluate('navigator.clipboard.readText()');

function expectQuiet({ violations, elsewhere }: Visitor): void {
  expect([violations, elsewhere]).toEqual([[], []]);
}

/** Everything that the page holds, shown or not. */
const textOf = (page: Page) =>
  page.evaluate(() => {
    const fields = [...document.querySelectorAll('textarea')].map(({ value }) => value);
    return [document.documentElement.outerHTML, ...fields].join('\n');
  });

for (const kind of kinds) {
  describe(`a value that is opened, ${kind}`, () => {
    itInBrowser(
      'that is a short line is drawn with letters, digits and symbols apart, and is the field that is copied and read aloud',
      { scripts: true, width: 390, height: 844 },
      async ({ site, visitor, page }) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await openValue(page, site, kind, line);
        const drawn = page.locator('.drawn > .glyphs');
        expect([await drawn.textContent(), await drawn.getAttribute('aria-hidden')]).toEqual([line, 'true']);
        expect(await drawn.locator('.digit').allTextContents()).toEqual(['1', '0', '8', '9', '5', '2']);
        expect(await drawn.locator('.symbol').allTextContents()).toEqual(['-', '$', '|']);
        // Whatever is selected of the field lies exactly over what is drawn.
        const boxes = await page.locator('.drawn > *').evaluateAll((both) =>
          both.map((each) => {
            const { x, y, width, height } = each.getBoundingClientRect();
            return [x, y, width, height].map(Math.round).join(' ');
          }),
        );
        expect(new Set(boxes).size).toBe(1);
        await page.click('[data-copy="#value"]');
        await page.waitForSelector('#copied:not(:empty)');
        expect([await clipboard(page), await page.inputValue('#value')]).toEqual([line, line]);
        await page.click('#spelled > summary');
        const spelled = page.locator('.spelled li');
        const capital = (word: string) => words('spelled.capital', { word });
        const said = [`I ${capital('India')}`, 'l lima', '1 ', `O ${capital('Oscar')}`];
        expect((await spelled.allTextContents()).slice(0, 4)).toEqual(said);
        expect(await page.locator('.spelled .symbol').allTextContents()).toEqual(['-', '$', '|']);
        await page.click('[data-cover]');
        expect([await drawn.isVisible(), await spelled.first().isVisible()]).toEqual([false, false]);
        expect(await flawsInBothLights(page, 'a line')).toEqual([]);
        expectQuiet(visitor);
      },
    );

    itInBrowser(
      'that is an environment file has a button for each value, without its quotes, and one for all',
      { scripts: true, width: 390, height: 844 },
      async ({ site, visitor, page }) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await openValue(page, site, kind, environment);
        const rows = page.locator('.pairs li');
        expect(await rows.locator('.name').allTextContents()).toEqual(['HOST', 'KEY', 'TOKEN']);
        const copied: unknown[] = [];
        for (const row of await rows.all()) {
          await row.getByRole('button').click();
          await page.waitForSelector('.pairs .is-copied');
          copied.push(await clipboard(page));
        }
        expect(copied).toEqual(['db.example.com', 'a b=1', 'canary-of-a-token']);
        expect(await rows.getByRole('button').nth(1).getAttribute('aria-label')).toBe(
          words('revealed.copyOne', { name: 'KEY' }),
        );
        await page.click('[data-copy="#value"]');
        await page.waitForSelector('[data-copy="#value"].is-copied');
        expect([await clipboard(page), await page.inputValue('#value')]).toEqual([environment, environment]);
        await page.click('.whole > summary');
        expect(await page.locator('#value').isVisible()).toBe(true);
        expect(await flawsInBothLights(page, 'an environment file')).toEqual([]);
        expectQuiet(visitor);
      },
    );

    itInBrowser(
      'with characters that do not show says how many, and names each where it is',
      { scripts: true, width: 390, height: 844 },
      async ({ site, visitor, page }) => {
        await openValue(page, site, kind, hidden);
        const summary = page.locator('#hidden-ones > summary');
        expect(await summary.textContent()).toBe(words('revealed.hidden', { count: 3 }));
        await summary.click();
        expect(await page.locator('.marked').textContent()).toBe('payZWSPpal.com/RLOgpj.exeNBSPnow');
        expect(await page.inputValue('#value')).toBe(hidden);
        expect(await flawsInBothLights(page, 'hidden characters')).toEqual([]);
        await openValue(page, site, kind, 'nothing of that kind');
        expect(await page.locator('#hidden-ones').count()).toBe(0);
        expectQuiet(visitor);
      },
    );

    itInBrowser(
      'is forgotten in every place when the page is left',
      { scripts: true },
      async ({ site, page }) => {
        for (const [value, part] of [
          [line, line.slice(0, 2)],
          [environment, 'canary-of-a-token'],
          [`${hidden} canary`, 'canary'],
        ] as const) {
          await openValue(page, site, kind, value);
          expect(await textOf(page)).toContain(part);
          await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
          expect(await textOf(page)).not.toContain(part === 'Il' ? '>Il<' : part);
          expect(await page.locator('[data-held]').count()).toBe(0);
          expect((await storageEntries(page)).filter((entry) => !entry.includes('mayfly-look'))).toEqual([]);
        }
      },
    );
  });
}

describe('without scripts', () => {
  itInBrowser(
    'a value can be selected and saved, what does not show is pointed out, and no button is dead',
    { width: 390, height: 844 },
    async ({ site, page }) => {
      await openValue(page, site, 'plain', hidden);
      await page.click('#hidden-ones > summary');
      expect(await page.locator('.marked mark').allTextContents()).toEqual(['ZWSP', 'RLO', 'NBSP']);
      await openValue(page, site, 'plain', environment);
      expect(await page.inputValue('#value')).toBe(environment);
      expect(await page.locator('main button:visible').evaluateAll((all) => all.map(({ id }) => id))).toEqual(
        ['done'],
      );
      await openValue(page, site, 'plain', line);
      expect(await page.locator('.drawn > .glyphs').textContent()).toBe(line);
    },
  );
});

describe('a button that hides or shows', () => {
  itInBrowser(
    'has the icon of what it says, before and after each press',
    { scripts: true },
    async ({ site, page }) => {
      const { secretPath } = await makeWaiting(site.app, { value: line, passphrase: 'right' });
      await page.goto(site.baseUrl + secretPath);
      const shapeOf = (selector: string) => page.locator(`${selector} svg:visible path`).getAttribute('d');
      const eye = '[data-toggle]';
      const [open, said] = [await shapeOf(eye), await page.textContent(eye)];
      await page.click(eye);
      const crossed = await shapeOf(eye);
      expect([said, await page.textContent(eye), crossed === open]).toEqual([
        words('secret.showPassphrase'),
        words('secret.hidePassphrase'),
        false,
      ]);
      await page.fill('#passphrase', 'right');
      await pressOpen(page);
      const cover = '[data-cover]';
      await page.waitForSelector(`${cover}:visible`);
      expect([await page.textContent(cover), await shapeOf(cover)]).toEqual([
        words('revealed.hide'),
        crossed,
      ]);
      await page.click(cover);
      expect([await page.textContent(cover), await shapeOf(cover)]).toEqual([words('revealed.show'), open]);
    },
  );
});

describe('a recipient who did not expect a secret', () => {
  itInBrowser(
    'burns one end to end, from the link, with its passphrase, and comes to the same page as with a form',
    { scripts: true, width: 390, height: 844 },
    async ({ site, visitor, page }) => {
      const link = await makeSealed(site.app, 'canary', 'right');
      const posts: string[] = [];
      page.on('request', (request) => request.method() === 'POST' && posts.push(request.postData() ?? ''));
      await page.goto(site.baseUrl + link.link);
      await page.click('#burn-unread');
      await page.waitForSelector('#open.alarm');
      expect(await flawsInBothLights(page, 'burn end to end')).toEqual([]);
      await page.click('[data-keeps-fragment]');
      await page.waitForSelector('#burn-unread');
      await page.click('#burn-unread');
      await page.fill('#passphrase', 'wrong');
      await page.click('#open');
      await page.waitForSelector('#passphrase-wrong:not(:empty)');
      expect([(await fetch(site.baseUrl + link.path)).status, page.url()]).toEqual([
        200,
        `${site.baseUrl}${link.path}/burn#${link.fragment}`,
      ]);
      await page.fill('#passphrase', 'right');
      await page.click('#open');
      await page.waitForSelector('#recipient-burned');
      expect(page.url()).toBe(site.baseUrl + link.path);
      expect(await page.title()).toBe(`${words('recipientBurn.doneTitle')} · Mayfly`);
      expect((await fetch(site.baseUrl + link.path)).status).toBe(404);
      expect(posts.filter((body) => body.includes(link.fragment) || body.includes('right'))).toEqual([]);
      expect(await storageEntries(page)).toEqual([]);
      await page.goto(site.baseUrl + link.path);
      expect(await page.locator('#here').count()).toBe(1);
      expectQuiet(visitor);
    },
  );

  for (const scripts of [true, false]) {
    itInBrowser(
      `burns one with a form, by keyboard, ${scripts ? 'with' : 'without'} scripts`,
      { scripts, width: 390, height: 844 },
      async ({ site, visitor, page }) => {
        const { secretPath } = await makeWaiting(site.app, { passphrase: 'right' });
        await page.goto(site.baseUrl + secretPath);
        await page.focus('#burn-unread');
        await page.keyboard.press('Enter');
        await page.waitForSelector('#burn, .opening .alarm');
        await page.waitForLoadState('load');
        const flaws = scripts ? await flawsInBothLights(page, 'burn') : [];
        await page.fill('#passphrase', 'right');
        if (!scripts) await page.check('#burn');
        await page.keyboard.press('Enter');
        await page.waitForSelector('#recipient-burned');
        if (scripts) flaws.push(...(await flawsInBothLights(page, 'burned')));
        expect((await fetch(site.baseUrl + secretPath)).status).toBe(404);
        await page.goto(site.baseUrl + secretPath);
        expect(await page.locator('#here').count()).toBe(1);
        if (scripts) flaws.push(...(await flawsInBothLights(page, 'burned here')));
        expect(flaws).toEqual([]);
        expectQuiet(visitor);
      },
    );
  }

  it('is not taken for a program: a press by one burns nothing, plain or end to end (P4)', async () => {
    using site = openSite();
    await using visitor = await openVisitor(browser(), site, { scripts: true });
    const { page } = visitor;
    const plain = await makeWaiting(site.app);
    const sealed = await makeSealed(site.app, 'canary');
    for (const address of [`${plain.secretPath}/burn`, `${sealed.path}/burn#${sealed.fragment}`]) {
      await page.goto(site.baseUrl + address);
      await page.waitForSelector('.opening .alarm');
      await page.evaluate("document.querySelector('.opening .alarm').click()");
      await page.waitForSelector(`text=${words('recipientBurn.pressYourself')}`);
    }
    for (const path of [plain.secretPath, sealed.path])
      expect((await fetch(site.baseUrl + path)).status).toBe(200);
  }, 60_000);
});
