/**
 * Pictures of every page, on a phone and on a desk, light and dark: `bun test/web/screenshots.ts FOLDER`.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { launchBrowser, openSite, openVisitor } from './browser.ts';

const folder = process.argv[2];
if (folder === undefined) throw new Error('Name a folder for the pictures.');
await mkdir(folder, { recursive: true });

const sizes = [
  { width: 320, height: 640 },
  { width: 1_600, height: 900 },
] as const;
const browser = await launchBrowser();
const site = openSite();
for (const scheme of ['light', 'dark'] as const) {
  for (const size of sizes) {
    await using visitor = await openVisitor(browser, site, { scheme, ...size });
    const { page } = visitor;
    const picture = (name: string) =>
      page.screenshot({ path: join(folder, `${name}-${scheme}-${size.width}.png`), fullPage: true });
    await page.goto(`${site.baseUrl}/`);
    await picture('home');
    await page.fill('#secret', 'x'.repeat(5_001));
    await page.click('#create');
    await picture('refused');
    await page.fill('#secret', 'The door code is 4711.\nCome after six.');
    await page.fill('#passphrase', 'right');
    await page.click('#create');
    await picture('ready');
    const receipt = page.url();
    const link = await page.inputValue('#link');
    await page.goto(receipt);
    await picture('receipt');
    await page.click('text=Burn the secret');
    await picture('burn');
    await page.goto(link);
    await picture('ask');
    await page.fill('#passphrase', 'wrong');
    await page.click('text=Open the secret');
    await picture('wrong');
    await page.fill('#passphrase', 'right');
    await page.click('text=Open the secret');
    await picture('revealed');
    await page.goto(link);
    await picture('gone');
    await page.goto(receipt);
    await picture('received');
    await page.goto(`${site.baseUrl}/nope`);
    await picture('not-found');
  }
}
site[Symbol.dispose]();
await browser.close();
