/** The pages in a real browser without scripts: what a person does, and what nobody else may notice. */
import { describe, expect, it } from 'bun:test';
import {
  accessibilityFlaws,
  openSite,
  openVisitor,
  pressOpen,
  storageEntries,
  type Visitor,
} from './browser.ts';
import { openOption } from './creator.ts';
import { fitFlaws } from './fit.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { saying, words } from './words.ts';

const value = 'The door code is 4711.\n\n  Come after six – "ring" <twice> & wait 😀';

const { browser, itInBrowser } = withBrowser({ endToEnd: 'off' });

/** The console's message about a refused status is not a complaint about the page. */
function violationsOf(visitor: Visitor): string[] {
  return visitor.complaints.filter(
    (text) => !text.startsWith('Failed to load resource: the server responded'),
  );
}

async function shareIn(
  { page }: Visitor,
  baseUrl: string,
  passphrase = '',
): Promise<{ link: string; receipt: string }> {
  await page.goto(`${baseUrl}/`);
  await page.fill('#secret', value);
  await openOption(page, 'passphrase');
  await page.fill('#passphrase', passphrase);
  await page.click('#create');
  return { link: await page.inputValue('#link'), receipt: page.url() };
}

const heading = ({ page }: Visitor) => page.textContent('h1');

describe('a person without scripts', () => {
  it(
    'shares, copies the link, opens it once, finds it gone, and the receipt says received',
    async () => {
      using site = openSite();
      await using creator = await openVisitor(browser(), site);
      await using recipient = await openVisitor(browser(), site);
      const { link, receipt } = await shareIn(creator, site.baseUrl);
      expect(link).toStartWith(`${site.baseUrl}/secret/`);
      await creator.page.reload();
      expect(await creator.page.locator('#link').count()).toBe(0);
      await creator.page.click(`text=${words('receipt.show')}`);
      expect(await creator.page.inputValue('#link')).toBe(link);

      await recipient.page.goto(link);
      expect(await heading(recipient)).toBe(words('secret.title'));
      await pressOpen(recipient.page);
      expect(await recipient.page.inputValue('#value')).toBe(value);
      expect((await recipient.page.goto(link))?.status()).toBe(404);

      await creator.page.goto(receipt);
      expect(await heading(creator)).toBe(words('receipt.receivedTitle'));
      for (const visitor of [creator, recipient]) {
        expect([violationsOf(visitor), visitor.elsewhere]).toEqual([[], []]);
        const cookies = await visitor.page.context().cookies();
        // Of the minute in which the opened page can be reloaded, and of what each browser did.
        const kept = visitor === recipient ? ['__Host-mayfly-look', 'here'] : ['made-'];
        expect(cookies.map(({ name }) => name.replace(/(?<=^made-)[0-9a-f]$/, '')).sort()).toEqual(kept);
        expect(JSON.stringify(cookies.map((cookie) => cookie.value))).not.toContain(link.slice(-31));
      }
    },
    patienceMs,
  );

  itInBrowser(
    'is told of a wrong passphrase beside its field, and opens with the right one',
    {},
    async ({ site, visitor, page }) => {
      const { link } = await shareIn(visitor, site.baseUrl, 'rïght pass ');
      await page.goto(link);
      await page.fill('#passphrase', 'wrong');
      await pressOpen(page);
      expect(await page.textContent('#passphrase-wrong')).toMatch(
        saying('secret.passphraseWrong', { count: 4 }),
      );
      await page.fill('#passphrase', 'rïght pass ');
      await page.check('#open');
      await page.keyboard.press('Enter');
      expect(await page.inputValue('#value')).toBe(value);
      expect(violationsOf(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'is given no referrer to pass on, and its visits leave nothing in storage but the options of what it shared (T26)',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const referrers: string[] = [];
      page.on('request', (request) => referrers.push(request.headers().referer ?? ''));
      const { link } = await shareIn(visitor, site.baseUrl);
      await page.goto(link);
      await pressOpen(page);
      await page.click('#done');
      await page.waitForSelector(`text=${words('done.lead')}`);
      await page.click(`text=${words('gone.shareOwn')}`);
      expect(new Set(referrers)).toEqual(new Set(['']));
      expect(await storageEntries(page)).toEqual(['local: mayfly-options']);
    },
  );
});

describe('a scanner that runs scripts and follows every link', () => {
  itInBrowser(
    'consumes nothing as long as it presses no button (P4, T26)',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const { link, receipt } = await shareIn(visitor, site.baseUrl);
      for (const start of [link, receipt, `${receipt}/burn`]) {
        await page.goto(start);
        const found = await page
          .locator('a')
          .evaluateAll((links) => links.map((each) => (each as HTMLAnchorElement).href));
        for (const address of found) await page.goto(address);
      }
      await page.goto(link);
      await pressOpen(page);
      expect(await page.inputValue('#value')).toBe(value);
    },
  );
});

describe('what looks at every page and state', () => {
  it(
    'self-test: a page with a blocked style, a picture from elsewhere, faint text and a nameless field is caught',
    async () => {
      const body =
        '<style>p{color:#ccc;background:#fff}</style><p style="color:red">a</p><p>faint</p><input><img src="https://cdn.example/x.png">';
      const policies = ["style-src 'none'", ''];
      using server = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () =>
          new Response(body, {
            headers: { 'content-type': 'text/html', 'content-security-policy': policies.shift() ?? '' },
          }),
      });
      const site = { ...openSite(), baseUrl: `http://localhost:${server.port}` };
      await using visitor = await openVisitor(browser(), site, { scripts: true });
      await visitor.page.goto(site.baseUrl);
      expect(violationsOf(visitor).join()).toContain('Content Security Policy');
      await visitor.page.goto(site.baseUrl);
      expect(visitor.elsewhere).toContain('https://cdn.example/x.png');
      const found = (await accessibilityFlaws(visitor.page)).map((flaw) => flaw.split(':')[0]);
      for (const rule of ['color-contrast', 'label', 'image-alt']) expect(found).toContain(rule);
      site[Symbol.dispose]();
    },
    patienceMs,
  );

  itInBrowser(
    'self-test: what is too wide or small, scrolls for no key or speaks nothing is found; links in sentences may be small',
    { scripts: true, touch: true, width: 320 },
    async ({ page }) => {
      const style = `* { margin: 0; padding: 0; border: 0; font: 16px/1 sans-serif } #wide { inline-size: 20.1rem }
        #small-text { font-size: 15px } :is(select, textarea, summary, label) { display: block; min-block-size: 44px }
        #near { position: relative } #near::after { content: ""; position: absolute; inset: -20px }
        .scrolls { block-size: 44px; overflow: auto }`;
      const body = `<style>${style}</style><div id="wide">wide</div><p>Read <a href="#" id="in-sentence">more</a> of it.</p>
        <p><a href="#" id="alone">Back</a> · <a href="#" id="alone-too">On</a></p>
        <button id="low">Do this and that</button><button id="near">x</button><button disabled id="disabled">x</button>
        <select id="small-text"><option>one two three</option></select><textarea id="well"></textarea>
        <label>A long enough label <input type="checkbox" id="labelled"></label>
        <pre id="out-of-reach" class="scrolls">1\n2\n3\n4</pre><pre tabindex="0" class="scrolls">1\n2\n3\n4</pre><q lang="de-AT">Ja</q>
        <q lang="klingon">HIja’</q>`;
      await page.setContent(body);
      const flaws = await fitFlaws(page, true);
      const ids = flaws.map((flaw) => /id="([a-z-]+)"/.exec(flaw)?.[1] ?? flaw);
      const unspoken = 'a part speaks klingon';
      const small = ['alone', 'alone-too', 'low'];
      expect(ids).toEqual([
        '2 px too wide',
        'the text of small-text is 15px',
        ...small,
        'out-of-reach',
        unspoken,
      ]);
      expect(await fitFlaws(page, false)).toEqual([...flaws.slice(0, 2), ...flaws.slice(-2)]);
    },
  );
});
