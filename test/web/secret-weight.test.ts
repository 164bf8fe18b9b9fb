/** The cost of a first visit on the wire: a page, and everything it makes the browser load. */
import { describe, expect, it } from 'bun:test';
import { brotliDecompressSync } from 'node:zlib';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { createHereCookie } from '../../src/web/secrets/cookies.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { mailbox, shownMailbox } from './codes.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { makeWaiting } from './waiting.ts';

/** With what encrypts or opens; the worker is loaded only for a passphrase that is typed. Other letters take more bytes than English. */
const budgetOf = (locale: string) => (locale === 'en' ? 24_000 : 24_576);
const budgetRequests = 6;
/** What must have arrived before somebody can type or press: the page and its style sheets. */
const firstBudgetBytes = 15_000;
/** The display face, which keeps nobody waiting and is loaded once. */
const faceBudgetBytes = 15_500;
/** What a server sends before the first acknowledgement: 10 segments (RFC 6928), so one round trip. */
const firstWindowBytes = 14_600;

interface Answer {
  readonly bytes: number;
  readonly text: string;
}

/**
 * The answer to a browser that accepts gzip: body and headers, except those the server adds (about 60 bytes).
 * @throws unless it is a success
 */
async function answerTo(app: TestApp, path: string, locale: string, cookie = ''): Promise<Answer> {
  const response = await app.fetch(path, {
    headers: { 'accept-encoding': 'gzip, br', 'accept-language': locale, cookie },
  });
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}`);
  const body = new Uint8Array(await response.arrayBuffer());
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const coding = response.headers.get('content-encoding');
  const unpacked =
    coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? Bun.gunzipSync(body) : body;
  const text = new TextDecoder().decode(unpacked);
  return { bytes: body.length + Buffer.byteLength(headers), text };
}

/** Loaded only when somebody saves the page to a home screen. */
const forHomeScreens = 'rel="apple-touch-icon"';

/** The elements that make a browser load something; not at first those in a template, such as the script that draws a QR code. */
function loadersIn(html: string): readonly string[] {
  const shown = html.replace(/<template.*?<\/template>/gs, '');
  const found = shown.match(/<(?:link|script|img|source)\b[^>]* (?:href|src)="[^"]+"[^>]*>/g) ?? [];
  return found.filter((loader) => !loader.includes(forHomeScreens));
}

const addressIn = (loader: string) => / (?:href|src)="([^"]+)"/.exec(loader)?.[1] ?? '';
const isSheet = (loader: string) => loader.includes('rel="stylesheet"');
/** Modules run when the page has been read; icons and manifests keep nobody waiting. */
const keepsNobodyWaiting = (loader: string) =>
  /type="module"|rel="(?:icon|manifest|modulepreload)"/.test(loader);

const sumOf = (answers: readonly Answer[]) => answers.reduce((sum, { bytes }) => sum + bytes, 0);

interface Visit {
  readonly page: Answer;
  readonly sheets: readonly Answer[];
  readonly bytes: number;
  readonly requests: number;
  /** What would keep a person waiting beside page and sheets. */
  readonly others: readonly string[];
}

async function visit(app: TestApp, path: string, locale: string, cookie = ''): Promise<Visit> {
  const page = await answerTo(app, path, locale, cookie);
  const loaders = loadersIn(page.text);
  const answers = await Promise.all(loaders.map((each) => answerTo(app, addressIn(each), locale)));
  return {
    page,
    sheets: answers.filter((_, at) => isSheet(loaders[at] ?? '')),
    bytes: sumOf([page, ...answers]),
    requests: loaders.length + 1,
    others: loaders.filter((loader) => !isSheet(loader) && !keepsNobodyWaiting(loader)),
  };
}

/** Addresses that a style sheet loads. */
const loadedBy = (sheets: readonly Answer[]) =>
  sheets.flatMap(({ text }) => [...text.matchAll(/@import|url\(([^)]*)\)/g)].map(([, to]) => to ?? 'more'));

/** Its budgets: at most 24 kB in 6 requests, and 15 kB in two round trips before somebody can type. */
function expectLight({ page, sheets, bytes, requests, others }: Visit, locale = 'en'): void {
  expect(bytes).toBeLessThanOrEqual(budgetOf(locale));
  expect(bytes).toBeGreaterThan(5_000);
  expect(requests).toBeLessThanOrEqual(budgetRequests);
  expect(sumOf([page, ...sheets])).toBeLessThanOrEqual(firstBudgetBytes);
  // One for the page and one for its sheets, which load nothing but the face.
  expect(page.bytes).toBeLessThanOrEqual(firstWindowBytes);
  expect(sumOf(sheets)).toBeLessThanOrEqual(firstWindowBytes);
  expect(sheets.length).toBeGreaterThan(0);
  for (const address of loadedBy(sheets)) expect(address).toMatch(/^display-[0-9a-f]+\.woff2$/);
  expect(others).toEqual([]);
}

/** The heaviest link page: it asks for a passphrase and names a sender. */
async function heaviestLink(app: TestApp): Promise<string> {
  const { signedIn } = await signUpAs(app, 'a.person.with.a.long.name@example.org');
  return (await makeWaiting(app, { passphrase: 'p', caller: signedIn.caller })).secretPath;
}

describe('a first visit weighs at most 24 kB in 6 requests, and 15 kB in two round trips before somebody can type', () => {
  for (const locale of supportedLocales) {
    it(`of a link: ${locale}`, async () => {
      const app = createTestApp();
      expectLight(await visit(app, await heaviestLink(app), locale), locale);
    });

    it(`of the link of an end-to-end secret: ${locale}`, async () => {
      const app = createTestApp();
      expectLight(await visit(app, (await makeSealed(app, 'the value', 'p')).path, locale), locale);
    });

    it(`of the link of an end-to-end secret that asks for a code, before and after: ${locale}`, async () => {
      const app = createTestApp({ baseUrl: 'http://localhost' });
      const { signedIn } = await signUpAs(app, 'a.person.with.a.long.name@example.org');
      const { path } = await makeSealed(app, 'the value', 'p', signedIn.caller, 'a note', mailbox);
      const sent = createHereCookie(false).codeSent(path, { field: 'A'.repeat(22), to: shownMailbox });
      for (const cookie of ['', sent.split(';')[0]])
        expectLight(await visit(app, path, locale, cookie), locale);
    });

    it(`of the links of a request, logged in and not: ${locale}`, async () => {
      const app = createTestApp();
      const { cookie } = await signUpAs(app, 'a.person.with.a.long.name@example.org');
      for (const page of ['ask', 'answers']) {
        const path = `/${page}/${'k'.repeat(31)}`;
        for (const cookies of ['', cookie]) expectLight(await visit(app, path, locale, cookies), locale);
      }
    });

    it(`of the share page, with the script that encrypts: ${locale}`, async () => {
      expectLight(await visit(createTestApp(), '/', locale), locale);
    });
  }

  it('of any page, logged in and not, but the API reference', async () => {
    const app = createTestApp();
    const { cookie } = await signUpAs(app, 'a.person.with.a.long.name@example.org');
    const { metadataKey } = await makeWaiting(app);
    const open = [
      'about',
      'security',
      'status',
      'docs',
      'docs/command',
      'log-in',
      'sign-up',
      'forgotten',
      'about?lang',
    ];
    const own = [
      '',
      'ask',
      'recent',
      'account',
      ...['tokens', 'sessions', 'domains', 'password'].map((each) => `account/${each}`),
    ];
    const receipt = await visit(app, `/receipt/${metadataKey}`, 'en');
    // One script more, for the sender alone.
    expectLight({ ...receipt, requests: receipt.requests - 1 });
    for (const path of open) expectLight(await visit(app, `/${path}`, 'en'));
    // An account's form has more choices.
    for (const path of own) expectLight(await visit(app, `/${path}`, 'en', cookie), 'own');
  });

  it('besides the display face of 15 kB, which its style sheet names and caches keep', async () => {
    const app = createTestApp();
    const { sheets } = await visit(app, '/', 'en');
    const faces = loadedBy(sheets);
    expect(faces).toHaveLength(1);
    const answer = await app.fetch(`/assets/${faces[0]}`);
    expect([answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      'font/woff2',
      'public, max-age=31536000, immutable, no-transform',
    ]);
    expect((await answer.arrayBuffer()).byteLength).toBeLessThanOrEqual(faceBudgetBytes);
  });

  it('self-test: a heavy page, one request too many and a script that is waited for are found', () => {
    const light: Answer = { bytes: 6_000, text: '' };
    const fine: Visit = { page: light, sheets: [light], bytes: 20_000, requests: 6, others: [] };
    expectLight(fine);
    const heavy: readonly Partial<Visit>[] = [
      { bytes: 24_001 },
      { requests: 7 },
      { page: { ...light, bytes: 14_601 } },
      { sheets: [{ ...light, bytes: 14_001 }] },
      { sheets: [{ ...light, text: '@import "more.css"' }] },
      { others: ['<script src="x.js">'] },
    ];
    for (const flaw of heavy) expect(() => expectLight({ ...fine, ...flaw })).toThrow();
  });
});
