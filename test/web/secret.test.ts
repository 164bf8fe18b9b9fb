/** The recipient's pages: nothing consumes but the button, and what is gone is gone for everyone alike. */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../../src/domain/errors.ts';
import { Sensitive } from '../../src/domain/sensitive.ts';
import type { MemoryStore } from '../../src/store/memory.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { postForm, share, textIn, type Visit, visit } from './visit.ts';

/** Everything that looks at a link without a person pressing the button. */
const lookers: readonly { readonly what: string; readonly init: RequestInit }[] = [
  { what: 'a browser', init: {} },
  { what: 'a HEAD request', init: { method: 'HEAD' } },
  { what: 'an OPTIONS request', init: { method: 'OPTIONS' } },
  { what: 'a prefetch', init: { headers: { purpose: 'prefetch', 'sec-purpose': 'prefetch;prerender' } } },
  { what: 'an old prefetch', init: { headers: { 'x-moz': 'prefetch', 'x-purpose': 'preview' } } },
  {
    what: 'a preview bot',
    init: { headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' } },
  },
  { what: 'another preview bot', init: { headers: { 'user-agent': 'facebookexternalhit/1.1' } } },
  { what: 'a mail scanner', init: { headers: { 'user-agent': 'BarracudaCentral', accept: '*/*' } } },
  { what: 'a range request', init: { headers: { range: 'bytes=0-10' } } },
  {
    what: 'a conditional request',
    init: { headers: { 'if-none-match': '*', 'if-modified-since': 'Thu, 01 Jan 2030 00:00:00 GMT' } },
  },
  { what: 'a PUT', init: { method: 'PUT', body: 'passphrase=' } },
  { what: 'a DELETE', init: { method: 'DELETE' } },
  { what: 'a PATCH', init: { method: 'PATCH', body: 'x' } },
  {
    what: 'a GET that claims to be a POST',
    init: { headers: { 'x-http-method-override': 'POST', 'x-http-method': 'POST' } },
  },
  { what: 'a form of another site', init: { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } } },
  { what: 'a form of a sibling site', init: { method: 'POST', headers: { 'sec-fetch-site': 'same-site' } } },
  { what: 'a form of another origin', init: { method: 'POST', headers: { origin: 'https://evil.example' } } },
  {
    what: 'a form of a wrong kind',
    init: { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } },
  },
];

/** Who of them consumed the secret: each gets one of its own. */
async function consumers(makeApp: () => TestApp): Promise<string[]> {
  const found: string[] = [];
  for (const { what, init } of lookers) {
    const app = makeApp();
    const made = await app.service.conceal({ value: new Sensitive('still here') }, { kind: 'anonymous' });
    const path = made.outcome === 'created' ? `/secret/${made.receipt.secretKey}` : '';
    for (const query of ['', '?continue=true&passphrase=x&_method=POST'])
      await visit(app, path + query, init);
    const revealed = await postForm(app, path);
    if (textIn(revealed.html, 'value') !== 'still here') found.push(what);
  }
  return found;
}

describe('looking at a link', () => {
  it('never consumes, whoever looks and however (P4)', async () => {
    expect(await consumers(() => createTestApp())).toEqual([]);
  });

  it('tooth check: a store whose find takes the secret is caught', async () => {
    const wrapStore = (store: MemoryStore) =>
      withMethod(store, 'findSecret', async (id) => {
        const secret = await store.findSecret(id);
        if (secret !== null) await store.claim(secret);
        return secret;
      });
    expect((await consumers(() => createTestApp({ wrapStore }))).length).toBeGreaterThan(5);
  });

  it('says what waits and until when, asks for the passphrase only if there is one, and holds no value', async () => {
    const app = createTestApp();
    const plain = await visit(app, (await share(app, { secret: 'canary' })).secretPath);
    const guarded = await visit(app, (await share(app, { secret: 'canary', passphrase: 'p' })).secretPath);
    expect([plain.status, plain.html.includes('type="password"'), plain.html.includes('canary')]).toEqual([
      200,
      false,
      false,
    ]);
    expect([guarded.status, guarded.html.includes('type="password"')]).toEqual([200, true]);
    expect(plain.html).toContain('7 days');
  });
});

describe('opening a secret', () => {
  it('shows the value once, as text', async () => {
    const app = createTestApp();
    const secret = '</textarea><img src=x onerror=alert(1)> & "q" \'s\'\nline';
    const { secretPath } = await share(app, { secret });
    const revealed = await postForm(app, secretPath);
    expect([revealed.status, textIn(revealed.html, 'value')]).toEqual([200, secret]);
    expect(revealed.html).not.toContain('<img');
    expect((await postForm(app, secretPath)).status).toBe(404);
  });

  it('needs no form body at all when there is no passphrase', async () => {
    const app = createTestApp();
    const { secretPath } = await share(app, { secret: 'x' });
    expect((await visit(app, secretPath, { method: 'POST' })).status).toBe(200);
  });

  it('answers a wrong or missing passphrase with 422, keeps the secret and says so; the right one opens it (P14)', async () => {
    const app = createTestApp();
    const { secretPath } = await share(app, { secret: 'guarded', passphrase: 'rïght pass ' });
    for (const passphrase of ['wrong', '', 'rïght pass', 'RÏGHT PASS ']) {
      const refused = await postForm(app, secretPath, { passphrase });
      expect([
        refused.status,
        refused.html.includes('guarded'),
        refused.html.includes('aria-invalid'),
      ]).toEqual([422, false, true]);
    }
    const revealed = await postForm(app, secretPath, { passphrase: 'rïght pass ' });
    expect([revealed.status, textIn(revealed.html, 'value')]).toEqual([200, 'guarded']);
  });

  it('answers 429 with when to come back once the tries are used up, and the secret is still there (P14)', async () => {
    const app = createTestApp();
    const { secretPath } = await share(app, { secret: 'guarded', passphrase: 'right' });
    for (let attempt = 0; attempt < 5; attempt += 1) await postForm(app, secretPath, { passphrase: 'wrong' });
    const locked = await postForm(app, secretPath, { passphrase: 'right' });
    expect(locked.status).toBe(429);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(locked.html).toContain('10 minutes');
    app.clock.advance(600);
    expect((await postForm(app, secretPath, { passphrase: 'right' })).status).toBe(200);
  });

  it('answers 503 and consumes nothing when the store does not confirm (P2)', async () => {
    let isDown = true;
    const app = createTestApp({
      wrapStore: (store) =>
        withMethod(store, 'claim', (secret) =>
          isDown ? Promise.reject(new ServiceError('unavailable', 'down')) : store.claim(secret),
        ),
    });
    const { secretPath } = await share(app, { secret: 'kept' });
    const refused = await postForm(app, secretPath);
    expect([refused.status, refused.headers.get('retry-after'), refused.html.includes('kept')]).toEqual([
      503,
      '2',
      false,
    ]);
    isDown = false;
    expect(textIn((await postForm(app, secretPath)).html, 'value')).toBe('kept');
  });

  it('answers 500 with a number and no detail when something breaks', async () => {
    const app = createTestApp({
      wrapStore: (store) => withMethod(store, 'findSecret', () => Promise.reject(new Error('detail-canary'))),
    });
    const broken = await visit(app, `/secret/${'a'.repeat(31)}`);
    expect(broken.status).toBe(500);
    expect(broken.html).not.toContain('detail-canary');
    expect(broken.html).toContain(broken.headers.get('x-request-id') ?? 'none');
    expect(app.faults).toHaveLength(1);
  });

  it('says so when a value holds characters that a page cannot show exactly', async () => {
    const app = createTestApp();
    const made = await app.service.conceal({ value: new Sensitive('a\rb\u0000') }, { kind: 'anonymous' });
    const path = made.outcome === 'created' ? `/secret/${made.receipt.secretKey}` : '';
    expect((await postForm(app, path)).html).toContain('control characters');
  });
});

describe('what is gone', () => {
  it('gives one answer: unknown, misspelled, opened, burned and expired alike, to GET and to POST (P17)', async () => {
    const app = createTestApp();
    const opened = (await share(app, { secret: 'x' })).secretPath;
    await postForm(app, opened);
    const burned = await share(app, { secret: 'x' });
    await postForm(app, `${burned.receiptPath}/burn`);
    const guarded = (await share(app, { secret: 'x', passphrase: 'p' })).secretPath;
    const expired = (await share(app, { secret: 'x', ttl: '300' })).secretPath;
    await postForm(app, guarded, { passphrase: 'p' });
    app.clock.advance(300);
    const unknown = [
      '0'.repeat(31),
      'A'.repeat(31),
      'short',
      '%20',
      'a%00b',
      '..%2f..',
      'é',
      'x'.repeat(5_000),
    ];
    const paths = [opened, burned.secretPath, guarded, expired, ...unknown.map((key) => `/secret/${key}`)];
    const answers = new Set<string>();
    for (const path of paths) answers.add(faceOf(await visit(app, path)));
    for (const path of paths) answers.add(faceOf(await postForm(app, path, { passphrase: 'p' })));
    expect([...answers].map((answer) => JSON.parse(answer)[0])).toEqual([404]);
  });
});

/** Everything a stranger can compare. */
function faceOf({ status, headers, html }: Visit): string {
  const named = [...headers].filter(([name]) => name !== 'x-request-id').sort();
  return JSON.stringify([status, named, html]);
}

function withMethod<Name extends keyof MemoryStore>(
  store: MemoryStore,
  name: Name,
  method: MemoryStore[Name],
): MemoryStore {
  return new Proxy(store, { get: (target, asked) => (asked === name ? method : Reflect.get(target, asked)) });
}
