/** Sharing while logged in: the plan, the mail, the domain, and a session that ends in between. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import type { SignedIn } from '../../src/core/account.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import { plainBrand } from '../../src/core/share-domain.ts';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { chosenIn, postForm, textIn, valueIn, visit } from './visit.ts';
import { saying, words } from './words.ts';

/** Adds a domain that the operator vouches for. */
async function own(app: TestApp, { caller }: SignedIn, name: string, isPublic = true): Promise<void> {
  const createdAt = app.clock.now();
  const domain = {
    accountId: caller.account.id,
    name,
    state: 'verified',
    challenge: null,
    createdAt,
  } as const;
  if ((await app.store.addDomain(domain, 20)) !== 'added') throw new Error(`${name} was not added`);
  await app.store.setDomainBrand(caller.account.id, name, { ...plainBrand, isPublic });
}

/** The last supported language, so that it differs from the page's as soon as there is more than one. */
const language = supportedLocales.at(-1) ?? 'en';
const odd = 'a "quoted" <b>line</b> & more\n\n\tünï😀';

describe('sharing with an account', () => {
  const value = 'v'.repeat(9_000);

  it('has the plan of the account: its size and its lifetimes', async () => {
    const anonymous = { ...builtInPlans.anonymous, maxValueBytes: 8_000 };
    const app = createTestApp({ plans: { anonymous } });
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    expect((await visit(app, '/')).html).toContain('data-limit="8000"');
    const { html } = await visit(app, '/', { headers: { cookie } });
    expect(html).toContain('data-limit="10000"');
    expect(html).toContain('<option value="1209600"');
    const token = { 'form-token': signedIn.formToken };
    const made = await postForm(app, '/share', { ...token, secret: value, ttl: '1209600' }, { cookie });
    expect(made.status).toBe(303);
    const listed = await app.service.recent({ limit: 10, cursor: null, states: null }, signedIn.caller);
    expect(listed.outcome === 'listed' && listed.receipts.length).toBe(1);
  });

  it('sends the mail in the chosen language, and the form does not show the field to anybody else', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    expect((await visit(app, '/')).html).not.toContain('id="recipient"');
    const fields = { 'form-token': signedIn.formToken, secret: 'x', 'mail-language': language };
    const made = await postForm(app, '/share', { ...fields, recipient: 'joanna@example.org' }, { cookie });
    await app.service.settled();
    expect(made.status).toBe(303);
    expect(app.mails.map(({ to, locale }) => [to.expose(), locale])).toEqual([
      ['joanna@example.org', language],
    ]);
  });

  it('marks an address that no mail can be sent to', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    const fields = { 'form-token': signedIn.formToken, secret: 'x', recipient: 'joanna at example' };
    const refused = await postForm(app, '/share', fields, { cookie });
    expect([refused.status, valueIn(refused.html, 'recipient')]).toEqual([422, 'joanna at example']);
    expect(refused.html).toContain('id="recipient-wrong"');
    expect(app.mails).toEqual([]);
  });

  it('offers its share domains and no others', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    expect((await visit(app, '/', { headers: { cookie } })).html).not.toContain('id="share-domain"');
    await own(app, signedIn, 'secrets.ann.example');
    const { html } = await visit(app, '/', { headers: { cookie } });
    expect(html).toContain('<option value="secrets.ann.example">');
    const fields = { 'form-token': signedIn.formToken, secret: 'x' };
    const made = await postForm(
      app,
      '/share',
      { ...fields, 'share-domain': 'secrets.ann.example' },
      { cookie },
    );
    const shown = await visit(app, made.headers.get('location') ?? '', {
      headers: { cookie: `${cookie}; just-created=1` },
    });
    expect(textIn(shown.html, 'link')).toStartWith('https://secrets.ann.example/secret/');
    const refused = await postForm(app, '/share', { ...fields, 'share-domain': 'other.example' }, { cookie });
    expect([refused.status, chosenIn(refused.html, 'share-domain')]).toEqual([422, 'other.example']);
    expect(refused.html).toContain('id="share-domain-wrong"');
  });

  it('makes links on the share domain that a request arrives on, and on no host that only claims to be one (P20)', async () => {
    const app = createTestApp();
    const { signedIn } = await signUpAs(app, 'ann@example.com');
    await own(app, signedIn, 'secrets.ann.example');
    const hosts = { 'secrets.ann.example': 'secrets.ann.example', 'evil.example': 'mayfly.example' };
    for (const [host, expected] of Object.entries(hosts)) {
      const made = await postForm(app, '/share', { secret: 'x' }, { host });
      const shown = await postForm(app, made.headers.get('location') ?? '');
      expect(textIn(shown.html, 'link')).toStartWith(`https://${expected}/secret/`);
    }
  });

  it('gives the form back, with all that was typed, where the owner stops others from sharing meanwhile', async () => {
    const name = 'secrets.ann.example';
    let looks = 0;
    const app = createTestApp({
      wrapStore: (store) =>
        withMethod(store, 'findVerifiedDomain', async (asked) => {
          const found = await store.findVerifiedDomain(asked);
          looks += 1;
          // The domain was public when the page was shown, but no longer is when the secret is stored.
          return found === null ? null : { ...found, brand: { ...found.brand, isPublic: looks === 1 } };
        }),
    });
    const { signedIn } = await signUpAs(app, 'ann@example.com');
    await own(app, signedIn, name);
    const refused = await postForm(app, '/share', { secret: odd, passphrase: 'p' }, { host: name });
    expect([refused.status, textIn(refused.html, 'secret'), valueIn(refused.html, 'passphrase')]).toEqual([
      403,
      odd,
      'p',
    ]);
    expect(refused.html).toContain(words('share.domainClosed', { domain: name }));
    expect(app.events.filter(({ event }) => event === 'concealed')).toEqual([]);
  });

  it('says when to try again once too many mails were sent, and loses nothing', async () => {
    const rule = { limit: 1, windowSeconds: 3_600, burst: 1 };
    const app = createTestApp({
      rateLimits: { ...builtInRateLimits, mail: { anonymous: rule, account: rule } },
    });
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    const fields = { 'form-token': signedIn.formToken, secret: odd, recipient: 'joanna@example.org' };
    expect((await postForm(app, '/share', fields, { cookie })).status).toBe(303);
    const refused = await postForm(app, '/share', fields, { cookie });
    expect([refused.status, textIn(refused.html, 'secret'), valueIn(refused.html, 'recipient')]).toEqual([
      429,
      odd,
      'joanna@example.org',
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.html).toMatch(saying('share.tooManyMails'));
    expect(refused.html).toContain('id="recipient-wrong"');
    await app.service.settled();
    expect(app.mails).toHaveLength(1);
    const withoutMail = await postForm(app, '/share', { ...fields, recipient: '' }, { cookie });
    expect(withoutMail.status).toBe(303);
  });

  for (const path of ['/share', '/suggest']) {
    it(`loses nothing at ${path} when the session ended while somebody typed, and works on the second press`, async () => {
      const app = createTestApp();
      const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
      const typed = { secret: odd, passphrase: 'p', recipient: 'joanna@example.org', ttl: '1209600' };
      await app.accounts.logOut(signedIn);
      const stale = await postForm(app, path, { 'form-token': signedIn.formToken, ...typed }, { cookie });
      expect(stale.status).toBe(403);
      expect(stale.html).toMatch(saying('problem.stale'));
      const kept = [
        textIn(stale.html, 'secret'),
        valueIn(stale.html, 'passphrase'),
        valueIn(stale.html, 'recipient'),
        valueIn(stale.html, 'ttl-amount'),
      ];
      expect(kept).toEqual([odd, 'p', 'joanna@example.org', '14']);
      expect(app.events.filter(({ event }) => event === 'concealed')).toEqual([]);
      const again = await postForm(app, '/share', { secret: odd, passphrase: 'p' }, { cookie });
      expect(again.status).toBe(303);
    });
  }

  it('keeps the form of a session also when the store cannot list its domains', async () => {
    const app = createTestApp({
      wrapStore: (store) =>
        withMethod(store, 'listDomains', () => Promise.reject(new ServiceError('unavailable', 'down'))),
    });
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    const fields = { 'form-token': signedIn.formToken, secret: '', passphrase: 'kept' };
    const refused = await postForm(app, '/share', fields, { cookie });
    expect([refused.status, valueIn(refused.html, 'passphrase')]).toEqual([400, 'kept']);
  });
});

describe('the same again', () => {
  const earlier = {
    secret: 'canary value',
    passphrase: 'canary pass',
    memo: 'VPN of Ana <b>',
    recipient: 'joanna@example.org',
    ttl: '259200',
    'share-domain': 'links.example.org',
    notify: 'chosen',
    'notify-read': 'yes',
  };

  async function shareEarlier(fields: Readonly<Record<string, string>>) {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    await own(app, signedIn, 'links.example.org');
    const token = { 'form-token': signedIn.formToken };
    const made = await postForm(app, '/share', { ...token, ...fields }, { cookie });
    await app.service.settled();
    const path = `${made.headers.get('location')}/again`;
    return { app, path, again: () => postForm(app, path, token, { cookie }), cookie, token };
  }

  it('offers the choices of an earlier secret, never its value, passphrase or whole address', async () => {
    const { again, app, cookie, token } = await shareEarlier(earlier);
    const { status, html } = await again();
    expect([status, textIn(html, 'secret'), valueIn(html, 'passphrase'), valueIn(html, 'recipient')]).toEqual(
      [...[200, '', ''], ''],
    );
    expect([valueIn(html, 'memo'), chosenIn(html, 'ttl'), chosenIn(html, 'share-domain')]).toEqual([
      ...[earlier.memo, earlier.ttl],
      earlier['share-domain'],
    ]);
    expect(html).toMatch(/id="notify-read"[^>]* checked=""/);
    for (const said of [words('same.lead'), words('same.passphrase'), 'jo*****@e*****.org'])
      expect(html).toContain(said);
    for (const kept of ['canary', earlier.recipient]) expect(html).not.toContain(kept);
    const shared = await postForm(
      app,
      '/share',
      { ...token, secret: 'next', memo: earlier.memo, ttl: earlier.ttl },
      { cookie },
    );
    expect(shared.status).toBe(303);
  });

  it('keeps a lifetime of one’s own, and takes the next usual one in place of one that was changed later', async () => {
    const { again, app, path, cookie, token } = await shareEarlier({
      ...{ secret: 'x', ttl: 'other' },
      ...{ 'ttl-amount': '36', 'ttl-unit': 'hours' },
    });
    const own = await again();
    expect([
      chosenIn(own.html, 'ttl'),
      valueIn(own.html, 'ttl-amount'),
      chosenIn(own.html, 'ttl-unit'),
    ]).toEqual(['other', ...['36', 'hours']]);
    app.clock.advance(7);
    const lifetime = path.replace('again', 'lifetime');
    await postForm(app, lifetime, { ...token, ttl: '86400' }, { cookie });
    expect(chosenIn((await again()).html, 'ttl')).toBe('259200');
  });

  it('is nobody else’s, and nothing that a GET does', async () => {
    const { app, path, token } = await shareEarlier(earlier);
    const eve = await signUpAs(app, 'eve@example.com');
    const form = { 'form-token': eve.signedIn.formToken };
    const answers = [
      await postForm(app, path, form, { cookie: eve.cookie }),
      await postForm(app, path),
      await postForm(app, path, token),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 403]);
    for (const { html } of answers) expect(html).not.toContain('VPN');
    const { headers } = await visit(app, path);
    expect(headers.get('location')).toBe(path.replace('/again', ''));
  });
});
