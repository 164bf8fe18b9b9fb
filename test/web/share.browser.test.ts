/** The share form in a real browser, with scripts and without: typed, generated, refused, and by keyboard only. */
import { describe, expect } from 'bun:test';
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
  shareIn,
  tabTo,
} from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';
import { saying, words } from './words.ts';

const { itInBrowser } = withBrowser({ endToEnd: 'off' });

for (const scripts of [false, true]) {
  describe(`a person ${scripts ? 'with' : 'without'} scripts`, () => {
    itInBrowser(
      'shares by keyboard alone: Enter in the passphrase creates, and generates nothing',
      { scripts },
      async ({ site, visitor, page }) => {
        await page.goto(`${site.baseUrl}/`);
        // With scripts it has the focus already.
        if (!scripts) await tabTo(page, 'secret');
        await page.keyboard.type('typed by hand');
        await tabTo(page, 'option-passphrase > summary');
        await page.keyboard.press('Enter');
        await tabTo(page, 'passphrase');
        await page.keyboard.type('p');
        await page.keyboard.press('Enter');
        await page.waitForSelector('#link');
        expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
        const link = await page.inputValue('#link');
        await page.goto(link);
        await tabTo(page, 'passphrase');
        await page.keyboard.type('p');
        if (!scripts) {
          await tabTo(page, 'open');
          await page.keyboard.press('Space');
        }
        await page.keyboard.press('Enter');
        await page.waitForSelector('#value');
        expect(await page.inputValue('#value')).toBe('typed by hand');
        expect(noticedBy(visitor)).toEqual([]);
      },
    );

    itInBrowser(
      'reaches every control with Tab in the order of reading, and creates with the button',
      { scripts },
      async ({ site, page }) => {
        await page.goto(`${site.baseUrl}/`);
        if (!scripts) await tabTo(page, 'secret');
        await page.keyboard.type('x');
        const inOrder = [
          ...['generate', 'generator > summary', 'option-ttl > summary', 'option-passphrase > summary'],
          ...['option-memo > summary', 'create'],
        ];
        for (const id of inOrder) await tabTo(page, id);
        await page.keyboard.press('Space');
        await page.waitForSelector('#link');
        expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
      },
    );

    itInBrowser(
      'generates characters, then words, then others, keeps the rest and has the focus on the value',
      { scripts },
      async ({ site, visitor, page }) => {
        await page.goto(`${site.baseUrl}/`);
        await fillOption(page, 'passphrase', 'kept');
        await chooseLifetime(page, '3600');
        await page.click('#generator > summary');
        await page.fill('#suggest-length', '24');
        await page.uncheck('[name="suggest-symbols"]');
        await sendShare(page, '#generate');
        const characters = await page.inputValue('#secret');
        expect(characters).toMatch(/^[A-Za-z2-9]{24}$/);
        expect(await focusOf(page)).toBe('secret');
        expect(await page.textContent('#secret-news')).toMatch(saying('suggest.drawn'));
        expect(await page.isChecked('[name="suggest-symbols"]')).toBe(false);
        // What was open stays open with scripts; without them, the page is a new one.
        if (!scripts) await page.click('#generator > summary');
        await page.check('[value="words"]');
        expect(await page.isVisible('#suggest-length')).toBe(false);
        await page.fill('#suggest-words', '4');
        await sendShare(page, '#generate');
        const first = await page.inputValue('#secret');
        expect(first.split('-').length).toBeGreaterThanOrEqual(4);
        await sendShare(page, '#generate');
        const second = await page.inputValue('#secret');
        expect(second).not.toBe(first);
        expect([await page.inputValue('#passphrase'), await page.inputValue('#ttl')]).toEqual([
          'kept',
          '3600',
        ]);
        expect(page.url()).toBe(`${site.baseUrl}${scripts ? '/' : '/suggest'}`);
        expect(site.app.events).toEqual([]);
        await sendShare(page);
        expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
        expect(noticedBy(visitor)).toEqual([]);
      },
    );

    itInBrowser(
      'finds everything typed and the focus on the wrong field when the form is refused, and sends it mended',
      { scripts },
      async ({ site, visitor, page }) => {
        await page.goto(`${site.baseUrl}/`);
        const long = `\n ${'ü'.repeat(2_490)} `;
        const passphrase = ` ${'p'.repeat(1_024)}`;
        await page.fill('#secret', long);
        await fillOption(page, 'passphrase', passphrase);
        await chooseLifetime(page, '3600');
        await sendShare(page);
        expect(await focusOf(page)).toBe('passphrase');
        expect(await page.getAttribute('#passphrase', 'aria-invalid')).toBe('true');
        expect(await page.textContent('#passphrase-wrong')).toMatch(
          saying('share.passphraseTooLong', { size: '1\u00a0kB' }),
        );
        const kept = [
          await page.inputValue('#secret'),
          await page.inputValue('#passphrase'),
          await page.inputValue('#ttl'),
        ];
        expect(kept).toEqual([long, passphrase, '3600']);
        await page.fill('#passphrase', 'short');
        await sendShare(page);
        expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
        expect(noticedBy(visitor)).toEqual([]);
      },
    );

    itInBrowser(
      'shows what is wrong with a generate request next to its field, in an open part of the form',
      { scripts },
      async ({ site, page }) => {
        await page.goto(`${site.baseUrl}/`);
        await page.fill('#secret', 'mine');
        await page.click('#generator > summary');
        await page.fill('#suggest-length', '200');
        await sendShare(page, '#generate');
        expect(await page.inputValue('#secret')).toBe('mine');
        expect([await focusOf(page), await page.textContent('#suggest-length-wrong')]).toEqual([
          'suggest-length',
          words('suggest.wrongLength', { min: 4, max: 128 }),
        ]);
        await page.fill('#suggest-length', '16');
        for (const set of ['lower', 'upper', 'digits', 'symbols'])
          await page.uncheck(`[name="suggest-${set}"]`);
        await sendShare(page, '#generate');
        await page.waitForSelector('[name="suggest-lower"]:focus');
        await page.waitForSelector('#suggest-sets-wrong');
      },
    );

    itInBrowser(
      'chooses a free lifetime, which is out of the way until then, and has its bounds beside it',
      { scripts },
      async ({ site, page }) => {
        await page.goto(`${site.baseUrl}/`);
        await openOption(page, 'ttl');
        expect(await page.isVisible('#ttl-amount')).toBe(false);
        await page.fill('#secret', 'x');
        await page.selectOption('#ttl', 'other');
        expect(await page.textContent('#ttl-amount-hint')).toBe(
          words('share.ttlBounds', { min: '1 minute', max: '7 days' }),
        );
        await page.fill('#ttl-amount', '8');
        await page.selectOption('#ttl-unit', 'days');
        await sendShare(page);
        expect([await focusOf(page), await page.inputValue('#ttl-amount')]).toEqual(['ttl-amount', '8']);
        await page.fill('#ttl-amount', '36');
        await page.selectOption('#ttl-unit', 'hours');
        await sendShare(page);
        expect(await page.textContent('#lifetime')).toContain('36 hours');
      },
    );
  });
}

describe('scripts', () => {
  itInBrowser(
    'say nothing of the limit before most of it is used, then how much more fits, and aloud only when that becomes news',
    { scripts: true },
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/`);
      const said = async (text: string) => {
        await page.fill('#secret', text);
        return [await page.isVisible('#counter'), await page.textContent('#counter')];
      };
      const left = (count: number) => [true, words('share.left', { count })];
      expect(await said('x'.repeat(7_999))).toEqual([false, '']);
      expect(await said('x'.repeat(8_000))).toEqual(left(2_000));
      expect(await page.textContent('#counter-spoken')).toBe(words('share.left', { count: 2_000 }));
      expect(await said('あ'.repeat(3_000))).toEqual(left(333));
      expect(await page.textContent('#counter-spoken')).toBe(words('share.left', { count: 2_000 }));
      expect(await said(`${'x'.repeat(8_999)}ü`)).toEqual([true, words('share.leftAbout', { count: 998 })]);
      expect(await said('x'.repeat(10_001))).toEqual([true, words('share.tooLongBy', { count: 1 })]);
      expect(await said('x'.repeat(10_012))).toEqual([true, words('share.tooLongBy', { count: 12 })]);
      expect(await page.textContent('#counter-spoken')).toBe(words('share.tooLongBy', { count: 1 }));
      expect(await said('x')).toEqual([false, '']);
    },
  );

  itInBrowser(
    'are not needed for anything that is shown: no empty counter and no word of a limit or a key that does nothing',
    {},
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/`);
      for (const id of ['counter', 'shortcut', 'file-pick', 'attachment', 'progress'])
        expect(await page.isVisible(`#${id}`)).toBe(false);
      expect(await page.getAttribute('#secret', 'placeholder')).toBe(words('share.placeholder'));
    },
  );

  for (const keys of ['Control+Enter', 'Meta+Enter']) {
    itInBrowser(
      `create on ${keys} from the field of the secret`,
      { scripts: true },
      async ({ site, page }) => {
        await page.goto(`${site.baseUrl}/`);
        await page.fill('#secret', 'x');
        await page.press('#secret', keys);
        await page.waitForSelector('#link');
        expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
      },
    );
  }

  itInBrowser(
    'generate on Enter in a field of the generator, where the form alone would create',
    { scripts: true },
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/`);
      await page.fill('#secret', 'mine');
      await page.click('#generator > summary');
      await page.fill('#suggest-length', '9');
      await page.press('#suggest-length', 'Enter');
      await page.waitForSelector('#secret-news');
      expect((await page.inputValue('#secret')).length).toBe(9);
      expect(site.app.events).toEqual([]);
    },
  );

  itInBrowser(
    'let a double click create once, and the buttons work again on the next visit',
    { scripts: true },
    async ({ site, visitor, page }) => {
      await page.goto(`${site.baseUrl}/`);
      await page.fill('#secret', 'x');
      await page.dblclick('#create');
      await page.waitForSelector('#link');
      expect(site.app.events.filter(({ event }) => event === 'concealed')).toHaveLength(1);
      await page.goto(`${site.baseUrl}/`);
      expect(await page.isEnabled('#create')).toBe(true);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'keep nothing in the browser, and no value or passphrase is in an address (P18)',
    { scripts: true },
    async ({ site, page }) => {
      const addresses: string[] = [];
      page.on('request', (request) => addresses.push(request.url()));
      await page.goto(`${site.baseUrl}/`);
      await page.fill('#secret', 'canary');
      await openOption(page, 'passphrase');
      await page.fill('#passphrase', 'canary');
      expect(await keptBy(page)).toEqual(nothingKept);
      await sendShare(page, '#generate');
      expect(await keptBy(page)).toEqual(nothingKept);
      await shareIn(page, site.baseUrl, { secret: 'canary', passphrase: 'canary' });
      expect(await keptBy(page)).toEqual(nothingKept);
      // That it was made here, for the page of its link, by a hash of its key.
      const cookies = await page.context().cookies();
      expect(cookies.map(({ name, value }) => `${name}=${value}`)).toEqual([
        expect.stringMatching(/^made-[0-9a-f]=[0-9a-f]{24}$/),
      ]);
      expect(addresses.filter((address) => address.includes('canary'))).toEqual([]);
    },
  );
});

itInBrowser(
  'self-test: without the first button of the form, Enter in the passphrase would generate',
  { scripts: true },
  async ({ site, page }) => {
    await page.goto(`${site.baseUrl}/`);
    await page.evaluate(() => document.querySelector('#share button')?.remove());
    await page.fill('#secret', 'x');
    await openOption(page, 'passphrase');
    await page.press('#passphrase', 'Enter');
    await page.waitForSelector('#secret-news');
    expect(await page.inputValue('#secret')).not.toBe('x');
  },
);

describe('every state of the share page', () => {
  for (const [scheme, width] of [
    ['light', 1_600],
    ['dark', 320],
  ] as const) {
    itInBrowser(
      `has no accessibility flaw, fits and breaks no rule of its policy: ${scheme}, ${width} px`,
      { scheme, width, scripts: true, limitMs: 2 * patienceMs },
      async ({ site, visitor, page }) => {
        const flaws: string[] = [];
        const look = async (name: string) => flaws.push(...(await flawsOf(page, name)));
        await page.goto(`${site.baseUrl}/`);
        await look('home');
        await openOption(page, 'memo');
        await look('label open');
        await chooseLifetime(page, 'other');
        await page.click('#generator > summary');
        await look('lifetime and generator open');
        await fillOption(page, 'passphrase', 'typed');
        await sendShare(page, '#draw-passphrase');
        await look('passphrase drawn');
        await page.check('[value="words"]');
        await sendShare(page, '#generate');
        await look('drawn');
        await page.fill('#secret', 'x'.repeat(10_001));
        await page.click('#create');
        await look('too long');
        await page.fill('#secret', 'x');
        await fillOption(page, 'passphrase', 'x'.repeat(1_025));
        await sendShare(page);
        await look('refused');
        await fillOption(page, 'passphrase', 'x');
        await page.context().setOffline(true);
        await page.click('#create');
        await page.waitForSelector('#unsent h2');
        await page.context().setOffline(false);
        await look('no answer');
        const { cookie, signedIn } = await signUpAs(site.app, 'ann@example.com');
        const { id: accountId } = signedIn.caller.account;
        const domain = { accountId, name: 'secrets.ann.example', challenge: null, createdAt: 0 };
        await site.app.store.addDomain({ ...domain, state: 'verified' }, 1);
        await carry(page, site.baseUrl, cookie);
        await page.goto(`${site.baseUrl}/`);
        await look('with an account');
        await page.fill('#secret', 'x');
        await openOption(page, 'share-domain');
        await look('with an account, domain open');
        await fillOption(page, 'recipient', 'nobody');
        await look('with an account, recipient open');
        await openOption(page, 'notify');
        await page.check('#notify-read');
        await look('with an account, open');
        await sendShare(page);
        await look('refused recipient');
        expect([...flaws, ...noticedBy(visitor)]).toEqual([]);
      },
    );
  }

  itInBrowser(
    'is as good where only accounts share',
    { app: { anonymousMayCreate: false }, width: 320, scripts: true },
    async ({ site, visitor, page }) => {
      await page.goto(`${site.baseUrl}/`);
      expect([...(await flawsOf(page, 'closed')), ...noticedBy(visitor)]).toEqual([]);
    },
  );
});
