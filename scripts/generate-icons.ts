/**
 * Draws the default logo as PNG files with Chromium, for home screens and chats, which show no SVG: run it with `bun` after a change of
 * `src/web/brand/default-logo.tsx`. The picture for chats has no word in it, so it suits every brand and language.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { appIconSvg, iconSvg } from '../src/web/brand/default-logo.tsx';
import { chromiumPath, launchArguments } from '../test/web/browser.ts';

const folder = join(import.meta.dirname, '../src/web/assets/icons');
const browser = await chromium.launch({ executablePath: chromiumPath, args: [...launchArguments] });
const mayfly = iconSvg.replace(/^<svg[^>]*>|<\/svg>$/g, '');
/** The day of `kit/day.tsx`, in the size that chats ask for. */
const cardSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630"><path fill="#f6f3ec" d="M0 0h1200v630H0z"/><g fill="none" stroke="#c98b1e" stroke-width="12" stroke-linecap="round"><path stroke="#c9c3b4" d="M150 510h900"/><path d="M240 510a360 360 0 0 1 720 0"/></g><circle cx="345" cy="255" r="74" fill="#f8e3b0"/><circle cx="345" cy="255" r="40" fill="#d9952b"/><g transform="translate(460 262) scale(10.6)">${mayfly}</g></svg>`;
const pictures = [
  ['app-180', appIconSvg, 180, 180],
  ['app-512', appIconSvg, 512, 512],
  ['card', cardSvg, 800, 420],
] as const;
for (const [name, svg, width, height] of pictures) {
  const page = await browser.newPage({ viewport: { width, height } });
  const address = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
  await page.setContent(`<body style="margin:0"><img style="display:block;width:100%" src="${address}">`);
  await page.waitForFunction(() => document.images[0]?.complete);
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
  await page.close();
}
await browser.close();
