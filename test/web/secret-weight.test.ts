/** The cost of a first visit to a link on the wire: the page, and everything it makes the browser load. */
import { describe, expect, it } from 'bun:test';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { makeWaiting } from './waiting.ts';

const budgetBytes = 25_000;
/** With what opens it; the worker is loaded only for a passphrase that is typed. */
const sealedBudgetBytes = 30_000;
const budgetRequests = 6;

/** The heaviest link page: it asks for a passphrase and names a sender. */
async function heaviestLink(app: TestApp): Promise<string> {
  const { signedIn } = await signUpAs(app, 'a.person.with.a.long.name@example.org');
  return (await makeWaiting(app, { passphrase: 'p', caller: signedIn.caller })).secretPath;
}

/**
 * The size of the answer to a browser that accepts gzip: body and headers, except those the server adds (about 60
 * bytes).
 */
async function answerBytes(app: TestApp, path: string, locale: string) {
  const response = await app.fetch(path, {
    headers: { 'accept-encoding': 'gzip, br', 'accept-language': locale },
  });
  const body = new Uint8Array(await response.arrayBuffer());
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const isGzip = response.headers.get('content-encoding') === 'gzip';
  const text = new TextDecoder().decode(isGzip ? Bun.gunzipSync(body) : body);
  return { status: response.status, bytes: body.length + Buffer.byteLength(headers), text };
}

async function visitBytes(app: TestApp, path: string, locale: string) {
  const page = await answerBytes(app, path, locale);
  const loaded = [...page.text.matchAll(/<(?:link|script|img|source)\b[^>]* (?:href|src)="([^"]+)"/g)];
  let { bytes } = page;
  for (const [, address = ''] of loaded) {
    const asset = await answerBytes(app, address, locale);
    if (asset.status !== 200) throw new Error(`${address} answers ${asset.status}`);
    bytes += asset.bytes;
  }
  return { bytes, requests: loaded.length + 1 };
}

describe('the page of a link', () => {
  for (const locale of supportedLocales) {
    it(`weighs at most 25 kB with all it loads, compressed, in at most 6 requests; 30 kB end to end: ${locale}`, async () => {
      const app = createTestApp();
      const { bytes, requests } = await visitBytes(app, await heaviestLink(app), locale);
      expect(bytes).toBeLessThanOrEqual(budgetBytes);
      expect(bytes).toBeGreaterThan(5_000);
      expect(requests).toBeLessThanOrEqual(budgetRequests);
      const sealed = await visitBytes(app, (await makeSealed(app, 'the value', 'p')).path, locale);
      expect(sealed.bytes).toBeLessThanOrEqual(sealedBudgetBytes);
      expect(sealed.requests).toBeLessThanOrEqual(budgetRequests);
    });
  }
});

describe('the share page', () => {
  for (const locale of supportedLocales) {
    it(`weighs at most 30 kB, with the script that encrypts and without the worker and the words: ${locale}`, async () => {
      const { bytes } = await visitBytes(createTestApp(), '/', locale);
      expect(bytes).toBeLessThanOrEqual(30_000);
      expect(bytes).toBeGreaterThan(10_000);
    });
  }
});
