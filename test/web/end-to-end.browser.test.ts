/** The whole way of an end-to-end secret: typed or chosen on a phone, opened on a desktop. */
import { expect, it } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { openSite, openVisitor } from './browser.ts';
import { carry, noticedBy, openOption } from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { signUpAs } from './signed-in.ts';

const canaries = {
  text: 'canary-of-a-text\nwith a second line – "ä" 😀',
  passphrase: 'canary-of-a-passphrase',
  file: 'canary-of-a-file-name.bin',
} as const;

const { browser } = withBrowser();

/** Addresses, headers and bodies, as sent and decoded. */
function sentBy(page: Page, into: string[]): void {
  page.on('request', (request) => {
    if (!request.url().startsWith('http')) return;
    const body = (request.postData() ?? '').replaceAll('+', ' ');
    into.push(request.url(), JSON.stringify(request.headers()), body, unescape(body));
  });
}

it(
  'a text and a file of a megabyte go from a phone to a desktop, and neither they nor what opens them is ever sent',
  async () => {
    using site = openSite();
    await using phone = await openVisitor(browser(), site, { scripts: true, width: 390, height: 844 });
    await using desktop = await openVisitor(browser(), site, { scripts: true, width: 1_280 });
    const { cookie } = await signUpAs(site.app, 'rosa@example.org');
    await carry(phone.page, site.baseUrl, cookie);
    const sent: string[] = [];
    for (const { page } of [phone, desktop]) sentBy(page, sent);
    const fragments: string[] = [];
    const share = async (): Promise<string> => {
      await phone.page.click('#create');
      await phone.page.waitForSelector('#whole-link:not([hidden])');
      const link = await phone.page.inputValue('#link');
      fragments.push(new URL(link).hash.slice(1));
      return link;
    };

    await phone.page.goto(`${site.baseUrl}/`);
    await phone.page.fill('#secret', canaries.text);
    await openOption(phone.page, 'passphrase');
    await phone.page.fill('#passphrase', canaries.passphrase);
    await desktop.page.goto(await share());
    await desktop.page.fill('#passphrase', canaries.passphrase);
    await desktop.page.keyboard.press('Enter');
    await desktop.page.waitForSelector('#done');
    expect(await desktop.page.inputValue('#value')).toBe(canaries.text);
    await desktop.page.click('#done');

    const bytes = Buffer.from(Uint8Array.from({ length: 999_900 }, (_, at) => (at * 31) % 251));
    await phone.page.goto(`${site.baseUrl}/`);
    await phone.page.setInputFiles('#file', { name: canaries.file, mimeType: 'text/html', buffer: bytes });
    await desktop.page.goto(await share());
    await desktop.page.click('#open');
    await desktop.page.waitForSelector('#done');
    expect(await desktop.page.textContent('#file-name')).toBe(canaries.file);
    const [download] = await Promise.all([
      desktop.page.waitForEvent('download'),
      desktop.page.click('#download'),
    ]);
    expect(download.suggestedFilename()).toBe(canaries.file);
    expect(Buffer.compare(await readFile(await download.path()), bytes)).toBe(0);

    const all = sent.join('\n');
    expect(all).toContain('sealed-ciphertext');
    const secrets = [canaries.text.split('\n')[0] ?? '', canaries.passphrase, canaries.file, ...fragments];
    expect(secrets.filter((text) => text === '' || all.includes(text))).toEqual([]);
    expect([...noticedBy(phone), ...noticedBy(desktop)]).toEqual([]);
    expect(site.app.faults).toEqual([]);
  },
  patienceMs,
);
