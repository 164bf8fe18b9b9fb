/** The creator's pages: every state, and that viewing changes none. */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../../src/core/sensitive.ts';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { formatMoment, translate } from '../../src/locale/translate.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { decodeQr } from './qr-code.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, share, textIn, type Visit, visit } from './visit.ts';
import { saying, words } from './words.ts';

/** The page's own content, without the frame that all pages share. */
function mainOf({ html }: Visit): string {
  return /<main.*<\/main>/s.exec(html)?.[0] ?? '';
}

async function stateOf(app: TestApp, receiptPath: string): Promise<string> {
  const input = { metadataKey: receiptPath.slice('/receipt/'.length), authority: 'holder' } as const;
  const found = await app.service.findReceipt(input, { kind: 'anonymous' });
  return found.outcome === 'found' ? found.receipt.state : found.outcome;
}

describe('the receipt page', () => {
  it('changes nothing when it is looked at, prefetched or asked for its headers (P4)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    for (const init of [
      {},
      { method: 'HEAD' },
      { method: 'OPTIONS' },
      { headers: { purpose: 'prefetch' } },
    ]) {
      await visit(app, receiptPath, init);
      await visit(app, `${receiptPath}/burn`, init);
    }
    expect(await stateOf(app, receiptPath)).toBe('new');
    expect((await postForm(app, secretPath)).status).toBe(200);
  });

  it('shows the link again only when its creator presses for it, and notes that', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    const key = secretPath.slice('/secret/'.length);
    expect((await visit(app, receiptPath)).html).not.toContain(key);
    const pressed = await postForm(app, receiptPath);
    expect(textIn(pressed.html, 'link')).toBe(`https://mayfly.example${secretPath}`);
    expect(await stateOf(app, receiptPath)).toBe('viewed');
    expect((await visit(app, receiptPath)).html).toContain(words('receipt.viewed'));
  });

  it('builds the link from the configuration, never from the request (P20)', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    };
    const pressed = await postForm(app, receiptPath, {}, headers);
    expect(textIn(pressed.html, 'link')).toStartWith('https://mayfly.example/secret/');
    expect(pressed.html).not.toContain('evil.example');
  });

  const titles = {
    received: words('receipt.receivedTitle'),
    burned: words('receipt.burnedTitle'),
    expired: words('receipt.expiredTitle'),
  } as const;
  const endings: Readonly<
    Record<keyof typeof titles, (app: TestApp, paths: { secretPath: string; receiptPath: string }) => unknown>
  > = {
    received: (app, { secretPath }) => postForm(app, secretPath),
    burned: (app, { receiptPath }) => postForm(app, `${receiptPath}/burn`),
    expired: (app) => app.clock.advance(604_800),
  };
  for (const state of ['received', 'burned', 'expired'] as const) {
    it(`tells the truth once the secret is ${state}: no link, nothing to do but to label it, not even for the fresh cookie (P6)`, async () => {
      const app = createTestApp();
      const paths = await share(app, { secret: 'x' });
      await endings[state](app, paths);
      for (const answer of [
        await visit(app, paths.receiptPath),
        await visit(app, paths.receiptPath, { headers: { cookie: 'just-created=1' } }),
        await postForm(app, paths.receiptPath),
      ]) {
        expect([answer.status, answer.html.includes(`<h1>${titles[state]}</h1>`)]).toEqual([200, true]);
        const forms = [...mainOf(answer).matchAll(/<form[^>]* action="([^"]*)"/g)].map(
          ([, action]) => action,
        );
        expect(forms).toEqual([`${paths.receiptPath}/memo`]);
        expect(answer.html).not.toContain('/secret/');
        expect(answer.html).not.toContain('id="watch"');
      }
    });
  }

  it('says by whom it was burned, where that was the recipient (P6)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    const burned = await app.service.burnByRecipient({
      secretKey: secretPath.slice('/secret/'.length),
      passphrase: null,
      proofs: null,
      clientPrefix: '203.0.113.0/24',
      isAbandoned: clientStays,
    });
    expect(burned).toEqual({ outcome: 'burned' });
    const { html } = await visit(app, receiptPath);
    expect(html).toContain(`<h1>${words('receipt.burnedByRecipient')}</h1>`);
    expect(html).toContain(`<strong>${words('receipt.burnedByRecipient')}</strong>`);
    expect(html).not.toContain(words('receipt.burnedTitle'));
  });

  it('shows the obfuscated recipient and what became of the mail, never the address', async () => {
    const app = createTestApp();
    const { signedIn, cookie } = await signUpAs(app, 'ann@example.com');
    const made = await app.service.conceal(
      { ...noOptions, value: new Sensitive('x'), recipient: new Sensitive('joanna@example.org') },
      signedIn.caller,
    );
    await app.service.settled();
    const path = made.outcome === 'created' ? `/receipt/${made.receipt.metadataKey}` : '';
    const { html } = await visit(app, path, { headers: { cookie } });
    expect(html).toContain('jo*****@e*****.org');
    expect(html).toContain(words('receipt.mailAccepted'));
    expect(html).not.toContain('joanna');
  });

  it('of an account’s secret is its owner’s alone; to others it is the page of an unknown key, which says how to log in (P16)', async () => {
    const app = createTestApp();
    const ann = await signUpAs(app, 'ann@example.com');
    const eve = await signUpAs(app, 'eve@example.com');
    const made = await app.service.conceal({ ...noOptions, value: new Sensitive('x') }, ann.signedIn.caller);
    const path = made.outcome === 'created' ? `/receipt/${made.receipt.metadataKey}` : '';
    const shown = await visit(app, path, { headers: { cookie: ann.cookie } });
    expect(shown.html).toContain(words('receipt.ownAccount'));
    for (const [cookie, way] of [
      ['just-created=1', '/log-in'],
      [eve.cookie, '/account'],
    ] as const) {
      const headers = { cookie };
      const refused = await visit(app, path, { headers });
      const unknown = await visit(app, `/receipt/${'0'.repeat(31)}`, { headers });
      expect([refused.status, unknown.status]).toEqual([404, 404]);
      expect(refused.html.replaceAll(path, '')).toBe(
        unknown.html.replaceAll(`/receipt/${'0'.repeat(31)}`, ''),
      );
      expect(refused.html).toMatch(saying('error.receipt'));
      expect(refused.html).toContain(`class="button" href="${way}"`);
    }
  });

  it('names its own address as the creator’s, apart from the link and from the configuration alone (P20)', async () => {
    const app = createTestApp();
    const { receiptPath, cookie } = await share(app, { secret: 'x' });
    const fresh = { cookie, host: 'evil.example' };
    const { html } = await visit(app, receiptPath, { headers: fresh });
    const own = html.slice(html.indexOf('<details class="receipt-fold own">'));
    expect(own).toContain(words('receipt.ownTitle'));
    expect(own).toContain(`https://mayfly.example${receiptPath}</code>`);
    expect(own.slice(0, own.indexOf('</details>'))).not.toContain('/secret/');
    expect(html.length - own.length).toBeGreaterThan(html.indexOf('id="link"'));
    expect(textIn(html, 'link')).not.toContain('/receipt/');
  });

  it('has a QR code of exactly the link, and only where the link is shown', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    expect((await visit(app, receiptPath)).html).not.toContain('class="qr"');
    const { html } = await postForm(app, receiptPath);
    expect(decodeQr(html)).toBe(textIn(html, 'link') ?? 'no link');
    expect(html).toContain(`aria-label="${words('receipt.qrAlt')}"`);
  });

  it('self-test: one module of the QR code less is noticed', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    const { html } = await postForm(app, receiptPath);
    const bars = html.match(/M\d+ \d+h\d+v1h-\d+z/g) ?? [];
    const damaged = html.replace(bars.slice(0, 60).join(''), '');
    expect(() => decodeQr(damaged)).toThrow();
  });

  it('reminds of the passphrase beside the link, and only when there is one', async () => {
    const app = createTestApp();
    const reminder = words('receipt.passphraseReminder');
    const withOne = await share(app, { secret: 'x', passphrase: 'p' });
    expect((await postForm(app, withOne.receiptPath)).html).toContain(reminder);
    const without = await share(app, { secret: 'x' });
    expect((await postForm(app, without.receiptPath)).html).not.toContain(reminder);
  });

  it('tells what happened in its order, each with its moment', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    app.clock.advance(60);
    await postForm(app, receiptPath);
    app.clock.advance(60);
    await postForm(app, secretPath);
    const { html } = await visit(app, receiptPath);
    const events = [...html.matchAll(/<li class="\w+"><strong>([^<]*)<\/strong> <time datetime="([^"]*)"/g)];
    expect(events.map(([, what, at]) => [what, at])).toEqual([
      [words('receipt.created'), '2025-05-08T10:26:40.000Z'],
      [words('receipt.viewed'), '2025-05-08T10:27:40.000Z'],
      [words('receipt.received'), '2025-05-08T10:28:40.000Z'],
    ]);
  });

  it('links its owner to the recent list, and nobody else', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    const made = await app.service.conceal({ ...noOptions, value: new Sensitive('x') }, signedIn.caller);
    const path = made.outcome === 'created' ? `/receipt/${made.receipt.metadataKey}` : '';
    const toRecent = words('receipt.recent');
    expect((await visit(app, path, { headers: { cookie } })).html).toContain(toRecent);
    expect((await visit(app, path)).html).not.toContain(toRecent);
    const anonymously = await share(app, { secret: 'x' });
    expect((await visit(app, anonymously.receiptPath, { headers: { cookie } })).html).not.toContain(toRecent);
  });

  it('answers 404 for a key that is unknown, misspelled or a secret’s (P13)', async () => {
    const app = createTestApp();
    const { secretPath } = await share(app, { secret: 'x' });
    for (const key of ['0'.repeat(31), 'x', '%00', secretPath.slice('/secret/'.length)]) {
      expect((await visit(app, `/receipt/${key}`)).status).toBe(404);
      expect((await postForm(app, `/receipt/${key}`)).status).toBe(404);
      expect((await visit(app, `/receipt/${key}/burn`)).status).toBe(404);
      expect((await postForm(app, `/receipt/${key}/burn`)).status).toBe(404);
      expect((await visit(app, `/receipt/${key}/state`)).status).toBe(404);
      expect((await postForm(app, `/receipt/${key}/send-again`)).status).toBe(404);
    }
    expect((await postForm(app, secretPath)).status).toBe(200);
  });

  it('is also found at its older address, and so is the page that burns', async () => {
    for (const rest of ['', '/burn']) {
      const { status, headers } = await visit(createTestApp(), `/private/${'a'.repeat(31)}${rest}`);
      expect([status, headers.get('location')]).toEqual([308, `/receipt/${'a'.repeat(31)}${rest}`]);
    }
  });

  it('redirects to no other site, whatever the key', async () => {
    for (const key of ['%2f%2fevil.example', '%5c%5cevil.example', '%0d%0aset-cookie:x', '@evil.example']) {
      for (const path of [`/private/${key}`, `/private/${key}/burn`]) {
        const { headers } = await visit(createTestApp(), path);
        expect(headers.get('location') ?? '/receipt/').toStartWith('/receipt/');
        expect(headers.get('set-cookie')).toBeNull();
      }
    }
  });
});

describe('the state that a waiting receipt asks for', () => {
  it('is told as JSON and changes nothing, also not to viewed (P4)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    const ask = async () => (await app.fetch(`${receiptPath}/state`)).json();
    expect([await ask(), await ask(), await stateOf(app, receiptPath)]).toEqual([
      { state: 'new', delivery: null },
      { state: 'new', delivery: null },
      'new',
    ]);
    await postForm(app, secretPath);
    expect(await ask()).toEqual({ state: 'received', delivery: null });
  });

  it('self-test: a question that marks the receipt as viewed would be noticed', async () => {
    const app = createTestApp({
      wrapService: (service) => ({ ...service, findReceipt: service.viewReceipt }),
    });
    const { receiptPath } = await share(app, { secret: 'x' });
    const ask = async () => (await app.fetch(`${receiptPath}/state`)).json();
    expect(await ask()).not.toEqual({ state: 'new', delivery: null });
  });

  it('holds no key, and is kept by no cache (P19)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    const { html, headers } = await visit(app, `${receiptPath}/state`);
    expect(html).not.toContain(secretPath.slice('/secret/'.length));
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('answers no other method than GET', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    expect((await postForm(app, `${receiptPath}/state`)).status).toBe(405);
  });
});

describe('burning', () => {
  it('asks first and happens by POST, then the link is dead and the receipt says so (P7)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    expect((await visit(app, `${receiptPath}/burn`)).html).toContain(words('burn.submit'));
    const burned = await postForm(app, `${receiptPath}/burn`);
    expect([burned.status, burned.headers.get('location')]).toEqual([303, receiptPath]);
    expect((await postForm(app, secretPath)).status).toBe(404);
    expect(await stateOf(app, receiptPath)).toBe('burned');
  });

  it('of a secret that was opened is not reported as burned (P7)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    await postForm(app, secretPath);
    expect((await visit(app, `${receiptPath}/burn`)).headers.get('location')).toBe(receiptPath);
    expect((await postForm(app, `${receiptPath}/burn`)).headers.get('location')).toBe(receiptPath);
    expect(await stateOf(app, receiptPath)).toBe('received');
  });
});

describe('the message that goes with a link', () => {
  const textsOf = async (app: TestApp, receiptPath: string, locale: string) => {
    const answer = await app.fetch(`${receiptPath}/message?in=${locale}`);
    return { status: answer.status, cookies: answer.headers.getSetCookie(), texts: await answer.json() };
  };

  it('says in each offered language how it opens and until when, in UTC, and holds no link', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x', ttl: '3600' });
    for (const locale of supportedLocales) {
      const { status, cookies, texts } = await textsOf(app, receiptPath, locale);
      const date = formatMoment(locale, app.clock.now() + 3_600);
      expect([locale, status, cookies]).toEqual([locale, 200, []]);
      expect(texts).toEqual({
        subject: translate(locale, 'receipt.messageSubject'),
        text: [
          translate(locale, 'receipt.messageIntro'),
          translate(locale, 'receipt.messageOnce'),
          translate(locale, 'receipt.messageUntil', { date }),
        ].join('\n'),
      });
      expect(JSON.stringify(texts)).not.toContain(secretPath.slice('/secret/'.length));
    }
    expect(await stateOf(app, receiptPath)).toBe('new');
  });

  it('says that a passphrase comes another way, and only where there is one', async () => {
    const app = createTestApp();
    for (const [passphrase, says] of [
      ['p', true],
      ['', false],
    ] as const) {
      const { receiptPath } = await share(app, { secret: 'x', passphrase });
      const { texts } = await textsOf(app, receiptPath, 'en');
      expect(JSON.stringify(texts).includes(words('receipt.messagePassphrase'))).toBe(says);
    }
  });

  it('is in the page’s own language where the one asked for is not offered, and there is none once the secret is gone', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    const own = (await textsOf(app, receiptPath, 'en')).texts;
    expect((await textsOf(app, receiptPath, 'tlh')).texts).toEqual(own);
    await postForm(app, secretPath);
    expect(await textsOf(app, receiptPath, 'en')).toMatchObject({ status: 404, texts: {} });
    expect((await textsOf(app, `/receipt/${'0'.repeat(31)}`, 'en')).status).toBe(404);
  });
});
