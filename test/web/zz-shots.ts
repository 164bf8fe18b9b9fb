import { launchBrowser, openSite, openVisitor } from './browser.ts';

const browser = await launchBrowser();
using site = openSite({});
const out = '/tmp/sp/shots';
const which = process.argv[2] ?? 'all';
for (const [name, width, height, scheme, locale] of [
  ['phone', 390, 844, 'light', 'en-US'],
  ['desk', 1280, 800, 'dark', 'en-US'],
  ['phone-ar', 390, 844, 'dark', 'ar'],
  ['desk-de', 1280, 800, 'light', 'de'],
] as const) {
  if (which !== 'all' && which !== name) continue;
  await using visitor = await openVisitor(browser, site, { scripts: true, width, height, scheme, locale });
  const { page } = visitor;
  const shot = (n: string) => page.screenshot({ path: `${out}/${name}-${n}.png`, fullPage: true });
  await page.goto(`${site.baseUrl}/`);
  await shot('share');
  await page.fill('#secret', 'typed');
  await page.setInputFiles('#file', {
    name: 'server-certificate-2026.pem',
    mimeType: 'text/plain',
    buffer: Buffer.alloc(4321, 65),
  });
  await page.waitForSelector('#attachment:not([hidden])');
  await shot('file');
  await page.uncheck('#seal');
  await page.click('#create');
  await shot('file-plain');
  await page.click('#file-remove');
  await shot('plain');
  await page.check('#seal');
  await page.fill('#passphrase', 'right');
  await page.click('#create');
  await page.waitForSelector('#whole-link:not([hidden])');
  for (const s of await page.locator('#whole-link summary').all()) await s.click();
  await shot('receipt');
  await page.reload();
  await shot('receipt-gone');
  console.log(name, visitor.complaints, visitor.violations);
}
await browser.close();
