/**
 * Pictures of the pages: `npm run pictures`, or `npm run pictures -- FOLDER LANGUAGE` for every state in one language.
 *
 * They show the whole service over its in-memory store, under the address of an installation, at a fixed time. `openssl` makes a
 * certificate for this run only.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { createTestApp, type TestApp } from '../test/support/app.ts';
import { chromiumPath, launchArguments, type Site } from '../test/web/browser.ts';
import { walkEverywhere } from '../test/web/tour.ts';
import { walkSealed } from '../test/web/tour-sealed.ts';

const [folder = 'docs/pictures', locale] = process.argv.slice(2);
const host = 'secrets.example.com';
const mainStates = new Set([
  ...['share', 'generated', 'receipt-ready', 'secret', 'revealed'],
  ...['about', 'recent', 'account'],
]);
const sizes = { phone: { width: 390, height: 780 }, desktop: { width: 1_280, height: 800 } } as const;

function makeCertificate(): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
  try {
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject];
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The walk of everything opens links without scripts too, so the server encrypts in it. */
const plain = { baseUrl: `https://${host}`, endToEnd: 'offered' } as const;
/** What most people see instead. */
const sealedStates: Readonly<Record<string, string>> = {
  'share-sealed': 'share',
  'receipt-sealed': 'receipt-ready',
};

let app: TestApp = createTestApp(plain);
using server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: makeCertificate(),
  fetch: (request, self) => app.handler(request, self),
});
const rule = `--host-resolver-rules=MAP ${host}:443 127.0.0.1:${server.port}`;
const browser = await chromium.launch({ executablePath: chromiumPath, args: [...launchArguments, rule] });
mkdirSync(folder, { recursive: true });
for (const colorScheme of ['light', 'dark'] as const) {
  for (const [sizeName, viewport] of Object.entries(sizes)) {
    app = createTestApp(plain);
    const site: Site = { app, baseUrl: `https://${host}`, [Symbol.dispose]: () => {} };
    const language = locale === undefined ? {} : { locale };
    const context = await browser.newContext({
      colorScheme,
      viewport,
      ignoreHTTPSErrors: true,
      reducedMotion: 'reduce',
      ...language,
    });
    const page = await context.newPage();
    const take = async (name: string) => {
      if (locale === undefined && !mainStates.has(name)) return;
      const path = join(folder, `${name}-${sizeName}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    };
    await walkEverywhere(page, site, take);
    app = createTestApp({ baseUrl: plain.baseUrl });
    await walkSealed(page, { ...site, app }, (name) => take(sealedStates[name] ?? name));
    await context.close();
    console.log(`${sizeName}, ${colorScheme}: done`);
  }
}
await browser.close();
