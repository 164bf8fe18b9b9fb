/** The recipient's pages: only the button consumes a secret, and every secret that is gone looks the same to everyone. */
import { describe, expect, it } from 'bun:test';
import { ownBrand } from '../../src/web/brand/brand.ts';
import { clientStays } from '../stores/conformance/check.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { postForm, textIn, type Visit, visit, wordsOf } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

/** Everything that looks at a link without a person pressing the button. */
const lookers: readonly { readonly what: string; readonly init: RequestInit }[] = [
  { what: 'a browser', init: {} },
  { what: 'a HEAD request', init: { method: 'HEAD' } },
  { what: 'an OPTIONS request', init: { method: 'OPTIONS' } },
  { what: 'a prefetch', init: { headers: { purpose: 'prefetch', 'sec-purpose': 'prefetch;prerender' } } },
  { what: 'an old prefetch', init: { headers: { 'x-moz': 'prefetch', 'x-purpose': 'preview' } } },
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
  {
    what: 'a form with a field given twice',
    init: {
      method: 'POST',
      body: 'passphrase=a&passphrase=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
  },
];

/** Which of them consumed the secret; each gets its own. */
async function consumers(makeApp: () => TestApp): Promise<string[]> {
  const found: string[] = [];
  for (const { what, init } of lookers) {
    const app = makeApp();
    const { secretPath } = await makeWaiting(app, { value: 'still here' });
    for (const query of ['', '?continue=true&passphrase=x&_method=POST']) {
      await visit(app, secretPath + query, init);
    }
    const revealed = await postForm(app, secretPath);
    if (textIn(revealed.html, 'value') !== 'still here') found.push(what);
  }
  return found;
}

describe('looking at a link', () => {
  it('never consumes, whoever looks and however (P4)', async () => {
    expect(await consumers(() => createTestApp())).toEqual([]);
  });

  it('self-test: a store whose find takes the secret is caught', async () => {
    const wrapStore = (store: MemoryStore) =>
      withMethod(store, 'findSecret', async (id) => {
        const secret = await store.findSecret(id);
        if (secret !== null) await store.claim(secret, clientStays);
        return secret;
      });
    expect((await consumers(() => createTestApp({ wrapStore }))).length).toBeGreaterThan(5);
  });

  it('says until when it waits and what opening does, and holds neither value nor passphrase', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'pass-canary', ttlSeconds: 7_200 });
    const { status, html } = await visit(app, secretPath);
    expect(status).toBe(200);
    const until = { date: 'Thursday, 8 May 2025 at 12:26 UTC', left: '2 hours' };
    expect(wordsOf(html)).toContain(words('secret.until', until));
    expect(html).toContain(words('secret.lead'));
    expect(html).toMatch(saying('secret.once'));
    expect(html).not.toContain('canary');
  });

  it('names its sender only in part, or says that it is someone', async () => {
    const app = createTestApp();
    const { signedIn } = await signUpAs(app, 'rosa.parks@example.org');
    const owned = await visit(app, (await makeWaiting(app, { caller: signedIn.caller })).secretPath);
    expect(owned.html).toContain(`<h1>${words('secret.title')}</h1>`);
    expect(owned.html).toContain(words('secret.from', { address: '\u2068ro•••@e•••.org\u2069' }));
    expect(owned.html).not.toContain('rosa.parks');
    expect(owned.html).not.toContain(words('secret.nameChosen'));
    const nobodys = await visit(app, (await makeWaiting(app)).secretPath);
    expect(nobodys.html).toContain(`<h1>${words('secret.title')}</h1>`);
    expect(nobodys.html).toContain(`<p class="hint from">${words('secret.forYou')}</p>`);
  });

  it('names its sender by the name that it chose, sealed or not, and says that with the address', async () => {
    const app = createTestApp();
    const { signedIn } = await signUpAs(app, 'rosa@example.org');
    expect(await app.accounts.setSenderName(signedIn, ' O’Neill &  Søn ')).toBe(true);
    const { secretPath } = await makeWaiting(app, { caller: signedIn.caller });
    const named = words('secret.fromAccount', { sender: '\u2068O’Neill &amp; Søn\u2069' });
    for (const path of [secretPath, (await makeSealed(app, 'v', null, signedIn.caller)).path]) {
      const { html } = await visit(app, path);
      expect(html).toContain(`<h1>${named}</h1>`);
      const from = words('secret.from', { address: '\u2068ro•••@e•••.org\u2069' });
      expect(html).toContain(`${from} · ${words('secret.nameChosen')}</p>`);
    }
    expect(await app.accounts.setSenderName(signedIn, '')).toBe(true);
    expect((await visit(app, secretPath)).html).toContain(`<h1>${words('secret.title')}</h1>`);
  });

  it('warns its own creator, who is logged in, and nobody else', async () => {
    const app = createTestApp();
    const creator = await signUpAs(app, 'rosa@example.org');
    const other = await signUpAs(app, 'omar@example.org');
    const { secretPath } = await makeWaiting(app, { caller: creator.signedIn.caller });
    const warned = [];
    for (const cookie of [creator.cookie, other.cookie, '']) {
      const { html } = await visit(app, secretPath, { headers: { cookie } });
      warned.push(html.includes(words('secret.own')));
    }
    expect(warned).toEqual([true, false, false]);
  });

  it('asks for the passphrase only if there is one, in a field that nothing fills or keeps', async () => {
    const app = createTestApp();
    const plain = await visit(app, (await makeWaiting(app)).secretPath);
    const guarded = await visit(app, (await makeWaiting(app, { passphrase: 'p' })).secretPath);
    expect(plain.html).not.toContain('type="password"');
    const field = /<input id="passphrase"[^>]*>/.exec(guarded.html)?.[0] ?? '';
    for (const attribute of ['type="password"', 'autocomplete="off"', 'required', 'data-1p-ignore']) {
      expect(field).toContain(attribute);
    }
    expect(field).not.toContain('value=');
  });

  it('gives search engines nothing to show: no description, and robots are told to stay away', async () => {
    const app = createTestApp();
    const { html, headers } = await visit(app, (await makeWaiting(app)).secretPath);
    expect(html).not.toMatch(/name="description"|rel="canonical"|ld\+json/);
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow, noarchive');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
  });
});

describe('opening a secret', () => {
  it('shows the value once, as text', async () => {
    const app = createTestApp();
    const value = '</textarea><img src=x onerror=alert(1)> & "q" \'s\'\nline';
    const { secretPath } = await makeWaiting(app, { value });
    const revealed = await postForm(app, secretPath);
    expect([revealed.status, textIn(revealed.html, 'value')]).toEqual([200, value]);
    expect(revealed.html).not.toContain('<img');
    expect((await postForm(app, secretPath)).status).toBe(404);
  });

  it('offers exactly the bytes as a file, says how much it is, and leads nowhere by accident', async () => {
    const value = '\n\tß "x"\r\nlone \r end \u0000 😀\n';
    const app = createTestApp();
    const { html } = await postForm(app, (await makeWaiting(app, { value })).secretPath);
    const address = /href="data:text\/plain;charset=utf-8;base64,([^"]*)" download="[^"]+"/.exec(html);
    expect(Buffer.from(address?.[1] ?? '', 'base64').toString()).toBe(value);
    // The line break of two characters counts as one, as a reader counts.
    expect(html).toContain(words('revealed.characters', { count: 23 }));
    expect(html).toContain(words('revealed.lines', { count: 5 }));
    expect(html).toMatch(saying('revealed.inexact'));
    expect(/<main.*<\/main>/s.exec(html)?.[0]).not.toContain('<form');
    expect(html).not.toContain('class="language"');
  });

  it('keeps the value out of the title, and out of what a browser restores', async () => {
    const app = createTestApp();
    const { html, headers } = await postForm(app, (await makeWaiting(app)).secretPath);
    expect(/<title>(.*)<\/title>/.exec(html)?.[1]).not.toContain('canary');
    expect(/<textarea[^>]*>/.exec(html)?.[0]).toContain('autocomplete="off"');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
  });

  it('opens for a reader who is logged in, with the token of that session', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'omar@example.org');
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    const fields = { 'form-token': signedIn.formToken };
    const wrong = await postForm(app, secretPath, { ...fields, passphrase: 'wrong' }, { cookie });
    expect(wrong.status).toBe(422);
    const revealed = await postForm(app, secretPath, { ...fields, passphrase: 'right' }, { cookie });
    expect([revealed.status, textIn(revealed.html, 'value')]).toEqual([200, 'canary']);
  });

  it('opens on a share domain with the face of that domain, whether or not the browser says where the form was', async () => {
    const brands = {
      forHost: (host: string | null) => (host === 'in.acme.test' ? { ...ownBrand, name: 'Acme' } : ownBrand),
      findLogo: () => null,
    };
    const app = createTestApp({ brands });
    const host = { host: 'in.acme.test' };
    for (const told of [{ origin: 'http://in.acme.test' }, { 'sec-fetch-site': 'same-origin' }, {}]) {
      const { secretPath } = await makeWaiting(app);
      const asked = await visit(app, secretPath, { headers: host });
      expect(asked.html).toContain(`<title>${words('secret.title')} · Acme</title>`);
      const revealed = await postForm(app, secretPath, {}, { ...host, ...told });
      expect([revealed.status, revealed.html.includes('· Acme</title>')]).toEqual([200, true]);
    }
  });
});

describe('a passphrase that does not open', () => {
  it('is answered with 422 beside its field, is not repeated, and the right one still opens (P14)', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'rïght pass ' });
    for (const passphrase of ['wrong-canary', '', 'rïght pass', 'RÏGHT PASS ']) {
      const { status, html } = await postForm(app, secretPath, { passphrase });
      const field = /<input id="passphrase"[^>]*>/.exec(html)?.[0] ?? '';
      expect([status, html.includes('canary')]).toEqual([422, false]);
      for (const attribute of ['aria-invalid="true"', 'autofocus', 'passphrase-wrong']) {
        expect(field).toContain(attribute);
      }
    }
    const revealed = await postForm(app, secretPath, { passphrase: 'rïght pass ' });
    expect([revealed.status, textIn(revealed.html, 'value')]).toEqual([200, 'canary']);
  });

  it('is told how many tries are left, and after the last when more come; a missing one costs none (P14)', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    const told = [];
    for (const passphrase of ['', '1', '2', '3', '4', '', '5']) {
      const { html } = await postForm(app, secretPath, { passphrase });
      told.push(/id="passphrase-wrong">([^<]*)/.exec(html)?.[1]);
      app.clock.advance(60);
    }
    expect(told).toEqual([
      words('secret.passphraseMissing'),
      words('secret.passphraseWrong', { count: 4 }),
      words('secret.passphraseWrong', { count: 3 }),
      words('secret.passphraseWrong', { count: 2 }),
      words('secret.passphraseWrong', { count: 1 }),
      words('secret.passphraseMissing'),
      words('secret.passphraseWrongLast', { wait: '5 minutes' }),
    ]);
  });

  it('costs no try when it is longer than any passphrase can be, and no number is made up', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    const impossible = await postForm(app, secretPath, { passphrase: 'x'.repeat(1_025) });
    expect(impossible.status).toBe(422);
    expect(impossible.html).toMatch(saying('secret.passphraseWrongPlain'));
    expect((await postForm(app, secretPath, { passphrase: 'x' })).html).toMatch(
      saying('secret.passphraseWrong', { count: 4 }),
    );
  });

  it('is answered with 429 and when to come back once the tries are used up, and the secret is kept (P14)', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    await exhaust(app, secretPath);
    const locked = await postForm(app, secretPath, { passphrase: 'right' });
    expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '600']);
    expect(locked.html).toContain(words('secret.exhausted', { wait: '10 minutes' }));
    expect(locked.html).toContain(words('secret.exhaustedAdvice'));
    expect(locked.html).toContain(`<a href="${secretPath}">${words('secret.back')}</a>`);
    expect((await visit(app, secretPath)).status).toBe(200);
    app.clock.advance(600);
    expect((await postForm(app, secretPath, { passphrase: 'right' })).status).toBe(200);
  });

  it('promises no further try when the secret will have expired by then', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right', ttlSeconds: 600 });
    await exhaust(app, secretPath);
    const locked = await postForm(app, secretPath, { passphrase: 'right' });
    expect(locked.status).toBe(429);
    expect(locked.html).not.toMatch(saying('secret.exhausted'));
    expect(locked.html).toMatch(saying('secret.exhaustedForGood'));
  });
});

async function exhaust(app: TestApp, secretPath: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) await postForm(app, secretPath, { passphrase: 'wrong' });
}

describe('what is gone', () => {
  it('gives one answer: unknown, opened, burned and expired alike, to GET and to POST (P17)', async () => {
    const app = createTestApp();
    const opened = await makeWaiting(app);
    await postForm(app, opened.secretPath);
    const burned = await makeWaiting(app);
    await app.service.burn(
      { proof: null, metadataKey: burned.metadataKey, authority: 'holder', isAbandoned: clientStays },
      { kind: 'anonymous' },
    );
    const guarded = await makeWaiting(app, { passphrase: 'p' });
    await postForm(app, guarded.secretPath, { passphrase: 'p' });
    const expired = await makeWaiting(app, { ttlSeconds: 300 });
    app.clock.advance(300);
    const known = [opened, burned, guarded, expired].map(({ secretPath }) => secretPath);
    const facesOf = async (paths: readonly string[]) => {
      const answers = new Set<string>();
      for (const path of paths) answers.add(faceOf(await visit(app, path)));
      for (const path of paths) answers.add(faceOf(await postForm(app, path, { passphrase: 'p' })));
      return [...answers];
    };
    const faces = await facesOf([...known, `/secret/${'0'.repeat(31)}`]);
    expect(faces.map((answer) => JSON.parse(answer)[0])).toEqual([404]);
    // Its form alone says that this is no key.
    const noKeys = ['A'.repeat(31), 'short', '%20', 'a%00b', '..%2f..', 'é', 'x'.repeat(5_000)];
    const damaged = await facesOf(noKeys.map((key) => `/secret/${key}`));
    expect(damaged.map((answer) => JSON.parse(answer)[0])).toEqual([404]);
    expect(damaged).not.toEqual(faces);
  });

  it('says in three lines what may have happened and what to do, with one picture for all of it (P17)', async () => {
    const { html } = await visit(createTestApp(), `/secret/${'0'.repeat(31)}`);
    for (const text of ['title', 'lead', 'someoneElse', 'tell', 'shareOwn'] as const) {
      expect(html).toContain(words(`gone.${text}`));
    }
    expect(html.match(/class="day day-\w+"/g)).toEqual(['class="day day-gone"']);
  });

  it('has a text ready for the sender, which names no link and no key', async () => {
    const key = '0'.repeat(31);
    const { html } = await visit(createTestApp(), `/secret/${key}`);
    const address = /href="(mailto:[^"]*)"/.exec(html)?.[1] ?? '';
    const mail = new URL(address.replaceAll('&amp;', '&'));
    expect([mail.pathname, mail.searchParams.get('subject'), mail.searchParams.get('body')]).toEqual([
      '',
      words('gone.tellSubject'),
      words('gone.tellText', { site: 'Mayfly' }),
    ]);
    // Mail programs read a plus as a plus (RFC 6068).
    expect(address).not.toContain('+');
    expect(/<main.*<\/main>/s.exec(html)?.[0]).not.toContain(key);
  });
});

/** Everything a stranger can compare, without the link to the languages, which repeats the requested address as sent. */
function faceOf({ status, headers, html }: Visit): string {
  const named = [...headers].filter(([name]) => name !== 'x-request-id').sort();
  return JSON.stringify([status, named, html.replace(/<a class="language".*?<\/a>/s, '')]);
}
