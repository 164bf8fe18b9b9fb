/** Nothing of a value is lost in silence: what Copy and Save give, and what becomes of files that are dropped. */
import { describe, expect } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { createClient } from '../../sdk/mayfly.ts';
import { pressOpen, type Site } from './browser.ts';
import { noticedBy } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser();

/** What fields rewrite, drop or hide. */
const texts = {
  'line breaks of every kind': 'one\r\ntwo\rthree\nfour',
  'a last CR': 'interface eth0\r',
  'a line break at the start': '\n\nlast words',
  'line breaks at the end': 'last words\n\n',
  'a mark at the start': '\ufeffthe value',
  'a character that is none': 'a\u0000b\u0007c',
  'blanks at both ends': ' \u00a0\tthe value \u200b ',
  'lines of names and values': 'USER=alice\r\nPASSWORD=a b\r\n',
  'other scripts': 'ключ 😀 مفتاح',
} as const;

const doors = {
  plain: async (site: Site, text: string) => (await makeWaiting(site.app, { value: text })).secretPath,
  sealed: async (site: Site, text: string) => (await makeSealed(site.app, text)).link,
  'text file': async (site: Site, text: string) => {
    const file = { kind: 'file', name: 'notes.txt', type: 'text/plain', bytes: Buffer.from(text) } as const;
    return (await makeSealed(site.app, file)).link;
  },
} as const;

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** By each way of copying: the button, the button where pages get no clipboard, and all of the field by the keyboard. */
async function copied(page: Page): Promise<string[]> {
  const found: string[] = [];
  const take = async (act: () => Promise<void>) => {
    await page.evaluate(() => navigator.clipboard.writeText('before'));
    await act();
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== 'before');
    found.push(await clipboard(page));
  };
  await take(() => page.click('[data-copy="#value"]'));
  await take(async () => {
    await page.locator('#value').focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+C');
  });
  const denied = () => {
    Object.assign(globalThis, { given: navigator.clipboard.writeText });
    navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
  };
  await take(async () => {
    await page.evaluate(denied);
    await page.click('[data-copy="#value"]');
  });
  return found;
}

async function saved(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click(':is(#save, #download):visible'),
  ]);
  return readFile(await download.path(), 'utf8');
}

describe('what a page gives of a value is the value, to the byte', () => {
  for (const [door, link] of Object.entries(doors)) {
    itInBrowser(`${door}: copied and saved`, { scripts: true }, async ({ site, visitor, page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      for (const [name, text] of Object.entries(texts)) {
        await page.goto('about:blank');
        await page.goto(site.baseUrl + (await link(site, text)));
        await pressOpen(page);
        await page.locator('.done').waitFor();
        // A list of values folds the whole text away.
        const whole = page.locator('details.whole:not([open]) > summary');
        if ((await whole.count()) > 0) await whole.click();
        const isShown = (await page.locator('#value').count()) > 0;
        // A file with a character that no text has is only saved.
        expect([door, name, isShown]).toEqual([door, name, door !== 'text file' || !text.includes('\0')]);
        if (isShown) expect([name, await copied(page)]).toEqual([name, [text, text, text]]);
        expect([name, await saved(page)]).toEqual([name, text]);
      }
      expect(noticedBy(visitor)).toEqual([]);
    });
  }
});

interface Dropped {
  readonly name: string;
  readonly text: string;
}

async function drop(page: Page, files: readonly Dropped[]): Promise<void> {
  await page.evaluate((given) => {
    const transfer = new DataTransfer();
    for (const { name, text } of given) transfer.items.add(new File([text], name, { type: 'text/plain' }));
    document
      .getElementById('share')
      ?.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, files);
}

const notes = (text: string): Dropped => ({ name: 'notes.txt', text });
/** Of anonymous callers; the name and the type of a file count too. */
const plainLimit = 10_000;
const sealedLimit = 100_000 - 'notes.txt'.length - 'text/plain'.length;

type Fate = { readonly is: 'kept'; readonly as?: string } | { readonly is: 'refused'; readonly said: string };
const kept: Fate = { is: 'kept' };
const refused = (said: string): Fate => ({ is: 'refused', said });
const notText = refused(words('share.fileNotText'));

/** What is dropped, and what becomes of it where the browser seals and where the server encrypts. */
const drops: readonly (readonly [what: string, files: readonly Dropped[], sealed: Fate, plain: Fate])[] = [
  ['a text', [notes('the value\n')], kept, kept],
  ['a mark at the start', [notes('\ufeffthe value')], kept, { is: 'kept', as: 'the value' }],
  ['lines of Windows', [notes('one\r\ntwo\r\n')], kept, { is: 'kept', as: 'one\ntwo\n' }],
  ['a lone CR', [notes('one\rtwo')], kept, notText],
  ['a NUL', [notes('a\0b')], kept, notText],
  ['as much as fits in the field', [notes('x'.repeat(plainLimit))], kept, kept],
  ['more than fits in the field', [notes('x'.repeat(plainLimit + 1))], kept, notText],
  ['as much as can be sealed', [notes('x'.repeat(sealedLimit))], kept, notText],
  [
    'more than can be sealed',
    [notes('x'.repeat(sealedLimit + 1))],
    refused(words('share.fileTooLarge', { size: '100\u00a0kB' })),
    notText,
  ],
  [
    'two files',
    [notes('one'), { name: 'two.txt', text: 'two' }],
    refused(words('share.fileOne')),
    refused(words('share.fileOne')),
  ],
];

/** What the recipient gets of the secret that the page has created. */
async function received(page: Page, baseUrl: string): Promise<string> {
  await page.click('#create');
  await page.waitForSelector('#link:visible');
  const link = await page.inputValue('#link');
  await page.click('[data-copy="#link"]');
  const { value, file } = await createClient({ server: baseUrl }).reveal(link);
  return value ?? Buffer.from(file?.bytes ?? []).toString();
}

describe('a file that is dropped', () => {
  for (const door of ['sealed', 'plain'] as const) {
    itInBrowser(
      `${door}: arrives as it is, or the page says why not`,
      { scripts: true },
      async ({ site, page }) => {
        page.on('dialog', (dialog) => void dialog.accept());
        for (const [what, files, sealed, plain] of drops) {
          const fate = door === 'sealed' ? sealed : plain;
          await page.goto(`${site.baseUrl}/`);
          if (door === 'plain') {
            await page.click('#sealing > summary');
            await page.uncheck('#seal');
          }
          await drop(page, files);
          const settled = door === 'sealed' && fate.is === 'kept' ? '#attachment:not([hidden])' : null;
          if (fate.is === 'refused') await page.waitForSelector('#stopped:not(:empty)');
          else if (settled !== null) await page.waitForSelector(settled);
          else await page.waitForFunction(() => document.querySelector('textarea')?.value !== '');
          expect([what, await page.textContent('#stopped')]).toEqual([
            what,
            fate.is === 'refused' ? fate.said : '',
          ]);
          if (fate.is === 'refused') {
            const nothing = [await page.isHidden('#attachment'), await page.inputValue('#secret')];
            expect([what, nothing]).toEqual([what, [true, '']]);
          } else {
            const text = fate.as ?? files[0]?.text ?? '';
            expect([what, (await received(page, site.baseUrl)) === text]).toEqual([what, true]);
          }
        }
      },
    );
  }
});
