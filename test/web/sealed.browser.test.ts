/** End-to-end secrets in a browser: opened once by a press, shown again for a minute, and never sent in plain. */
import { describe, expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { type Site, storageEntries, type Visitor } from './browser.ts';
import { flawsOf } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { makeSealed, type SealedLink } from './sealed-link.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

const canary = 'canary of a value\n that nobody but its reader sees – "ä"';
const passphrase = 'canary of a pässphrase ';
const openButton = '#open';

const { itInBrowser } = withBrowser();

/** Everything that a page sends: addresses, headers and bodies. */
function listenTo(page: Page) {
  const sent: string[] = [];
  const posts: string[] = [];
  const looks: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith('blob:')) return;
    const body = request.postData() ?? '';
    sent.push(
      decodeURIComponent(request.url()),
      JSON.stringify(request.headers()),
      body,
      decodeURIComponent(body.replaceAll('+', ' ')),
    );
    if (request.method() === 'POST') posts.push(new URL(request.url()).pathname);
    looks.push(...new URLSearchParams(body).getAll('look'));
  });
  return { sent, posts, looks };
}

/** Which of the texts is in anything that was sent. */
const leakedIn = (sent: readonly string[], ...texts: readonly string[]) =>
  texts.filter((text) => sent.some((each) => each.includes(text)));

const notice = (page: Page) => page.textContent('#notice');

async function press(page: Page): Promise<void> {
  await page.click(openButton);
  await page.waitForSelector('#done');
}

async function isWaiting(site: Site, { path }: Pick<SealedLink, 'path'>): Promise<boolean> {
  return (await fetch(site.baseUrl + path)).status === 200;
}

function expectQuiet({ violations, elsewhere }: Visitor): void {
  expect([violations, elsewhere]).toEqual([[], []]);
}

describe('a reader of an end-to-end secret', () => {
  itInBrowser(
    'opens it, reloads it within the minute and ends that, and nothing but proofs leaves the browser',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const link = await makeSealed(site.app, canary);
      const { sent, posts } = listenTo(page);
      await page.goto(site.baseUrl + link.link);
      expect([await page.title(), posts]).toEqual([`${words('secret.title')} · Mayfly`, []]);
      expect(await flawsOf(page, 'sealed')).toEqual([]);
      // A second press while the first is under way does nothing.
      await page.dblclick(openButton);
      await page.waitForSelector('#done');
      expect(await page.inputValue('#value')).toBe(canary);
      expect(await page.title()).toBe(`${words('revealed.title')} · Mayfly`);
      expect(await page.textContent('#once')).toBe(words('revealed.minute'));
      expect(await page.textContent('#characters')).toBe(
        words('revealed.characters', { count: [...canary].length }),
      );
      expect(await page.textContent('#lines')).toBe(words('revealed.lines', { count: 2 }));
      expect(await flawsOf(page, 'opened')).toEqual([]);
      // The one exception to "nothing is stored": a nonce that opens nothing without the fragment.
      expect(await storageEntries(page)).toEqual(['session: mayfly-look']);
      const kept = await page.evaluate(() => JSON.stringify(sessionStorage));
      expect(leakedIn([kept], canary, link.fragment)).toEqual([]);
      await page.reload();
      await page.waitForSelector('#done');
      expect(await page.inputValue('#value')).toBe(canary);
      expect(new URL(page.url()).hash).toBe(`#${link.fragment}`);
      await page.click('#done');
      await page.waitForSelector(`text=${words('done.lead')}`);
      expect([new URL(page.url()).hash, await storageEntries(page)]).toEqual(['', []]);
      expect(posts).toEqual(['open', 'open', 'done'].map((name) => `${link.path}/${name}`));
      expect(leakedIn(sent, canary, link.fragment)).toEqual([]);
      await page.goto(site.baseUrl + link.link);
      expect(await page.textContent('h1')).toBe(words('gone.title'));
      expectQuiet(visitor);
    },
  );

  itInBrowser(
    'gives the passphrase, is told of a wrong one as on any page, and is asked again after a reload',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const link = await makeSealed(site.app, canary, passphrase);
      const { sent, posts, looks } = listenTo(page);
      await page.goto(site.baseUrl + link.link);
      await page.click(openButton);
      expect(await page.textContent('#passphrase-wrong')).toBe(words('secret.passphraseMissing'));
      expect(posts).toEqual([]);
      await page.fill('#passphrase', `${passphrase}!`);
      await page.keyboard.press('Enter');
      await page.waitForSelector('#passphrase-wrong:has-text("4")');
      expect(await page.textContent('#passphrase-wrong')).toMatch(
        saying('secret.passphraseWrong', { count: 4 }),
      );
      expect(await flawsOf(page, 'wrong')).toEqual([]);
      await page.waitForSelector('#passphrase:focus');
      expect([await page.inputValue('#passphrase'), page.url()]).toEqual(['', site.baseUrl + link.link]);
      await page.fill('#passphrase', passphrase);
      await press(page);
      expect(await page.inputValue('#value')).toBe(canary);
      // Each guess has a nonce that no other guess has used.
      expect(new Set(looks).size).toBe(2);
      await page.reload();
      expect(await page.textContent('h1')).toBe(words('again.title'));
      expect(await flawsOf(page, 'again')).toEqual([]);
      await page.fill('#passphrase', passphrase);
      await press(page);
      expect(await page.inputValue('#value')).toBe(canary);
      expect(leakedIn(sent, canary, link.fragment, passphrase.trim())).toEqual([]);
      expectQuiet(visitor);
    },
  );

  itInBrowser(
    'has a minute: then the nonce is removed, the fragment leaves the address, and the page says so',
    { scripts: true },
    async ({ site, page }) => {
      await page.clock.install();
      const link = await makeSealed(site.app, canary);
      await page.goto(site.baseUrl + link.link);
      await press(page);
      await page.clock.fastForward(20_000);
      await page.reload();
      await press(page);
      // What is drawn of the minute began when it was opened.
      const goneMs = await page.evaluate("parseInt(getComputedStyle(main).getPropertyValue('--gone'))");
      expect(Number(goneMs)).toBeLessThanOrEqual(-20_000);
      expect(Number(goneMs)).toBeGreaterThan(-40_000);
      await page.clock.fastForward(39_000);
      expect(await storageEntries(page)).toEqual(['session: mayfly-look']);
      await page.clock.fastForward(1_500);
      expect([await storageEntries(page), page.url()]).toEqual([[], site.baseUrl + link.path]);
      expect(await page.textContent('#once')).toBe(words('revealed.over'));
      const over = await page.locator('#done, .minute').count();
      expect([over, await page.inputValue('#value')]).toEqual([0, canary]);
      // Whoever comes back to its address finds nothing, and nothing is asked for.
      const { posts } = listenTo(page);
      await page.goto(`${site.baseUrl}${link.path}/again#${link.fragment}`);
      expect([await page.textContent('.lead'), posts]).toEqual([words('again.over'), []]);
      expect(await page.locator('#sealed').count()).toBe(0);
      expect(await page.locator('h1:focus').textContent()).toBe(words('done.title'));
    },
  );

  itInBrowser(
    'leaves no nonce to a tab that slept through the minute',
    { scripts: true },
    async ({ site, page }) => {
      const [opened, next] = [await makeSealed(site.app, canary), await makeSealed(site.app, canary)];
      await page.goto(site.baseUrl + opened.link);
      await press(page);
      await page.evaluate((name) => {
        const kept = JSON.parse(sessionStorage.getItem(name) ?? '{}');
        sessionStorage.setItem(name, JSON.stringify({ ...kept, untilMs: Date.now() - 1 }));
      }, 'mayfly-look');
      await page.goto(site.baseUrl + next.link);
      await page.waitForSelector(openButton);
      expect(await storageEntries(page)).toEqual([]);
    },
  );

  itInBrowser(
    'loses nothing with an answer that is lost: it is asked for again under the same nonce',
    { scripts: true },
    async ({ site, page }) => {
      const link = await makeSealed(site.app, canary);
      const bodies: string[] = [];
      await page.route('**/open', async (route) => {
        bodies.push(route.request().postData() ?? '');
        const response = await route.fetch();
        if (bodies.length === 1) return route.abort('connectionreset');
        return route.fulfill({ response });
      });
      await page.goto(site.baseUrl + link.link);
      await press(page);
      expect(await page.inputValue('#value')).toBe(canary);
      expect([bodies.length, new Set(bodies).size]).toEqual([2, 1]);
    },
  );

  itInBrowser(
    'is told when no answer comes, to reading or burning, and may press again',
    { scripts: true },
    async ({ site, page }) => {
      const link = await makeSealed(site.app, canary);
      let isAway = true;
      for (const door of ['open', 'burn'])
        await page.route(`**/${door}`, (route) =>
          isAway && route.request().method() === 'POST' ? route.abort('connectionreset') : route.continue(),
        );
      for (const [end, said] of [
        ['#', 'secret.noAnswer'],
        ['/burn#', 'recipientBurn.noAnswer'],
      ] as const) {
        await page.goto(site.baseUrl + link.link.replace('#', end));
        await page.click(openButton);
        await page.waitForSelector('#notice:visible');
        expect(await notice(page)).toBe(words(said));
        expect(await page.getAttribute(openButton, 'aria-disabled')).toBe('false');
        expect(await page.locator('#progress').isVisible()).toBe(false);
      }
      isAway = false;
      await page.click(openButton);
      await page.waitForSelector(`text=${words('recipientBurn.doneLead')}`);
    },
  );

  itInBrowser(
    'burns it with the passphrase, and is asked again after a wrong one',
    { scripts: true },
    async ({ site, page }) => {
      const link = await makeSealed(site.app, canary, passphrase);
      const burning = `${site.baseUrl}${link.path}/burn#${link.fragment}`;
      await page.goto(burning);
      await page.fill('#passphrase', `${passphrase}!`);
      await page.click(openButton);
      await page.waitForSelector('#passphrase:focus');
      expect([page.url(), await page.inputValue('#passphrase')]).toEqual([burning, '']);
      await page.fill('#passphrase', passphrase);
      await page.click(openButton);
      await page.waitForSelector(`text=${words('recipientBurn.doneLead')}`);
      expect(page.url()).toBe(site.baseUrl + link.path);
    },
  );

  itInBrowser(
    'is told after a reload that the minute is over, when the server says so first',
    { scripts: true },
    async ({ site, page }) => {
      await page.goto(site.baseUrl + (await makeSealed(site.app, canary)).link);
      await press(page);
      site.app.clock.advance(60);
      await page.reload();
      await page.waitForSelector('.day-gone');
      expect(await page.textContent('.lead')).toBe(words('again.over'));
    },
  );

  itInBrowser('is never opened by a program that presses (P4)', { scripts: true }, async ({ site, page }) => {
    const link = await makeSealed(site.app, canary);
    const { posts } = listenTo(page);
    await page.goto(site.baseUrl + link.link);
    await page.evaluate(
      "for (const each of document.querySelectorAll('main *')) if (!(each instanceof HTMLAnchorElement) && !each.closest('a')) each.click?.()",
    );
    expect([await notice(page), posts, await isWaiting(site, link)]).toEqual([
      words('secret.pressYourself'),
      [],
      true,
    ]);
    await press(page);
  });
});

describe('nothing is sent, and nothing consumed', () => {
  itInBrowser(
    'when the end of the link is missing or cut, until the whole link is pasted; a full stop behind it does no harm',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const link = await makeSealed(site.app, canary);
      const { posts } = listenTo(page);
      for (const end of ['', `#${link.fragment.slice(0, 10)}`, '#main']) {
        await page.goto('about:blank');
        await page.goto(site.baseUrl + link.path + end);
        expect([await page.textContent('.lead'), await page.locator(openButton).isVisible()]).toEqual([
          words('secret.incompleteLink'),
          false,
        ]);
      }
      expect(await flawsOf(page, 'cut')).toEqual([]);
      expect(posts).toEqual([]);
      await page.evaluate((end) => location.replace(end), `#${link.fragment}.`);
      await page.waitForSelector(`${openButton}:visible`);
      await page.click('a.skip', { force: true });
      await page.click('a.language');
      await page.click('.languages button[value="de"]');
      await page.waitForSelector('html[lang="de"]');
      await press(page);
      expect(await page.inputValue('#value')).toBe(canary);
      expectQuiet(visitor);
    },
  );

  itInBrowser(
    'when the worker is blocked, or the script does not come',
    { scripts: true },
    async ({ site, page }) => {
      const link = await makeSealed(site.app, canary, passphrase);
      const { posts } = listenTo(page);
      await page.route('**/stretch-worker-*.js', (route) => route.abort());
      await page.goto(site.baseUrl + link.link);
      await page.fill('#passphrase', passphrase);
      await page.click(openButton);
      await page.waitForSelector('#notice:visible');
      expect([await notice(page), posts, await isWaiting(site, link)]).toEqual([
        words('secret.cannotProve'),
        [],
        true,
      ]);
      await page.route('**/sealed-*.js', (route) => route.abort());
      await page.goto('about:blank');
      await page.goto(site.baseUrl + link.link);
      await page.waitForSelector('#needs-scripts:visible');
      expect([await page.locator('main form, main [name]').count(), posts]).toEqual([0, []]);
      expect(await flawsOf(page, 'no scripts')).toEqual([]);
    },
  );

  itInBrowser('when there are no scripts: the page says what to do', {}, async ({ site, page }) => {
    const link = await makeSealed(site.app, canary, passphrase);
    await page.goto(site.baseUrl + link.link);
    expect(await page.locator('#needs-scripts').isVisible()).toBe(true);
    expect(await page.locator('#sealed').isVisible()).toBe(false);
  });

  itInBrowser(
    'when a link says end-to-end and the server says plain',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const { secretPath } = await makeWaiting(site.app, { value: 'bait', passphrase: 'p' });
      const { posts } = listenTo(page);
      for (const end of ['AAAAAAAAAAAAAAAAAAAAAA', 'cut', '']) {
        await page.goto('about:blank');
        await page.goto(`${site.baseUrl}${secretPath}#${end}`);
        // Or pasted over the address of the page that is shown.
        if (end === '') await page.evaluate("location.hash = 'AAAAAAAAAAAAAAAAAAAAAA'");
        await page.waitForSelector('.note.alert');
        expect(await page.textContent('.note.alert')).toBe(words('secret.notSealed'));
        expect(await page.locator('main form, main input, main button').count()).toBe(0);
      }
      expect(posts).toEqual([]);
      expect(await flawsOf(page, 'not sealed')).toEqual([]);
      expectQuiet(visitor);
    },
  );

  itInBrowser(
    'in an answer that is not ciphertext: it is not shown',
    { scripts: true },
    async ({ site, page }) => {
      const link = await makeSealed(site.app, canary);
      await page.route('**/open', (route) =>
        route.fulfill({ json: { v: 1, value: 'bait', ciphertext: 'bait' } }),
      );
      await page.goto(site.baseUrl + link.link);
      await page.click(openButton);
      await page.waitForSelector('#notice:visible');
      expect(await notice(page)).toBe(words('secret.unreadable'));
      expect(await page.textContent('main')).not.toContain('bait');
    },
  );
});
