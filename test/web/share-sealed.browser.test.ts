/** Sharing with end-to-end encryption: what the browser sends, and what happens when it cannot encrypt. */
import { describe, expect } from 'bun:test';
import type { Page, Request } from 'playwright-core';
import { openNote, prove, proveLink, open as unseal } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { clientStays } from '../stores/conformance/check.ts';
import type { TestApp } from '../support/app.ts';
import {
  carry,
  flawsOf,
  focusOf,
  headingOf,
  keptBy,
  nothingKept,
  noticedBy,
  openOption,
  sendShare,
} from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { decodeQr } from './qr-code.ts';
import { signUpAs } from './signed-in.ts';
import { saying, words } from './words.ts';

const { itInBrowser } = withBrowser();

const canaries = {
  value: 'canary-of-a-value',
  passphrase: 'canary-of-a-passphrase',
  note: 'canary-of-a-note',
  name: 'canary-of-a-name.txt',
  content: 'canary-of-the-bytes-of-a-file',
};

/** Everything that the page sends: addresses, headers and bodies. */
function recordOf(page: Page): () => string {
  const requests: Request[] = [];
  page.context().on('request', (request) => requests.push(request));
  return () =>
    requests
      .map(
        (each) =>
          `${each.method()} ${each.url()}\n${JSON.stringify(each.headers())}\n${each.postData() ?? ''}`,
      )
      .join('\n');
}

/** As it is, as a form encodes it, and as base64 at any offset. */
function formsOf(text: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from(`${'.'.repeat(offset)}${text}`)
      .toString('base64url')
      .slice(4, 20),
  );
  return [text, encodeURIComponent(text), Buffer.from(text).toString('hex'), ...base64];
}

function leaksIn(sent: string, texts: readonly string[]): string[] {
  return texts.filter((text) => formsOf(text).some((form) => sent.includes(form)));
}

/** As a recipient's client does. */
async function openLink(app: TestApp, link: string, passphrase: string | null) {
  const { pathname, hash } = new URL(link);
  const { linkProof, proof, key } = await prove(hash.slice(1), passphrase, stretch);
  const answer = await app.fetch(`/api/v2${pathname}/reveal`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link_proof: linkProof, proof, continue: true }),
  });
  const { record } = (await answer.json()) as { record: { sealed: { ciphertext: string } } };
  return unseal(record.sealed.ciphertext, key);
}

async function readNote(app: TestApp, link: string): Promise<string> {
  const { pathname, hash } = new URL(link);
  const answer = await app.fetch(`/api/v2${pathname}/note`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link_proof: await proveLink(hash.slice(1)) }),
  });
  const { record } = (await answer.json()) as { record: { note: string } };
  return openNote(record.note, hash.slice(1));
}

const scripts = { scripts: true } as const;
const stopped = '#unsent h2';

/** Fills in what no request may hold. */
async function type(page: Page, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/`);
  await page.fill('#secret', canaries.value);
  await openOption(page, 'memo');
  await page.fill('#note', canaries.note);
  await openOption(page, 'passphrase');
  await page.fill('#passphrase', canaries.passphrase);
}

async function choose(page: Page, bytes = Buffer.from(canaries.content)): Promise<void> {
  await page.setInputFiles('#file', { name: canaries.name, mimeType: 'text/plain', buffer: bytes });
}

async function create(page: Page): Promise<string> {
  await page.click('#create');
  await page.waitForSelector('#whole-link:not([hidden])');
  return page.inputValue('#link');
}

const statusOf = (page: Page) => page.textContent('#encryption');

describe('with end-to-end encryption', () => {
  itInBrowser(
    'a text and its passphrase leave the browser only sealed, and the link that is shown once opens them (P9)',
    scripts,
    async ({ site, visitor, page }) => {
      const sent = recordOf(page);
      await type(page, site.baseUrl);
      expect(await statusOf(page)).toBe(words('share.encryptedHere'));
      const link = await create(page);
      expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
      expect(link).toMatch(/\/secret\/\w+#[\w-]{22}$/);
      const fragment = link.slice(link.indexOf('#') + 1);
      expect(page.url()).not.toContain('#');
      expect(await flawsOf(page, 'receipt')).toEqual([]);
      const message = await page.inputValue('#message');
      const mail = new URL((await page.getAttribute('#mailto', 'href')) ?? '');
      expect([message, mail.searchParams.get('body')]).toEqual([
        expect.stringContaining(link),
        expect.stringContaining(link),
      ]);
      expect(decodeQr(await page.locator('.qr').evaluate((svg) => svg.outerHTML))).toBe(link);
      const asked = page.waitForEvent('dialog');
      page.once('dialog', (dialog) => void dialog.accept());
      await page.reload();
      expect((await asked).type()).toBe('beforeunload');
      expect(await page.inputValue('#link')).toBe(link);
      await page.click('[data-copy="#link"]');
      await page.reload();
      expect(await page.textContent('#link-gone')).toContain(words('receipt.linkGone'));
      expect([await page.isVisible('#link'), await page.inputValue('#link')]).toEqual([false, '']);
      expect(leaksIn(sent(), [canaries.value, canaries.passphrase, canaries.note, fragment])).toEqual([]);
      expect(await readNote(site.app, link)).toBe(canaries.note);
      expect(await openLink(site.app, link, canaries.passphrase)).toEqual({
        kind: 'text',
        text: canaries.value,
      });
      expect(await keptBy(page)).toEqual(nothingKept);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'the link and the passphrase outlive a reload until the link has gone somewhere, or the secret is gone',
    scripts,
    async ({ site, page }) => {
      page.on('dialog', (dialog) => void dialog.accept());
      const open = async (summary: string) => page.click(`details:has(${summary}) > summary`);
      const ends: Readonly<Record<string, (receipt: string) => Promise<unknown>>> = {
        copied: () => page.click('[data-copy="#link"]'),
        'shown as QR code': () => open('#qr'),
        'copied with the message': async () => {
          await page.locator('details:has(#message)').evaluate((message: HTMLDetailsElement) => {
            message.open = true;
          });
          await page.click('[data-copy="#message"]');
        },
        burned: (receipt) =>
          site.app.service.burn(
            {
              proof: null,
              metadataKey: receipt.split('/').at(-1) ?? '',
              authority: 'holder',
              isAbandoned: clientStays,
            },
            { kind: 'anonymous' },
          ),
      };
      for (const [how, end] of Object.entries(ends)) {
        await type(page, site.baseUrl);
        const link = await create(page);
        const receipt = page.url();
        for (let reloads = 0; reloads < 2; reloads += 1) {
          await page.reload();
          await page.waitForSelector('#link:visible');
          const shown = [await page.inputValue('#link'), await page.textContent('#passphrase-value')];
          expect([how, ...shown]).toEqual([how, link, canaries.passphrase]);
          expect(page.url()).toBe(receipt);
        }
        await end(receipt);
        await page.reload();
        expect([how, await page.locator('#link:visible').count()]).toEqual([how, 0]);
        expect([how, await page.evaluate(() => history.state)]).toEqual([how, null]);
      }
    },
  );

  itInBrowser(
    'a file leaves the browser only sealed, with its name, and in place of the text beside it',
    scripts,
    async ({ site, visitor, page }) => {
      const sent = recordOf(page);
      await page.goto(`${site.baseUrl}/`);
      await page.fill('#secret', canaries.value);
      await choose(page, Buffer.alloc(100_001));
      expect(await page.textContent('#stopped')).toMatch(
        saying('share.fileTooLarge', { size: '100\u00a0kB' }),
      );
      await choose(page);
      expect([await page.textContent('#file-name'), await page.isVisible('#secret')]).toEqual([
        canaries.name,
        false,
      ]);
      expect(await flawsOf(page, 'file')).toEqual([]);
      const link = await create(page);
      const texts = [canaries.value, canaries.name, canaries.content];
      expect(leaksIn(sent(), texts)).toEqual([]);
      expect(await openLink(site.app, link, null)).toEqual({
        kind: 'file',
        name: canaries.name,
        type: 'text/plain',
        bytes: new Uint8Array(Buffer.from(canaries.content)),
      });
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'a value is generated in the browser, and what was typed before comes back, without the server seeing any',
    scripts,
    async ({ site, visitor, page }) => {
      const sent = recordOf(page);
      await type(page, site.baseUrl);
      await sendShare(page, '#generate');
      const characters = await page.inputValue('#secret');
      expect(characters).toMatch(/^[!-~]{16}$/);
      expect(await page.textContent('#secret-news')).toMatch(saying('suggest.drawn'));
      await page.click('#generator > summary');
      await page.check('[value="words"]');
      await sendShare(page, '#generate');
      const passphrase = await page.inputValue('#secret');
      expect(passphrase).toMatch(/^[a-z]+(-[a-z]+){4,}$/);
      await page.fill('#suggest-words', '99');
      await sendShare(page, '#generate');
      expect(await page.inputValue('#secret')).toBe(passphrase);
      await sendShare(page, '#take-back');
      expect([await page.inputValue('#secret'), await page.inputValue('#passphrase')]).toEqual([
        canaries.value,
        canaries.passphrase,
      ]);
      expect(await page.inputValue('#note')).toBe(canaries.note);
      const texts = [canaries.value, canaries.passphrase, canaries.note, characters, passphrase];
      expect(leaksIn(sent(), texts)).toEqual([]);
      expect(noticedBy(visitor)).toEqual([]);
    },
  );

  itInBrowser(
    'a refused form keeps value, passphrase, file and what a generated value took the place of, and can be sent mended',
    scripts,
    async ({ site, page }) => {
      const sent = recordOf(page);
      await type(page, site.baseUrl);
      await sendShare(page, '#generate');
      const drawn = await page.inputValue('#secret');
      await openOption(page, 'memo');
      await page.fill('#memo', 'x'.repeat(501));
      await sendShare(page);
      expect(await page.getAttribute('#memo', 'aria-invalid')).toBe('true');
      expect([await page.inputValue('#secret'), await page.inputValue('#passphrase')]).toEqual([
        drawn,
        canaries.passphrase,
      ]);
      await sendShare(page, '#take-back');
      expect(await page.inputValue('#secret')).toBe(canaries.value);
      await page.fill('#memo', 'mine');
      expect(await page.inputValue('#note')).toBe(canaries.note);
      for (const note of ['a'.repeat(141), 'a\u0007b']) {
        await page.fill('#note', note);
        await page.click('#create');
        await page.waitForSelector(stopped);
        expect(await page.textContent(stopped)).toBe(words('note.wrong', { max: 140 }));
        expect(await focusOf(page)).toBe('note');
      }
      await page.fill('#note', canaries.note);
      const link = await create(page);
      expect(await readNote(site.app, link)).toBe(canaries.note);
      expect(await openLink(site.app, link, canaries.passphrase)).toEqual({
        kind: 'text',
        text: canaries.value,
      });
      expect(leaksIn(sent(), [canaries.value, canaries.passphrase, canaries.note, drawn])).toEqual([]);
    },
  );
});

/** Stretches every passphrase to the same bytes. */
const weakWorker = 'onmessage = () => postMessage(new Uint8Array(32))';

const beforeScripts = (script: string) => (page: Page) => page.addInitScript(script);

/** Each in the page before its own scripts run, or in the network. */
const failures: readonly [name: string, fail: (page: Page) => Promise<unknown>][] = [
  [
    'the browser refuses to encrypt',
    beforeScripts('crypto.subtle.encrypt = () => Promise.reject(new Error())'),
  ],
  ['the worker does not load', (page) => page.route(/stretch-worker/, (route) => route.abort())],
  [
    'the worker is another file',
    (page) =>
      page.route(/stretch-worker/, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: weakWorker }),
      ),
  ],
  ['the worker may not start', beforeScripts('Worker = class { constructor() { throw new Error(); } }')],
  ['the worker dies', beforeScripts('Worker.prototype.postMessage = () => { throw new Error(); }')],
];

describe('when it cannot be encrypted', () => {
  for (const [name, fail] of failures) {
    itInBrowser(`nothing is sent and nothing typed is lost: ${name}`, scripts, async ({ site, page }) => {
      await fail(page);
      const sent = recordOf(page);
      await type(page, site.baseUrl);
      await page.click('#create');
      await page.waitForSelector(stopped);
      expect(await page.textContent(stopped)).toBe(words('share.unsealedTitle'));
      expect(await page.inputValue('#secret')).toBe(canaries.value);
      expect(await page.inputValue('#passphrase')).toBe(canaries.passphrase);
      const record = sent();
      expect(record).not.toContain('POST ');
      expect(leaksIn(record, [canaries.value, canaries.passphrase, canaries.note])).toEqual([]);
      expect(await flawsOf(page, name)).toEqual([]);
      // Not even by what sends forms without the script.
      expect(await page.locator('#share :is(#secret, #passphrase, #note)[name]').count()).toBe(0);
      expect(site.app.events).toEqual([]);
    });
  }

  itInBrowser(
    'without its script, or where WebCrypto is missing, the page says that the server encrypts, and sends as before',
    scripts,
    async ({ site, page }) => {
      await page.route(/assets\/share/, (route) => route.abort());
      await type(page, site.baseUrl);
      expect(await statusOf(page)).toBe(words('share.encryptedByServer'));
      expect(await page.isVisible('#seal')).toBe(false);
      await sendShare(page);
      expect(await page.inputValue('#link')).not.toContain('#');
      await page.unroute(/assets\/share/);
      await page.addInitScript('Object.defineProperty(window, "isSecureContext", { value: false })');
      await type(page, site.baseUrl);
      await page.click('#sealing > summary');
      expect([
        await statusOf(page),
        await page.textContent('#encryption-more'),
        await page.isVisible('#seal'),
      ]).toEqual([words('share.encryptedByServer'), words('share.insecureMore'), false]);
      await sendShare(page);
      expect(await page.inputValue('#link')).not.toContain('#');
    },
  );

  itInBrowser(
    'a choice that is off at first is off: the server encrypts until it is ticked; a file is never sent so, a text file fills the field',
    { scripts: true, app: { endToEnd: 'offered' } },
    async ({ site, page }) => {
      await page.goto(`${site.baseUrl}/`);
      expect([await statusOf(page), await page.isChecked('#seal')]).toEqual([
        words('share.encryptedByServer'),
        false,
      ]);
      await choose(page, Buffer.from([0, 255]));
      await page.waitForSelector('#stopped:not(:empty)');
      expect(await page.textContent('#stopped')).toBe(words('share.fileNotText'));
      await choose(page);
      await page.waitForSelector('#secret:valid');
      expect(await page.inputValue('#secret')).toBe(canaries.content);
      await page.click('#sealing > summary');
      await page.check('#seal');
      await openOption(page, 'memo');
      await page.fill('#memo', 'x'.repeat(501));
      await sendShare(page);
      // The page of a refused form keeps the choice.
      expect([await page.getAttribute('#memo', 'aria-invalid'), await page.isChecked('#seal')]).toEqual([
        'true',
        true,
      ]);
      await page.fill('#memo', '');
      await choose(page, Buffer.from('bytes'));
      await page.uncheck('#seal');
      const sent = recordOf(page);
      await page.click('#create');
      expect(await page.textContent('#stopped')).toBe(words('share.fileNeedsSealing'));
      expect(sent()).toBe('');
      await page.click('#file-remove');
      await sendShare(page);
      expect(await page.inputValue('#link')).not.toContain('#');
    },
  );

  itInBrowser('mail by the server turns it off, and the page says why', scripts, async ({ site, page }) => {
    const { cookie } = await signUpAs(site.app, 'alice@example.org');
    await carry(page, site.baseUrl, cookie);
    await page.goto(`${site.baseUrl}/`);
    await page.fill('#secret', 'v');
    await openOption(page, 'recipient');
    await page.fill('#recipient', 'bob@example.org');
    expect(await statusOf(page)).toBe(words('share.encryptedEmailed'));
    await page.fill('#recipient', '');
    expect(await statusOf(page)).toBe(words('share.encryptedHere'));
    await page.fill('#recipient', 'bob@example.org');
    await sendShare(page);
    await site.app.service.settled();
    expect(site.app.mails).toHaveLength(1);
  });
});

describe('self-test', () => {
  itInBrowser(
    'a value that is sent as it was typed is found',
    { scripts: true, app: { endToEnd: 'off' } },
    async ({ site, page }) => {
      const sent = recordOf(page);
      await type(page, site.baseUrl);
      await sendShare(page);
      const { value, passphrase, note, name } = canaries;
      expect(leaksIn(sent(), [value, passphrase, note, name])).toEqual([value, passphrase, note]);
    },
  );
});
