/**
 * Draws the default logo as PNG files with Chromium, for home screens that show no SVG: run it with `bun` after a change of
 * `src/web/brand/default-logo.tsx`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { appIconSvg } from '../src/web/brand/default-logo.tsx';
import { chromiumPath, launchArguments } from '../test/web/browser.ts';

const folder = join(import.meta.dirname, '../src/web/assets/icons');
const browser = await chromium.launch({ executablePath: chromiumPath, args: [...launchArguments] });
for (const size of [180, 512]) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const address = `data:image/svg+xml;base64,${Buffer.from(appIconSvg).toString('base64')}`;
  await page.setContent(`<body style="margin:0"><img style="display:block;width:100%" src="${address}">`);
  await page.waitForFunction(() => document.images[0]?.complete);
  writeFileSync(join(folder, `app-${size}.png`), await page.screenshot());
  await page.close();
}
await browser.close();
