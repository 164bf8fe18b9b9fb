/** Files of end-to-end secrets in a browser: shown only as what they are, and downloaded as they are. */
import { describe, expect, it } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Content } from '../../sdk/sealing.ts';
import { openSite, openVisitor } from './browser.ts';
import { flawsOf } from './creator.ts';
import { patienceMs, withBrowser } from './in-browser.ts';
import { gif, jpeg, plainSvg, png, webp } from './pictures.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';

const { browser } = withBrowser();

async function openIt(page: Page): Promise<void> {
  await page.click('#open');
  await page.waitForSelector('#done');
}

const file = (name: string, bytes: Uint8Array, type = ''): Content => ({ kind: 'file', name, type, bytes });
const utf8 = (text: string) => new TextEncoder().encode(text);

describe('a file of an end-to-end secret', () => {
  it(
    'is shown as a picture or a text only if it is one, whatever it is called, and is downloaded as it is',
    async () => {
      using site = openSite();
      await using visitor = await openVisitor(browser(), site, { scripts: true, width: 390 });
      const { page } = visitor;
      const open = async (content: Content) => {
        await page.goto('about:blank');
        await page.goto(site.baseUrl + (await makeSealed(site.app, content)).link);
        await openIt(page);
      };
      const hasPicture = () => page.locator('#preview').evaluate((img: HTMLImageElement) => img.src !== '');
      for (const picture of [png, jpeg, gif, webp]) {
        await open(file('picture.html', picture, 'text/html'));
        await page.waitForSelector('#preview:visible');
        expect(await page.locator('#value').count()).toBe(0);
      }
      expect(await flawsOf(page, 'picture')).toEqual([]);
      for (const [name, bytes] of [
        ['drawing.png', utf8(plainSvg)],
        ['page.png', utf8('<script>document.title = "run"</script>')],
      ] as const) {
        await open(file(name, bytes, 'image/png'));
        expect([await hasPicture(), await page.inputValue('#value')]).toEqual([
          false,
          new TextDecoder().decode(bytes),
        ]);
        expect(await page.title()).not.toContain('run');
      }
      expect(await flawsOf(page, 'text file')).toEqual([]);
      await open(file('../\u202e/evil\u0007.exe', new Uint8Array([0x4d, 0x5a, 0, 1]), 'image/png'));
      expect([await hasPicture(), await page.locator('#value').count()]).toEqual([false, 0]);
      expect(await page.textContent('#file-name')).toBe('evil.exe');
      expect(await flawsOf(page, 'binary')).toEqual([]);
      expect(await page.locator('#download').getAttribute('download')).toBe('evil.exe');
      expect([visitor.violations, visitor.elsewhere]).toEqual([[], []]);
    },
    patienceMs,
  );

  it(
    'of a megabyte arrives byte for byte, as application/octet-stream under its name',
    async () => {
      using site = openSite();
      await using visitor = await openVisitor(browser(), site, { scripts: true });
      const { page } = visitor;
      const { signedIn } = await signUpAs(site.app, 'rosa@example.org');
      const bytes = Uint8Array.from({ length: 999_900 }, (_, at) => (at * 31) % 251);
      const content = file('größe.bin', bytes, 'text/html');
      await page.addInitScript(
        'const make = URL.createObjectURL; URL.createObjectURL = (blob) => { globalThis.kinds = [...(globalThis.kinds ?? []), blob.type]; return make(blob); }',
      );
      await page.goto(site.baseUrl + (await makeSealed(site.app, content, null, signedIn.caller)).link);
      await openIt(page);
      expect(await page.evaluate('globalThis.kinds')).toEqual(['application/octet-stream']);
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
      expect(download.suggestedFilename()).toBe('größe.bin');
      expect(Buffer.compare(await readFile(await download.path()), bytes)).toBe(0);
      expect([visitor.violations, visitor.elsewhere]).toEqual([[], []]);
    },
    patienceMs,
  );
});
